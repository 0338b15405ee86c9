//! What stands between client and service: validation, tasks, scripts, throttling, caching, rewriting.

use super::Sample;
use crate::client::{custom_quote, quote};
use crate::stage::Stage;

/// Why Synapse cannot be asked the same: its scripts read XML another way.
const SCRIPTS: &str = "Rhino reads XML by E4X, and scripts here by XPath";

/// The same where a mediator is one of Synapse's extensions.
const EXTENSIONS: &str = "Synapse is built without its extensions here: throttle, cache";

pub(super) const SAMPLES: &[Sample] = &[
    Sample::apache(7, validated),
    Sample::apache(300, asked_by_a_task).unsteady("time decides which requests there are"),
    Sample::own(351, include_str!("../own/351.xml"), changed_by_scripts).unsteady(SCRIPTS),
    Sample::own(352, include_str!("../own/352.xml"), answered_by_a_script).unsteady(SCRIPTS),
    Sample::apache(370, throttled_by_concurrency).unsteady(EXTENSIONS),
    Sample::own(371, include_str!("../own/371.xml"), throttled_by_rate).unsteady(EXTENSIONS),
    Sample::own(372, include_str!("../own/372.xml"), throttled_by_rate).unsteady(EXTENSIONS),
    Sample::own(420, include_str!("../own/420.xml"), cached).unsteady(EXTENSIONS),
    Sample::apache(450, rewritten),
];

/// Where the clients' `-Daddurl` points to.
const SERVICE: &str = "http://localhost:9000/services/SimpleStockQuoteService";

fn validated(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM").addressed(SERVICE));
    let refused = scene.answer.part("body").contains("Invalid custom quote request");
    stage.expect(scene.answer.part("status") == "500" && refused, "the client gets the fault of the validation");
    stage.expect_received(&scene, 9000, 0);
}

fn asked_by_a_task(stage: &mut Stage) {
    let scene = stage.ask_for("beside the task", &quote("MSFT").addressed(SERVICE), 2);
    let received = scene.received.get(&9000).into_iter().flatten();
    let asked = received.filter(|seen| seen.part("body").contains("symbol>IBM<")).count();
    stage.expect(asked >= 1, "the task asks for its quote by itself");
}

fn changed_by_scripts(stage: &mut Stage) {
    let scene = stage.ask("custom quote", &custom_quote("IBM"));
    stage.expect_custom_quote(&scene);
}

fn answered_by_a_script(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM"));
    stage.expect_quote(&scene, "IBM");
    stage.expect(scene.answer.part("body").contains("99.9"), "the price is the script's");
    stage.expect_received(&scene, 9000, 0);
}

fn throttled_by_concurrency(stage: &mut Stage) {
    // One after the other, none is above what may go on at a time.
    for name in ["1", "2", "3"] {
        let scene = stage.ask(name, &quote("IBM"));
        stage.expect_quote(&scene, "IBM");
    }
}

fn throttled_by_rate(stage: &mut Stage) {
    for name in ["1", "2", "3", "4"] {
        let scene = stage.ask(name, &quote("IBM"));
        stage.expect_quote(&scene, "IBM");
    }
    let scene = stage.ask("one too many", &quote("IBM"));
    let denied = scene.answer.part("body").contains("**Access Denied**");
    stage.expect(scene.answer.part("status") == "500" && denied, "the fifth request is denied");
    stage.expect_received(&scene, 9000, 0);
}

fn cached(stage: &mut Stage) {
    let first = stage.ask("first", &quote("IBM"));
    stage.expect_quote(&first, "IBM");
    stage.expect_received(&first, 9000, 1);
    let second = stage.ask("second", &quote("IBM"));
    stage.expect(second.answer.part("body") == first.answer.part("body"), "the second answer is the first");
    stage.expect_received(&second, 9000, 0);
    let other = stage.ask("another symbol", &quote("MSFT"));
    stage.expect_received(&other, 9000, 1);
}

fn rewritten(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM").addressed("http://localhost:9000/soap/SimpleStockQuoteService"));
    stage.expect_quote(&scene, "IBM");
    stage.expect_received(&scene, 9000, 1);
}
