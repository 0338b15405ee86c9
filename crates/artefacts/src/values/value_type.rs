//! The types that a property or variable may be given, and what a text is as each of them.

use std::sync::Arc;

use crate::words::unknown_word;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_content::Fragment;
use myelin_expression::Expression;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property::Value;

/// A type that the configuration names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueType {
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

impl ValueType {
    /// The type that the attribute `type` names, one of those; text where it names none.
    pub(crate) fn read(element: &Element, kinds: &[(ValueType, &str)]) -> Result<ValueType, Problem> {
        let Some(text) = element.attribute("type").filter(|text| !text.value.is_empty()) else {
            return Ok(ValueType::Text);
        };
        let known = kinds.iter().find(|(_, word)| *word == text.value).map(|(kind, _)| *kind);
        known.ok_or_else(|| {
            let words: Vec<&str> = kinds.iter().map(|(_, word)| *word).collect();
            text.problem(unknown_word("type", text.value, &words))
        })
    }

    /// The value of a text in the configuration.
    ///
    /// Errors: where it is none of this type.
    pub(crate) fn fixed(self, text: &str, element: &Element) -> Result<Value, Problem> {
        self.value(text).ok_or_else(|| element.problem(format!("{text:?} is no {}", self.word())))
    }

    /// The value of a text that an expression gave.
    ///
    /// Errors: the bus's, where it is none of this type.
    pub(crate) fn computed(self, text: &str) -> Outcome<Value> {
        self.value(text).ok_or_else(|| self.mismatch(text))
    }

    /// The value that an expression gives; `None` where it finds nothing that is set.
    ///
    /// Errors: as [`ValueType::computed`] and [`Expression::text`].
    pub(crate) fn of(
        self,
        expression: &Expression,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Option<Value>> {
        if self == ValueType::Xml
            && let Some(fragment) = expression.fragment(exchange, context)?
        {
            return Ok(Some(Value::Xml(fragment)));
        }
        match expression.text(exchange, context)? {
            Some(text) if self == ValueType::Xml && text.is_empty() => Ok(None),
            Some(text) => self.computed(&text).map(Some),
            None => Ok(None),
        }
    }

    /// The value of what an expression gave with a type of its own.
    ///
    /// Errors: as [`ValueType::computed`].
    /// Source: compare WSO2 `ScatterGatherUtils.convertExpressionResult`.
    pub(crate) fn typed(self, value: Value) -> Outcome<Value> {
        match (self, value) {
            (ValueType::Double, Value::Integer(integer)) => Ok(Value::Double(integer as f64)),
            (ValueType::Integer | ValueType::Long, Value::Double(double)) => self.computed(&double.trunc().to_string()),
            (ValueType::Json, Value::Text(text)) => Ok(Value::json(&text).unwrap_or(Value::Text(text))),
            (ValueType::Boolean, value @ Value::Boolean(_)) => Ok(value),
            (ValueType::Boolean, value) if !["true", "false"].contains(&&*value.text()) => {
                Err(self.mismatch(&value.text()))
            }
            (ValueType::Json, value @ (Value::Json(_) | Value::Boolean(_) | Value::Integer(_) | Value::Double(_))) => {
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
            ValueType::Text => "STRING",
            ValueType::Boolean => "BOOLEAN",
            ValueType::Integer => "INTEGER",
            ValueType::Long => "LONG",
            ValueType::Short => "SHORT",
            ValueType::Float => "FLOAT",
            ValueType::Double => "DOUBLE",
            ValueType::Xml => "XML",
            ValueType::Json => "JSON",
        }
    }

    /// The value a text stands for; `None` where it stands for none of this type.
    fn value(self, text: &str) -> Option<Value> {
        let integer = |number: Option<i64>| number.map(Value::Integer);
        match self {
            ValueType::Text => Some(Value::Text(Arc::from(text))),
            // What is not explicitly true is false.
            ValueType::Boolean => {
                Some(Value::Boolean(["true", "yes", "1"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))))
            }
            ValueType::Integer => integer(text.parse::<i32>().ok().map(i64::from)),
            ValueType::Long => integer(text.parse().ok()),
            ValueType::Short => integer(text.parse::<i16>().ok().map(i64::from)),
            ValueType::Float => text.trim().parse().ok().map(Value::Float),
            ValueType::Double => text.trim().parse().ok().map(Value::Double),
            ValueType::Xml => Fragment::parse(text).map(Value::Xml),
            ValueType::Json => Value::json(text).or_else(|| word(text)),
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
        let check = |kind: ValueType, text: &str, expected: Option<&str>| {
            let value = kind.value(text);
            assert_eq!(value.as_ref().map(Value::text).as_deref(), expected, "{kind:?} {text:?}");
        };
        check(ValueType::Boolean, " Yes ", Some("true"));
        check(ValueType::Boolean, "on", Some("false"));
        check(ValueType::Short, "32768", None);
        check(ValueType::Integer, "-2147483648", Some("-2147483648"));
        check(ValueType::Integer, "2147483648", None);
        check(ValueType::Long, "2147483648", Some("2147483648"));
        check(ValueType::Double, "1e3", Some("1000.0"));
        check(ValueType::Xml, "<a>1</a>", Some("1"));
        check(ValueType::Xml, "a", None);
        check(ValueType::Json, "{ \"a\": 1.0 }", Some("{\"a\":1.0}"));
        check(ValueType::Json, "null", Some("null"));
        check(ValueType::Json, "gold", Some("\"gold\""));
        check(ValueType::Json, "gold silver", None);
        check(ValueType::Json, "{'a': 1}", None);
    }
}
