//! The binary as an operator has it: its ready line, its signals, its memory, its system calls.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::DEADLINE;
use myelin_bench::load::{Plan, Verify};
use myelin_bench::{echo, payload, procfs};
use myelin_testkit::eventually;
use myelin_testkit::faulty::{Backend, Latch, Script, Step, Until, whole};
use myelin_testkit::raw::{self, Client};
use myelin_testkit::skip;
use rustix::process::{Pid, Signal, kill_process};

/// A `myelin` process; killed when dropped.
struct Process {
    child: Child,
    address: SocketAddr,
    _folder: tempfile::TempDir,
}

impl Process {
    /// `myelin run` with a proxy `P` before that backend.
    fn run(backend: SocketAddr, arguments: &[&str]) -> Process {
        Process::with("", backend, arguments)
    }

    /// The same with something in the proxy's in sequence.
    fn with(mediators: &str, backend: SocketAddr, arguments: &[&str]) -> Process {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("synapse.xml");
        let configuration = format!(
            r#"<definitions xmlns="http://ws.apache.org/ns/synapse"><proxy name="P"><target><inSequence>{mediators}</inSequence><endpoint><address uri="http://{backend}/"/></endpoint></target></proxy></definitions>"#
        );
        fs::write(&file, configuration).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_myelin"));
        command.arg("run").arg(&file).args(["--http", "localhost:0"]).args(arguments);
        let (child, line) = started(command);
        let url = line.split(' ').find_map(|word| word.strip_prefix("http://")).unwrap();
        Process { address: url.parse().unwrap(), child, _folder: folder }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a command and waits for its first line.
fn started(mut command: Command) -> (Child, String) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert!(!line.is_empty(), "the process ended without a ready line: {:?}", child.wait());
    // The pipe stays open, so that later lines do not end the process.
    std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
    (child, line.trim().to_owned())
}

fn echo() -> myelin_bench::Handle {
    echo::start("127.0.0.1:0".parse().unwrap(), echo::Options::default()).unwrap()
}

/// The memory of a process that has served a request: what its program takes by itself, which differs from build to
/// build.
fn memory_at_rest(process: &Process) -> u64 {
    assert_eq!(raw::exchange(process.address, &post("x")).unwrap().status, 200);
    procfs::usage(process.child.id()).unwrap().memory_bytes
}

/// What a process may take more while a large message passes, in bytes.
const PASSING: u64 = 24_000_000;

fn post(body: &str) -> Vec<u8> {
    format!("POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn plan(address: SocketAddr) -> Plan {
    let mut plan = Plan::new(&format!("http://{address}/services/P")).unwrap();
    plan.method = "POST".into();
    plan.verify = Verify::Echo;
    plan
}

/// A bus of so many file descriptors before that backend, and its log.
fn with_few_file_descriptors(limit: usize, backend: SocketAddr) -> (Process, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("synapse.xml");
    let configuration = format!(
        r#"<definitions xmlns="http://ws.apache.org/ns/synapse"><proxy name="P"><target><endpoint><address uri="http://{backend}/"/></endpoint></target></proxy></definitions>"#,
    );
    fs::write(&file, configuration).unwrap();
    let log = folder.path().join("log");
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n $3; exec \"$0\" run \"$1\" --http 127.0.0.1:0 --threads 1 2> \"$2\""]);
    command.arg(env!("CARGO_BIN_EXE_myelin")).arg(&file).arg(&log).arg(limit.to_string());
    let (child, line) = started(command);
    let address = line.split(' ').find_map(|word| word.strip_prefix("http://")).unwrap().parse().unwrap();
    (Process { child, address, _folder: folder }, log)
}

#[test]
fn with_few_file_descriptors_clients_leave_room_for_backends() {
    let backend = Backend::start(Script::answering(whole())).unwrap();
    let (process, log) = with_few_file_descriptors(256, backend.address());
    // They stay, as those of browsers do, and more come than there are file descriptors.
    let mut clients: Vec<Client> = (0..300).filter_map(|_| Client::connect(process.address).ok()).collect();
    let statuses: Vec<u16> =
        clients.iter_mut().filter_map(|client| client.exchange(&post("x")).ok().map(|answer| answer.status)).collect();
    let of = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
    assert!(of(200) >= 100 && of(200) + of(503) == statuses.len(), "{statuses:?}");
    let logged = || fs::read_to_string(&log).unwrap();
    assert!(logged().contains("the limit of 256 file descriptors leaves room for"), "{}", logged());
    eventually("refusals are logged", || logged().contains("connections were refused"));
    assert!(logged().lines().count() < 20, "{}", logged());
}

#[test]
fn a_request_that_finds_no_file_descriptor_for_its_backend_gets_503_and_the_endpoint_stays_active() {
    let latch = Latch::default();
    let steps = [Step::Read(Until::Head), Step::Read(Until::Body), Step::Hold(latch.clone()), Step::Send(whole())];
    let backend = Backend::start(Script::of(steps)).unwrap();
    let (process, log) = with_few_file_descriptors(1024, backend.address());
    let mut clients: Vec<Client> = (0..560).map(|_| Client::connect(process.address).unwrap()).collect();
    for client in &mut clients {
        client.send(&post("x")).unwrap();
    }
    let logged = || fs::read_to_string(&log).unwrap();
    eventually("some find none", || logged().contains("Too many open files"));
    latch.open();
    let statuses: Vec<u16> = clients.iter_mut().map(|client| client.answer().unwrap().status).collect();
    let of = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
    assert!(of(200) > 0 && of(503) > 0 && of(200) + of(503) == statuses.len(), "{statuses:?}");
    assert!(!logged().contains("suspended"), "{}", logged());
}

#[test]
fn the_first_answer_comes_soon_after_the_start() {
    let backend = echo();
    // What the process works until then, and the best of a few: it does not matter what else the machine does.
    let best = (0..5)
        .map(|_| {
            let process = Process::run(backend.address, &[]);
            assert_eq!(raw::exchange(process.address, &post("x")).unwrap().status, 200);
            procfs::cpu_times(process.child.id()).unwrap().total()
        })
        .min()
        .unwrap();
    assert!(best <= Duration::from_millis(50), "{best:?} to the first answer");
    backend.stop();
}

#[test]
fn sigterm_lets_requests_finish_and_exits_with_zero() {
    for signal in [Signal::TERM, Signal::INT] {
        let latch = Latch::default();
        let steps = [Step::Read(Until::Head), Step::Read(Until::Body), Step::Hold(latch.clone()), Step::Send(whole())];
        let backend = Backend::start(Script::of(steps)).unwrap();
        let mut process = Process::run(backend.address(), &[]);
        let mut client = Client::connect(process.address).unwrap();
        client.send(&post("x")).unwrap();
        backend.wait_for_heads(1, DEADLINE).unwrap();
        kill_process(process.pid(), signal).unwrap();
        eventually("it takes nobody new", || TcpStream::connect(process.address).is_err());
        latch.open();
        let answer = client.answer().unwrap();
        assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
        let mut status = None;
        eventually("it ends", || {
            status = process.child.try_wait().unwrap();
            status.is_some()
        });
        assert_eq!(status.unwrap().code(), Some(0));
    }
}

#[test]
fn a_body_of_100_mb_goes_through_in_flat_memory() {
    let backend = echo();
    for chunked in [false, true] {
        let process = Process::run(backend.address, &[]);
        let before = memory_at_rest(&process);
        let mut plan = plan(process.address);
        plan.body = payload::soap(100_000_000).unwrap();
        plan.chunked = chunked;
        plan.timeout = Duration::from_secs(60);
        let outcome = plan.run().unwrap();
        assert!(outcome.is_clean(), "{:?}", outcome.failures_by_kind);
        let grown = procfs::usage(process.child.id()).unwrap().peak_memory_bytes.saturating_sub(before);
        assert!(grown <= PASSING, "{grown} bytes, chunked {chunked}");
    }
    backend.stop();
}

#[test]
fn a_gigabyte_is_routed_on_its_first_order_in_flat_memory() {
    const PIECE: &[u8] = &[b' '; 100_000];
    const PIECES: usize = 10_000;
    let backend = Backend::start(Script::answering(whole())).unwrap();
    let route = r#"<filter xpath="//order[1]/symbol = 'IBM'"><property name="X-Route" value="ibm" scope="transport"/></filter>"#;
    let process = Process::with(route, backend.address(), &["--threads", "1"]);
    let before = memory_at_rest(&process);
    let order = b"<orders><order><symbol>IBM</symbol></order>";
    let length = order.len() + PIECE.len() * PIECES;
    let head = format!(
        "POST /services/P HTTP/1.1\r\nHost: a\r\nContent-Type: application/xml\r\nContent-Length: {length}\r\n\r\n"
    );
    let mut client = Client::connect(process.address).unwrap();
    client.deadline(Duration::from_secs(60));
    client.send(&[head.as_bytes(), order].concat()).unwrap();
    for _ in 0..PIECES {
        client.send(PIECE).unwrap();
    }
    assert_eq!(client.answer().unwrap().status, 200);
    let grown = procfs::usage(process.child.id()).unwrap().peak_memory_bytes.saturating_sub(before);
    assert!(grown <= PASSING, "{grown} bytes");
    let connections = backend.connections();
    let arrived = connections.last().unwrap();
    assert!(arrived.text().contains("X-Route: ibm\r\n"));
    assert!(arrived.received_bytes >= length as u64, "{}", arrived.received_bytes);
}

#[test]
fn slow_readers_do_not_make_memory_grow() {
    let body = vec![b'x'; 20_000_000];
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let backend = Backend::start(Script::answering([head.as_bytes(), &body].concat())).unwrap();
    let process = Process::run(backend.address(), &[]);
    assert_eq!(raw::exchange(process.address, &post("x")).unwrap().body.len(), body.len());
    let before = procfs::usage(process.child.id()).unwrap().memory_bytes;
    let mut readers: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(process.address).unwrap()).collect();
    for reader in &mut readers {
        reader.write_all(&post("x")).unwrap();
    }
    std::thread::sleep(Duration::from_millis(500));
    for reader in &mut readers {
        reader.read_exact(&mut [0; 1000]).unwrap();
    }
    std::thread::sleep(Duration::from_millis(500));
    let grown = procfs::usage(process.child.id()).unwrap().memory_bytes.saturating_sub(before);
    // At most one read waits for each reader.
    assert!(grown < 20 * 200_000, "{grown} bytes for 20 slow readers");
}

#[test]
fn a_slow_reader_of_an_endless_answer_stops_its_backend() {
    let endless = [
        Step::Read(Until::Head),
        Step::Send(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        Step::Repeat(vec![b'x'; 64 * 1024], 4096),
        Step::Close,
    ];
    let backend = Backend::start(Script::of(endless)).unwrap();
    let process = Process::run(backend.address(), &[]);
    let before = procfs::usage(process.child.id()).unwrap().memory_bytes;
    for version in ["1.1", "1.0"] {
        let mut stream = TcpStream::connect(process.address).unwrap();
        stream.write_all(format!("GET /services/P HTTP/{version}\r\nHost: a\r\n\r\n").as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(700));
        let grown = procfs::usage(process.child.id()).unwrap().memory_bytes.saturating_sub(before);
        assert!(grown < PASSING, "{grown} bytes for HTTP/{version}");
    }
}

#[test]
fn a_backend_killed_in_the_middle_of_an_answer_breaks_that_answer_and_nothing_else() {
    let half = [
        Step::Read(Until::Head),
        Step::Read(Until::Body),
        Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nsome".to_vec()),
        Step::Pause(Duration::from_millis(200)),
        Step::Reset,
    ];
    let healthy = Script::answering(whole());
    let backend = Backend::start(vec![Script::of(half), healthy]).unwrap();
    let process = Process::run(backend.address(), &["--threads", "1"]);
    let mut broken = Client::connect(process.address).unwrap();
    broken.send(&post("x")).unwrap();
    backend.wait_for_heads(1, DEADLINE).unwrap();
    let mut other = Client::connect(process.address).unwrap();
    assert_eq!(other.exchange(&post("x")).unwrap().status, 200);
    let error = broken.answer().unwrap_err();
    assert!(matches!(error, raw::Error::Closed(_) | raw::Error::Io(..)), "{error}");
    assert_eq!(other.exchange(&post("x")).unwrap().status, 200);
}

#[test]
fn a_request_costs_two_receives_and_two_sends() {
    if !Path::new("/usr/bin/strace").exists() {
        return skip("strace is not installed; `cargo xtask setup` installs it");
    }
    let backend = echo();
    let process = Process::run(backend.address, &["--threads", "1"]);
    let mut plan = plan(process.address);
    plan.body = payload::soap(500).unwrap();
    plan.connections = 20;
    plan.requests = Some(2000);
    assert!(plan.run().unwrap().is_clean());
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let mut strace = Command::new("/usr/bin/strace")
        .args(["-f", "-c", "-o"])
        .arg(&trace)
        .args(["-p", &process.child.id().to_string()])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Its first line says that it is attached; without the right to attach there is none.
    let mut said = String::new();
    let mut messages = BufReader::new(strace.stderr.take().unwrap());
    messages.read_line(&mut said).unwrap();
    if !said.contains("attached") {
        let _ = strace.wait();
        return skip(&format!("strace cannot attach here: {}", said.trim()));
    }
    // The others are its word on each further thread.
    std::thread::sleep(Duration::from_millis(300));
    let outcome = plan.run().unwrap();
    assert!(outcome.is_clean(), "{:?}", outcome.failures_by_kind);
    kill_process(Pid::from_child(&strace), Signal::INT).unwrap();
    strace.wait().unwrap();
    let table = fs::read_to_string(&trace).unwrap();
    let calls = |names: &[&str]| -> f64 {
        let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let calls = lines.filter(|words| words.last().is_some_and(|name| names.contains(name)));
        calls.map(|words| words[3].parse::<f64>().unwrap()).sum::<f64>() / outcome.requests as f64
    };
    let receives = calls(&["read", "readv", "recvfrom", "recvmsg"]);
    let sends = calls(&["write", "writev", "sendto", "sendmsg"]);
    assert!((2.0..=2.1).contains(&receives), "{receives} receives a request\n{table}");
    assert!((2.0..=2.1).contains(&sends), "{sends} sends a request\n{table}");
    backend.stop();
}

#[test]
fn a_log_level_that_is_none_is_refused_at_the_start() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_myelin"));
    let output = command.args(["run", "nowhere.xml"]).env("MYELIN_LOG", "warning").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && text.contains("MYELIN_LOG: \"warning\" is no level"), "{text}");
    assert!(text.contains("did you mean warn?"), "{text}");
}

#[test]
fn the_access_log_has_a_line_for_each_request() {
    let backend = echo();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access.log");
    let mut process = Process::run(backend.address, &["--access-log", log.to_str().unwrap(), "--correlation-id"]);
    for _ in 0..3 {
        assert_eq!(raw::exchange(process.address, &post("x")).unwrap().status, 200);
    }
    kill_process(process.pid(), Signal::TERM).unwrap();
    assert!(process.child.wait().unwrap().success());
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].starts_with("127.0.0.1 - - [") && lines[0].contains("\"POST /services/P\" 200 "), "{text}");
    assert!(lines[0].split(' ').next_back().is_some_and(|id| id.len() == 36), "{text}");
    backend.stop();
}

#[test]
fn two_buses_do_not_share_a_port_by_mistake() {
    let backend = echo();
    let process = Process::run(backend.address, &[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("synapse.xml");
    fs::write(&file, r#"<definitions xmlns="http://ws.apache.org/ns/synapse"><sequence name="main"><drop/></sequence></definitions>"#).unwrap();
    let second = Command::new(env!("CARGO_BIN_EXE_myelin"))
        .arg("run")
        .arg(&file)
        .args(["--http", &process.address.to_string()])
        .output()
        .unwrap();
    assert!(!second.status.success());
    assert!(String::from_utf8_lossy(&second.stderr).contains("cannot listen"), "{second:?}");
    backend.stop();
}

/// The configurations of others, where they lie beside the project.
fn acceptance() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/acceptance");
    folder.is_dir().then_some(folder)
}

#[test]
fn check_reports_on_every_configuration_of_others_and_never_panics() {
    let Some(folder) = acceptance() else {
        return skip("../shared/acceptance is not there");
    };
    for set in ["apache-synapse", "micro-integrator"] {
        let files = fs::read_dir(folder.join(set)).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ending| ending == "xml")).collect();
        assert!(!files.is_empty());
        for file in files {
            let output = Command::new(env!("CARGO_BIN_EXE_myelin"))
                .arg("check")
                .arg(&file)
                .args(["--format", "json"])
                .output()
                .unwrap();
            let name = file.display();
            assert!(matches!(output.status.code(), Some(0 | 1)), "{name}: {output:?}");
            let report: serde_json::Value =
                serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{name}: {error}"));
            let artefacts = report["artefacts"].as_array().unwrap();
            let faulty = artefacts.iter().filter(|artefact| artefact["status"] == "faulty");
            for artefact in faulty {
                let problems = artefact["problems"].as_array().unwrap();
                assert!(!problems.is_empty(), "{name}: {artefact}");
                assert!(
                    problems.iter().all(|problem| problem["line"].as_u64() > Some(0)
                        && problem["message"].as_str().is_some_and(|text| !text.is_empty())),
                    "{name}: {artefact}"
                );
            }
            assert_eq!(output.status.success(), report["faulty"] == 0 && report["ok"].as_u64() > Some(0), "{name}");
        }
    }
}
