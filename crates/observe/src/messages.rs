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
use std::time::Instant;

use myelin_flow::position::ServiceIdentity;
use myelin_flow::recorder::{Recorder, RecorderSource};

pub use selection::{Selection, SelectionView, Wish, check_expression, is_named, unknown_service};
pub use trace::Trace;

use crate::secrets::Secrets;
use crate::steps::{ServiceStepCounts, StepCounting};
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
    /// Whether any exchange is wanted by a selection, or steps are counted: what serving threads look at first.
    is_on: AtomicBool,
    /// Changes whenever the selections do.
    version: AtomicU64,
    selections: Mutex<Selections>,
    store: Store,
    next_id: AtomicU64,
    secrets: RwLock<Arc<Secrets>>,
    steps: StepCounting,
    /// The artefacts whose `trace="enable"` an operator has switched off, by kind and name.
    silenced: RwLock<Vec<(String, String)>>,
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
            steps: StepCounting::default(),
            silenced: RwLock::default(),
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
    fn deselect_wish(&self, wish: &Wish) -> usize {
        let mut selections = self.selections.lock().unwrap_or_else(PoisonError::into_inner);
        let removed = selections.remove_wish(wish);
        self.changed(&selections);
        removed
    }

    /// Wants the exchanges of an artefact that an operator switches on, such as `proxy` `Orders`, or takes that back;
    /// what its definition says of tracing does not count any more then.
    ///
    /// Errors: as [`select`](MessageTracing::select).
    pub fn switch(&self, kind: &str, name: &str, on: bool) -> Result<(), String> {
        // A template is the sequence of its name.
        let kind = if kind == "template" { "sequence" } else { kind };
        let named = format!("{kind} {name}");
        let wish = match kind {
            "sequence" | "endpoint" => Wish { through: Some(named), ..Wish::default() },
            _ => Wish { service: Some(named), ..Wish::default() },
        };
        if on && self.selections().iter().all(|selection| selection.wish != wish) {
            self.select(wish)?;
        } else if !on {
            self.deselect_wish(&wish);
        }
        let mut silenced = self.silenced.write().unwrap_or_else(PoisonError::into_inner);
        silenced.retain(|(one, other)| (one.as_str(), other.as_str()) != (kind, name));
        if !on {
            silenced.push((kind.to_owned(), name.to_owned()));
        }
        Ok(())
    }

    /// Whether an operator switched the tracing of an artefact off that its definition wants.
    fn is_silenced(&self, kind: &str, name: &str) -> bool {
        let silenced = self.silenced.read().unwrap_or_else(PoisonError::into_inner);
        silenced.iter().any(|(one, other)| (one.as_str(), other.as_str()) == (kind, name))
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

    /// What was counted of the steps of a service, such as `proxy Orders`, since somebody began to ask; it is counted on
    /// for [`LASTS`](crate::steps::LASTS).
    ///
    /// Errors: a sentence, where too many services are counted.
    pub fn step_counts(&self, service: &str) -> Result<ServiceStepCounts, String> {
        let selections = self.selections.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = self.steps.look(service, Instant::now())?;
        self.settle(&selections);
        Ok(counts)
    }

    /// What counts the steps of an exchange, where somebody looks at those of its service.
    fn step_recorder(&self, service: &ServiceIdentity) -> Option<Rc<dyn Recorder>> {
        let now = Instant::now();
        if self.steps.has_ended(now) {
            self.settle(&self.selections.lock().unwrap_or_else(PoisonError::into_inner));
        }
        self.steps.recorder(service, now)
    }

    fn changed(&self, selections: &Selections) {
        self.settle(selections);
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// Says whether serving threads have anything to look at.
    fn settle(&self, selections: &Selections) {
        let is_counting = self.steps.settle(Instant::now());
        self.is_on.store(!selections.is_empty() || is_counting, Ordering::Release);
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
