//! Values that are no nodes.

use std::borrow::Cow;

use super::calendar::{Duration, Moment};
use super::decimal::Decimal;
use super::number;
use crate::environment::Version;
use crate::types::AtomicType as T;

/// A value that is no node.
///
/// XPath 1.0 knows texts, doubles and booleans; the rest is of later versions. What is rare is boxed, so that a value
/// stays small.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Atomic<'a> {
    /// `xs:string` and what is derived from it, `xs:untypedAtomic` and `xs:anyURI`.
    Text(Cow<'a, str>, T),
    /// `xs:boolean`
    Boolean(bool),
    /// `xs:double`, and every number of XPath 1.0.
    Double(f64),
    /// `xs:float`
    Float(f32),
    /// `xs:decimal`
    Decimal(Box<Decimal>),
    /// `xs:integer` and what is derived from it.
    Integer(i64, T),
    /// The same, too large for 64 bits.
    Large(Box<Decimal>, T),
    /// `xs:dateTime`, `xs:date`, `xs:time`, `xs:gYear` …
    Moment(Box<Moment>),
    /// `xs:duration` and the two derived from it.
    Duration(Box<Duration>),
    /// `xs:QName`
    QName(Box<QName>),
    /// `xs:hexBinary` and `xs:base64Binary`.
    Binary(Box<[u8]>, T),
}

/// A name with what its prefix stands for.
#[derive(Clone, Debug)]
pub struct QName {
    /// Empty: none.
    pub prefix: String,
    /// Empty: none.
    pub namespace: String,
    /// The part behind the colon.
    pub local: String,
}

impl<'a> From<&'a str> for Atomic<'a> {
    fn from(text: &'a str) -> Atomic<'a> {
        Atomic::Text(Cow::Borrowed(text), T::String)
    }
}

impl From<String> for Atomic<'_> {
    fn from(text: String) -> Self {
        Atomic::Text(Cow::Owned(text), T::String)
    }
}

impl<'a> From<Cow<'a, str>> for Atomic<'a> {
    fn from(text: Cow<'a, str>) -> Atomic<'a> {
        Atomic::Text(text, T::String)
    }
}

impl From<bool> for Atomic<'_> {
    fn from(boolean: bool) -> Self {
        Atomic::Boolean(boolean)
    }
}

impl From<f64> for Atomic<'_> {
    fn from(number: f64) -> Self {
        Atomic::Double(number)
    }
}

impl From<i64> for Atomic<'_> {
    fn from(number: i64) -> Self {
        Atomic::Integer(number, T::Integer)
    }
}

impl From<Decimal> for Atomic<'_> {
    fn from(number: Decimal) -> Self {
        Atomic::Decimal(Box::new(number))
    }
}

impl From<Moment> for Atomic<'_> {
    fn from(moment: Moment) -> Self {
        Atomic::Moment(Box::new(moment))
    }
}

impl From<Duration> for Atomic<'_> {
    fn from(duration: Duration) -> Self {
        Atomic::Duration(Box::new(duration))
    }
}

impl<'a> Atomic<'a> {
    /// A value of a node without a schema.
    pub fn untyped(text: Cow<'a, str>) -> Atomic<'a> {
        Atomic::Text(text, T::Untyped)
    }

    /// The type it has.
    pub fn atomic_type(&self) -> T {
        match self {
            Atomic::Text(_, atomic)
            | Atomic::Integer(_, atomic)
            | Atomic::Large(_, atomic)
            | Atomic::Binary(_, atomic) => *atomic,
            Atomic::Boolean(_) => T::Boolean,
            Atomic::Double(_) => T::Double,
            Atomic::Float(_) => T::Float,
            Atomic::Decimal(_) => T::Decimal,
            Atomic::Moment(moment) => moment.kind,
            Atomic::Duration(duration) => duration.kind,
            Atomic::QName(_) => T::QName,
        }
    }

    /// The value as a text.
    ///
    /// Source: XPath 1.0 §4.2 for the numbers of version 1, Functions and Operators §19.2 otherwise.
    pub fn text(&self, version: Version) -> Cow<'_, str> {
        match self {
            Atomic::Text(text, _) => Cow::Borrowed(text),
            other => other.clone().into_text(version),
        }
    }

    /// The same, of a value that is not needed any more.
    pub fn into_text(self, version: Version) -> Cow<'a, str> {
        match self {
            Atomic::Text(text, _) => text,
            Atomic::Boolean(boolean) => Cow::Borrowed(if boolean { "true" } else { "false" }),
            Atomic::Double(number) => number::format_double(number, version),
            Atomic::Float(number) => number::format_float(number, version),
            Atomic::Decimal(number) => number.to_string().into(),
            Atomic::Integer(number, _) => number.to_string().into(),
            Atomic::Large(number, _) => number.to_string().into(),
            Atomic::Moment(moment) => moment.to_string().into(),
            Atomic::Duration(duration) => duration.to_string().into(),
            Atomic::QName(name) if name.prefix.is_empty() => name.local.into(),
            Atomic::QName(name) => format!("{}:{}", name.prefix, name.local).into(),
            Atomic::Binary(bytes, T::HexBinary) => super::binary::to_hex(&bytes).into(),
            Atomic::Binary(bytes, _) => super::binary::to_base64(&bytes).into(),
        }
    }

    /// The value as a number by XPath 1.0 §4.4: what is none is NaN.
    pub fn number(&self) -> f64 {
        match self {
            Atomic::Text(text, _) => number::parse_v1(text),
            Atomic::Boolean(boolean) => f64::from(u8::from(*boolean)),
            other => other.as_double().unwrap_or(f64::NAN),
        }
    }

    /// The value as a double, if it is numeric.
    pub fn as_double(&self) -> Option<f64> {
        Some(match self {
            Atomic::Double(number) => *number,
            Atomic::Float(number) => f64::from(*number),
            Atomic::Decimal(number) | Atomic::Large(number, _) => number.to_double(),
            Atomic::Integer(number, _) => *number as f64,
            _ => return None,
        })
    }

    /// The value as a decimal, if it is a decimal or an integer.
    pub(crate) fn as_decimal(&self) -> Option<Decimal> {
        match self {
            Atomic::Decimal(number) | Atomic::Large(number, _) => Some(**number),
            Atomic::Integer(number, _) => Some(Decimal::from(*number)),
            _ => None,
        }
    }

    /// The value as a condition, where it has one: texts, numbers and booleans.
    pub fn condition(&self) -> Option<bool> {
        match self {
            Atomic::Boolean(boolean) => Some(*boolean),
            Atomic::Text(text, _) => Some(!text.is_empty()),
            other => other.as_double().map(|number| number != 0.0 && !number.is_nan()),
        }
    }

    /// Whether it has a number.
    pub fn is_numeric(&self) -> bool {
        matches!(self, Atomic::Double(_) | Atomic::Float(_) | Atomic::Decimal(_)) || self.is_integer()
    }

    /// Whether it is of `xs:integer` or a type derived from it.
    pub(crate) fn is_integer(&self) -> bool {
        matches!(self, Atomic::Integer(..) | Atomic::Large(..))
    }

    /// A whole number of a type of integers.
    pub(crate) fn whole(number: Decimal, of: T) -> Atomic<'static> {
        match number.to_integer() {
            Some(integer) => Atomic::Integer(integer, of),
            None => Atomic::Large(Box::new(number), of),
        }
    }

    /// Whether it is the number that is none.
    pub(crate) fn is_nan(&self) -> bool {
        match self {
            Atomic::Double(number) => number.is_nan(),
            Atomic::Float(number) => number.is_nan(),
            _ => false,
        }
    }

    /// The value, owning what it borrowed.
    pub fn into_owned(self) -> Atomic<'static> {
        match self {
            Atomic::Text(text, atomic) => Atomic::Text(Cow::Owned(text.into_owned()), atomic),
            Atomic::Boolean(boolean) => Atomic::Boolean(boolean),
            Atomic::Double(number) => Atomic::Double(number),
            Atomic::Float(number) => Atomic::Float(number),
            Atomic::Decimal(number) => Atomic::Decimal(number),
            Atomic::Integer(number, atomic) => Atomic::Integer(number, atomic),
            Atomic::Large(number, atomic) => Atomic::Large(number, atomic),
            Atomic::Moment(moment) => Atomic::Moment(moment),
            Atomic::Duration(duration) => Atomic::Duration(duration),
            Atomic::QName(name) => Atomic::QName(name),
            Atomic::Binary(bytes, atomic) => Atomic::Binary(bytes, atomic),
        }
    }
}
