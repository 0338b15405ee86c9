//! Metrics and probes, as operators and their programs ask for them.

use std::net::SocketAddr;

use myelin_server::{AdminOptions, Settings};
use myelin_testkit::eventually;
use myelin_testkit::faulty::{Backend, Script, Step, Until};
use myelin_testkit::raw::{Answer, Client, exchange};

use crate::support::{Bus, answering, definitions, settings};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Settings with an admin listener on a free port.
pub(crate) fn observed() -> Settings {
    let address = ([127, 0, 0, 1], 0).into();
    Settings { admin: Some(AdminOptions { address, is_wanted: true }), ..settings() }
}

pub(crate) fn ask(bus: &Bus, path: &str, more: &str) -> Answer {
    let admin: SocketAddr = bus.admin().expect("there is an admin listener");
    exchange(admin, format!("GET {path} HTTP/1.1\r\nHost: admin\r\n{more}\r\n").as_bytes()).unwrap()
}

/// The value of a sample, by its name with all its labels.
fn sample(page: &str, name: &str) -> Option<f64> {
    page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn attempts_after_the_first_are_counted_by_endpoint() {
    let good = answering(OK);
    let gone = myelin_testkit::port::free().unwrap();
    let configuration = definitions(&format!(
        r#"<proxy name="Pair"><target><endpoint><failover>
            <endpoint name="FirstMember"><address uri="http://{gone}/"/></endpoint>
            <endpoint name="SecondMember"><address uri="http://{}/"/></endpoint>
        </failover></endpoint></target></proxy>"#,
        good.address(),
    ));
    let bus = Bus::with(&configuration, observed());
    let answer = exchange(bus.address, b"GET /services/Pair HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    let page = ask(&bus, "/metrics", "").text();
    for (name, value) in [
        (r#"myelin_endpoint_attempts_total{endpoint="FirstMember",attempt="first"}"#, 1.0),
        (r#"myelin_endpoint_attempts_total{endpoint="FirstMember",attempt="failover"}"#, 0.0),
        (r#"myelin_endpoint_attempts_total{endpoint="SecondMember",attempt="first"}"#, 0.0),
        (r#"myelin_endpoint_attempts_total{endpoint="SecondMember",attempt="failover"}"#, 1.0),
        (r#"myelin_endpoint_attempts_total{endpoint="SecondMember",attempt="retry"}"#, 0.0),
    ] {
        assert_eq!(sample(&page, name), Some(value), "{name} in {page}");
    }
}

/// Other tests of this process are refused as well, so that counts are compared with what they were.
#[test]
fn refused_requests_are_counted_by_their_reason() {
    let configuration = definitions(r#"<proxy name="P"><target><inSequence><respond/></inSequence></target></proxy>"#);
    let mut limited = observed();
    (limited.server.head.bytes, limited.server.body_bytes) = (1000, Some(10));
    let bus = Bus::with(&configuration, limited);
    let long = "a".repeat(2000);
    for (reason, request, status) in [
        ("malformed", "GET /services/P HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("head_too_large", format!("GET / HTTP/1.1\r\nHost: h\r\nX: {long}\r\n\r\n"), 431),
        ("target_too_long", format!("GET /{long} HTTP/1.1\r\nHost: h\r\n\r\n"), 414),
        ("body_too_large", "POST /services/P HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n".to_owned(), 413),
        ("expectation", "GET / HTTP/1.1\r\nHost: h\r\nExpect: a-miracle\r\n\r\n".to_owned(), 417),
        ("version", "GET / HTTP/2.0\r\nHost: h\r\n\r\n".to_owned(), 505),
        ("no_service", "GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n".to_owned(), 404),
    ] {
        let name = format!("myelin_refused_requests_total{{reason=\"{reason}\"}}");
        let count = || sample(&ask(&bus, "/metrics", "").text(), &name).unwrap_or_else(|| panic!("{name}"));
        let before = count();
        assert_eq!(exchange(bus.address, request.as_bytes()).unwrap().status, status, "{reason}");
        assert!(count() > before, "{reason}");
    }
}

#[test]
fn exchanges_are_counted_by_service_and_endpoints_by_what_came_of_them() {
    let good = answering(OK);
    let gone = myelin_testkit::port::free().unwrap();
    let configuration = definitions(&format!(
        r#"<endpoint name="Good"><address uri="http://{}/"/></endpoint>
        <endpoint name="Gone"><address uri="http://{gone}/"/></endpoint>
        <proxy name="Works"><target><inSequence><call><endpoint key="Good"/></call><respond/></inSequence></target></proxy>
        <proxy name="Fails"><target><inSequence><call><endpoint key="Gone"/></call><respond/></inSequence></target></proxy>
        <proxy name="Inner"><target><endpoint><failover>
            <endpoint name="Member"><address uri="http://{}/"/></endpoint>
        </failover></endpoint></target></proxy>
        <api name="Orders" context="/orders">
            <resource methods="GET" uri-template="/{{id}}/lines"><inSequence><respond/></inSequence></resource>
        </api>"#,
        good.address(),
        good.address()
    ));
    let bus = Bus::with(&configuration, observed());
    let get = |path: &str| exchange(bus.address, format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n").as_bytes()).unwrap();
    assert_eq!((get("/services/Works").status, get("/services/Works").status), (200, 200));
    assert!(get("/services/Fails").status >= 500);
    assert_eq!(get("/services/Inner").status, 200);
    for order in 0..20 {
        assert_eq!(get(&format!("/orders/{order}/lines")).status, 200);
    }
    assert_eq!(get("/nowhere").status, 404);

    let answer = ask(&bus, "/metrics", "");
    assert_eq!(answer.header("Content-Type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let page = answer.text();
    for (name, value) in [
        (r#"wso2_integration_proxy_request_count_total{service_name="Works",service_type="proxy"}"#, 2.0),
        (r#"wso2_integration_proxy_request_count_error_total{service_name="Works",service_type="proxy"}"#, 0.0),
        (r#"wso2_integration_proxy_request_count_error_total{service_name="Fails",service_type="proxy"}"#, 1.0),
        (r#"wso2_integration_proxy_latency_seconds_count{service_name="Works",service_type="proxy"}"#, 2.0),
        // One series, whatever the paths were.
        (
            r#"wso2_integration_api_request_count_total{service_name="Orders",service_type="api",invocation_url="/orders/{id}/lines"}"#,
            20.0,
        ),
        (r#"myelin_exchanges_total{service_name="",service_type="none",status="4xx"}"#, 1.0),
        (r#"myelin_endpoint_requests_total{endpoint="Good",outcome="2xx"}"#, 2.0),
        (r#"myelin_endpoint_requests_total{endpoint="Gone",outcome="connect"}"#, 1.0),
        (r#"myelin_endpoint_requests_total{endpoint="Member",outcome="2xx"}"#, 1.0),
        (r#"myelin_endpoint_attempts_total{endpoint="Good",attempt="first"}"#, 2.0),
        (r#"myelin_endpoint_attempts_total{endpoint="Good",attempt="failover"}"#, 0.0),
        (r#"myelin_faults_total{code="101503",origin="backend"}"#, 1.0),
        (r#"wso2_integration_service_up{service_name="Orders",service_type="api"}"#, 1.0),
        ("myelin_silent_threads", 0.0),
    ] {
        assert_eq!(sample(&page, name), Some(value), "{name} in {page}");
    }
    let waited = sample(&page, r#"myelin_endpoint_wait_seconds_total{service_name="Works",service_type="proxy"}"#);
    let took =
        sample(&page, r#"wso2_integration_proxy_latency_seconds_sum{service_name="Works",service_type="proxy"}"#);
    assert!(waited > Some(0.0) && waited < took, "{waited:?} {took:?}");

    let open = ask(&bus, "/metric-service/metrics", "Accept: application/openmetrics-text; version=1.0.0\r\n").text();
    assert!(open.ends_with("# EOF\n") && open.contains("# TYPE myelin_exchanges counter\n"), "{open}");
}

#[test]
fn counts_go_on_when_the_configuration_is_loaded_anew_and_end_with_their_service() {
    let backend = answering(OK);
    let proxy = |name: &str, path: &str| {
        let address = backend.address();
        format!(
            r#"<proxy name="{name}"><target><endpoint><address uri="http://{address}{path}"/></endpoint></target></proxy>"#
        )
    };
    let mediation = myelin_engine::Settings::default();
    let load = |artefacts: &str| crate::support::load(&definitions(artefacts), &mediation);
    let bus = Bus::mediating(&definitions(&(proxy("A", "/") + &proxy("B", "/"))), &mediation, observed());
    let count = |name: &str| {
        let page = ask(&bus, "/metrics", "").text();
        sample(
            &page,
            &format!(r#"wso2_integration_proxy_request_count_total{{service_name="{name}",service_type="proxy"}}"#),
        )
    };
    let get = || exchange(bus.address, b"GET /services/A HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    assert_eq!(get().status, 200);
    bus.swap_to(load(&proxy("A", "/other")));
    assert_eq!(get().status, 200);
    assert_eq!((count("A"), count("B")), (Some(2.0), None));
}

#[test]
fn what_clients_send_makes_no_series() {
    let backend = answering(OK);
    let proxy = format!(
        "<proxy name='P'><target><endpoint><address uri='http://{}/b'/></endpoint></target></proxy>",
        backend.address()
    );
    let api = "<api name='A' context='/a'><resource methods='GET' uri-template='/{id}'><inSequence><respond/></inSequence></resource></api>";
    let bus = Bus::with(&definitions(&format!("{proxy}{api}")), observed());
    let send = |request: &str| exchange(bus.address, request.as_bytes()).map(|answer| answer.status);
    let series = || -> std::collections::BTreeSet<String> {
        let page = ask(&bus, "/metrics", "").text();
        let names = page.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.rsplit_once(' '));
        names.map(|(name, _)| name.to_owned()).collect()
    };
    // One of each kind that there may be: served, not served, not understood.
    let ordinary = [
        "GET /services/P HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /a/1 HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n",
        "POST /a/1 HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
        "GET\r\n\r\n",
    ];
    for request in ordinary {
        let _ = send(request);
    }
    let before = series();
    for number in 0..100 {
        let _ = send(&format!(
            "GET /a/evil-{number}?x={number} HTTP/1.1\r\nHost: evil-{number}\r\nX-Evil-{number}: 1\r\n\r\n"
        ));
        let _ = send(&format!("M{number} /services/P/evil-{number} HTTP/1.1\r\nHost: h\r\n\r\n"));
        let _ = send(&format!("GET /evil-{number} HTTP/1.1\r\nHost: h\r\nactivityid: evil-{number}\r\n\r\n"));
        let _ = send(&format!("GET /services/P HTTP/1.1\r\nHost: h\r\nSOAPAction: \"evil-{number}\"\r\n\r\n"));
    }
    let new: Vec<String> = series().difference(&before).cloned().collect();
    assert!(new.iter().all(|name| !name.contains("evil")), "{new:#?}");
    // Another class of status may have come up, and nothing else.
    assert!(new.len() <= 5, "{new:#?}");
}

#[test]
fn bytes_connections_lag_and_the_bus_itself_are_measured() {
    let backend = answering(OK);
    let proxy = format!(
        "<proxy name='P'><target><endpoint><address uri='http://{}/b'/></endpoint></target></proxy>",
        backend.address()
    );
    let bus = Bus::with(&definitions(&proxy), observed());
    let mut client = Client::connect(bus.address).unwrap();
    let request = b"POST /services/P HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello";
    let answer = client.exchange(request).unwrap();
    assert_eq!(answer.status, 200);
    let page = || ask(&bus, "/metrics", "").text();
    let of_p = "service_name=\"P\",service_type=\"proxy\"";
    let received = format!("myelin_bytes_total{{{of_p},direction=\"received\"}}");
    eventually("the bytes are counted", || sample(&page(), &received) == Some(request.len() as f64));
    let page = page();
    let port = bus.address.port();
    assert!(sample(&page, &format!("myelin_bytes_total{{{of_p},direction=\"sent\"}}")).is_some_and(|sent| sent > 40.0));
    assert!(sample(&page, &format!("myelin_mediation_seconds_total{{{of_p}}}")).is_some_and(|own| own > 0.0));
    assert_eq!(sample(&page, &format!("myelin_listener_connections{{port=\"{port}\"}}")), Some(1.0));
    assert_eq!(sample(&page, &format!("myelin_accepted_connections_total{{port=\"{port}\"}}")), Some(1.0));
    assert_eq!(sample(&page, "myelin_refused_clients_total{reason=\"connections\"}"), Some(0.0));
    assert_eq!(sample(&page, "myelin_dropped_log_lines_total{log=\"access\"}"), Some(0.0));
    assert!(page.contains("myelin_build_info{version=\""), "{page}");
    assert!(sample(&page, "myelin_memory_budget_used_bytes").is_some(), "{page}");
    eventually("the lag is measured", || {
        ask(&bus, "/metrics", "").text().contains("myelin_loop_lag_seconds_count{thread=\"0\"}")
    });
}

#[test]
fn probes_tell_how_far_the_bus_has_come() {
    let silent = Backend::start([Script::of([Step::Read(Until::Head), Step::Read(Until::Closed)])]).unwrap();
    let bus = Bus::with(&crate::support::proxy(silent.address()), observed());
    assert_eq!(ask(&bus, "/readiness", "").status, 200);
    assert_eq!((ask(&bus, "/liveness", "").status, ask(&bus, "/healthz", "").status), (200, 200));
    for (path, status) in [
        ("/elsewhere", 404),
        ("http://admin/liveness", 200),
        ("/liveness?x=%ff", 200),
        ("/../liveness", 404),
        ("*", 400),
    ] {
        assert_eq!(ask(&bus, path, "").status, status, "{path}");
    }
    let mut client = Client::connect(bus.address).unwrap();
    client.send(b"GET /services/P HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    let under_way = || sample(&ask(&bus, "/metrics", "").text(), "myelin_exchanges_under_way");
    eventually("the exchange is under way", || under_way() == Some(1.0));
    // What is under way keeps the bus from ending at once.
    bus.stopper().stop();
    let stops = ask(&bus, "/readiness", "");
    assert_eq!(stops.status, 503);
    assert!(stops.text().contains("stopping"), "{}", stops.text());
}

#[test]
fn an_address_that_is_taken_is_an_error_only_where_somebody_named_it() {
    let backend = answering(OK);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let with = |is_wanted| Settings { admin: Some(AdminOptions { address, is_wanted }), ..settings() };
    let bus = Bus::with(&crate::support::proxy(backend.address()), with(false));
    assert_eq!(bus.admin(), None);
    let bus = crate::support::load(&crate::support::proxy(backend.address()), &myelin_engine::Settings::default());
    let error = myelin_server::start(std::sync::Arc::new(bus), with(true)).map(drop).unwrap_err();
    assert!(format!("{error:#}").contains("[myelin.admin] listen"), "{error:#}");
}

#[test]
fn fifty_clients_are_answered_at_once() {
    let backend = answering(OK);
    let bus = Bus::with(&crate::support::proxy(backend.address()), observed());
    let admin = bus.admin().unwrap();
    // One that sends nothing keeps nobody waiting.
    let _silent = Client::connect(admin).unwrap();
    let asking = |_| {
        std::thread::spawn(move || {
            let request = b"GET /metrics HTTP/1.1\r\nHost: admin\r\nConnection: close\r\n\r\n";
            (0..10).filter(|_| exchange(admin, request).is_ok_and(|answer| answer.status == 200)).count()
        })
    };
    let clients: Vec<_> = (0..50).map(asking).collect();
    let answered: usize = clients.into_iter().map(|client| client.join().unwrap()).sum();
    assert_eq!(answered, 500);
}
