//! The types that a property or variable may be given, and what a text is as each of them.

use std::sync::Arc;

use crate::config::{Element, Problem};
use crate::exchange::{Exchange, Scene};
use crate::expression::Expression;
use crate::fault::{Fault, Outcome};
use crate::property::{Fragment, Value};

/// A type that the configuration names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Boolean,
    Integer,
    Long,
    Short,
    Float,
    Double,
    Xml,
    Json,
}

impl Kind {
    /// The type that the attribute `type` names, one of those; text where it names none.
    pub(super) fn read(element: &Element, kinds: &[(Kind, &str)]) -> Result<Kind, Problem> {
        let Some(text) = element.attribute("type").filter(|text| !text.value.is_empty()) else { return Ok(Kind::Text) };
        let known = kinds.iter().find(|(_, word)| *word == text.value).map(|(kind, _)| *kind);
        known.ok_or_else(|| {
            let words: Vec<&str> = kinds.iter().map(|(_, word)| *word).collect();
            text.problem(format!("type {:?} is unknown; known are {}", text.value, words.join(", ")))
        })
    }

    /// The value of a text in the configuration.
    ///
    /// Errors: where it is none of this type.
    pub(super) fn fixed(self, text: &str, element: &Element) -> Result<Value, Problem> {
        self.value(text).ok_or_else(|| element.problem(format!("{text:?} is no {}", self.word())))
    }

    /// The value of a text that an expression gave.
    ///
    /// Errors: the bus's, where it is none of this type.
    pub(super) fn computed(self, text: &str) -> Outcome<Value> {
        self.value(text).ok_or_else(|| self.mismatch(text))
    }

    /// The value that an expression gives; `None` where it finds nothing that is set.
    ///
    /// Errors: as [`Kind::computed`] and [`Expression::text`].
    pub(super) fn of(self, expression: &Expression, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Option<Value>> {
        if self == Kind::Xml
            && let Some(fragment) = expression.fragment(exchange, scene)?
        {
            return Ok(Some(Value::Xml(fragment)));
        }
        match expression.text(exchange, scene)? {
            Some(text) if self == Kind::Xml && text.is_empty() => Ok(None),
            Some(text) => self.computed(&text).map(Some),
            None => Ok(None),
        }
    }

    /// The value of what an expression gave with a type of its own.
    ///
    /// Errors: as [`Kind::computed`].
    /// Source: compare WSO2 `ScatterGatherUtils.convertExpressionResult`.
    pub(super) fn typed(self, value: Value) -> Outcome<Value> {
        match (self, value) {
            (Kind::Double, Value::Integer(integer)) => Ok(Value::Double(integer as f64)),
            (Kind::Integer | Kind::Long, Value::Double(double)) => self.computed(&double.trunc().to_string()),
            (Kind::Json, Value::Text(text)) => Ok(Value::json(&text).unwrap_or(Value::Text(text))),
            (Kind::Boolean, value @ Value::Boolean(_)) => Ok(value),
            (Kind::Boolean, value) if !["true", "false"].contains(&&*value.text()) => Err(self.mismatch(&value.text())),
            (Kind::Json, value @ (Value::Json(_) | Value::Boolean(_) | Value::Integer(_) | Value::Double(_))) => {
                Ok(value)
            }
            (_, value) => self.computed(&value.text()),
        }
    }

    fn mismatch(self, text: &str) -> Box<Fault> {
        let start: String = text.chars().take(80).collect();
        Fault::bus(format!("An expression gave no value of type {}", self.word()))
            .with_detail(format!("it gave {start:?}"))
    }

    /// What people are told of it.
    fn word(self) -> &'static str {
        match self {
            Kind::Text => "STRING",
            Kind::Boolean => "BOOLEAN",
            Kind::Integer => "INTEGER",
            Kind::Long => "LONG",
            Kind::Short => "SHORT",
            Kind::Float => "FLOAT",
            Kind::Double => "DOUBLE",
            Kind::Xml => "XML",
            Kind::Json => "JSON",
        }
    }

    /// The value a text stands for; `None` where it stands for none of this type.
    fn value(self, text: &str) -> Option<Value> {
        let integer = |number: Option<i64>| number.map(Value::Integer);
        match self {
            Kind::Text => Some(Value::Text(Arc::from(text))),
            // What is not explicitly true is false.
            Kind::Boolean => {
                Some(Value::Boolean(["true", "yes", "1"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))))
            }
            Kind::Integer => integer(text.parse::<i32>().ok().map(i64::from)),
            Kind::Long => integer(text.parse().ok()),
            Kind::Short => integer(text.parse::<i16>().ok().map(i64::from)),
            Kind::Float => text.trim().parse().ok().map(Value::Float),
            Kind::Double => text.trim().parse().ok().map(Value::Double),
            Kind::Xml => Fragment::parse(text).map(Value::Xml),
            Kind::Json => Value::json(text).or_else(|| word(text)),
        }
    }
}

/// A word without quotes, which Synapse's reader of JSON takes for a text.
///
/// Compare Gson's lenient `JsonReader`: these characters end such a word.
fn word(text: &str) -> Option<Value> {
    let text = text.trim();
    let is_word = !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "{}[]:,;=#/\\\"'".contains(c));
    is_word.then(|| Value::json(&format!("\"{text}\""))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_what_its_type_says_or_nothing() {
        let check = |kind: Kind, text: &str, expected: Option<&str>| {
            let value = kind.value(text);
            assert_eq!(value.as_ref().map(Value::text).as_deref(), expected, "{kind:?} {text:?}");
        };
        check(Kind::Boolean, " Yes ", Some("true"));
        check(Kind::Boolean, "on", Some("false"));
        check(Kind::Short, "32768", None);
        check(Kind::Integer, "-2147483648", Some("-2147483648"));
        check(Kind::Integer, "2147483648", None);
        check(Kind::Long, "2147483648", Some("2147483648"));
        check(Kind::Double, "1e3", Some("1000.0"));
        check(Kind::Xml, "<a>1</a>", Some("1"));
        check(Kind::Xml, "a", None);
        check(Kind::Json, "{ \"a\": 1.0 }", Some("{\"a\":1.0}"));
        check(Kind::Json, "null", Some("null"));
        check(Kind::Json, "gold", Some("\"gold\""));
        check(Kind::Json, "gold silver", None);
        check(Kind::Json, "{'a': 1}", None);
    }
}
