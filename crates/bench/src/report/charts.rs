//! The figures as the script of the page takes them: numbers in arrays, as short as they can be.

use serde_json::{Value, json};

use super::figures::{Figures, Group, RunFigures, Standing};
use super::measure::Measure;

/// What charts show; the script finds each by its name.
const SHOWN: [Measure; 10] = [
    Measure::Cpu,
    Measure::OwnCost,
    Measure::Rate,
    Measure::Bandwidth,
    Measure::P50,
    Measure::P90,
    Measure::P99,
    Measure::P999,
    Measure::MaxLatency,
    Measure::PeakMemory,
];

/// All figures that charts show, as JSON that may stand in an element `script`.
///
/// Shape: `{measures, runs: [{targets, groups: [{open, cells: [[size, connections, rate, [values of a target…]…]]}]}]}`;
/// a target without figures is `null`.
/// Units: those of the headings of tables.
pub(super) fn data(runs: &[RunFigures]) -> String {
    let runs: Vec<Value> = runs
        .iter()
        .map(|run| {
            let first = run.groups.first().and_then(|group| group.cells.first());
            let targets: Vec<&str> =
                first.iter().flat_map(|cell| &cell.targets).map(|figures| figures.target.as_str()).collect();
            json!({ "targets": targets, "groups": run.groups.iter().map(group).collect::<Vec<Value>>() })
        })
        .collect();
    let text = json!({ "measures": SHOWN.map(Measure::name), "runs": runs }).to_string();
    // A name such as `</script>` must not end the element.
    text.replace('<', "\\u003c")
}

fn group(group: &Group) -> Value {
    let cells = group.cells.iter().map(|cell| {
        let targets: Vec<Value> = cell.targets.iter().map(|figures| values(figures, group.open_loop)).collect();
        json!([cell.cell.size_bytes, cell.cell.connections, cell.cell.rate, targets])
    });
    json!({ "open": group.open_loop, "cells": cells.collect::<Vec<Value>>() })
}

/// A target that fails requests stands in no chart, but for those against offered load: there it shows the knee.
fn values(figures: &Figures, open_loop: bool) -> Value {
    let is_drawn = match figures.standing {
        Standing::Measured => true,
        Standing::Failing => open_loop && figures.rounds > 0,
        Standing::NotMeasured | Standing::Trouble(_) => false,
    };
    if !is_drawn {
        return Value::Null;
    }
    let value = |measure: Measure| figures.median(measure).map(|value| rounded(value * measure.scale()));
    json!(SHOWN.map(value))
}

/// Four digits are more than any chart shows.
fn rounded(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let places = 3 - value.abs().log10().floor() as i32;
    let power = 10f64.powi(places.abs());
    // Dividing by a whole power of ten gives the nearest number, which is written with few digits.
    if places >= 0 { (value * power).round() / power } else { (value / power).round() * power }
}
