//! JSONPath in the dialect of Jayway's library (2.9), which is what `json-eval` means.
//!
//! A path is compiled once and run often.
//! Where we differ from Jayway on purpose is listed at [`Path::compile`].

mod change;
mod evaluate;
mod filter;
mod function;
mod holes;
mod number;
mod parse;
mod terms;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::error::Error;
use crate::text;
use crate::value::{NodeId, Type, Value};
use evaluate::Evaluator;
use filter::Expression;
use function::Function;
use holes::Open;

/// Which member counts where an object has a key twice.
///
/// See `docs/decisions/0004-json-duplicate-keys.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Duplicates {
    /// The first, so that a decision can fall before the rest of the text has come.
    #[default]
    First,
    /// The last, as Jayway and most programs read; nothing is decided before the object ends.
    Last,
    /// Neither: looking such a key up is an error.
    Refuse,
}

/// How a path is evaluated.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Which of two members with the same key counts.
    pub duplicates: Duplicates,
    /// Nodes that one evaluation may look at, those it only passes by included; each 256 bytes of a text that a filter
    /// compares count as one.
    pub visits: usize,
    /// Bytes of text that one evaluation may make or put in.
    pub bytes: usize,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { duplicates: Duplicates::default(), visits: 10_000_000, bytes: 64 << 20 }
    }
}

impl Rules {
    /// Writes a part of a value behind what was made already.
    fn write(&self, value: &Value, node: NodeId, out: &mut Vec<u8>) -> Result<(), Error> {
        if value.write_within(node, self.bytes, out) { Ok(()) } else { Err(Error::Made(self.bytes)) }
    }
}

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// A node of the value.
    Node(NodeId),
    /// Something that is not in the value, as JSON text: what a function gave, or members picked from an object.
    Made(String),
}

/// Where a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// `$`
    Document,
    /// `@`: what a filter looks at.
    Item,
}

#[derive(Debug, Clone)]
enum Token {
    /// `.name`, `['name']`, `['a','b']`
    Names(Vec<String>),
    /// `[0]`, `[0,-1]`
    Indexes(Vec<i32>),
    /// `[1:2]`, one of them may be missing.
    Slice(Option<i32>, Option<i32>),
    /// `.*`, `[*]`
    Wildcard,
    /// `[?(…)]`
    Filter(Expression),
    /// `..`
    Scan,
    /// `.length()`, always the last.
    Function(Function),
    /// `[#0]`, `[#0:2]`: to be filled before the path is run.
    Open(Open),
}

/// A compiled path.
#[derive(Debug, Clone)]
pub struct Path {
    text: String,
    origin: Origin,
    tokens: Vec<Token>,
}

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

    /// The text it was compiled from.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it leads to at most one thing; otherwise its result is a list.
    pub fn is_definite(&self) -> bool {
        let last = self.tokens.len().wrapping_sub(1);
        if self.gathers() {
            return true;
        }
        self.tokens.iter().enumerate().all(|(index, token)| match token {
            Token::Names(names) => names.len() == 1 || index == last,
            Token::Indexes(indexes) => indexes.len() == 1,
            Token::Function(_) => true,
            Token::Slice(..) | Token::Wildcard | Token::Filter(_) | Token::Scan | Token::Open(_) => false,
        })
    }

    /// Whether a function at the end takes everything the path finds at once, as it does where the path begins with `..`.
    fn gathers(&self) -> bool {
        matches!(self.tokens.as_slice(), [Token::Scan, .., Token::Function(_)])
    }

    /// The steps of a path that a stream can follow: names and indexes from the front; `None` for any other.
    pub(crate) fn steps(&self) -> Option<Vec<Step<'_>>> {
        let steps = self.tokens.iter().map(|token| match token {
            Token::Names(names) if names.len() == 1 => Some(Step::Name(&names[0])),
            Token::Indexes(indexes) if indexes.len() == 1 => u32::try_from(indexes[0]).ok().map(Step::Index),
            _ => None,
        });
        steps.collect()
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

impl Match {
    /// A string as its text, other scalars as written, arrays and objects as JSON without white space.
    ///
    /// Errors: as [`Match::json`].
    pub fn text<'a>(&'a self, value: &'a Value, rules: &Rules) -> Result<Cow<'a, str>, Error> {
        match self {
            Match::Node(node) if value.kind(*node) == Type::String => Ok(value.scalar(*node).unwrap_or_default()),
            Match::Made(json) if json.starts_with('"') => Ok(text::unescape(&json.as_bytes()[1..json.len() - 1])),
            other => other.json(value, rules),
        }
    }

    /// JSON without white space.
    ///
    /// Errors: `Made` where that is longer than the rules allow.
    pub fn json<'a>(&'a self, value: &Value, rules: &Rules) -> Result<Cow<'a, str>, Error> {
        if let Match::Made(json) = self {
            return Ok(Cow::Borrowed(json));
        }
        let mut out = Vec::new();
        self.write(value, rules, &mut out)?;
        Ok(Cow::Owned(text::into_string(out)))
    }

    fn write(&self, value: &Value, rules: &Rules, out: &mut Vec<u8>) -> Result<(), Error> {
        match self {
            Match::Node(node) => rules.write(value, *node, out),
            Match::Made(json) => {
                out.extend_from_slice(json.as_bytes());
                if out.len() > rules.bytes { Err(Error::Made(rules.bytes)) } else { Ok(()) }
            }
        }
    }
}

/// A step that a stream can follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step<'a> {
    /// Into the member of that key.
    Name(&'a str),
    /// Into the element of that position.
    Index(u32),
}
