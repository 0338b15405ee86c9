//! What is wrong with a stylesheet, collected until all of it has been read.

use crate::error::Problem;
use crate::place::Place;
use crate::scope::At;

/// Says that a problem has been noted, so that whoever waits for a result need not say more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported;

/// What the compiler makes of a part of a stylesheet, or the word that it said why not.
pub(super) type Made<T> = Result<T, Reported>;

/// More problems than these are not told: one mistake can make thousands.
const MOST: usize = 200;

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Problems {
    /// The URIs of the modules, in the order they were opened; [`At::file`] is an index in here.
    pub(super) files: Vec<String>,
    errors: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Problems {
    /// Notes an error.
    pub(super) fn error(&mut self, at: At, code: &'static str, message: impl Into<String>) -> Reported {
        if self.errors.len() < MOST {
            let problem = self.problem(at, code, message.into());
            // The declarations of an included module may be looked at twice, and say the same both times.
            if !self.errors.contains(&problem) {
                self.errors.push(problem);
            }
        }
        Reported
    }

    /// Notes something doubtful.
    pub(super) fn warning(&mut self, at: At, code: &'static str, message: impl Into<String>) {
        if self.warnings.len() < MOST {
            let problem = self.problem(at, code, message.into());
            self.warnings.push(problem);
        }
    }

    /// How many errors there are so far.
    pub(super) fn mark(&self) -> usize {
        self.errors.len()
    }

    /// Takes back the errors noted since there were so many, and gives the first of them.
    pub(super) fn take_back(&mut self, mark: usize) -> Option<Problem> {
        self.errors.drain(mark..).next()
    }

    /// The errors in the order of files and lines, if there are any; otherwise the warnings.
    pub(super) fn finish(mut self) -> Result<Vec<Problem>, Vec<Problem>> {
        if self.errors.is_empty() {
            return Ok(self.warnings);
        }
        let files = self.files;
        let file = |problem: &Problem| files.iter().position(|file| *file == problem.place.file);
        self.errors.sort_by_cached_key(|problem| (file(problem), problem.place.line, problem.place.column));
        Err(self.errors)
    }

    fn problem(&self, at: At, code: &'static str, message: String) -> Problem {
        let file = self.files.get(at.file as usize).cloned().unwrap_or_default();
        let place = Place { file, line: u64::from(at.line), column: u64::from(at.column) };
        Problem { place, code, message }
    }
}
