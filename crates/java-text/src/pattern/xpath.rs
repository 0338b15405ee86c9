//! Regular expressions of XPath: XML Schema's, with anchors, groups that count, and back-references.
//!
//! They run in linear time, unless they have back-references.
//! Source: Functions and Operators §5.6.1, XML Schema part 2 appendix F.

mod backtrack;
mod blocks;
mod classes;
mod matches;
mod syntax;

use regex::{CaptureLocations, Regex, RegexBuilder};

use super::reason;
pub use backtrack::{Pay, SearchLimit};
use backtrack::{Places, Program};
pub use matches::Matches;
use syntax::Flags;

/// A regular expression, ready to run.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: String,
    engine: Engine,
    is_literal: bool,
}

#[derive(Clone, Debug)]
enum Engine {
    Linear(Regex),
    Backtracking(Box<Program>),
}

/// Where the groups of a match are.
enum Groups {
    Linear(CaptureLocations),
    Backtracking(Places),
}

impl Groups {
    fn get(&self, group: usize) -> Option<(usize, usize)> {
        match self {
            Groups::Linear(locations) => locations.get(group),
            Groups::Backtracking(places) => (*places.get(2 * group)?).zip(*places.get(2 * group + 1)?),
        }
    }
}

/// Why there is no pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// A flag that there is not.
    Flag(char),
    /// A sentence that says what is wrong with the expression.
    Expression(String),
}

impl Pattern {
    /// Compiles a pattern with its flags, of which there are `s`, `m`, `i`, `x` and `q`.
    ///
    /// Errors: its author's.
    pub fn new(source: &str, flags: &str) -> Result<Pattern, PatternError> {
        if let Some(flag) = flags.chars().find(|flag| !"smixq".contains(*flag)) {
            return Err(PatternError::Flag(flag));
        }
        let has = |flag: char| flags.contains(flag);
        let (is_literal, multi_line) = (has('q'), has('m') && !has('q'));
        let mut translated = String::with_capacity(source.len() + 16);
        if is_literal {
            translated.push_str(&regex::escape(source));
        } else {
            let flags = Flags { dot_all: has('s'), spaced: has('x'), caseless: has('i') };
            let parsed = syntax::parse(source, flags).map_err(PatternError::Expression)?;
            if parsed.refers_back {
                let program =
                    Program::new(&parsed.root, parsed.groups, flags, multi_line).map_err(PatternError::Expression)?;
                let engine = Engine::Backtracking(Box::new(program));
                return Ok(Pattern { source: source.to_owned(), engine, is_literal });
            }
            syntax::write(&parsed.root, &mut translated);
        }
        let regex = RegexBuilder::new(&translated).case_insensitive(has('i')).multi_line(multi_line).build();
        let engine = Engine::Linear(regex.map_err(|error| PatternError::Expression(reason(&error)))?);
        Ok(Pattern { source: source.to_owned(), engine, is_literal })
    }

    /// As it is written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether a replacement, too, is meant as it is written (flag `q`).
    pub fn is_literal(&self) -> bool {
        self.is_literal
    }

    /// How many groups count, the whole match among them.
    pub fn groups(&self) -> usize {
        match &self.engine {
            Engine::Linear(regex) => regex.captures_len(),
            Engine::Backtracking(program) => program.groups,
        }
    }

    /// Whether it is found somewhere in a text.
    ///
    /// Errors: those of `pay`, which is asked only where there are back-references; too many ways to match.
    pub fn is_match<E: From<SearchLimit>>(&self, text: &str, pay: Pay<'_, E>) -> Result<bool, E> {
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.is_match(text)),
            Engine::Backtracking(program) => Ok(program.find(text, 0, pay)?.is_some()),
        }
    }

    fn no_groups(&self) -> Groups {
        match &self.engine {
            Engine::Linear(regex) => Groups::Linear(regex.capture_locations()),
            Engine::Backtracking(_) => Groups::Backtracking(Vec::new()),
        }
    }

    /// Begin and end of the first match that begins at `start` or behind it.
    fn find<E: From<SearchLimit>>(
        &self,
        text: &str,
        start: usize,
        groups: &mut Groups,
        pay: Pay<'_, E>,
    ) -> Result<Option<(usize, usize)>, E> {
        match (&self.engine, &mut *groups) {
            (Engine::Linear(regex), Groups::Linear(locations)) => {
                Ok(regex.captures_read_at(locations, text, start).map(|found| (found.start(), found.end())))
            }
            (Engine::Backtracking(program), _) => {
                let Some(found) = program.find(text, start, pay)? else { return Ok(None) };
                *groups = Groups::Backtracking(found);
                Ok(groups.get(0))
            }
            (Engine::Linear(_), Groups::Backtracking(_)) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests;
