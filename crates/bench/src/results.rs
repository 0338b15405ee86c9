//! What `myelin bench run` leaves behind: a folder of which reports are made.
//!
//! - `run.json` says what was asked for, where it ran and who took part: [`Run`];
//! - `turns.jsonl` has one line for each thing that happened, written when it happened: [`Line`];
//! - `configurations/TARGET/` has what each target was told.
//!
//! Names of fields do not change; new ones are added. A run that was killed has written whole lines but the last.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use crate::load::Outcome;

/// The form that this program writes and reads.
const FORMAT: u32 = 1;
const RUN: &str = "run.json";
const TURNS: &str = "turns.jsonl";

/// What was asked for, where it ran and who took part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The form of this folder.
    pub format: u32,
    /// When it began (RFC 3339, UTC).
    pub began: String,
    /// The arguments of the process that began it.
    pub command_line: Vec<String>,
    /// Rounds in each cell.
    pub rounds: usize,
    /// Threads or workers that each target was told to have.
    pub threads: usize,
    /// All cells, in the order in which they are measured.
    pub cells: Vec<Cell>,
    /// Where it ran.
    pub machine: Machine,
    /// Who took part; the first is the one that the others are compared with.
    pub targets: Vec<Target>,
    /// What was asked for, as `myelin bench run --resume` reads it.
    #[serde(default)]
    pub arguments: serde_json::Value,
}

/// The machine, as far as it matters for figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// The kernel's release.
    pub kernel: String,
    /// The model of the processor.
    pub processor: String,
    /// Processors that we may use.
    pub processors: usize,
    /// Memory, in KiB.
    pub memory_kilobytes: u64,
    /// Files that a process may open.
    pub open_files_limit: u64,
    /// The load of the last minute when the run began: how many processes wanted to run.
    pub load: f64,
    /// The version of the program that measured.
    pub measured_by: String,
}

/// Who took part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Its name in reports.
    pub name: String,
    /// The kit that it was started by, or the URL where it was found.
    pub from: String,
    /// What it says of its version; empty where it cannot be asked.
    pub version: String,
    /// What it was told, by file name; the texts lie in the folder of configurations.
    pub files: Vec<ConfigurationFile>,
}

/// A file that a target was told something by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigurationFile {
    /// Its name in the target's folder.
    pub name: String,
    /// The SHA-256 of its bytes, in hexadecimal digits, before the places of this run were filled in.
    pub sha256: String,
}

/// One combination of what is done, with messages of one size, by so many clients.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// What is done, by its name in BENCHMARK.md.
    pub scenario: String,
    /// The body of every request, in bytes.
    pub size_bytes: u64,
    /// Connections that send.
    pub connections: usize,
    /// Connections that are open and silent.
    #[serde(default)]
    pub idle_connections: usize,
    /// Requests a second that are offered (open loop); `None` where each connection sends as soon as it may.
    #[serde(default)]
    pub rate: Option<f64>,
    /// Whether clients come by HTTPS; the backend is asked plainly.
    #[serde(default)]
    pub tls: bool,
    /// Whether every request got a line in the access log of the target.
    #[serde(default)]
    pub access_log: bool,
}

impl Cell {
    /// What was done besides the scenario, as it follows in a sentence: `, HTTPS`.
    pub fn besides(&self) -> String {
        let besides = [(self.tls, ", HTTPS"), (self.access_log, ", access log")];
        besides.into_iter().filter(|(is_done, _)| *is_done).map(|(_, words)| words).collect()
    }
}

/// One line of `turns.jsonl`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// A target was started for a cell, and answered as it should.
    Started {
        /// The cell.
        cell: Cell,
        /// The name of the target.
        target: String,
        /// From the start of its process until it answered, in seconds; `None` where it ran before.
        start_seconds: Option<f64>,
        /// How long it was driven before it was measured, in seconds.
        warm_up_seconds: f64,
    },
    /// A target had its turn.
    Turn(Box<Turn>),
    /// A target did not do what it should in a cell.
    Trouble(Trouble),
    /// A cell was measured to its end.
    Done {
        /// The cell.
        cell: Cell,
    },
}

/// A turn of a target.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Turn {
    /// The cell.
    pub cell: Cell,
    /// The name of the target.
    pub target: String,
    /// Counted from zero: the turns of one round follow each other.
    pub round: usize,
    /// When it began (RFC 3339, UTC).
    pub began: String,
    /// What it came to.
    pub outcome: Outcome,
}

/// What went wrong with a target in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trouble {
    /// The cell.
    pub cell: Cell,
    /// The name of the target.
    pub target: String,
    /// What kind of trouble it is.
    pub kind: TroubleKind,
    /// A sentence about it.
    pub text: String,
    /// The end of what the target wrote about it.
    pub log: String,
}

/// What kind of trouble a target was in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TroubleKind {
    /// It has no way to do this.
    CannotDo,
    /// It did not start, or was not ready in time.
    NotReady,
    /// It answered, and not as it should: it is not measured.
    WrongAnswer,
    /// It ended while it was measured.
    Died,
    /// It gave no good answer for a whole turn.
    Stalled,
}

/// A folder of results.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    run: Run,
    turns: File,
}

impl Folder {
    /// Begins a folder, which must not hold results yet.
    ///
    /// Errors: it cannot be made or written, or holds results.
    pub fn begin(path: &Path, run: Run) -> anyhow::Result<Folder> {
        if path.join(RUN).exists() {
            bail!("{} holds the results of another run; --resume {0} goes on with it", path.display());
        }
        fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        let folder = Folder::open(path, run)?;
        folder.describe()?;
        Ok(folder)
    }

    /// Goes on with a folder: a last line that is not whole is cut off.
    ///
    /// Errors: it cannot be read or written.
    pub fn resume(path: &Path) -> anyhow::Result<(Folder, Results)> {
        let results = read(path)?;
        let turns = path.join(TURNS);
        let bytes = fs::read(&turns).unwrap_or_default();
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        if whole < bytes.len() {
            let file = OpenOptions::new().write(true).open(&turns)?;
            file.set_len(whole as u64).with_context(|| format!("cannot write {}", turns.display()))?;
        }
        Ok((Folder::open(path, results.run.clone())?, results))
    }

    fn open(path: &Path, run: Run) -> anyhow::Result<Folder> {
        let turns = path.join(TURNS);
        let opened = OpenOptions::new().create(true).append(true).open(&turns);
        let turns = opened.with_context(|| format!("cannot write {}", turns.display()))?;
        Ok(Folder { path: path.to_owned(), run, turns })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a line, at once.
    ///
    /// Errors: the disk's.
    pub fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        // In one piece, so that a process that is killed leaves whole lines.
        self.turns.write_all(&text)
    }

    /// Notes by which files a target was told what to do.
    ///
    /// Errors: the disk's.
    pub fn configured(&mut self, target: &str, files: Vec<ConfigurationFile>) -> anyhow::Result<()> {
        if let Some(target) = self.run.targets.iter_mut().find(|known| known.name == target) {
            target.files = files;
        }
        self.describe()
    }

    /// Notes a target that was not known when the run began.
    ///
    /// Errors: the disk's.
    pub fn add_target(&mut self, target: Target) -> anyhow::Result<()> {
        if self.run.targets.iter().all(|known| known.name != target.name) {
            self.run.targets.push(target);
        }
        self.describe()
    }

    /// Notes a cell that was not known when the run began.
    ///
    /// Errors: the disk's.
    pub fn add_cell(&mut self, cell: &Cell) -> anyhow::Result<()> {
        if self.run.cells.contains(cell) {
            return Ok(());
        }
        self.run.cells.push(cell.clone());
        self.describe()
    }

    /// Writes what is known of the run, all of it or nothing.
    fn describe(&self) -> anyhow::Result<()> {
        let (file, beside) = (self.path.join(RUN), self.path.join("run.json.new"));
        fs::write(&beside, serde_json::to_string_pretty(&self.run)?)
            .and_then(|()| fs::rename(&beside, &file))
            .with_context(|| format!("cannot write {}", file.display()))
    }
}

/// What a folder of results holds.
#[derive(Clone, Debug)]
pub struct Results {
    /// The run.
    pub run: Run,
    /// What happened, in order.
    pub lines: Vec<Line>,
}

/// Reads a folder of results; a last line that is not whole is left out.
///
/// Errors: there is no such folder, it holds no results or those of a later version, or a line is none.
pub fn read(path: &Path) -> anyhow::Result<Results> {
    let file = path.join(RUN);
    let text = fs::read_to_string(&file)
        .with_context(|| format!("{} holds no results of `myelin bench run`: cannot read {RUN}", path.display()))?;
    let run: Run =
        serde_json::from_str(&text).with_context(|| format!("{} is no description of a run", file.display()))?;
    if run.format > FORMAT {
        bail!(
            "{} was written by a later version (its form is {}, this program reads {FORMAT})",
            path.display(),
            run.format
        );
    }
    let turns = path.join(TURNS);
    let mut reader = BufReader::new(File::open(&turns).with_context(|| format!("cannot read {}", turns.display()))?);
    let mut lines = Vec::new();
    let mut text = String::new();
    while reader.read_line(&mut text).with_context(|| format!("cannot read {}", turns.display()))? > 0 {
        if !text.ends_with('\n') {
            break;
        }
        let number = lines.len() + 1;
        let line = serde_json::from_str(&text);
        lines.push(line.with_context(|| format!("{}:{number} is no result", turns.display()))?);
        text.clear();
    }
    Ok(Results { run, lines })
}

impl Results {
    /// Whether a cell was measured to its end.
    pub fn is_done(&self, cell: &Cell) -> bool {
        self.lines.iter().any(|line| matches!(line, Line::Done { cell: done } if done == cell))
    }

    /// The turns of a target in a cell, in the order of rounds: of those that a resumed run did again, the last ones.
    pub fn turns<'a>(&'a self, cell: &Cell, target: &str) -> Vec<&'a Turn> {
        let mut turns: Vec<&Turn> = Vec::new();
        for line in &self.lines {
            let Line::Turn(turn) = line else { continue };
            if turn.cell == *cell && turn.target == target {
                turns.retain(|known| known.round < turn.round);
                turns.push(turn);
            }
        }
        turns
    }

    /// What went wrong with a target in a cell, if anything did: the last of it.
    pub fn trouble(&self, cell: &Cell, target: &str) -> Option<&Trouble> {
        let mut found = None;
        for line in &self.lines {
            match line {
                Line::Trouble(trouble) if trouble.cell == *cell && trouble.target == target => found = Some(trouble),
                // It was started anew, after the run was resumed.
                Line::Started { cell: started, target: name, .. } if started == cell && name == target => found = None,
                _ => {}
            }
        }
        found
    }
}

impl Run {
    /// The description of a run whose targets have not been started yet.
    pub fn new(rounds: usize, threads: usize, cells: Vec<Cell>, machine: Machine) -> Run {
        Run {
            format: FORMAT,
            began: now(),
            command_line: std::env::args().collect(),
            rounds,
            threads,
            cells,
            machine,
            targets: Vec::new(),
            arguments: serde_json::Value::Null,
        }
    }
}

/// The current time of day, as [`time_of_day`] writes it.
pub fn now() -> String {
    time_of_day(SystemTime::now())
}

/// A time of day in results: RFC 3339, UTC, whole seconds.
pub fn time_of_day(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(connections: usize) -> Cell {
        Cell { scenario: "direct".to_owned(), size_bytes: 500, connections, ..Cell::default() }
    }

    fn turn(connections: usize, round: usize, requests: u64) -> Line {
        let outcome = Outcome { requests, ..Outcome::default() };
        let (cell, target) = (cell(connections), "bus".to_owned());
        Line::Turn(Box::new(Turn { cell, target, round, began: now(), outcome }))
    }

    #[test]
    fn what_was_written_is_read_and_a_line_that_was_cut_off_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::new(2, 1, vec![cell(1), cell(20)], Machine::default());
        let mut writing = Folder::begin(folder.path(), run.clone()).unwrap();
        writing.write(&turn(1, 0, 7)).unwrap();
        writing.write(&Line::Done { cell: cell(1) }).unwrap();
        writing.write(&turn(20, 0, 8)).unwrap();
        OpenOptions::new()
            .append(true)
            .open(folder.path().join(TURNS))
            .and_then(|mut file| file.write_all(br#"{"line":"turn","ce"#))
            .unwrap();
        assert_eq!(read(folder.path()).unwrap().lines.len(), 3);
        let (mut writing, results) = Folder::resume(folder.path()).unwrap();
        assert_eq!(results.run, run);
        assert!(results.is_done(&cell(1)) && !results.is_done(&cell(20)));
        for round in 0..2 {
            writing.write(&turn(20, round, 9)).unwrap();
        }
        let results = read(folder.path()).unwrap();
        let requests: Vec<u64> = results.turns(&cell(20), "bus").iter().map(|turn| turn.outcome.requests).collect();
        assert_eq!(requests, [9, 9]);
        assert!(Folder::begin(folder.path(), run).unwrap_err().to_string().contains("--resume"));
    }

    #[test]
    fn what_holds_no_results_is_told_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let told = |text: &str| {
            fs::write(folder.path().join(RUN), text).unwrap();
            format!("{:#}", read(folder.path()).unwrap_err())
        };
        assert!(told("{}").contains("run.json is no description of a run"));
        let run = Run { format: 9, ..Run::new(1, 1, Vec::new(), Machine::default()) };
        assert!(told(&serde_json::to_string(&run).unwrap()).contains("a later version"));
    }

    #[test]
    fn trouble_is_over_once_a_target_was_started_anew() {
        let run = Run::new(1, 1, vec![cell(1)], Machine::default());
        let trouble = Trouble {
            cell: cell(1),
            target: "bus".to_owned(),
            kind: TroubleKind::Died,
            text: "it ended".to_owned(),
            log: String::new(),
        };
        let mut results = Results { run, lines: vec![Line::Trouble(trouble.clone())] };
        assert_eq!(results.trouble(&cell(1), "bus"), Some(&trouble));
        let target = "bus".to_owned();
        results.lines.push(Line::Started { cell: cell(1), target, start_seconds: Some(0.1), warm_up_seconds: 1.0 });
        assert_eq!(results.trouble(&cell(1), "bus"), None);
    }
}
