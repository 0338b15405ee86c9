//! The values of expressions and how they turn into each other (XPath 1.0 §3.4, §4).

use std::borrow::Cow;

use super::Operator;
use crate::number;
use crate::property;

/// What an expression gives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    /// A property nobody set; behaves as an empty node-set.
    Nothing,
    Text(Cow<'a, str>),
    Number(f64),
    Boolean(bool),
}

impl<'a> Value<'a> {
    /// The value as a string.
    pub(crate) fn string(self) -> Cow<'a, str> {
        match self {
            Value::Nothing => Cow::Borrowed(""),
            Value::Text(text) => text,
            Value::Number(number) => Cow::Owned(number::xpath(number)),
            Value::Boolean(true) => Cow::Borrowed("true"),
            Value::Boolean(false) => Cow::Borrowed("false"),
        }
    }

    /// The value as a number.
    pub(crate) fn number(&self) -> f64 {
        match self {
            Value::Nothing => f64::NAN,
            Value::Text(text) => number::parse(text),
            Value::Number(number) => *number,
            Value::Boolean(boolean) => f64::from(u8::from(*boolean)),
        }
    }

    /// The value as a condition.
    pub(crate) fn boolean(&self) -> bool {
        match self {
            Value::Nothing => false,
            Value::Text(text) => !text.is_empty(),
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Boolean(boolean) => *boolean,
        }
    }

    /// Compares by the rules for values that are no node-sets; nothing compares true with what is not set.
    pub(super) fn compare(&self, operator: Operator, other: &Value<'_>) -> bool {
        if matches!(self, Value::Nothing) || matches!(other, Value::Nothing) {
            return false;
        }
        match operator {
            Operator::Equal => self.equals(other),
            Operator::NotEqual => !self.equals(other),
            Operator::Less => self.number() < other.number(),
            Operator::LessOrEqual => self.number() <= other.number(),
            Operator::Greater => self.number() > other.number(),
            _ => self.number() >= other.number(),
        }
    }

    fn equals(&self, other: &Value<'_>) -> bool {
        match (self, other) {
            (Value::Boolean(boolean), other) | (other, Value::Boolean(boolean)) => other.boolean() == *boolean,
            (Value::Number(number), other) | (other, Value::Number(number)) => other.number() == *number,
            (Value::Text(one), Value::Text(other)) => one == other,
            _ => false,
        }
    }
}

impl<'a> From<&'a property::Value> for Value<'a> {
    fn from(value: &'a property::Value) -> Value<'a> {
        match value {
            property::Value::Text(text) => Value::Text(Cow::Borrowed(text)),
            property::Value::Boolean(boolean) => Value::Boolean(*boolean),
            // An integer stays text as long as it is only printed: `7` must not become `7.0`.
            property::Value::Integer(number) => Value::Text(Cow::Owned(number.to_string())),
            property::Value::Float(_) | property::Value::Double(_) => Value::Text(value.text()),
        }
    }
}
