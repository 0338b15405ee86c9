//! What parts of a Synapse expression give.
//!
//! Compare Synapse `ExpressionResult`.

use std::borrow::Cow;

use myelin_content::{Fragment, text_of};
use myelin_flow::property;
use myelin_java_text::number;
use myelin_json::{self as json, Match, NodeId, Options, Type, text};

use crate::synapse::decimal::Decimal;
use crate::synapse::failure::{Failure, Result};

/// A value with its type.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Null,
    Boolean(bool),
    Number(Number<'a>),
    Text(Cow<'a, str>),
    Json(Json<'a>),
    Xml(Cow<'a, [Fragment]>),
}

/// A number: what it counts as, and how it is written.
#[derive(Clone, Debug)]
pub(super) struct Number<'a> {
    pub(super) kind: Kind,
    /// As it was written by whoever wrote it: `1.50` stays `1.50`.
    text: Cow<'a, str>,
}

/// Java's types of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Int(i32),
    Long(i64),
    Double(f64),
    Decimal(Decimal),
}

/// An array or object.
#[derive(Clone, Debug)]
pub(super) enum Json<'a> {
    Node(&'a json::Value, NodeId),
    /// Its text, which is well-formed and without white space.
    Text(String),
}

impl Kind {
    /// The smallest type that holds a whole number.
    pub(super) fn whole(number: i64) -> Kind {
        i32::try_from(number).map_or(Kind::Long(number), Kind::Int)
    }

    /// The whole number that it is, if it is of a type for these.
    pub(super) fn integer(self) -> Option<i64> {
        match self {
            Kind::Int(number) => Some(number.into()),
            Kind::Long(number) => Some(number),
            Kind::Double(_) | Kind::Decimal(_) => None,
        }
    }

    pub(super) fn double(self) -> f64 {
        match self {
            Kind::Int(number) => number.into(),
            Kind::Long(number) => number as f64,
            Kind::Double(number) => number,
            Kind::Decimal(number) => number.double(),
        }
    }

    /// The same, to be counted with exactly; `None` for what is no number, or has too many digits.
    pub(super) fn decimal(self) -> Option<Decimal> {
        match self {
            Kind::Int(_) | Kind::Long(_) => Decimal::parse(&self.text()),
            Kind::Double(number) => Decimal::parse(&number::java(number)),
            Kind::Decimal(number) => Some(number),
        }
    }

    /// The text that Java gives it.
    pub(super) fn text(self) -> String {
        match self {
            Kind::Int(number) => number.to_string(),
            Kind::Long(number) => number.to_string(),
            Kind::Double(number) => number::java(number),
            Kind::Decimal(number) => number.text(),
        }
    }
}

impl<'a> Number<'a> {
    /// A number that was read: of JSON, or of a text.
    pub(super) fn read(text: Cow<'a, str>) -> Option<Number<'a>> {
        let kind = match (text.parse(), Decimal::parse(&text)) {
            (Ok(whole), _) => Kind::whole(whole),
            (_, Some(decimal)) => match decimal.whole() {
                Some(whole) => Kind::whole(whole),
                None => Kind::Double(decimal.double()),
            },
            // A number of JSON with more digits than anybody counts.
            (Err(_), None) if text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) => {
                Kind::Double(text.parse().ok()?)
            }
            _ => return None,
        };
        Some(Number { kind, text })
    }

    /// A number that an expression has.
    pub(super) fn literal(text: &'a str) -> Option<Number<'a>> {
        let kind = match text.parse() {
            Ok(whole) => Kind::whole(whole),
            Err(_) => Kind::Decimal(Decimal::parse(text)?),
        };
        Some(Number { kind, text: Cow::Borrowed(text) })
    }

    /// A number that was worked out.
    pub(super) fn of(kind: Kind) -> Number<'static> {
        Number { kind, text: kind.text().into() }
    }
}

impl<'a> Value<'a> {
    pub(super) fn int(number: i64) -> Value<'static> {
        Value::Number(Number::of(Kind::whole(number)))
    }

    pub(super) fn double(number: f64) -> Value<'static> {
        Value::Number(Number::of(Kind::Double(number)))
    }

    pub(super) fn decimal(number: Decimal) -> Value<'static> {
        Value::Number(Number::of(Kind::Decimal(number)))
    }

    /// A text that was read of a header, property or parameter: a number if it looks like one.
    pub(super) fn of_text(text: Cow<'a, str>) -> Value<'a> {
        match Number::read(text.clone()) {
            Some(number) if text.len() <= LONGEST_NUMBER => Value::Number(number),
            _ => Value::Text(text),
        }
    }

    /// A node of a JSON value.
    pub(super) fn of_json(value: &'a json::Value, node: NodeId) -> Value<'a> {
        let scalar = || value.scalar(node).unwrap_or_default();
        match value.kind(node) {
            Type::Object | Type::Array => Value::Json(Json::Node(value, node)),
            Type::String => Value::Text(scalar()),
            Type::Number => Number::read(scalar()).map_or_else(|| Value::Text(scalar()), Value::Number),
            Type::True => Value::Boolean(true),
            Type::False => Value::Boolean(false),
            Type::Null => Value::Null,
        }
    }

    /// What a path leads to in a value.
    pub(super) fn of_match(value: &'a json::Value, found: Match) -> Value<'a> {
        match found {
            Match::Node(node) => Value::of_json(value, node),
            Match::Made(json) => Value::of_json_text(json),
        }
    }

    /// What a JSON text without white space says.
    pub(super) fn of_json_text(json: String) -> Value<'static> {
        match json.as_bytes() {
            [b'[' | b'{', ..] => Value::Json(Json::Text(json)),
            [b'"', inside @ .., b'"'] => Value::Text(text::unescape(inside).into_owned().into()),
            b"true" => Value::Boolean(true),
            b"false" => Value::Boolean(false),
            b"null" => Value::Null,
            _ => match Number::read(json.clone().into()) {
                Some(number) => Value::Number(number),
                None => Value::Text(json.into()),
            },
        }
    }

    /// The same without what it borrows.
    pub(super) fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Boolean(boolean) => Value::Boolean(boolean),
            Value::Number(number) => Value::Number(Number { kind: number.kind, text: number.text.into_owned().into() }),
            Value::Text(text) => Value::Text(text.into_owned().into()),
            Value::Json(json) => Value::Json(Json::Text(json.text().into_owned())),
            Value::Xml(fragments) => Value::Xml(fragments.into_owned().into()),
        }
    }

    /// What a property or variable holds.
    pub(super) fn of_property(value: &'a property::Value) -> Value<'a> {
        match value {
            property::Value::Xml(fragment) => Value::Xml(Cow::Borrowed(std::slice::from_ref(fragment))),
            property::Value::List(list) => Value::Xml(Cow::Borrowed(list)),
            property::Value::Json(json) => Value::of_json(json, json.root()),
            property::Value::Text(text) => Value::Text(Cow::Borrowed(text)),
            property::Value::Boolean(boolean) => Value::Boolean(*boolean),
            property::Value::Integer(number) => Value::int(*number),
            property::Value::Float(number) => Value::double(f64::from(*number)),
            property::Value::Double(number) => Value::double(*number),
        }
    }

    /// The same as a property or variable holds it; nothing is held of `null`.
    pub(super) fn into_property(self) -> Option<property::Value> {
        Some(match self {
            Value::Null => return None,
            Value::Boolean(boolean) => property::Value::Boolean(boolean),
            Value::Number(Number { kind: Kind::Int(_) | Kind::Long(_), text }) if text.parse::<i64>().is_ok() => {
                property::Value::Integer(text.parse().ok()?)
            }
            // What cannot be told from its double is held as one; `1.50` keeps its digits as JSON.
            Value::Number(Number { kind, text }) if number::java(kind.double()) == text => {
                property::Value::Double(kind.double())
            }
            Value::Number(Number { text, .. }) => match property::Value::json(&text) {
                Some(json) => json,
                None => property::Value::Text(text.as_ref().into()),
            },
            Value::Text(text) => property::Value::Text(text.as_ref().into()),
            Value::Json(json) => property::Value::json(&json.text())?,
            Value::Xml(fragments) => match &*fragments {
                [fragment] => property::Value::Xml(fragment.clone()),
                fragments => property::Value::List(fragments.into()),
            },
        })
    }

    /// The same as [`Value::text`], of a value that nobody needs any more.
    pub(super) fn into_text(self) -> Option<Cow<'a, str>> {
        match self {
            Value::Text(text) | Value::Number(Number { text, .. }) => Some(text),
            other => other.text().map(|text| Cow::Owned(text.into_owned())),
        }
    }

    /// The value as text; `None` for `null`.
    pub(super) fn text(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Value::Null => return None,
            Value::Boolean(boolean) => Cow::Borrowed(if *boolean { "true" } else { "false" }),
            Value::Number(number) => Cow::Borrowed(&number.text),
            Value::Text(text) => Cow::Borrowed(text),
            Value::Json(json) => json.text(),
            Value::Xml(fragments) => {
                let all = fragments.iter().map(|fragment| text_of(&fragment.document, fragment.node));
                Cow::Owned(all.collect())
            }
        })
    }

    /// The text by which values are equal: numbers as Java writes them.
    pub(super) fn compared(&self) -> Option<Cow<'_, str>> {
        match self {
            Value::Number(number) => Some(Cow::Owned(number.kind.text())),
            other => other.text(),
        }
    }

    /// The value as JSON.
    pub(super) fn json(&self) -> Result<json::Value> {
        let text = match self {
            Value::Text(_) | Value::Xml(_) => {
                let mut out = Vec::new();
                text::write_string(&self.text().unwrap_or_default(), &mut out);
                out
            }
            // Not every number of Java is one of JSON.
            Value::Number(number) => number.kind.text().into_bytes(),
            other => other.text().unwrap_or(Cow::Borrowed("null")).into_owned().into_bytes(),
        };
        json::Value::parse(text, &Options::default()).map_err(|error| Failure::Nothing(error.to_string()))
    }
}

/// Texts longer than this are no numbers to anybody.
const LONGEST_NUMBER: usize = 64;

impl Json<'_> {
    /// The array or object without white space.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Json::Node(value, node) => {
                let mut out = Vec::new();
                value.write_compact(*node, &mut out);
                Cow::Owned(String::from_utf8(out).unwrap_or_default())
            }
            Json::Text(text) => Cow::Borrowed(text),
        }
    }

    pub(super) fn is_array(&self) -> bool {
        match self {
            Json::Node(value, node) => value.kind(*node) == Type::Array,
            Json::Text(text) => text.starts_with('['),
        }
    }

    /// How many elements or members it has.
    pub(super) fn length(&self) -> Result<usize> {
        match self {
            Json::Node(value, node) => Ok(value.children(*node).count()),
            Json::Text(text) => {
                let value = parse(text)?;
                Ok(value.children(value.root()).count())
            }
        }
    }
}

/// Reads JSON that stands in a text.
pub(super) fn parse(text: &str) -> Result<json::Value> {
    let parsed = json::Value::parse(text.as_bytes().to_vec(), &Options::default());
    parsed.map_err(|error| Failure::Nothing(format!("not JSON: {error}")))
}
