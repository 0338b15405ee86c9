//! Exchanges of a bus as a collector sees them, and contexts of traces as backends see them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use myelin_server::Settings;
use myelin_telemetry::sampling::{Sampler, TailSampler};
use myelin_telemetry::span::Attribute;
use myelin_telemetry::{Destination, Protocol, TelemetryOptions, TracingOptions};
use myelin_testkit::collector::{CollectedSpan, Collector, Mood};
use myelin_testkit::eventually;
use myelin_testkit::faulty::Backend;
use myelin_testkit::{port, raw};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::support::authority::Authority;
use crate::support::process::Process;
use crate::support::{Bus, answering, definitions, proxy, settings};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";

fn traced(collector: &Collector, protocol: Protocol, tracing: TracingOptions) -> Settings {
    let path = if protocol == Protocol::Http { "/v1/traces" } else { "" };
    let destination = Destination {
        url: format!("http://{}{path}", collector.address).parse().unwrap(),
        protocol,
        headers: Vec::new(),
        timeout: Duration::from_secs(10),
        gzip: true,
        roots: Vec::new(),
        shows: None,
    };
    let telemetry = TelemetryOptions {
        traces: Some(destination),
        logs: None,
        resource: vec![Attribute::text("service.name", "bus")].into(),
        tracing,
        queue: 1000,
        batch: 100,
        interval: Duration::from_millis(20),
        flush: Duration::from_secs(10),
    };
    Settings { telemetry: Some(telemetry), ..settings() }
}

/// The answer to a request to a path, with more header lines.
fn ask(address: SocketAddr, method: &str, path: &str, lines: &str) -> u16 {
    let request =
        format!("{method} {path} HTTP/1.1\r\nHost: bus:8280\r\nConnection: close\r\n{lines}Content-Length: 0\r\n\r\n");
    raw::exchange(address, request.as_bytes()).unwrap().status
}

fn of_kind<'a>(spans: &'a [CollectedSpan], kind: &str) -> Vec<&'a CollectedSpan> {
    spans.iter().filter(|span| span.kind == format!("SPAN_KIND_{kind}")).collect()
}

/// The heads that a backend got; none of these requests has a body.
fn requests(backend: &Backend) -> Vec<String> {
    let all: String = backend.connections().iter().map(myelin_testkit::faulty::Connection::text).collect();
    all.split_inclusive("\r\n\r\n").map(str::to_owned).collect()
}

/// The value of a header line in what a backend got.
fn line(text: &str, name: &str) -> Option<String> {
    let mut values = text.lines().filter_map(|line| {
        let (known, value) = line.split_once(": ")?;
        known.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    });
    let value = values.next();
    assert_eq!(values.next(), None, "{name} stands twice in {text}");
    value
}

#[test]
fn a_trace_goes_unbroken_through_client_bus_and_backend() {
    for protocol in [Protocol::Grpc, Protocol::Http] {
        let collector = Collector::start().unwrap();
        let backend = answering(OK);
        let bus = Bus::with(&proxy(backend.address()), traced(&collector, protocol, TracingOptions::default()));
        let lines = format!(
            "traceparent: 00-{TRACE}-00f067aa0ba902b7-01\r\ntracestate: a=1\r\ntracestate: b=2\r\nUser-Agent: test\r\n"
        );
        assert_eq!(ask(bus.address, "GET", "/services/P?key=hush", &lines), 200);
        let spans = collector.wait_for_spans(2);
        let (server, client) = (of_kind(&spans, "SERVER")[0], of_kind(&spans, "CLIENT")[0]);
        assert_eq!((&*server.trace, &*server.parent, &*server.state), (TRACE, "00f067aa0ba902b7", "a=1,b=2"));
        assert_eq!((&client.trace, &client.parent), (&server.trace, &server.id));
        let got = &requests(&backend)[0];
        assert_eq!(line(got, "traceparent"), Some(format!("00-{TRACE}-{}-01", client.id)));
        assert_eq!(line(got, "tracestate").as_deref(), Some("a=1,b=2"));
        for (name, value) in [
            ("http.request.method", "GET"),
            ("http.route", "/services/P"),
            ("url.path", "/services/P"),
            ("url.query", "key=REDACTED"),
            ("url.scheme", "http"),
            ("server.address", "bus"),
            ("server.port", "8280"),
            ("client.address", "127.0.0.1"),
            ("network.protocol.version", "1.1"),
            ("user_agent.original", "test"),
            ("http.response.status_code", "200"),
            ("componentName", "P"),
            ("componentType", "Proxy Service"),
        ] {
            assert_eq!(server.attribute(name), value, "{name}: {server:#?}");
        }
        assert!(!format!("{spans:?}").contains("hush"), "{spans:#?}");
        assert_eq!((&*server.name, &*client.name), ("GET /services/P", "GET"));
        assert_eq!(client.attribute("server.port"), backend.address().port().to_string());
        assert_eq!(client.attribute("http.response.status_code"), "200");
        assert!(client.attribute("url.full").starts_with(&format!("http://{}/b", backend.address())));
        assert!(server.begin <= client.begin && client.end <= server.end && client.begin <= client.end);
        assert_eq!((server.error.as_ref(), &*server.resource["service.name"]), (None, "bus"));
    }
}

#[test]
fn a_trace_begins_where_the_client_brings_none_or_one_that_is_broken() {
    let collector = Collector::start().unwrap();
    let backend = answering(OK);
    let bus = Bus::with(&proxy(backend.address()), traced(&collector, Protocol::Grpc, TracingOptions::default()));
    let broken = format!("traceparent: 00-{}-00f067aa0ba902b7-01\r\ntracestate: a=1\r\n", "0".repeat(32));
    for lines in ["", &*broken] {
        let before = collector.spans().len();
        assert_eq!(ask(bus.address, "POST", "/services/P", lines), 200);
        let spans = collector.wait_for_spans(before + 2).split_off(before);
        let (server, client) = (of_kind(&spans, "SERVER")[0], of_kind(&spans, "CLIENT")[0]);
        assert!(server.parent.is_empty() && server.state.is_empty(), "{server:#?}");
        let got = requests(&backend).last().unwrap().clone();
        assert_eq!(line(&got, "traceparent"), Some(format!("00-{}-{}-01", server.trace, client.id)));
        assert_eq!(line(&got, "tracestate"), None);
    }
}

#[test]
fn what_is_not_sampled_is_passed_on_as_such_and_faults_are_kept_where_that_is_wanted() {
    let collector = Collector::start().unwrap();
    let backend = answering(OK);
    let artefacts = format!(
        "<proxy name='P'><target><endpoint><address uri='http://{0}/b'/></endpoint></target></proxy>\
         <proxy name='F'><target><inSequence><call><endpoint name='E'><address uri='http://{0}/b'/></endpoint></call>\
         <throwError type='T-1' errorMessage='it failed'/></inSequence></target></proxy>",
        backend.address()
    );
    let tracing = TracingOptions {
        sampler: Sampler::named("parentbased_always_off", 1.0).unwrap(),
        tail: TailSampler { faults: true, slower_than: None },
        ..TracingOptions::default()
    };
    let bus = Bus::with(&definitions(&artefacts), traced(&collector, Protocol::Grpc, tracing));
    assert_eq!(ask(bus.address, "GET", "/services/P", ""), 200);
    let sent = line(&requests(&backend)[0], "traceparent").unwrap();
    assert!(sent.starts_with("00-") && sent.ends_with("-00"), "{sent}");
    assert_eq!(ask(bus.address, "GET", "/services/F", ""), 500);
    let spans = collector.wait_for_spans(2);
    let server = of_kind(&spans, "SERVER")[0];
    assert_eq!(server.attribute("componentName"), "F");
    assert_eq!((server.error.as_deref(), server.attribute("error.type")), (Some(""), "500"));
    let (name, event) = &server.events[0];
    assert_eq!((&**name, &*event["exception.type"], &*event["exception.message"]), ("exception", "T-1", "it failed"));
    assert!(event["exception.stacktrace"].contains("throwError"), "{event:?}");
    assert_eq!(event["myelin.fault.origin"], "bus");
    // A sender that records it decides.
    let lines = format!("traceparent: 00-{TRACE}-00f067aa0ba902b7-01\r\n");
    assert_eq!(ask(bus.address, "GET", "/services/P", &lines), 200);
    assert_eq!(collector.wait_for_spans(4)[3].trace, TRACE);
    // Nothing of the first request came.
    assert!(collector.spans().iter().all(|span| span.trace != sent[3..35]));
}

#[test]
fn a_bus_that_records_nothing_of_a_trace_passes_its_context_on_as_it_came() {
    let collector = Collector::start().unwrap();
    let backend = answering(OK);
    let tracing =
        TracingOptions { sampler: Sampler::named("parentbased_always_on", 1.0).unwrap(), ..TracingOptions::default() };
    let bus = Bus::with(&proxy(backend.address()), traced(&collector, Protocol::Grpc, tracing));
    let context = format!("00-{TRACE}-00f067aa0ba902b7-00");
    let lines = format!("traceparent: {context}\r\ntracestate: a=1\r\n");
    assert_eq!(ask(bus.address, "GET", "/services/P", &lines), 200);
    assert_eq!(line(&requests(&backend)[0], "traceparent"), Some(context));
    assert_eq!(line(&requests(&backend)[0], "tracestate").as_deref(), Some("a=1"));
    assert!(bus.stop());
    assert!(collector.spans().is_empty());
}

#[test]
fn a_client_s_trace_is_not_continued_where_that_is_not_wanted() {
    let collector = Collector::start().unwrap();
    let backend = answering(OK);
    let tracing = TracingOptions { continues: false, ..TracingOptions::default() };
    let bus = Bus::with(&proxy(backend.address()), traced(&collector, Protocol::Grpc, tracing));
    let lines = format!("traceparent: 00-{TRACE}-00f067aa0ba902b7-00\r\ntracestate: a=1\r\n");
    assert_eq!(ask(bus.address, "GET", "/services/P", &lines), 200);
    let spans = collector.wait_for_spans(2);
    let server = of_kind(&spans, "SERVER")[0];
    assert_ne!(server.trace, TRACE);
    assert_eq!(server.links, [(TRACE.to_owned(), "00f067aa0ba902b7".to_owned())]);
    assert_eq!(line(&requests(&backend)[0], "tracestate"), None);
}

#[test]
fn a_resource_of_an_api_names_the_span_and_each_mediator_has_one_where_it_is_wanted() {
    let collector = Collector::start().unwrap();
    let backend = answering(OK);
    let artefacts = format!(
        "<api name='Shop' context='/shop'><resource uri-template='/orders/{{id}}' methods='GET'><inSequence>\
         <filter source='get-property(\"uri.var.id\")' regex='7'><then><property name='a' value='b'/></then></filter>\
         <sequence key='S'/><respond/></inSequence></resource></api>\
         <sequence name='S'><call><endpoint key='E'/></call></sequence>\
         <endpoint name='E'><address uri='http://{}/b'/></endpoint>",
        backend.address()
    );
    let tracing = TracingOptions { mediators: true, ..TracingOptions::default() };
    let bus = Bus::with(&definitions(&artefacts), traced(&collector, Protocol::Http, tracing));
    assert_eq!(ask(bus.address, "GET", "/shop/orders/7", ""), 200);
    let names = |spans: &[CollectedSpan]| spans.iter().map(|span| span.name.clone()).collect::<Vec<_>>();
    let spans = collector.wait_for_spans(9);
    let found = |name: &str| {
        let found: Vec<_> = spans.iter().filter(|span| span.name == name).collect();
        assert_eq!(found.len(), 1, "{name}: {:?}", names(&spans));
        found[0]
    };
    let server = found("GET /shop/orders/{id}");
    assert_eq!((server.attribute("http.route"), server.attribute("componentType")), ("/shop/orders/{id}", "API"));
    // Each stands in the one around it.
    for (inner, outer) in [
        ("inSequence", "GET /shop/orders/{id}"),
        ("filter", "inSequence"),
        ("property", "filter"),
        ("sequence", "inSequence"),
        ("S", "sequence"),
        ("call", "S"),
        ("GET E", "call"),
        ("respond", "inSequence"),
    ] {
        let (inner, outer) = (found(inner), found(outer));
        assert_eq!(inner.parent, outer.id, "{} in {}", inner.name, outer.name);
        assert!(outer.begin <= inner.begin && inner.end <= outer.end, "{} in {}", inner.name, outer.name);
    }
    let call = found("GET E");
    assert_eq!((call.attribute("componentName"), call.attribute("componentType")), ("E", "Endpoint"));
    let filter = found("filter");
    assert!(filter.attribute("code.file.path").ends_with("synapse.xml"));
    assert_eq!((filter.attribute("componentType"), filter.attribute("code.line.number")), ("Mediator", "1"));
}

#[test]
fn branches_run_beside_each_other_and_each_request_has_its_own_span() {
    let collector = Collector::start().unwrap();
    let backend = answering(OK);
    let target = format!(
        "<target><sequence><send><endpoint><address uri='http://{}/b'/></endpoint></send></sequence></target>",
        backend.address()
    );
    let artefacts = format!(
        "<proxy name='C'><target><inSequence><clone>{target}{target}</clone></inSequence>\
         <outSequence><aggregate><completeCondition><messageCount min='2' max='2'/></completeCondition>\
         <onComplete expression='//*'><respond/></onComplete></aggregate></outSequence></target></proxy>"
    );
    let bus = Bus::with(&definitions(&artefacts), traced(&collector, Protocol::Grpc, TracingOptions::default()));
    ask(bus.address, "POST", "/services/C", "");
    let spans = collector.wait_for_spans(5);
    let (server, clients) = (of_kind(&spans, "SERVER")[0], of_kind(&spans, "CLIENT"));
    let branches = of_kind(&spans, "INTERNAL");
    assert_eq!((clients.len(), branches.len()), (2, 2), "{spans:#?}");
    assert!(spans.iter().all(|span| span.trace == server.trace));
    assert!(branches.iter().all(|branch| branch.parent == server.id), "{spans:#?}");
    for branch in &branches {
        assert_eq!(clients.iter().filter(|client| client.parent == branch.id).count(), 1, "{spans:#?}");
    }
    let mut sent: Vec<_> = requests(&backend).iter().filter_map(|request| line(request, "traceparent")).collect();
    let mut expected: Vec<_> = clients.iter().map(|it| format!("00-{}-{}-01", it.trace, it.id)).collect();
    sent.sort();
    expected.sort();
    assert_eq!(sent, expected);
}

#[test]
fn a_service_that_another_one_calls_is_part_of_its_trace() {
    let collector = Collector::start().unwrap();
    let artefacts = "<proxy name='A'><target><endpoint><address uri='local://localhost/services/B'/></endpoint></target></proxy>\
                     <proxy name='B'><target><inSequence><respond/></inSequence></target></proxy>";
    let bus = Bus::with(&definitions(artefacts), traced(&collector, Protocol::Grpc, TracingOptions::default()));
    assert_eq!(ask(bus.address, "POST", "/services/A", ""), 200);
    let spans = collector.wait_for_spans(3);
    let of = |name: &str| spans.iter().find(|span| span.attribute("componentName") == name).unwrap();
    let (outer, inner, call) = (of("A"), of("B"), of_kind(&spans, "CLIENT")[0]);
    assert_eq!((&call.parent, &inner.parent), (&outer.id, &call.id), "{spans:#?}");
    assert!(spans.iter().all(|span| span.trace == outer.trace));
}

#[test]
fn each_attempt_of_a_failover_has_a_span() {
    let collector = Collector::start().unwrap();
    let backend = answering(OK);
    let gone = port::free().unwrap();
    let artefacts = format!(
        "<proxy name='P'><target><endpoint><failover><endpoint name='A'><address uri='http://{gone}/a'/></endpoint>\
         <endpoint name='B'><address uri='http://{}/b'/></endpoint></failover></endpoint></target></proxy>",
        backend.address()
    );
    let bus = Bus::with(&definitions(&artefacts), traced(&collector, Protocol::Grpc, TracingOptions::default()));
    assert_eq!(ask(bus.address, "GET", "/services/P", ""), 200);
    let spans = collector.wait_for_spans(3);
    let clients = of_kind(&spans, "CLIENT");
    assert_eq!(clients.iter().map(|span| &*span.name).collect::<Vec<_>>(), ["GET A", "GET B"]);
    assert!(clients[0].error.is_some() && !clients[0].attribute("error.type").is_empty(), "{clients:#?}");
    assert_eq!((clients[1].error.as_ref(), clients[1].attribute("http.request.resend_count")), (None, "1"));
    assert_eq!(line(&requests(&backend)[0], "traceparent").unwrap()[36..52], clients[1].id);
}

#[test]
fn traffic_goes_on_whatever_the_collector_does_and_what_is_lost_is_counted() {
    for mood in [Mood::Silent, Mood::Busy, Mood::Closing, Mood::Refusing] {
        let collector = Collector::start().unwrap();
        collector.set_mood(mood);
        let backend = answering(OK);
        let mut settings = traced(&collector, Protocol::Grpc, TracingOptions::default());
        let telemetry = settings.telemetry.as_mut().unwrap();
        (telemetry.queue, telemetry.batch, telemetry.flush) = (20, 10, Duration::from_millis(100));
        settings.admin = Some(myelin_server::AdminOptions { address: ([127, 0, 0, 1], 0).into(), is_wanted: true });
        let bus = Bus::with(&proxy(backend.address()), settings);
        for _ in 0..50 {
            assert_eq!(ask(bus.address, "GET", "/services/P", ""), 200, "{mood:?}");
        }
        let admin = bus.admin().unwrap();
        let count = |outcome: &str| {
            let request = "GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
            let page = String::from_utf8(raw::exchange(admin, request.as_bytes()).unwrap().body).unwrap();
            let line = page.lines().find(|line| line.contains("signal=\"spans\"") && line.contains(outcome)).unwrap();
            line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()
        };
        eventually("what there was no room for is counted", || {
            count("outcome=\"dropped\"") + count("outcome=\"failed\"") + count("myelin_telemetry_waiting") >= 100.0
        });
        assert!(count("myelin_telemetry_waiting") <= 20.0);
        assert!(bus.stop());
    }
}

#[test]
fn spans_that_wait_are_sent_when_the_bus_stops() {
    let collector = Collector::start().unwrap();
    let backend = answering(OK);
    let mut settings = traced(&collector, Protocol::Http, TracingOptions::default());
    settings.telemetry.as_mut().unwrap().interval = Duration::from_secs(3600);
    let bus = Bus::with(&proxy(backend.address()), settings);
    for _ in 0..5 {
        assert_eq!(ask(bus.address, "GET", "/services/P", ""), 200);
    }
    assert!(collector.spans().is_empty());
    assert!(bus.stop());
    assert_eq!(collector.spans().len(), 10);
}

#[test]
fn a_process_sends_traces_and_its_log_and_lines_name_the_trace() {
    let collector = Collector::start().unwrap();
    let artefacts = "<proxy name='P'><target><inSequence><log level='custom'><property name='p' value='said'/></log>\
                     <respond/></inSequence></target></proxy>";
    let deployment = format!(
        "[myelin.opentelemetry]\nendpoint = \"http://{}\"\nprotocol = \"http\"\nlogs = true\ninterval = \"20ms\"\n\
         service_name = \"orders-bus\"\nheaders = {{ api-key = \"$secret{{canary}}\" }}\n\
         [myelin.security.secrets]\ncanary = \"c4n4ry\"\n",
        collector.address
    );
    let process = Process::run(&[("synapse.xml", &definitions(artefacts))], &deployment);
    let lines = format!("traceparent: 00-{TRACE}-00f067aa0ba902b7-01\r\n");
    assert_eq!(ask(process.address, "GET", "/services/P", &lines), 200);
    let logged = process.logged_until("p = said");
    let line = logged.iter().find(|line| line.contains("p = said")).unwrap();
    let span = &collector.wait_for_spans(1)[0];
    assert!(line.contains(&format!("TRACE_ID = {TRACE}, SPAN_ID = {}", span.id)), "{line}");
    assert_eq!(span.resource["service.name"], "orders-bus");
    eventually("the line comes", || collector.logs().iter().any(|log| log.body.contains("p = said")));
    let logs = collector.logs();
    let log = logs.iter().find(|log| log.body.contains("p = said")).unwrap();
    assert_eq!((&*log.trace, &log.span, &*log.severity), (TRACE, &span.id, "INFO"));
    assert_eq!(log.attributes["myelin.service"], "proxy P");
    assert!(log.attributes["myelin.place"].contains("log (") && !log.attributes["CorrelationId"].is_empty(), "{log:?}");
    assert!(collector.requests().iter().all(|lines| lines["api-key"] == "c4n4ry"));
    assert!(!logged.join("\n").contains("c4n4ry") && !format!("{logs:?} {span:?}").contains("c4n4ry"));
}

/// What an endpoint with TLS before a collector asks of its clients.
struct TlsFront {
    /// Where it listens.
    address: SocketAddr,
}

impl TlsFront {
    /// One that shows a certificate for `localhost`, and asks for one of an authority where there is one.
    fn start(shows: &Authority, asks: Option<&Authority>, collector: SocketAddr) -> TlsFront {
        let (certificate, key) = shows.client("localhost");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let builder = match asks {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(CertificateDer::from_pem_file(authority.root()).unwrap()).unwrap();
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
                builder.with_client_cert_verifier(verifier)
            }
        };
        let mut config =
            builder.with_single_cert(vec![certificate.into()], PrivateKeyDer::try_from(key).unwrap()).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.1", 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let serving = async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // A client that is refused has its reason, and the test looks for it in the log.
                    let Ok(mut client) = acceptor.accept(stream).await else { return };
                    let Ok(mut behind) = tokio::net::TcpStream::connect(collector).await else { return };
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut behind).await;
                });
            }
        };
        // It ends with the process of the tests.
        std::thread::spawn(move || runtime.block_on(serving));
        TlsFront { address }
    }
}

/// A process whose traces go to a TLS endpoint, by this protocol and with these lines of `[myelin.opentelemetry]`.
fn exporting(front: &TlsFront, protocol: &str, more: &str) -> Process {
    let artefacts = "<proxy name='P'><target><inSequence><respond/></inSequence></target></proxy>";
    let settings = format!(
        "[myelin.opentelemetry]\nendpoint = \"https://localhost:{}\"\nprotocol = \"{protocol}\"\ninterval = \"20ms\"\n{more}",
        front.address.port()
    );
    Process::run(&[("synapse.xml", &definitions(artefacts))], &settings)
}

#[test]
fn traces_go_over_tls_to_a_collector_that_is_trusted_and_that_knows_the_bus() {
    let (authority, partners) = (Authority::new(), Authority::new());
    let folder = tempfile::tempdir().unwrap();
    let [chain, key] = ["bus.pem", "bus.key"].map(|name| folder.path().join(name));
    partners.write("bus", &chain, &key);
    let trusts = format!("certificate = \"{}\"\n", authority.root().display());
    let shows = format!("client_certificate = \"{}\"\nclient_key = \"{}\"\n", chain.display(), key.display());
    for protocol in ["grpc", "http"] {
        for asks in [None, Some(&partners)] {
            let collector = Collector::start().unwrap();
            let front = TlsFront::start(&authority, asks, collector.address);
            let more = if asks.is_some() { format!("{trusts}{shows}") } else { trusts.clone() };
            let process = exporting(&front, protocol, &more);
            assert_eq!(ask(process.address, "GET", "/services/P", ""), 200);
            assert_eq!(collector.wait_for_spans(1)[0].name, "GET /services/P", "{protocol}");
        }
    }
}

#[test]
fn a_collector_that_cannot_be_trusted_or_does_not_know_the_bus_is_told_with_the_reason() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    for protocol in ["grpc", "http"] {
        let collector = Collector::start().unwrap();
        let front = TlsFront::start(&authority, None, collector.address);
        let process = exporting(&front, protocol, &format!("certificate = \"{}\"\n", stranger.root().display()));
        assert_eq!(ask(process.address, "GET", "/services/P", ""), 200);
        let line = process.logged("1 spans could not be sent yet: ");
        assert!(line.contains("invalid peer certificate"), "{protocol}: {line}");
        let front = TlsFront::start(&authority, Some(&stranger), collector.address);
        let process = exporting(&front, protocol, &format!("certificate = \"{}\"\n", authority.root().display()));
        assert_eq!(ask(process.address, "GET", "/services/P", ""), 200);
        process.logged("1 spans could not be sent yet: ");
        assert!(collector.spans().is_empty());
    }
}
