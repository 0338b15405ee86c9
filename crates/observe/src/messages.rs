//! Message traces: each step of a chosen exchange, with what it decided, what it changed and how long it took.
//!
//! [`MessageTracing`] belongs to the process: it knows which exchanges are wanted and keeps the last traces.
//! Each serving thread has a source, which gives the engine a recorder for an exchange that is wanted.
//! Secrets are masked where a trace is shown, so nothing shows a trace without its [`Secrets`].

mod body;
mod difference;
mod json;
mod layout;
mod recorder;
mod selection;
mod snapshot;
mod source;
mod store;
mod text;
mod trace;

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use myelin_flow::recorder::RecorderSource;

pub use selection::{Selection, SelectionView, Wish, check_expression, is_named, unknown_service};
pub use trace::Trace;

use crate::secrets::Secrets;
use selection::Selections;
use source::MessageRecorderSource;
use store::Store;

/// How much is recorded and kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceLimits {
    /// So many traces are kept; the oldest is dropped for a new one.
    pub kept: usize,
    /// So many bytes all kept traces take, about.
    pub kept_bytes: usize,
    /// So many bytes of each body are shown.
    pub body_bytes: usize,
    /// So many steps of an exchange are recorded; further ones are counted.
    pub steps: usize,
}

impl Default for TraceLimits {
    fn default() -> TraceLimits {
        TraceLimits { kept: 200, kept_bytes: 64 << 20, body_bytes: 64 << 10, steps: 2_000 }
    }
}

/// Message tracing of a process: which exchanges are wanted, and the traces that there are.
#[derive(Debug)]
pub struct MessageTracing {
    limits: TraceLimits,
    /// Whether any exchange is wanted by a selection: what serving threads look at first.
    is_on: AtomicBool,
    /// Changes whenever the selections do.
    version: AtomicU64,
    selections: Mutex<Selections>,
    store: Store,
    next_id: AtomicU64,
    secrets: RwLock<Arc<Secrets>>,
}

impl MessageTracing {
    /// One that nobody wants anything of yet.
    pub fn new(limits: TraceLimits) -> Arc<MessageTracing> {
        Arc::new(MessageTracing {
            store: Store::new(limits.kept, limits.kept_bytes),
            limits,
            is_on: AtomicBool::new(false),
            version: AtomicU64::new(0),
            selections: Mutex::default(),
            next_id: AtomicU64::new(1),
            secrets: RwLock::default(),
        })
    }

    /// What decides for the exchanges of one thread whether they are recorded.
    pub fn recorder_source(self: &Arc<MessageTracing>) -> Rc<dyn RecorderSource> {
        Rc::new(MessageRecorderSource::new(Arc::clone(self)))
    }

    /// Wants the exchanges that a selection describes, from now on; its number, by which it is taken back.
    ///
    /// Errors: a sentence, where there are too many selections.
    pub fn select(&self, wish: Wish) -> Result<u64, String> {
        let mut selections = self.selections.lock().unwrap_or_else(PoisonError::into_inner);
        let id = selections.add(wish)?;
        self.changed(&selections);
        Ok(id)
    }

    /// Takes a selection back, or all; how many there were.
    pub fn deselect(&self, id: Option<u64>) -> usize {
        let mut selections = self.selections.lock().unwrap_or_else(PoisonError::into_inner);
        let removed = selections.remove(id);
        self.changed(&selections);
        removed
    }

    /// Takes back the selections that want this; how many there were.
    pub fn deselect_wish(&self, wish: &Wish) -> usize {
        let mut selections = self.selections.lock().unwrap_or_else(PoisonError::into_inner);
        let removed = selections.remove_wish(wish);
        self.changed(&selections);
        removed
    }

    /// The selections that there are.
    pub fn selections(&self) -> Vec<SelectionView> {
        self.selections.lock().unwrap_or_else(PoisonError::into_inner).views()
    }

    /// The last traces, the newest first.
    ///
    /// `service` is the name of a service, with or without its kind.
    pub fn traces(&self, service: Option<&str>, faulted: Option<bool>, limit: usize) -> Vec<Arc<Trace>> {
        let is_asked = |trace: &Arc<Trace>| {
            service.is_none_or(|service| trace.is_of(service))
                && faulted.is_none_or(|faulted| trace.has_faulted() == faulted)
        };
        self.store.newest_first().filter(is_asked).take(limit).collect()
    }

    /// The traces that came behind the one of that number, the oldest first.
    pub fn traces_behind(&self, id: u64) -> Vec<Arc<Trace>> {
        let mut behind: Vec<_> = self.store.newest_first().take_while(|trace| trace.id() > id).collect();
        behind.reverse();
        behind
    }

    /// The number of the last trace; 0 where there is none.
    pub fn last_id(&self) -> u64 {
        self.store.newest_first().next().map_or(0, |trace| trace.id())
    }

    /// The trace of that number, if it is kept.
    pub fn trace(&self, id: u64) -> Option<Arc<Trace>> {
        self.store.newest_first().find(|trace| trace.id() == id)
    }

    /// Hears of each trace from now on; what is not taken in time is missed.
    pub fn subscribe(&self) -> std::sync::mpsc::Receiver<Arc<Trace>> {
        self.store.subscribe()
    }

    /// The secrets that the process knows by their values.
    pub fn know(&self, secrets: Secrets) {
        *self.secrets.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(secrets);
    }

    /// What masks secrets in traces.
    pub fn secrets(&self) -> Arc<Secrets> {
        Arc::clone(&self.secrets.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn changed(&self, selections: &Selections) {
        self.is_on.store(!selections.is_empty(), Ordering::Release);
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// Whether a selection that wants a trace still does: it may want a number of them only.
    fn takes(&self, selection: u64) -> bool {
        let mut selections = self.selections.lock().unwrap_or_else(PoisonError::into_inner);
        let (takes, is_spent) = selections.take(selection);
        if is_spent {
            self.changed(&selections);
        }
        takes
    }

    fn keep(&self, mut trace: Trace) {
        trace.id = self.next_id.fetch_add(1, Ordering::AcqRel);
        self.store.put(Arc::new(trace));
    }
}

#[cfg(test)]
mod tests;
