//! `bars.toml`: what must be reached, in the order of BENCHMARK.md §3, and by which figures each bar is judged.

use anyhow::{Result, bail};
use clap::ValueEnum;
use myelin_bench::comparison::Scenario;
use myelin_bench::report::Measure;
use myelin_bench::units;
use serde::Deserialize;

/// All rows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bars {
    #[serde(default, rename = "row")]
    pub(super) rows: Vec<Row>,
}

/// A row of BENCHMARK.md §3.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) scenario: String,
    /// Why a bar of it is missed; shown only then.
    pub(super) why_missed: Option<String>,
    #[serde(rename = "bar")]
    pub(super) bars: Vec<Bar>,
}

/// One bar, and where its figures are found: of several sources the first that has any counts.
#[derive(Deserialize)]
#[serde(try_from = "BarAsWritten")]
pub(super) struct Bar {
    pub(super) words: String,
    /// `None` where nothing can be measured yet.
    pub(super) bound: Option<Bound>,
    pub(super) cells: Option<Cells>,
    pub(super) instructions: Option<Instructions>,
    pub(super) recorded: Option<RecordedFigures>,
    /// Why it is not measured; shown only then.
    pub(super) not_measured: Option<String>,
}

/// What a figure must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Bound {
    AtMost(f64),
    AtLeast(f64),
    /// As `AtMost`, and not equal.
    Below(f64),
}

impl Bound {
    pub(super) fn limit(self) -> f64 {
        match self {
            Bound::AtMost(limit) | Bound::AtLeast(limit) | Bound::Below(limit) => limit,
        }
    }

    pub(super) fn is_kept_by(self, value: f64) -> bool {
        match self {
            Bound::AtMost(limit) => value <= limit,
            Bound::AtLeast(limit) => value >= limit,
            Bound::Below(limit) => value < limit,
        }
    }

    /// The one of two figures that is farther on the wrong side.
    pub(super) fn is_worse(self, value: f64, other: f64) -> bool {
        match self {
            Bound::AtMost(_) | Bound::Below(_) => value > other,
            Bound::AtLeast(_) => value < other,
        }
    }
}

/// Figures of runs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cells {
    pub(super) measure: Quantity,
    /// The targets that ours is divided by, one after the other; without them the figure itself is judged.
    #[serde(default)]
    pub(super) over: Vec<String>,
    /// Every scenario, size and number of connections that runs have, where none is named.
    #[serde(default)]
    pub(super) scenarios: Vec<ScenarioName>,
    #[serde(default)]
    pub(super) sizes: Vec<Size>,
    #[serde(default)]
    pub(super) connections: Vec<usize>,
    /// The cells by HTTPS, instead of those without.
    #[serde(default)]
    pub(super) tls: bool,
    /// The cells in which every target wrote an access log, instead of those without.
    #[serde(default)]
    pub(super) access_log: bool,
    /// The state of the machine: runs of the other state do not count.
    #[serde(default)]
    pub(super) machine: MachineState,
}

/// What others did on the machine while a run was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MachineState {
    #[default]
    Quiet,
    Busy,
}

/// What is judged of a target in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) enum Quantity {
    Measured(Measure),
    Failures,
    StartSeconds,
}

/// Instructions a request, of `docs/instructions.md`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Instructions {
    pub(super) scenarios: Vec<ScenarioName>,
    pub(super) sizes: Vec<Size>,
    /// Only what comes on top of this scenario's counts.
    pub(super) beyond: Option<ScenarioName>,
}

/// Figures of a table of `recorded.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedFigures {
    /// The table's title.
    pub(super) table: String,
    pub(super) columns: Vec<String>,
    /// The column that the others are divided by; without it the figures themselves are judged.
    pub(super) over: Option<String>,
    /// What a row has to have in its columns of words; all rows where none is named.
    #[serde(default)]
    pub(super) rows: std::collections::BTreeMap<String, Vec<String>>,
}

/// The name of a scenario that there is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct ScenarioName(pub(super) String);

/// A size in bytes, written as `500` or `10K`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Size(pub(super) u64);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BarAsWritten {
    words: String,
    at_most: Option<f64>,
    at_least: Option<f64>,
    below: Option<f64>,
    cells: Option<Cells>,
    instructions: Option<Instructions>,
    recorded: Option<RecordedFigures>,
    not_measured: Option<String>,
}

impl TryFrom<BarAsWritten> for Bar {
    type Error = anyhow::Error;

    fn try_from(written: BarAsWritten) -> Result<Bar> {
        let BarAsWritten { words, at_most, at_least, below, cells, instructions, recorded, not_measured } = written;
        let bounds = [at_most.map(Bound::AtMost), at_least.map(Bound::AtLeast), below.map(Bound::Below)];
        let bounds: Vec<Bound> = bounds.into_iter().flatten().collect();
        let has_source = cells.is_some() || instructions.is_some() || recorded.is_some();
        let bound = match bounds[..] {
            [bound] if has_source => Some(bound),
            [] if !has_source && not_measured.is_some() => None,
            [] if !has_source => bail!("the bar {words:?} needs `cells`, `instructions`, `recorded` or `not_measured`"),
            [] | [_, _, ..] => bail!("the bar {words:?} needs one of `at_most`, `at_least` and `below`"),
            [_] => bail!("the bar {words:?} has a bound and no figures: `cells`, `instructions` or `recorded`"),
        };
        Ok(Bar { words, bound, cells, instructions, recorded, not_measured })
    }
}

impl TryFrom<String> for Quantity {
    type Error = anyhow::Error;

    fn try_from(name: String) -> Result<Quantity> {
        match name.as_str() {
            "failures" => return Ok(Quantity::Failures),
            "start_seconds" => return Ok(Quantity::StartSeconds),
            _ => {}
        }
        let measure = Measure::ALL.into_iter().find(|measure| measure.name() == name);
        let known: Vec<&str> = Measure::ALL.iter().map(|measure| measure.name()).collect();
        let Some(measure) = measure else {
            bail!("there is no measure {name:?}; there are failures, start_seconds, {}", known.join(", "));
        };
        Ok(Quantity::Measured(measure))
    }
}

impl TryFrom<String> for ScenarioName {
    type Error = anyhow::Error;

    fn try_from(name: String) -> Result<ScenarioName> {
        if Scenario::value_variants().iter().all(|scenario| scenario.name() != name) {
            bail!("there is no scenario {name:?}");
        }
        Ok(ScenarioName(name))
    }
}

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Size, String> {
        units::size(&text).map(Size)
    }
}
