//! Endpoints that monitors take out and bring back, while time passes as fast as it can.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::common::{Scenario, load_with, post, response};
use myelin_engine::transport::SendErrorKind;
use myelin_engine::{EndpointState, EndpointStatus, Loaded, MonitorSettings, Settings};

const ARTEFACTS: &str = r#"<endpoint name="e"><address uri="http://back:80/service?a=b"/></endpoint>
    <endpoint name="alias" key="e"/>
    <endpoint name="holes"><http uri-template="http://back/{uri.var.x}"/></endpoint>
    <endpoint name="default"><default/></endpoint>
    <endpoint name="group"><failover><endpoint key="e"/></failover></endpoint>
    <proxy name="P"><target><endpoint key="e"/></target></proxy>"#;

fn health() -> MonitorSettings {
    MonitorSettings {
        path: Some("/health".to_owned()),
        interval: Duration::from_secs(1),
        timeout: Duration::from_millis(200),
        ..MonitorSettings::new("e")
    }
}

fn loaded(monitors: Vec<MonitorSettings>) -> Loaded {
    load_with(ARTEFACTS, &Settings { monitors, ..Settings::default() })
}

/// A bus that is monitored, and what its backend answers to checks; 0 is that nobody is there.
fn monitored(loaded: Loaded) -> (Scenario, Rc<Cell<u16>>) {
    let status = Rc::new(Cell::new(200));
    let scenario = Scenario::of(loaded, {
        let status = Rc::clone(&status);
        move |_, sent| match (sent.uri.ends_with("/health"), status.get()) {
            (true, 0) => Err(SendErrorKind::ConnectFailed),
            (true, status) => Ok(response(status, &[], "")),
            (false, _) => Ok(response(200, &[], "")),
        }
    });
    scenario.begin_monitoring();
    (scenario, status)
}

fn pass(scenario: &Scenario, seconds: u64) {
    let clock = scenario.clock();
    clock.run(clock.sleep(Duration::from_secs(seconds))).unwrap();
}

fn status(scenario: &Scenario) -> EndpointStatus {
    scenario.bus().endpoints().into_iter().find(|endpoint| endpoint.name == "e").unwrap()
}

/// Serves a request; whether it was sent on.
fn is_sent(scenario: &Scenario) -> bool {
    let count = || scenario.sent().iter().filter(|sent| sent.uri.contains("/service")).count();
    let before = count();
    scenario.serve(post("/services/P", &[], "<a/>"));
    count() > before
}

#[test]
fn an_endpoint_whose_checks_fail_gets_nothing_until_they_succeed_again() {
    for bad in [500, 404, 0] {
        let (scenario, backend) = monitored(loaded(vec![health()]));
        pass(&scenario, 10);
        assert!(is_sent(&scenario));
        backend.set(bad);
        pass(&scenario, 1);
        assert!(is_sent(&scenario), "fewer than three failed");
        pass(&scenario, 2);
        assert!(!is_sent(&scenario));
        let EndpointStatus { state, down, .. } = status(&scenario);
        let down = down.unwrap();
        assert!(state == EndpointState::Active && down.contains("GET http://back:80/health: "), "{down}");
        assert!(bad == 0 || down.contains(&bad.to_string()), "{down}");
        // The operator's switch is another one.
        assert!(scenario.bus().switch_endpoint("e", true));
        assert!(!is_sent(&scenario));
        backend.set(204);
        pass(&scenario, 2);
        assert!(is_sent(&scenario));
        assert_eq!(status(&scenario).down, None);
        let sent = scenario.sent();
        let checks: Vec<_> = sent.iter().filter(|sent| sent.method == "GET").map(|sent| sent.timeout).collect();
        assert!((15..=16).contains(&checks.len()), "one a second, whatever else happens: {}", checks.len());
        assert!(checks.iter().all(|timeout| *timeout == Some(Duration::from_millis(200))));
    }
}

#[test]
fn an_endpoint_that_comes_back_is_active_at_once_whatever_messages_met() {
    let status_of_checks = Rc::new(Cell::new(500));
    let scenario = Scenario::of(loaded(vec![MonitorSettings { fall: 1, rise: 1, ..health() }]), {
        let status = Rc::clone(&status_of_checks);
        move |_, sent| match sent.uri.ends_with("/health") {
            true => Ok(response(status.get(), &[], "")),
            false => Err(SendErrorKind::ConnectFailed),
        }
    });
    assert!(is_sent(&scenario));
    assert_eq!(status(&scenario).state, EndpointState::Suspended);
    scenario.begin_monitoring();
    pass(&scenario, 1);
    assert!(status(&scenario).down.is_some());
    status_of_checks.set(399);
    pass(&scenario, 1);
    assert_eq!(status(&scenario).state, EndpointState::Active);
}

#[test]
fn an_answer_that_is_late_is_a_failure_and_a_limit_of_the_bus_says_nothing() {
    let check = |after: u64, kind: Option<SendErrorKind>, is_down: bool| {
        let monitors = vec![MonitorSettings { fall: 1, ..health() }];
        let scenario = Scenario::timed_of(loaded(monitors), move |_| {
            let answer = kind.map_or_else(|| Ok(response(200, &[], "")), Err);
            (Duration::from_millis(after), answer)
        });
        scenario.begin_monitoring();
        pass(&scenario, 3);
        assert_eq!(status(&scenario).down.is_some(), is_down, "{after} ms, {kind:?}");
    };
    check(150, None, false);
    check(250, None, true);
    check(0, Some(SendErrorKind::ConnectFailed), true);
    check(0, Some(SendErrorKind::Overloaded), false);
}

#[test]
fn what_checks_found_goes_on_in_the_bus_that_follows_and_goes_with_the_last_monitor() {
    let bus = |settings: &Settings| {
        let scenario = Scenario::of(load_with(ARTEFACTS, settings), |_, sent| {
            let status = if sent.uri.ends_with("/health") { 503 } else { 200 };
            Ok(response(status, &[], ""))
        });
        let monitors = scenario.begin_monitoring();
        (scenario, monitors)
    };
    let settings = Settings { monitors: vec![health()], ..Settings::default() };
    let (first, firsts) = bus(&settings);
    pass(&first, 3);
    assert!(!is_sent(&first));
    let (second, seconds) = bus(&settings);
    firsts.borrow_mut().clear();
    assert!(!is_sent(&second));
    pass(&second, 10);
    assert!(!is_sent(&second));
    let (third, _) = bus(&Settings { monitors: Vec::new(), ..settings });
    assert!(!is_sent(&third), "the second is still monitored");
    seconds.borrow_mut().clear();
    assert!(is_sent(&third));
}

#[test]
fn a_monitor_asks_at_the_address_of_its_endpoint_unless_it_says_another() {
    let check = |endpoint: &str, url: Option<&str>, path: Option<&str>, expected: &str| {
        let [url, path] = [url, path].map(|text| text.map(str::to_owned));
        let scenario = monitored(loaded(vec![MonitorSettings { url, path, ..MonitorSettings::new(endpoint) }])).0;
        pass(&scenario, 5);
        assert_eq!(scenario.sent()[0].uri, expected);
    };
    check("e", None, None, "http://back:80/service?a=b");
    check("alias", None, Some("/up?deep=yes"), "http://back:80/up?deep=yes");
    check("e", Some("https://other/x"), None, "https://other/x");
    check("holes", Some("http://back/up"), None, "http://back/up");
    check("default", Some("http://back/up"), None, "http://back/up");
}

#[test]
fn what_cannot_be_monitored_is_told() {
    let check = |monitors: Vec<MonitorSettings>, expected: &str| {
        let Err(problems) = loaded(monitors).bus.monitors() else { panic!("{expected}: no problem") };
        assert!(problems.len() == 1 && problems[0].contains(expected), "{expected:?} is not in {problems:?}");
    };
    let one = |change: fn(&mut MonitorSettings)| {
        let mut settings = health();
        change(&mut settings);
        vec![settings]
    };
    check(vec![MonitorSettings::new("f")], "\"f\": there is no endpoint of that name; there are alias, default, e, gr");
    check(vec![MonitorSettings::new("group")], "a failover: name the endpoints");
    check(vec![MonitorSettings::new("holes")], "needs a url");
    check(one(|it| it.endpoint = "default".to_owned()), "needs a url");
    check(vec![health(), MonitorSettings::new("alias")], "\"alias\" has a monitor already");
    check(one(|it| it.url = Some("http://back/".to_owned())), "one of them is enough");
    check(one(|it| it.path = Some("health".to_owned())), "it begins with /");
    check(one(|it| (it.path, it.url) = (None, Some("ftp://back/".to_owned()))), "transport \"ftp\"");
    check(one(|it| it.interval = Duration::ZERO), "at least 100ms");
    check(one(|it| it.timeout = Duration::ZERO), "lets every check fail");
    check(one(|it| it.timeout = Duration::MAX), "at most a day");
    check(one(|it| it.rise = 0), "at least 1");
    check(one(|it| it.expect = vec![200, 99]), "99 is no status");
    check(vec![health(); 1001], "at most 1000");
}
