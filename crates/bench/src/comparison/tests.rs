use std::process::Command;
use std::time::Duration;

use super::*;
use crate::load::{Plan, Verify};
use crate::payload::{self, Payload};

/// Whether a program can be run; says visibly what is not tested without it.
fn installed(program: &str) -> bool {
    let found = Command::new(program).arg("-v").output().is_ok();
    if !found {
        myelin_testkit::skip(&format!("{program} is not installed"));
    }
    found
}

#[test]
fn nginx_and_haproxy_pass_on_and_route_what_they_are_sent() {
    let echo = crate::echo::start("127.0.0.1:0".parse().unwrap(), crate::echo::Options::default()).unwrap();
    let backends = configuration::Backends { echo: echo.address, quotes: echo.address };
    for kind in [Kind::Nginx, Kind::Haproxy] {
        if !installed(kind.name()) {
            continue;
        }
        let contender = contender::Contender::start(kind, Scenario::Direct, backends, &arguments(Vec::new())).unwrap();
        for (scenario, value, size, good) in [
            (Scenario::Direct, None, 500, true),
            (Scenario::Direct, None, 200_000, true),
            (Scenario::Header, Some(scenario::ROUTING.1), 500, true),
            (Scenario::Header, Some(scenario::ROUTING.1), 200_000, true),
            (Scenario::Header, Some("xadmin;server1;community"), 500, false),
            (Scenario::Header, None, 500, false),
        ] {
            let mut plan = Plan::new(&format!("http://{}{}", contender.address(), kind.path(scenario, size))).unwrap();
            plan.method = "POST".to_owned();
            plan.body = payload::soap(size).unwrap();
            plan.verify = Verify::Echo;
            plan.headers.extend(value.map(|value| (scenario::ROUTING.0.to_owned(), value.to_owned())));
            (plan.requests, plan.connections) = (Some(20), 2);
            let outcome = plan.run().unwrap();
            assert_eq!(outcome.is_clean(), good, "{kind:?} {scenario:?} {value:?}: {:?}", outcome.failures_by_kind);
        }
        let task = Task { scenario: Scenario::Header, size: 600, connections: 1, idle: 0 };
        assert_eq!(probe::probe(&contender, task).unwrap(), Payload::from(payload::soap(600).unwrap().to_vec()));
        let unable = Task { scenario: Scenario::Cbr, ..task };
        assert!(probe::probe(&contender, unable).is_err(), "{kind:?} has no content routing");
        let processes = contender.processes();
        // nginx listens before it has its workers, but does not answer.
        assert!(processes.len() >= if kind == Kind::Nginx { 2 } else { 1 });
        drop(contender);
        for process in processes {
            assert!(crate::procfs::cpu_times(process).is_err(), "{kind:?} left process {process} behind");
        }
    }
}

fn arguments(scenario: Vec<Scenario>) -> Arguments {
    Arguments {
        myelin: "myelin".into(),
        contenders: Kind::ALL.to_vec(),
        scenario,
        sizes: vec![500, 1024],
        connections: vec![20, 160],
        rounds: 5,
        requests: None,
        threads: 2,
        synapse: None,
        rampart: None,
        keys: None,
        warm_up: Duration::from_secs(1),
        output: "out".into(),
    }
}

#[test]
fn each_scenario_has_its_cells() {
    let arguments = arguments(vec![Scenario::Direct, Scenario::Many, Scenario::Idle, Scenario::QuoteCbr]);
    let cells: Vec<_> =
        tasks(&arguments).iter().map(|task| (task.scenario, task.size, task.connections, task.idle)).collect();
    assert_eq!(cells.len(), 8);
    assert_eq!(cells[3], (Scenario::Direct, 1024, 160, 0));
    assert_eq!(cells[4..6], [(Scenario::Many, 1024, 2560, 0), (Scenario::Idle, 1024, 500, 9500)]);
    let length = Scenario::QuoteCbr.payload(1024).unwrap().length();
    assert_eq!(cells[6..].iter().map(|cell| cell.1).collect::<Vec<_>>(), [length, length]);
}

#[test]
fn only_who_can_do_it_takes_part() {
    let able = |scenario| Kind::ALL.into_iter().filter(|kind| kind.can(scenario)).map(Kind::name).collect::<Vec<_>>();
    assert_eq!(able(Scenario::Direct), ["myelin", "nginx", "haproxy", "relay", "synapse"]);
    assert_eq!(able(Scenario::Header), ["myelin", "direct", "nginx", "haproxy", "relay", "synapse"]);
    assert_eq!(able(Scenario::Cbr), ["myelin", "direct", "synapse"]);
    assert_eq!(able(Scenario::Built), ["myelin", "direct"]);
    assert_eq!(able(Scenario::Xslt), ["myelin", "direct", "synapse"]);
}

#[test]
fn a_report_has_a_row_for_each_cell_in_every_form() {
    let figures = |name, cpu: f64, p_value| Figures {
        name,
        cpu_ms_per_1000: vec![cpu],
        median_cpu_ms_per_1000: cpu,
        ratio_of_first: 10.0 / cpu,
        p_value,
        requests_per_second: vec![1000.0],
        latency_p50: vec![0.001],
        latency_p99: vec![0.002],
        failures: 0,
        failures_by_kind: [("reset".to_owned(), 3)].into(),
        usage: crate::procfs::Usage::default(),
        start_seconds: 0.01,
    };
    let cell = Cell {
        scenario: Scenario::Direct,
        size_bytes: 10_240,
        connections: 160,
        idle_connections: 0,
        requests: 1000,
        contenders: vec![
            figures("myelin", 10.0, None),
            figures("nginx", 20.0, Some(0.01)),
            figures("relay", 8.0, Some(0.01)),
        ],
    };
    let environment = Environment {
        began: "now".to_owned(),
        command_line: Vec::new(),
        kernel: "6".to_owned(),
        processor: "some".to_owned(),
        processors: 2,
        memory_kilobytes: 1,
        open_files_limit: 1024,
        rounds: 1,
        threads: 2,
        versions: [("myelin", "0.1".to_owned())].into(),
        missing: vec!["haproxy (not installed)".to_owned()],
    };
    let alone = Cell { size_bytes: 500, contenders: vec![figures("myelin", 12.0, None)], ..cell.clone() };
    let report = Report { environment, configurations: Default::default(), cells: vec![alone, cell] };
    let markdown = report.markdown();
    assert!(markdown.contains("| 10K | 160 | 10.0 | 20.0 (0.50, p 0.010) | 8.0 (1.25, p 0.010) |"), "{markdown}");
    assert!(markdown.contains("| 500 | 160 | 12.0 | – | – |"), "{markdown}");
    // Above the relay: 2 of 12.
    assert!(markdown.contains("| 10K | 160 | 2.0 | 12.0 (0.17) |"), "{markdown}");
    assert!(markdown.contains("| 500 | 160 | – | – |"), "{markdown}");
    assert!(markdown.contains("Left out: haproxy"), "{markdown}");
    assert!(markdown.contains("**failed: 3 reset**"), "{markdown}");
    let csv = report.csv();
    let columns = |line: &str| line.split(',').count();
    assert!(csv.lines().all(|line| columns(line) == columns(csv.lines().next().unwrap())), "{csv}");
    assert_eq!(csv.lines().count(), 5);
    assert_eq!(serde_json::to_value(&report).unwrap()["cells"][0]["scenario"], "direct");
}
