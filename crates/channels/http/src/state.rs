//! What the connections of one thread share, and how many there are.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

use crate::dates::Dates;
use crate::options::ServerOptions;
use crate::partial_heads::PartialHeads;
use crate::refusals::Refusals;
use crate::service::Service;

/// Counts client connections over all threads.
#[derive(Clone, Debug, Default)]
pub struct ConnectionCount(Arc<AtomicUsize>);

impl ConnectionCount {
    /// Open client connections.
    pub fn open(&self) -> usize {
        self.0.load(Ordering::Relaxed)
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
}

impl ConnectionGuard {
    pub(crate) fn new(state: &Rc<ServerState>, count: &ConnectionCount) -> ConnectionGuard {
        count.0.fetch_add(1, Ordering::Relaxed);
        state.live.set(state.live.get() + 1);
        ConnectionGuard { state: Rc::clone(state), count: count.clone() }
    }

    pub(crate) fn state(&self) -> &Rc<ServerState> {
        &self.state
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.count.0.fetch_sub(1, Ordering::Relaxed);
        self.state.live.set(self.state.live.get() - 1);
        self.state.emptied.notify_one();
    }
}
