use std::path::{Path, PathBuf};
use std::process::Command;

use myelin_testkit::eventually;

use super::*;
use crate::load::{Plan, Verify};
use crate::payload::{self, Payload};
use crate::results::TroubleKind;
use configuration::POOL;
use contender::Contender;
use scenario::Besides;
use task::Task;

/// Whether a program can be run; says visibly what is not tested without it.
fn installed(program: &str) -> bool {
    let found = server::is_installed(program);
    if !found {
        myelin_testkit::skip(&format!("{program} is not installed"));
    }
    found
}

fn target(name: &str) -> Target {
    name.parse::<target::TargetName>().unwrap().target().unwrap()
}

fn stage(echo: &crate::Handle, cache: &Path) -> Stage {
    Stage {
        myelin: PathBuf::from("myelin"),
        backends: Backends { echo: echo.address, quotes: echo.address, pool: [echo.address; POOL] },
        echo_process: std::process::id(),
        threads: 2,
        cache: cache.to_owned(),
        keys: None,
        certificates: Certificates::make(cache).unwrap(),
        processes: Vec::new(),
    }
}

fn echo() -> crate::Handle {
    crate::echo::start("127.0.0.1:0".parse().unwrap(), crate::echo::Options::default()).unwrap()
}

#[test]
fn nginx_and_haproxy_pass_on_and_route_what_they_are_sent() {
    let (echo, cache) = (echo(), tempfile::tempdir().unwrap());
    let stage = stage(&echo, cache.path());
    for name in ["nginx", "haproxy"] {
        if !installed(name) {
            continue;
        }
        let target = target(&format!("kit:{name}"));
        for (size, tls, access_log) in [(500, false, false), (200_000, false, false), (500, true, true)] {
            let task = Task {
                scenario: Scenario::Header,
                size,
                connections: 1,
                idle: 0,
                rate: None,
                besides: Besides { tls, access_log },
            };
            let contender = Contender::start(&target, task, &stage).unwrap();
            for (scenario, value, good) in [
                (Scenario::Direct, None, true),
                (Scenario::Header, Some(scenario::ROUTING.1), true),
                (Scenario::Header, Some("xadmin;server1;community"), false),
                (Scenario::Header, None, false),
            ] {
                let mut plan = Plan::new(&contender.url(scenario)).unwrap();
                plan.method = "POST".to_owned();
                plan.body = payload::soap(size).unwrap();
                plan.authorities.clone_from(&contender.authority);
                plan.verify = Verify::Echo;
                plan.headers.extend(value.map(|value| (scenario::ROUTING.0.to_owned(), value.to_owned())));
                (plan.requests, plan.connections) = (Some(20), 2);
                let outcome = plan.run().unwrap();
                assert_eq!(outcome.is_clean(), good, "{name} {scenario:?} {value:?}: {:?}", outcome.failures_by_kind);
            }
            assert_eq!(probe::probe(&contender, task).unwrap(), Payload::from(payload::soap(size).unwrap().to_vec()));
            if access_log {
                let file = contender.folder.path().join("access.log");
                eventually("a line in the access log", || {
                    let log = std::fs::read_to_string(&file).unwrap_or_else(|_| contender.last_words());
                    log.contains("\"POST /services/")
                });
            }
            let processes = contender.processes();
            // nginx listens before it has its workers, but does not answer.
            assert!(processes.len() >= if name == "nginx" { 2 } else { 1 });
            drop(contender);
            for process in processes {
                assert!(crate::procfs::cpu_times(process).is_err(), "{name} left process {process} behind");
            }
        }
    }
}

fn arguments(words: &[&str]) -> Arguments {
    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        arguments: Arguments,
    }
    <Command as clap::Parser>::parse_from([&["bench"], words].concat()).arguments
}

#[test]
fn each_scenario_has_its_cells() {
    let arguments =
        arguments(&["--scenario", "direct,many,idle,quote-cbr", "--size", "500,1K", "--concurrency", "20,160"]);
    let cells: Vec<_> =
        tasks(&arguments).iter().map(|task| (task.scenario, task.size, task.connections, task.idle)).collect();
    assert_eq!(cells.len(), 8);
    assert_eq!(cells[3], (Scenario::Direct, 1024, 160, 0));
    assert_eq!(cells[4..6], [(Scenario::Many, 1024, 2560, 0), (Scenario::Idle, 1024, 500, 9500)]);
    let length = Scenario::QuoteCbr.payload(1024).unwrap().length();
    assert_eq!(cells[6..].iter().map(|cell| cell.1).collect::<Vec<_>>(), [length, length]);
}

/// A session over these targets, with short turns.
fn measured(targets: &[Target], words: &[&str]) -> results::Results {
    let arguments = arguments(
        &[&["--size", "500", "--concurrency", "2", "--duration", "100ms", "--warm-up", "100ms"], words].concat(),
    );
    let (echo, cache, out) = (echo(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let stage = stage(&echo, cache.path());
    let tasks = tasks(&arguments);
    let run = new_run(&arguments, targets, &stage, 1024).unwrap();
    let folder = Folder::begin(&out.path().join("results"), run).unwrap();
    let path = folder.path().to_owned();
    let mut session = Session {
        arguments: &arguments,
        stage: &stage,
        targets,
        folder,
        progress: Progress::new(tasks.len(), 0),
        interrupt: Arc::default(),
        files: 1024,
        kept: BTreeMap::new(),
        failures: 0,
    };
    for task in tasks {
        assert_eq!(session.measure(task).unwrap(), Ended::Whole);
    }
    results::read(&path).unwrap()
}

/// A kit of one's own that runs a script of Python; `None`, told visibly, where there is no Python.
fn scripted(folder: &Path, name: &str, script: &str) -> Option<Target> {
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        myelin_testkit::skip("python3 is not installed");
        return None;
    }
    let kit = folder.join(name);
    std::fs::create_dir_all(&kit).unwrap();
    let manifest = "about = 'a test'\nstart = ['python3', '@folder@/server.py', '@port@']\nfiles = ['server.py']\n\
                    [scenarios.direct]\npath = '/'\n";
    std::fs::write(kit.join("kit.toml"), manifest).unwrap();
    std::fs::write(kit.join("server.py"), script).unwrap();
    Some(target(&format!("kit:{}", kit.display())))
}

/// A server that answers with `answer(body, number)`.
fn server(answer: &str) -> String {
    format!(
        r#"
import os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
number = 0
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        global number
        number += 1
        body = self.rfile.read(int(self.headers["Content-Length"]))
        {answer}
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *arguments):
        pass
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#
    )
}

#[test]
fn who_lies_dies_or_stalls_is_told_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut targets = vec![target("backend")];
    for (name, answer) in [
        ("honest", "pass"),
        ("lying", r#"body = b"x" * len(body)"#),
        // Good while it is judged and warmed up, then no longer.
        ("turning", r#"body = body if number < 3 else b"x" * len(body)"#),
        ("dying", r#"(number > 200 or time.time() > started + 1) and (print("no more", flush=True), os._exit(3))"#),
    ] {
        let script = server(answer).replace("number = 0", "number = 0\nstarted = time.time()");
        let Some(target) = scripted(folder.path(), name, &script) else { return };
        targets.push(target);
    }
    let ended = "about = 'a test'\nstart = ['sh', '-c', 'echo cannot; exit 4']\n[scenarios.direct]\npath = '/'\n";
    std::fs::create_dir(folder.path().join("broken")).unwrap();
    std::fs::write(folder.path().join("broken/kit.toml"), ended).unwrap();
    targets.push(target(&format!("kit:{}/broken", folder.path().display())));

    let results = measured(&targets, &["--scenario", "direct", "--rounds", "12"]);
    let cell = &results.run.cells[0];
    assert!(results.is_done(cell));
    assert_eq!(results.turns(cell, "backend").len(), 12);
    assert_eq!(results.turns(cell, "honest").len(), 12);
    let trouble = |name: &str| results.trouble(cell, name).unwrap_or_else(|| panic!("{name} was in no trouble"));
    assert_eq!(trouble("lying").kind, TroubleKind::WrongAnswer);
    assert!(results.turns(cell, "lying").is_empty());
    assert_eq!(trouble("turning").kind, TroubleKind::Stalled);
    assert!(trouble("turning").text.contains("body mismatch"), "{:?}", trouble("turning"));
    assert_eq!(trouble("dying").kind, TroubleKind::Died);
    assert!(trouble("dying").log.contains("no more"), "{:?}", trouble("dying"));
    assert_eq!(trouble("broken").kind, TroubleKind::NotReady);
    assert!(trouble("broken").log.contains("cannot"), "{:?}", trouble("broken"));
    let honest = &results.run.targets[1];
    assert_eq!((honest.name.as_str(), honest.files[0].name.as_str()), ("honest", "server.py"));
}

#[test]
fn what_a_kit_needs_is_fetched_once_and_again_when_the_kit_changes() {
    let folder = tempfile::tempdir().unwrap();
    let (kit, cache) = (folder.path().join("mine"), folder.path().join("cache"));
    std::fs::create_dir(&kit).unwrap();
    let write = |fetch: &str| {
        let manifest = format!("about = 'a'\nfetch = ['sh', '-c', '{fetch}']\n[scenarios.direct]\npath = '/'\n");
        std::fs::write(kit.join("kit.toml"), manifest).unwrap();
        contender::fetch(&Kit::find(kit.to_str().unwrap()).unwrap(), &cache)
    };
    let lines = || std::fs::read_to_string(cache.join("mine/fetched/out")).unwrap().lines().count();
    for (fetch, expected) in [("echo a >>out", 1), ("echo a >>out", 1), ("echo b >>out", 2)] {
        write(fetch).unwrap();
        assert_eq!(lines(), expected);
    }
    let error = format!("{:#}", write("echo no network; exit 9").unwrap_err());
    assert!(error.contains("exit status: 9") && error.contains("no network"), "{error}");
    assert!(write("echo no network; exit 9").is_err(), "what failed is tried again");
}

#[test]
fn a_run_is_asked_for_soundly() {
    let told = |words: &[&str]| targets(&arguments(words)).unwrap_err().to_string();
    assert!(told(&["--target", "relay,relay"]).contains("two targets are named relay"));
    assert!(told(&["--target", "relay", "--process", "nginx=1"]).contains("no target has that name"));
    let mistake = |words: &[&str]| format!("{:#}", tasks(&arguments(words))[0].check().unwrap_err());
    assert!(mistake(&["--concurrency", "0"]).contains("--concurrency has to be 1 at least"));
    assert!(mistake(&["--size", "10"]).contains("direct with --size 10: a SOAP message"));
    let arguments = arguments(&["--quick"]);
    let kept: Arguments = serde_json::from_value(serde_json::to_value(&arguments).unwrap()).unwrap();
    assert_eq!(format!("{kept:?}"), format!("{arguments:?}"));
}
