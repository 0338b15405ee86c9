//! Cases: folders that say what goes into a configuration and what must come out.
//!
//! A case is a folder with `synapse.xml` (or `synapse-configs/`) and these files, all but the first optional:
//!
//! - `request.http`: what a client sends; further exchanges in `request.2.http`, `request.3.http` …
//! - `response.http`, `response.2.http` …: what the client must get.
//! - `backend.request.http`, `backend.2.request.http` …: what backends must get, counted over the whole case.
//! - `backend.response.http`, `backend.2.response.http` …: what they answer; the last one counts for all that follow.
//! - `backend.error`, `backend.2.error` …: that they fail instead, and how (`response-timeout`, `closed` …).
//! - `problems.txt`: what loading must report; without it, loading must find no problem.
//! - `unread`: an empty file; mediation must not have read any body.
//!
//! The real engine runs them, with a transport that is the case: no socket, no waiting, the same result every time.

mod backend;
mod case;
mod difference;
mod http_file;

use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};

/// How to run cases.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Writes what came out into the files that say what was expected, instead of comparing.
    pub update: bool,
    /// Of which cases the message traces are shown.
    pub traces: Traces,
}

/// Of which cases the message traces are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Traces {
    /// Of none; nothing is traced.
    #[default]
    None,
    /// Of those that failed.
    Failed,
    /// Of all.
    All,
}

impl Options {
    /// The options as the environment asks for them: `UPDATE=1` updates.
    pub fn from_environment() -> Options {
        let update = std::env::var_os("UPDATE").is_some_and(|value| !value.is_empty() && value != "0");
        Options { update, traces: Traces::None }
    }
}

/// What differs from what a case expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The file that says otherwise, or the case's folder.
    pub file: PathBuf,
    /// The first line that differs, from 1; 0 where it is about the file as a whole.
    pub line: usize,
    /// What it is: a sentence, or lines that start with `-` (expected), `+` (got) or a space.
    pub what: String,
}

/// One case that was run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its folder.
    pub folder: PathBuf,
    /// What differs; empty when it passed.
    pub differences: Vec<Difference>,
    /// The files that were written because of [`Options::update`].
    pub updated: Vec<PathBuf>,
    /// The message traces that [`Options::traces`] asks for, as text.
    pub traces: Vec<String>,
}

/// All cases of a folder.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// In the order of their names.
    pub outcomes: Vec<Outcome>,
}

impl Report {
    /// How many cases gave what they should.
    pub fn passed(&self) -> usize {
        self.outcomes.len() - self.failed()
    }

    /// How many did not.
    pub fn failed(&self) -> usize {
        self.outcomes.iter().filter(|outcome| !outcome.differences.is_empty()).count()
    }

    /// Whether there was at least one case and all passed.
    pub fn success(&self) -> bool {
        !self.outcomes.is_empty() && self.failed() == 0
    }
}

impl fmt::Display for Report {
    /// One line a case, the differences below those that failed, and the count at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for outcome in &self.outcomes {
            let word = match (outcome.differences.is_empty(), outcome.updated.is_empty()) {
                (false, _) => "FAILED",
                (true, false) => "updated",
                (true, true) => "ok",
            };
            writeln!(f, "{word:7} {}", outcome.folder.display())?;
            for path in &outcome.updated {
                writeln!(f, "    wrote {}", path.display())?;
            }
            for difference in &outcome.differences {
                f.write_str("  ")?;
                write!(f, "{}", difference.file.display())?;
                if difference.line > 0 {
                    write!(f, ":{}", difference.line)?;
                }
                f.write_char('\n')?;
                for line in difference.what.lines() {
                    writeln!(f, "    {line}")?;
                }
            }
            for line in outcome.traces.iter().flat_map(|trace| trace.lines()) {
                writeln!(f, "  {line}")?;
            }
        }
        writeln!(f, "{} passed, {} failed", self.passed(), self.failed())
    }
}

/// Runs the case in `folder`, or all cases below it.
///
/// Errors: when a folder cannot be read; the caller's. What is wrong inside a case is a [`Difference`].
pub fn run(folder: &Path, options: &Options) -> io::Result<Report> {
    let mut folders = Vec::new();
    find(folder, 0, &mut folders)?;
    let outcomes = folders.iter().map(|folder| case::run(folder, options)).collect::<io::Result<_>>()?;
    Ok(Report { outcomes })
}

/// No tree of cases is deeper; a link that leads back up would be endless.
const DEPTH_LIMIT: usize = 8;

fn find(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if case::is_case(folder) {
        found.push(folder.to_owned());
        return Ok(());
    }
    let mut below = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && depth < DEPTH_LIMIT {
            below.push(path);
        }
    }
    below.sort();
    below.iter().try_for_each(|path| find(path, depth + 1, found))
}
