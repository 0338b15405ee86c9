//! A total order of numbers of all types, to sort them.

use std::cmp::Ordering;

use super::atomic::Atomic;
use super::decimal::Decimal;
use crate::compare::is_nan;

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
        None => is_nan(right).cmp(&is_nan(left)),
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
    fn numbers_of_all_types_have_one_order() {
        let number = |text: &'static str, atomic: T| cast(Atomic::from(text), atomic, Version::V3).expect(text);
        let check = |left: &'static str, of: T, right: &'static str, other: T, expected: Ordering| {
            assert_eq!(numbers(&number(left, of), &number(right, other)), expected, "{left} {right}");
            assert_eq!(numbers(&number(right, other), &number(left, of)), expected.reverse(), "{right} {left}");
        };
        check("1", T::Integer, "1.0", T::Decimal, Ordering::Equal);
        check("0.5", T::Double, "0.5", T::Decimal, Ordering::Equal);
        check("0.1", T::Double, "0.1", T::Decimal, Ordering::Less);
        check("9007199254740993", T::Integer, "9007199254740992", T::Double, Ordering::Greater);
        check("NaN", T::Double, "NaN", T::Float, Ordering::Equal);
        check("NaN", T::Double, "-INF", T::Double, Ordering::Less);
        check("-0", T::Double, "0", T::Integer, Ordering::Equal);
    }
}
