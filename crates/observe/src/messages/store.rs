//! The traces that are kept: the newest, within bounds of number and bytes.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};

use super::trace::Trace;

/// So many traces wait for a subscriber that is slow; it misses further ones.
const WAITING: usize = 256;

#[derive(Debug)]
pub(super) struct Store {
    kept: usize,
    kept_bytes: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    traces: VecDeque<Arc<Trace>>,
    bytes: usize,
    subscribers: Vec<SyncSender<Arc<Trace>>>,
}

impl Store {
    pub(super) fn new(kept: usize, kept_bytes: usize) -> Store {
        Store { kept, kept_bytes, state: Mutex::default() }
    }

    pub(super) fn put(&self, trace: Arc<Trace>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.subscribers.retain(|subscriber| {
            !matches!(subscriber.try_send(Arc::clone(&trace)), Err(TrySendError::Disconnected(_)))
        });
        state.bytes += trace.size_bytes();
        state.traces.push_back(trace);
        while state.traces.len() > self.kept || (state.bytes > self.kept_bytes && state.traces.len() > 1) {
            let Some(oldest) = state.traces.pop_front() else { break };
            state.bytes -= oldest.size_bytes();
        }
    }

    /// A copy of what is kept, so that nobody who reads keeps a serving thread waiting.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = Arc<Trace>> {
        let traces = self.state.lock().unwrap_or_else(PoisonError::into_inner).traces.clone();
        traces.into_iter().rev()
    }

    pub(super) fn subscribe(&self) -> Receiver<Arc<Trace>> {
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        self.state.lock().unwrap_or_else(PoisonError::into_inner).subscribers.push(sender);
        receiver
    }
}
