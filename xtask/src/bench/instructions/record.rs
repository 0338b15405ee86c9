//! `docs/instructions.md`: what a request took when it was last recorded.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use myelin_bench::comparison::Scenario;
use myelin_bench::units;

/// What the figures depend on besides our code.
const MADE_WITH: &str = "Counted with ";

/// The figures by scenario and size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// Compiler, valgrind and processor.
    made_with: String,
    figures: BTreeMap<(String, u64), u64>,
}

impl Record {
    /// Reads the page; an empty record where there is none.
    ///
    /// Errors: a row of its table has another shape.
    pub(crate) fn read(path: &Path) -> Result<Record> {
        let text = fs::read_to_string(path).unwrap_or_default();
        let mut record = Record::default();
        for line in text.lines() {
            if let Some(made_with) = line.strip_prefix(MADE_WITH) {
                record.made_with = made_with.trim_end_matches('.').to_owned();
            }
            let Some(row) = line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |")) else { continue };
            let cells: Vec<&str> = row.split(" | ").collect();
            if cells[0] == "scenario" {
                continue;
            }
            let read = || {
                let [scenario, size, instructions] = cells[..] else { return None };
                Some(((scenario.to_owned(), units::size(size).ok()?), instructions.replace(',', "").parse().ok()?))
            };
            let (key, instructions) = read().with_context(|| format!("{}: {line}", path.display()))?;
            record.figures.insert(key, instructions);
        }
        Ok(record)
    }

    /// The same with these figures; what others had been counted with something else is left out.
    pub(super) fn with(&self, counted: impl Iterator<Item = (Scenario, u64, u64)>) -> Record {
        let kept = if self.is_comparable() { self.figures.clone() } else { BTreeMap::new() };
        let mut record = Record { made_with: here(), figures: kept };
        record.figures.extend(counted.map(|(scenario, size, instructions)| ((scenario.name(), size), instructions)));
        record
    }

    /// The instructions of a request of that scenario and size, if they were counted.
    pub(crate) fn figure(&self, scenario: &str, size: u64) -> Option<u64> {
        self.figures.get(&(scenario.to_owned(), size)).copied()
    }

    /// Whether it was counted with what is here, so that only our code makes a difference.
    pub(super) fn is_comparable(&self) -> bool {
        self.made_with == here()
    }

    /// The compiler, valgrind and processor that the figures were counted with.
    pub(crate) fn made_with(&self) -> &str {
        &self.made_with
    }

    /// Whether it is more than 1 % above what is recorded; never where nothing is, or with something else.
    pub(super) fn is_exceeded(&self, scenario: Scenario, size: u64, instructions: u64) -> bool {
        let recorded = self.figures.get(&(scenario.name(), size));
        self.is_comparable() && recorded.is_some_and(|&recorded| instructions * 100 > recorded * 101)
    }

    /// Errors: the page cannot be written.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        fs::write(path, self.page()).with_context(|| format!("writing {}", path.display()))
    }

    fn page(&self) -> String {
        let mut page = format!(
            "# Instructions a request\n\n\
             User-space instructions of the bus for each request, both ways, counted by callgrind: 20 connections, one \
             thread, after a warm-up, the binary of `cargo build --release`.\n\
             The kernel's part, and waiting for memory, are not in it.\n\
             [crates/bench/README.md](../crates/bench/README.md#what-is-compared) says what the scenarios do, and \
             [benchmarks.md](benchmarks.md) which bars are reached.\n\n\
             `cargo xtask bench --instructions` counts, `--profile` shows the functions that take most, and `--record` \
             writes this page.\n\
             CI runs `--check`, which fails where a figure is more than 1 % above this page; to raise one needs a reason in \
             the commit.\n\
             How requests fall together differs from run to run: the page has the highest of three counts, and the lowest of \
             four is checked.\n\
             Figures of another compiler, valgrind or processor are not compared.\n\n\
             {MADE_WITH}{}.\n\n\
             | scenario | size | instructions |\n|---|---|---|\n",
            self.made_with
        );
        for ((scenario, size), instructions) in &self.figures {
            page += &format!("| {scenario} | {} | {} |\n", units::show_size(*size), grouped(*instructions));
        }
        page
    }
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// Compiler, valgrind and processor of this machine.
fn here() -> String {
    let said = |program: &str| {
        let output = Command::new(program).arg("--version").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().next().map(|line| line.split(" (").next().unwrap_or(line).to_owned())
    };
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        line.split_once(": ").map(|(_, name)| name.to_owned())
    });
    let known = [said("rustc"), said("valgrind"), processor];
    known.into_iter().flatten().collect::<Vec<String>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("instructions.md");
        assert_eq!(Record::read(&path).unwrap(), Record::default());
        let counted = [(Scenario::Direct, 500, 1_234_567), (Scenario::Cbr, 10 << 10, 890)];
        let record = Record::default().with(counted.into_iter());
        record.write(&path).unwrap();
        assert_eq!(Record::read(&path).unwrap(), record);
        assert!(record.page().contains("| direct | 500 | 1,234,567 |\n"), "{}", record.page());
        let more = record.with([(Scenario::Cbr, 10 << 10, 880)].into_iter());
        assert_eq!((more.figures.len(), more.figures[&("cbr".to_owned(), 10 << 10)]), (2, 880));
        fs::write(&path, "| direct | 500 | many |\n").unwrap();
        assert!(Record::read(&path).unwrap_err().to_string().contains("many"));
    }

    #[test]
    fn more_than_a_hundredth_above_is_too_much_with_the_same_compiler_and_processor() {
        let record = Record::default().with([(Scenario::Direct, 500, 10_000)].into_iter());
        let check = |record: &Record, instructions| record.is_exceeded(Scenario::Direct, 500, instructions);
        assert!(!check(&record, 10_100) && check(&record, 10_101));
        assert!(!record.is_exceeded(Scenario::Direct, 1_000, 99_999));
        let elsewhere = Record { made_with: "rustc 1.0".to_owned(), ..record };
        assert!(!check(&elsewhere, 99_999) && elsewhere.with(std::iter::empty()).figures.is_empty());
    }
}
