//! The report in figures: what share of a configuration runs, and which causes stop how much of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value, json};

use crate::problem::Problem;
use crate::report::{Artefact, Report};

/// How much of a configuration runs, and why the rest does not.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The files of which everything runs.
    pub whole_files: usize,
    /// All files.
    pub files: usize,
    /// Each kind of artefact, in alphabetical order.
    pub kinds: Vec<Share>,
    /// What keeps artefacts from running, the most frequent first.
    pub reasons: Vec<Cause>,
    /// What makes steps of artefacts fail that run, the most frequent first.
    pub latent: Vec<Cause>,
    /// What has no effect, or another one than in Synapse, the most frequent first.
    pub remarks: Vec<Cause>,
}

/// How many artefacts of a kind run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The element that defines them.
    pub kind: String,
    /// Those that run.
    pub run: usize,
    /// All of them.
    pub all: usize,
}

/// Problems or warnings that are the same but for the names in them.
#[derive(Clone, Debug)]
pub struct Cause {
    /// The sentence, with `…` for the names.
    pub sentence: String,
    /// How many artefacts have it.
    pub artefacts: usize,
    /// How many files have it.
    pub files: usize,
    /// The first of them.
    pub first: Problem,
}

impl Share {
    /// How many of a hundred run; of none, all do.
    pub fn percent(&self) -> f64 {
        if self.all == 0 { 100.0 } else { 100.0 * self.run as f64 / self.all as f64 }
    }
}

impl Summary {
    /// What a report says, in figures.
    pub fn of(report: &Report) -> Summary {
        let faulty = report.artefacts.iter().filter(|artefact| !artefact.is_ok());
        let broken: BTreeSet<&str> = faulty.map(|artefact| artefact.file.as_str()).collect();
        let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for artefact in &report.artefacts {
            let (run, all) = kinds.entry(&artefact.kind).or_default();
            *run += usize::from(artefact.is_ok());
            *all += 1;
        }
        Summary {
            whole_files: report.files.saturating_sub(broken.len()),
            files: report.files,
            kinds: kinds.into_iter().map(|(kind, (run, all))| Share { kind: kind.to_owned(), run, all }).collect(),
            reasons: causes(&report.artefacts, |artefact| &artefact.problems),
            latent: causes(&report.artefacts, |artefact| &artefact.latent),
            remarks: causes(&report.artefacts, |artefact| &artefact.warnings),
        }
    }

    /// Artefacts of all kinds together.
    pub fn total(&self) -> Share {
        let sum = |figure: fn(&Share) -> usize| self.kinds.iter().map(figure).sum();
        Share { kind: "all".to_owned(), run: sum(|share| share.run), all: sum(|share| share.all) }
    }

    /// The summary for programs.
    ///
    /// Shape: `{"files", "whole_files", "kinds": [{"kind", "run", "all"}], "reasons": [{"sentence", "artefacts",
    /// "files", "first": {"file", "line", "column", "message"}}], "latent": [the same], "remarks": [the same]}`.
    pub fn to_json(&self) -> Value {
        let causes = |causes: &[Cause]| {
            let causes = causes.iter().map(|cause| {
                json!({
                    "sentence": cause.sentence,
                    "artefacts": cause.artefacts,
                    "files": cause.files,
                    "first": cause.first.to_json(),
                })
            });
            Value::Array(causes.collect())
        };
        let kinds = self.kinds.iter().map(|Share { kind, run, all }| json!({ "kind": kind, "run": run, "all": all }));
        json!({
            "files": self.files,
            "whole_files": self.whole_files,
            "kinds": kinds.collect::<Vec<_>>(),
            "reasons": causes(&self.reasons),
            "latent": causes(&self.latent),
            "remarks": causes(&self.remarks),
        })
    }
}

fn causes(artefacts: &[Artefact], problems: fn(&Artefact) -> &[Problem]) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    let mut found: HashMap<String, (usize, BTreeSet<&str>)> = HashMap::new();
    for artefact in artefacts {
        let mut said = BTreeSet::new();
        for problem in problems(artefact) {
            let sentence = without_names(problem.message());
            if !said.insert(sentence.clone()) {
                continue;
            }
            let (at, files) = found.entry(sentence).or_insert_with_key(|sentence| {
                let cause = Cause { sentence: sentence.clone(), artefacts: 0, files: 0, first: problem.clone() };
                causes.push(cause);
                (causes.len() - 1, BTreeSet::new())
            });
            files.insert(&artefact.file);
            causes[*at].artefacts += 1;
            causes[*at].files = files.len();
        }
    }
    // The sort is stable: of equally frequent ones the first that was found comes first.
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.artefacts));
    causes
}

/// A sentence with an ellipsis for what stands in quotes.
fn without_names(sentence: &str) -> String {
    let mut short = String::with_capacity(sentence.len());
    for (index, part) in sentence.split('"').enumerate() {
        if index % 2 == 0 {
            short.push_str(part);
        } else {
            short.push('…');
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Place;

    fn artefact(kind: &str, file: &str, messages: &[&str]) -> Artefact {
        let place = || Place { file: file.into(), line: 3, column: 1 };
        Artefact {
            kind: kind.to_owned(),
            name: "n".to_owned(),
            file: file.to_owned(),
            line: 1,
            problems: messages.iter().map(|text| Problem::new(place(), *text)).collect(),
            latent: Vec::new(),
            warnings: Vec::new(),
            source: String::new(),
        }
    }

    #[test]
    fn causes_are_counted_by_artefact_and_file_whatever_names_they_hold() {
        let artefacts = vec![
            artefact("proxy", "a.xml", &["there is no sequence \"x\"", "there is no sequence \"y\""]),
            artefact("proxy", "a.xml", &["there is no sequence \"z\"", "mediator <script> is not offered yet"]),
            artefact("sequence", "b.xml", &[]),
        ];
        let summary = Summary::of(&Report { files: 2, artefacts });
        let counted: Vec<_> =
            summary.reasons.iter().map(|cause| (cause.sentence.as_str(), cause.artefacts, cause.files)).collect();
        assert_eq!(
            counted,
            [("there is no sequence …", 2, 1), ("mediator <script> is not offered yet", 1, 1)],
            "an artefact counts once"
        );
        assert_eq!((summary.whole_files, summary.files), (1, 2));
        assert_eq!(summary.kinds[0], Share { kind: "proxy".to_owned(), run: 0, all: 2 });
        assert_eq!(summary.total().percent().round(), 33.0);
    }
}
