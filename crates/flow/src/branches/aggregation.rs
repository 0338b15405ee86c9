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
    is_complete: Cell<bool>,
    /// By the numbers of the branches.
    gathered: RefCell<Gathered>,
}

/// What several messages brought to one mediator, with its memory.
#[derive(Default)]
pub struct Gathered {
    held_bytes: usize,
    memory: Reservation,
    pieces: Vec<(usize, Contribution)>,
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
    fn size_bytes(&self) -> usize {
        let held = match self {
            Contribution::Xml(elements) => elements.memory_bytes(),
            Contribution::Json(text) => text.len(),
        };
        // Of many small ones this is most.
        size_of::<(usize, Contribution)>() + held
    }
}

impl Gathered {
    /// Adds what a message brings, to be taken in the order of the numbers.
    ///
    /// Errors: the bus's, where all together would be more than the limit, and 503 where all messages have no memory left.
    pub fn add(&mut self, number: usize, piece: Contribution, limit_bytes: usize) -> Outcome<()> {
        let held_bytes = self.held_bytes + piece.size_bytes();
        if held_bytes > limit_bytes {
            return Err(too_large(limit_bytes));
        }
        if !has_room(piece.size_bytes()) {
            return Err(Fault::overloaded("no memory is left for the messages to be aggregated"));
        }
        self.memory.set(held_bytes);
        self.held_bytes = held_bytes;
        self.pieces.push((number, piece));
        Ok(())
    }

    /// How many messages brought something.
    pub fn count(&self) -> usize {
        self.pieces.len()
    }

    /// Takes what came, in the order of the numbers.
    pub fn take(&mut self) -> Vec<Contribution> {
        self.memory.set(0);
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.sort_by_key(|(number, _)| *number);
        pieces.into_iter().map(|(_, piece)| piece).collect()
    }
}

impl Aggregation {
    /// One that is complete with so many messages, and holds so many bytes at most.
    pub fn new(wanted: MessageCount, limit_bytes: usize) -> Aggregation {
        Aggregation { wanted, limit_bytes, is_complete: Cell::default(), gathered: RefCell::default() }
    }

    /// Whether a message whose body takes so many bytes, about, still fits as a whole.
    pub fn has_room(&self, body_bytes: usize) -> bool {
        let more = size_of::<(usize, Contribution)>() + size_of::<Document>() + body_bytes;
        self.gathered.borrow().held_bytes.saturating_add(more) <= self.limit_bytes
    }

    /// Adds what the branch with that number brings; what comes too late is dropped.
    ///
    /// Errors: as [`Gathered::add`].
    pub fn add(&self, number: usize, piece: Contribution) -> Outcome<()> {
        if self.is_complete.get() { Ok(()) } else { self.gathered.borrow_mut().add(number, piece, self.limit_bytes) }
    }

    /// Whether nothing more is waited for.
    pub fn is_enough(&self, group: &CorrelationGroup) -> bool {
        let count = self.gathered.borrow().count();
        self.wanted.is_reached(count) || count >= group.total() || group.outstanding() == 0
    }

    /// Whether there is less than what is wanted at least.
    pub fn is_too_little(&self) -> bool {
        let count = self.gathered.borrow().count();
        self.wanted.min.is_some_and(|min| count < min)
    }

    /// Takes what came, in the order of the branches; what comes from now on is too late.
    pub fn complete(&self) -> Vec<Contribution> {
        self.is_complete.set(true);
        self.gathered.borrow_mut().take()
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
