//! What loading found: every artefact, with its problems and warnings.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::archive::INSIDE;
use crate::problem::Problem;
use crate::summary::{Cause, Share, Summary};

// The numbers of colours in ECMA-48.
const RED: u8 = 31;
const GREEN: u8 = 32;
const YELLOW: u8 = 33;

/// Whether a text is for a terminal that shows colours.
#[derive(Clone, Copy)]
enum Colours {
    On,
    Off,
}

impl Colours {
    fn paint(self, colour: u8, word: &str) -> String {
        match self {
            Colours::On => format!("\x1b[{colour}m{word}\x1b[0m"),
            Colours::Off => word.to_owned(),
        }
    }
}

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
    /// What makes a step fail when a message reaches it: references to what is not there.
    pub latent: Vec<Problem>,
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

    /// The path of the file on the disk: the archive's, where it stands in one.
    pub fn outer_file(&self) -> &str {
        self.file.split(INSIDE).next().unwrap_or(&self.file)
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
        self.written(Colours::Off)
    }

    /// The same for a terminal that shows colours (ECMA-48, `SGR`): green for what runs, red for problems, yellow for
    /// the rest.
    pub fn to_coloured_text(&self) -> String {
        self.written(Colours::On)
    }

    fn written(&self, colours: Colours) -> String {
        let [ok, faulty] = [colours.paint(GREEN, "ok    "), colours.paint(RED, "faulty")];
        let [problem_word, latent_word, warning_word] =
            [(RED, "problem:"), (YELLOW, "will fail when reached:"), (YELLOW, "warning:")]
                .map(|(colour, word)| colours.paint(colour, word));
        let mut text = String::new();
        for artefact in &self.artefacts {
            let status = if artefact.is_ok() { &ok } else { &faulty };
            let Artefact { kind, name, file, line, .. } = artefact;
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{status} {kind} {name} ({file}:{line})");
            for problem in &artefact.problems {
                let _ = writeln!(text, "    {problem_word} {problem}");
            }
            for problem in &artefact.latent {
                let _ = writeln!(text, "    {latent_word} {problem}");
            }
            for warning in &artefact.warnings {
                let _ = writeln!(text, "    {warning_word} {warning}");
            }
        }
        text.push_str(&figures(&Summary::of(self)));
        let _ = writeln!(text, "files: {}, artefacts that run: {}, faulty: {}", self.files, self.ok(), self.faulty());
        text
    }

    /// The report for programs.
    ///
    /// Shape: `{"files", "artefacts": [{"kind", "name", "file", "line", "status": "ok" | "faulty",
    /// "problems": [{"file", "line", "column", "message"}], "latent": [the same], "warnings": [the same]}], "ok",
    /// "faulty", "summary"}`; the last as [`Summary::to_json`] has it.
    pub fn to_json(&self) -> Value {
        let places = |problems: &[Problem]| problems.iter().map(Problem::to_json).collect::<Vec<_>>();
        let artefacts = self.artefacts.iter().map(|artefact| {
            json!({
                "kind": artefact.kind,
                "name": artefact.name,
                "file": artefact.file,
                "line": artefact.line,
                "status": if artefact.is_ok() { "ok" } else { "faulty" },
                "problems": places(&artefact.problems),
                "latent": places(&artefact.latent),
                "warnings": places(&artefact.warnings),
            })
        });
        json!({
            "files": self.files,
            "artefacts": artefacts.collect::<Vec<_>>(),
            "ok": self.ok(),
            "faulty": self.faulty(),
            "summary": Summary::of(self).to_json(),
        })
    }
}

/// The figures for people; nothing where everything runs.
fn figures(summary: &Summary) -> String {
    let mut text = String::new();
    let total = summary.total();
    if total.run == total.all {
        return text;
    }
    // Writing into a string cannot fail.
    let _ = writeln!(text, "\n{:<20} {:>6} {:>6} {:>6}", "what runs", "run", "of", "%");
    for share in summary.kinds.iter().chain([&total]) {
        let _ = writeln!(text, "{:<20} {:>6} {:>6} {:>6.1}", share.kind, share.run, share.all, share.percent());
    }
    let Summary { whole_files, files, .. } = summary;
    let whole = Share { kind: "whole files".to_owned(), run: *whole_files, all: *files };
    let _ = writeln!(text, "{:<20} {:>6} {:>6} {:>6.1}", whole.kind, whole.run, whole.all, whole.percent());
    let _ = writeln!(text, "\nartefacts  files  why not (and the first place)");
    for Cause { sentence, artefacts, files, first } in &summary.reasons {
        let _ = writeln!(text, "{artefacts:>9} {files:>6}  {sentence} ({}:{})", first.file(), first.line());
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Place;

    #[test]
    fn colours_are_all_that_a_terminal_gets_on_top() {
        let problem = |message: &str| Problem::new(Place::start_of(&"a.xml".into()), message);
        let artefact = |problems: Vec<Problem>| Artefact {
            kind: "proxy".to_owned(),
            name: "p".to_owned(),
            file: "a.xml".to_owned(),
            line: 1,
            problems,
            latent: vec![problem("later")],
            warnings: vec![problem("beware")],
            source: String::new(),
        };
        let report = Report { files: 1, artefacts: vec![artefact(Vec::new()), artefact(vec![problem("no")])] };
        let coloured = report.to_coloured_text();
        for painted in ["\x1b[32mok    \x1b[0m proxy", "\x1b[31mproblem:\x1b[0m a.xml:1:1: no", "\x1b[33mwarning:"] {
            assert!(coloured.contains(painted), "{coloured:?}");
        }
        let plain =
            ["\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"].iter().fold(coloured, |text, code| text.replace(code, ""));
        assert_eq!(plain, report.to_text());
        assert!(!plain.contains('\x1b'));
    }
}
