//! How a target changed over all cells of a scenario: many cells together show what one cell hides in its noise.

use serde::Serialize;

use crate::report::figures::{Figures, RunFigures};
use crate::report::measure::Measure;
use crate::statistics::{holm, welch};

/// One measure of a target over all cells of a group that both runs have.
#[derive(Debug, Serialize)]
pub(super) struct Overall {
    pub(super) group: String,
    pub(super) target: String,
    pub(super) measure: &'static str,
    /// Cells that both runs have in every round.
    pub(super) cells: usize,
    /// The geometric mean of the second run over that of the first.
    pub(super) ratio: f64,
    /// The ends of its 95 % confidence interval; these and what follows need two rounds in each run.
    pub(super) ratio_low: Option<f64>,
    pub(super) ratio_high: Option<f64>,
    /// Welch's t-test; each round gives one value, the mean of the logarithms over the cells.
    pub(super) p_value: Option<f64>,
    /// The p-value after Holm's correction for all of these.
    pub(super) p_value_corrected: Option<f64>,
    #[serde(skip)]
    pub(super) of: Measure,
}

/// What is known of each target in each group of cells, by each measure.
pub(super) fn overall(before: &RunFigures, after: &RunFigures) -> Vec<Overall> {
    let mut all = Vec::new();
    for group in &before.groups {
        let Some(other) = after.groups.iter().find(|other| other.title == group.title) else { continue };
        let targets = group.cells.first().map(|cell| cell.targets.as_slice()).unwrap_or_default();
        for target in targets.iter().map(|figures| figures.target.as_str()) {
            let cells: Vec<(&Figures, &Figures)> = group
                .cells
                .iter()
                .filter_map(|cell| {
                    let second = other.cells.iter().find(|second| second.cell == cell.cell)?;
                    let of_target = |all: &&Figures| all.target == target;
                    Some((cell.targets.iter().find(of_target)?, second.targets.iter().find(of_target)?))
                })
                .collect();
            let rounds = (before.run.rounds, after.run.rounds);
            let parts = Measure::COMPARED.into_iter().filter_map(|of| part(&cells, rounds, of));
            all.extend(parts.map(|part| Overall { group: group.title.clone(), target: target.to_owned(), ..part }));
        }
    }
    let tested: Vec<usize> = (0..all.len()).filter(|&index| all[index].p_value.is_some()).collect();
    let p_values: Vec<f64> = tested.iter().filter_map(|&index| all[index].p_value).collect();
    for (index, corrected) in tested.into_iter().zip(holm(&p_values)) {
        all[index].p_value_corrected = Some(corrected);
    }
    all
}

/// The change of one measure; names are filled in by the caller.
fn part(cells: &[(&Figures, &Figures)], rounds: (usize, usize), of: Measure) -> Option<Overall> {
    let whole = cells
        .iter()
        .filter_map(|(first, second)| Some((first.all_rounds(of, rounds.0)?, second.all_rounds(of, rounds.1)?)));
    let (first, second): (Vec<Vec<f64>>, Vec<Vec<f64>>) = whole.unzip();
    if first.is_empty() || rounds.0 == 0 || rounds.1 == 0 {
        return None;
    }
    let by_round = |cells: &[Vec<f64>], rounds: usize| -> Vec<f64> {
        (0..rounds).map(|round| cells.iter().map(|cell| cell[round].ln()).sum::<f64>() / cells.len() as f64).collect()
    };
    let (first_rounds, second_rounds) = (by_round(&first, rounds.0), by_round(&second, rounds.1));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let test = welch(&second_rounds, &first_rounds);
    Some(Overall {
        group: String::new(),
        target: String::new(),
        measure: of.name(),
        cells: first.len(),
        ratio: (mean(&second_rounds) - mean(&first_rounds)).exp(),
        ratio_low: test.map(|test| test.low.exp()),
        ratio_high: test.map(|test| test.high.exp()),
        p_value: test.map(|test| test.p_value),
        p_value_corrected: None,
        of,
    })
}
