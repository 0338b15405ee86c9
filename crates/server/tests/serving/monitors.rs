//! Monitors over real sockets: a backend that goes bad gets no client's request until it is well again.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{Bus, definitions, load, post, settings};
use myelin_engine::{MonitorSettings, Settings};
use myelin_testkit::eventually;
use myelin_testkit::raw::Client;
use myelin_testkit::service::{Response, Service};

/// A backend that answers checks as it is told and everything else with its name.
fn backend(name: &'static str) -> (Service, Arc<AtomicBool>) {
    let is_well = Arc::new(AtomicBool::new(true));
    let service = Service::start({
        let is_well = Arc::clone(&is_well);
        move |request| match (&*request.target, is_well.load(Ordering::Relaxed)) {
            ("/health", false) => Response { status: 503, ..Response::default() },
            _ => Response { status: 200, body: name.into(), ..Response::default() },
        }
    });
    (service.unwrap(), is_well)
}

fn requests(backend: &Service) -> usize {
    backend.requests().iter().filter(|request| request.method == "POST").count()
}

/// Waits until an endpoint is taken out, or back.
fn wait_until(bus: &Bus, name: &str, is_down: bool) {
    let changed = || bus.bus().endpoints().iter().find(|it| it.name == name).unwrap().down.is_some() == is_down;
    eventually(&format!("{name} changes"), changed);
}

#[test]
fn a_backend_that_goes_bad_gets_no_request_until_it_is_well_again_also_after_a_reload() {
    let ((one, one_is_well), (two, _)) = (backend("one"), backend("two"));
    let endpoint = |name: &str, backend: &Service| {
        format!(r#"<endpoint name="{name}"><address uri="http://{}/b"/></endpoint>"#, backend.address())
    };
    let proxy = r#"<proxy name="P"><target><endpoint><loadbalance>
        <endpoint key="one"/><endpoint key="two"/></loadbalance></endpoint></target></proxy>"#;
    let configuration = definitions(&format!("{}{}{proxy}", endpoint("one", &one), endpoint("two", &two)));
    let monitor = |name: &str| MonitorSettings {
        path: Some("/health".to_owned()),
        interval: Duration::from_millis(100),
        fall: 2,
        ..MonitorSettings::new(name)
    };
    let mediation = Settings { monitors: vec![monitor("one"), monitor("two")], ..Settings::default() };
    let bus = Bus::mediating(&configuration, &mediation, myelin_server::Settings { threads: 2, ..settings() });
    let serve = |count: usize| {
        for _ in 0..count {
            let answer = Client::connect(bus.address).unwrap().exchange(&post("<a/>")).unwrap();
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
    };
    serve(10);
    assert_eq!((requests(&one), requests(&two)), (5, 5));
    one_is_well.store(false, Ordering::Relaxed);
    wait_until(&bus, "one", true);
    serve(10);
    assert_eq!((requests(&one), requests(&two)), (5, 15));

    bus.swap_to(load(&configuration, &mediation));
    serve(10);
    assert_eq!((requests(&one), requests(&two)), (5, 25));
    one_is_well.store(true, Ordering::Relaxed);
    wait_until(&bus, "one", false);
    serve(10);
    assert_eq!((requests(&one), requests(&two)), (10, 30));

    one_is_well.store(false, Ordering::Relaxed);
    wait_until(&bus, "one", true);
    bus.swap_to(load(&configuration, &Settings { monitors: Vec::new(), ..mediation }));
    wait_until(&bus, "one", false);
    assert!(bus.stop());
}

#[test]
fn a_monitor_of_what_is_not_there_is_told_before_anything_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let [bus, config] = ["bus.xml", "deployment.toml"].map(|name| folder.path().join(name));
    let endpoint = r#"<endpoint name="one"><address uri="http://127.0.0.1:9/"/></endpoint>"#;
    fs::write(&bus, definitions(endpoint)).unwrap();
    let check = |name: &str, command: &[&str], is_told: bool| {
        fs::write(&config, format!("[[myelin.monitors]]\nendpoint = \"{name}\"")).unwrap();
        let mut myelin = Command::new(env!("CARGO_BIN_EXE_myelin"));
        let output = myelin.args(command).arg(&bus).arg("--config").arg(&config).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.success(), !is_told, "{told}");
        let sentence = "the monitor of \"tow\": there is no endpoint of that name; there are one";
        assert_eq!(told.contains(sentence), is_told, "{told}");
    };
    check("one", &["check"], false);
    check("tow", &["check"], true);
    check("tow", &["run", "--http", "127.0.0.1:0"], true);
}
