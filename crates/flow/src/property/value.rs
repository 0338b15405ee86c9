//! The value of a property, with the type it was given.

use std::borrow::Cow;
use std::sync::Arc;

use myelin_content::{Fragment, utf8};
use myelin_java_text::number;
use myelin_json::{Options, Value as Json};

/// The value of a property or variable, with the type it was given.
#[derive(Clone, Debug)]
pub enum Value {
    /// A piece of XML.
    Xml(Fragment),
    /// Several pieces of XML; an expression sees a node-set.
    List(Arc<[Fragment]>),
    /// JSON that nobody changes; its source is its text without white space around the tokens ([`Value::json`]).
    Json(Arc<Json>),
    /// A text.
    Text(Arc<str>),
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number: Java's `Integer`, `Short` or `Long`.
    Integer(i64),
    /// Java's `Float`.
    Float(f32),
    /// Java's `Double`.
    Double(f64),
}

/// What a node of a tree takes, about.
const NODE_BYTES: usize = 40;

impl Value {
    /// What a text is as JSON; `None` where it is none.
    pub fn json(text: &str) -> Option<Value> {
        let json = Json::parse(text.into(), &Options::default()).ok()?;
        let mut compact = Vec::with_capacity(text.len());
        json.write_compact(json.root(), &mut compact);
        if compact.len() == text.len() {
            return Some(Value::Json(json.into()));
        }
        Json::parse(compact, &Options::default()).ok().map(|json| Value::Json(json.into()))
    }

    /// How much memory it takes, about.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Value::Text(text) => text.len(),
            Value::Xml(fragment) => fragment.memory_bytes(),
            Value::List(fragments) => fragments.iter().map(Fragment::memory_bytes).sum(),
            Value::Json(json) => json.node_count() * NODE_BYTES + json.source().len(),
            Value::Boolean(_) | Value::Integer(_) | Value::Float(_) | Value::Double(_) => 0,
        }
    }

    /// The value as Java's `toString` gives it.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Value::Xml(fragment) => Cow::Owned(fragment.text()),
            Value::List(list) => Cow::Owned(list.iter().map(Fragment::text).collect()),
            Value::Json(json) => utf8(json.source()),
            Value::Text(text) => Cow::Borrowed(text),
            Value::Boolean(true) => Cow::Borrowed("true"),
            Value::Boolean(false) => Cow::Borrowed("false"),
            Value::Integer(number) => Cow::Owned(number.to_string()),
            Value::Float(number) => Cow::Owned(number::java_float(*number)),
            Value::Double(number) => Cow::Owned(number::java(*number)),
        }
    }

    /// Whether a switch of that value is on: `true` in any case.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Boolean(boolean) => *boolean,
            other => other.text().trim().eq_ignore_ascii_case("true"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_kept_without_the_white_space_around_its_tokens() {
        let check = |text: &str, expected: Option<&str>| {
            let value = Value::json(text);
            assert_eq!(value.as_ref().map(Value::text).as_deref(), expected, "{text}");
        };
        check(r#" { "a" : [ 1.50, "x y" ] } "#, Some(r#"{"a":[1.50,"x y"]}"#));
        check("[]", Some("[]"));
        check("\"text\"", Some("\"text\""));
        check("{'a': 1}", None);
        check("", None);
    }
}
