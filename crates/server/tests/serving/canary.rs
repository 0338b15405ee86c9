//! Passwords in settings, credentials of endpoints, headers, targets and payloads: none of them may be shown anywhere
//! that an operator reads.
//!
//! To add a place where secrets come from, give it a value in [`CANARIES`] and put it there in [`watched`]; to add
//! something that operators read, gather its text and hand it to [`Watched::shows_no_secret`].

use std::fs;
use std::net::{SocketAddr, TcpStream};

use crate::support::definitions;
use crate::support::process::Process;
use myelin_testkit::eventually;
use myelin_testkit::faulty::Backend;
use myelin_testkit::raw::{Answer, exchange};

use crate::support::answering;

/// Where a secret comes from, and its text.
const CANARIES: [(&str, &str); 11] = [
    ("the settings", "canary4settings7Kq"),
    ("the user of an API", "canary4user8Wm"),
    ("the credentials of an endpoint", "canary4endpoint3Zt"),
    ("the header Authorization", "canary4basic5Rd"),
    ("a cookie", "canary4cookie2Jn"),
    ("a key of an API", "canary4apikey6Xv"),
    ("a bearer token of a header of one's own", "canary4token9Ls"),
    ("a parameter of the target", "canary4query1Hb"),
    ("a payload", "canary4payload4Gy"),
    ("WS-Security", "canary4wsse0Pc"),
    ("a cookie that a backend sets", "canary4setcookie5Fa"),
];

fn canary(place: &str) -> &'static str {
    CANARIES.into_iter().find(|(known, _)| *known == place).map(|(_, text)| text).expect("it is in the list")
}

/// A process whose secrets are looked for in all that it says.
struct Watched {
    process: Process,
    admin: SocketAddr,
    backend: Backend,
}

impl Watched {
    /// None of the secrets is in a text, nor as Base64 has it.
    fn shows_no_secret(&self, what: &str, text: &str) {
        assert!(!text.is_empty(), "{what} is empty");
        for (place, canary) in CANARIES {
            let found = text.lines().find(|line| line.contains(canary) || line.contains(&base64_of(canary)));
            assert_eq!(found, None, "{what} shows what is secret of {place}");
        }
    }

    fn post(&self, path: &str, content_type: &str, body: &str) -> Answer {
        let (cookie, key, token) =
            (canary("a cookie"), canary("a key of an API"), canary("a bearer token of a header of one's own"));
        let basic = base64(&format!("ann:{}", canary("the header Authorization")));
        let query = canary("a parameter of the target");
        let request = format!(
            "POST {path}?q=1&password={query} HTTP/1.1\r\nHost: bus\r\nAuthorization: Basic {basic}\r\n\
             Cookie: session={cookie}\r\nX-API-Key: {key}\r\nX-Access-Token: Bearer {token}\r\n\
             Content-Type: {content_type}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        exchange(self.process.address, request.as_bytes()).unwrap()
    }
}

/// Base64 (RFC 4648 §4).
fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// The middle of it, which does not hang on what stands before and behind.
fn base64_of(text: &str) -> String {
    let encoded = base64(text);
    encoded[4..encoded.len() - 4].to_owned()
}

fn watched() -> Watched {
    let cookie = canary("a cookie that a backend sets");
    let backend = answering(format!(
        "HTTP/1.1 200 OK\r\nSet-Cookie: session={cookie}\r\nContent-Type: text/xml\r\nContent-Length: 4\r\n\r\n<a/>"
    ));
    let (at, gone) = (backend.address(), myelin_testkit::port::free().unwrap());
    let password = canary("the credentials of an endpoint");
    let artefacts = format!(
        r#"<endpoint name="Good"><http method="post" uri-template="http://{at}/in"><authentication><basicAuth>
            <username>bus</username><password>{password}</password></basicAuth></authentication></http></endpoint>
        <endpoint name="Gone"><address uri="http://{gone}/gone"/></endpoint>
        <proxy name="Works" transports="http"><target><inSequence><log level="custom"><property name="step" value="in"/></log>
            <property name="note" expression="//note"/><filter xpath="//note"><then/><else/></filter>
            <call><endpoint key="Good"/></call><respond/></inSequence></target></proxy>
        <proxy name="Fails" transports="http"><target><inSequence>
            <call><endpoint key="Gone"/></call><respond/></inSequence></target></proxy>
        <proxy name="Throws" transports="http"><target><inSequence>
            <property name="x" expression="//note"/><throwError type="T" errorMessage="it failed"/>
        </inSequence></target></proxy>
        <api name="Closed" context="/closed"><resource methods="POST"><inSequence><respond/></inSequence></resource>
            <handlers><handler class="org.wso2.micro.integrator.security.handler.RESTBasicAuthHandler"/></handlers></api>"#
    );
    let admin = myelin_testkit::port::free().unwrap();
    let settings = format!(
        "[secrets]\nstock = \"[{}]\"\n[myelin.security.users]\nann = \"{}\"\n\
         [myelin.log]\nlevel = \"trace\"\n[myelin.log.targets]\nmyelin = \"trace\"\n\"myelin::wire\" = \"debug\"\n\
         [myelin.access_log]\nfile = \"access.log\"\nformat = \"json\"\n",
        canary("the settings"),
        canary("the user of an API"),
    );
    let arguments = ["--admin", &admin.to_string(), "--correlation-id"];
    let process = Process::with(&[("synapse.xml", &definitions(&artefacts))], &settings, &arguments);
    eventually("the admin listener answers", || TcpStream::connect(admin).is_ok());
    Watched { process, admin, backend }
}

#[test]
fn no_secret_is_shown_in_logs_metrics_probes_or_faults() {
    let watched = watched();
    let (payload, wsse) = (canary("a payload"), canary("WS-Security"));
    let soap = format!(
        r#"<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Header><w:Security
        xmlns:w="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"><w:UsernameToken>
        <w:Username>ann</w:Username><w:Password>{wsse}</w:Password></w:UsernameToken></w:Security></s:Header>
        <s:Body><order><note>n</note><password>{payload}</password></order></s:Body></s:Envelope>"#
    );
    let json = format!(r#"{{"note": "n", "password": "{payload}"}}"#);
    let mut faults = String::new();
    for (path, works) in [("/services/Works", true), ("/services/Fails", false), ("/services/Throws", false)] {
        for (content_type, body) in
            [("text/xml", &soap), ("application/json", &json), ("text/xml", &"<a><b".to_owned())]
        {
            let answer = watched.post(path, content_type, body);
            if !works {
                assert!(answer.status >= 400, "{path}: {}", answer.status);
            }
            if answer.status >= 400 {
                faults.push_str(&answer.text());
            }
        }
    }
    let refused = watched.post("/closed", "text/xml", &soap);
    assert!(matches!(refused.status, 401 | 403), "{}", refused.status);
    faults.push_str(&refused.text());
    let real = base64(&format!("bus:{}", canary("the credentials of an endpoint")));
    let got = watched.backend.connections();
    assert!(got.iter().any(|connection| connection.text().contains(&real)), "the backend gets the credentials");
    watched.shows_no_secret("a fault", &faults);
    for path in ["/metrics", "/healthz", "/readiness", "/liveness"] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: admin\r\nConnection: close\r\n\r\n");
        watched.shows_no_secret(path, &exchange(watched.admin, request.as_bytes()).unwrap().text());
    }
    let access_log = watched.process.folder.path().join("access.log");
    let read = || fs::read_to_string(&access_log).unwrap_or_default();
    eventually("the access log has all lines", || read().lines().count() == 10);
    assert!(read().contains("password=****"), "{}", read());
    watched.shows_no_secret("the access log", &read());
    watched.process.hang_up();
    let lines = watched.process.logged_until("SIGHUP; ");
    let log = lines.join("\n");
    for part in ["from client", "to backend", "from backend", "to client", "Authorization: ****", "password=****"] {
        assert!(log.contains(part), "{part:?} is not in the log: {log}");
    }
    watched.shows_no_secret("the log", &log);
}
