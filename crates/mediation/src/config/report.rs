//! What loading found: every artefact, with its problems and warnings.

use std::fmt::Write;

use serde_json::{Value, json};

use super::problem::Problem;

/// What was found in the configuration, sound or not.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many files were read, those that are broken included.
    pub files: usize,
    /// Every artefact in the order it was found; a file that cannot be read is one of kind `file`.
    pub artefacts: Vec<Artefact>,
}

/// One artefact of the configuration: a proxy, a sequence, an endpoint …
#[derive(Clone, Debug)]
pub struct Artefact {
    /// The element that defines it: `proxy`, `sequence`, `endpoint`, …, or `file`.
    pub kind: String,
    /// Its name, or its key; may be empty where the configuration names none.
    pub name: String,
    /// The path of the file it stands in.
    pub file: String,
    /// The line it starts at, from 1.
    pub line: u32,
    /// What keeps it from running; none means that it runs.
    pub problems: Vec<Problem>,
    /// What has no effect, or not the effect it would have in Synapse.
    pub warnings: Vec<Problem>,
    /// Its text as it stands in the file; empty for a file that cannot be read.
    pub source: String,
}

impl Artefact {
    /// Whether it runs.
    pub fn is_ok(&self) -> bool {
        self.problems.is_empty()
    }
}

impl Report {
    /// How many artefacts run.
    pub fn ok(&self) -> usize {
        self.artefacts.iter().filter(|artefact| artefact.is_ok()).count()
    }

    /// How many artefacts do not run.
    pub fn faulty(&self) -> usize {
        self.artefacts.len() - self.ok()
    }

    /// The report for people: one line an artefact, its problems and warnings below it, the sum at the end.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for artefact in &self.artefacts {
            let status = if artefact.is_ok() { "ok    " } else { "faulty" };
            let Artefact { kind, name, file, line, .. } = artefact;
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{status} {kind} {name} ({file}:{line})");
            for problem in &artefact.problems {
                let _ = writeln!(text, "    problem: {problem}");
            }
            for warning in &artefact.warnings {
                let _ = writeln!(text, "    warning: {warning}");
            }
        }
        let _ = writeln!(text, "{} files, {} artefacts ok, {} faulty", self.files, self.ok(), self.faulty());
        text
    }

    /// The report for programs.
    ///
    /// Shape: `{"files", "artefacts": [{"kind", "name", "file", "line", "status": "ok" | "faulty",
    /// "problems": [{"file", "line", "column", "message"}], "warnings": [the same]}], "ok", "faulty"}`.
    pub fn to_json(&self) -> Value {
        let places = |problems: &[Problem]| {
            let places = problems.iter().map(|problem| {
                json!({
                    "file": problem.file(),
                    "line": problem.line(),
                    "column": problem.column(),
                    "message": problem.message(),
                })
            });
            Value::Array(places.collect())
        };
        let artefacts = self.artefacts.iter().map(|artefact| {
            json!({
                "kind": artefact.kind,
                "name": artefact.name,
                "file": artefact.file,
                "line": artefact.line,
                "status": if artefact.is_ok() { "ok" } else { "faulty" },
                "problems": places(&artefact.problems),
                "warnings": places(&artefact.warnings),
            })
        });
        json!({
            "files": self.files,
            "artefacts": artefacts.collect::<Vec<_>>(),
            "ok": self.ok(),
            "faulty": self.faulty(),
        })
    }
}
