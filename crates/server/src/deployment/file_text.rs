//! The text of a `deployment.toml` with the places of its keys: what is wrong with the file is told as what is wrong
//! with a configuration is, by line and column, with the line itself.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use myelin_engine::Problem;
use myelin_spelling::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong with a key or its value, or has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyProblem {
    /// The path of the key; `[n]` behind a part of it is the table of that number, from 0.
    key: String,
    message: String,
}

impl KeyProblem {
    pub(super) fn new(key: impl Into<String>, message: impl Into<String>) -> KeyProblem {
        KeyProblem { key: key.into(), message: message.into() }
    }
}

impl fmt::Display for KeyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for KeyProblem {}

/// Why a `deployment.toml` cannot be used: everything that is wrong with it, in the order of its lines.
#[derive(Debug)]
pub(crate) struct InvalidDeployment(Vec<Problem>);

impl InvalidDeployment {
    /// Of problems in any order; what two parts of the file have in common is told once.
    pub(super) fn of(mut problems: Vec<Problem>) -> InvalidDeployment {
        problems.sort_by_key(|problem| (problem.line(), problem.column()));
        problems.dedup();
        InvalidDeployment(problems)
    }

    /// Each of them.
    pub(crate) fn problems(&self) -> &[Problem] {
        &self.0
    }
}

impl fmt::Display for InvalidDeployment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> = self.0.iter().map(with_excerpt).collect();
        f.write_str(&told.join("\n"))
    }
}

impl std::error::Error for InvalidDeployment {}

/// A problem, and below it its line with the carets.
pub(crate) fn with_excerpt(problem: &Problem) -> String {
    let lines = problem.excerpt().map(|excerpt| excerpt.to_text()).unwrap_or_default();
    let lines = lines.lines().map(|line| format!("\n  {}", line.trim_end()));
    std::iter::once(problem.to_string()).chain(lines).collect()
}

/// The text of a file.
pub(super) struct FileText<'a> {
    file: Arc<str>,
    text: &'a str,
    /// What it holds; `None` where it is no TOML.
    pub(super) table: Option<DeTable<'a>>,
}

impl<'a> FileText<'a> {
    /// Of a file that is told as `file`.
    pub(super) fn new(file: &str, text: &'a str) -> FileText<'a> {
        FileText { file: file.into(), text, table: DeTable::parse(text).ok().map(Spanned::into_inner) }
    }

    /// A problem of a part of the text.
    pub(super) fn problem(&self, range: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::in_text(&self.file, self.text, range, message)
    }

    /// The same of something misspelt: the message ends in the name that was meant, where one is close.
    pub(super) fn misspelt<'b>(
        &self,
        range: Range<usize>,
        message: String,
        name: &str,
        known: impl IntoIterator<Item = &'b str>,
    ) -> Problem {
        self.problem(range, message).suggesting(nearest(name, known))
    }

    /// What an error says, at the place that it is about; the beginning of the file where it tells none.
    pub(super) fn problem_of(&self, error: &anyhow::Error) -> Problem {
        if let Some(problem) = error.downcast_ref::<KeyProblem>() {
            return self.problem_of_key(problem, &format!("{error:#}"));
        }
        match error.downcast_ref::<toml::de::Error>() {
            Some(error) => self.problem(error.span().unwrap_or_default(), error.message()),
            None => self.problem(0..0, format!("{error:#}")),
        }
    }

    /// What has no effect, at its place.
    pub(super) fn remark(&self, remark: &KeyProblem) -> Problem {
        self.problem_of_key(remark, &remark.message)
    }

    fn problem_of_key(&self, problem: &KeyProblem, message: &str) -> Problem {
        let range = self.table.as_ref().and_then(|table| find(table, &problem.key));
        self.problem(range.unwrap_or_default(), message)
    }
}

/// Where the value of a key stands, or the header of a table; where there is none, what is nearest above it.
///
/// A key that itself holds dots counts as well, as for [`super::values::find`].
fn find(table: &DeTable<'_>, path: &str) -> Option<Range<usize>> {
    let ends: Vec<usize> = path.match_indices('.').map(|(dot, _)| dot).chain([path.len()]).collect();
    ends.into_iter().rev().find_map(|end| {
        let (name, index) = numbered(&path[..end]);
        let (key, value) = table.get_key_value(name)?;
        let rest = path.get(end + 1..).filter(|rest| !rest.is_empty());
        let (value, place) = match (value.get_ref(), index) {
            (DeValue::Array(items), Some(index)) => {
                let item = items.get(index)?;
                (item, item.span())
            }
            (DeValue::Table(_) | DeValue::Array(_), _) => (value, key.span()),
            _ => (value, value.span()),
        };
        let inside = match (value.get_ref(), rest) {
            (DeValue::Table(inner), Some(rest)) => find(inner, rest),
            _ => None,
        };
        Some(inside.unwrap_or(place))
    })
}

/// A part of a path, and the number in brackets behind it.
fn numbered(part: &str) -> (&str, Option<usize>) {
    let split = part.strip_suffix(']').and_then(|part| part.rsplit_once('['));
    match split.and_then(|(name, number)| Some((name, number.parse().ok()?))) {
        Some((name, number)) => (name, Some(number)),
        None => (part, None),
    }
}
