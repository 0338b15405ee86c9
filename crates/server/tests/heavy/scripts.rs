//! A script that does not end, or asks for too much, holds up nobody but the client who waits for it.

use std::time::{Duration, Instant};

use crate::support::{Bus, definitions, settings};
use myelin_testkit::raw;

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
    let _turn = crate::turn();
    let bus = bus("while (true) {}");
    let mut slow = raw::Client::connect(bus.address).unwrap();
    slow.send(&post("Slow")).unwrap();
    let start = Instant::now();
    let slow = std::thread::spawn(move || slow.answer().unwrap());
    // A thread that is held up would serve one request, after the other.
    let mut served = 0;
    while !slow.is_finished() {
        let answer = raw::exchange(bus.address, &post("Quick")).unwrap();
        assert_eq!((answer.status, answer.text().as_str()), (200, "{\"b\":1}"));
        served += 1;
    }
    let answer = slow.join().unwrap();
    assert_eq!(answer.status, 500, "{}", answer.text());
    assert!(start.elapsed() > Duration::from_millis(1_500), "the script ended at once");
    assert!(served > 10, "only {served} were served meanwhile");
}

#[test]
fn scripts_that_ask_for_too_much_are_faults_and_the_bus_serves_on() {
    let _turn = crate::turn();
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
