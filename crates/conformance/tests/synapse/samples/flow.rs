//! Samples from 400: splitting and joining, calls, echo, templates, APIs.

use super::Sample;
use crate::client::{Request, get, order, quote, quotes};
use crate::stage::Stage;

pub(super) const SAMPLES: &[Sample] = &[
    Sample::own(400, include_str!("../own/400.xml"), split_and_joined),
    Sample::apache(430, called_out),
    Sample::apache(433, called_out),
    Sample::apache(440, echoed),
    Sample::own(750, include_str!("../own/750.xml"), templates_of_sequences),
    Sample::own(751, include_str!("../own/751.xml"), split_and_joined)
        .unsteady("Synapse joins as many answers as have come by then"),
    Sample::own(752, include_str!("../own/752.xml"), templates_of_endpoints),
    Sample::own(800, include_str!("../own/800.xml"), an_api),
    Sample::own(801, include_str!("../own/801.xml"), resources_by_method),
];

fn split_and_joined(stage: &mut Stage) {
    let symbols = ["IBM", "MSFT", "SUN", "ORCL"];
    let scene = stage.ask_for("four in one", &quotes(&symbols).at("/services/SplitAggregateProxy"), 4);
    let body = scene.answer.part("body");
    let all = symbols.iter().all(|symbol| body.contains(&format!("symbol>{symbol}</")));
    stage.expect(scene.answer.part("status") == "200" && all, "the client gets all quotes in one answer");
    stage.expect_received(&scene, 9000, 4);
}

fn called_out(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM").addressed("http://localhost:8280/"));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
}

fn echoed(stage: &mut Stage) {
    let request = Request {
        method: "POST",
        target: "/services/EchoService".to_owned(),
        headers: vec![("Content-Type".to_owned(), "application/xml".to_owned())],
        body: "<test>foo</test>".to_owned(),
    };
    let scene = stage.ask("plain", &request);
    stage.expect(scene.answer.part("body") == "<test>foo</test>", "the payload comes back");
}

fn templates_of_sequences(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM").at("/services/StockQuoteProxy"));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
}

fn templates_of_endpoints(stage: &mut Stage) {
    let mut reached = std::collections::BTreeSet::new();
    for name in ["1", "2", "3", "4"] {
        let scene = stage.ask(name, &quote("IBM"));
        stage.expect_quote(&scene, "IBM");
        reached.extend(scene.received.keys().copied());
    }
    stage.expect(reached == [9001, 9002].into(), "both endpoints made from the template are used");
}

fn an_api(stage: &mut Stage) {
    let scene = stage.ask("order", &order("IBM").at("/stockquote/order"));
    stage.expect(scene.answer.part("status") == "202", "the order is accepted");
    stage.expect_received(&scene, 9000, 1);
    let scene = stage.ask("method", &get("/stockquote/order"));
    stage.expect(scene.answer.part("status") == "405", "another method is not allowed");
    let scene = stage.ask("path", &get("/stockquote/elsewhere"));
    stage.expect(scene.answer.part("status") == "404", "another path is not found");
}

fn resources_by_method(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM").at("/quotes/quote"));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
    let scene = stage.ask("echo", &get("/quotes/quote"));
    stage.expect_received(&scene, 9000, 0);
}
