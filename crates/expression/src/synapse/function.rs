//! The functions of Synapse expressions: their names, and what they make of their arguments.
//!
//! Compare Synapse `PredefinedFunctionNode`.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::time::UNIX_EPOCH;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use myelin_flow::context::RequestContext;

use crate::synapse::decimal::Rounding;
use crate::synapse::failure::{Failure, Result};
use crate::synapse::value::{Json, Kind, Number, Value, parse};
use crate::synapse::{arithmetic, text};

/// A function by what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Length,
    ToUpper,
    ToLower,
    SubString,
    StartsWith,
    EndsWith,
    Contains,
    Trim,
    Replace,
    IndexOf,
    CharAt,
    Now,
    Abs,
    Ceil,
    Floor,
    Sqrt,
    Log,
    Pow,
    Round,
    Base64Encode,
    Base64Decode,
    UrlEncode,
    UrlDecode,
    IsString,
    IsNumber,
    IsArray,
    IsObject,
    String,
    Integer,
    Float,
    Boolean,
    Object,
    Array,
    Not,
    Exists,
}

/// The functions by their names, and how many arguments each takes.
const FUNCTIONS: &[(&str, Function, RangeInclusive<usize>)] = &[
    ("length", Function::Length, 1..=1),
    ("toUpper", Function::ToUpper, 1..=1),
    ("toLower", Function::ToLower, 1..=1),
    ("subString", Function::SubString, 2..=3),
    ("startsWith", Function::StartsWith, 2..=2),
    ("endsWith", Function::EndsWith, 2..=2),
    ("contains", Function::Contains, 2..=2),
    ("trim", Function::Trim, 1..=1),
    ("replace", Function::Replace, 3..=3),
    ("indexOf", Function::IndexOf, 2..=3),
    ("charAt", Function::CharAt, 2..=2),
    ("now", Function::Now, 0..=0),
    ("abs", Function::Abs, 1..=1),
    ("ceil", Function::Ceil, 1..=1),
    ("floor", Function::Floor, 1..=1),
    ("sqrt", Function::Sqrt, 1..=1),
    ("log", Function::Log, 1..=1),
    ("pow", Function::Pow, 2..=2),
    ("round", Function::Round, 1..=2),
    ("base64encode", Function::Base64Encode, 1..=2),
    ("base64decode", Function::Base64Decode, 1..=1),
    ("urlEncode", Function::UrlEncode, 1..=2),
    ("urlDecode", Function::UrlDecode, 1..=1),
    ("isString", Function::IsString, 1..=1),
    ("isNumber", Function::IsNumber, 1..=1),
    ("isArray", Function::IsArray, 1..=1),
    ("isObject", Function::IsObject, 1..=1),
    ("string", Function::String, 1..=1),
    ("integer", Function::Integer, 1..=1),
    ("float", Function::Float, 1..=1),
    ("boolean", Function::Boolean, 1..=1),
    ("object", Function::Object, 1..=1),
    ("array", Function::Array, 1..=1),
    ("not", Function::Not, 1..=1),
    ("exists", Function::Exists, 1..=1),
];

impl Function {
    /// The function with that name, and how many arguments it takes.
    pub(super) fn named(name: &str) -> Option<(Function, RangeInclusive<usize>)> {
        let (_, function, arity) = FUNCTIONS.iter().find(|(known, ..)| *known == name)?;
        Some((*function, arity.clone()))
    }

    fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, function, _)| *function == self).map_or("", |(name, ..)| name)
    }

    /// An argument that it has no use for.
    fn refuse<T>(self) -> Result<T> {
        Err(Failure::Nothing(format!("{}() has no use for an argument of that kind", self.name())))
    }

    /// Calls it; how many arguments there are was checked when it was compiled.
    pub(super) fn call<'a>(self, arguments: &[Value<'a>], context: &RequestContext<'_>) -> Result<Value<'a>> {
        if arguments.iter().any(|argument| matches!(argument, Value::Null)) {
            return Err(Failure::Nothing(format!("{}() is given null", self.name())));
        }
        match arguments {
            [] => {
                let since = context.transport.now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Ok(Value::Number(Number::of(Kind::Long(since.as_millis() as i64))))
            }
            [value, rest @ ..] => self.of(value, rest),
        }
    }

    fn of<'a>(self, value: &Value<'a>, rest: &[Value<'a>]) -> Result<Value<'a>> {
        match (self, value) {
            (Function::Length, Value::Text(text)) => Ok(Value::int(text::length(text) as i64)),
            (Function::Length, Value::Json(json)) if json.is_array() => Ok(Value::int(json.length()? as i64)),
            (Function::IsString, value) => Ok(Value::Boolean(matches!(value, Value::Text(_)))),
            (Function::IsNumber, value) => Ok(Value::Boolean(matches!(value, Value::Number(_)))),
            (Function::IsArray, value) => Ok(Value::Boolean(json(value).is_some_and(|json| json.is_array()))),
            (Function::IsObject, value) => Ok(Value::Boolean(json(value).is_some_and(|json| !json.is_array()))),
            (Function::Array, value) => match json(value).filter(Json::is_array) {
                Some(json) => Ok(Value::Json(json)),
                None => self.refuse(),
            },
            (Function::Object, value) => match json(value).filter(|json| !json.is_array()) {
                Some(json) => Ok(Value::Json(json)),
                None => self.refuse(),
            },
            (Function::String, value) => Ok(Value::Text(value.text().unwrap_or_default().into_owned().into())),
            (Function::Integer, value) => self.integer(value),
            (Function::Float, value) => self.float(value),
            (Function::Boolean, Value::Boolean(boolean)) => Ok(Value::Boolean(*boolean)),
            (Function::Boolean, value) => {
                Ok(Value::Boolean(value.text().is_some_and(|text| text.eq_ignore_ascii_case("true"))))
            }
            (Function::Not, Value::Boolean(boolean)) => Ok(Value::Boolean(!boolean)),
            (_, Value::Number(number)) => self.of_number(number.kind, rest),
            (_, Value::Text(text)) => self.of_text(text, rest),
            _ => self.refuse(),
        }
    }

    fn integer(self, value: &Value<'_>) -> Result<Value<'static>> {
        let whole = match value {
            Value::Number(number) => number.kind.integer(),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        };
        whole.map_or_else(|| self.refuse(), |whole| Ok(Value::int(whole)))
    }

    fn float<'a>(self, value: &Value<'a>) -> Result<Value<'a>> {
        match value {
            Value::Number(number) if number.kind.integer().is_none() => Ok(value.clone()),
            Value::Number(number) => Ok(Value::double(number.kind.double())),
            Value::Text(text) => text.trim().parse().map_or_else(|_| self.refuse(), |number| Ok(Value::double(number))),
            _ => self.refuse(),
        }
    }

    fn of_number(self, number: Kind, rest: &[Value<'_>]) -> Result<Value<'static>> {
        let round = |how| match (number.integer(), number.decimal()) {
            (Some(whole), _) => Ok(Value::int(whole)),
            (None, Some(decimal)) => arithmetic::counted(decimal.rounded(0, how)),
            (None, None) => self.refuse(),
        };
        match (self, rest) {
            (Function::Abs, []) => match (number, number.decimal()) {
                (Kind::Int(_) | Kind::Long(_), _) => {
                    Ok(Value::int(number.integer().and_then(i64::checked_abs).unwrap_or(i64::MAX)))
                }
                (_, Some(decimal)) => arithmetic::counted(decimal.absolute()),
                (_, None) => self.refuse(),
            },
            (Function::Ceil, []) => round(Rounding::Ceiling),
            (Function::Floor, []) => round(Rounding::Floor),
            (Function::Round, []) => match number.integer() {
                Some(whole) => Ok(Value::int(whole)),
                // As `Math.round`: halves go up.
                None => Ok(Value::int((number.double() + 0.5).floor() as i64)),
            },
            (Function::Round, [Value::Number(digits)]) => match (number.integer(), digits.kind.integer()) {
                (Some(whole), _) => Ok(Value::int(whole)),
                (None, Some(digits @ 1..=30)) => {
                    let rounded = number.decimal().and_then(|number| number.rounded(digits as i32, Rounding::HalfUp));
                    rounded.map_or_else(|| self.refuse(), |rounded| Ok(Value::double(rounded.double())))
                }
                _ => self.refuse(),
            },
            (Function::Sqrt, []) => Ok(Value::double(number.double().sqrt())),
            (Function::Log, []) => Ok(Value::double(number.double().ln())),
            (Function::Pow, [Value::Number(power)]) => Ok(Value::double(number.double().powf(power.kind.double()))),
            _ => self.refuse(),
        }
    }

    fn of_text<'a>(self, value: &str, rest: &[Value<'a>]) -> Result<Value<'a>> {
        let text = |text: String| Ok(Value::Text(text.into()));
        match (self, rest) {
            (Function::ToUpper, []) => text(value.to_uppercase()),
            (Function::ToLower, []) => text(value.to_lowercase()),
            // As `String.trim`: everything up to the blank.
            (Function::Trim, []) => text(value.trim_matches(|letter| letter <= ' ').to_owned()),
            (Function::StartsWith, [Value::Text(part)]) => Ok(Value::Boolean(value.starts_with(&**part))),
            (Function::EndsWith, [Value::Text(part)]) => Ok(Value::Boolean(value.ends_with(&**part))),
            (Function::Contains, [Value::Text(part)]) => Ok(Value::Boolean(value.contains(&**part))),
            (Function::Replace, [Value::Text(from), Value::Text(to)]) => text(text::replaced(value, from, to)?),
            (Function::SubString, [Value::Number(from)]) => match from.kind.integer() {
                Some(from) => text(text::part(value, from, None)?),
                None => self.refuse(),
            },
            (Function::SubString, [Value::Number(from), Value::Number(to)]) => {
                match (from.kind.integer(), to.kind.integer()) {
                    (Some(from), Some(to)) => text(text::part(value, from, Some(to))?),
                    _ => self.refuse(),
                }
            }
            (Function::CharAt, [Value::Number(at)]) => match at.kind.integer() {
                Some(at) => text(text::part(value, at, at.checked_add(1))?),
                None => self.refuse(),
            },
            (Function::IndexOf, [Value::Text(part)]) => Ok(Value::int(text::index_of(value, part, 0))),
            (Function::IndexOf, [Value::Text(part), Value::Number(from)]) => match from.kind.integer() {
                Some(from) => Ok(Value::int(text::index_of(value, part, from))),
                None => self.refuse(),
            },
            (Function::Base64Encode, []) => text(BASE64.encode(value)),
            (Function::Base64Encode, [Value::Text(charset)]) => text(BASE64.encode(text::encoded(value, charset)?)),
            (Function::Base64Decode, []) => match BASE64.decode(value) {
                Ok(bytes) => text(String::from_utf8_lossy(&bytes).into_owned()),
                Err(error) => Err(Failure::Nothing(format!("base64decode(): {error}"))),
            },
            (Function::UrlEncode, []) => text(text::url_encoded(value.as_bytes(), true)),
            (Function::UrlEncode, [Value::Text(charset)]) => {
                text(text::url_encoded(&text::encoded(value, charset)?, charset == "UTF-8"))
            }
            (Function::UrlDecode, []) => text(text::url_decoded(value)?),
            _ => self.refuse(),
        }
    }
}

/// The array or object that a value is, or that its text says it is; backslashes in it do not count, as in Synapse.
fn json<'a>(value: &Value<'a>) -> Option<Json<'a>> {
    match value {
        Value::Json(json) => Some(json.clone()),
        Value::Text(text) => {
            let plain: Cow<'_, str> =
                if text.contains('\\') { text.replace('\\', "").into() } else { Cow::Borrowed(text) };
            let value = parse(&plain).ok()?;
            match Value::of_json(&value, value.root()) {
                Value::Json(json) => Some(Json::Text(json.text().into_owned())),
                _ => None,
            }
        }
        _ => None,
    }
}
