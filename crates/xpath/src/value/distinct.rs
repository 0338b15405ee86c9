//! Values told apart, without comparing each with each.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::atomic::Atomic;
use super::calendar::Moment;
use crate::collation::Collation;
use crate::compare::{same_by, zoned};

/// Numbers values in the order in which they are first seen: the same value gets the same number.
///
/// What is the same is what `distinct-values()` and `xsl:for-each-group` say: equal by `eq`, with a text of a type
/// unknown as a text and NaN as equal to itself; values that cannot be compared are not the same.
/// Source: Functions and Operators §14.2.1, XSLT 2.0 §14.3.
pub struct Distinct<'a> {
    now: Option<Moment>,
    collation: Collation,
    random: RandomState,
    /// By what is equal for all values that are the same: the numbers of such values.
    alike: HashMap<u64, Vec<u32>>,
    values: Vec<Atomic<'a>>,
}

impl<'a> Distinct<'a> {
    /// Nothing seen yet; `now` has the zone that is taken where a time has none.
    pub fn new(now: Option<Moment>) -> Distinct<'a> {
        Distinct::by(now, Collation::CODEPOINTS)
    }

    /// The same, of texts that a collation tells apart.
    pub fn by(now: Option<Moment>, collation: Collation) -> Distinct<'a> {
        Distinct { now, collation, random: RandomState::new(), alike: HashMap::new(), values: Vec::new() }
    }

    /// How many different values there were.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The number of a value, counted from 0: how many others came before it first came.
    pub fn number(&mut self, value: &Atomic<'a>) -> u32 {
        let alike = self.alike.entry(hash(value, self.now, &self.collation, &self.random)).or_default();
        let is_same = |known: &&u32| same_by(&self.values[**known as usize], value, self.now, &self.collation);
        if let Some(known) = alike.iter().find(is_same) {
            return *known;
        }
        let number = self.values.len() as u32;
        alike.push(number);
        self.values.push(value.clone());
        number
    }
}

/// A number that is the same for values that are the same.
///
/// With one exception: floats compare with decimals as floats and with doubles as doubles, so that "the same" leads
/// from one decimal through a float to another. Here a float is the decimal it is written as.
fn hash(value: &Atomic<'_>, now: Option<Moment>, collation: &Collation, random: &RandomState) -> u64 {
    match value {
        Atomic::Text(text, _) => random.hash_one(collation.key(text)),
        Atomic::Boolean(boolean) => random.hash_one(boolean),
        Atomic::Moment(moment) => random.hash_one(zoned(moment, now).timeline()),
        Atomic::Duration(duration) => random.hash_one((duration.months, duration.nanos)),
        Atomic::QName(name) => random.hash_one((&name.namespace, &name.local)),
        Atomic::Binary(bytes, _) => random.hash_one(bytes),
        Atomic::Double(_) | Atomic::Float(_) | Atomic::Decimal(_) | Atomic::Integer(..) | Atomic::Large(..) => {
            let number = match value {
                Atomic::Float(number) => number.to_string().parse().unwrap_or(f64::NAN),
                other => other.as_double().unwrap_or(f64::NAN),
            };
            // The two zeros are the same, and so are all that are no numbers.
            let bits = if number == 0.0 { 0 } else { number.to_bits() };
            random.hash_one(if number.is_nan() { u64::MAX } else { bits })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::AtomicType as T;

    #[test]
    fn the_same_value_gets_the_same_number_whatever_its_type() {
        let mut distinct = Distinct::new(None);
        let mut check = |value: Atomic<'static>, expected: u32| assert_eq!(distinct.number(&value), expected);
        check(Atomic::from("a"), 0);
        check(Atomic::untyped("a".into()), 0);
        check(Atomic::from(1), 1);
        check(Atomic::from(1.0), 1);
        check(Atomic::from("1"), 2);
        check(Atomic::from(f64::NAN), 3);
        check(Atomic::Float(f32::NAN), 3);
        check(Atomic::from(true), 4);
        check(Atomic::from(-0.0), 5);
        check(Atomic::from(0), 5);
        check(Atomic::Text("a".into(), T::AnyUri), 0);
        assert_eq!(distinct.len(), 6);
    }
}
