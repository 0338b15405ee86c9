//! What a path leads to, and its text.

use std::borrow::Cow;

use super::rules::Rules;
use crate::error::Error;
use crate::text;
use crate::value::{NodeId, Type, Value};

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// A node of the value.
    Node(NodeId),
    /// Something that is not in the value, as JSON text: what a function gave, or members picked from an object.
    Made(String),
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

    pub(super) fn write(&self, value: &Value, rules: &Rules, out: &mut Vec<u8>) -> Result<(), Error> {
        match self {
            Match::Node(node) => rules.write(value, *node, out),
            Match::Made(json) => {
                out.extend_from_slice(json.as_bytes());
                if out.len() > rules.bytes { Err(Error::Made(rules.bytes)) } else { Ok(()) }
            }
        }
    }
}
