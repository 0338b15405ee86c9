//! Several backends behind one endpoint, several threads before it: who gets what, and that nothing is lost on the way.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;

use crate::support::{Bus, answering, definitions, post, settings};
use myelin_testkit::eventually;
use myelin_testkit::faulty::Backend;
use myelin_testkit::raw::Client;

const CLIENTS: usize = 4;

fn response(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// A bus with two threads that shares its requests out among some addresses.
fn balancing(members: &[SocketAddr], rules: &str) -> Bus {
    let member =
        |address: &SocketAddr| format!(r#"<endpoint><address uri="http://{address}/b">{rules}</address></endpoint>"#);
    let members: String = members.iter().map(member).collect();
    let artefacts = format!(
        r#"<proxy name="P"><target><endpoint><loadbalance>{members}</loadbalance></endpoint></target></proxy>"#
    );
    let mut settings = settings();
    settings.threads = 2;
    Bus::with(&definitions(&artefacts), settings)
}

/// Lets clients send requests beside each other, and counts the answers by body; all of them must be 200.
fn load(bus: &Bus, each: usize, body: &str, mut meanwhile: impl FnMut()) -> HashMap<String, usize> {
    let counts = Mutex::new(HashMap::new());
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = Client::connect(bus.address).unwrap();
                for _ in 0..each {
                    let answer = client.exchange(&post(body)).unwrap();
                    assert_eq!(answer.status, 200, "{}", answer.text());
                    *counts.lock().unwrap().entry(answer.text()).or_insert(0) += 1;
                }
            });
        }
        meanwhile();
    });
    counts.into_inner().unwrap()
}

#[test]
fn members_take_exact_turns_whichever_thread_serves() {
    let backends = ["one", "two", "three"].map(|name| answering(response(name)));
    let bus = balancing(&backends.each_ref().map(Backend::address), "");
    let counts = load(&bus, 75, "<a/>", || {});
    assert_eq!(counts.len(), 3);
    assert!(counts.values().all(|&count| count == 100), "{counts:?}");
}

#[test]
fn a_member_that_is_killed_under_load_loses_no_request_and_gets_its_share_again_when_it_is_back() {
    let [one, two] = ["one", "two"].map(|name| answering(response(name)));
    let (address, mut two) = (two.address(), Some(two));
    let rules = "<suspendOnFailure><initialDuration>200</initialDuration></suspendOnFailure>\
                 <markForSuspension><errorCodes>-1</errorCodes></markForSuspension>";
    let bus = balancing(&[one.address(), address], rules);
    // Larger than what the transport itself keeps to be sent again.
    let body = "x".repeat(100_000);
    let counts = load(&bus, 100, &body, || {
        std::thread::sleep(Duration::from_millis(50));
        drop(two.take());
    });
    assert_eq!(counts.values().sum::<usize>(), 100 * CLIENTS, "{counts:?}");
    assert!(counts["one"] > counts.get("two").copied().unwrap_or(0), "{counts:?}");

    let _back =
        Backend::listen(&address.to_string(), [myelin_testkit::faulty::Script::answering(response("two"))]).unwrap();
    eventually("it is tried again", || load(&bus, 2, "<a/>", || {}).contains_key("two"));
    let counts = load(&bus, 10, "<a/>", || {});
    assert_eq!(counts["one"], counts["two"]);
}
