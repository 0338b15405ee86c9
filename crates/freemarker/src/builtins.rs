//! The built-ins: what stands behind a question mark.

mod kind;
mod moment;
mod number;
mod sequence;
mod text;

use regex::Regex;

use crate::error::Trouble;
use crate::parse::regex;
use crate::run::Run;
use crate::syntax::{BuiltinCall, Expression, ExpressionKind};
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

type Runner = for<'r, 'i, 'm> fn(&mut Run<'r, 'm>, &Input<'i, 'm>) -> Outcome<'m>;

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

const fn plain(name: &'static str, run: Runner) -> Builtin {
    Builtin { name, arguments: (0, 0), takes: Takes::Values, run }
}

const fn with(name: &'static str, least: usize, most: usize, run: Runner) -> Builtin {
    Builtin { name, arguments: (least, most), takes: Takes::Values, run }
}

const fn tolerant(name: &'static str, most: usize, run: Runner) -> Builtin {
    Builtin { name, arguments: (0, most), takes: Takes::Missing, run }
}

const fn lambda(name: &'static str, run: Runner) -> Builtin {
    Builtin { name, arguments: (1, 1), takes: Takes::Lambda, run }
}

/// FreeMarker's other built-ins.
const ELSEWHERE: &[&str] = &[
    "absolute_template_name",
    "ancestors",
    "api",
    "esc",
    "groups",
    "interpret",
    "markup_string",
    "namespace",
    "new",
    "number_to_locale",
    "rtf",
    "source",
    "truncate",
    "truncate_c",
    "truncate_w",
    "with_args",
    "with_args_last",
];

/// The built-in of that name, in FreeMarker's way of writing with underscores.
pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    let tables = [text::TEXT, sequence::SEQUENCE, number::NUMBER, moment::MOMENT, kind::KIND];
    tables.into_iter().flatten().find(|builtin| builtin.name == name)
}

/// Whether FreeMarker has a built-in of that name that is not offered.
pub(crate) fn is_known_elsewhere(name: &str) -> bool {
    ELSEWHERE.contains(&name)
}

/// A name as FreeMarker writes it with underscores; it knows `upperCase` as well as `upper_case`.
pub(crate) fn with_underscores(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// The pattern of a built-in that takes one, where it is written out in the template.
pub(crate) fn literal_pattern(builtin: &Builtin, arguments: &[Expression]) -> Option<Result<Regex, String>> {
    let literal = |index: usize| match &arguments.get(index)?.kind {
        ExpressionKind::Text(text) => Some(&**text),
        _ => None,
    };
    let (flags, is_pattern) = match builtin.name {
        "matches" => (if arguments.len() > 1 { literal(1)? } else { "" }, true),
        "replace" if arguments.len() > 2 => (literal(2)?, literal(2)?.contains('r')),
        "split" if arguments.len() > 1 => (literal(1)?, literal(1)?.contains('r')),
        _ => return None,
    };
    if is_pattern { literal(0).map(|pattern| regex(&whole_if(builtin, pattern), flags)) } else { None }
}

/// A pattern that is to match all, where the built-in wants that.
fn whole_if(builtin: &Builtin, pattern: &str) -> String {
    if builtin.name == "matches" { format!("^(?:{pattern})$") } else { pattern.to_owned() }
}

impl<'m> Input<'_, 'm> {
    /// The text of the subject.
    fn text(&self, run: &Run<'_, 'm>) -> Result<Text<'m>, Trouble> {
        run.text(&self.subject)
    }

    /// The text of an argument; `None` where there is no such argument.
    fn argument(&self, index: usize, run: &Run<'_, 'm>) -> Result<Option<Text<'m>>, Trouble> {
        self.arguments.get(index).map(|argument| run.text(argument)).transpose()
    }

    /// The text of an argument that must be there.
    fn needed(&self, index: usize, run: &Run<'_, 'm>) -> Result<Text<'m>, Trouble> {
        self.argument(index, run)?.ok_or_else(|| Trouble::wrong("an argument is missing"))
    }

    /// A whole number that is an argument; `None` where there is no such argument.
    fn integer(&self, index: usize) -> Result<Option<i64>, Trouble> {
        match self.arguments.get(index) {
            None => Ok(None),
            Some(Value::Number(number)) => {
                number.as_integer().map(Some).ok_or_else(|| Trouble::wrong("the number is too large here"))
            }
            Some(other) => Err(expected("a number", other)),
        }
    }

    /// The pattern that an argument is.
    fn pattern(&self, index: usize, flags: &str, run: &mut Run<'_, 'm>) -> Result<Regex, Trouble> {
        match &self.call.regex {
            Some(regex) => Ok(regex.clone()),
            None => {
                let pattern = self.needed(index, run)?;
                run.pattern(&whole_if(self.call.builtin, &pattern), flags)
            }
        }
    }

    /// All values of the subject in order.
    fn items(&self, run: &mut Run<'_, 'm>) -> Result<Vec<Option<Value<'m>>>, Trouble> {
        let length = self.subject.length().ok_or_else(|| expected("a sequence", &self.subject))?;
        run.spend(length as u64)?;
        Ok((0..length).map(|index| self.subject.item(index)).collect())
    }
}
