//! Where branches meet: what each of them brings, and whether it is enough.

use std::cell::{Cell, RefCell};

use myelin_content::Elements;
use myelin_message::budget::{Reservation, has_room};
use myelin_xml::Document;

use crate::branches::correlation_group::CorrelationGroup;
use crate::fault::{Fault, Outcome};

/// What one branch brings.
#[derive(Debug)]
pub enum Contribution {
    /// Elements, apart from the message that they stood in.
    Xml(Elements),
    /// A JSON text.
    Json(String),
}

/// How many messages are enough.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageCount {
    /// With so many it is complete; with less it is not, even if no more come.
    pub min: Option<usize>,
    /// With so many it is complete, too.
    pub max: Option<usize>,
}

/// What branches of one group brought to one mediator.
pub struct Aggregation {
    wanted: MessageCount,
    limit_bytes: usize,
    held_bytes: Cell<usize>,
    /// The memory of what is held.
    memory: RefCell<Reservation>,
    is_complete: Cell<bool>,
    /// By the numbers of the branches.
    pieces: RefCell<Vec<(usize, Contribution)>>,
}

impl MessageCount {
    /// Whether so many are enough.
    pub fn is_reached(&self, count: usize) -> bool {
        let reached = |wanted: Option<usize>| wanted.is_some_and(|wanted| count >= wanted);
        reached(self.min) || reached(self.max)
    }
}

impl Contribution {
    /// About how much memory it takes.
    pub fn size_bytes(&self) -> usize {
        let held = match self {
            Contribution::Xml(elements) => elements.memory_bytes(),
            Contribution::Json(text) => text.len(),
        };
        // Of many small ones this is most.
        size_of::<(usize, Contribution)>() + held
    }
}

impl Aggregation {
    /// One that is complete with so many messages, and holds so many bytes at most.
    pub fn new(wanted: MessageCount, limit_bytes: usize) -> Aggregation {
        Aggregation {
            wanted,
            limit_bytes,
            held_bytes: Cell::default(),
            memory: RefCell::default(),
            is_complete: Cell::default(),
            pieces: RefCell::default(),
        }
    }

    /// Whether a message whose body takes so many bytes, about, still fits as a whole.
    pub fn has_room(&self, body_bytes: usize) -> bool {
        let more = size_of::<(usize, Contribution)>() + size_of::<Document>() + body_bytes;
        self.held_bytes.get().saturating_add(more) <= self.limit_bytes
    }

    /// Adds what the branch with that number brings; what comes too late is dropped.
    ///
    /// Errors: the bus's, where all together would be too much, and 503 where all messages have no memory left.
    pub fn add(&self, number: usize, piece: Contribution) -> Outcome<()> {
        if self.is_complete.get() {
            return Ok(());
        }
        let held = self.held_bytes.get() + piece.size_bytes();
        if held > self.limit_bytes {
            return Err(too_large(self.limit_bytes));
        }
        if !has_room(piece.size_bytes()) {
            return Err(Fault::overloaded("no memory is left for the messages to be aggregated"));
        }
        self.memory.borrow_mut().set(held);
        self.held_bytes.set(held);
        self.pieces.borrow_mut().push((number, piece));
        Ok(())
    }

    /// Whether nothing more is waited for.
    pub fn is_enough(&self, group: &CorrelationGroup) -> bool {
        let count = self.pieces.borrow().len();
        self.wanted.is_reached(count) || count >= group.total() || group.outstanding() == 0
    }

    /// Whether there is less than what is wanted at least.
    pub fn is_too_little(&self) -> bool {
        let count = self.pieces.borrow().len();
        self.wanted.min.is_some_and(|min| count < min)
    }

    /// Takes what came, in the order of the branches; what comes from now on is too late.
    pub fn complete(&self) -> Vec<Contribution> {
        self.is_complete.set(true);
        self.memory.borrow_mut().set(0);
        let mut pieces = self.pieces.take();
        pieces.sort_by_key(|(number, _)| *number);
        pieces.into_iter().map(|(_, piece)| piece).collect()
    }
}

/// More messages, or larger ones, than fit into so many bytes.
pub fn too_large(limit_bytes: usize) -> Box<Fault> {
    let detail = format!("more than {limit_bytes} bytes");
    Fault::bus("The messages to be aggregated are too large together").with_detail(detail)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn text(text: &str) -> Contribution {
        Contribution::Json(text.to_owned())
    }

    #[test]
    fn min_max_all_or_the_last_one_is_enough() {
        let check = |min, max, brought: usize, coming: usize, expected: (bool, bool)| {
            let group = CorrelationGroup::new(None, 5, Duration::ZERO);
            let mut pending_branches = group.pending_branches();
            let _coming: Vec<_> = (0..coming).map(|_| pending_branches.next().unwrap()).collect();
            drop(pending_branches);
            let aggregation = Aggregation::new(MessageCount { min, max }, 1000);
            (0..brought).for_each(|number| aggregation.add(number, text("1")).unwrap());
            assert_eq!(
                (aggregation.is_enough(&group), aggregation.is_too_little()),
                expected,
                "{min:?} {max:?} {brought} {coming}"
            );
        };
        check(None, None, 4, 1, (false, false));
        check(None, None, 5, 0, (true, false));
        check(None, None, 2, 0, (true, false));
        check(Some(2), None, 2, 3, (true, false));
        check(Some(3), None, 2, 0, (true, true));
        check(None, Some(2), 2, 3, (true, false));
    }

    #[test]
    fn what_came_is_in_the_order_of_the_branches_and_bounded() {
        let aggregation = Aggregation::new(MessageCount::default(), 5 + 2 * size_of::<(usize, Contribution)>());
        aggregation.add(2, text("222")).unwrap();
        aggregation.add(0, text("0")).unwrap();
        assert!(aggregation.add(1, text("")).unwrap_err().message.contains("too large"));
        let pieces = aggregation.complete();
        assert!(
            matches!(&pieces[..], [Contribution::Json(first), Contribution::Json(second)] if first == "0" && second == "222")
        );
        aggregation.add(3, text("late")).unwrap();
        assert!(aggregation.complete().is_empty());
    }
}
