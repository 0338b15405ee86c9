//! Connections to backends, kept per thread and address; the one used last is used next.
//!
//! Newest first lets the surplus of a busy hour grow old and go, and picks the connection least likely to be stale.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::options::ClientOptions;
use crate::timer::Tick;

/// A connection that can be kept unused.
pub(crate) trait Pooled {
    /// Whether it still stands: nothing may come before it is asked something.
    fn is_quiet(&self) -> bool;
}

/// All of one thread's backend connections, by address.
pub(crate) struct Pool<C> {
    plain: RefCell<Hosts<C>>,
    tls: RefCell<Hosts<C>>,
}

type Hosts<C> = HashMap<String, Rc<HostPool<C>>>;

/// The connections to one scheme, host and port.
pub(crate) struct HostPool<C> {
    /// Oldest use first.
    idle: RefCell<VecDeque<IdleConnection<C>>>,
    open: Cell<usize>,
    waiting: Cell<usize>,
    changed: Notify,
}

/// A connection that waits for its next request.
pub(crate) struct IdleConnection<C> {
    pub(crate) connection: Rc<C>,
    pub(crate) since: Tick,
}

/// The right to have one connection open, given back when dropped.
pub(crate) struct Permit<C> {
    host: Rc<HostPool<C>>,
    born: Tick,
    life: Duration,
}

/// What the pool of a host has for a request.
pub(crate) enum Checkout<C> {
    Reused(IdleConnection<C>),
    /// A connection may be opened.
    Open(Permit<C>),
    /// Too many wait already.
    Full,
}

impl<C> Default for Pool<C> {
    fn default() -> Pool<C> {
        Pool { plain: RefCell::default(), tls: RefCell::default() }
    }
}

impl<C: Pooled> Pool<C> {
    /// The connections to a host.
    pub(crate) fn host(&self, tls: bool, authority: &str) -> Rc<HostPool<C>> {
        let map = if tls { &self.tls } else { &self.plain };
        if let Some(host) = map.borrow().get(authority) {
            return Rc::clone(host);
        }
        let host = Rc::new(HostPool {
            idle: RefCell::default(),
            open: Cell::new(0),
            waiting: Cell::new(0),
            changed: Notify::new(),
        });
        map.borrow_mut().insert(authority.to_owned(), Rc::clone(&host));
        host
    }

    /// How many connections serve a request, and how many requests wait for one.
    pub(crate) fn busy(&self) -> usize {
        let of = |host: &Rc<HostPool<C>>| host.open.get() - host.idle.borrow().len() + host.waiting.get();
        [&self.plain, &self.tls].into_iter().map(|map| map.borrow().values().map(of).sum::<usize>()).sum()
    }

    /// Closes connections that are too old or that their backend has closed, and forgets unused addresses.
    pub(crate) fn sweep(&self, options: &ClientOptions) {
        for map in [&self.plain, &self.tls] {
            let hosts: Vec<Rc<HostPool<C>>> = map.borrow().values().cloned().collect();
            for host in &hosts {
                host.sweep(options.keep_alive);
            }
            drop(hosts);
            map.borrow_mut().retain(|_, host| host.open.get() > 0 || Rc::strong_count(host) > 1);
        }
    }
}

impl<C: Pooled> HostPool<C> {
    /// The connection used last, if it still stands.
    pub(crate) fn reuse(&self) -> Option<IdleConnection<C>> {
        loop {
            let idle = self.idle.borrow_mut().pop_back()?;
            if idle.connection.is_quiet() {
                return Some(idle);
            }
        }
    }

    /// A connection or the right to open one; waits while all are in use.
    pub(crate) async fn take(self: &Rc<Self>, options: &ClientOptions) -> Checkout<C> {
        loop {
            if let Some(idle) = self.reuse() {
                return Checkout::Reused(idle);
            }
            if let Some(permit) = self.open(options) {
                return Checkout::Open(permit);
            }
            if self.waiting.get() >= options.waiting {
                return Checkout::Full;
            }
            let waiter = Waiter::new(&self.waiting);
            self.changed.notified().await;
            drop(waiter);
        }
    }

    /// The right to open a connection, if there is room for one.
    pub(crate) fn open(self: &Rc<Self>, options: &ClientOptions) -> Option<Permit<C>> {
        if self.open.get() >= options.connections {
            return None;
        }
        self.open.set(self.open.get() + 1);
        Some(Permit { host: Rc::clone(self), born: Tick::now(), life: options.life })
    }

    fn sweep(&self, keep_alive: Duration) {
        // Taken out first: dropping a connection gives back its permit, which looks at this pool again.
        let mut idle = std::mem::take(&mut *self.idle.borrow_mut());
        idle.retain(|idle| Tick::since(idle.since) < keep_alive && idle.connection.is_quiet());
        let mut now = self.idle.borrow_mut();
        idle.extend(now.drain(..));
        *now = idle;
    }
}

impl<C> Permit<C> {
    /// Keeps a connection for the next request, or closes it when it has lived long enough.
    pub(crate) fn give_back(&self, connection: Rc<C>) {
        if Tick::since(self.born) < self.life {
            self.host.idle.borrow_mut().push_back(IdleConnection { connection, since: Tick::now() });
            self.host.changed.notify_one();
        }
    }
}

impl<C> Drop for Permit<C> {
    fn drop(&mut self) {
        self.host.open.set(self.host.open.get() - 1);
        self.host.changed.notify_one();
    }
}

/// Counts as waiting until dropped: also when the wait is given up.
struct Waiter<'a>(&'a Cell<usize>);

impl Waiter<'_> {
    fn new(waiting: &Cell<usize>) -> Waiter<'_> {
        waiting.set(waiting.get() + 1);
        Waiter(waiting)
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
