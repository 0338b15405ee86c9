//! The management API, as operators, the console and the `mi` command line ask it.

mod changing;
mod client;
mod hostile;

use std::fs;
use std::net::SocketAddr;

use myelin_manage::api::{User, Users};
use myelin_testkit::eventually;
use myelin_testkit::raw::{Answer, exchange};
use rustls::version;
use serde_json::Value;

use crate::support::authority::Authority;
use crate::support::process::Process;
use crate::tls::Caller;

/// What the passwords of the tests are.
const PASSWORD: &str = "canary-password";

/// A process with a management API, and where programs of this machine reach it without TLS.
struct Managed {
    process: Process,
    admin: SocketAddr,
}

impl Managed {
    /// A process of some files, with the users `ann`, an admin, and `bob`, who is none.
    fn run(files: &[(&str, &str)], settings: &str, arguments: &[&str]) -> Managed {
        let mut users = Users::default();
        assert!(users.add(User::new("ann", PASSWORD, true).unwrap()));
        assert!(users.add(User::new("bob", PASSWORD, false).unwrap()));
        let text = users.to_text();
        let files: Vec<(&str, &str)> = files.iter().copied().chain([("users.toml", text.as_str())]).collect();
        let rate = if settings.contains("requests_per_minute") { "" } else { "requests_per_minute = 100000\n" };
        let settings = format!(
            "[myelin.admin]\nlisten = \"127.0.0.1:0\"\n[myelin.management]\nlisten = \"127.0.0.1:0\"\nusers = \
             \"bus/users.toml\"\n{rate}{settings}"
        );
        let process = Process::with(&files, &settings, arguments);
        let line = process.logged("metrics and probes are on http://");
        let admin = line.rsplit_once("http://").unwrap().1.trim().parse().unwrap();
        Managed { process, admin }
    }

    /// Asks with a token, and with a body of JSON where there is one.
    fn ask(&self, token: &str, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let body = body.map(Value::to_string).unwrap_or_default();
        let typed = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
        self.send(token, method, path, typed, body.as_bytes())
    }

    fn send(&self, token: &str, method: &str, path: &str, more: &str, body: &[u8]) -> Answer {
        let head = format!(
            "{method} /management{path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token}\r\n{more}Content-Length: \
             {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        exchange(self.admin, &[head.as_bytes(), body].concat()).unwrap()
    }

    fn login(&self, user: &str, password: &str) -> Answer {
        use base64::Engine as _;
        let basic = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
        let head = format!("GET /management/login HTTP/1.1\r\nHost: h\r\nAuthorization: Basic {basic}\r\n\r\n");
        exchange(self.admin, head.as_bytes()).unwrap()
    }

    fn token(&self, user: &str) -> String {
        let answer = self.login(user, PASSWORD);
        assert_eq!(answer.status, 200, "{}", answer.text());
        json(&answer)["AccessToken"].as_str().unwrap().to_owned()
    }

    fn get(&self, token: &str, path: &str) -> Value {
        let answer = self.ask(token, "GET", path, None);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        json(&answer)
    }

    /// The status of a request to the bus itself.
    fn status(&self, path: &str) -> u16 {
        let request = format!("GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        exchange(self.process.address, request.as_bytes()).unwrap().status
    }
}

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.text()).unwrap_or_else(|error| panic!("{error}: {}", answer.text()))
}

const HELLO: &str = r#"<proxy xmlns="http://ws.apache.org/ns/synapse" name="Hello" transports="http https">
    <target><inSequence><respond/></inSequence></target></proxy>"#;

#[test]
fn a_password_gives_a_token_that_logging_out_ends() {
    let managed = Managed::run(&[("Hello.xml", HELLO)], "", &[]);
    for (user, password) in [("ann", "wrong"), ("nobody", PASSWORD), ("ann", "")] {
        let refused = managed.login(user, password);
        assert_eq!(refused.status, 401, "{user}");
        assert_eq!(json(&refused)["Error"], "The name or the password is wrong");
    }
    let ann = managed.token("ann");
    assert_eq!(managed.get(&ann, "/proxy-services")["count"], 1);
    assert_eq!(managed.ask("", "GET", "/proxy-services", None).status, 401);
    assert_eq!(managed.ask(&format!("{ann}x"), "GET", "/proxy-services", None).status, 401);
    assert_eq!(managed.get(&ann, "/myelin/session")["userId"], "ann");
    assert_eq!(managed.ask(&ann, "GET", "/logout", None).status, 200);
    assert_eq!(managed.ask(&ann, "GET", "/proxy-services", None).status, 401);
    let audited = managed.process.logged("logout");
    assert!(audited.contains("myelin::audit") && audited.contains("ann"), "{audited}");
}

#[test]
fn who_is_no_admin_reads_and_changes_nothing() {
    let managed = Managed::run(&[("Hello.xml", HELLO)], "", &[]);
    let bob = managed.token("bob");
    assert_eq!(managed.get(&bob, "/proxy-services?proxyServiceName=Hello")["isRunning"], true);
    let off = serde_json::json!({ "name": "Hello", "status": "inactive" });
    let refused = managed.ask(&bob, "POST", "/proxy-services", Some(&off));
    // The `mi` client shows the status where there is no body.
    assert_eq!((refused.status, refused.text().as_str()), (403, ""));
    assert_eq!(managed.status("/services/Hello"), 200);
    for path in ["/users", "/users/ann", "/roles", "/registry-resources/content?path=registry/config/x"] {
        assert_eq!(managed.ask(&bob, "GET", path, None).status, 403, "{path}");
    }
    managed.process.logged("refused: not an admin");
}

#[test]
fn wrong_passwords_are_bounded_by_address_and_right_ones_wait_too() {
    let managed = Managed::run(&[("Hello.xml", HELLO)], "failures = 3\n", &[]);
    let statuses: Vec<u16> = (0..5).map(|_| managed.login("ann", "wrong").status).collect();
    assert_eq!(statuses, [401, 401, 401, 429, 429]);
    let refused = managed.login("ann", PASSWORD);
    assert_eq!((refused.status, refused.header("Retry-After")), (429, Some("300")));
}

/// The port of the management API itself, over HTTPS.
fn secure_port(process: &Process) -> u16 {
    let line = process.logged("/management");
    let port = line.split("https://127.0.0.1:").nth(1).unwrap_or_else(|| panic!("{line}"));
    port.split('/').next().unwrap().parse().unwrap()
}

#[test]
fn a_key_store_of_its_own_is_shown_and_read_again_when_it_was_changed() {
    let (old, new) = (Authority::new(), Authority::new());
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("management.pem");
    fs::copy(old.store("localhost"), &store).unwrap();
    let settings = format!("[myelin.management.keystore]\nfile_name = \"{}\"\ntype = \"PEM\"\n", store.display());
    let managed = Managed::run(&[("Hello.xml", HELLO)], &settings, &[]);
    let port = secure_port(&managed.process);
    let caller = |trusts| Caller { trusts, shows: None, speaks: &version::TLS13 };
    assert!(caller(&old).ask(port).unwrap().starts_with("HTTP/1.1 "), "the certificate of the store is shown");
    assert!(caller(&new).ask(port).is_err());
    fs::copy(new.store("localhost"), &store).unwrap();
    managed.process.logged("shows its new certificate");
    eventually("the new certificate is shown", || {
        caller(&new).ask(port).is_ok_and(|said| said.starts_with("HTTP/1.1 "))
    });
    eventually("the old certificate is gone", || caller(&old).ask(port).is_err());
    fs::write(&store, "nonsense").unwrap();
    managed.process.logged("is refused, the old one stays in use");
    assert!(caller(&new).ask(port).is_ok());
}

#[test]
fn requests_are_bounded_for_each_who_is_logged_in_though_all_have_one_address() {
    let managed = Managed::run(&[("Hello.xml", HELLO)], "requests_per_minute = 3\n", &[]);
    // Two log-ins come from the address.
    let [ann, bob] = ["ann", "bob"].map(|user| managed.token(user));
    let statuses = |token: &str| -> Vec<u16> {
        (0..4).map(|_| managed.ask(token, "GET", "/proxy-services", None).status).collect()
    };
    assert_eq!(statuses(&ann), [200, 200, 200, 429]);
    assert_eq!(statuses(&bob), [200, 200, 200, 429]);
    assert_eq!(statuses("forged"), [401, 429, 429, 429]);
}

#[test]
fn without_a_user_there_is_no_api_and_a_line_says_how_to_make_one() {
    let settings = "[myelin.admin]\nlisten = \"127.0.0.1:0\"\n[myelin.management]\nlisten = \"127.0.0.1:0\"\n";
    let process = Process::with(&[("Hello.xml", HELLO)], settings, &[]);
    process.logged("`myelin user add NAME --admin --file");
    let line = process.logged("metrics and probes are on http://");
    let admin: SocketAddr = line.rsplit_once("http://").unwrap().1.trim().parse().unwrap();
    let answer = exchange(admin, b"GET /management/login HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    assert_eq!(answer.status, 404);
}
