//! Samples 360 to 363: what is looked up in a database, and written into it. Theirs is Derby, ours SQLite.

use super::Sample;
use crate::client::quote;
use crate::stage::Stage;

/// Why Synapse cannot be asked the same.
const DRIVER: &str = "the database is SQLite, for which Synapse has no driver";

pub(super) const SAMPLES: &[Sample] = &[
    Sample::own(360, include_str!("../own/360.xml"), looked_up).unsteady(DRIVER),
    Sample::own(361, include_str!("../own/361.xml"), reported).unsteady(DRIVER),
    Sample::own(362, include_str!("../own/362.xml"), reported_and_looked_up).unsteady(DRIVER),
    Sample::own(363, include_str!("../own/363.xml"), over_named_pools).unsteady(DRIVER),
];

/// Makes the database with three companies.
fn set_up(stage: &mut Stage) {
    let scene = stage.ask("set up", &quote("IBM").at("/services/Setup"));
    stage.expect(scene.answer.part("status") == "200", "the database is set up");
}

fn looked_up(stage: &mut Stage) {
    set_up(stage);
    routed(stage);
}

/// Companies of the database reach the service, others get a fault.
fn routed(stage: &mut Stage) {
    for symbol in ["IBM", "MSFT"] {
        let scene = stage.ask(symbol, &quote(symbol));
        stage.expect_quote(&scene, symbol);
        stage.expect_received(&scene, 9000, 1);
    }
    let scene = stage.ask("unknown", &quote("ORCL"));
    let refused = scene.answer.part("body").contains("** Unrecognized Company ID **");
    stage.expect(scene.answer.part("status") == "500" && refused, "the client gets the fault");
    stage.expect_received(&scene, 9000, 0);
}

fn reported(stage: &mut Stage) {
    let scene = stage.ask("without a table", &quote("IBM"));
    stage.expect(scene.answer.part("status") == "500", "what cannot be written is a fault");
    set_up(stage);
    let scene = stage.ask("quote", &quote("IBM"));
    stage.expect_quote(&scene, "IBM");
}

fn reported_and_looked_up(stage: &mut Stage) {
    set_up(stage);
    priced(stage);
}

/// What was read from the database is the price that was written.
fn priced(stage: &mut Stage) {
    let scene = stage.ask("quote", &quote("IBM"));
    stage.expect_quote(&scene, "IBM");
    let body = scene.answer.part("body").to_owned();
    let price = |name: &str| -> Option<f64> {
        let (_, behind) = body.split_once(&format!("{name}>"))?;
        behind.split('<').next()?.parse().ok()
    };
    let (written, read) = (price("last"), price("name"));
    stage.expect(written.is_some() && written == read, &format!("the price comes back: {written:?}, {read:?}"));
}

fn over_named_pools(stage: &mut Stage) {
    set_up(stage);
    routed(stage);
    priced(stage);
}
