//! The branches that one mediator made of one message, and where they meet again.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;

use super::group::Group;
use crate::fault::Fault;

/// The branches that one mediator made of one message.
pub(crate) struct Family {
    /// The `id` of the mediator.
    name: Option<Arc<str>>,
    /// How many branches there are, or will be.
    total: usize,
    /// How many of them may still reach a group.
    coming: Cell<usize>,
    /// The first fault of a branch that nobody answered.
    fault: RefCell<Option<Box<Fault>>>,
    /// Where they meet, by the mediator that gathers them.
    groups: RefCell<HashMap<usize, Rc<Group>>>,
    /// Who waits for any of that to change.
    waiting: RefCell<Vec<Waker>>,
}

/// What an exchange knows of a family that it belongs to.
#[derive(Clone)]
pub(crate) struct Kin {
    pub(crate) family: Rc<Family>,
    /// Which branch of the family it is, from 0 on.
    pub(crate) number: usize,
    /// `None` for one that has met others.
    coming: Option<Rc<Coming>>,
}

/// One branch may still reach a group, or what was made of it may, as long as this lives.
struct Coming(Rc<Family>);

/// The branches of a family that were not begun yet.
pub(crate) struct Unborn {
    family: Rc<Family>,
    next: usize,
}

impl Family {
    /// A family of so many branches.
    pub(crate) fn new(name: Option<Arc<str>>, total: usize) -> Rc<Family> {
        Rc::new(Family {
            name,
            total,
            coming: Cell::new(total),
            fault: RefCell::default(),
            groups: RefCell::default(),
            waiting: RefCell::default(),
        })
    }

    /// All its branches, to be begun one after the other.
    pub(crate) fn unborn(self: &Rc<Family>) -> Unborn {
        Unborn { family: Rc::clone(self), next: 0 }
    }

    /// Whether the mediator that made it has that `id`.
    pub(crate) fn is_of(&self, id: &str) -> bool {
        self.name.as_deref() == Some(id)
    }

    /// How many branches there are, or will be.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// How many branches may still reach a group.
    pub(crate) fn coming(&self) -> usize {
        self.coming.get()
    }

    /// Where its branches meet at a mediator, which is told by its address.
    pub(crate) fn group(&self, mediator: usize) -> Option<Rc<Group>> {
        self.groups.borrow().get(&mediator).cloned()
    }

    /// Lets its branches meet at a mediator.
    pub(crate) fn begin_group(&self, mediator: usize, group: &Rc<Group>) {
        self.groups.borrow_mut().insert(mediator, Rc::clone(group));
    }

    /// A branch has ended with a fault that nobody answered.
    pub(crate) fn fail(&self, fault: &Fault) {
        self.fault.borrow_mut().get_or_insert_with(|| Box::new(fault.clone()));
    }

    /// The first fault of a branch that nobody answered.
    pub(crate) fn take_fault(&self) -> Option<Box<Fault>> {
        self.fault.borrow_mut().take()
    }

    /// Wakes this one when another branch has met the others, or is not coming any more.
    pub(crate) fn wait(&self, waker: &Waker) {
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.iter().any(|known| known.will_wake(waker)) {
            waiting.push(waker.clone());
        }
    }

    /// Wakes all who wait for a change.
    pub(crate) fn wake(&self) {
        self.waiting.take().into_iter().for_each(Waker::wake);
    }

    fn lose(&self, count: usize) {
        self.coming.set(self.coming.get() - count);
        self.wake();
    }
}

impl Kin {
    /// Whether this branch has not met the others yet.
    pub(crate) fn is_coming(&self) -> bool {
        self.coming.is_some()
    }

    /// The branch has come to where it meets the others.
    pub(crate) fn arrive(&mut self) {
        self.coming = None;
    }
}

impl Unborn {
    /// The next branch.
    pub(crate) fn next(&mut self) -> Option<Kin> {
        let number = self.next;
        if number == self.family.total {
            return None;
        }
        self.next += 1;
        let coming = Some(Rc::new(Coming(Rc::clone(&self.family))));
        Some(Kin { family: Rc::clone(&self.family), number, coming })
    }
}

impl Drop for Unborn {
    fn drop(&mut self) {
        self.family.lose(self.family.total - self.next);
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        self.0.lose(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_that_end_or_never_begin_are_not_coming_any_more() {
        let family = Family::new(None, 4);
        let mut unborn = family.unborn();
        let (first, mut second) = (unborn.next().unwrap(), unborn.next().unwrap());
        let made_of_first = first.clone();
        drop(first);
        assert_eq!(family.coming(), 4);
        drop(made_of_first);
        assert_eq!(family.coming(), 3);
        second.arrive();
        assert_eq!((family.coming(), second.is_coming(), second.number), (2, false, 1));
        drop(unborn);
        assert_eq!(family.coming(), 0);
    }
}
