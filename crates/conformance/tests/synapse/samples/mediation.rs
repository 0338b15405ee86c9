//! Samples 0 to 49: message mediation, registry, local entries, faults.

use super::Sample;
use crate::client::{custom_quote, order, plain_quote, quote};
use crate::stage::Stage;

pub(super) const SAMPLES: &[Sample] = &[
    Sample::apache(0, messages_pass),
    Sample::own(1, include_str!("../own/001.xml"), routed_by_address),
    Sample::own(2, include_str!("../own/002.xml"), routed_by_content),
    Sample::apache(3, local_entries),
    Sample::own(4, include_str!("../own/004.xml"), faults_are_handled),
    Sample::apache(5, faults_are_made).unsteady("Synapse sometimes lets the client hang"),
    Sample::own(6, include_str!("../own/006.xml"), headers_are_set),
    Sample::own(8, include_str!("../own/008.xml"), stylesheets_transform),
    Sample::own(9, include_str!("../own/009.xml"), sequences_in_the_registry),
    Sample::own(10, include_str!("../own/010.xml"), endpoints_in_the_registry),
    Sample::apache(11, all_in_the_registry),
    Sample::own(12, include_str!("../own/012.xml"), one_way),
    Sample::own(13, include_str!("../own/013.xml"), two_channels_of_main),
    Sample::own(14, include_str!("../own/014.xml"), parts_are_local_entries),
    Sample::own(15, include_str!("../own/015.xml"), copies_and_enriches),
    Sample::own(16, include_str!("../own/016.xml"), keys_are_worked_out),
];

/// Where the clients' `-Daddurl` points to.
const SERVICE: &str = "http://localhost:9000/services/SimpleStockQuoteService";

fn messages_pass(stage: &mut Stage) {
    let scene = stage.ask("smart client", &quote("IBM").addressed(SERVICE));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
    let scene = stage.ask("proxy client", &quote("IBM").addressed(SERVICE).at(SERVICE));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
}

fn routed_by_address(stage: &mut Stage) {
    let scene = stage.ask("by address", &quote("IBM").at("/services/StockQuote"));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
    let scene = stage.ask("by content", &quote("MSFT").at("/somewhere"));
    stage.expect_quote(&scene, "MSFT");
}

fn routed_by_content(stage: &mut Stage) {
    for symbol in ["IBM", "MSFT", "SUN"] {
        let scene = stage.ask(symbol, &quote(symbol).addressed(SERVICE));
        stage.expect_quote(&scene, symbol);
    }
}

fn local_entries(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM").addressed(SERVICE));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
}

fn faults_are_handled(stage: &mut Stage) {
    let scene = stage.ask("IBM", &quote("IBM").addressed(SERVICE));
    stage.expect_quote(&scene, "IBM");
    for symbol in ["MSFT", "SUN"] {
        let scene = stage.ask(symbol, &quote(symbol).addressed(SERVICE));
        // The guide's client gets nothing; what it says of handlers shows in logs.
        stage.expect(scene.answer.part("status") != "200", "there is no quote");
        stage.expect_received(&scene, 9000, 0);
    }
}

fn faults_are_made(stage: &mut Stage) {
    for symbol in ["MSFT", "SUN"] {
        let scene = stage.ask(symbol, &quote(symbol).addressed(SERVICE));
        let body = scene.answer.part("body");
        let fault = body.contains("faultcode>") && body.contains("faultstring>");
        stage.expect(scene.answer.part("status") == "500" && fault, "the client gets the fault that was made");
    }
}

fn headers_are_set(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM"));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
}

fn stylesheets_transform(stage: &mut Stage) {
    let scene = stage.ask("custom quote", &custom_quote("IBM"));
    stage.expect_custom_quote(&scene);
}

fn sequences_in_the_registry(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM").addressed(SERVICE));
    stage.expect_quote(&scene, "IBM");
}

fn endpoints_in_the_registry(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM"));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
}

fn all_in_the_registry(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM").addressed(SERVICE));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
}

fn one_way(stage: &mut Stage) {
    let scene = stage.ask_for("order", &order("IBM").addressed(SERVICE), 1);
    stage.expect(scene.answer.part("status") == "202" && scene.answer.part("body").is_empty(), "the order is accepted");
    stage.expect_received(&scene, 9000, 1);
    let scene = stage.ask("plain", &plain_quote("IBM").at(SERVICE));
    stage.expect(scene.answer.part("body").contains("getQuoteResponse"), "the plain client gets its quote");
}

fn two_channels_of_main(stage: &mut Stage) {
    two_channels(stage, "/");
}

/// A quote by a service that replies on a connection of its own.
pub(super) fn two_channels(stage: &mut Stage, path: &str) {
    let scene = stage.ask("quote", &quote("IBM").at(path));
    stage.expect_quote(&scene, "IBM");
    let got = scene.received.get(&9000).and_then(|all| all.first()).map_or("", |seen| seen.part("body"));
    stage.expect(got.contains("MessageID") && got.contains("ReplyTo"), "the service is told where to reply");
}

fn parts_are_local_entries(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM"));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
}

fn copies_and_enriches(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("MSFT").addressed(SERVICE));
    stage.expect_quote(&scene, "IBM");
}

fn keys_are_worked_out(stage: &mut Stage) {
    let scene = stage.ask("fixed key", &quote("IBM").addressed(SERVICE));
    stage.expect_quote(&scene, "IBM");
}
