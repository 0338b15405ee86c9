//! A total order of atomic values of all types: for the keys of maps, and for numbers where they are sorted.

use std::cmp::Ordering;

use super::atomic::Atomic;
use super::decimal::Decimal;

/// The order of two keys of a map; equal where they are the same key.
///
/// Numbers of different types are the same key only if they are equal without rounding, NaN is the same as NaN, and
/// a time with a zone is never the same as one without. Which type comes before which means nothing.
/// Source: Functions and Operators §17.1.1 (`op:same-key`).
pub(crate) fn order(left: &Atomic<'_>, right: &Atomic<'_>) -> Ordering {
    class(left).cmp(&class(right)).then_with(|| match (left, right) {
        (Atomic::Text(left, _), Atomic::Text(right, _)) => left.as_bytes().cmp(right.as_bytes()),
        (Atomic::Boolean(left), Atomic::Boolean(right)) => left.cmp(right),
        (Atomic::Moment(left), Atomic::Moment(right)) => {
            let kinds = (left.kind.primitive() as u8).cmp(&(right.kind.primitive() as u8));
            kinds.then(left.zone.is_some().cmp(&right.zone.is_some())).then_with(|| left.compare(right))
        }
        (Atomic::Duration(left), Atomic::Duration(right)) => {
            (left.months, left.nanos).cmp(&(right.months, right.nanos))
        }
        (Atomic::QName(left), Atomic::QName(right)) => {
            (&left.namespace, &left.local).cmp(&(&right.namespace, &right.local))
        }
        (Atomic::Binary(left, of), Atomic::Binary(right, other)) => {
            (*of as u8).cmp(&(*other as u8)).then_with(|| left.cmp(right))
        }
        _ => numbers(left, right),
    })
}

/// Values of different classes are never the same.
fn class(atomic: &Atomic<'_>) -> u8 {
    match atomic {
        Atomic::Double(_) | Atomic::Float(_) | Atomic::Decimal(_) | Atomic::Integer(..) | Atomic::Large(..) => 0,
        Atomic::Text(..) => 1,
        Atomic::Boolean(_) => 2,
        Atomic::Moment(_) => 3,
        Atomic::Duration(_) => 4,
        Atomic::QName(_) => 5,
        Atomic::Binary(..) => 6,
    }
}

/// The order of two numbers of any types without rounding; NaN comes first and equals itself.
///
/// Comparing each pair in the type both can be promoted to would give no order: two integers may both be equal to one
/// double and not to each other.
pub(crate) fn numbers(left: &Atomic<'_>, right: &Atomic<'_>) -> Ordering {
    if let (Atomic::Integer(left, _), Atomic::Integer(right, _)) = (left, right) {
        return left.cmp(right);
    }
    let double = |atomic: &Atomic<'_>| atomic.as_double().unwrap_or(f64::NAN);
    match double(left).partial_cmp(&double(right)) {
        None => right.is_nan().cmp(&left.is_nan()),
        Some(Ordering::Equal) => exact(left).cmp(&exact(right)),
        Some(ordering) => ordering,
    }
}

/// A number as a decimal, if it is exactly one.
fn exact(atomic: &Atomic<'_>) -> Option<Decimal> {
    match atomic.as_decimal() {
        Some(decimal) => Some(decimal),
        None => {
            let number = atomic.as_double()?;
            // A fraction of so many binary digits has as many decimal ones.
            let few_digits = (number * f64::from(1 << Decimal::DIGITS)).fract() == 0.0;
            if few_digits { Decimal::parse(&format!("{number:.18}")) } else { None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Version;
    use crate::types::AtomicType as T;
    use crate::value::cast::cast;

    #[test]
    fn numbers_are_the_same_key_only_if_they_are_exactly_equal() {
        let number = |text: &'static str, atomic: T| cast(Atomic::from(text), atomic, Version::V3).expect(text);
        let check = |left: &'static str, of: T, right: &'static str, other: T, expected: Ordering| {
            assert_eq!(order(&number(left, of), &number(right, other)), expected, "{left} {right}");
            assert_eq!(order(&number(right, other), &number(left, of)), expected.reverse(), "{right} {left}");
        };
        check("1", T::Integer, "1.0", T::Decimal, Ordering::Equal);
        check("0.5", T::Double, "0.5", T::Decimal, Ordering::Equal);
        check("0.1", T::Double, "0.1", T::Decimal, Ordering::Less);
        check("9007199254740993", T::Integer, "9007199254740992", T::Double, Ordering::Greater);
        check("NaN", T::Double, "NaN", T::Float, Ordering::Equal);
        check("NaN", T::Double, "-INF", T::Double, Ordering::Less);
        check("-0", T::Double, "0", T::Integer, Ordering::Equal);
        check("a", T::Untyped, "a", T::String, Ordering::Equal);
        check("2020-01-01", T::Date, "2020-01-01Z", T::Date, Ordering::Less);
    }
}
