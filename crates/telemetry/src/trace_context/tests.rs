use proptest::prelude::*;

use super::*;

const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn head(lines: &[(&str, &str)]) -> Head {
    let mut head = Head::request("GET", "/");
    lines.iter().for_each(|(name, value)| head.append(name, value.as_bytes()).unwrap());
    head
}

fn context(lines: &[(&str, &str)]) -> Option<TraceContext> {
    TraceContext::of(&head(lines))
}

#[test]
fn a_context_that_came_is_the_one_that_is_written() {
    let found = context(&[("TraceParent", GOOD), ("tracestate", "a=1 , b@c=2"), ("Tracestate", ",d=3,")]).unwrap();
    assert_eq!(found.trace.to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(found.span.to_string(), "00f067aa0ba902b7");
    assert!(found.flags.is_sampled());
    assert_eq!(found.state.as_deref(), Some("a=1,b@c=2,d=3"));
    let mut written = head(&[("traceparent", "broken"), ("tracestate", "x=1"), ("tracestate", "y=2")]);
    found.write(&mut written);
    assert_eq!(written.all("traceparent").collect::<Vec<_>>(), [GOOD.as_bytes()]);
    assert_eq!(written.all("tracestate").collect::<Vec<_>>(), [b"a=1,b@c=2,d=3"]);
    let bare = TraceContext { state: None, ..found };
    bare.write(&mut written);
    assert_eq!(written.first("tracestate"), None);
}

/// As the tests of the working group have them: `test_data/traceparent` of w3c/trace-context.
#[test]
fn what_is_no_traceparent_begins_a_new_trace() {
    let refused = |line: &str| assert_eq!(context(&[("traceparent", line)]), None, "{line}");
    let taken = |line: &str| {
        let found = context(&[("traceparent", line)]);
        assert_eq!(found.map(|it| it.span.to_string()).as_deref(), Some("00f067aa0ba902b7"), "{line}");
    };
    taken(GOOD);
    for (old, new) in [
        ("00-4", "ff-4"),
        ("00-4", "0-4"),
        ("00-4", "0g-4"),
        ("00-4", "000-4"),
        ("00-4", "00_4"),
        ("4736-", "473-"),
        ("4736-", "47366-"),
        ("4bf9", "4BF9"),
        ("4bf9", "4bg9"),
        ("02b7-", "02b-"),
        ("02b7-", "02b77-"),
        ("02b7-", "02B7-"),
        ("-01", "-1"),
        ("-01", "-001"),
        ("-01", "-0x"),
        ("-01", "-01-"),
        ("-01", "-01-extra"),
        ("-01", "-01 "),
        ("-01", ""),
        ("4bf92f3577b34da6a3ce929d0e0e4736", "00000000000000000000000000000000"),
        ("00f067aa0ba902b7", "0000000000000000"),
    ] {
        // A head has no white space around its values.
        if new != "-01 " {
            refused(&GOOD.replacen(old, new, 1));
        }
    }
    refused("");
    refused("-");
    // A later version is read as far as it is known.
    taken(&GOOD.replacen("00-", "cc-", 1));
    taken(&format!("{}-what-comes-later", GOOD.replacen("00-", "cc-", 1)));
    refused(&format!("{}.what-comes-later", GOOD.replacen("00-", "cc-", 1)));
    // Two lines are none.
    assert_eq!(context(&[("traceparent", GOOD), ("traceparent", GOOD)]), None);
    assert_eq!(context(&[("tracestate", "a=1")]), None);
    // Flags that have no meaning yet are not carried on.
    let flags = |line: &str| context(&[("traceparent", line)]).unwrap().flags.byte();
    assert_eq!(flags(&GOOD.replacen("-01", "-ff", 1)), 3);
    assert_eq!(flags(&GOOD.replacen("-01", "-00", 1)), 0);
    assert_eq!(TraceFlags(3).sampled(false).byte(), 2);
}

#[test]
fn a_tracestate_that_cannot_be_understood_is_dropped_and_the_trace_goes_on() {
    let state = |line: &str| context(&[("traceparent", GOOD), ("tracestate", line)]).unwrap().state;
    for sound in ["a=1", "a=1,b=2", "0a-_*/=x", "1t@v=x", "a= x", "z=!~"] {
        assert_eq!(state(sound).as_deref(), Some(sound));
    }
    for broken in ["a", "a=", "=1", "A=1", "a=1=2", "a=1,a=2", "a@=1", "@a=1", "a@0=1", "a@b@c=1", "a =1", "a=ß", ""] {
        assert_eq!(state(broken), None, "{broken}");
    }
    let many = |count: usize| (0..count).map(|number| format!("k{number}=1")).collect::<Vec<_>>().join(",");
    assert!(state(&many(32)).is_some());
    assert_eq!(state(&many(33)), None);
    assert!(state(&format!("{}=1", "k".repeat(256))).is_some());
    assert_eq!(state(&format!("{}=1", "k".repeat(257))), None);
    assert!(state(&format!("{}@{}=1", "t".repeat(241), "v".repeat(14))).is_some());
    assert_eq!(state(&format!("{}@{}=1", "t".repeat(241), "v".repeat(15))), None);
    assert!(state(&format!("k={}", "v".repeat(256))).is_some());
    assert_eq!(state(&format!("k={}", "v".repeat(257))), None);
}

#[test]
fn new_identifiers_differ_and_are_never_zero() {
    let traces: HashSet<TraceId> = (0..1000).map(|_| TraceId::new()).collect();
    let spans: HashSet<SpanId> = (0..1000).map(|_| SpanId::new()).collect();
    assert_eq!((traces.len(), spans.len()), (1000, 1000));
    assert!(!traces.contains(&TraceId([0; 16])) && !spans.contains(&SpanId([0; 8])));
    let elsewhere = std::thread::spawn(TraceId::new).join().unwrap();
    assert!(!traces.contains(&elsewhere));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic_and_what_is_read_can_be_written(line in "[0-9a-f-]{50,60}|.{0,80}", state in ".{0,60}") {
        let mut bytes = Head::request("GET", "/");
        let wrote = bytes.append(TRACEPARENT, line.as_bytes()).and_then(|()| bytes.append(TRACESTATE, state.as_bytes()));
        if wrote.is_ok() && let Some(found) = TraceContext::of(&bytes) {
            let mut written = Head::request("GET", "/");
            found.write(&mut written);
            prop_assert_eq!(TraceContext::of(&written), Some(found));
        }
    }
}
