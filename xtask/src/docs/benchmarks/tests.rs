use std::path::PathBuf;

use myelin_bench::load::{Outcome, ProcessCost};
use myelin_bench::procfs::Usage;
use myelin_bench::results::{Cell, Folder, Line, Machine, Run, Target, Trouble, TroubleKind, Turn, now};

use super::judgement::{Judgement, Verdict};
use super::*;

/// A folder of results that is made up, and a page of instructions.
struct Made {
    folder: tempfile::TempDir,
}

/// CPU ms per 1,000 requests of each target in one cell, and how many requests of each failed.
type Costs<'a> = &'a [(&'a str, f64, u64)];

impl Made {
    fn new(bars: &str) -> Made {
        let made = Made { folder: tempfile::tempdir().unwrap() };
        made.write("results/bars.toml", bars);
        made.write("results/recorded.toml", RECORDED);
        made.write("results/published.toml", PUBLISHED);
        made.write("instructions.md", "Counted with rustc.\n\n| direct | 500 | 12,000 |\n| header | 500 | 12,900 |\n");
        made
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A run with cells of `direct`, by their size and connections.
    fn run(&self, name: &str, began: &str, cells: &[(u64, usize, Costs)]) {
        let all = cells.iter().map(|(size, connections, _)| cell(*size, *connections)).collect();
        let machine = Machine { name: "here".to_owned(), processors: 2, ..Machine::default() };
        let run = Run { began: began.to_owned(), ..Run::new(2, 1, all, machine) };
        let mut folder = Folder::begin(&self.path("results").join(name), run).unwrap();
        for (size, connections, figures) in cells {
            for (target, cpu, failures) in *figures {
                folder.add_target(Target { name: (*target).to_owned(), ..Target::default() }).unwrap();
                for round in 0..2 {
                    let usage = Usage { peak_memory_bytes: 39_000_000, ..Usage::default() };
                    let process = ProcessCost { cpu_ms_per_1000: *cpu, usage, ..ProcessCost::default() };
                    let outcome = Outcome {
                        requests: 1_000,
                        failures: *failures,
                        requests_per_second: 50_000.0 / cpu,
                        seconds: 1.0,
                        process: Some(process),
                        ..Outcome::default()
                    };
                    let (cell, target) = (cell(*size, *connections), (*target).to_owned());
                    let turn = Turn { cell, target, round, began: now(), outcome };
                    folder.write(&Line::Turn(Box::new(turn))).unwrap();
                }
            }
        }
    }

    fn read(&self) -> Result<Measurements> {
        Measurements::read(&self.path("results"), &self.path("instructions.md"))
    }

    /// The verdict of the first bar.
    fn verdict(&self) -> Verdict {
        let measurements = self.read().unwrap();
        Judgement::new(&measurements.bars.rows[0].bars[0], &measurements).unwrap().verdict()
    }

    /// The line of the first bar.
    fn told(&self) -> String {
        let page = figures(&self.read().unwrap()).unwrap();
        page.lines().find(|line| line.starts_with("| row |")).unwrap().to_owned()
    }
}

fn cell(size_bytes: u64, connections: usize) -> Cell {
    Cell { scenario: "direct".to_owned(), size_bytes, connections, ..Cell::default() }
}

/// One row with one bar.
fn bar(text: &str) -> String {
    format!("[[row]]\nscenario = \"row\"\n\n[[row.bar]]\nwords = \"bar\"\n{text}\n")
}

const OWN_COST: &str = r#"at_most = 0.3
cells = { measure = "own_cost_ms_per_1000", over = ["nginx"], scenarios = ["direct"], sizes = ["500", "10K"], connections = [20] }"#;

const RECORDED: &str = r#"
[[table]]
title = "Libraries"
command = "`cargo xtask bench xml`"
machine = "a machine"
date = "2026-11-23"
commit = "abc"
columns = ["size", "ours", "theirs"]
rows = [["500", 10, 70], ["10K", 100, 550]]
"#;

const PUBLISHED: &str = r#"
remark = "Machines differ."
[[source]]
title = "A report"
about = "Somebody's."
columns = ["their bus"]
users = 100
beside = ["myelin", "synapse"]
row = [{ scenario = "direct", size = "500", figures = [9325] }, { scenario = "cbr", size = "500", figures = [40] }]
"#;

#[test]
fn a_bar_is_reached_or_missed_by_the_figures_of_a_run_and_says_where_and_by_how_much() {
    let made = Made::new(&bar(OWN_COST));
    let near: Costs = &[("myelin", 12.0, 0), ("nginx", 20.0, 0), ("relay", 10.0, 0)];
    let far: Costs = &[("myelin", 16.0, 0), ("nginx", 20.0, 0), ("relay", 10.0, 0)];
    made.run("a", "2026-11-20T00:00:00Z", &[(500, 20, near), (10 << 10, 20, near)]);
    assert_eq!(made.verdict(), Verdict::Reached);
    assert_eq!(made.told(), "| row | bar | 0.20 × | reached: 33 % below the bar | [a](#a) |");
    // The newer run has all cells, and one of them is above the bar.
    made.run("b", "2026-11-21T00:00:00Z", &[(500, 20, near), (10 << 10, 20, far)]);
    let missed = "| row | bar | 0.20 × to 0.60 × (10K) | **missed**: 2.00 × the bar; reached in 1 of 2 | [b](#b) |";
    assert_eq!(made.told(), missed);
}

#[test]
fn a_bar_takes_the_newest_run_that_has_all_of_its_cells_and_says_what_no_run_has() {
    let made = Made::new(&bar(OWN_COST));
    let good: Costs = &[("myelin", 12.0, 0), ("nginx", 20.0, 0), ("relay", 10.0, 0)];
    let bad: Costs = &[("myelin", 19.0, 0), ("nginx", 20.0, 0), ("relay", 10.0, 0)];
    assert_eq!(made.verdict(), Verdict::NotMeasured);
    assert!(made.told().contains("not measured: no run has such a cell"), "{}", made.told());
    made.run("a", "2026-11-20T00:00:00Z", &[(500, 20, good)]);
    assert_eq!(made.verdict(), Verdict::ReachedAsFarAsMeasured);
    assert!(made.told().contains("not measured: `direct` 10K over 20 beside nginx"), "{}", made.told());
    made.run("b", "2026-11-21T00:00:00Z", &[(500, 20, good), (10 << 10, 20, good)]);
    made.run("c", "2026-11-22T00:00:00Z", &[(500, 20, bad)]);
    assert_eq!(made.verdict(), Verdict::Reached);
    // Runs of a busy machine, and those that are only shown, judge nothing here.
    for about in ["machine = \"busy\"", "only_shown = true"] {
        made.write("results/b/about.toml", about);
        assert_eq!(made.verdict(), Verdict::Missed, "{about}");
    }
}

#[test]
fn without_a_relay_or_without_the_other_there_is_no_verdict() {
    let made = Made::new(&bar(OWN_COST));
    made.run("a", "2026-11-20T00:00:00Z", &[(500, 20, &[("myelin", 12.0, 0), ("nginx", 20.0, 0)])]);
    made.run("b", "2026-11-21T00:00:00Z", &[(500, 20, &[("myelin", 12.0, 0), ("relay", 10.0, 0)])]);
    assert_eq!(made.verdict(), Verdict::NotMeasured);
    assert!(made.told().contains("the relay took no part"), "{}", made.told());
}

#[test]
fn whoever_fails_has_missed_and_what_a_machine_does_not_allow_is_not_measured() {
    let memory = "at_most = 40_000_000\ncells = { measure = \"peak_memory_bytes\", scenarios = [\"direct\"] }";
    let made = Made::new(&bar(memory));
    made.run("a", "2026-11-20T00:00:00Z", &[(500, 20, &[("myelin", 12.0, 0)])]);
    assert_eq!(made.told(), "| row | bar | 39.0 MB (500 over 20) | reached: 2.5 % below the bar | [a](#a) |");
    made.run("b", "2026-11-21T00:00:00Z", &[(500, 20, &[("myelin", 12.0, 100)])]);
    assert_eq!(made.told(), "| row | bar | failed (500 over 20) | **missed**: it failed | [b](#b) |");
    made.write("results/bars.toml", &bar("at_most = 0\ncells = { measure = \"failures\" }"));
    assert!(made.told().contains("| **missed**: 200 |"), "{}", made.told());
    fs::remove_dir_all(made.path("results/a")).unwrap();
    let (cell, target) = (cell(500, 20), "myelin".to_owned());
    let text = "it needs 20100 open files, and 20000 are allowed".to_owned();
    let trouble = Trouble { cell, target, kind: TroubleKind::CannotDo, text, log: String::new() };
    let line = serde_json::to_string(&Line::Trouble(trouble)).unwrap() + "\n";
    made.write("results/b/turns.jsonl", &line);
    assert_eq!(made.verdict(), Verdict::NotMeasured);
    assert!(made.told().contains("it needs 20100 open files"), "{}", made.told());
}

#[test]
fn instructions_are_those_of_their_page() {
    let above = |limit: u64| {
        let source = r#"instructions = { scenarios = ["header"], sizes = ["500"], beyond = "direct" }"#;
        Made::new(&bar(&format!("at_most = {limit}\n{source}"))).verdict()
    };
    assert_eq!((above(900), above(899)), (Verdict::Reached, Verdict::Missed));
    let made = Made::new(&bar("at_most = 1\ninstructions = { scenarios = [\"cbr\"], sizes = [\"500\"] }"));
    assert_eq!(made.verdict(), Verdict::NotMeasured);
}

#[test]
fn recorded_figures_count_where_no_run_has_any() {
    let made = Made::new(&bar(r#"at_least = 6
cells = { measure = "cpu_ms_per_1000", over = ["synapse"] }
recorded = { table = "Libraries", columns = ["theirs"], over = "ours", rows = { size = ["500", "10K"] } }"#));
    let recorded = "| row | bar | 7.00 × to 5.50 × (10K) | **missed**: 8.3 % below the bar; reached in 1 of 2 | \
                    [Libraries](#libraries) |";
    assert_eq!(made.told(), recorded);
    made.run("a", "2026-11-20T00:00:00Z", &[(500, 20, &[("myelin", 70.0, 0), ("synapse", 10.0, 0)])]);
    assert!(made.told().contains("7.00 × (`direct` 500 over 20) | reached"), "{}", made.told());
    let wrong = |from: &str, to: &str, expected: &str| {
        let text = fs::read_to_string(made.path("results/bars.toml")).unwrap();
        made.write("results/bars.toml", &text.replace(from, to));
        let error = made.read().and_then(|measurements| figures(&measurements)).unwrap_err();
        assert!(format!("{error:#}").contains(expected), "{error:#}");
        made.write("results/bars.toml", &text);
    };
    wrong("\"theirs\"", "\"nobody's\"", "the table \"Libraries\" has no column \"nobody's\"");
    wrong("\"Libraries\"", "\"Books\"", "recorded.toml has no table \"Books\"");
    wrong("cpu_ms_per_1000", "speed", "there is no measure \"speed\"");
    wrong("at_least = 6", "", "needs one of `at_most`, `at_least` and `below`");
}

#[test]
fn files_of_another_shape_are_named() {
    let error = |name: &str, text: &str| {
        let made = Made::new(&bar(OWN_COST));
        made.write(name, text);
        format!("{:#}", made.read().err().unwrap())
    };
    assert!(error("results/bars.toml", "[[row]]\nscenario = 1").contains("bars.toml"));
    assert!(error("results/recorded.toml", &RECORDED.replace(", 70", "")).contains("row 1 has not the 3 entries"));
    assert!(
        error("results/published.toml", &PUBLISHED.replace("[40]", "[]")).contains("the row cbr 500 has 0 figures")
    );
    assert!(error("results/a/notes.txt", "").contains("holds no results"));
}

#[test]
fn what_was_published_stands_beside_the_run_in_which_most_of_its_buses_took_part() {
    let made = Made::new(&bar(OWN_COST));
    let both: Costs = &[("myelin", 10.0, 0), ("synapse", 100.0, 0)];
    made.run("a", "2026-11-20T00:00:00Z", &[(500, 20, both), (500, 160, both)]);
    made.run("b", "2026-11-21T00:00:00Z", &[(500, 100, &[("myelin", 5.0, 0)])]);
    let page = figures(&made.read().unwrap()).unwrap();
    assert!(page.contains("| `direct` | 500 | 9,325 | 160 | 5,000 | 500 | [a](#a) |\n"), "{page}");
    assert!(page.contains("| `cbr` | 500 | 40 | – | – | – | – |\n"), "{page}");
}

#[test]
fn a_run_is_told_with_its_command_and_without_the_paths_of_its_machine() {
    let made = Made::new(&bar(OWN_COST));
    made.run("a", "2026-11-20T00:00:00Z", &[(500, 20, &[("myelin", 10.0, 0), ("nginx", 20.0, 3)])]);
    let path = made.path("results/a/run.json");
    let mut run: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    run["command_line"] = serde_json::json!(["/x/bus", "bench", "run", "--out", "/x/a", "--keys=/x", "--size", "500"]);
    fs::write(&path, run.to_string()).unwrap();
    let page = figures(&made.read().unwrap()).unwrap();
    assert!(page.contains("```\nmyelin bench run --size 500\n```\n"), "{page}");
    assert!(page.contains("|  |  |  | nginx (6 failed) | 20.0 | 2.00 | <0.001 | 2,500 | 0.00 | 39.0 |\n"), "{page}");
    assert!(page.contains("here: 2 × , kernel"), "{page}");
}

#[test]
fn the_files_of_the_project_are_read_and_name_targets_that_there_are() {
    let measurements = Measurements::read(&root().join("bench/results"), &root().join("docs/instructions.md")).unwrap();
    assert!(!measurements.runs.is_empty() && !figures(&measurements).unwrap().is_empty());
    for bar in measurements.bars.rows.iter().flat_map(|row| &row.bars) {
        for name in bar.cells.iter().flat_map(|cells| &cells.over) {
            let is_known = name == "relay" || root().join("bench/kits").join(name).join("kit.toml").is_file();
            assert!(is_known, "the bar {:?} names {name:?}, which no kit starts", bar.words);
        }
    }
}
