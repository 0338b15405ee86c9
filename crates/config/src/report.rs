//! What loading found: every artefact, with its problems and warnings.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::archive::INSIDE;
use crate::problem::Problem;
use crate::summary::{Cause, Share, Summary};

// The numbers of a weight and of colours in ECMA-48.
const BOLD: u8 = 1;
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

    /// The same of a word behind blanks.
    fn paint_within(self, colour: u8, text: &str) -> String {
        let word = text.trim_start();
        format!("{}{}", &text[..text.len() - word.len()], self.paint(colour, word))
    }
}

/// How much there is to tell of an artefact; the gravest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Faulty,
    Latent,
    Warned,
    Silent,
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

    fn rank(&self) -> Rank {
        match (self.is_ok(), self.latent.is_empty(), self.warnings.is_empty()) {
            (false, ..) => Rank::Faulty,
            (true, false, _) => Rank::Latent,
            (true, true, false) => Rank::Warned,
            (true, true, true) => Rank::Silent,
        }
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

    /// The report for people: the files in which something is wrong with all their artefacts, the gravest first, each
    /// problem and warning with its line; a line for each of the other artefacts; the sum at the end.
    pub fn to_text(&self) -> String {
        self.written(Colours::Off)
    }

    /// The same for a terminal that shows colours (ECMA-48, `SGR`): green for what runs, red for problems, yellow for
    /// the rest.
    pub fn to_coloured_text(&self) -> String {
        self.written(Colours::On)
    }

    fn written(&self, colours: Colours) -> String {
        let mut text = String::new();
        let mut files: Vec<(&str, Vec<&Artefact>)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for artefact in &self.artefacts {
            let at = *places.entry(&artefact.file).or_insert_with(|| {
                files.push((&artefact.file, Vec::new()));
                files.len() - 1
            });
            files[at].1.push(artefact);
        }
        // Both sorts are stable: what is equally grave stays in the order in which it was found.
        for (_, artefacts) in &mut files {
            artefacts.sort_by_key(|artefact| artefact.rank());
        }
        files.sort_by_key(|(_, artefacts)| artefacts.first().map(|artefact| artefact.rank()));
        let ok = colours.paint(GREEN, "ok    ");
        let faulty = colours.paint(RED, "faulty");
        // Writing into a string cannot fail.
        for (file, artefacts) in files {
            if artefacts.iter().all(|artefact| artefact.rank() == Rank::Silent) {
                for Artefact { kind, name, line, .. } in artefacts {
                    let _ = writeln!(text, "{ok} {kind} {name} ({file}:{line})");
                }
                continue;
            }
            let _ = writeln!(text, "{}", colours.paint(BOLD, file));
            for artefact in artefacts {
                let status = if artefact.is_ok() { &ok } else { &faulty };
                let Artefact { kind, name, line, .. } = artefact;
                let _ = writeln!(text, "  {status} {kind} {name} (line {line})");
                tell(&mut text, &artefact.problems, "problem:", RED, colours);
                tell(&mut text, &artefact.latent, "will fail when reached:", YELLOW, colours);
                tell(&mut text, &artefact.warnings, "warning:", YELLOW, colours);
            }
            text.push('\n');
        }
        let figures = figures(&Summary::of(self));
        // The figures begin with an empty line, too.
        if !figures.is_empty() && text.ends_with("\n\n") {
            text.pop();
        }
        text.push_str(&figures);
        let count = |of: fn(&Artefact) -> &[Problem]| self.artefacts.iter().map(|it| of(it).len()).sum::<usize>();
        let _ = write!(text, "files: {}, artefacts that run: {}, faulty: {}", self.files, self.ok(), self.faulty());
        let counts = [
            ("problems", count(|it| &it.problems)),
            ("will fail when reached", count(|it| &it.latent)),
            ("warnings", count(|it| &it.warnings)),
        ];
        let counts: Vec<String> =
            counts.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{what}: {count}")).collect();
        let _ = writeln!(text, "{}{}", if counts.is_empty() { "" } else { "; " }, counts.join(", "));
        text
    }

    /// The report for programs.
    ///
    /// Shape: `{"files", "artefacts": [{"kind", "name", "file", "line", "status": "ok" | "faulty",
    /// "problems": [as [`Problem::to_json`] has it], "latent": [the same], "warnings": [the same]}], "ok", "faulty",
    /// "summary"}`; the last as [`Summary::to_json`] has it.
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

/// Each with the line that it is told of.
fn tell(text: &mut String, problems: &[Problem], word: &str, colour: u8, colours: Colours) {
    for problem in problems {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "    {} {problem}", colours.paint(colour, word));
        let Some(excerpt) = &problem.excerpt else { continue };
        for line in excerpt.to_text().lines() {
            let line = match line.split_once(" | ").filter(|(number, _)| number.trim().is_empty()) {
                Some((blanks, carets)) => format!("{blanks} | {}", colours.paint_within(colour, carets)),
                None => line.to_owned(),
            };
            let _ = writeln!(text, "      {}", line.trim_end());
        }
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
    use crate::excerpt::Excerpt;
    use crate::problem::Place;

    #[test]
    fn colours_are_all_that_a_terminal_gets_on_top() {
        let excerpt = || Some(Excerpt { line: 1, text: "<a/>".to_owned(), column: 1, length: 2 });
        let problem =
            |message: &str| Problem { excerpt: excerpt(), ..Problem::new(Place::start_of(&"a.xml".into()), message) };
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
        for painted in [
            "\x1b[1ma.xml\x1b[0m\n",
            "\x1b[32mok    \x1b[0m proxy",
            "\x1b[31mproblem:\x1b[0m a.xml:1:1: no",
            "\x1b[33mwarning:",
            "1 | <a/>\n        | \x1b[31m^^\x1b[0m",
        ] {
            assert!(coloured.contains(painted), "{painted:?}: {coloured:?}");
        }
        let codes = ["\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"];
        let plain = codes.iter().fold(coloured, |text, code| text.replace(code, ""));
        assert_eq!(plain, report.to_text());
        assert!(!plain.contains('\x1b'));
    }

    #[test]
    fn files_with_the_gravest_problems_come_first_and_what_runs_well_has_a_line() {
        let artefact = |file: &str, name: &str, problems: &[&str], warnings: &[&str]| {
            let told = |all: &[&str]| {
                let place = Place::start_of(&file.into());
                all.iter().map(|message| Problem::new(place.clone(), *message)).collect::<Vec<_>>()
            };
            let (kind, source) = ("proxy".to_owned(), String::new());
            let (name, file) = (name.to_owned(), file.to_owned());
            let (problems, warnings) = (told(problems), told(warnings));
            Artefact { kind, name, file, line: 1, problems, latent: Vec::new(), warnings, source }
        };
        let artefacts = vec![
            artefact("a.xml", "one", &[], &[]),
            artefact("b.xml", "two", &[], &["beware"]),
            artefact("c.xml", "three", &[], &[]),
            artefact("c.xml", "four", &["no"], &[]),
        ];
        let text = Report { files: 3, artefacts }.to_text();
        let expected = "c.xml\n  faulty proxy four (line 1)\n    problem: c.xml:1:1: no\n  ok     proxy three (line 1)\n\n\
                        b.xml\n  ok     proxy two (line 1)\n    warning: b.xml:1:1: beware\n\n\
                        ok     proxy one (a.xml:1)\n";
        assert!(text.starts_with(expected), "{text}");
        let sum = "files: 3, artefacts that run: 3, faulty: 1; problems: 1, warnings: 1\n";
        assert!(text.ends_with(sum), "{text}");
    }
}
