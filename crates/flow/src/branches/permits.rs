//! How many branches run at once, and how much memory their messages may take.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// The permits to run branches of one request, bounded by number and by memory.
pub struct BranchPermits {
    branches: Cell<usize>,
    bytes: Cell<usize>,
    max_branches: usize,
    max_bytes: usize,
    waiting: RefCell<VecDeque<Waker>>,
}

/// What one branch runs by; it is given back when this is dropped.
pub struct BranchPermit {
    permits: Rc<BranchPermits>,
    bytes: usize,
}

impl BranchPermits {
    /// Permits for so many branches at once, whose messages take so many bytes together.
    pub fn new(max_branches: usize, max_bytes: usize) -> Rc<BranchPermits> {
        let (branches, bytes, waiting) = Default::default();
        Rc::new(BranchPermits { branches, bytes, max_branches: max_branches.max(1), max_bytes, waiting })
    }

    /// Waits for room; a message that is larger than all the room there is goes alone.
    pub async fn take(self: &Rc<BranchPermits>, bytes: usize) -> BranchPermit {
        poll_fn(|context| {
            let (branches, held) = (self.branches.get(), self.bytes.get());
            if branches > 0 && (branches >= self.max_branches || held.saturating_add(bytes) > self.max_bytes) {
                self.waiting.borrow_mut().push_back(context.waker().clone());
                return Poll::Pending;
            }
            self.branches.set(branches + 1);
            self.bytes.set(held + bytes);
            Poll::Ready(BranchPermit { permits: Rc::clone(self), bytes })
        })
        .await
    }
}

impl Drop for BranchPermit {
    fn drop(&mut self) {
        let BranchPermits { branches, bytes, waiting, .. } = &*self.permits;
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

    fn take(permits: &Rc<BranchPermits>, bytes: usize) -> Option<BranchPermit> {
        match pin!(permits.take(bytes)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(permit) => Some(permit),
            Poll::Pending => None,
        }
    }

    #[test]
    fn branches_and_their_bytes_are_bounded_and_one_always_goes() {
        let permits = BranchPermits::new(2, 100);
        let large = take(&permits, 1000).unwrap();
        assert!(take(&permits, 1).is_none());
        drop(large);
        let (first, second) = (take(&permits, 50).unwrap(), take(&permits, 50).unwrap());
        assert!(take(&permits, 0).is_none());
        drop(first);
        assert!(take(&permits, 51).is_none());
        drop((take(&permits, 50).unwrap(), second));
        assert_eq!((permits.branches.get(), permits.bytes.get()), (0, 0));
    }
}
