//! Spans and log records go to a collector over real sockets.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

use std::time::{Duration, Instant};

use myelin_telemetry::span::{Attribute, LogRecord, Severity, Span, SpanEvent, SpanKind};
use myelin_telemetry::trace_context::{SpanId, TraceContext, TraceFlags, TraceId};
use myelin_telemetry::{Destination, Protocol, QueueCounts, Telemetry, TelemetryOptions, TracingOptions};
use myelin_testkit::collector::{Collector, Mood};
use myelin_testkit::eventually;

const BOTH: [Protocol; 2] = [Protocol::Grpc, Protocol::Http];

fn destination(collector: &Collector, protocol: Protocol, path: &str) -> Destination {
    let path = if protocol == Protocol::Http { path } else { "" };
    Destination {
        url: format!("http://{}{path}", collector.address).parse().unwrap(),
        protocol,
        headers: vec![("api-key".parse().unwrap(), "k-1".parse().unwrap())],
        timeout: Duration::from_secs(10),
        gzip: true,
        roots: Vec::new(),
        shows: None,
    }
}

fn options(collector: &Collector, protocol: Protocol) -> TelemetryOptions {
    TelemetryOptions {
        traces: Some(destination(collector, protocol, "/v1/traces")),
        logs: Some(destination(collector, protocol, "/v1/logs")),
        resource: vec![Attribute::text("service.name", "bus")].into(),
        tracing: TracingOptions::default(),
        queue: 100,
        batch: 10,
        interval: Duration::from_millis(10),
        flush: Duration::from_secs(10),
    }
}

fn context() -> TraceContext {
    let state = Some("a=1".into());
    TraceContext { trace: TraceId::new(), span: SpanId::new(), flags: TraceFlags::new(true), state }
}

fn span(name: &'static str) -> Span {
    Span {
        context: context(),
        parent: Some(SpanId::new()),
        is_parent_remote: true,
        name: name.into(),
        kind: SpanKind::Server,
        begin: 1,
        end: 2,
        attributes: vec![Attribute::text("t", "x"), Attribute::integer("n", 7), Attribute::boolean("b", true)],
        events: vec![SpanEvent { time: 1, name: "e", attributes: vec![Attribute::text("a", "z")] }],
        dropped_events: 0,
        link: Some(context()),
        error: Some("it failed".to_owned()),
    }
}

#[test]
fn a_collector_gets_what_was_put_in_by_both_protocols() {
    for protocol in BOTH {
        for gzip in [true, false] {
            let collector = Collector::start().unwrap();
            let mut options = options(&collector, protocol);
            options.traces.as_mut().unwrap().gzip = gzip;
            let telemetry = Telemetry::start(options).unwrap();
            let sent = span("one");
            let record = LogRecord {
                time: 3,
                severity: Severity::Warn,
                message: "said".to_owned(),
                target: "myelin_x".to_owned(),
                attributes: vec![Attribute::text("k", "v")],
                trace: Some((sent.context.trace, sent.context.span, sent.context.flags)),
            };
            telemetry.spans().unwrap().put(vec![sent.clone(), span("two")]);
            telemetry.logs().unwrap().put(vec![record]);
            let spans = collector.wait_for_spans(2);
            eventually("the log comes", || !collector.logs().is_empty());
            let got = &spans[0];
            assert_eq!((&*got.name, &*got.kind, got.begin, got.end), ("one", "SPAN_KIND_SERVER", 1, 2));
            assert_eq!(got.trace, sent.context.trace.to_string());
            assert_eq!(got.id, sent.context.span.to_string());
            assert_eq!(got.parent, sent.parent.unwrap().to_string());
            assert_eq!((got.attribute("t"), got.attribute("n"), got.attribute("b")), ("x", "7", "true"));
            assert_eq!((&*got.events[0].0, &*got.events[0].1["a"]), ("e", "z"));
            assert_eq!(got.links[0].0, sent.link.as_ref().unwrap().trace.to_string());
            assert_eq!((got.error.as_deref(), &*got.state, got.flags), (Some("it failed"), "a=1", 0x301));
            assert_eq!(got.resource["service.name"], "bus");
            let log = &collector.logs()[0];
            assert_eq!((&*log.body, &*log.severity, &*log.scope), ("said", "WARN", "myelin_x"));
            assert_eq!((&log.trace, &log.span), (&got.trace, &got.id));
            let requests = collector.requests();
            assert!(requests.iter().all(|lines| lines["api-key"] == "k-1"), "{requests:?}");
            telemetry.shut_down();
            let counts = telemetry.counts();
            assert_eq!(counts.spans, Some(QueueCounts { sent: 2, ..QueueCounts::default() }));
        }
    }
}

#[test]
fn what_does_not_fit_into_one_message_follows_in_the_next() {
    let collector = Collector::start().unwrap();
    let telemetry = Telemetry::start(options(&collector, Protocol::Grpc)).unwrap();
    telemetry.spans().unwrap().put((0..12).map(|_| span("s")).collect());
    assert_eq!(collector.wait_for_spans(12).len(), 12);
    assert_eq!(collector.requests().len(), 2);
    telemetry.shut_down();
}

#[test]
fn what_waits_at_the_end_is_sent_and_a_collector_that_is_silent_does_not_hold_the_process() {
    for protocol in BOTH {
        let collector = Collector::start().unwrap();
        let options = TelemetryOptions { interval: Duration::from_secs(3600), ..options(&collector, protocol) };
        let telemetry = Telemetry::start(options.clone()).unwrap();
        (0..35).for_each(|_| telemetry.spans().unwrap().put(vec![span("s")]));
        telemetry.shut_down();
        assert_eq!(collector.spans().len(), 35);
        // What comes later is dropped.
        telemetry.spans().unwrap().put(vec![span("late")]);
        assert_eq!(telemetry.counts().spans.unwrap().dropped, 1);
        collector.set_mood(Mood::Silent);
        let telemetry = Telemetry::start(TelemetryOptions { flush: Duration::from_millis(200), ..options }).unwrap();
        (0..35).for_each(|_| telemetry.spans().unwrap().put(vec![span("s")]));
        let begun = Instant::now();
        telemetry.shut_down();
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
        let counts = telemetry.counts().spans.unwrap();
        assert_eq!((counts.failed, counts.waiting), (35, 0));
    }
}

#[test]
fn a_collector_that_does_not_keep_up_costs_spans_and_no_memory() {
    for (protocol, mood) in
        [(Protocol::Grpc, Mood::Silent), (Protocol::Http, Mood::Silent), (Protocol::Grpc, Mood::Busy)]
    {
        let collector = Collector::start().unwrap();
        collector.set_mood(mood);
        let options = TelemetryOptions { flush: Duration::from_millis(100), ..options(&collector, protocol) };
        let telemetry = Telemetry::start(options).unwrap();
        (0..10_000).for_each(|_| telemetry.spans().unwrap().put(vec![span("s")]));
        let counts = telemetry.counts().spans.unwrap();
        assert!(counts.waiting <= 100, "{counts:?}");
        assert_eq!(counts.dropped + counts.waiting as u64, 10_000, "{counts:?}");
        telemetry.shut_down();
        let counts = telemetry.counts().spans.unwrap();
        assert_eq!((counts.waiting, counts.sent), (0, 0), "{counts:?}");
    }
}

#[test]
fn a_collector_that_is_busy_or_gone_gets_it_later() {
    for protocol in BOTH {
        for mood in [Mood::Busy, Mood::Closing] {
            let collector = Collector::start().unwrap();
            collector.set_mood(mood);
            let telemetry = Telemetry::start(options(&collector, protocol)).unwrap();
            telemetry.spans().unwrap().put(vec![span("s")]);
            if mood == Mood::Busy {
                eventually("it is asked", || !collector.requests().is_empty());
            } else {
                std::thread::sleep(Duration::from_millis(300));
            }
            assert_eq!(telemetry.counts().spans.unwrap().waiting, 1);
            collector.set_mood(Mood::Well);
            assert_eq!(collector.wait_for_spans(1).len(), 1);
            telemetry.shut_down();
            assert_eq!(telemetry.counts().spans.unwrap().sent, 1);
        }
    }
}

#[test]
fn what_is_refused_for_good_is_given_up_at_once_and_counted() {
    for protocol in BOTH {
        let collector = Collector::start().unwrap();
        let telemetry = Telemetry::start(options(&collector, protocol)).unwrap();
        for (mood, failed) in [(Mood::Refusing, 3), (Mood::Partial, 4)] {
            collector.set_mood(mood);
            telemetry.spans().unwrap().put(vec![span("a"), span("b"), span("c")]);
            eventually("it is refused", || telemetry.counts().spans.unwrap().failed == failed);
        }
        let counts = telemetry.counts().spans.unwrap();
        assert_eq!((counts.sent, counts.failed, counts.waiting), (2, 4, 0));
        assert_eq!(collector.requests().len(), 2);
        telemetry.shut_down();
    }
}
