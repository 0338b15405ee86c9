//! The page with the counts of all suites: one section for each, between two marks.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::update;

const HEAD: &str = "# Conformance

How Myelin fares with suites that others made; `cargo xtask conformance` runs them.
Each section is written by its suite with `UPDATE=1`; a difference fails the suite's test.
The names of failed cases are in `crates/conformance/known`, and a case may only leave these lists.
";

/// Suites that run at once in one test program write the page one after the other.
static WRITING: Mutex<()> = Mutex::new(());

/// What is wrong with a suite's section; with `UPDATE=1` it is written instead.
pub(crate) fn compare(path: &Path, name: &str, section: &str) -> Option<String> {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let old = fs::read_to_string(path).unwrap_or_else(|_| HEAD.to_owned());
    let new = with_section(&old, name, section);
    if old == new {
        return None;
    }
    if update() {
        return fs::write(path, new).err().map(|error| format!("{}: {error}", path.display()));
    }
    Some(format!("{} has other counts for {name}; UPDATE=1 writes them", path.display()))
}

/// The page with this section, in the place of an older one or at the end.
fn with_section(page: &str, name: &str, section: &str) -> String {
    let (begin, end) = (format!("<!-- {name} begins -->\n"), format!("<!-- {name} ends -->\n"));
    let marked = format!("{begin}{section}{end}");
    match (page.find(&begin), page.find(&end)) {
        (Some(from), Some(to)) if from < to => format!("{}{marked}{}", &page[..from], &page[to + end.len()..]),
        _ => format!("{page}\n{marked}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_replaced_in_its_place() {
        let page = with_section(&with_section("# P\n", "a", "one\n"), "b", "two\n");
        assert_eq!(with_section(&page, "a", "three\n"), page.replace("one", "three"));
    }
}
