//! Predicates on items that come one by one, and on lists of them.

use crate::ast::{Predicate, PredicateKind};
use crate::error::Error;
use crate::run::{Focus, Run};
use crate::value::{Item, Value};

/// More predicates than this in a row are rare enough to be run over a list.
const COUNTED: usize = 4;

/// How many items have come to each of several predicates.
#[derive(Default)]
pub(super) struct Positions([u64; COUNTED]);

impl Positions {
    /// Whether predicates can be asked about one item after the other, none of them wanting to know how many there are.
    pub(super) fn suffice(predicates: &[Predicate]) -> bool {
        let sized = |kind| matches!(kind, PredicateKind::Last | PredicateKind::Sized);
        predicates.len() <= COUNTED && !predicates.iter().any(|predicate| sized(predicate.kind))
    }

    /// Whether all predicates hold for the next item, and whether nothing behind it gets past them.
    #[inline]
    pub(super) fn admit<'a>(
        &mut self,
        run: &Run<'_, 'a>,
        predicates: &'a [Predicate],
        item: impl Fn() -> Item<'a>,
        focus: &Focus<'_, 'a>,
    ) -> Result<(bool, bool), Error> {
        let mut last = false;
        for (predicate, position) in predicates.iter().zip(&mut self.0) {
            *position += 1;
            let position = *position;
            // Once a predicate has seen the position it wants, nothing that comes later gets past it.
            let holds = match predicate.kind {
                PredicateKind::At(wanted) | PredicateKind::UpTo(wanted) if position >= wanted => {
                    last = true;
                    position == wanted
                }
                PredicateKind::At(_) => false,
                PredicateKind::UpTo(_) => true,
                _ => run.holds(predicate, &focus.on(&item(), position, 0))?,
            };
            if !holds {
                return Ok((false, last));
            }
        }
        Ok((true, last))
    }
}

impl<'a> Run<'_, 'a> {
    /// What the predicates leave of a list, one after the other.
    pub(super) fn filter_items(
        &self,
        mut items: Vec<Item<'a>>,
        predicates: &'a [Predicate],
        focus: &Focus<'_, 'a>,
    ) -> Result<Vec<Item<'a>>, Error> {
        for predicate in predicates {
            let size = items.len() as u64;
            self.step(size)?;
            let mut position = 0;
            let mut failed = None;
            items.retain(|item| {
                position += 1;
                if failed.is_some() {
                    return false;
                }
                match self.holds(predicate, &focus.on(item, position, size)) {
                    Ok(holds) => holds,
                    Err(error) => {
                        failed = Some(error);
                        false
                    }
                }
            });
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Ok(items)
    }

    /// Whether a predicate holds for the item in focus.
    pub(super) fn holds(&self, predicate: &'a Predicate, focus: &Focus<'_, 'a>) -> Result<bool, Error> {
        match predicate.kind {
            PredicateKind::At(wanted) => Ok(focus.position == wanted),
            PredicateKind::UpTo(wanted) => Ok(focus.position <= wanted),
            PredicateKind::Last => Ok(focus.position == focus.size),
            PredicateKind::Condition => self.condition(&predicate.expr, focus),
            PredicateKind::Positional | PredicateKind::Sized => {
                let value = self.value(&predicate.expr, focus)?;
                if let Value::Item(Item::Atomic(atomic)) = &value
                    && let Some(number) = atomic.as_double()
                {
                    return Ok(number == focus.position as f64);
                }
                self.condition_of(&value)
            }
        }
    }
}
