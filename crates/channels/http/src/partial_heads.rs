//! Heads that have come in part, and the memory they may take together, apart from that of bodies.
//!
//! Whoever opens thousands of connections and never ends a head must not use up what others need: above the budget the
//! clients that began first, and so are the slowest, are sent away.
//! A head that comes at once, as nearly all do, never comes here.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::task::{Context, Waker};

/// The unfinished heads of one thread.
pub(crate) struct PartialHeads {
    limit_bytes: usize,
    kept_bytes: Cell<usize>,
    next: Cell<u64>,
    /// By when they began.
    heads: RefCell<BTreeMap<u64, Entry>>,
}

struct Entry {
    bytes: usize,
    waker: Waker,
}

/// One unfinished head; it counts until it is dropped or sent away.
pub(crate) struct PartialHead<'a> {
    heads: &'a PartialHeads,
    number: u64,
}

impl PartialHeads {
    pub(crate) fn new(limit_bytes: usize) -> PartialHeads {
        let (kept_bytes, next) = (Cell::new(0), Cell::new(0));
        PartialHeads { limit_bytes, kept_bytes, next, heads: RefCell::default() }
    }

    /// A head whose first bytes came now, and that is polled by the task of `cx`.
    pub(crate) fn begin(&self, cx: &Context<'_>) -> PartialHead<'_> {
        let number = self.next.replace(self.next.get() + 1);
        self.heads.borrow_mut().insert(number, Entry { bytes: 0, waker: cx.waker().clone() });
        PartialHead { heads: self, number }
    }
}

impl PartialHead<'_> {
    /// Says how many bytes are kept of it by now; `false` where its client is to be sent away.
    pub(crate) fn keep(&self, bytes: usize) -> bool {
        let PartialHeads { limit_bytes, kept_bytes, heads, .. } = self.heads;
        let heads = &mut *heads.borrow_mut();
        let Some(entry) = heads.get_mut(&self.number) else { return false };
        kept_bytes.set(kept_bytes.get() - entry.bytes + bytes);
        entry.bytes = bytes;
        while kept_bytes.get() > *limit_bytes
            && let Some((_, slowest)) = heads.pop_first()
        {
            kept_bytes.set(kept_bytes.get() - slowest.bytes);
            slowest.waker.wake();
        }
        heads.contains_key(&self.number)
    }
}

impl Drop for PartialHead<'_> {
    fn drop(&mut self) {
        if let Some(entry) = self.heads.heads.borrow_mut().remove(&self.number) {
            self.heads.kept_bytes.set(self.heads.kept_bytes.get() - entry.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above_the_budget_the_slowest_go_first() {
        let cx = &Context::from_waker(Waker::noop());
        let heads = PartialHeads::new(100);
        let [first, second, third] = [(); 3].map(|()| heads.begin(cx));
        assert!(first.keep(40) && second.keep(40) && third.keep(20) && first.keep(40));
        // The one that grows is not the one that goes, unless it is the oldest.
        assert!(third.keep(21));
        assert_eq!((first.keep(1), second.keep(40), heads.kept_bytes.get()), (false, true, 61));
        assert!(!second.keep(80));
        assert_eq!(heads.kept_bytes.get(), 21);
        drop(first);
        drop(third);
        assert_eq!(heads.kept_bytes.get(), 0);
        assert!(!heads.begin(cx).keep(101));
        assert_eq!(heads.kept_bytes.get(), 0);
    }
}
