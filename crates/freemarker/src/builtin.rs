//! A built-in, and what it is called with.

use regex::Regex;

use crate::error::Trouble;
use crate::machine::Run;
use crate::syntax::BuiltinCall;
use crate::value::{Text, Value, expected};

/// A built-in.
#[derive(Debug)]
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    /// How many arguments it takes, at least and at most.
    pub(crate) arguments: (usize, usize),
    pub(crate) takes: Takes,
    pub(crate) run: Runner,
}

/// What a built-in takes beside values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Values,
    /// A function, or `x -> …`, as its first argument.
    Lambda,
    /// A subject that may not be there.
    Missing,
}

pub(crate) type Runner = for<'r, 'i, 'm> fn(&mut Run<'r, 'm>, &Input<'i, 'm>) -> Outcome<'m>;

/// What a built-in gives.
pub(crate) type Outcome<'m> = Result<Option<Value<'m>>, Trouble>;

/// What a built-in is called with.
pub(crate) struct Input<'i, 'm> {
    pub(crate) subject: Value<'m>,
    pub(crate) subject_is_missing: bool,
    /// All arguments that are values.
    pub(crate) arguments: Vec<Value<'m>>,
    pub(crate) call: &'i BuiltinCall,
}

pub(crate) const fn plain(name: &'static str, run: Runner) -> Builtin {
    Builtin { name, arguments: (0, 0), takes: Takes::Values, run }
}

pub(crate) const fn with(name: &'static str, least: usize, most: usize, run: Runner) -> Builtin {
    Builtin { name, arguments: (least, most), takes: Takes::Values, run }
}

pub(crate) const fn tolerant(name: &'static str, most: usize, run: Runner) -> Builtin {
    Builtin { name, arguments: (0, most), takes: Takes::Missing, run }
}

pub(crate) const fn lambda(name: &'static str, run: Runner) -> Builtin {
    Builtin { name, arguments: (1, 1), takes: Takes::Lambda, run }
}

impl<'m> Input<'_, 'm> {
    /// The text of the subject.
    pub(crate) fn text(&self, run: &Run<'_, 'm>) -> Result<Text<'m>, Trouble> {
        run.text(&self.subject)
    }

    /// The text of an argument; `None` where there is no such argument.
    pub(crate) fn argument(&self, index: usize, run: &Run<'_, 'm>) -> Result<Option<Text<'m>>, Trouble> {
        self.arguments.get(index).map(|argument| run.text(argument)).transpose()
    }

    /// The text of an argument that must be there.
    pub(crate) fn needed(&self, index: usize, run: &Run<'_, 'm>) -> Result<Text<'m>, Trouble> {
        self.argument(index, run)?.ok_or_else(|| Trouble::wrong("an argument is missing"))
    }

    /// A whole number that is an argument; `None` where there is no such argument.
    pub(crate) fn integer(&self, index: usize) -> Result<Option<i64>, Trouble> {
        match self.arguments.get(index) {
            None => Ok(None),
            Some(Value::Number(number)) => {
                number.as_integer().map(Some).ok_or_else(|| Trouble::wrong("the number is too large here"))
            }
            Some(other) => Err(expected("a number", other)),
        }
    }

    /// The pattern that an argument is.
    pub(crate) fn pattern(&self, index: usize, flags: &str, run: &mut Run<'_, 'm>) -> Result<Regex, Trouble> {
        match &self.call.regex {
            Some(regex) => Ok(regex.clone()),
            None => {
                let pattern = self.needed(index, run)?;
                run.pattern(&whole_if(self.call.builtin, &pattern), flags)
            }
        }
    }

    /// All values of the subject in order.
    pub(crate) fn items(&self, run: &mut Run<'_, 'm>) -> Result<Vec<Option<Value<'m>>>, Trouble> {
        let length = self.subject.length().ok_or_else(|| expected("a sequence", &self.subject))?;
        run.spend(length as u64)?;
        Ok((0..length).map(|index| self.subject.item(index)).collect())
    }
}

/// A pattern that is to match all, where the built-in wants that.
pub(crate) fn whole_if(builtin: &Builtin, pattern: &str) -> String {
    if builtin.name == "matches" { format!(r"\A(?:{pattern})\z") } else { pattern.to_owned() }
}
