//! Samples 50 to 99: kinds of endpoints, load balancing, failover, sessions, recipients.

use super::Sample;
use crate::client::{balanced, order, plain_quote, quote};
use crate::stage::Stage;

pub(super) const SAMPLES: &[Sample] = &[
    Sample::own(50, include_str!("../own/050.xml"), plain_to_soap),
    Sample::apache(52, round_robin),
    Sample::own(53, include_str!("../own/053.xml"), failover).unsteady("Synapse sometimes lets the client hang"),
    Sample::own(54, include_str!("../own/054.xml"), sessions_stick),
    Sample::apache(55, sessions_stick_to_failover_groups),
    Sample::own(56, include_str!("../own/056.xml"), endpoint_of_a_description),
    Sample::apache(58, round_robin_of_members),
    Sample::own(59, include_str!("../own/059.xml"), weights),
    Sample::own(61, include_str!("../own/061.xml"), recipients),
    Sample::apache(62, recipients_worked_out),
];

fn plain_to_soap(stage: &mut Stage) {
    let scene = stage.ask("plain quote", &plain_quote("IBM"));
    stage.expect(scene.answer.part("body").contains("getQuoteResponse"), "the client gets a quote");
    let got = scene.received.get(&9000).and_then(|all| all.first());
    let soap = got.is_some_and(|seen| seen.part("media type") == "text/xml" && seen.part("body").contains("Envelope"));
    stage.expect(soap, "the service gets SOAP 1.1");
}

/// Asks so often, each time as the guide's client, and says which servers answered.
fn servers(stage: &mut Stage, count: usize, path: &str) -> Vec<String> {
    let names = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"];
    names.iter().take(count).map(|name| server(stage, name, &balanced().at(path))).collect()
}

fn server(stage: &mut Stage, name: &str, request: &crate::client::Request) -> String {
    let scene = stage.ask(name, request);
    let body = scene.answer.part("body");
    let from = body.find("MyServer").unwrap_or(body.len());
    let server: String = body[from..].chars().take_while(|letter| letter.is_ascii_alphanumeric()).collect();
    stage.expect(!server.is_empty(), "a server answers");
    server
}

fn round_robin(stage: &mut Stage) {
    let all = servers(stage, 6, "/");
    stage.expect(all[..3] == all[3..], "the servers take turns");
    let different: std::collections::BTreeSet<_> = all.iter().collect();
    stage.expect(different.len() == 3, "all three servers answer");
    stage.stop(9001);
    let rest = servers(stage, 6, "/");
    stage.expect(!rest.contains(&"MyServer1".to_owned()), "two servers go on when one is down");
}

fn failover(stage: &mut Stage) {
    let first = servers(stage, 2, "/");
    stage.expect(first == ["MyServer1", "MyServer1"], "the first server answers as long as it is up");
    stage.stop(9001);
    let then = servers(stage, 2, "/");
    stage.expect(then == ["MyServer2", "MyServer2"], "then the second");
    stage.stop(9002);
    let last = servers(stage, 2, "/");
    stage.expect(last == ["MyServer3", "MyServer3"], "then the third");
    stage.stop(9003);
    let scene = stage.ask("none", &balanced());
    let told = scene.answer.part("body").contains("COULDN'T SEND THE MESSAGE TO THE SERVER.");
    stage.expect(told, "and the error handler answers when all are down");
}

/// A request of a session, as the client of the samples numbers them.
fn in_session(number: usize, path: &str) -> crate::client::Request {
    let block = format!(r#"<syn:ClientID xmlns:syn="http://ws.apache.org/ns/synapse">{number}</syn:ClientID>"#);
    balanced().block(&block).at(path)
}

/// Which server each of three sessions has, asked three times in turn.
pub(super) fn sessions(stage: &mut Stage, path: &str) -> Vec<Vec<String>> {
    let mut rounds = Vec::new();
    for round in 0..3 {
        let of = |stage: &mut Stage, session| {
            server(stage, &format!("session {session} round {round}"), &in_session(session, path))
        };
        rounds.push(vec![of(stage, 0), of(stage, 1), of(stage, 2)]);
    }
    rounds
}

fn sessions_stick(stage: &mut Stage) {
    let rounds = sessions(stage, "/");
    stage.expect(rounds[0] == rounds[1] && rounds[1] == rounds[2], "each session stays with its server");
    let different: std::collections::BTreeSet<_> = rounds[0].iter().collect();
    stage.expect(different.len() == 3, "sessions are spread over the servers");
}

fn sessions_stick_to_failover_groups(stage: &mut Stage) {
    let rounds = sessions(stage, "/");
    stage.expect(rounds[0] == rounds[1] && rounds[1] == rounds[2], "each session stays with its server");
    let spare = rounds.iter().flatten().any(|server| server == "MyServer2" || server == "MyServer4");
    stage.expect(!spare, "spare servers answer nobody");
    stage.stop(9001);
    let after = sessions(stage, "/");
    let moved = rounds[0].iter().zip(&after[0]);
    let right = moved
        .into_iter()
        .all(|(before, after)| if before == "MyServer1" { after == "MyServer2" } else { before == after });
    stage.expect(right, "sessions of a server that is down go to its spare");
}

fn endpoint_of_a_description(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM"));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
}

fn round_robin_of_members(stage: &mut Stage) {
    let all = servers(stage, 6, "/services/LBService1");
    stage.expect(all[..3] == all[3..], "the servers take turns");
    stage.stop(9001);
    let rest = servers(stage, 4, "/services/LBService1");
    stage.expect(!rest.contains(&"MyServer1".to_owned()), "two servers go on when one is down");
}

fn weights(stage: &mut Stage) {
    let all = servers(stage, 12, "/");
    let of = |name: &str| all.iter().filter(|server| *server == name).count();
    let shares = (of("MyServer1"), of("MyServer2"), of("MyServer3"));
    stage.expect(shares == (2, 4, 6), &format!("requests are shared 1 : 2 : 3, not {shares:?}"));
}

fn recipients(stage: &mut Stage) {
    let scene = stage.ask_for("order", &order("IBM"), 3);
    stage.expect(scene.answer.part("status") == "202", "the order is accepted");
    for port in [9001, 9002, 9003] {
        stage.expect_received(&scene, port, 1);
    }
}

fn recipients_worked_out(stage: &mut Stage) {
    let scene = stage.ask_for("quote", &quote("IBM"), 3);
    stage.expect(scene.answer.part("status") == "202", "the request is accepted");
    for port in [9001, 9002, 9003] {
        stage.expect_received(&scene, port, 1);
    }
}
