//! Decides for each exchange of a thread whether it is recorded.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use myelin_expression::{Expression, Need};
use myelin_flow::context::RequestContext;
use myelin_flow::definitions::Definitions;
use myelin_flow::exchange::Exchange;
use myelin_flow::recorder::{ExchangeStart, Recorder, RecorderSource, Recorders};

use super::MessageTracing;
use super::recorder::{FlowRecorder, Recording};
use super::selection::{Selection, is_named};
use super::snapshot::view;
use super::trace::Trace;
use crate::secrets::Secrets;

pub(super) struct MessageRecorderSource {
    tracing: Arc<MessageTracing>,
    /// The selections as they were when they were looked at last.
    known: RefCell<Known>,
}

#[derive(Default)]
struct Known {
    version: u64,
    /// The definitions that expressions were compiled for; another bus has other names.
    definitions: usize,
    selections: Rc<[Compiled]>,
}

struct Compiled {
    selection: Selection,
    when: Option<Rc<Condition>>,
}

/// The expression of a selection.
pub(super) struct Condition {
    expression: Expression,
    need: Need,
}

/// A selection that may want an exchange.
pub(super) struct Candidate {
    pub(super) selection: u64,
    pub(super) faulted: bool,
    pub(super) when: Option<Rc<Condition>>,
    /// Whether its expression is true; where it has none, from the beginning.
    pub(super) holds: Cell<bool>,
    /// What the exchange must come to, until it has.
    pub(super) through: RefCell<Option<String>>,
}

impl Candidate {
    /// The exchange has come to a sequence or an endpoint.
    pub(super) fn comes_to(&self, kind: &str, name: &str) {
        let mut through = self.through.borrow_mut();
        if through.as_deref().is_some_and(|wanted| is_named(kind, name, wanted)) {
            *through = None;
        }
    }

    /// Asks the expression, where there is one.
    pub(super) async fn ask(&self, exchange: &mut Exchange, context: &RequestContext<'_>) {
        let Some(Condition { expression, need }) = self.when.as_deref() else { return };
        // What cannot be read is told to whoever reads it next; it is no exchange that was asked for.
        if need.fulfil(exchange, context).await.is_ok() {
            self.holds.set(expression.boolean(exchange, context).unwrap_or(false));
        }
    }
}

impl MessageRecorderSource {
    pub(super) fn new(tracing: Arc<MessageTracing>) -> MessageRecorderSource {
        MessageRecorderSource { tracing, known: RefCell::default() }
    }

    fn selections(&self, definitions: &Definitions) -> Rc<[Compiled]> {
        let version = self.tracing.version.load(Ordering::Acquire);
        let address = std::ptr::from_ref(definitions).addr();
        let mut known = self.known.borrow_mut();
        if known.definitions != address {
            self.tracing.know(Secrets::of(&definitions.settings.security));
        }
        if known.version != version || known.definitions != address {
            let compile = |selection: Selection| {
                let when = match &selection.wish.when {
                    None => None,
                    Some(text) => match super::selection::compile(text, definitions) {
                        Ok((expression, need)) => Some(Rc::new(Condition { expression, need })),
                        Err(reason) => {
                            tracing::warn!("no exchange is traced by the selection {}: {reason}", selection.id);
                            return None;
                        }
                    },
                };
                Some(Compiled { selection, when })
            };
            let selections = self.tracing.selections().into_iter().filter_map(compile).collect();
            *known = Known { version, definitions: address, selections };
        }
        Rc::clone(&known.selections)
    }

    fn candidates(&self, start: &ExchangeStart<'_>) -> Vec<Candidate> {
        let selections = self.selections(start.definitions);
        let is_meant = |compiled: &&Compiled| {
            let service = compiled.selection.wish.service.as_deref();
            service.is_none_or(|wanted| is_named(start.service.kind, &start.service.name, wanted))
        };
        let candidate = |Compiled { selection, when }: &Compiled| Candidate {
            selection: selection.id,
            faulted: selection.wish.faulted,
            when: when.clone(),
            holds: Cell::new(when.is_none()),
            through: RefCell::new(selection.wish.through.clone()),
        };
        selections.iter().filter(|compiled| !compiled.selection.is_over()).filter(is_meant).map(candidate).collect()
    }
}

impl RecorderSource for MessageRecorderSource {
    fn record(&self, start: &mut ExchangeStart<'_>) -> Option<Rc<dyn Recorder>> {
        let is_on = self.tracing.is_on.load(Ordering::Acquire);
        // A sequence or an endpoint that is traced may be on the way of any exchange.
        let service = start.service;
        let is_marked = service.is_traced && !self.tracing.is_silenced(service.kind, &service.name);
        let may_be_marked = is_marked || start.definitions.is_traced;
        if !is_on && !may_be_marked {
            return None;
        }
        let counter = if is_on { self.tracing.step_recorder(start.service) } else { None };
        let candidates = if is_on { self.candidates(start) } else { Vec::new() };
        if candidates.is_empty() && !may_be_marked {
            return counter;
        }
        // Whatever is recorded is shown without the secrets of its bus.
        self.selections(start.definitions);
        let shy = start.request.head.first("Expect").is_some();
        let limits = &self.tracing.limits;
        let trace = Trace {
            correlation: start.arrival.correlation.as_str().to_owned(),
            began: start.transport.now(),
            request: view(start.request, true, limits.body_bytes, shy),
            body_bytes: limits.body_bytes,
            ..Trace::empty(start.service.clone())
        };
        let (tracing, clock) = (Arc::clone(&self.tracing), Rc::clone(start.transport));
        let recording = Recording::new(tracing, clock, shy, candidates, is_marked, trace);
        let recorder: Rc<dyn Recorder> = Rc::new(FlowRecorder::first(recording));
        Recorders::join([Some(recorder), counter].into_iter().flatten().collect())
    }
}
