//! The W3C's test suite for XSLT 3.0, which holds the cases of the older versions.

mod assertion;
mod catalog;
mod environment;

use std::path::Path;

use myelin_conformance::{Suite, data};
use myelin_xml::Kind;

use crate::xslt::engine::Failure;
pub(crate) use assertion::Verdict;
use assertion::judge;
pub(crate) use catalog::{Prepared, Versions, Visit, walk};
use environment::child;

const NOTE_1: &str = "[xslt30-test](https://github.com/w3c/xslt30-test), the cases for XSLT 1.0 whose files are there.
A case that expects an error passes when there is one; how many have the very code is said below.
Results are compared as XML, and without white space between tags where the stylesheet asks for an indented result.";

const NOTE_2: &str =
    "[xslt30-test](https://github.com/w3c/xslt30-test), the cases for XSLT 2.0 and later whose files are there.
A case that expects an error passes when there is one.
Cases count as skipped where all they test is not offered: schemas, packages, streaming.";

/// The account of one group of cases.
struct Account {
    suite: Suite,
    /// Cases that should end in an error and do, by whether it has the code that is expected.
    same_code: usize,
    other_code: usize,
}

impl Account {
    fn new(name: &str, title: &str, note: &str) -> Account {
        Account { suite: Suite::new(name, title, note), same_code: 0, other_code: 0 }
    }

    fn enter(&mut self, visit: &Visit<'_>, verdict: Result<Verdict, String>) {
        match verdict {
            Err(reason) => self.suite.skip(visit.set, &reason),
            Ok(Verdict::Unjudged(reason)) => self.suite.skip(visit.set, reason),
            Ok(Verdict::Fails(reason)) => self.suite.fail(visit.set, visit.id, &reason),
            Ok(Verdict::Holds) => self.suite.pass(visit.set),
            Ok(Verdict::SameCode) => {
                self.same_code += 1;
                self.suite.pass(visit.set);
            }
            Ok(Verdict::OtherCode) => {
                self.other_code += 1;
                self.suite.pass(visit.set);
            }
        }
    }

    fn finish(mut self) {
        let errors = self.same_code + self.other_code;
        self.suite.remark(format!(
            "Of {errors} errors that are expected and come, {} have the code that is expected.",
            self.same_code
        ));
        self.suite.finish();
    }
}

#[test]
fn w3c_1() {
    run(Versions::One, Account::new("xslt-w3c-1", "XSLT 1.0: the W3C's cases", NOTE_1));
}

#[test]
fn w3c_2() {
    run(Versions::Later, Account::new("xslt-w3c-2", "XSLT 2.0 and later: the W3C's cases", NOTE_2));
}

/// Runs the cases for some processors.
fn run(versions: Versions, mut account: Account) {
    let Some(folder) = data("xslt-w3c") else { return };
    let folder = folder.canonicalize().expect("it is there");
    walk(&folder, &mut |visit| {
        if visit.versions == versions {
            account.enter(&visit, verdict(&visit, &folder));
        }
    });
    account.finish();
}

/// How a case ended, or why it does not apply.
pub(crate) fn verdict(visit: &Visit<'_>, folder: &Path) -> Result<Verdict, String> {
    let set = visit.document;
    let outcome = visit.prepared.as_ref().map_err(Clone::clone)?.run(folder);
    if let Err(Failure::Document(reason)) = outcome {
        return Err(format!("needs a document that we do not read: {reason}"));
    }
    let result = child(set, visit.case, "result").ok_or("has no result")?;
    let wanted = set.children(result).find(|&part| set.kind(part) == Kind::Element).ok_or("has no result")?;
    Ok(judge(set, wanted, &outcome, visit.folder))
}
