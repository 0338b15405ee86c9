//! Passwords in settings, endpoints, headers, payloads and targets: no page of the console shows one, nor does any answer
//! that a page asks for, nor a trace.
//!
//! To add a place where secrets come from, give it a value in [`CANARIES`] and put it there; to add a page, name it in
//! [`PAGES`]. `tests/serving/canary.rs` looks for such secrets in logs, metrics and faults.

use myelin_testkit::faulty::{Backend, Script};
use myelin_testkit::raw::exchange;

use crate::browser::Browser;
use crate::process::{Process, write};
use crate::{Operated, go};

/// Where a secret comes from, and its text.
const CANARIES: [(&str, &str); 12] = [
    ("the password of an operator", "canary4operator6Lt"),
    ("an alias of the vault", "canary4vault7Kq"),
    ("the secrets of the settings", "canary4settings3Bd"),
    ("the user of an API", "canary4user8Wm"),
    ("the credentials of an endpoint", "canary4endpoint3Zt"),
    ("the query of an endpoint", "canary4address2Vw"),
    ("the header Authorization", "canary4bearer5Rd"),
    ("a cookie", "canary4cookie2Jn"),
    ("a parameter of the target", "canary4query1Hb"),
    ("a payload", "canary4payload4Gy"),
    ("a payload of JSON", "canary4json9Xf"),
    ("the message of a task", "canary4task6Pk"),
];

fn canary(place: &str) -> &'static str {
    CANARIES.into_iter().find(|(known, _)| *known == place).map(|(_, text)| text).expect("it is in the list")
}

/// Each page with what is there once it is drawn.
const PAGES: [(&str, &str); 17] = [
    ("#/", "table.services tbody tr"),
    ("#/services/proxy%20Orders", ".graph .node"),
    ("#/services/Closed", ".graph"),
    ("#/services/proxy%20Fails", ".graph .node"),
    ("#/endpoints", "main tbody tr"),
    ("#/endpoints/Backend", "main .tiles"),
    ("#/endpoints/Gone", "main .tiles"),
    ("#/problems", ".card"),
    ("#/logs", "main tbody tr"),
    ("#/logs?contains=canary", ".log"),
    ("#/reloads", ".card"),
    ("#/tasks", "main tbody tr"),
    ("#/stores", ".empty"),
    ("#/applications", "main h1"),
    ("#/source", "main li a"),
    ("#/traces", "main tbody tr"),
    ("#/nowhere", "main h1"),
];

/// Keeps the text of all that a page fetches.
const KEEPING: &str = "window.fetched = []; const asked = window.fetch; window.fetch = async (...all) => { \
    const answer = await asked(...all); answer.clone().text().then((text) => window.fetched.push(`${all[0]} ${text}`), () => {}); \
    return answer; };";

fn configuration(backend: &Backend) -> String {
    let (at, gone) = (backend.address(), myelin_testkit::port::free().unwrap());
    let [password, address, task] =
        ["the credentials of an endpoint", "the query of an endpoint", "the message of a task"].map(canary);
    format!(
        r#"<definitions xmlns="http://ws.apache.org/ns/synapse">
    <endpoint name="Backend"><http method="post" uri-template="http://{at}/in?api_key={address}"><authentication><basicAuth>
        <username>bus</username><password>{password}</password></basicAuth></authentication></http></endpoint>
    <endpoint name="Gone"><address uri="http://bus:{password}@{gone}/gone"/></endpoint>
    <proxy name="Orders" transports="http">
        <target>
            <inSequence>
                <log level="full"><property name="password" expression="//password"/></log>
                <property name="harmless" expression="wso2:vault-lookup('stock')" xmlns:wso2="http://wso2.org"/>
                <filter xpath="//password = 'never'"><then><drop/></then></filter>
                <switch source="$trp:Authorization"><case regex="Bearer .*"><log/></case></switch>
                <call><endpoint key="Backend"/></call>
                <respond/>
            </inSequence>
        </target>
    </proxy>
    <proxy name="Fails" transports="http"><target><inSequence><call><endpoint key="Gone"/></call></inSequence></target></proxy>
    <api name="Closed" context="/closed"><resource methods="POST"><inSequence><respond/></inSequence></resource>
        <handlers><handler class="org.wso2.micro.integrator.security.handler.RESTBasicAuthHandler"/></handlers></api>
    <proxy name="Broken"><target><inSequence>
        <property name="password" value="{password}"/>
        <respnd/>
    </inSequence></target></proxy>
    <task name="Nightly" class="org.apache.synapse.startup.tasks.MessageInjector">
        <trigger cron="0 0 3 * * ?"/>
        <property name="proxyName" value="Fails"/><property name="injectTo" value="proxy"/>
        <property name="message"><run xmlns=""><password>{task}</password></run></property>
    </task>
</definitions>"#
    )
}

fn start() -> Operated {
    let backend = Backend::start([Script::answering(crate::OK)]).unwrap();
    let [operator, vault, settings, user] =
        ["the password of an operator", "an alias of the vault", "the secrets of the settings", "the user of an API"]
            .map(canary);
    let settings = format!(
        "[[internal_apis.users]]\nuser.name = \"ann\"\nuser.password = \"{operator}\"\nuser.is_admin = true\n\
         [secrets]\nother = \"[{settings}]\"\n[myelin.security.secrets]\nstock = \"{vault}\"\n\
         [myelin.security.users]\nann = \"{user}\"\n[myelin.management]\nlisten = \"127.0.0.1:0\"\n\
         requests_per_minute = 100000\n[myelin.log]\nlevel = \"debug\"\n[myelin.log.targets]\n\"myelin::wire\" = \"debug\"\n"
    );
    let files = [("synapse.xml", configuration(&backend))];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let bus = Process::with(&files, &settings, &["--threads", "1", "--admin", "127.0.0.1:0", "--trace"]);
    let line = bus.logged("metrics and probes are on");
    let url = line.split(' ').find(|word| word.starts_with("http://")).unwrap();
    Operated { console: format!("{url}/console/"), bus, backend }
}

fn post(operated: &Operated, path: &str, content_type: &str, body: &str) -> u16 {
    let [bearer, cookie, query] = ["the header Authorization", "a cookie", "a parameter of the target"].map(canary);
    let request = format!(
        "POST {path}?q=1&password={query} HTTP/1.1\r\nHost: bus\r\nAuthorization: Bearer {bearer}\r\n\
         Cookie: session={cookie}\r\nContent-Type: {content_type}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    exchange(operated.address(), request.as_bytes()).unwrap().status
}

/// None of the secrets is in a text.
fn shows_no_secret(what: &str, text: &str) {
    for (place, canary) in CANARIES {
        let at = text.find(canary);
        let around = at.map(|at| text.get(at.saturating_sub(200)..(at + 60).min(text.len())).unwrap_or(canary));
        assert_eq!(around, None, "{what} shows what is secret of {place}");
    }
}

/// What a page shows and what it has fetched so far.
fn look(browser: &mut Browser, page: &str) {
    let shown = browser.value("document.documentElement.outerHTML");
    shows_no_secret(page, shown.as_str().unwrap());
    let values = browser.value("[...document.querySelectorAll('input, select')].map((one) => one.value).join('\\n')");
    shows_no_secret(&format!("a field of {page}"), values.as_str().unwrap());
    let fetched = browser.value("window.fetched.splice(0)");
    for answer in fetched.as_array().unwrap() {
        let answer = answer.as_str().unwrap();
        shows_no_secret(&format!("{page}: {}", answer.split(' ').next().unwrap_or_default()), answer);
    }
}

#[test]
fn no_page_of_the_console_and_no_trace_shows_a_secret() {
    let operated = start();
    let Some(mut browser) = Browser::start() else { return };
    browser.looks(1280, 860, "light");
    browser.before_each_page(KEEPING);
    browser.open(&operated.console);
    browser.write("[name=username]", "ann");
    browser.write("[name=password]", canary("the password of an operator"));
    browser.click("form.login button");
    browser.until("document.querySelector('table.services tbody tr')");
    // That the login answered is seen in what was fetched, so all else would be seen there.
    assert_eq!(browser.value("window.fetched.some((one) => one.includes('AccessToken'))"), true);

    let xml = format!("<order><password>{}</password><note>n</note></order>", canary("a payload"));
    let json = format!(r#"{{"password": "{}", "note": "n"}}"#, canary("a payload of JSON"));
    assert_eq!(post(&operated, "/services/Orders", "application/xml", &xml), 200);
    assert_eq!(post(&operated, "/services/Orders", "application/json", &json), 200);
    assert!(post(&operated, "/services/Fails", "application/xml", &xml) >= 500);
    assert!(matches!(post(&operated, "/closed", "application/xml", &xml), 401 | 403));
    let got = operated.backend.connections();
    assert!(got.iter().any(|connection| connection.text().contains(canary("a payload"))), "the backend gets it");
    write(
        &operated.bus.path("synapse.xml"),
        &configuration(&operated.backend).replace("<log level=\"full\">", "<log level=\"custom\">"),
    );
    operated.bus.hang_up();
    browser.value("location.hash = '#/tasks'");
    browser.click("main tbody button:not([role=switch])");
    browser.shows("Nightly is triggered");

    for (address, selector) in PAGES {
        go(&mut browser, address, selector);
        // Each step with its source.
        let nodes = browser.value("document.querySelectorAll('.graph .node').length").as_u64().unwrap();
        for node in 0..nodes {
            browser.value(&format!("document.querySelectorAll('.graph .node')[{node}].click()"));
            browser.until("document.querySelector('.details .marked')");
            look(&mut browser, address);
        }
        if address == "#/source" {
            browser.click("main li a");
            browser.until("document.querySelector('pre.source .x-name')");
        }
        if address == "#/logs" {
            browser.click("details.levels summary");
            browser.until("document.querySelector('details.levels select')");
        }
        look(&mut browser, address);
    }

    // Each trace with each of its steps, and as text.
    go(&mut browser, "#/traces", "main tbody tr");
    let ids =
        browser.value("[...document.querySelectorAll('main tbody th a')].map((one) => one.hash.split('/').pop())");
    let ids: Vec<String> = ids.as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
    assert!(ids.len() >= 4, "{ids:?}");
    for id in ids {
        go(&mut browser, &format!("#/traces/{id}"), ".waterfall");
        let steps = browser.value("document.querySelectorAll('.waterfall a').length").as_u64().unwrap();
        for _ in 0..steps {
            look(&mut browser, "a trace");
            browser.press("j");
        }
        let asked = format!(
            "fetch('/management/myelin/traces/{id}?form=text', {{ headers: {{ Authorization: 'Bearer ' + \
             sessionStorage.getItem('myelin.token') }} }}).then((answer) => answer.text())"
        );
        let text = browser.value(&asked);
        let text = text.as_str().unwrap();
        assert!(text.starts_with(&format!("trace {id} of ")), "{text}");
        shows_no_secret("the text of a trace", text);
    }
}
