//! Secured messages through the real bus: what is accepted, what is refused and how, and that others go on meanwhile.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::SystemTime;

use crate::support::authority::Authority;
use crate::support::settings;
use myelin_bench::security::{KeyArguments, make_stores};
use myelin_bench::{Handle, echo};
use myelin_engine::{REPLAY_ENTRIES, User};
use myelin_server::{Running, Settings, start};
use myelin_testkit::raw::{self, Answer};
use myelin_wss::guard::{Arrival, Conversation, Departure, Side, Uses, Verified};
use myelin_wss::{Guard, Replays};
use myelin_xml::{Document, Options, WriteOptions, write};

const GATEWAY: &str = include_str!("../../../../examples/secure-gateway/synapse.xml");
const CLIENT: &str = include_str!("../../../../examples/secure-client/synapse.xml");
const POLICIES: [(&str, &str); 2] = [
    ("gateway-policy.xml", include_str!("../../../../examples/secure-gateway/gateway-policy.xml")),
    ("client-policy.xml", include_str!("../../../../examples/secure-client/client-policy.xml")),
];

fn order(symbol: &str) -> String {
    format!(
        "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\"><soapenv:Body>\
         <m:buyStocks xmlns:m=\"http://services.samples/xsd\"><symbol>{symbol}</symbol></m:buyStocks>\
         </soapenv:Body></soapenv:Envelope>"
    )
}

/// A folder with keys and policies.
struct Keys(tempfile::TempDir);

impl Keys {
    fn new() -> Keys {
        let folder = tempfile::tempdir().unwrap();
        make_stores(folder.path()).unwrap();
        for (name, text) in POLICIES {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Keys(folder)
    }

    fn client(&self) -> Client {
        let policy = self.0.path().join("client-policy.xml");
        Client(KeyArguments::default().guard(&policy, Side::Initiator, Uses::Both).unwrap().0)
    }

    /// A bus with a configuration before backends.
    fn bus(&self, configuration: &str, settings: Settings, replays: Arc<Replays>) -> (Running, SocketAddr) {
        let file = self.0.path().join("synapse.xml");
        fs::write(&file, configuration).unwrap();
        start_bus(&file, settings, replays)
    }
}

fn start_bus(file: &Path, settings: Settings, replays: Arc<Replays>) -> (Running, SocketAddr) {
    let mut content = myelin_engine::Settings::default();
    content.security.replays = replays;
    let loaded = myelin_engine::load(&[file.to_owned()], &content);
    assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
    let running = start(Arc::new(loaded.bus), settings).unwrap();
    let address = running.urls[0].split_once("://").unwrap().1.parse().unwrap();
    (running, address)
}

fn remembering() -> Arc<Replays> {
    Arc::new(Replays::in_memory(REPLAY_ENTRIES, SystemTime::UNIX_EPOCH))
}

/// The gateway of the example before an echo.
struct Gateway {
    keys: Keys,
    echo: Handle,
    bus: Running,
    address: SocketAddr,
}

impl Gateway {
    fn with(settings: Settings, more: &str) -> Gateway {
        let keys = Keys::new();
        let echo = echo::start(([127, 0, 0, 1], 0).into(), echo::Options::default()).unwrap();
        let configuration = GATEWAY
            .replace("127.0.0.1:9000", &echo.address.to_string())
            .replace("</definitions>", &format!("{more}</definitions>"));
        let (bus, address) = keys.bus(&configuration, settings, remembering());
        Gateway { keys, echo, bus, address }
    }

    fn new() -> Gateway {
        Gateway::with(settings(), "")
    }

    fn post(&self, body: &str) -> Answer {
        raw::exchange(self.address, &post("SecureOrders", body)).unwrap()
    }

    fn stop(self) {
        self.bus.stop().unwrap();
        self.echo.stop();
    }
}

fn post(proxy: &str, body: &str) -> Vec<u8> {
    typed(proxy, "text/xml; charset=UTF-8", body)
}

fn typed(proxy: &str, media_type: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST /services/{proxy} HTTP/1.1\r\nHost: bus\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A client of the gateway.
struct Client(Guard);

impl Client {
    fn seal(&self, envelope: &str) -> (String, Conversation) {
        let document = Document::parse(envelope.as_bytes().to_vec(), &Options::default()).unwrap();
        let secured = self.0.secure(document, &Departure { now: SystemTime::now(), conversation: None }).unwrap();
        (String::from_utf8(secured.bytes).unwrap(), secured.conversation)
    }

    fn open(&self, answer: &Answer, conversation: &Conversation) -> (String, Verified) {
        let document = Document::parse(answer.body.clone(), &Options::default()).unwrap();
        let arrival = Arrival {
            now: SystemTime::now(),
            tls: false,
            client_certificate: false,
            replays: &remembering(),
            conversation: Some(conversation),
            xml: &Options::default(),
        };
        let verified = self.0.verify(document, &arrival).unwrap();
        let mut text = Vec::new();
        write(&verified.document, verified.document.document_node(), &WriteOptions::default(), &mut text);
        (String::from_utf8(text).unwrap(), verified)
    }
}

/// Asserts that an answer is the constant fault of that name, and says nothing more.
fn assert_refused(answer: &Answer, code: &str) {
    let text = answer.text();
    assert_eq!(answer.status, 500, "{text}");
    assert!(text.contains("<faultcode xmlns:wsse=\"") && text.contains(&format!(">wsse:{code}<")), "{text}");
    assert!(!text.contains("detail") && !text.contains(">IBM<"), "{text}");
}

#[test]
fn a_secured_request_reaches_the_backend_in_clear_and_its_answer_is_secured() {
    let gateway = Gateway::new();
    let client = gateway.keys.client();
    let (sealed, conversation) = client.seal(&order("IBM"));
    assert!(!sealed.contains(">IBM<"));
    let answer = gateway.post(&sealed);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(!answer.text().contains(">IBM<"), "{}", answer.text());
    let (clear, verified) = client.open(&answer, &conversation);
    assert!(clear.contains("<symbol>IBM</symbol>") && !clear.contains("Security"), "{clear}");
    assert!(verified.findings.signer.unwrap().subject().text().contains("gateway"));
    gateway.stop();
}

#[test]
fn what_is_not_secured_as_the_policy_says_gets_a_constant_fault_and_never_reaches_the_backend() {
    let gateway = Gateway::new();
    let client = gateway.keys.client();
    assert_refused(&gateway.post(&order("IBM")), "InvalidSecurity");
    let stranger = Keys::new().client();
    let first = gateway.post(&stranger.seal(&order("IBM")).0);
    assert_eq!(first.status, 500, "a stranger is none of the known: {}", first.text());
    let (sealed, _) = client.seal(&order("IBM"));
    let end = sealed.rfind("CipherValue>").unwrap();
    let mut answers = Vec::new();
    for at in [end - 60, end - 80, end - 100] {
        let letter = if sealed.as_bytes()[at] == b'A' { "B" } else { "A" };
        let answer = gateway.post(&format!("{}{letter}{}", &sealed[..at], &sealed[at + 1..]));
        assert_refused(&answer, "FailedCheck");
        answers.push(answer.text());
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "no answer says where it went wrong");
    // None of those used the message up.
    assert_eq!(gateway.post(&sealed).status, 200);
    // Behind a decryption all refusals are one: the replay as well.
    assert_refused(&gateway.post(&sealed), "FailedCheck");
    for (media_type, body) in [("application/json", "{}"), ("text/plain", "hello"), ("application/xml", "<a/>")] {
        let answer = raw::exchange(gateway.address, &typed("SecureOrders", media_type, body)).unwrap();
        assert_eq!(answer.status, 400, "{media_type}: {}", answer.text());
    }
    let get = b"GET /services/SecureOrders HTTP/1.1\r\nHost: bus\r\n\r\n";
    assert_eq!(raw::exchange(gateway.address, get).unwrap().status, 400);
    gateway.stop();
}

#[test]
fn soap_12_says_the_code_beside_its_own() {
    let gateway = Gateway::new();
    let envelope =
        order("IBM").replace("http://schemas.xmlsoap.org/soap/envelope/", "http://www.w3.org/2003/05/soap-envelope");
    let answer = raw::exchange(gateway.address, &typed("SecureOrders", "application/soap+xml", &envelope)).unwrap();
    let text = answer.text();
    assert_eq!(answer.status, 400, "{text}");
    assert!(text.contains("<soapenv:Value>soapenv:Sender</soapenv:Value><soapenv:Subcode>"), "{text}");
    assert!(text.contains(">wsse:InvalidSecurity</soapenv:Value>"), "{text}");
    let (sealed, conversation) = gateway.keys.client().seal(&envelope);
    let answer = raw::exchange(gateway.address, &typed("SecureOrders", "application/soap+xml", &sealed)).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    gateway.keys.client().open(&answer, &conversation);
    gateway.stop();
}

#[test]
fn of_twenty_equal_messages_at_once_one_is_accepted() {
    let gateway = Gateway::with(Settings { threads: 2, ..settings() }, "");
    let (sealed, _) = gateway.keys.client().seal(&order("IBM"));
    let request = post("SecureOrders", &sealed);
    let statuses: Vec<u16> = thread::scope(|scope| {
        let ask = || raw::exchange(gateway.address, &request).unwrap().status;
        let asking: Vec<_> = (0..20).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    gateway.stop();
}

#[test]
fn a_bus_that_is_loaded_anew_remembers_what_the_one_before_accepted() {
    let keys = Keys::new();
    let echo = echo::start(([127, 0, 0, 1], 0).into(), echo::Options::default()).unwrap();
    let configuration = GATEWAY.replace("127.0.0.1:9000", &echo.address.to_string());
    let (sealed, _) = keys.client().seal(&order("IBM"));
    let replays = remembering();
    for expected in [200, 500] {
        let (bus, address) = keys.bus(&configuration, settings(), Arc::clone(&replays));
        assert_eq!(raw::exchange(address, &post("SecureOrders", &sealed)).unwrap().status, expected);
        bus.stop().unwrap();
    }
    echo.stop();
}

#[test]
fn large_and_chunked_messages_are_as_good_as_small_ones() {
    let gateway = Gateway::new();
    let client = gateway.keys.client();
    let (sealed, conversation) = client.seal(&order(&"X".repeat(100_000)));
    let answer = gateway.post(&sealed);
    assert_eq!(answer.status, 200);
    assert!(client.open(&answer, &conversation).0.contains(&"X".repeat(100_000)));
    let (sealed, conversation) = client.seal(&order("chunked"));
    let mut request =
        b"POST /services/SecureOrders HTTP/1.1\r\nHost: bus\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for chunk in sealed.as_bytes().chunks(700) {
        request.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        request.extend_from_slice(chunk);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"0\r\n\r\n");
    let answer = raw::exchange(gateway.address, &request).unwrap();
    assert!(client.open(&answer, &conversation).0.contains("<symbol>chunked</symbol>"));
    gateway.stop();
}

#[test]
fn secured_and_plain_proxies_share_a_connection() {
    let plain = r#"<proxy name="Plain"><target><inSequence><respond/></inSequence></target></proxy>"#;
    let gateway = Gateway::with(settings(), plain);
    let client = gateway.keys.client();
    let (sealed, conversation) = client.seal(&order("one"));
    let requests = [post("Plain", "<a/>"), post("SecureOrders", &sealed), post("Plain", "<b/>")].concat();
    let mut connection = raw::Client::connect(gateway.address).unwrap();
    connection.send(&requests).unwrap();
    let answers = [(); 3].map(|()| connection.answer().unwrap());
    assert_eq!((answers[0].text(), answers[2].text()), ("<a/>".to_owned(), "<b/>".to_owned()));
    assert!(client.open(&answers[1], &conversation).0.contains("<symbol>one</symbol>"));
    gateway.stop();
}

#[test]
fn plain_messages_are_served_while_secured_ones_are_worked_on() {
    let plain = r#"<proxy name="Plain"><target><inSequence><respond/></inSequence></target></proxy>"#;
    let gateway = Gateway::with(settings(), plain);
    let client = gateway.keys.client();
    let sealed: Vec<_> = (0..20).map(|_| client.seal(&order("IBM")).0).collect();
    thread::scope(|scope| {
        let asking: Vec<_> = sealed.iter().map(|sealed| scope.spawn(|| gateway.post(sealed).status)).collect();
        for _ in 0..20 {
            let answer = raw::exchange(gateway.address, &post("Plain", "<a/>")).unwrap();
            assert_eq!((answer.status, answer.text()), (200, "<a/>".to_owned()));
        }
        assert!(asking.into_iter().all(|thread| thread.join().unwrap() == 200));
    });
    gateway.stop();
}

#[test]
fn a_plain_client_gets_a_secured_services_answer_in_clear() {
    let gateway = Gateway::new();
    let configuration = CLIENT.replace("127.0.0.1:8281", &gateway.address.to_string());
    let (bus, address) = gateway.keys.bus(&configuration, settings(), remembering());
    let answer = raw::exchange(address, &post("PlainOrders", &order("IBM"))).unwrap();
    let text = answer.text();
    assert_eq!(answer.status, 200, "{text}");
    assert!(text.contains("<symbol>IBM</symbol>") && !text.contains("Security"), "{text}");
    bus.stop().unwrap();
    gateway.stop();
}

#[test]
fn what_is_only_accepted_has_nothing_to_secure_and_nothing_to_verify() {
    let keys = Keys::new();
    let accepted = "HTTP/1.1 202 Accepted\r\nContent-Type: text/xml\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    let backend = crate::support::answering(accepted);
    let configuration = GATEWAY.replace("127.0.0.1:9000", &backend.address().to_string());
    let (service, service_address) = keys.bus(&configuration, settings(), remembering());
    let configuration = CLIENT.replace("127.0.0.1:8281", &service_address.to_string());
    let (bus, address) = keys.bus(&configuration, settings(), remembering());
    let answer = raw::exchange(address, &post("PlainOrders", &order("IBM"))).unwrap();
    assert_eq!((answer.status, answer.text()), (202, String::new()));
    bus.stop().unwrap();
    service.stop().unwrap();
}

#[test]
fn an_answer_that_is_not_secured_is_a_fault_of_the_backend_that_no_sequence_can_pass_on() {
    let keys = Keys::new();
    let echo = echo::start(([127, 0, 0, 1], 0).into(), echo::Options::default()).unwrap();
    // An echo answers with the request, which is no answer that its sender made.
    let configuration = CLIENT.replace("127.0.0.1:8281", &echo.address.to_string()).replace(
        "</inSequence>",
        r#"</inSequence><faultSequence>
            <property name="X-Error-Code" expression="get-property('ERROR_CODE')" scope="transport"/><send/>
        </faultSequence>"#,
    );
    let (bus, address) = keys.bus(&configuration, settings(), remembering());
    let answer = raw::exchange(address, &post("PlainOrders", &order("IBM"))).unwrap();
    let text = answer.text();
    assert_eq!((answer.status, answer.header("X-Error-Code")), (502, Some("101510")), "{text}");
    assert!(!text.contains("CipherValue") && text.contains("not secured as it has to be"), "{text}");
    bus.stop().unwrap();
    echo.stop();
}

#[test]
fn an_operation_has_its_policy_and_no_action_talks_a_message_out_of_it() {
    let keys = Keys::new();
    let configuration = crate::support::definitions(
        r#"<localEntry key="gateway-policy" src="file:gateway-policy.xml"/>
        <proxy name="P"><target><inSequence><respond/></inSequence></target><enableSec/>
            <policy key="gateway-policy" operationName="buyStocks" operationNamespace="http://services.samples/xsd"/>
        </proxy>"#,
    );
    let (bus, address) = keys.bus(&configuration, settings(), remembering());
    let ask = |action: &str, body: &str| {
        let request = String::from_utf8(post("P", body)).unwrap();
        let request = request.replace("\r\n\r\n", &format!("\r\nSOAPAction: \"{action}\"\r\n\r\n"));
        raw::exchange(address, request.as_bytes()).unwrap()
    };
    let client = keys.client();
    let other = order("IBM").replace("buyStocks", "askPrice");
    let (sealed, conversation) = client.seal(&order("IBM"));
    let (sealed_other, _) = client.seal(&other);
    // Another operation needs nothing, and one in clear is known by its body, whatever the action says.
    assert_eq!(ask("urn:askPrice", &other).status, 200);
    for action in ["urn:buyStocks", "urn:askPrice", ""] {
        assert_refused(&ask(action, &order("IBM")), "InvalidSecurity");
    }
    // Of one that is encrypted the action tells, and the decrypted body has to agree.
    assert_refused(&ask("urn:askPrice", &sealed), "InvalidSecurity");
    assert_refused(&ask("urn:buyStocks", &sealed_other), "InvalidSecurity");
    let answer = ask("urn:buyStocks", &sealed);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(client.open(&answer, &conversation).0.contains("<symbol>IBM</symbol>"));
    bus.stop().unwrap();
}

#[test]
fn wso2s_folders_hold_the_policy_and_the_keys_that_it_names() {
    let keys = Keys::new();
    let home = keys.0.path().join("home");
    let folder = |path: &str| {
        let folder = home.join(path);
        fs::create_dir_all(&folder).unwrap();
        folder
    };
    let stores = folder("repository/resources/security");
    fs::copy(keys.0.path().join("gateway.pem"), stores.join("gateway.pem")).unwrap();
    fs::write(folder("registry/config/policies").join("gateway.xml"), POLICIES[0].1).unwrap();
    let artefact = r#"<proxy xmlns="http://ws.apache.org/ns/synapse" name="SecureOrders">
        <target><inSequence><respond/></inSequence></target>
        <enableSec/>
        <policy key="conf:/policies/gateway.xml"/>
    </proxy>"#;
    let file = folder("repository/deployment/server/synapse-configs/default/proxy-services").join("SecureOrders.xml");
    fs::write(&file, artefact).unwrap();
    let (bus, address) = start_bus(&file, settings(), remembering());
    let (sealed, conversation) = keys.client().seal(&order("IBM"));
    let answer = raw::exchange(address, &post("SecureOrders", &sealed)).unwrap();
    assert!(keys.client().open(&answer, &conversation).0.contains("<symbol>IBM</symbol>"));
    bus.stop().unwrap();
}

#[test]
fn a_policy_for_each_way_secures_that_way_alone() {
    let keys = Keys::new();
    let with = |kind: &str| {
        crate::support::definitions(&format!(
            r#"<localEntry key="gateway-policy" src="file:gateway-policy.xml"/>
            <proxy name="P"><target><inSequence>
                <header name="To" action="remove"/><respond/>
            </inSequence></target><enableSec/><policy key="gateway-policy" type="{kind}"/></proxy>"#
        ))
    };
    let client = keys.client();
    let (bus, address) = keys.bus(&with("in"), settings(), remembering());
    let answer = raw::exchange(address, &post("P", &client.seal(&order("IBM")).0)).unwrap();
    assert!(answer.status == 200 && answer.text().contains("<symbol>IBM</symbol>"), "{}", answer.text());
    assert_refused(&raw::exchange(address, &post("P", &order("IBM"))).unwrap(), "InvalidSecurity");
    bus.stop().unwrap();
    // A policy for the requests of an operation leaves its answers to that of the proxy.
    let both = with("out")
        .replace("</proxy>", r#"<policy key="gateway-policy" type="in" operationName="buyStocks"/></proxy>"#);
    let (bus, address) = keys.bus(&both, settings(), remembering());
    let (sealed, conversation) = client.seal(&order("IBM"));
    let request = String::from_utf8(post("P", &sealed)).unwrap();
    let request = request.replace("\r\n\r\n", "\r\nSOAPAction: \"urn:buyStocks\"\r\n\r\n");
    let answer = raw::exchange(address, request.as_bytes()).unwrap();
    assert!(client.open(&answer, &conversation).0.contains("<symbol>IBM</symbol>"));
    bus.stop().unwrap();
    // Answers are encrypted for whoever signed the request, and nobody did: they are kept back.
    let (bus, address) = keys.bus(&with("out"), settings(), remembering());
    let answer = raw::exchange(address, &post("P", &order("IBM"))).unwrap();
    assert!(answer.status == 500 && !answer.text().contains(">IBM<"), "{}", answer.text());
    assert!(answer.text().contains("The answer cannot be secured"), "{}", answer.text());
    bus.stop().unwrap();
}

/// What TLS protects, with a user and a password.
const USER_POLICY: &str = r#"<wsp:Policy xmlns:wsp="http://schemas.xmlsoap.org/ws/2004/09/policy"
    xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702" xmlns:ramp="http://ws.apache.org/rampart/policy">
    <sp:TransportBinding><wsp:Policy>
        <sp:TransportToken><wsp:Policy><sp:HttpsToken/></wsp:Policy></sp:TransportToken>
        <sp:AlgorithmSuite><wsp:Policy><sp:Basic256/></wsp:Policy></sp:AlgorithmSuite>
        <sp:IncludeTimestamp/>
    </wsp:Policy></sp:TransportBinding>
    <sp:SignedSupportingTokens><wsp:Policy>
        <sp:UsernameToken sp:IncludeToken="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702/IncludeToken/AlwaysToRecipient"/>
    </wsp:Policy></sp:SignedSupportingTokens>
    <ramp:RampartConfig><ramp:user>alice</ramp:user></ramp:RampartConfig>
</wsp:Policy>"#;

/// A bus that knows the password of alice.
fn knowing(password: &str, folder: &Path, artefacts: &str, settings: Settings) -> (Running, SocketAddr) {
    fs::write(folder.join("user-policy.xml"), USER_POLICY).unwrap();
    let file = folder.join("synapse.xml");
    let policy = r#"<localEntry key="user-policy" src="file:user-policy.xml"/>"#;
    fs::write(&file, crate::support::definitions(&format!("{policy}{artefacts}"))).unwrap();
    let mut content = myelin_engine::Settings::default();
    let user = User { password: password.into(), roles: Vec::new() };
    content.security.users.insert("alice".to_owned(), user);
    let loaded = myelin_engine::load(&[file], &content);
    assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
    let running = start(Arc::new(loaded.bus), settings).unwrap();
    let address = running.urls[0].split_once("://").unwrap().1.parse().unwrap();
    (running, address)
}

#[test]
fn a_user_shows_a_password_through_tls_and_is_a_property_then() {
    let authority = Authority::new();
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let service = r#"<proxy name="S" transports="http https"><target><inSequence>
            <property name="X-User" expression="get-property('axis2', 'username')" scope="transport"/>
            <property name="X-Also" expression="get-property('security.user')" scope="transport"/>
            <respond/>
        </inSequence></target><enableSec/><policy key="user-policy"/></proxy>"#;
    let (https, secure) = knowing("open sesame", folders[0].path(), service, authority.server("localhost", 2090));
    let (http, clear) = knowing("open sesame", folders[0].path(), service, settings());
    let through = |password: &str, scheme: &str, address: SocketAddr| {
        let artefacts = format!(
            r#"<proxy name="P"><target><endpoint><address uri="{scheme}://localhost:{}/services/S">
                <enableSec policy="user-policy"/>
            </address></endpoint></target></proxy>"#,
            address.port()
        );
        let settings = Settings { roots: vec![authority.root()], ..settings() };
        let (bus, address) = knowing(password, folders[1].path(), &artefacts, settings);
        let answer = raw::exchange(address, &post("P", &order("IBM"))).unwrap();
        bus.stop().unwrap();
        answer
    };
    let answer = through("open sesame", "https", secure);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.text().contains("<symbol>IBM</symbol>") && !answer.text().contains("Security"), "{}", answer.text());
    assert_eq!((answer.header("X-User"), answer.header("X-Also")), (Some("alice"), Some("alice")));
    assert_eq!(through("open barley", "https", secure).status, 502, "a wrong password");
    // A password does not leave in clear, and what comes in clear is not believed.
    assert_eq!(through("open sesame", "http", clear).status, 500);
    assert_refused(&raw::exchange(clear, &post("S", &order("IBM"))).unwrap(), "InvalidSecurity");
    https.stop().unwrap();
    http.stop().unwrap();
}

#[test]
fn a_user_shows_a_password_by_http_basic_where_the_policy_asks_for_nothing_else() {
    let authority = Authority::new();
    let folder = tempfile::tempdir().unwrap();
    let service = r#"<proxy name="S" transports="http https"><target><inSequence>
            <property name="X-User" expression="get-property('security.user')" scope="transport"/>
            <property name="X-Also" expression="get-property('axis2', 'username')" scope="transport"/>
            <respond/>
        </inSequence></target><enableSec/><policy key="user-policy"/></proxy>"#;
    let front = r#"<proxy name="Front"><target><inSequence>
            <call><endpoint><address uri="https://localhost:{port}/services/S"/></endpoint></call>
            <respond/>
        </inSequence></target></proxy>"#;
    let (https, secure) = knowing("open:sesame", folder.path(), service, authority.server("localhost", 2091));
    let (artefacts, front) = (front.replace("{port}", &secure.port().to_string()), tempfile::tempdir().unwrap());
    let settings = Settings { roots: vec![authority.root()], ..settings() };
    let (http, address) = knowing("open:sesame", front.path(), &artefacts, settings);
    let ask = |content_type: &str, body: &str, credentials: Option<&str>| {
        let authorization = credentials.map(|encoded| format!("Authorization: Basic {encoded}\r\n"));
        let (authorization, length) = (authorization.unwrap_or_default(), body.len());
        let request = format!(
            "POST /services/Front HTTP/1.1\r\nHost: h\r\nContent-Type: {content_type}\r\n{authorization}\
             Content-Length: {length}\r\n\r\n{body}"
        );
        raw::exchange(address, request.as_bytes()).unwrap()
    };
    let soap = order("IBM");
    for (content_type, body) in
        [("text/xml", soap.as_str()), ("application/xml", "<order/>"), ("application/json", "{\"a\":1}")]
    {
        // alice:open:sesame
        let answer = ask(content_type, body, Some("YWxpY2U6b3BlbjpzZXNhbWU="));
        assert_eq!((answer.status, answer.text()), (200, body.to_owned()));
        assert_eq!((answer.header("X-User"), answer.header("X-Also")), (Some("alice"), Some("alice")));
        // Another password, another user, no password, no Base64.
        for wrong in [None, Some("YWxpY2U6b3Blbg=="), Some("Ym9iOm9wZW46c2VzYW1l"), Some("YWxpY2U="), Some("%")] {
            let answer = ask(content_type, body, wrong);
            assert_eq!(answer.status, 401, "{wrong:?}: {}", answer.text());
            assert!(answer.header("WWW-Authenticate").unwrap().starts_with("Basic realm="), "{wrong:?}");
        }
    }
    https.stop().unwrap();
    http.stop().unwrap();
}
