//! Heavy work: what one client asks for ends within its limit with a clear answer, and everybody else is served as
//! before.
//!
//! How long others wait is told in the time that the serving thread is on a processor until they have their answer, so
//! that it does not matter what else the machine does. It is compared within a run: windows without and with the heavy
//! work take turns, and medians of their 99th percentiles are held against each other.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::definitions;
use crate::support::process::{DEADLINE, Process};
use myelin_bench::procfs;
use myelin_testkit::raw::{Answer, Client};

/// Without optimisation everything takes ten times as long, and large is what takes long.
const LARGE_BYTES: usize = if cfg!(debug_assertions) { 600_000 } else { 10_000_000 };

/// Of XML so much less: it takes longest where nothing is optimised.
const XML_PART: usize = if cfg!(debug_assertions) { 15 } else { 2 };

/// What others may wait in any case, however quiet it was before.
const FLOOR: Duration = Duration::from_millis(if cfg!(debug_assertions) { 250 } else { 15 });

/// How long others are watched at a time, and how often at most; `MYELIN_HEAVY=20` watches so often in any case.
const WINDOW: Duration = Duration::from_millis(150);
const MOST_TURNS: usize = 7;

/// How many small requests are served in a window at least: one, if the thread waits until the heavy work is done.
const LEAST_SERVED: usize = 3;

/// How many clients ask for the heavy work at once.
const AT_ONCE: usize = 2;

/// How long everybody pauses before asking again.
const PAUSE: Duration = Duration::from_millis(1);

const SETTINGS: &str = r#"
[myelin.content]
body_bytes = 12000000
[myelin.scripts]
time = "500ms"
[myelin.sql]
timeout = "500ms"
[[datasource]]
id = "empty"
url = "jdbc:sqlite::memory:"
"#;

/// What somebody asks for who asks for much.
struct Heavy {
    name: &'static str,
    /// The mediators that it goes through, before it is answered with what they made.
    mediators: String,
    media_type: &'static str,
    body: String,
    /// The status of the answer, a part of its body, and of the line in the log, which only faults have.
    status: u16,
    says: &'static str,
    logs: &'static str,
    /// Within what time it ends.
    limit: Duration,
    /// How many requests a client sends before it reads their answers.
    in_a_row: usize,
}

impl Heavy {
    fn of(name: &'static str, mediators: impl Into<String>) -> Heavy {
        Heavy {
            name,
            mediators: mediators.into(),
            media_type: "application/json",
            body: r#"{"a":1}"#.to_owned(),
            status: 200,
            says: "",
            logs: "",
            limit: DEADLINE,
            in_a_row: 1,
        }
    }

    fn json(self, body: String) -> Heavy {
        Heavy { body, ..self }
    }

    fn xml(self, body: String) -> Heavy {
        Heavy { body, media_type: "application/xml", ..self }
    }

    fn fails(self, status: u16, says: &'static str, logs: &'static str) -> Heavy {
        Heavy { status, says, logs, ..self }
    }

    fn says(self, says: &'static str) -> Heavy {
        Heavy { says, ..self }
    }

    fn proxy(&self) -> String {
        let Heavy { name, mediators, .. } = self;
        format!("<proxy name='{name}'><target><inSequence>{mediators}<respond/></inSequence></target></proxy>")
    }

    fn request(&self) -> Vec<u8> {
        request(self.name, self.media_type, &self.body)
    }
}

fn request(proxy: &str, media_type: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("POST /services/{proxy} HTTP/1.1\r\nHost: bus\r\nContent-Type: {media_type}\r\n");
    format!("{head}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

fn everything_heavy() -> Vec<Heavy> {
    let groups = [scripts_and_templates(), too_deep(), large(), taken(), checked(), tangled()];
    groups.into_iter().flatten().chain([flood()]).chain(query()).collect()
}

/// What does not end, or makes more and more.
fn scripts_and_templates() -> Vec<Heavy> {
    let script = |name, text: &str, logs| failing(Heavy::of(name, script(text)), logs);
    let template = |name, text: &str| {
        let format = format!("<format><![CDATA[{text}]]></format>");
        let mediators =
            format!("<payloadFactory media-type='text' template-type='freemarker'>{format}</payloadFactory>");
        failing(Heavy::of(name, mediators), "the template makes more than")
    };
    let late = "the script took longer than it may";
    let (list, padding) = ("<#list 1..30000 as a><#list 1..30000 as b>", "x".repeat(500));
    vec![
        script("ScriptLoops", "while (true) {}", late),
        script("ScriptFills", "var a = []; while (true) { a.push(new Uint8Array(1 << 20)); }", "out of memory"),
        script("ScriptMatches", "/^(a+)+$/.test('a'.repeat(50) + 'b')", late),
        template("TemplateExplodes", &format!("{list}${{a * b}}{padding}</#list></#list>")),
        template("TemplateDoubles", "<#assign s='xx'><#list 1..99 as i><#assign s=s+s></#list>${s}"),
    ]
}

fn script(text: &str) -> String {
    format!("<script language='js'><![CDATA[{text}]]></script>")
}

fn failing(heavy: Heavy, logs: &'static str) -> Heavy {
    heavy.fails(500, "{\"error\":{", logs)
}

/// JSON as deep as nobody writes it, for all who look at it.
fn too_deep() -> Vec<Heavy> {
    let factory = "<payloadFactory media-type='json'><format>{\"a\":$1}</format><args>\
                   <arg evaluator='json' expression='$'/></args></payloadFactory>";
    let looks = [
        ("DeepToXml", becomes("application/xml") + &tells("//a")),
        ("DeepToPath", tells("json-eval($..a)")),
        ("DeepToExpression", tells("${payload.a}")),
        ("DeepToScript", script("mc.getPayloadJSON()")),
        ("DeepToFactory", factory.to_owned()),
    ];
    let heavy = |(name, mediators)| {
        let heavy = Heavy::of(name, mediators).json("[".repeat(100_000) + &"]".repeat(100_000));
        let heavy = heavy.fails(400, "could not be understood", "arrays and objects nested deeper than");
        Heavy { limit: Duration::from_secs(1), ..heavy }
    };
    looks.into_iter().map(heavy).collect()
}

/// What is only large.
fn large() -> Vec<Heavy> {
    let each = "<foreach expression='json-eval($)'><sequence><property name='p' value='1'/></sequence></foreach>";
    let (numbers, xml) = (format!("[{}0]", "0,".repeat(LARGE_BYTES / 40)), list("<n a='1'>1</n>", LARGE_BYTES));
    vec![
        Heavy::of("JsonToXml", becomes("application/xml")).json(records(LARGE_BYTES)).says("<price>"),
        Heavy::of("XmlToJson", becomes("application/json")).xml(xml).says("\"n\""),
        Heavy::of("LargeJson", tells("json-eval($[0].id)")).json(records(LARGE_BYTES)),
        Heavy::of("LargeXml", tells("count(//n)")).xml(list("<n>1</n>", LARGE_BYTES / XML_PART)),
        Heavy::of("LargeLoop", each).json(numbers),
    ]
}

/// What expressions take of what is large.
fn taken() -> Vec<Heavy> {
    let property =
        |expression: &str, kind: &str| format!("<property name='p' expression=\"{expression}\" type='{kind}'/>");
    let json = |name, expression: &str| Heavy::of(name, property(expression, "STRING")).json(records(LARGE_BYTES));
    let xml = |name, mediators: String, bytes| Heavy::of(name, mediators).xml(list("<n a='1'>1</n>", bytes));
    let large = LARGE_BYTES / XML_PART;
    let enrich = "<enrich><source xpath='//list' clone='true'/><target type='property' property='p'/></enrich>";
    let factory = "<payloadFactory media-type='xml'><format><all>$1</all></format>\
                   <args><arg expression='//n'/></args></payloadFactory>";
    vec![
        json("PathToAll", "json-eval($..price)"),
        json("PathToOne", "json-eval($[?(@.id == 7)])"),
        json("PayloadToAll", "${payload..price}"),
        json("PayloadToOne", "${payload[?(@.id == 7)]}"),
        xml("NodesOfAll", property("//n", "OM"), large),
        xml("TextOfAll", property("//n", "STRING"), large),
        // A tree is copied where it stands: 5 ms for a megabyte.
        xml("EnrichWithAll", enrich.to_owned(), LARGE_BYTES / 10),
        xml("FactoryOfAll", factory.to_owned(), large),
        xml("LogOfAll", "<log level='full'/>".to_owned(), large),
    ]
}

/// It leaves as that.
fn becomes(media_type: &str) -> String {
    format!("<property name='messageType' value='{media_type}' scope='axis2'/>")
}

/// A header tells the client what an expression gives.
fn tells(expression: &str) -> String {
    format!("<property name='X-Told' expression=\"{expression}\" scope='transport'/>")
}

/// What is checked by a schema.
fn checked() -> Vec<Heavy> {
    let xml = |element: &str| list(element, LARGE_BYTES / XML_PART);
    vec![
        Heavy::of("ValidXml", validate("numbers")).xml(xml("<n>1</n>")),
        Heavy::of("WrongXml", validate("numbers")).xml(xml("<n>x</n>")).fails(400, "not valid", ""),
        Heavy::of("ValidJson", validate("json-numbers")).json(records(LARGE_BYTES)),
    ]
}

/// Patterns that some texts can be tried against for ever, and such texts.
fn tangled() -> Vec<Heavy> {
    let (long, short) = ("a".repeat(LARGE_BYTES / 100), "a".repeat(50));
    let filter = "<filter source='json-eval($.a)' regex='(a+)+b'><then><drop/></then></filter>";
    let path = tells("json-eval($[?(@ =~ /(a+)+b/)])");
    let texts = vec![format!("\"{short}{short}b\""); 20].join(",");
    vec![
        Heavy::of("TangledFilter", filter).json(format!("{{\"a\":\"{long}\"}}")),
        Heavy::of("TangledPath", path).json(format!("[\"{long}\"]")),
        Heavy::of("TangledXPath", tells("count(//n[matches(., '^(a+)+$')])"))
            .xml(format!("<list><n>{long}b</n></list>")),
        // Each element is looked at with all that follow it.
        Heavy::of("TangledCount", tells("count(//n[not(following-sibling::n = 'x')])")).xml(list("<n>1</n>", 8_000)),
        Heavy::of("TangledXml", validate("tangled")).xml(list(&format!("<n>{short}</n>"), 3_000)).fails(
            400,
            "not valid",
            "",
        ),
        Heavy::of("TangledJson", validate("json-tangled")).json(format!("[{texts}]")).fails(400, "not valid", ""),
    ]
}

/// Checks by a schema; what is not valid is answered with 400.
fn validate(key: &str) -> String {
    format!(
        r#"<validate><schema key="{key}"/><on-fail>
        <payloadFactory media-type="text"><format>not valid</format></payloadFactory>
        <property name="HTTP_SC" value="400" scope="axis2"/><respond/></on-fail></validate>"#
    )
}

/// The schemas, as local entries.
fn schemas() -> String {
    let xml = |key: &str, restriction: &str| {
        format!(
            r#"<localEntry key="{key}"><xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="list">
            <xs:complexType><xs:sequence><xs:element name="n" maxOccurs="unbounded"><xs:simpleType>{restriction}
            </xs:simpleType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema></localEntry>"#
        )
    };
    let json = |key: &str, item: &str| {
        format!("<localEntry key='{key}'><![CDATA[{{\"type\":\"array\",\"items\":{item}}}]]></localEntry>")
    };
    [
        xml("numbers", r#"<xs:restriction base="xs:int"/>"#),
        xml("tangled", r#"<xs:restriction base="xs:string"><xs:pattern value="((a*)*b)*"/></xs:restriction>"#),
        json("json-numbers", r#"{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}"#),
        json("json-tangled", r#"{"type":"string","pattern":"^(?=a)(a+)+$"}"#),
    ]
    .concat()
}

/// A flood that is turned away: what may pass the throttle, the same one has let pass already.
fn flood() -> Heavy {
    let throttle = r#"<throttle id="one"><policy><wsp:Policy xmlns:wsp="http://schemas.xmlsoap.org/ws/2004/09/policy"
        xmlns:throttle="http://www.wso2.org/products/wso2commons/throttle"><throttle:MediatorThrottleAssertion>
        <wsp:Policy><throttle:ID throttle:type="IP">other</throttle:ID><wsp:Policy><throttle:Control><wsp:Policy>
        <throttle:MaximumCount>1</throttle:MaximumCount><throttle:UnitTime>3600000</throttle:UnitTime></wsp:Policy>
        </throttle:Control></wsp:Policy></wsp:Policy></throttle:MediatorThrottleAssertion></wsp:Policy></policy></throttle>"#;
    Heavy { in_a_row: 50, ..Heavy::of("ThrottleFlood", throttle.repeat(2)).fails(429, "", "") }
}

/// A query that never comes to its end, in a build that has databases.
fn query() -> Option<Heavy> {
    let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as n from n";
    let source = "<connection><pool><dsName>empty</dsName></pool></connection>";
    let statement = format!("<statement><sql>{endless}</sql><result name='n' column='n'/></statement>");
    let lookup = format!("<dblookup>{source}{statement}</dblookup>");
    cfg!(feature = "sql")
        .then(|| Heavy::of("QueryHangs", lookup).fails(504, "{\"error\":{", "the statement took more than"))
}

/// An array of records of that size, about.
fn records(bytes: usize) -> String {
    let record = |id: usize| format!(r#"{{"id":{id},"name":"Müller & Sons","tags":["a","b"],"price":{id}.50}}"#);
    let count = bytes / record(10_000).len();
    format!("[{}]", (0..count).map(record).collect::<Vec<_>>().join(","))
}

/// A list of elements of that size, about.
fn list(element: &str, bytes: usize) -> String {
    format!("<list>{}</list>", element.repeat(bytes / element.len()))
}

/// A bus with all of it on one thread, so that nobody can be served beside it by another.
fn run(configuration: &str, settings: &str) -> Process {
    Process::with(&[("synapse.xml", configuration)], settings, &["--threads", "1"])
}

/// What others ask for.
fn small() -> Vec<u8> {
    request("Small", "application/json", r#"{"a":[1,2,3]}"#)
}

fn configuration(heavy: &[Heavy]) -> String {
    let small = "<payloadFactory media-type='json'><format>{\"b\":$1}</format>\
                 <args><arg evaluator='json' expression='$.a[1]'/></args></payloadFactory>";
    let heavy = heavy.iter().map(Heavy::proxy).chain([Heavy::of("Small", small).proxy()]);
    definitions(&(schemas() + &heavy.collect::<String>()))
}

fn client(address: SocketAddr) -> Client {
    let mut client = Client::connect(address).unwrap();
    client.deadline(DEADLINE);
    client
}

/// For how long the serving thread worked while the slowest hundredth of small requests waited within a window, and how
/// many were served.
fn percentile(process: &Process, window: Duration) -> (Duration, usize) {
    let (mut client, small, start) = (client(process.address), small(), Instant::now());
    let mut waits = Vec::new();
    while start.elapsed() < window {
        let begun = process.serving_time();
        let answer = client.exchange(&small).unwrap();
        waits.push(process.serving_time() - begun);
        assert_eq!((answer.status, answer.text().as_str()), (200, r#"{"b":2}"#));
        std::thread::sleep(PAUSE);
    }
    waits.sort_unstable();
    (waits[waits.len() * 99 / 100], waits.len())
}

fn median<T: Copy + Ord>(values: &[T]) -> T {
    let mut values = values.to_vec();
    values.sort_unstable();
    values[values.len() / 2]
}

/// Clients that ask for it again and again, until told otherwise.
fn keep_asking(address: SocketAddr, heavy: &Heavy, over: &AtomicBool) -> usize {
    let (mut client, requests, mut answered) = (client(address), heavy.request().repeat(heavy.in_a_row), 0);
    while !over.load(Ordering::Relaxed) {
        client.send(&requests).unwrap();
        for _ in 0..heavy.in_a_row {
            let answer = client.answer().unwrap();
            assert_eq!(answer.status, heavy.status, "{}: {:.300}", heavy.name, answer.text());
            answered += 1;
        }
        std::thread::sleep(PAUSE);
    }
    answered
}

/// How long others wait without it and with it, in windows of each in turns, and how often it was done meanwhile.
#[derive(Default)]
struct Watch {
    without: Vec<Duration>,
    with: Vec<Duration>,
    /// Small requests that were served in each window with it.
    served: Vec<usize>,
    times: usize,
}

impl Watch {
    fn turn(&mut self, process: &Process, heavy: &Heavy) {
        let address = process.address;
        self.without.push(percentile(process, WINDOW).0);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(|| keep_asking(address, heavy, &over))).collect();
            let (waited, served) = percentile(process, WINDOW);
            self.with.push(waited);
            self.served.push(served);
            over.store(true, Ordering::Relaxed);
            self.times += clients.into_iter().map(|client| client.join().unwrap()).sum::<usize>();
        });
    }

    /// Whether others wait less than twice as long, or no longer than anybody minds.
    fn is_fair(&self) -> bool {
        median(&self.with) <= FLOOR.max(median(&self.without) * 2) && median(&self.served) >= LEAST_SERVED
    }

    fn line(&self, heavy: &Heavy, alone: Duration) -> String {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let (without, with) = (ms(median(&self.without)), ms(median(&self.with)));
        let (served, turns, times) = (median(&self.served), self.with.len(), self.times);
        format!("{:16} {:9.2} {without:9.2} {with:9.2} {served:6} {turns:6} {times:6}", heavy.name, ms(alone))
    }
}

#[test]
fn what_is_heavy_ends_within_its_limit_and_holds_nobody_else_up() {
    let _turn = crate::turn();
    let least = std::env::var("MYELIN_HEAVY").map_or(1, |turns| turns.parse().unwrap());
    let all = everything_heavy();
    let process = run(&configuration(&all), SETTINGS);
    let mut wrong = Vec::new();
    println!(
        "{:16} {:>9} {:>9} {:>9} {:>6} {:>6} {:>6}",
        "99 % in ms", "alone", "without", "with", "served", "turns", "times"
    );
    for heavy in &all {
        let begun = Instant::now();
        let answer: Answer = client(process.address).exchange(&heavy.request()).unwrap();
        let (alone, text) = (begun.elapsed(), answer.text());
        if answer.status != heavy.status || !text.contains(heavy.says) || alone > heavy.limit {
            wrong.push(format!("{}: {} after {alone:?}: {text:.300}", heavy.name, answer.status));
            continue;
        }
        if !heavy.logs.is_empty() {
            let line = process.logged(&format!("proxy {} (", heavy.name));
            assert!(line.contains(heavy.logs), "{line}");
        }
        let mut watch = Watch::default();
        // What else the thread does now and then is no fault of the heavy work.
        while watch.with.len() < least.max(MOST_TURNS) && (watch.with.len() < least || !watch.is_fair()) {
            watch.turn(&process, heavy);
        }
        println!("{}", watch.line(heavy, alone));
        if !watch.is_fair() {
            wrong.push(watch.line(heavy, alone));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn more_work_than_may_wait_is_answered_with_503_and_the_connections_serve_on() {
    let _turn = crate::turn();
    let loops = Heavy::of("Loops", script("while (true) {}")).fails(500, "", "");
    let settings = format!("{SETTINGS}[myelin.work]\nwaiting = 1");
    let process = run(&configuration(std::slice::from_ref(&loops)), &settings);
    let mut clients: Vec<Client> = (0..6).map(|_| client(process.address)).collect();
    clients.iter_mut().for_each(|client| client.send(&loops.request()).unwrap());
    let answers: Vec<Answer> = clients.iter_mut().map(|client| client.answer().unwrap()).collect();
    let refused: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 503).collect();
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert!(refused.len() >= 2 && statuses.contains(&500), "{statuses:?}");
    for answer in refused {
        assert!(answer.text().contains("has reached a limit; try again later"), "{}", answer.text());
    }
    process.logged("pieces of long work wait for their turn already");
    for client in &mut clients {
        assert_eq!(client.exchange(&small()).unwrap().status, 200);
    }
}

#[test]
fn a_cache_that_is_flooded_takes_no_more_memory_than_is_set_aside() {
    let _turn = crate::turn();
    let cache = "<cache collector='false' timeout='600' maxMessageSize='1000000'><protocol type='HTTP'>\
                 <methods>POST</methods><responseCodes>200</responseCodes></protocol>\
                 <implementation maxSize='1000000'/></cache><loopback/>";
    let proxy = format!(
        "<proxy name='Cached'><target><inSequence>{cache}</inSequence>\
         <outSequence><cache collector='true'/><send/></outSequence></target></proxy>"
    );
    let process = run(&definitions(&proxy), "[myelin.content]\ncache_bytes = 8388608");
    let padding = "x".repeat(100_000);
    let ask = |client: &mut Client, number: usize| {
        let body = format!("{{\"n\":{number},\"padding\":\"{padding}\"}}");
        let answer = client.exchange(&request("Cached", "application/json", &body)).unwrap();
        assert_eq!(answer.status, 200, "{:.300}", answer.text());
    };
    let memory = || procfs::usage(process.id()).unwrap().memory_bytes;
    let mut client = client(process.address);
    (0..20).for_each(|number| ask(&mut client, number));
    let before = memory();
    // Twelve times as much as it may keep.
    (0..1_000).for_each(|number| ask(&mut client, number));
    let after = memory();
    println!("{} KiB before, {} KiB after", before / 1024, after / 1024);
    assert!(after > before + (2 << 20), "nothing was kept: {before} and {after} bytes");
    assert!(after < before + (24 << 20), "it grew from {before} to {after} bytes");
}
