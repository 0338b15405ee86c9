//! Comparisons of sequences: one pair of items that compares true is enough (XPath 1.0 §3.4, XPath 3.1 §3.7).

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Focus, Run, Stop, finish};
use crate::ast::{Comparison, Expr, NodeComparison};
use crate::compare;
use crate::environment::Version;
use crate::error::Error;
use crate::types::AtomicType as T;
use crate::value::cast::cast;
use crate::value::{Atomic, Item, Value};

/// From so many items on both sides on, texts are looked up and not compared each with each.
const MANY: usize = 16;

impl<'a> Run<'a> {
    /// `=`, `<` …
    pub(super) fn general(
        &self,
        comparison: Comparison,
        sides: &'a [Expr; 2],
        focus: &Focus<'_, 'a>,
    ) -> Result<bool, Error> {
        let [left, right] = sides;
        // The side that is a path is walked until a node compares true; the other side is there before.
        if many(left) || !many(right) {
            let other = self.value(right, focus)?;
            self.compare_each(comparison, left, &other, focus)
        } else {
            let other = self.value(left, focus)?;
            self.compare_each(compare::mirrored(comparison), right, &other, focus)
        }
    }

    fn compare_each(
        &self,
        comparison: Comparison,
        walked: &'a Expr,
        other: &Value<'a>,
        focus: &Focus<'_, 'a>,
    ) -> Result<bool, Error> {
        if self.version == Version::V1 {
            if !many(walked) {
                let value = self.value(walked, focus)?;
                return match (&value, other) {
                    (Value::Item(Item::Atomic(Atomic::Boolean(boolean))), other) if other.is_nodes() => {
                        Ok(compare::booleans(comparison, *boolean, other.boolean()))
                    }
                    (nodes, Value::Item(Item::Atomic(Atomic::Boolean(boolean)))) if nodes.is_nodes() => {
                        Ok(compare::booleans(comparison, nodes.boolean(), *boolean))
                    }
                    _ => self.some_pair(comparison, value.into_items(), other),
                };
            }
            // A boolean makes a node-set one as a whole (§3.4).
            if let Value::Item(Item::Atomic(Atomic::Boolean(boolean))) = other {
                return Ok(compare::booleans(comparison, self.condition(walked, focus)?, *boolean));
            }
        }
        let texts = if comparison == Comparison::Equal && other.len() >= MANY { self.texts(other)? } else { None };
        let mut found = false;
        finish(self.any(walked, focus, &mut |item| {
            found = match (&texts, &item) {
                (Some(texts), Item::Node(node)) => texts.contains(&*node.string_value()),
                _ => self.some_pair(comparison, std::iter::once(item), other)?,
            };
            if found { Err(Stop::Enough) } else { Ok(()) }
        }))?;
        Ok(found)
    }

    /// The texts of a list of nodes, to look them up.
    fn texts(&self, value: &Value<'a>) -> Result<Option<HashSet<Cow<'a, str>>>, Error> {
        if !value.is_nodes() {
            return Ok(None);
        }
        self.step(value.len() as u64)?;
        self.build(value.len() * size_of::<Cow<'_, str>>())?;
        Ok(Some(value.items().map(|item| item.into_text(self.version)).collect()))
    }

    fn some_pair(
        &self,
        comparison: Comparison,
        left: impl Iterator<Item = Item<'a>>,
        right: &Value<'a>,
    ) -> Result<bool, Error> {
        for item in left {
            for other in right.items() {
                self.step(1)?;
                if self.pair(comparison, &item, &other)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn pair(&self, comparison: Comparison, left: &Item<'a>, right: &Item<'a>) -> Result<bool, Error> {
        if self.version == Version::V1 && compare::is_simple(left) && compare::is_simple(right) {
            return Ok(compare::simple(comparison, left, right));
        }
        let (left, right) = (left.clone().atomize(), right.clone().atomize());
        let (left, right) = match (left.atomic_type() == T::Untyped, right.atomic_type() == T::Untyped) {
            (true, false) => (self.adapted(left, &right)?, right),
            (false, true) => {
                let right = self.adapted(right, &left)?;
                (left, right)
            }
            _ => (left, right),
        };
        compare::atomic(comparison, &left, &right, self.now)
    }

    /// A value of a type unknown becomes what it is compared with (§3.7.2 of 3.1).
    fn adapted(&self, untyped: Atomic<'a>, other: &Atomic<'a>) -> Result<Atomic<'a>, Error> {
        let target = match other.atomic_type() {
            _ if other.is_numeric() => T::Double,
            T::YearMonthDuration => T::YearMonthDuration,
            T::DayTimeDuration => T::DayTimeDuration,
            atomic => atomic.primitive(),
        };
        cast(untyped, target, self.version)
    }

    /// `eq`, `lt` …
    pub(super) fn single(
        &self,
        comparison: Comparison,
        sides: &'a [Expr; 2],
        focus: &Focus<'_, 'a>,
    ) -> Result<Value<'a>, Error> {
        let (left, right) = (self.operand(&sides[0], focus)?, self.operand(&sides[1], focus)?);
        let (Some(left), Some(right)) = (left, right) else { return Ok(Value::EMPTY) };
        if self.version == Version::V1 {
            let (left, right) = (Item::Atomic(left), Item::Atomic(right));
            if compare::is_simple(&left) && compare::is_simple(&right) {
                return Ok(compare::simple(comparison, &left, &right).into());
            }
            return self.pair(comparison, &left, &right).map(Value::from);
        }
        compare::atomic(comparison, &left, &right, self.now).map(Value::from)
    }

    /// `is`, `<<`, `>>`
    pub(super) fn node_comparison(
        &self,
        comparison: NodeComparison,
        sides: &'a [Expr; 2],
        focus: &Focus<'_, 'a>,
    ) -> Result<Value<'a>, Error> {
        let node = |side: &'a Expr| match self.one(side, focus)? {
            None => Ok(None),
            Some(Item::Node(node)) => Ok(Some(node)),
            Some(Item::Atomic(_)) => Err(super::filter::no_node("is")),
        };
        let (Some(left), Some(right)) = (node(&sides[0])?, node(&sides[1])?) else { return Ok(Value::EMPTY) };
        Ok(Value::from(match comparison {
            NodeComparison::Same => left == right,
            NodeComparison::Before => left.order(right).is_lt(),
            NodeComparison::After => left.order(right).is_gt(),
        }))
    }
}

/// Whether an expression gives nodes that are better looked at one by one.
fn many(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(_) | Expr::Union(_))
}
