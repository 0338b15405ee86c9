//! JSONPath in the dialect of Jayway's library (2.9), which is what `json-eval` means.
//!
//! A path is compiled once and run often.
//! Where we differ from Jayway on purpose is listed at [`Path::compile`].

mod ast;
mod change;
mod evaluate;
mod filter;
mod found;
mod function;
mod holes;
mod parse;
mod rules;
mod terms;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::error::Error;
use crate::text;
use crate::value::{NodeId, Value};
pub use ast::Path;
pub(crate) use ast::Step;
use evaluate::Evaluator;
pub use found::Match;
pub use rules::{Duplicates, Rules};

impl Path {
    /// Compiles a path; white space around it does not count, and `a.b` means `$.a.b`.
    ///
    /// Supported: names, indexes, slices, `*`, `..`, filters, functions at the end.
    /// Refused here, where Jayway takes it and does something else than it says or fails when it runs:
    /// a function that is unknown or not the last step; `first`, `last`, `index`, `append` and `keys` in a path that begins with `..`; arguments where none belong; `!` before a comparison without parentheses; a filter without its closing brackets; text in single quotes as an argument; the operators `all` and `type`, and predicates handed over by programs (`[?]`).
    /// Other than in Jayway, `max` of negative numbers is one of them, `last` of one element is that element, and `$..*.x` finds what it says.
    ///
    /// Errors: `Path` with the offset: its author's.
    /// Source: json-path 2.9.0 with json-smart 2.5.0; compare `SynapseJsonPath`.
    pub fn compile(path: &str) -> Result<Path, Error> {
        parse::compile(path)
    }

    /// Compiles a path with holes: `#0`, `#1` … stand in brackets for names, indexes and ends of slices, and in filters
    /// for values. [`Path::filled`] makes a path of it that can be run.
    ///
    /// Errors: as [`Path::compile`].
    pub fn with_holes(path: &str) -> Result<Path, Error> {
        parse::compile_with_holes(path)
    }

    /// What the path leads to, in the order of the text.
    ///
    /// Shape: exactly one match for a definite path, any number for another.
    /// Errors: `NotFound`, `Inapplicable`, `Visited`, `Duplicate`, `Made`: the sender's, or the path does not fit the message.
    pub fn find(&self, value: &Value, rules: &Rules) -> Result<Vec<Match>, Error> {
        self.find_from(value, value.root(), rules)
    }

    /// The same for a part of a value, which `$` stands for then.
    ///
    /// Errors: as [`Path::find`].
    pub fn find_from(&self, value: &Value, part: NodeId, rules: &Rules) -> Result<Vec<Match>, Error> {
        Evaluator::new(value, rules).run_part(self, part)
    }

    /// What the path leads to in a part of a value, as one: of an indefinite path, a JSON array of all that it finds.
    ///
    /// Errors: as [`Path::find`].
    pub fn outcome(&self, value: &Value, part: NodeId, rules: &Rules) -> Result<Match, Error> {
        self.as_one(value, self.find_from(value, part, rules)?, rules)
    }

    /// What `json-eval` makes of it: the [text](Match::text) of its [outcome](Path::outcome).
    ///
    /// Errors: as [`Path::find`].
    /// Source: compare `SynapseJsonPath.stringValueOf`.
    pub fn text(&self, value: &Value, rules: &Rules) -> Result<String, Error> {
        self.outcome(value, value.root(), rules)?.text(value, rules).map(Cow::into_owned)
    }

    /// What the path leads to, as a JSON text without white space; an array if it is not definite.
    ///
    /// Errors: as [`Path::find`].
    pub fn json(&self, value: &Value, rules: &Rules) -> Result<String, Error> {
        self.outcome(value, value.root(), rules)?.json(value, rules).map(Cow::into_owned)
    }

    /// What the path found: the one thing of a definite path, or an array of all.
    fn as_one(&self, value: &Value, mut found: Vec<Match>, rules: &Rules) -> Result<Match, Error> {
        if self.is_definite() {
            return found.pop().ok_or(Error::NotFound);
        }
        let mut out = vec![b'['];
        for (index, found) in found.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            found.write(value, rules, &mut out)?;
        }
        out.push(b']');
        Ok(Match::Made(text::into_string(out)))
    }
}
