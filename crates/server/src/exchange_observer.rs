//! Hears of the exchanges of one thread: counts them, and keeps what the engine knew for the record of the request.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use myelin_engine::observer::{CallFailure, EndpointCounters, ExchangeEnd, Fault, Observer, ServiceCounters};
use myelin_http::Record;
use myelin_manage::ThreadCounters;
use myelin_message::{StatusCode, TraceMark};

/// What the engine knew of an exchange, kept with the record of its request until the answer has left.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExchangeNote {
    /// What is counted of the service; `None` where the engine knew of no exchange.
    pub(crate) service: Option<ServiceCounters>,
    /// The endpoint that was asked last; empty for one without a name.
    pub(crate) endpoint: Option<Arc<str>>,
    /// How long endpoints were waited for.
    pub(crate) waited: Duration,
    /// The id of its trace, where it has one.
    pub(crate) trace: Option<String>,
}

impl ExchangeNote {
    /// That of a request, where the engine served it.
    pub(crate) fn of(record: &Record) -> Option<&ExchangeNote> {
        record.note.as_ref().and_then(|note| note.downcast_ref())
    }
}

/// Hears of the exchanges of one thread.
#[derive(Debug)]
pub(crate) struct ExchangeObserver {
    /// `None` where nobody can ask for counts.
    counts: Option<ThreadCounters>,
    /// The exchange that has just ended, for whoever asks in the same moment.
    last: RefCell<ExchangeNote>,
}

impl ExchangeObserver {
    pub(crate) fn new(counts: Option<ThreadCounters>) -> ExchangeObserver {
        ExchangeObserver { counts, last: RefCell::default() }
    }

    /// The exchange that has just ended belongs to this trace.
    pub(crate) fn belongs_to(&self, trace: TraceMark) {
        self.last.borrow_mut().trace = Some(trace.trace_id());
    }

    /// Puts what is known of the exchange that has just ended into the record of its request.
    pub(crate) fn note(&self, record: &mut Record) {
        let note = self.last.take();
        match record.note.as_mut().and_then(|kept| kept.downcast_mut::<ExchangeNote>()) {
            Some(kept) => *kept = note,
            None => record.note = Some(Box::new(note)),
        }
    }

    /// The answer to a request has left.
    pub(crate) fn finished(&self, record: &Record) {
        let service = ExchangeNote::of(record).and_then(|note| note.service.as_ref());
        if let (Some(counts), Some(service)) = (&self.counts, service) {
            counts.sent(service, record.received_bytes, record.sent_bytes);
        }
    }
}

impl Observer for ExchangeObserver {
    fn answered(&self, service: &ServiceCounters, end: ExchangeEnd) {
        if let Some(counts) = &self.counts {
            counts.answered(service, &end);
        }
        let note =
            ExchangeNote { service: Some(service.clone()), endpoint: end.endpoint, waited: end.waited, trace: None };
        self.last.replace(note);
    }

    fn faulted(&self, fault: &Fault) {
        if let Some(counts) = &self.counts {
            counts.faulted(fault);
        }
    }

    fn asked(&self, endpoint: &EndpointCounters, outcome: Result<StatusCode, CallFailure>, took: Duration) {
        if let Some(counts) = &self.counts {
            counts.asked(endpoint, outcome, took);
        }
    }
}
