//! What an operator does with a bus that serves: rotate its log, renew its certificate, stop it at once.

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};

use crate::support::authority::Authority;
use crate::support::process::{Process, write};
use crate::support::{DEADLINE, definitions, post};
use crate::tls::Caller;
use myelin_testkit::eventually;
use myelin_testkit::faulty::{Backend, Latch, Script, Step, Until, whole};
use myelin_testkit::raw;
use rustix::process::Signal;
use rustls::version;

const HELLO: &str = r#"<api xmlns="http://ws.apache.org/ns/synapse" name="x" context="/x"><resource methods="GET"><inSequence>
    <payloadFactory media-type="text"><format>hello</format></payloadFactory><respond/></inSequence></resource></api>"#;

fn caller(trusts: &Authority) -> Caller<'_> {
    Caller { trusts, shows: None, speaks: &version::TLS13 }
}

#[test]
fn a_renamed_access_log_is_opened_again_on_sigusr1_and_on_sighup() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let log = file("access.log");
    let process = Process::with(&[("x.xml", HELLO)], "", &["--access-log", log.to_str().unwrap()]);
    let ask = |path: &str| {
        let request = format!("GET /x/{path} HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_eq!(raw::exchange(process.address, request.as_bytes()).unwrap().status, 200);
    };
    let has = |name: &str, part: &str| fs::read_to_string(file(name)).is_ok_and(|text| text.contains(part));
    for (signal, old, first, second) in [(Signal::USR1, "1", "a", "b"), (Signal::HUP, "2", "c", "d")] {
        ask(first);
        eventually("the line is in the log", || has("access.log", &format!("/x/{first}\"")));
        fs::rename(&log, file(old)).unwrap();
        process.send(signal);
        process.logged("was opened again");
        ask(second);
        eventually("the next line is in the new file", || has("access.log", &format!("/x/{second}\"")));
        assert!(!has(old, &format!("/x/{second}\"")) && !has("access.log", &format!("/x/{first}\"")));
    }
}

#[test]
fn no_line_of_the_access_log_is_lost_or_torn_while_it_is_rotated_under_traffic() {
    const CLIENTS: usize = 4;
    const REQUESTS: usize = 400;
    const ROTATIONS: usize = 5;
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access.log");
    let arguments = ["--access-log", log.to_str().unwrap(), "--access-log-format", "%h \"%r\" %s %{n}i end"];
    let process = Process::with(&[("x.xml", HELLO)], "", &arguments);
    let address = process.address;
    let send = move |client: usize| {
        let mut connection = raw::Client::connect(address).unwrap();
        for number in 0..REQUESTS {
            let request = format!("GET /x/{client} HTTP/1.1\r\nHost: x\r\nn: {number}\r\n\r\n");
            assert_eq!(connection.exchange(request.as_bytes()).unwrap().status, 200);
        }
    };
    let clients: Vec<_> = (0..CLIENTS).map(|client| std::thread::spawn(move || send(client))).collect();
    let are_done = || clients.iter().all(|client| client.is_finished());
    for rotation in 0..ROTATIONS {
        let has_lines = || fs::metadata(&log).is_ok_and(|file| file.len() > 0);
        eventually("a line is in the log", || has_lines() || are_done());
        if are_done() {
            break;
        }
        fs::rename(&log, folder.path().join(format!("access.log.{rotation}"))).unwrap();
        process.send(Signal::USR1);
        process.logged("was opened again");
    }
    clients.into_iter().for_each(|client| client.join().unwrap());
    let lines = || -> Vec<String> {
        let files = fs::read_dir(folder.path()).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
        files.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    eventually("each request has its line", || lines().len() == CLIENTS * REQUESTS);
    let mut wanted: Vec<String> = (0..CLIENTS)
        .flat_map(|client| (0..REQUESTS).map(move |n| format!("127.0.0.1 \"GET /x/{client} HTTP/1.1\" 200 {n} end")))
        .collect();
    let mut written = lines();
    wanted.sort();
    written.sort();
    assert_eq!(written, wanted);
}

#[test]
fn a_format_of_the_access_log_names_service_endpoint_and_what_took_its_time() {
    let backend = Backend::start([Script::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]).unwrap();
    let proxy = format!(
        "<endpoint name='Stock'><address uri='http://{}/'/></endpoint><proxy name='P'><target><inSequence>\
         <call><endpoint key='Stock'/></call><respond/></inSequence></target></proxy>",
        backend.address()
    );
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access.log");
    let settings = "[myelin.access_log]\nfile = \"not-this.log\"\n\
        format = '%{service_type}x %{service}x %{endpoint}x %{endpoint_time}x %I %{received_body}x %O %b'\n";
    let arguments = ["--access-log", log.to_str().unwrap(), "--admin", "off"];
    let process = Process::with(&[("synapse.xml", &definitions(&proxy))], settings, &arguments);
    let request = post("hello");
    assert_eq!(raw::exchange(process.address, &request).unwrap().status, 200);
    assert_eq!(raw::exchange(process.address, b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n").unwrap().status, 404);
    let read = || fs::read_to_string(&log).unwrap_or_default();
    eventually("both lines are there", || read().lines().count() == 2);
    let text = read();
    let mut words: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    // Each thread that serves hands its lines over for itself.
    words.sort_by_key(|words| words[0] != "proxy");
    assert_eq!(words[0][..3], ["proxy", "P", "Stock"]);
    assert!(words[0][3].parse::<f64>().unwrap() > 0.0, "{text}");
    assert_eq!((words[0][4], words[0][5]), (&*request.len().to_string(), "5"), "{text}");
    let sent: u64 = words[0][6].parse().unwrap();
    assert!(sent > 2 && words[0][7] == "2", "{text}");
    assert_eq!(words[1][..4], ["-", "-", "-", "-"]);
}

#[test]
fn a_renewed_certificate_is_shown_on_sighup_and_a_bad_one_leaves_the_old_one_in_use() {
    let (old, new) = (Authority::new(), Authority::new());
    let folder = tempfile::tempdir().unwrap();
    let (chain, key) = (folder.path().join("chain.pem"), folder.path().join("key.pem"));
    old.write("localhost", &chain, &key);
    let arguments = ["--https", "localhost:0", "--cert", chain.to_str().unwrap(), "--key", key.to_str().unwrap()];
    let process = Process::with(&[("x.xml", HELLO)], "[server]\nhot_deployment = false\n", &arguments);
    let port = process.secure.unwrap().port();
    assert!(caller(&old).ask(port).unwrap().ends_with("hello"));
    let kept = fs::read(&key).unwrap();
    new.write("localhost", &chain, &key);
    let renewed = fs::read(&key).unwrap();
    fs::write(&key, kept).unwrap();
    process.hang_up();
    let line = process.logged("is refused, the old one stays in use");
    assert!(line.contains("the private key does not belong to the first certificate"), "{line}");
    assert!(caller(&old).ask(port).unwrap().ends_with("hello"));
    fs::write(&key, renewed).unwrap();
    process.hang_up();
    process.logged("shows its new certificate");
    // Each thread hears of it on its own.
    eventually("the new certificate is shown", || caller(&new).ask(port).is_ok_and(|said| said.ends_with("hello")));
    eventually("the old certificate is gone", || caller(&old).ask(port).is_err());
}

#[test]
fn a_deployment_toml_says_where_https_is_served_and_whom_it_lets_in() {
    let (authority, partners) = (Authority::new(), Authority::new());
    let (old, new) = (authority.store("localhost"), Authority::new());
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("bus.pem");
    fs::copy(old, &store).unwrap();
    let settings = format!(
        "[server]\noffset = 0\n[transport.https]\nlistener.port = 0\nlistener.bind_address = \"localhost\"\n\
         listener.verify_client = \"require\"\nlistener.protocols = \"TLSv1.3\"\n\
         [keystore.tls]\nfile_name = \"{}\"\ntype = \"PEM\"\n[truststore]\nfile_name = \"{}\"\ntype = \"PEM\"\n",
        store.display(),
        partners.root().display()
    );
    let process = Process::run(&[("x.xml", HELLO)], &settings);
    let port = process.secure.unwrap().port();
    let partner = |trusts| Caller { trusts, shows: Some(partners.client("partner")), speaks: &version::TLS13 };
    assert!(partner(&authority).ask(port).unwrap().ends_with("hello"));
    assert!(caller(&authority).ask(port).is_err(), "who shows no certificate is not let in");
    let old_version = Caller { speaks: &version::TLS12, ..partner(&authority) };
    assert!(old_version.ask(port).is_err(), "TLS 1.2 is not spoken");
    fs::copy(new.store("localhost"), &store).unwrap();
    process.logged("shows its new certificate");
    eventually("the new certificate is shown", || partner(&new).ask(port).is_ok_and(|said| said.ends_with("hello")));
}

#[test]
fn a_proxy_that_no_listener_offers_is_told_at_start() {
    let proxy = definitions(
        "<proxy name=\"P\" transports=\"https\"><target><inSequence><respond/></inSequence></target></proxy>",
    );
    let process = Process::run(&[("p.xml", &proxy)], "");
    assert!(process.logged("no client reaches it").contains("proxy P"));
}

#[test]
fn a_second_signal_cuts_what_is_under_way_says_so_and_exits_with_one() {
    let latch = Latch::default();
    let steps = [Step::Read(Until::Head), Step::Read(Until::Body), Step::Hold(latch.clone()), Step::Send(whole())];
    let backend = Backend::start(Script::of(steps)).unwrap();
    let proxy = definitions(&format!(
        r#"<proxy name="P"><target><endpoint><address uri="http://{}/"/></endpoint></target></proxy>"#,
        backend.address()
    ));
    let mut process = Process::run(&[("p.xml", &proxy)], "");
    let mut client = TcpStream::connect(process.address).unwrap();
    client.write_all(&post("x")).unwrap();
    backend.wait_for_heads(1, DEADLINE).unwrap();
    process.terminate();
    process.logged("requests in progress have");
    process.terminate();
    process.logged("closing the connections that are still in use");
    process.logged("connections that were cut in use: 1");
    assert_eq!(process.ended(), Some(1));
    latch.open();
}

#[test]
fn the_log_lines_of_a_request_share_an_id_also_in_services_of_the_same_bus() {
    let file = definitions(
        "<proxy name='Outer'><target><inSequence><log level='custom'><property name='at' value='first'/></log>\
           <call><endpoint><address uri='local://localhost/services/Inner'/></endpoint></call>\
           <log level='custom'><property name='at' value='last'/></log><respond/></inSequence></target></proxy>\
         <proxy name='Inner'><target><inSequence><log level='custom'><property name='at' value='inner'/></log><respond/>\
         </inSequence></target></proxy>",
    );
    let process = Process::run(&[("synapse.xml", &file)], "");
    let id = |line: &str| line.split("CORRELATION_ID = ").nth(1).unwrap().split(',').next().unwrap().to_owned();
    let ask = |more: &str| {
        let request = format!("POST /services/Outer HTTP/1.1\r\nHost: x\r\n{more}Content-Length: 0\r\n\r\n");
        assert_eq!(raw::exchange(process.address, request.as_bytes()).unwrap().status, 200);
        ["first", "inner", "last"].map(|at| id(&process.logged(&format!("at = {at}"))))
    };
    let [first, inner, last] = ask("");
    assert_eq!((first.len(), &inner, &last), (36, &first, &first));
    assert_ne!(ask("")[0], first, "another request has another id");
    assert_eq!(ask("activityid: mine\r\n"), ["mine"; 3]);
}

/// What the admin listener of a process answers.
fn told(process: &Process, admin: SocketAddr, path: &str) -> raw::Answer {
    assert_ne!(admin, process.address);
    raw::exchange(admin, format!("GET {path} HTTP/1.1\r\nHost: admin\r\n\r\n").as_bytes()).unwrap()
}

fn admin_of(process: &Process) -> SocketAddr {
    let line = process.logged("metrics and probes are on http://");
    line.rsplit("http://").next().unwrap().trim().parse().unwrap()
}

#[test]
fn probes_say_that_the_bus_stops_before_its_listeners_close() {
    let settings = "[myelin.admin]\nlisten = \"127.0.0.1:0\"\ndrain_delay = \"60s\"\n";
    let mut process = Process::run(&[("x.xml", HELLO)], settings);
    let admin = admin_of(&process);
    let readiness = || told(&process, admin, "/readiness").status;
    assert_eq!(readiness(), 200);
    process.terminate();
    eventually("the probe says so", || readiness() == 503);
    let answer = raw::exchange(process.address, b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    assert_eq!(answer.status, 200, "clients are still served");
    // Who asks twice does not want to wait.
    process.terminate();
    assert_eq!(process.ended(), Some(0));
}

#[test]
fn probes_and_metrics_tell_of_reloads_and_of_what_is_faulty() {
    let settings = "[myelin.admin]\nlisten = \"127.0.0.1:0\"\n[server]\nhot_deployment = false\n";
    let process = Process::run(&[("x.xml", HELLO)], settings);
    let admin = admin_of(&process);
    assert_eq!(told(&process, admin, "/healthz").status, 200);
    let faulty = r#"<proxy xmlns="http://ws.apache.org/ns/synapse" name="Faulty"><target><inSequence><nosuch/></inSequence></target></proxy>"#;
    write(&process.path("faulty.xml"), faulty);
    // Of two with one name the later is faulty, and the first goes on.
    write(&process.path("y.xml"), HELLO);
    process.hang_up();
    process.logged("reloaded");
    let health = told(&process, admin, "/healthz");
    assert_eq!(health.status, 500);
    assert!(health.text().contains("\"proxy Faulty\""), "{}", health.text());
    write(&process.path("x.xml"), &HELLO.replace("payloadFactory", "payloadFactry"));
    process.hang_up();
    process.logged("refused");
    let metrics = told(&process, admin, "/metrics").text();
    for line in [
        "myelin_artefacts{state=\"running\"} 1.0\n",
        "myelin_artefacts{state=\"faulty\"} 2.0\n",
        "myelin_reloads_total{outcome=\"served\"} 1\n",
        "myelin_reloads_total{outcome=\"refused\"} 1\n",
        "wso2_integration_service_up{service_name=\"Faulty\",service_type=\"proxy\"} 0.0\n",
        "wso2_integration_service_up{service_name=\"x\",service_type=\"api\"} 1.0\n",
    ] {
        assert!(metrics.contains(line), "{line} is not in {metrics}");
    }
    let series = |line: &&str| line.starts_with("wso2_integration_service_up{service_name=\"x\"");
    assert_eq!(metrics.lines().filter(series).count(), 1, "{metrics}");
}
