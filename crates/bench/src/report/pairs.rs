//! Whether two targets of a run really differ: the paired t-test over its rounds.
//!
//! The test is done on logarithms, so that a difference is a ratio and cells of all sizes count alike: each round gives
//! one pair, the means of the logarithms over all cells. What comes out is what is sure on this machine and in these
//! cells; that holds for rounds, which noise makes differ, and says nothing of cells that nobody measured.

use serde::Serialize;

use super::figures::CellFigures;
use super::measure::{Measure, digits};
use crate::statistics::{holm, paired};

/// Below this a difference is called real.
pub(super) const SIGNIFICANT: f64 = 0.05;

/// How two targets compare by one measure, over the cells that both did.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The name of the measure.
    pub measure: &'static str,
    /// One of the two targets.
    pub left: String,
    /// The other one.
    pub right: String,
    /// Cells that both did in every round.
    pub cells: usize,
    /// Those in which the left one's mean is the better.
    pub cells_left_is_better: usize,
    /// Rounds of the run.
    pub rounds: usize,
    /// Geometric mean over cells and rounds, in the units of CSV.
    pub left_mean: f64,
    /// The same of the right one.
    pub right_mean: f64,
    /// The left mean less the right one.
    pub difference: f64,
    /// The left mean over the right one.
    pub ratio: f64,
    /// The ends of the ratio's 95 % confidence interval; these and what follows need two rounds.
    pub ratio_low: Option<f64>,
    /// The upper end.
    pub ratio_high: Option<f64>,
    /// Cohen's d of the paired logarithms.
    pub effect_size: Option<f64>,
    /// How likely equals would differ as much, by the paired t-test.
    pub p_value: Option<f64>,
    /// The p-value after Holm's correction for all comparisons of this group of cells.
    pub p_value_corrected: Option<f64>,
    /// The comparison as a plain sentence.
    pub sentence: String,
    /// The measure.
    #[serde(skip)]
    pub of: Measure,
}

/// All comparisons of a group of cells: each pair of targets by each measure, where both have figures.
pub(super) fn comparisons(cells: &[CellFigures], targets: &[String], rounds: usize) -> Vec<Comparison> {
    let mut all = Vec::new();
    for left in 0..targets.len() {
        for right in left + 1..targets.len() {
            all.extend(
                Measure::COMPARED.into_iter().filter_map(|of| Comparison::new(cells, (left, right), of, rounds)),
            );
        }
    }
    let tested: Vec<usize> = (0..all.len()).filter(|&index| all[index].p_value.is_some()).collect();
    let p_values: Vec<f64> = tested.iter().filter_map(|&index| all[index].p_value).collect();
    for (index, corrected) in tested.into_iter().zip(holm(&p_values)) {
        all[index].p_value_corrected = Some(corrected);
    }
    for comparison in &mut all {
        comparison.sentence = comparison.told();
    }
    all
}

impl Comparison {
    fn new(cells: &[CellFigures], (left, right): (usize, usize), of: Measure, rounds: usize) -> Option<Comparison> {
        // For each cell the logarithms of all rounds.
        let logarithms = |cell: &CellFigures, target: usize| -> Option<Vec<f64>> {
            let values = cell.targets[target].all_rounds(of, rounds)?;
            Some(values.into_iter().map(f64::ln).collect())
        };
        let both = cells.iter().filter_map(|cell| Some((logarithms(cell, left)?, logarithms(cell, right)?)));
        let (left_cells, right_cells): (Vec<Vec<f64>>, Vec<Vec<f64>>) = both.unzip();
        if left_cells.is_empty() || rounds == 0 {
            return None;
        }
        let by_round = |cells: &[Vec<f64>]| -> Vec<f64> {
            (0..rounds).map(|round| mean(cells.iter().map(|cell| cell[round]))).collect()
        };
        let (left_rounds, right_rounds) = (by_round(&left_cells), by_round(&right_cells));
        let (left_mean, right_mean) =
            (mean(left_rounds.iter().copied()).exp(), mean(right_rounds.iter().copied()).exp());
        let is_better = |(left, right): &(&Vec<f64>, &Vec<f64>)| {
            let difference = mean(left.iter().copied()) - mean(right.iter().copied());
            if of.is_cost() { difference < 0.0 } else { difference > 0.0 }
        };
        let test = paired(&left_rounds, &right_rounds);
        let targets = &cells.first()?.targets;
        Some(Comparison {
            measure: of.name(),
            left: targets[left].target.clone(),
            right: targets[right].target.clone(),
            cells: left_cells.len(),
            cells_left_is_better: left_cells.iter().zip(&right_cells).filter(is_better).count(),
            rounds,
            left_mean,
            right_mean,
            difference: left_mean - right_mean,
            ratio: left_mean / right_mean,
            ratio_low: test.map(|test| test.low.exp()),
            ratio_high: test.map(|test| test.high.exp()),
            effect_size: test.and_then(|test| test.effect_size),
            p_value: test.map(|test| test.p_value),
            p_value_corrected: None,
            sentence: String::new(),
            of,
        })
    }

    /// Whether the difference is more than chance, after correction.
    pub fn is_real(&self) -> bool {
        self.p_value_corrected.is_some_and(|p| p < SIGNIFICANT)
    }

    /// Whether the left target has the better mean.
    pub fn left_is_better(&self) -> bool {
        if self.of.is_cost() { self.ratio < 1.0 } else { self.ratio > 1.0 }
    }

    /// The comparison as a plain sentence, with the better one first.
    fn told(&self) -> String {
        if self.left_mean == self.right_mean {
            return format!("{} and {} do not differ in {}.", self.left, self.right, self.of.words());
        }
        let (better, worse) = if self.left_is_better() { (&self.left, &self.right) } else { (&self.right, &self.left) };
        let interval = self.ratio_low.zip(self.ratio_high);
        format!("{}; {}.", extent(self.of, better, worse, (self.ratio, interval)), self.verdict())
    }

    fn verdict(&self) -> String {
        match self.p_value_corrected {
            None => "one round cannot tell whether that is chance".to_owned(),
            Some(p) if p < SIGNIFICANT => format!("the difference is real ({})", p_words(p)),
            Some(p) => format!("that may be chance ({})", p_words(p)),
        }
    }
}

/// How far the better of two targets is ahead, in words: by their ratio and its confidence interval.
fn extent(of: Measure, better: &str, worse: &str, (ratio, interval): (f64, Option<(f64, f64)>)) -> String {
    // The larger figure over the smaller one, in either direction.
    let upright = |(low, high): (f64, f64)| if ratio < 1.0 { (1.0 / high, 1.0 / low) } else { (low, high) };
    let factor = ratio.max(1.0 / ratio);
    let is_close = factor < 2.0;
    let percent = |factor: f64| if of.is_cost() { (1.0 - 1.0 / factor) * 100.0 } else { (factor - 1.0) * 100.0 };
    let shown = |factor: f64| match is_close {
        true if percent(factor).abs() < 9.95 => format!("{:.1}", percent(factor)),
        true => format!("{:.0}", percent(factor)),
        false => digits(factor),
    };
    let unit = if is_close { " %" } else { "" };
    let interval = interval.map(upright).map(|(low, high)| format!(" ({} to {}{unit})", shown(low), shown(high)));
    let (extent, interval) = (format!("{}{unit}", shown(factor)), interval.unwrap_or_default());
    match of {
        Measure::Cpu if is_close => format!("{better} takes {extent}{interval} less CPU per request than {worse}"),
        Measure::Cpu => format!("{worse} takes {extent}{interval} times the CPU per request of {better}"),
        Measure::Rate if is_close => format!("{better} answers {extent}{interval} more requests/s than {worse}"),
        Measure::Rate => format!("{better} answers {extent}{interval} times the requests/s of {worse}"),
        _ if is_close => format!("the {} of {better} is {extent}{interval} shorter than that of {worse}", of.words()),
        _ => format!("the {} of {worse} is {extent}{interval} times that of {better}", of.words()),
    }
}

/// A p-value as people write it.
pub(super) fn p_words(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}
