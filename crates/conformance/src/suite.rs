//! The account of one suite.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{page, root, update};

/// The folder with a suite's data; where it is missing, the test says that it is skipped and should return.
///
/// Shape: `folder` is a path inside the folder that `MYELIN_CONFORMANCE` names, by default `../shared/conformance`.
pub fn data(folder: &str) -> Option<PathBuf> {
    let all = std::env::var_os("MYELIN_CONFORMANCE").map(PathBuf::from);
    let path = all.unwrap_or_else(|| root().join("../shared/conformance")).join(folder);
    if path.is_dir() {
        return Some(path);
    }
    myelin_testkit::skip(&format!("there is no {} (MYELIN_CONFORMANCE says where the suites are)", path.display()));
    None
}

/// How the cases of one suite went.
pub struct Suite {
    name: String,
    title: String,
    note: String,
    sets: BTreeMap<String, Counts>,
    /// Each failed case with the reason.
    failures: BTreeMap<String, String>,
    /// How often each reason kept a case from running.
    reasons: BTreeMap<String, usize>,
    /// What else there is to say of how it went.
    remark: String,
}

/// How many cases of a set went how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

impl Suite {
    /// An account without cases.
    ///
    /// Shape: `name` names the list of known failures and the section of the page; `title` heads the section;
    /// `note` stands below it and says what a pass means, one sentence a line.
    pub fn new(name: &str, title: &str, note: &str) -> Suite {
        Suite {
            name: name.to_owned(),
            title: title.to_owned(),
            note: note.to_owned(),
            sets: BTreeMap::new(),
            failures: BTreeMap::new(),
            reasons: BTreeMap::new(),
            remark: String::new(),
        }
    }

    /// A case that went as it should.
    pub fn pass(&mut self, set: &str) {
        self.counts(set).passed += 1;
    }

    /// A case that went wrong.
    ///
    /// Shape: `set` and `case` together name it in the list; `reason` is for whoever reads the output.
    pub fn fail(&mut self, set: &str, case: &str, reason: &str) {
        self.counts(set).failed += 1;
        self.failures.insert(format!("{set}/{case}"), reason.replace('\n', " "));
    }

    /// A case that passes when there is no reason against it.
    pub fn judge(&mut self, set: &str, case: &str, result: Result<(), String>) {
        match result {
            Ok(()) => self.pass(set),
            Err(reason) => self.fail(set, case, &reason),
        }
    }

    /// A case that does not apply; the page says how many had the same reason.
    pub fn skip(&mut self, set: &str, reason: &str) {
        self.counts(set).skipped += 1;
        // Some end in a value that is empty.
        *self.reasons.entry(reason.trim_end().to_owned()).or_default() += 1;
    }

    /// The known failures whose names begin so.
    pub fn known(&self, start: &str) -> BTreeSet<String> {
        let list = fs::read_to_string(self.list()).unwrap_or_default();
        list.lines().filter(|line| is_case(line) && line.starts_with(start)).map(str::to_owned).collect()
    }

    /// The list of known failures.
    fn list(&self) -> PathBuf {
        root().join("crates/conformance/known").join(format!("{}.txt", self.name))
    }

    /// Says something else of how it went, in a sentence below the table.
    pub fn remark(&mut self, sentence: String) {
        self.remark = sentence;
    }

    /// Prints the table and compares the failures with the known ones and the table with the page.
    ///
    /// With `UPDATE=1`, the page is rewritten, and cases that pass now leave the list;
    /// a list that does not exist yet is begun.
    ///
    /// # Panics
    /// When there is a difference: this is the assertion of the suite's test.
    #[expect(clippy::print_stdout, reason = "the table is for whoever runs the test with --nocapture")]
    pub fn finish(&self) {
        let section = self.section();
        println!("{section}");
        let mut complaints = self.compare(&self.list());
        complaints.extend(page::compare(&root().join("docs/conformance.md"), &self.name, &section));
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }

    /// As [`finish`](Suite::finish), where some of the cases are not there: a case that is not known to fail must not,
    /// and neither the list nor the page says anything of the others.
    ///
    /// # Panics
    /// When a case fails that is not in the list.
    #[expect(clippy::print_stdout, reason = "the table is for whoever runs the test with --nocapture")]
    pub fn finish_partly(&self) {
        println!("{}", self.section());
        let known = self.known("");
        let new = self.failures.iter().filter(|(case, _)| !known.contains(*case));
        let complaints: Vec<String> = new.map(|(case, reason)| format!("{case} fails: {reason}")).collect();
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }

    fn counts(&mut self, set: &str) -> &mut Counts {
        // Nearly always the set is known: no need to own its name each time.
        if !self.sets.contains_key(set) {
            self.sets.insert(set.to_owned(), Counts::default());
        }
        self.sets.get_mut(set).expect("it was put in if it was not there")
    }

    /// What differs from the list of known failures.
    fn compare(&self, path: &Path) -> Vec<String> {
        let old = fs::read_to_string(path).ok();
        let known: BTreeSet<&str> = old.as_deref().unwrap_or("").lines().filter(|line| is_case(line)).collect();
        let new: Vec<_> = self.failures.iter().filter(|(case, _)| !known.contains(case.as_str())).collect();
        let gone: Vec<_> = known.iter().filter(|case| !self.failures.contains_key(**case)).collect();
        if update() {
            let text = match &old {
                Some(old) => old.lines().filter(|line| !gone.contains(&line)).fold(String::new(), add_line),
                None => self.failures.keys().fold(String::new(), |text, case| add_line(text, case)),
            };
            if old.as_ref() != Some(&text)
                && let Err(error) = fs::write(path, text)
            {
                return vec![format!("{}: {error}", path.display())];
            }
        }
        let mut complaints = Vec::new();
        if !update() || old.is_some() {
            complaints.extend(new.iter().map(|(case, reason)| format!("{case} fails: {reason}")));
        }
        if !update() {
            complaints.extend(gone.iter().map(|case| format!("{case} passes: it should leave {}", path.display())));
        }
        complaints
    }

    /// The suite's section of the page.
    fn section(&self) -> String {
        let mut text =
            format!("## {}\n\n{}\n\n| set | passed | failed | skipped |\n|---|--:|--:|--:|\n", self.title, self.note);
        let mut sum = Counts::default();
        for (set, counts) in &self.sets {
            row(&mut text, set, *counts);
            sum.passed += counts.passed;
            sum.failed += counts.failed;
            sum.skipped += counts.skipped;
        }
        row(&mut text, "**all**", sum);
        if !self.reasons.is_empty() {
            text += "\nSkipped:\n";
            for (reason, count) in &self.reasons {
                text += &format!("- {count}: {reason}\n");
            }
        }
        if !self.remark.is_empty() {
            text += &format!("\n{}\n", self.remark);
        }
        text
    }
}

fn row(text: &mut String, set: &str, counts: Counts) {
    let Counts { passed, failed, skipped } = counts;
    writeln!(text, "| {set} | {passed} | {failed} | {skipped} |").expect("writing to a string does not fail");
}

fn is_case(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

fn add_line(mut text: String, line: &str) -> String {
    text += line;
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite() -> Suite {
        let mut suite = Suite::new("trial", "Trial", "A trial.");
        suite.pass("a");
        suite.fail("a", "1", "wrong");
        suite.skip("b", "out of scope");
        suite
    }

    #[test]
    fn new_failures_and_listed_passes_are_complaints() {
        let list = std::env::temp_dir().join(format!("myelin-known-{}", std::process::id()));
        fs::write(&list, "# Why.\na/2\n").unwrap();
        let complaints = suite().compare(&list);
        fs::remove_file(&list).unwrap();
        assert_eq!(complaints.len(), 2);
        assert_eq!(complaints[0], "a/1 fails: wrong");
        assert!(complaints[1].starts_with("a/2 passes"));
    }

    #[test]
    fn the_section_has_a_row_for_each_set_and_the_sum() {
        let section = suite().section();
        assert!(
            section.ends_with(
                "| a | 1 | 1 | 0 |\n| b | 0 | 0 | 1 |\n| **all** | 1 | 1 | 1 |\n\nSkipped:\n- 1: out of scope\n"
            ),
            "{section}"
        );
    }
}
