//! Comparisons of two values (XPath 1.0 §3.4, XPath 3.1 §3.7.1).

use std::cmp::Ordering;

use crate::ast::Comparison;
use crate::collation::Collation;
use crate::error::Error;
use crate::types::AtomicType;
use crate::types::AtomicType as T;
use crate::value::{Atomic, Moment, key};

impl Atomic<'_> {
    /// Whether this and the other are equal by `eq`, or both NaN; what cannot be compared is not the same.
    ///
    /// `now` has the zone that is taken where a time has none.
    pub fn is_same(&self, other: &Atomic<'_>, now: Option<Moment>) -> bool {
        same(self, other, now)
    }

    /// The order in which `xsl:sort` and `fn:sort` put two values; NaN comes before all other numbers.
    ///
    /// Numbers of different types are told apart where their common type would round one of them, as otherwise there
    /// would be no order of three of them. Texts are in the order of their characters' numbers.
    /// Errors: `XPTY0004` where the types cannot be compared.
    pub fn order(&self, other: &Atomic<'_>, now: Option<Moment>) -> Result<Ordering, Error> {
        sorting(self, other, now, &Collation::CODEPOINTS)
    }
}

/// The same comparison with its sides exchanged.
pub(crate) fn mirrored(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        same => same,
    }
}

fn holds(comparison: Comparison, ordering: Ordering) -> bool {
    match comparison {
        Comparison::Equal => ordering.is_eq(),
        Comparison::NotEqual => ordering.is_ne(),
        Comparison::Less => ordering.is_lt(),
        Comparison::LessOrEqual => ordering.is_le(),
        Comparison::Greater => ordering.is_gt(),
        Comparison::GreaterOrEqual => ordering.is_ge(),
    }
}

/// Two numbers; with NaN only `!=` holds.
fn numbers(comparison: Comparison, left: f64, right: f64) -> bool {
    match left.partial_cmp(&right) {
        Some(ordering) => holds(comparison, ordering),
        None => comparison == Comparison::NotEqual,
    }
}

/// Two conditions; false comes before true.
pub(crate) fn booleans(comparison: Comparison, left: bool, right: bool) -> bool {
    holds(comparison, left.cmp(&right))
}

/// Whether it is of a kind that XPath 1.0 knows.
pub(crate) fn is_simple(atomic: &Atomic<'_>) -> bool {
    matches!(atomic, Atomic::Text(..) | Atomic::Boolean(_)) || atomic.is_numeric()
}

/// Two values by XPath 1.0 §3.4: as booleans if one is, as numbers if one is or if it is about order, else as texts.
pub(crate) fn simple(comparison: Comparison, left: &Atomic<'_>, right: &Atomic<'_>) -> bool {
    let boolean = |atomic: &Atomic<'_>| matches!(atomic, Atomic::Boolean(_));
    let condition = |atomic: &Atomic<'_>| atomic.condition().unwrap_or(true);
    let equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    match (left, right) {
        _ if equality && (boolean(left) || boolean(right)) => booleans(comparison, condition(left), condition(right)),
        (Atomic::Text(left, _), Atomic::Text(right, _)) if equality => {
            (left == right) == (comparison == Comparison::Equal)
        }
        _ => numbers(comparison, left.number(), right.number()),
    }
}

/// Two values by their types; `now` has the zone that is taken where a time has none.
///
/// Errors: `XPTY0004` where the types cannot be compared.
pub(crate) fn atomic(
    comparison: Comparison,
    left: &Atomic<'_>,
    right: &Atomic<'_>,
    now: Option<Moment>,
) -> Result<bool, Error> {
    atomic_by(comparison, left, right, now, &Collation::CODEPOINTS)
}

/// The same with texts in the order of a collation.
pub(crate) fn atomic_by(
    comparison: Comparison,
    left: &Atomic<'_>,
    right: &Atomic<'_>,
    now: Option<Moment>,
    collation: &Collation,
) -> Result<bool, Error> {
    let ordered = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    let ordering = ordering_by(left, right, ordered, now, collation)?;
    // With NaN only `ne` holds.
    Ok(ordering.map_or(comparison == Comparison::NotEqual, |ordering| holds(comparison, ordering)))
}

/// How two values stand to each other; `None` where one is NaN.
///
/// `ordered`: whether more is asked than whether they are equal, which some types do not answer.
pub(crate) fn ordering_by(
    left: &Atomic<'_>,
    right: &Atomic<'_>,
    ordered: bool,
    now: Option<Moment>,
    collation: &Collation,
) -> Result<Option<Ordering>, Error> {
    Ok(Some(match (left, right) {
        (Atomic::Text(left, _), Atomic::Text(right, _)) => collation.compare(left, right),
        (Atomic::Boolean(left), Atomic::Boolean(right)) => left.cmp(right),
        (Atomic::Moment(left), Atomic::Moment(right)) if left.kind.primitive() == right.kind.primitive() => {
            if ordered && !matches!(left.kind.primitive(), T::DateTime | T::Date | T::Time) {
                return refused(left.kind, right.kind);
            }
            zoned(left, now).compare(&zoned(right, now))
        }
        (Atomic::Duration(left), Atomic::Duration(right)) => {
            if ordered && (left.kind != right.kind || left.kind == T::Duration) {
                return refused(left.kind, right.kind);
            }
            (left.months, left.nanos).cmp(&(right.months, right.nanos))
        }
        (Atomic::QName(left), Atomic::QName(right)) if !ordered => {
            (&left.namespace, &left.local).cmp(&(&right.namespace, &right.local))
        }
        (Atomic::Binary(left, of), Atomic::Binary(right, other)) if of == other => left.cmp(right),
        _ => return numeric(left, right).map_or_else(|| refused(left.atomic_type(), right.atomic_type()), Ok),
    }))
}

/// Whether two values are the same: equal, or both NaN; what cannot be compared is not.
pub(crate) fn same(left: &Atomic<'_>, right: &Atomic<'_>, now: Option<Moment>) -> bool {
    same_by(left, right, now, &Collation::CODEPOINTS)
}

/// The same with texts that a collation finds equal.
pub(crate) fn same_by(left: &Atomic<'_>, right: &Atomic<'_>, now: Option<Moment>, collation: &Collation) -> bool {
    match ordering_by(left, right, false, now, collation) {
        Ok(Some(ordering)) => ordering.is_eq(),
        Ok(None) => left.is_nan() && right.is_nan(),
        Err(_) => false,
    }
}

/// The order in which values are sorted: a NaN comes before all other numbers.
///
/// Errors: `XPTY0004` where the types cannot be compared.
pub(crate) fn sorting(
    left: &Atomic<'_>,
    right: &Atomic<'_>,
    now: Option<Moment>,
    collation: &Collation,
) -> Result<Ordering, Error> {
    if left.is_numeric() && right.is_numeric() {
        return Ok(key::numbers(left, right));
    }
    Ok(ordering_by(left, right, true, now, collation)?.unwrap_or(Ordering::Equal))
}

fn refused<T>(left: AtomicType, right: AtomicType) -> Result<T, Error> {
    Err(Error::value("XPTY0004", format!("{left} cannot be compared so with {right}")))
}

/// With the zone of the evaluation where it has none.
pub(crate) fn zoned(moment: &Moment, now: Option<Moment>) -> Moment {
    Moment { zone: moment.zone.or(now.and_then(|now| now.zone)), ..*moment }
}

/// The order of two numbers of any type: the outer `None` where one is no number, the inner one where one is NaN.
pub(crate) fn numeric(left: &Atomic<'_>, right: &Atomic<'_>) -> Option<Option<Ordering>> {
    if let (Some(left), Some(right)) = (left.as_decimal(), right.as_decimal()) {
        return Some(Some(left.cmp(&right)));
    }
    let single = |atomic: &Atomic<'_>| !matches!(atomic, Atomic::Double(_));
    let (first, second) = (left.as_double()?, right.as_double()?);
    if single(left) && single(right) {
        // A float compares with decimals as floats do.
        return Some((first as f32).partial_cmp(&(second as f32)));
    }
    Some(first.partial_cmp(&second))
}
