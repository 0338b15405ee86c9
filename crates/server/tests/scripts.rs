//! A script that does not end, or asks for too much, holds up nobody but the client who waits for it.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

mod support;

use std::time::{Duration, Instant};

use myelin_testkit::raw;
use support::{Bus, definitions, settings};

fn post(path: &str) -> Vec<u8> {
    format!(
        "POST /services/{path} HTTP/1.1\r\nHost: bus\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n\
         {{\"a\":1}}"
    )
    .into_bytes()
}

fn bus(script: &str) -> Bus {
    let configuration = definitions(&format!(
        r#"<proxy name="Slow"><target><inSequence>
            <script language="js"><![CDATA[{script}]]></script><respond/>
        </inSequence></target></proxy>
        <proxy name="Quick"><target><inSequence>
            <script language="js">mc.setPayloadJSON({{ b: mc.getPayloadJSON().a }})</script><respond/>
        </inSequence></target></proxy>"#
    ));
    Bus::with(&configuration, settings())
}

#[test]
fn the_thread_serves_on_while_a_script_runs_into_its_time_limit() {
    let bus = bus("while (true) {}");
    let mut slow = raw::Client::connect(bus.address).unwrap();
    slow.send(&post("Slow")).unwrap();
    let start = Instant::now();
    let mut longest = Duration::ZERO;
    while start.elapsed() < Duration::from_secs(1) {
        let before = Instant::now();
        let answer = raw::exchange(bus.address, &post("Quick")).unwrap();
        assert_eq!((answer.status, answer.text().as_str()), (200, "{\"b\":1}"));
        longest = longest.max(before.elapsed());
    }
    let answer = slow.answer().unwrap();
    assert_eq!(answer.status, 500, "{}", answer.text());
    assert!(start.elapsed() > Duration::from_millis(1_500), "the script ended at once");
    assert!(longest < Duration::from_millis(700), "somebody waited {longest:?}");
}

#[test]
fn scripts_that_ask_for_too_much_are_faults_and_the_bus_serves_on() {
    let bombs = [
        "var a = []; while (true) { a.push({ a: a.length }); }",
        "var s = 'x'; while (true) { s += s; }",
        "(function f() { f(); })()",
        "throw new Error('no')",
        "mc.setPayloadXML('<a>')",
    ];
    for bomb in bombs {
        let bus = bus(bomb);
        assert_eq!(raw::exchange(bus.address, &post("Slow")).unwrap().status, 500, "{bomb}");
        assert_eq!(raw::exchange(bus.address, &post("Quick")).unwrap().status, 200, "{bomb}");
    }
}
