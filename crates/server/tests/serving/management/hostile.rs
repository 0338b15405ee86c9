//! What the management API does with requests that are not what they should be, and with secrets.

use std::process::Command;
use std::time::Duration;

use myelin_manage::api::{offered, openapi};
use myelin_testkit::raw::{Client, exchange};
use myelin_testkit::skip;

use super::{HELLO, Managed, PASSWORD};

#[test]
fn every_route_is_served_as_it_is_described_and_none_without_a_token() {
    let managed = Managed::run(&[("Hello.xml", HELLO)], "", &[]);
    let described = exchange(managed.admin, b"GET /management/openapi.json HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    assert_eq!(super::json(&described), openapi());
    let ann = managed.token("ann");
    for (method, path) in offered() {
        let path = path.replace("{user_id}", "ann").replace("{role_name}", "admin").replace("{application}", "x");
        if !matches!(&*path, "/openapi.json" | "/logout") {
            let answer = managed.ask("x", method, &path, None);
            assert_eq!(answer.status, 401, "{method} {path}");
            assert_eq!(answer.header("X-Content-Type-Options"), Some("nosniff"));
            assert_eq!(answer.header("Access-Control-Allow-Origin"), None);
        }
        if matches!(&*path, "/logout" | "/server") {
            continue;
        }
        let bodies =
            [None, Some(serde_json::json!({})), Some(serde_json::json!([1])), Some(serde_json::json!({"name": {}}))];
        for body in bodies {
            let answer = managed.ask(&ann, method, &path, body.as_ref());
            assert!(answer.status < 500, "{method} {path} {body:?}: {} {}", answer.status, answer.text());
        }
        let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
        let answer = managed.send(&ann, method, &path, "Content-Type: application/json\r\n", deep.as_bytes());
        assert!(answer.status < 500, "{method} {path}: {}", answer.status);
        let others = if method == "GET" { "TRACE" } else { "PURGE" };
        assert_eq!(managed.ask(&ann, others, &path, None).status, 405, "{others} {path}");
        assert_eq!(managed.ask(&ann, "OPTIONS", &path, None).status, 204, "{path}");
    }
}

#[test]
fn no_secret_is_in_an_answer_or_in_the_log() {
    let secrets = r#"<definitions xmlns="http://ws.apache.org/ns/synapse">
      <localEntry key="db-password">canary-entry</localEntry>
      <endpoint name="E"><address uri="http://ann:canary-url@127.0.0.1:1/"/></endpoint>
      <proxy name="P"><target><inSequence>
        <property name="Authorization" value="Basic canary-basic" scope="transport"/>
        <property name="apiKey" value="canary-key"/><nonsense password="canary-attribute"/><respond/>
      </inSequence></target><parameter name="clientSecret">canary-parameter</parameter></proxy>
      <proxy name="Q"><target><inSequence><respond/></inSequence></target></proxy>
    </definitions>"#;
    let settings = "[[datasource]]\nid = \"DB\"\nurl = \"jdbc:postgresql://u:canary-jdbc@127.0.0.1/x\"\nusername = \
                    \"u\"\npassword = \"canary-source\"\n";
    let managed = Managed::run(&[("secrets.xml", secrets)], settings, &[]);
    let ann = managed.token("ann");
    let file = managed.process.path("secrets.xml").display().to_string();
    let mut asked = 0;
    let items = [
        "/local-entries?name=db-password".to_owned(),
        "/endpoints?endpointName=E".to_owned(),
        "/proxy-services?proxyServiceName=Q".to_owned(),
        "/data-sources?name=DB".to_owned(),
        "/users/ann".to_owned(),
        format!("/myelin/source?file={file}"),
    ];
    let lists =
        offered().into_iter().filter(|(method, path)| *method == "GET" && !path.contains('{') && *path != "/logout");
    for path in lists.map(|(_, path)| path.to_owned()).chain(items) {
        let answer = managed.ask(&ann, "GET", &path, None);
        assert!(!answer.text().contains("canary"), "{path}: {}", answer.text());
        asked += usize::from(answer.status == 200);
    }
    assert!(asked > 25, "{asked}");
    managed.login("nobody", PASSWORD);
    let wrong = serde_json::json!({ "userId": "x", "password": "canary-new", "isAdmin": "maybe" });
    managed.ask(&ann, "POST", "/users", Some(&wrong));
    managed.process.terminate();
    let lines = managed.process.logged_until("stopped");
    assert!(!lines.iter().any(|line| line.contains("canary")), "{lines:#?}");
}

#[test]
fn fifty_clients_and_a_slow_one_are_answered_at_once() {
    let managed = Managed::run(&[("Hello.xml", HELLO)], "", &[]);
    let ann = managed.token("ann");
    // One that sends half a request keeps nobody waiting.
    let mut slow = Client::connect(managed.admin).unwrap();
    slow.send(b"POST /management/applications HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n1").unwrap();
    let admin = managed.admin;
    let request = format!(
        "GET /management/myelin/rates HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {ann}\r\nConnection: close\r\n\r\n"
    );
    let asks = || exchange(admin, request.as_bytes()).is_ok_and(|answer| answer.status == 200);
    let answered: usize = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..50).map(|_| scope.spawn(|| (0..4).filter(|_| asks()).count())).collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    assert_eq!(answered, 200);
}

/// How long schemathesis may take.
const SCHEMATHESIS: Duration = Duration::from_secs(60);

#[test]
fn schemathesis_finds_no_failure_of_the_server() {
    let is_there = Command::new("schemathesis").arg("--version").output().is_ok_and(|output| output.status.success());
    if !is_there {
        return skip("schemathesis is not installed (pip install schemathesis)");
    }
    let managed = Managed::run(&[("Hello.xml", HELLO)], "", &[]);
    let ann = managed.token("ann");
    let url = format!("http://{}/management/openapi.json", managed.admin);
    let mut command = Command::new("timeout");
    command.arg(SCHEMATHESIS.as_secs().to_string()).arg("schemathesis").args(["run", &url]);
    command.args(["--header", &format!("Authorization: Bearer {ann}")]);
    // The bus shall not stop, nor the token end, while it is asked.
    command.args(["--exclude-path", "/server", "--exclude-path", "/logout", "--exclude-path", "/login"]);
    command.args([
        "--checks",
        "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
    ]);
    command.args(["--max-examples", "10", "--phases", "examples,coverage,fuzzing", "--request-timeout", "10"]);
    let output = command.current_dir(managed.process.folder.path()).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // 124 is that of `timeout`: what it found until then counts.
    assert!(output.status.success() || output.status.code() == Some(124) && !text.contains("FAILURES"), "{text}");
}
