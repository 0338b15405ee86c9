//! How many branches run at once, and how much memory their messages may take.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Room for branches.
pub(crate) struct Slots {
    branches: Cell<usize>,
    bytes: Cell<usize>,
    max_branches: usize,
    max_bytes: usize,
    waiting: RefCell<VecDeque<Waker>>,
}

/// Room that one branch has as long as this lives.
pub(crate) struct Slot {
    slots: Rc<Slots>,
    bytes: usize,
}

impl Slots {
    pub(crate) fn new(max_branches: usize, max_bytes: usize) -> Rc<Slots> {
        let (branches, bytes, waiting) = Default::default();
        Rc::new(Slots { branches, bytes, max_branches: max_branches.max(1), max_bytes, waiting })
    }

    /// Waits for room; a message that is larger than all the room there is goes alone.
    pub(crate) async fn take(self: &Rc<Slots>, bytes: usize) -> Slot {
        poll_fn(|context| {
            let (branches, held) = (self.branches.get(), self.bytes.get());
            if branches > 0 && (branches >= self.max_branches || held.saturating_add(bytes) > self.max_bytes) {
                self.waiting.borrow_mut().push_back(context.waker().clone());
                return Poll::Pending;
            }
            self.branches.set(branches + 1);
            self.bytes.set(held + bytes);
            Poll::Ready(Slot { slots: Rc::clone(self), bytes })
        })
        .await
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let Slots { branches, bytes, waiting, .. } = &*self.slots;
        branches.set(branches.get() - 1);
        bytes.set(bytes.get() - self.bytes);
        // All of them: who is first may be gone, or need more room than there is now.
        waiting.take().into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::Context;

    use super::*;

    fn take(slots: &Rc<Slots>, bytes: usize) -> Option<Slot> {
        match pin!(slots.take(bytes)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(slot) => Some(slot),
            Poll::Pending => None,
        }
    }

    #[test]
    fn branches_and_their_bytes_are_bounded_and_one_always_goes() {
        let slots = Slots::new(2, 100);
        let large = take(&slots, 1000).unwrap();
        assert!(take(&slots, 1).is_none());
        drop(large);
        let (first, second) = (take(&slots, 50).unwrap(), take(&slots, 50).unwrap());
        assert!(take(&slots, 0).is_none());
        drop(first);
        assert!(take(&slots, 51).is_none());
        drop((take(&slots, 50).unwrap(), second));
        assert_eq!((slots.branches.get(), slots.bytes.get()), (0, 0));
    }
}
