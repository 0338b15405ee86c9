//! Connections to backends, kept per thread and address; the one used last is used next.
//!
//! Newest first lets the surplus of a busy hour grow old and go, and picks the connection least likely to be stale.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::connection::Shared;
use crate::options::ClientOptions;
use crate::timer::Tick;

/// All of one thread's backend connections, by address.
#[derive(Default)]
pub(crate) struct Pool {
    plain: RefCell<HashMap<String, Rc<Bucket>>>,
    tls: RefCell<HashMap<String, Rc<Bucket>>>,
}

/// The connections to one scheme, host and port.
pub(crate) struct Bucket {
    /// Oldest use first.
    idle: RefCell<VecDeque<Idle>>,
    open: Cell<usize>,
    waiting: Cell<usize>,
    changed: Notify,
}

/// A connection that waits for its next request.
pub(crate) struct Idle {
    pub(crate) connection: Shared,
    pub(crate) since: Tick,
}

/// A connection's place among the open ones of its bucket, freed when dropped.
pub(crate) struct Slot {
    bucket: Rc<Bucket>,
    born: Tick,
    life: Duration,
}

/// What a bucket has for a request.
pub(crate) enum Taken {
    Reused(Idle),
    /// A connection may be opened.
    Open(Slot),
    /// Too many wait already.
    Full,
}

impl Pool {
    pub(crate) fn bucket(&self, tls: bool, authority: &str) -> Rc<Bucket> {
        let map = if tls { &self.tls } else { &self.plain };
        if let Some(bucket) = map.borrow().get(authority) {
            return Rc::clone(bucket);
        }
        let bucket = Rc::new(Bucket {
            idle: RefCell::default(),
            open: Cell::new(0),
            waiting: Cell::new(0),
            changed: Notify::new(),
        });
        map.borrow_mut().insert(authority.to_owned(), Rc::clone(&bucket));
        bucket
    }

    /// How many connections serve a request, and how many requests wait for one.
    pub(crate) fn busy(&self) -> usize {
        let of = |bucket: &Rc<Bucket>| bucket.open.get() - bucket.idle.borrow().len() + bucket.waiting.get();
        [&self.plain, &self.tls].into_iter().map(|map| map.borrow().values().map(of).sum::<usize>()).sum()
    }

    /// Closes connections that are too old or that their backend has closed, and forgets unused addresses.
    pub(crate) fn sweep(&self, options: &ClientOptions) {
        for map in [&self.plain, &self.tls] {
            let buckets: Vec<Rc<Bucket>> = map.borrow().values().cloned().collect();
            for bucket in &buckets {
                bucket.sweep(options.keep_alive);
            }
            drop(buckets);
            map.borrow_mut().retain(|_, bucket| bucket.open.get() > 0 || Rc::strong_count(bucket) > 1);
        }
    }
}

impl Bucket {
    /// The connection used last, if it still stands.
    pub(crate) fn reuse(&self) -> Option<Idle> {
        loop {
            let idle = self.idle.borrow_mut().pop_back()?;
            if idle.connection.borrow_mut().is_quiet() {
                return Some(idle);
            }
        }
    }

    /// A connection or the right to open one; waits while all are in use.
    pub(crate) async fn take(self: &Rc<Self>, options: &ClientOptions) -> Taken {
        loop {
            if let Some(idle) = self.reuse() {
                return Taken::Reused(idle);
            }
            if let Some(slot) = self.open(options) {
                return Taken::Open(slot);
            }
            if self.waiting.get() >= options.waiting {
                return Taken::Full;
            }
            let waiter = Waiter::new(self);
            self.changed.notified().await;
            drop(waiter);
        }
    }

    /// The right to open a connection, if there is room for one.
    pub(crate) fn open(self: &Rc<Self>, options: &ClientOptions) -> Option<Slot> {
        if self.open.get() >= options.connections {
            return None;
        }
        self.open.set(self.open.get() + 1);
        Some(Slot { bucket: Rc::clone(self), born: Tick::now(), life: options.life })
    }

    fn sweep(&self, keep_alive: Duration) {
        // Taken out first: dropping a connection frees its slot, which looks at this bucket again.
        let mut idle = std::mem::take(&mut *self.idle.borrow_mut());
        idle.retain(|idle| Tick::since(idle.since) < keep_alive && idle.connection.borrow_mut().is_quiet());
        let mut now = self.idle.borrow_mut();
        idle.extend(now.drain(..));
        *now = idle;
    }
}

impl Slot {
    /// Keeps a connection for the next request, or closes it when it has lived long enough.
    pub(crate) fn give_back(&self, connection: Shared) {
        if Tick::since(self.born) < self.life {
            self.bucket.idle.borrow_mut().push_back(Idle { connection, since: Tick::now() });
            self.bucket.changed.notify_one();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.bucket.open.set(self.bucket.open.get() - 1);
        self.bucket.changed.notify_one();
    }
}

/// Counts as waiting until dropped: also when the wait is given up.
struct Waiter<'a>(&'a Bucket);

impl Waiter<'_> {
    fn new(bucket: &Bucket) -> Waiter<'_> {
        bucket.waiting.set(bucket.waiting.get() + 1);
        Waiter(bucket)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.waiting.set(self.0.waiting.get() - 1);
    }
}
