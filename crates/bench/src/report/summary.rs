//! What a run says, in a few plain sentences.

use std::collections::BTreeMap;

use serde::Serialize;

use super::figures::{Figures, Group, RunFigures, Standing};
use super::measure::Measure;
use super::pairs::Comparison;

/// Targets that others are measured by, as `myelin bench run` calls them: they are no competitors.
const YARDSTICKS: [&str; 3] = ["relay", "backend", "direct"];

/// What is said of a group of cells.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// What is done, and in how many cells.
    pub title: String,
    /// Who is best by each measure, and by how much.
    pub sentences: Vec<String>,
    /// Sentences about targets that did not do what they should.
    pub warnings: Vec<String>,
}

/// What is said of each group of a run.
pub fn summaries(run: &RunFigures) -> Vec<Summary> {
    run.groups.iter().map(|group| summary(group, run.run.rounds)).collect()
}

fn summary(group: &Group, rounds: usize) -> Summary {
    // At a given rate every target that keeps up answers as many requests.
    let measures: &[Measure] =
        if group.open_loop { &[Measure::Cpu, Measure::P99] } else { &[Measure::Cpu, Measure::Rate, Measure::P99] };
    let mut sentences: Vec<String> = measures.iter().filter_map(|&measure| best(group, measure)).collect();
    if sentences.is_empty() {
        sentences.push(format!(
            "Nothing can be compared: no two targets were measured without trouble in all {rounds} rounds of a cell."
        ));
    }
    let count = group.cells.len();
    let title = format!("{} ({count} {})", group.title, if count == 1 { "cell" } else { "cells" });
    Summary { title, sentences, warnings: warnings(group) }
}

/// Who is best by a measure, and how far ahead of the next one.
fn best(group: &Group, of: Measure) -> Option<String> {
    let all: Vec<&Comparison> = group.comparisons.iter().filter(|comparison| comparison.of == of).collect();
    let both_compete = |it: &&Comparison| is_competitor(&it.left) && is_competitor(&it.right);
    let competitors: Vec<&Comparison> = all.iter().copied().filter(both_compete).collect();
    // One competitor alone is held against each yardstick.
    let alone = all.iter().filter(|it| is_competitor(&it.left) != is_competitor(&it.right));
    let alone: Vec<String> = alone.map(|it| capitalised(&it.sentence)).collect();
    if competitors.is_empty() && !alone.is_empty() {
        return Some(format!("{}: {}", of.words(), alone.join(" ")));
    }
    let comparisons = if competitors.is_empty() { all } else { competitors };
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    for comparison in &comparisons {
        let (left, right) = (comparison.left.as_str(), comparison.right.as_str());
        *wins.entry(left).or_default() += usize::from(comparison.left_is_better());
        *wins.entry(right).or_default() += usize::from(!comparison.left_is_better());
    }
    let mut ranking: Vec<(&str, usize)> = wins.into_iter().collect();
    ranking.sort_by_key(|(_, wins)| std::cmp::Reverse(*wins));
    let (best, next) = (ranking.first()?.0, ranking.get(1)?.0);
    let between = |comparison: &&&Comparison| {
        [comparison.left.as_str(), comparison.right.as_str()].iter().all(|name| [best, next].contains(name))
    };
    let lead = match of {
        Measure::Cpu => "Least CPU",
        Measure::Rate => "Most requests/s",
        _ => "Shortest p99",
    };
    let sentence = &comparisons.iter().find(between)?.sentence;
    let others = comparisons.iter().filter(|comparison| comparison.left == best || comparison.right == best);
    let unsure = others.filter(|comparison| !comparison.is_real()).count();
    let of_others = match (ranking.len() - 1, unsure) {
        (1, _) => String::new(),
        (count, 0) => format!(" It is really ahead of all {count} others."),
        (count, unsure) => format!(" Of its differences from the {count} others {unsure} may be chance."),
    };
    Some(format!("{lead}: {best}. {}{of_others}", capitalised(sentence)))
}

fn is_competitor(target: &str) -> bool {
    !YARDSTICKS.contains(&target)
}

/// A sentence about each target and each kind of trouble that it was in.
fn warnings(group: &Group) -> Vec<String> {
    let mut found: BTreeMap<(&str, &'static str), usize> = BTreeMap::new();
    let all = group.cells.iter().flat_map(|cell| &cell.targets);
    for Figures { target, standing, .. } in all {
        if *standing != Standing::Measured && *standing != Standing::NotMeasured {
            *found.entry((target, standing.words())).or_default() += 1;
        }
    }
    let told = |((target, words), count): ((&str, &str), usize)| {
        let of = group.cells.len();
        format!("{target}: {words} in {count} of {of} {}; not compared there.", if of == 1 { "cell" } else { "cells" })
    };
    found.into_iter().map(told).collect()
}

/// Names of targets stay as they are; only what begins with an article does not begin a sentence yet.
fn capitalised(sentence: &str) -> String {
    sentence.strip_prefix("the ").map_or_else(|| sentence.to_owned(), |rest| format!("The {rest}"))
}
