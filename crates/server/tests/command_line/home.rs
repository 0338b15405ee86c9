//! `myelin home`: the folder as WSO2's extension for VS Code uses it, whose steps these tests take.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use myelin_testkit::raw::exchange;
use myelin_testkit::{eventually, pack, skip};
use serde_json::Value;

use crate::support::DEADLINE;

const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/interop/unit-test-client/UnitTestClient.java");

/// Ports that the system chooses.
const SETTINGS: &str = "[server]\noffset = 0\n[transport.http]\nlistener.port = 0\n\
                        listener.bind_address = \"127.0.0.1\"\n[myelin.admin]\nlisten = \"127.0.0.1:0\"\n\
                        [myelin.reload]\ninterval = \"50ms\"\n";

/// A folder that `myelin home` made, in one whose name has a space.
struct Home {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Home {
    fn new(arguments: &[&str]) -> Home {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vs code");
        let home = Home { _folder: folder, path };
        let made = home.make(arguments);
        assert!(made.status.success(), "{made:?}");
        home
    }

    fn make(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_myelin")).arg("home").arg(&self.path).args(arguments).output().unwrap()
    }

    fn set(&self, settings: &str) {
        fs::write(self.path.join("conf/deployment.toml"), settings).unwrap();
    }

    /// As the extension copies it: not at once.
    fn deploy(&self, archive: &[u8]) {
        fs::write(self.path.join("repository/deployment/server/carbonapps/shop_1.0.0.car"), archive).unwrap();
    }

    fn script(&self) -> PathBuf {
        self.path.join("bin/micro-integrator.sh")
    }

    /// A command of the script, as the extension runs it: in a shell.
    fn shell(&self, arguments: &str) -> Command {
        let mut command = Command::new("sh");
        // The shell makes way, so that the process that is killed here is the server, and none is left behind.
        command.arg("-c").arg(format!("exec \"{}\" {arguments}", self.script().display()));
        command.env_remove("MYELIN").env("MYELIN_LOG", "info");
        command
    }

    fn ended(&self, arguments: &str) -> (i32, String) {
        let Output { status, stdout, stderr } = self.shell(arguments).output().unwrap();
        // The extension takes a word there for a failure.
        assert_eq!(String::from_utf8_lossy(&stderr), "", "{arguments}");
        (status.code().unwrap(), String::from_utf8(stdout).unwrap())
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A server in the background outlives a test that fails.
        let _ = Command::new(self.script()).arg("stop").output();
    }
}

/// A server of such a folder, in the foreground.
struct Server {
    child: Child,
    lines: Receiver<String>,
    /// What came so far: two threads write it, so that its order is not certain.
    seen: RefCell<Vec<String>>,
    stop: Option<PathBuf>,
}

impl Server {
    fn start(home: &Home, arguments: &str) -> Server {
        let mut child = home.shell(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || out.map_while(Result::ok).for_each(|line| drop(sender.send(line))));
        Server { child, lines, seen: RefCell::default(), stop: Some(home.script()) }
    }

    /// What stands behind `before` in the first line that holds it.
    fn said(&self, before: &str) -> String {
        let until = Instant::now() + DEADLINE;
        let mut seen = self.seen.borrow_mut();
        loop {
            if let Some((_, behind)) = seen.iter().find_map(|line| line.split_once(before)) {
                return behind.to_owned();
            }
            let Ok(line) = self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) else {
                panic!("{before:?} is not in {seen:#?}");
            };
            seen.push(line);
        }
    }

    fn address(&self, before: &str) -> SocketAddr {
        self.said(before).split(' ').next().unwrap().parse().unwrap()
    }

    /// Its exit code, and what it said on standard error.
    fn end(mut self) -> (Option<i32>, String) {
        eventually("the server ends", || self.child.try_wait().unwrap().is_some());
        self.stop = None;
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(script) = self.stop.take() {
            let _ = Command::new(script).arg("stop").output();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An archive as a project's build makes it, with one API.
fn archive(answer: &str) -> Vec<u8> {
    let api = format!(
        "<api xmlns='http://ws.apache.org/ns/synapse' name='Shop' context='/shop'><resource methods='GET'><inSequence>\
         <payloadFactory media-type='json'><format>{{\"is\": \"{answer}\"}}</format><args/></payloadFactory><respond/>\
         </inSequence></resource></api>"
    );
    let artifacts = "<artifacts><artifact name='shop' version='1.0.0' type='carbon/application'>\
                     <dependency artifact='Shop' version='1.0.0' include='true' serverRole='EnterpriseServiceBus'/>\
                     </artifact></artifacts>";
    let artifact = "<artifact name='Shop' version='1.0.0' type='synapse/api' serverRole='EnterpriseServiceBus'>\
                    <file>Shop-1.0.0.xml</file></artifact>";
    pack(&[
        ("artifacts.xml", artifacts.as_bytes()),
        ("Shop_1.0.0/artifact.xml", artifact.as_bytes()),
        ("Shop_1.0.0/Shop-1.0.0.xml", api.as_bytes()),
    ])
}

fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let answer = exchange(address, format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
    (answer.status, answer.text())
}

#[test]
fn a_home_is_what_the_extension_takes_for_a_micro_integrator() {
    let home = Home::new(&["--runtime-version", "4.4.0"]);
    let version = fs::read_to_string(home.path.join("bin/version.txt")).unwrap();
    // The extension looks for `v(\d+\.\d+\.\d+)`, and takes the first that it finds.
    assert_eq!(version.split_once(" v").unwrap().1.trim(), "4.4.0", "{version}");
    for file in ["bin/micro-integrator.sh", "conf/deployment.toml", "bin/myelin"] {
        assert!(home.path.join(file).is_file(), "{file}");
    }
    for folder in ["lib", "repository/logs", "repository/deployment/server/carbonapps"] {
        assert!(home.path.join(folder).is_dir(), "{folder}");
    }
    assert_eq!(home.ended("version"), (0, version));
}

#[test]
fn a_home_that_is_made_again_keeps_what_is_not_ours() {
    let home = Home::new(&[]);
    home.set("# mine\n");
    home.deploy(b"an archive");
    fs::write(home.script(), "broken").unwrap();
    assert!(home.make(&["--copy"]).status.success());
    assert_eq!(fs::read_to_string(home.path.join("conf/deployment.toml")).unwrap(), "# mine\n");
    assert!(home.path.join("repository/deployment/server/carbonapps/shop_1.0.0.car").is_file());
    assert!(fs::read_to_string(home.script()).unwrap().starts_with("#!/bin/sh"));
    assert!(!home.path.join("bin/myelin").is_symlink());
    // Its own copy makes the folder anew without harm to itself.
    let own = Command::new(home.path.join("bin/myelin")).arg("home").arg(&home.path).output().unwrap();
    assert!(own.status.success(), "{own:?}");
    assert_eq!(home.ended("version").0, 0);
    assert!(Command::new(home.path.join("bin/myelin")).arg("--version").output().unwrap().status.success());
}

#[test]
fn a_folder_of_somebody_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    fs::write(folder.path().join("bin/version.txt"), "WSO2 Micro Integrator v4.4.0").unwrap();
    let refused = Command::new(env!("CARGO_BIN_EXE_myelin")).arg("home").arg(folder.path()).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("`myelin home` did not make"), "{said}");
    assert!(!folder.path().join("bin/micro-integrator.sh").exists());
}

#[test]
fn the_extension_deploys_starts_polls_and_stops_a_server() {
    let home = Home::new(&[]);
    home.set(SETTINGS);
    home.deploy(&archive("open"));
    // Arguments for a Java virtual machine stand in launch.json.
    let server = Server::start(&home, "-Xmx1g -Dsome.thing=1");
    let address = server.address("myelin ready on http://");
    let admin = server.address("metrics and probes are on http://");
    let (status, health) = get(admin, "/healthz");
    let health: Value = serde_json::from_str(&health).unwrap();
    assert_eq!((status, &health["status"]), (200, &"ready".into()), "{health}");
    assert_eq!(get(address, "/shop"), (200, "{\"is\": \"open\"}".to_owned()));
    // A new archive takes the place of the old one while the server serves.
    home.deploy(&archive("closed"));
    eventually("the new archive is served", || get(address, "/shop").1.contains("closed"));
    assert_eq!(home.ended("status").0, 0);
    let (code, said) = home.ended("");
    assert!(code == 1 && said.contains("the server runs already"), "{said}");
    let (code, said) = home.ended("stop");
    assert!(code == 0 && said.contains("has stopped"), "{said}");
    // The extension takes any other exit code for a failure.
    assert_eq!(server.end(), (Some(0), String::new()));
    let log = fs::read_to_string(home.path.join("repository/logs/wso2carbon.log")).unwrap();
    assert!(log.contains("myelin ready on") && log.contains("stopped"), "{log}");
    assert_eq!(home.ended("status").0, 3);
    assert_eq!(home.ended("stop").0, 0);
}

#[test]
fn a_server_in_the_background_starts_empty_and_is_restarted() {
    let home = Home::new(&[]);
    home.set(SETTINGS);
    let log = home.path.join("repository/logs/wso2carbon.log");
    let ready = || fs::read_to_string(&log).is_ok_and(|text| text.contains("myelin ready on"));
    let pid = || fs::read_to_string(home.path.join("wso2carbon.pid")).unwrap_or_default();
    assert_eq!(home.ended("start").0, 0);
    eventually("the server is ready", ready);
    let first = pid();
    let (code, said) = home.ended("start");
    assert!(code == 0 && said.contains("the server runs already"), "{said}");
    assert_eq!(home.ended("restart").0, 0);
    eventually("another server is ready", || !["", &first].contains(&pid().as_str()) && ready());
    let (code, said) = home.ended("stop");
    assert!(code == 0 && said.contains("has stopped"), "{said}");
    assert!(home.path.join("repository/logs/wso2carbon-previous.log").is_file());
}

#[test]
fn a_stale_process_number_is_no_server() {
    let home = Home::new(&[]);
    // This process runs, and is no server.
    fs::write(home.path.join("wso2carbon.pid"), format!("{}\n", std::process::id())).unwrap();
    assert_eq!(home.ended("status").0, 3);
    let (code, said) = home.ended("stop");
    assert!(code == 0 && said.contains("no server runs"), "{said}");
}

#[test]
fn what_the_script_does_not_know_is_an_error() {
    let home = Home::new(&[]);
    for (arguments, expected) in [
        ("strat", "the argument \"strat\" is unknown"),
        ("-DsynapseTest -DsynapseTestPort=many", "\"many\" is no port"),
    ] {
        let (code, said) = home.ended(arguments);
        assert!(code == 2 && said.contains(expected), "{said}");
    }
    fs::remove_file(home.path.join("bin/myelin")).unwrap();
    let mut command = home.shell("");
    let ended = command.env("PATH", "/usr/bin:/bin").output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.code() == Some(1) && said.contains("run `myelin home "), "{said}");
}

#[test]
fn a_debugger_is_answered_and_nothing_waits_for_it() {
    let home = Home::new(&[]);
    home.set(SETTINGS);
    home.deploy(&archive("open"));
    let server = Server::start(&home, "-Desb.debug=true");
    server.said("breakpoints have no effect");
    let address = server.address("myelin ready on http://");
    assert_eq!(get(address, "/shop").0, 200);
    assert_eq!(home.ended("stop").0, 0);
    assert_eq!(server.end().0, Some(0));
}

const TEST: &str = r#"<unit-test><artifacts>
<test-artifact><artifact><sequence xmlns="http://ws.apache.org/ns/synapse" name="quote">
    <call><endpoint key="quotes"/></call></sequence></artifact></test-artifact>
<supportive-artifacts><artifact><endpoint xmlns="http://ws.apache.org/ns/synapse" name="quotes">
    <address uri="http://far.example.org:9000/quotes"/></endpoint></artifact></supportive-artifacts>
<registry-resources/><connector-resources/></artifacts>
<test-cases><test-case name="asks"><input><payload><![CDATA[<ask>€ 😀</ask>]]></payload></input><assertions>
    <assertEquals><actual>$body</actual><expected><![CDATA[<price>EXPECTED 😀</price>]]></expected><message>the price</message>
    </assertEquals></assertions></test-case></test-cases>
<mock-services><mock-service><service-name>quotes</service-name><port>9190</port><context>/quotes</context><resources>
    <resource><sub-context>/</sub-context><method>POST</method>
    <request><payload><![CDATA[<ask>€ 😀</ask>]]></payload></request>
    <response><status-code>200</status-code><payload><![CDATA[<price>42 😀</price>]]></payload></response></resource>
    </resources></mock-service></mock-services></unit-test>"#;

#[test]
fn unit_tests_are_served_to_a_client_in_java() {
    let home = Home::new(&[]);
    let mut server = Server::start(&home, "-DsynapseTest -DsynapseTestPort=0");
    server.stop = None;
    let address = server.address("myelin serves unit tests on ");
    // The words that the extension waits for.
    server.said("WSO2 Micro Integrator started in");
    let Some(passed) = java(address, &TEST.replace("EXPECTED", "42"), &home.path) else { return };
    assert_eq!((&passed["deploymentStatus"], &passed["mediationStatus"]), (&"PASSED".into(), &"PASSED".into()));
    assert_eq!(passed["testCases"][0]["assertionStatus"], "PASSED", "{passed:#}");
    let failed = java(address, &TEST.replace("EXPECTED", "43"), &home.path).unwrap();
    let case = &failed["testCases"][0];
    assert_eq!((&case["testCaseName"], &case["assertionStatus"]), (&"asks".into(), &"FAILED".into()));
    let failure = &case["failureAssertions"][0];
    assert_eq!((&failure["assertionExpression"], &failure["message"]), (&"$body".into(), &"the price".into()));
    assert_eq!(failure["expected"], "<price>43 😀</price>");
    assert!(failure["actual"].as_str().unwrap().contains("42 😀"), "{failed:#}");
    // Longer than a short string of Java may be.
    let long =
        TEST.replace("EXPECTED", "42").replace("<registry-resources/>", &format!("<!--{}-->", "x".repeat(80_000)));
    assert_eq!(java(address, &long, &home.path).unwrap()["testCases"][0]["assertionStatus"], "PASSED");
    let broken = java(address, &TEST.replace("<call>", "<cal>").replace("</call>", "</cal>"), &home.path).unwrap();
    assert_eq!(broken["deploymentStatus"], "FAILED");
    assert!(broken["deploymentException"].as_str().unwrap().contains("cal"), "{broken:#}");
}

/// What the client in Java got for a test; `None` without Java.
fn java(address: SocketAddr, test: &str, folder: &Path) -> Option<Value> {
    let file = folder.join("test.xml");
    fs::write(&file, test).unwrap();
    let client = Command::new("java").arg(CLIENT).arg(address.port().to_string()).arg(&file).output();
    let Ok(Output { status, stdout, stderr }) = client else {
        skip("java is not installed");
        return None;
    };
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    Some(serde_json::from_slice(&stdout).unwrap())
}
