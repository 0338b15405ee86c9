//! Comparisons of sequences: one pair of items that compares true is enough (XPath 1.0 §3.4, XPath 3.1 §3.7).

use std::collections::HashSet;

use crate::ast::{Comparison, Expr, NodeComparison};
use crate::compare;
use crate::environment::Version;
use crate::error::Error;
use crate::run::{Flow, Focus, Run, Stop, finish};
use crate::types::AtomicType as T;
use crate::value::cast::cast;
use crate::value::{Atomic, Item, Value};

/// From so many items on both sides on, texts are looked up and not compared each with each.
const MANY: usize = 16;

impl<'a> Run<'_, 'a> {
    /// `=`, `<` …
    #[inline]
    pub(super) fn general(
        &self,
        comparison: Comparison,
        sides: &'a [Expr; 2],
        focus: &Focus<'_, 'a>,
    ) -> Result<bool, Error> {
        let [left, right] = sides;
        if let Comparison::Equal | Comparison::NotEqual = comparison
            && let Some(right_text) = self.plain_text(right)?
            && let Some(left_text) = self.plain_text(left)?
        {
            self.step(1)?;
            return Ok((left_text == right_text) == (comparison == Comparison::Equal));
        }
        self.general_of_items(comparison, sides, focus)
    }

    /// The same of sides that may give several items.
    fn general_of_items(
        &self,
        comparison: Comparison,
        sides: &'a [Expr; 2],
        focus: &Focus<'_, 'a>,
    ) -> Result<bool, Error> {
        let [left, right] = sides;
        if !self.many(left) && !self.many(right) {
            let (left, right) = (self.value(left, focus)?, self.value(right, focus)?);
            return match (&left, &right) {
                (Value::Item(Item::Atomic(left)), Value::Item(Item::Atomic(right))) => {
                    self.step(1)?;
                    self.pair(comparison, left, right)
                }
                _ => self.compare_values(comparison, left, &right),
            };
        }
        // The side that is a path is walked until a node compares true; the other side is there before.
        if self.many(left) {
            let other = self.value(right, focus)?;
            self.compare_each(comparison, left, &other, focus)
        } else {
            let other = self.value(left, focus)?;
            self.compare_each(compare::mirrored(comparison), right, &other, focus)
        }
    }

    /// The text of a literal, or of a variable that holds nothing else.
    ///
    /// Two of them are equal by the same rule in every version, whether their type is known or not.
    #[inline]
    fn plain_text(&self, expr: &'a Expr) -> Result<Option<&'a str>, Error> {
        match expr {
            Expr::Text(text) => Ok(Some(text)),
            Expr::Variable(slot) => self.variable_text(*slot),
            _ => Ok(None),
        }
    }

    /// Whether an expression gives items that are better looked at one by one.
    fn many(&self, expr: &Expr) -> bool {
        // In version 1 it matters whether all items are nodes.
        matches!(expr, Expr::Path(_) | Expr::Union(_)) || (self.version != Version::V1 && expr.gives_items())
    }

    /// Two values that are there.
    fn compare_values(&self, comparison: Comparison, left: Value<'a>, right: &Value<'a>) -> Result<bool, Error> {
        if self.version == Version::V1 {
            match (&left, right) {
                (Value::Item(Item::Atomic(Atomic::Boolean(boolean))), nodes) if nodes.is_nodes() => {
                    return Ok(compare::booleans(comparison, *boolean, nodes.boolean()));
                }
                (nodes, Value::Item(Item::Atomic(Atomic::Boolean(boolean)))) if nodes.is_nodes() => {
                    return Ok(compare::booleans(comparison, nodes.boolean(), *boolean));
                }
                _ => {}
            }
        }
        self.compare_items(comparison, right, |sink| left.into_items().try_for_each(sink))
    }

    /// A side that is walked with a value that is there.
    fn compare_each(
        &self,
        comparison: Comparison,
        walked: &'a Expr,
        other: &Value<'a>,
        focus: &Focus<'_, 'a>,
    ) -> Result<bool, Error> {
        // A boolean makes a node-set one as a whole (§3.4 of 1.0).
        if self.version == Version::V1
            && let Value::Item(Item::Atomic(Atomic::Boolean(boolean))) = other
        {
            return Ok(compare::booleans(comparison, self.condition(walked, focus)?, *boolean));
        }
        self.compare_items(comparison, other, |sink| self.any(walked, focus, sink))
    }

    /// Whether some item that is handed out compares true with some other.
    fn compare_items(
        &self,
        comparison: Comparison,
        other: &Value<'a>,
        hand_out: impl FnOnce(&mut dyn FnMut(Item<'a>) -> Flow) -> Flow,
    ) -> Result<bool, Error> {
        // The nodes of the other side are turned into values once, not once for each pair.
        let (single, several);
        let others: &[Atomic<'a>] = match other {
            Value::Item(item @ (Item::Node(_) | Item::Atomic(_))) => {
                single = [self.atomize(item.clone())?];
                &single
            }
            _ => {
                several = self.atomics(other)?;
                &several
            }
        };
        let texts = match comparison {
            Comparison::Equal if others.len() >= MANY => texts(others),
            _ => None,
        };
        let mut found = false;
        finish(hand_out(&mut |item| {
            self.each_atomic(item, &mut |atomic| {
                found = match (&texts, &atomic) {
                    (Some(texts), Atomic::Text(text, _)) => texts.contains(&**text),
                    _ => self.some_pair(comparison, &atomic, others)?,
                };
                if found { Err(Stop::Enough) } else { Ok(()) }
            })
        }))?;
        Ok(found)
    }

    fn some_pair(&self, comparison: Comparison, left: &Atomic<'a>, right: &[Atomic<'a>]) -> Result<bool, Error> {
        for other in right {
            self.step(1)?;
            if self.pair(comparison, left, other)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn pair(&self, comparison: Comparison, left: &Atomic<'a>, right: &Atomic<'a>) -> Result<bool, Error> {
        if self.version == Version::V1 && compare::is_simple(left) && compare::is_simple(right) {
            return Ok(compare::simple(comparison, left, right));
        }
        match (left.atomic_type() == T::Untyped, right.atomic_type() == T::Untyped) {
            (true, false) => compare::atomic(comparison, &self.adapted(left, right)?, right, self.context.now),
            (false, true) => compare::atomic(comparison, left, &self.adapted(right, left)?, self.context.now),
            _ => compare::atomic(comparison, left, right, self.context.now),
        }
    }

    /// A value of a type unknown becomes what it is compared with (§3.7.2 of 3.1).
    fn adapted(&self, untyped: &Atomic<'a>, other: &Atomic<'a>) -> Result<Atomic<'a>, Error> {
        let target = match other.atomic_type() {
            _ if other.is_numeric() => T::Double,
            T::YearMonthDuration => T::YearMonthDuration,
            T::DayTimeDuration => T::DayTimeDuration,
            atomic => atomic.primitive(),
        };
        cast(untyped.clone(), target, self.version)
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
            return self.pair(comparison, &left, &right).map(Value::from);
        }
        compare::atomic(comparison, &left, &right, self.context.now).map(Value::from)
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
            Some(Item::Atomic(_) | Item::Function(_)) => Err(super::filter::no_node("is")),
        };
        let (Some(left), Some(right)) = (node(&sides[0])?, node(&sides[1])?) else { return Ok(Value::EMPTY) };
        Ok(Value::from(match comparison {
            NodeComparison::Same => left == right,
            NodeComparison::Before => left.order(right).is_lt(),
            NodeComparison::After => left.order(right).is_gt(),
        }))
    }
}

/// The texts in a list, to look them up; `None` where there are other values, which compare in other ways.
fn texts<'s>(atomics: &'s [Atomic<'_>]) -> Option<HashSet<&'s str>> {
    atomics
        .iter()
        .map(|atomic| match atomic {
            Atomic::Text(text, _) => Some(&**text),
            _ => None,
        })
        .collect()
}
