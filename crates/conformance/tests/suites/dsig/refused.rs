//! The list of vectors that are refused, each with the rule that does.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use myelin_conformance::Suite;

use super::Outcome;

/// Vectors by their names, each with the name of a rule.
pub(crate) struct Expected {
    rules: BTreeMap<String, String>,
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("known/dsig-refused.txt")
}

impl Expected {
    /// Reads the list: on each line a file and a rule, reasons on lines that begin with `#`.
    pub(crate) fn read() -> Expected {
        let text = fs::read_to_string(path()).unwrap_or_default();
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let split = lines.filter_map(|line| line.rsplit_once(' '));
        Expected { rules: split.map(|(name, rule)| (name.to_owned(), rule.to_owned())).collect() }
    }

    /// Judges one vector, which leaves the list.
    pub(crate) fn judge(&mut self, suite: &mut Suite, set: &str, name: &str, result: Result<(), Outcome>) {
        let case = name.split_once('/').map_or(name, |(_, case)| case);
        let expected = self.rules.remove(name);
        let row = if expected.is_some() { format!("{set}, refused") } else { set.to_owned() };
        let result = match (expected, result) {
            (None, Ok(())) => Ok(()),
            (Some(rule), Err(Outcome::Refused(refusal))) if format!("{:?}", refusal.rule) == rule => Ok(()),
            (Some(rule), Ok(())) => Err(format!("accepted, expected {rule}")),
            (Some(rule), Err(outcome)) => Err(format!("{outcome:?}, expected {rule}")),
            (None, Err(Outcome::Refused(refusal))) => Err(format!("{:?}: {}", refusal.rule, refusal.detail)),
            (None, Err(Outcome::Failed(reason))) => Err(reason),
        };
        suite.judge(&row, case, result);
    }

    /// Complains of what is on the list and not in the suite.
    pub(crate) fn finish(self, suite: &mut Suite) {
        for name in self.rules.keys() {
            suite.fail("known/dsig-refused.txt", name, "the suite has no such file");
        }
    }
}
