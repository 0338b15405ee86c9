//! Where branches meet: what each of them brings, and whether it is enough.

use std::cell::{Cell, RefCell};

use myelin_xml::Document;

use super::family::Family;
use crate::content::Elements;
use crate::fault::{Fault, Outcome};

/// What one branch brings.
#[derive(Debug)]
pub(crate) enum Piece {
    Xml(Elements),
    /// A JSON text.
    Json(String),
}

/// How many messages are enough.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// With so many it is complete; with less it is not, even if no more come.
    pub(crate) min: Option<usize>,
    /// With so many it is complete, too.
    pub(crate) max: Option<usize>,
}

/// What branches of one family brought to one mediator.
pub(crate) struct Group {
    wanted: Wanted,
    limit_bytes: usize,
    held_bytes: Cell<usize>,
    is_complete: Cell<bool>,
    /// By the numbers of the branches.
    pieces: RefCell<Vec<(usize, Piece)>>,
}

impl Piece {
    /// About how much memory it takes.
    fn size_bytes(&self) -> usize {
        let held = match self {
            Piece::Xml(elements) => elements.held_bytes(),
            Piece::Json(text) => text.len(),
        };
        // Of many small ones this is most.
        size_of::<(usize, Piece)>() + held
    }
}

impl Group {
    pub(crate) fn new(wanted: Wanted, limit_bytes: usize) -> Group {
        Group {
            wanted,
            limit_bytes,
            held_bytes: Cell::default(),
            is_complete: Cell::default(),
            pieces: RefCell::default(),
        }
    }

    /// Whether a message whose body takes so many bytes, about, still fits as a whole.
    pub(crate) fn has_room(&self, body_bytes: usize) -> bool {
        let more = size_of::<(usize, Piece)>() + size_of::<Document>() + body_bytes;
        self.held_bytes.get().saturating_add(more) <= self.limit_bytes
    }

    /// Adds what the branch with that number brings; what comes too late is dropped.
    ///
    /// Errors: the bus's, where all together would be too much.
    pub(crate) fn add(&self, number: usize, piece: Piece) -> Outcome<()> {
        if self.is_complete.get() {
            return Ok(());
        }
        let held = self.held_bytes.get() + piece.size_bytes();
        if held > self.limit_bytes {
            return Err(too_large(self.limit_bytes));
        }
        self.held_bytes.set(held);
        self.pieces.borrow_mut().push((number, piece));
        Ok(())
    }

    /// Whether nothing more is waited for.
    pub(crate) fn is_enough(&self, family: &Family) -> bool {
        let count = self.pieces.borrow().len();
        let reached = |wanted: Option<usize>| wanted.is_some_and(|wanted| count >= wanted);
        reached(self.wanted.min) || reached(self.wanted.max) || count >= family.total() || family.coming() == 0
    }

    /// Whether there is less than what is wanted at least.
    pub(crate) fn is_too_little(&self) -> bool {
        let count = self.pieces.borrow().len();
        self.wanted.min.is_some_and(|min| count < min)
    }

    /// Takes what came, in the order of the branches; what comes from now on is too late.
    pub(crate) fn complete(&self) -> Vec<Piece> {
        self.is_complete.set(true);
        let mut pieces = self.pieces.take();
        pieces.sort_by_key(|(number, _)| *number);
        pieces.into_iter().map(|(_, piece)| piece).collect()
    }
}

/// More messages, or larger ones, than fit into so many bytes.
pub(crate) fn too_large(limit_bytes: usize) -> Box<Fault> {
    let detail = format!("more than {limit_bytes} bytes");
    Fault::bus("The messages to be aggregated are too large together").with_detail(detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Piece {
        Piece::Json(text.to_owned())
    }

    #[test]
    fn min_max_all_or_the_last_one_is_enough() {
        let check = |min, max, brought: usize, coming: usize, expected: (bool, bool)| {
            let family = Family::new(None, 5);
            let mut unborn = family.unborn();
            let _coming: Vec<_> = (0..coming).map(|_| unborn.next().unwrap()).collect();
            drop(unborn);
            let group = Group::new(Wanted { min, max }, 1000);
            (0..brought).for_each(|number| group.add(number, text("1")).unwrap());
            assert_eq!(
                (group.is_enough(&family), group.is_too_little()),
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
        let group = Group::new(Wanted::default(), 5 + 2 * size_of::<(usize, Piece)>());
        group.add(2, text("222")).unwrap();
        group.add(0, text("0")).unwrap();
        assert!(group.add(1, text("")).unwrap_err().message.contains("too large"));
        let pieces = group.complete();
        assert!(matches!(&pieces[..], [Piece::Json(first), Piece::Json(second)] if first == "0" && second == "222"));
        group.add(3, text("late")).unwrap();
        assert!(group.complete().is_empty());
    }
}
