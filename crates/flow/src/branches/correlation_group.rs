//! The branches that one mediator made of one message, and where they meet again.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use crate::branches::aggregation::Aggregation;
use crate::fault::Fault;

/// The branches that one mediator made of one message.
pub struct CorrelationGroup {
    /// The `id` of the mediator.
    name: Option<Arc<str>>,
    /// When the message was split, by the clock that only goes forward.
    split_at: Duration,
    /// How many branches there are, or will be.
    total: usize,
    /// How many of them may still reach a aggregation.
    coming: Cell<usize>,
    /// The first fault of a branch that nobody answered.
    fault: RefCell<Option<Box<Fault>>>,
    /// Where they meet, by the mediator that gathers them.
    aggregations: RefCell<HashMap<usize, Rc<Aggregation>>>,
    /// Who waits for any of that to change.
    waiting: RefCell<Vec<Waker>>,
}

/// What an exchange knows of a group that it belongs to.
#[derive(Clone)]
pub struct GroupMember {
    /// The group.
    pub group: Rc<CorrelationGroup>,
    /// Which branch of the group it is, from 0 on.
    pub number: usize,
    /// `None` for one that has met others.
    coming: Option<Rc<Coming>>,
}

/// One branch may still reach a aggregation, or what was made of it may, as long as this lives.
struct Coming(Rc<CorrelationGroup>);

/// The branches of a group that were not begun yet.
pub struct PendingBranches {
    group: Rc<CorrelationGroup>,
    next: usize,
}

impl CorrelationGroup {
    /// A group of so many branches, of a message that is split at that time.
    pub fn new(name: Option<Arc<str>>, total: usize, split_at: Duration) -> Rc<CorrelationGroup> {
        Rc::new(CorrelationGroup {
            name,
            split_at,
            total,
            coming: Cell::new(total),
            fault: RefCell::default(),
            aggregations: RefCell::default(),
            waiting: RefCell::default(),
        })
    }

    /// All its branches, to be begun one after the other.
    pub fn pending_branches(self: &Rc<CorrelationGroup>) -> PendingBranches {
        PendingBranches { group: Rc::clone(self), next: 0 }
    }

    /// Whether the mediator that made it has that `id`.
    pub fn is_of(&self, id: &str) -> bool {
        self.name.as_deref() == Some(id)
    }

    /// When the message was split, by the clock that only goes forward.
    pub fn split_at(&self) -> Duration {
        self.split_at
    }

    /// How many branches there are, or will be.
    pub fn total(&self) -> usize {
        self.total
    }

    /// How many branches may still reach a aggregation.
    pub fn outstanding(&self) -> usize {
        self.coming.get()
    }

    /// Whether a branch has come to where it meets others.
    pub fn has_met(&self) -> bool {
        !self.aggregations.borrow().is_empty()
    }

    /// Where its branches meet at a mediator, which is told by its address.
    pub fn aggregation(&self, mediator: usize) -> Option<Rc<Aggregation>> {
        self.aggregations.borrow().get(&mediator).cloned()
    }

    /// Lets its branches meet at a mediator.
    pub fn begin_aggregation(&self, mediator: usize, aggregation: &Rc<Aggregation>) {
        self.aggregations.borrow_mut().insert(mediator, Rc::clone(aggregation));
    }

    /// A branch has ended with a fault that nobody answered.
    pub fn fail(&self, fault: &Fault) {
        self.fault.borrow_mut().get_or_insert_with(|| Box::new(fault.clone()));
    }

    /// The first fault of a branch that nobody answered.
    pub fn take_fault(&self) -> Option<Box<Fault>> {
        self.fault.borrow_mut().take()
    }

    /// Wakes this one when another branch has met the others, or is not coming any more.
    pub fn wait(&self, waker: &Waker) {
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.iter().any(|known| known.will_wake(waker)) {
            waiting.push(waker.clone());
        }
    }

    /// Wakes all who wait for a change.
    pub fn wake(&self) {
        self.waiting.take().into_iter().for_each(Waker::wake);
    }

    fn lose(&self, count: usize) {
        self.coming.set(self.coming.get() - count);
        self.wake();
    }
}

impl GroupMember {
    /// Whether this branch has not met the others yet.
    pub fn is_coming(&self) -> bool {
        self.coming.is_some()
    }

    /// The branch has come to where it meets the others.
    pub fn arrive(&mut self) {
        self.coming = None;
    }
}

impl PendingBranches {
    /// The next branch.
    pub fn next(&mut self) -> Option<GroupMember> {
        let number = self.next;
        if number == self.group.total {
            return None;
        }
        self.next += 1;
        let coming = Some(Rc::new(Coming(Rc::clone(&self.group))));
        Some(GroupMember { group: Rc::clone(&self.group), number, coming })
    }
}

impl Drop for PendingBranches {
    fn drop(&mut self) {
        self.group.lose(self.group.total - self.next);
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
        let group = CorrelationGroup::new(None, 4, Duration::ZERO);
        let mut pending_branches = group.pending_branches();
        let (first, mut second) = (pending_branches.next().unwrap(), pending_branches.next().unwrap());
        let made_of_first = first.clone();
        drop(first);
        assert_eq!(group.outstanding(), 4);
        drop(made_of_first);
        assert_eq!(group.outstanding(), 3);
        second.arrive();
        assert_eq!((group.outstanding(), second.is_coming(), second.number), (2, false, 1));
        drop(pending_branches);
        assert_eq!(group.outstanding(), 0);
    }
}
