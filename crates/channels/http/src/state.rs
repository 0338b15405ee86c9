//! What the connections of one thread share, and how many there are.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::dates::Dates;
use crate::options::ServerOptions;
use crate::partial_heads::PartialHeads;
use crate::refusals::Refusals;
use crate::service::Service;

/// Counts client connections over all threads.
#[derive(Clone, Debug, Default)]
pub struct ConnectionCount(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    open: AtomicUsize,
    /// By port: the listeners of all threads at one count together.
    listeners: Mutex<BTreeMap<u16, Arc<ListenerCounters>>>,
}

impl ConnectionCount {
    /// Open client connections.
    pub fn open(&self) -> usize {
        self.0.open.load(Ordering::Relaxed)
    }

    /// The counts of each port that a listener has had since the process began.
    pub fn listeners(&self) -> Vec<ListenerTotals> {
        let listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.iter().map(|(port, counters)| counters.totals(*port)).collect()
    }

    /// What is counted at a port.
    pub(crate) fn listener(&self, port: u16) -> Arc<ListenerCounters> {
        let mut listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(listeners.entry(port).or_default())
    }
}

/// What is counted at one port.
#[derive(Debug, Default)]
pub(crate) struct ListenerCounters {
    open: AtomicUsize,
    accepted: AtomicU64,
    /// Handshakes of TLS: full ones, those that resumed a session, those that failed.
    handshakes: [AtomicU64; 3],
}

/// What was counted at one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListenerTotals {
    /// The port.
    pub port: u16,
    /// Connections that are open.
    pub open: usize,
    /// Connections that were accepted so far.
    pub accepted: u64,
    /// Handshakes of TLS that agreed on a new session.
    pub full_handshakes: u64,
    /// Those that resumed a session.
    pub resumed_handshakes: u64,
    /// Those that failed, or took too long.
    pub failed_handshakes: u64,
}

impl ListenerCounters {
    pub(crate) fn shook_hands(&self, is_resumed: bool) {
        self.handshakes[usize::from(is_resumed)].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn failed_handshake(&self) {
        self.handshakes[2].fetch_add(1, Ordering::Relaxed);
    }

    fn totals(&self, port: u16) -> ListenerTotals {
        let [full_handshakes, resumed_handshakes, failed_handshakes] =
            [0, 1, 2].map(|index| self.handshakes[index].load(Ordering::Relaxed));
        let (open, accepted) = (self.open.load(Ordering::Relaxed), self.accepted.load(Ordering::Relaxed));
        ListenerTotals { port, open, accepted, full_handshakes, resumed_handshakes, failed_handshakes }
    }
}

/// What the connections of one thread share.
pub(crate) struct ServerState {
    pub(crate) service: Rc<dyn Service>,
    pub(crate) options: ServerOptions,
    pub(crate) stopping: Cell<bool>,
    pub(crate) dates: Dates,
    pub(crate) heads: PartialHeads,
    pub(crate) refusals: Rc<Refusals>,
    /// How many connections there are.
    live: Cell<usize>,
    emptied: Notify,
}

impl ServerState {
    pub(crate) fn new(service: Rc<dyn Service>, options: ServerOptions) -> Rc<ServerState> {
        Rc::new(ServerState {
            service,
            heads: PartialHeads::new(options.heads_bytes),
            refusals: Rc::default(),
            options,
            stopping: Cell::new(false),
            dates: Dates::default(),
            live: Cell::new(0),
            emptied: Notify::new(),
        })
    }

    /// How many connections there are on this thread.
    pub(crate) fn connections(&self) -> usize {
        self.live.get()
    }

    /// Waits until there is no connection on this thread.
    pub(crate) async fn emptied(&self) {
        while self.live.get() > 0 {
            self.emptied.notified().await;
        }
    }
}

/// Counts a connection while it lives.
pub(crate) struct ConnectionGuard {
    state: Rc<ServerState>,
    count: ConnectionCount,
    listener: Arc<ListenerCounters>,
}

impl ConnectionGuard {
    pub(crate) fn new(
        state: &Rc<ServerState>,
        count: &ConnectionCount,
        listener: &Arc<ListenerCounters>,
    ) -> ConnectionGuard {
        count.0.open.fetch_add(1, Ordering::Relaxed);
        listener.open.fetch_add(1, Ordering::Relaxed);
        listener.accepted.fetch_add(1, Ordering::Relaxed);
        state.live.set(state.live.get() + 1);
        ConnectionGuard { state: Rc::clone(state), count: count.clone(), listener: Arc::clone(listener) }
    }

    pub(crate) fn listener(&self) -> &ListenerCounters {
        &self.listener
    }

    pub(crate) fn state(&self) -> &Rc<ServerState> {
        &self.state
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.count.0.open.fetch_sub(1, Ordering::Relaxed);
        self.listener.open.fetch_sub(1, Ordering::Relaxed);
        self.state.live.set(self.state.live.get() - 1);
        self.state.emptied.notify_one();
    }
}
