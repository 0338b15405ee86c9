//! Results that nobody measured, to make reports of.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::load::{FailureCount, Latency, Outcome, ProcessCost};
use crate::procfs::Usage;
use crate::results::{Cell, ConfigurationFile, Line, Machine, Results, Run, Target, Trouble, TroubleKind, Turn, now};

const ROUNDS: usize = 5;

/// Results to be changed and written.
pub(super) struct Sample {
    pub(super) run: Run,
    pub(super) lines: Vec<Line>,
}

pub(super) fn cell(scenario: &str, size_bytes: u64, connections: usize) -> Cell {
    let scenario = scenario.to_owned();
    Cell { scenario, size_bytes, connections, ..Cell::default() }
}

impl Sample {
    /// All targets in all cells, without trouble; each target takes somewhat more than the one before it.
    pub(super) fn new(targets: &[&str], cells: &[Cell]) -> Sample {
        let machine = Machine {
            name: "here".to_owned(),
            kernel: "6.1".to_owned(),
            processor: "a processor".to_owned(),
            processors: 2,
            ..Machine::default()
        };
        let file = ConfigurationFile { name: "synapse.xml".to_owned(), sha256: "00".to_owned() };
        let target = |&name: &&str| Target {
            name: name.to_owned(),
            from: format!("kit:{name}"),
            version: "1".to_owned(),
            files: vec![file.clone()],
        };
        let run = Run { targets: targets.iter().map(target).collect(), ..Run::new(ROUNDS, 2, cells.to_vec(), machine) };
        let mut sample = Sample { run, lines: Vec::new() };
        for cell in cells {
            for round in 0..ROUNDS {
                for (index, target) in targets.iter().enumerate() {
                    sample.lines.push(turn(cell, index, target, round));
                }
            }
            sample.lines.push(Line::Done { cell: cell.clone() });
        }
        sample
    }

    /// What a whole run of the grid leaves: eight sizes, nine concurrencies, six targets, five scenarios and a ramp.
    pub(super) fn grid() -> Sample {
        let mut cells = Vec::new();
        for scenario in ["direct", "header", "cbr", "xslt", "secure"] {
            for size in [500, 1 << 10, 5 << 10, 10 << 10, 50 << 10, 100 << 10, 500 << 10, 1 << 20] {
                for connections in [1, 20, 40, 80, 160, 320, 640, 1280, 2560] {
                    cells.push(cell(scenario, size, connections));
                }
            }
        }
        for step in 1..=12 {
            cells.push(Cell { rate: Some(f64::from(step) * 1000.0), ..cell("direct", 1 << 10, 160) });
        }
        let targets = ["myelin", "nginx", "haproxy", "relay", "synapse", "camel"];
        let mut sample = Sample::new(&targets, &cells);
        sample.trouble("synapse", &cells[200], TroubleKind::Stalled, "no good answer for 10 s\n<b>log</b>");
        sample
    }

    /// Gives a target this CPU per request in these rounds, and all targets only these rounds.
    pub(super) fn cpu(&mut self, target: &str, rounds: &[f64]) {
        self.run.rounds = rounds.len();
        self.lines.retain(|line| !matches!(line, Line::Turn(turn) if turn.round >= rounds.len()));
        for turn in self.turns(target) {
            if let Some(process) = &mut turn.outcome.process {
                process.cpu_ms_per_1000 = rounds[turn.round];
            }
        }
    }

    /// Lets so many requests of each turn of a target fail.
    pub(super) fn failures(&mut self, target: &str, count: u64) {
        for turn in self.turns(target) {
            turn.outcome.failures = count;
            let failures = FailureCount { count, example: "status 503".to_owned() };
            turn.outcome.failures_by_kind = BTreeMap::from([("status 503".to_owned(), failures)]);
        }
    }

    pub(super) fn trouble(&mut self, target: &str, cell: &Cell, kind: TroubleKind, text: &str) {
        self.lines.push(Line::Trouble(Trouble {
            cell: cell.clone(),
            target: target.to_owned(),
            kind,
            text: text.to_owned(),
            log: text.to_owned(),
        }));
    }

    pub(super) fn results(&self) -> Results {
        Results { run: self.run.clone(), lines: self.lines.clone() }
    }

    pub(super) fn write(&self, folder: &Path) {
        fs::write(folder.join("run.json"), serde_json::to_vec(&self.run).unwrap()).unwrap();
        let lines: Vec<String> = self.lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect();
        fs::write(folder.join("turns.jsonl"), lines.concat()).unwrap();
    }

    pub(super) fn folder(&self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        self.write(folder.path());
        folder
    }

    fn turns<'a>(&'a mut self, target: &'a str) -> impl Iterator<Item = &'a mut Turn> {
        self.lines.iter_mut().filter_map(move |line| match line {
            Line::Turn(turn) if turn.target == target => Some(&mut **turn),
            _ => None,
        })
    }
}

/// A turn that wanders a little from round to round, and gets slower with size and connections.
fn turn(cell: &Cell, index: usize, target: &str, round: usize) -> Line {
    let noise = 1.0 + ((round * 7 + index * 3) % 5) as f64 * 0.01;
    let cpu = (20.0 + cell.size_bytes as f64 / 2000.0) * (1.0 + index as f64 * 0.4) * noise;
    let possible = 2_000_000.0 / cpu / (1.0 + 20.0 / (cell.connections as f64 + 4.0));
    let rate = cell.rate.map_or(possible, |offered| offered.min(possible));
    let p50 = cell.connections as f64 / rate;
    let message = 2 * (cell.size_bytes + 200);
    let requests = (rate * 5.0) as u64;
    let outcome = Outcome {
        requests,
        seconds: 5.0,
        requests_per_second: rate,
        sent_bytes: requests * message,
        received_bytes: requests * message,
        latency: Latency { mean: p50 * 1.1, p50, p90: p50 * 1.6, p99: p50 * 3.0, p999: p50 * 7.0, max: p50 * 20.0 },
        process: Some(ProcessCost {
            cpu_ms_per_1000: cpu,
            user_ms_per_1000: cpu * 0.4,
            system_ms_per_1000: cpu * 0.6,
            usage: Usage { peak_memory_bytes: 10_000_000 << index, threads: 3, open_files: 50, ..Usage::default() },
            ..ProcessCost::default()
        }),
        ..Outcome::default()
    };
    Line::Turn(Box::new(Turn { cell: cell.clone(), target: target.to_owned(), round, began: now(), outcome }))
}
