//! The types that expressions can name: `xs:date`, `element()*` (XPath 3.1 §2.5.4, XML Schema part 2).

mod sequence;

use std::fmt;

pub use sequence::{ItemType, Occurrence, SequenceType, Signature};

/// A type of atomic values.
///
/// A type derived from `xs:integer` or `xs:string` is a type of its own here; those that are only unions or lists
/// are not offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "XML Schema's own names")]
pub enum AtomicType {
    AnyAtomic,
    Untyped,
    AnyUri,
    String,
    NormalizedString,
    Token,
    Language,
    Nmtoken,
    Name,
    NcName,
    Id,
    Idref,
    Entity,
    Boolean,
    Numeric,
    Double,
    Float,
    Decimal,
    Integer,
    NonPositiveInteger,
    NegativeInteger,
    Long,
    Int,
    Short,
    Byte,
    NonNegativeInteger,
    UnsignedLong,
    UnsignedInt,
    UnsignedShort,
    UnsignedByte,
    PositiveInteger,
    Duration,
    YearMonthDuration,
    DayTimeDuration,
    DateTime,
    DateTimeStamp,
    Date,
    Time,
    GYear,
    GYearMonth,
    GMonth,
    GMonthDay,
    GDay,
    HexBinary,
    Base64Binary,
    QName,
    Notation,
}

use AtomicType as T;

/// Each type, its local name, and what it is derived from.
const TYPES: [(T, &str, T); 47] = [
    (T::AnyAtomic, "anyAtomicType", T::AnyAtomic),
    (T::Untyped, "untypedAtomic", T::AnyAtomic),
    (T::AnyUri, "anyURI", T::AnyAtomic),
    (T::String, "string", T::AnyAtomic),
    (T::NormalizedString, "normalizedString", T::String),
    (T::Token, "token", T::NormalizedString),
    (T::Language, "language", T::Token),
    (T::Nmtoken, "NMTOKEN", T::Token),
    (T::Name, "Name", T::Token),
    (T::NcName, "NCName", T::Name),
    (T::Id, "ID", T::NcName),
    (T::Idref, "IDREF", T::NcName),
    (T::Entity, "ENTITY", T::NcName),
    (T::Boolean, "boolean", T::AnyAtomic),
    (T::Numeric, "numeric", T::AnyAtomic),
    (T::Double, "double", T::Numeric),
    (T::Float, "float", T::Numeric),
    (T::Decimal, "decimal", T::Numeric),
    (T::Integer, "integer", T::Decimal),
    (T::NonPositiveInteger, "nonPositiveInteger", T::Integer),
    (T::NegativeInteger, "negativeInteger", T::NonPositiveInteger),
    (T::Long, "long", T::Integer),
    (T::Int, "int", T::Long),
    (T::Short, "short", T::Int),
    (T::Byte, "byte", T::Short),
    (T::NonNegativeInteger, "nonNegativeInteger", T::Integer),
    (T::UnsignedLong, "unsignedLong", T::NonNegativeInteger),
    (T::UnsignedInt, "unsignedInt", T::UnsignedLong),
    (T::UnsignedShort, "unsignedShort", T::UnsignedInt),
    (T::UnsignedByte, "unsignedByte", T::UnsignedShort),
    (T::PositiveInteger, "positiveInteger", T::NonNegativeInteger),
    (T::Duration, "duration", T::AnyAtomic),
    (T::YearMonthDuration, "yearMonthDuration", T::Duration),
    (T::DayTimeDuration, "dayTimeDuration", T::Duration),
    (T::DateTime, "dateTime", T::AnyAtomic),
    (T::DateTimeStamp, "dateTimeStamp", T::DateTime),
    (T::Date, "date", T::AnyAtomic),
    (T::Time, "time", T::AnyAtomic),
    (T::GYear, "gYear", T::AnyAtomic),
    (T::GYearMonth, "gYearMonth", T::AnyAtomic),
    (T::GMonth, "gMonth", T::AnyAtomic),
    (T::GMonthDay, "gMonthDay", T::AnyAtomic),
    (T::GDay, "gDay", T::AnyAtomic),
    (T::HexBinary, "hexBinary", T::AnyAtomic),
    (T::Base64Binary, "base64Binary", T::AnyAtomic),
    (T::QName, "QName", T::AnyAtomic),
    (T::Notation, "NOTATION", T::AnyAtomic),
];

impl AtomicType {
    /// The type with that local name in the namespace of XML Schema.
    pub fn find(local: &str) -> Option<AtomicType> {
        TYPES.iter().find(|(_, name, _)| *name == local).map(|(found, ..)| *found)
    }

    /// Its local name in the namespace of XML Schema.
    pub fn name(self) -> &'static str {
        TYPES[self as usize].1
    }

    /// The type it is derived from; itself for `xs:anyAtomicType`.
    pub fn base(self) -> AtomicType {
        TYPES[self as usize].2
    }

    /// Whether each value of this type is one of `other`.
    pub fn is(self, other: AtomicType) -> bool {
        let mut at = self;
        while at != other {
            if at == T::AnyAtomic {
                return false;
            }
            at = at.base();
        }
        true
    }

    /// The type from which the ones of this library are derived that share its representation.
    pub fn primitive(self) -> AtomicType {
        let mut at = self;
        while !matches!(at, T::Integer | T::AnyAtomic) && !matches!(at.base(), T::AnyAtomic | T::Numeric) {
            at = at.base();
        }
        at
    }
}

impl fmt::Display for AtomicType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "xs:{}", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_types() {
        for (index, (atomic, name, _)) in TYPES.iter().enumerate() {
            assert_eq!(*atomic as usize, index, "{name}");
            assert_eq!(AtomicType::find(name), Some(*atomic));
        }
    }

    #[test]
    fn derived_types_know_what_they_are() {
        assert!(T::Byte.is(T::Decimal) && T::Byte.is(T::Numeric) && !T::Byte.is(T::UnsignedByte));
        assert_eq!(T::Byte.primitive(), T::Integer);
        assert_eq!(T::Integer.primitive(), T::Integer);
        assert_eq!(T::NcName.primitive(), T::String);
        assert_eq!(T::DayTimeDuration.primitive(), T::Duration);
        assert_eq!(T::Decimal.primitive(), T::Decimal);
    }
}
