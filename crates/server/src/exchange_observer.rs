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
    /// Its trace, where it has one.
    pub(crate) trace: Option<TraceMark>,
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
    /// Of the exchange that has just ended, for whoever asks in the same moment; after that it means nothing.
    last: RefCell<Box<ExchangeNote>>,
}

impl ExchangeObserver {
    pub(crate) fn new(counts: Option<ThreadCounters>) -> ExchangeObserver {
        ExchangeObserver { counts, last: RefCell::default() }
    }

    /// The exchange that has just ended belongs to this trace.
    pub(crate) fn belongs_to(&self, trace: TraceMark) {
        self.last.borrow_mut().trace = Some(trace);
    }

    /// Puts what is known of the exchange that has just ended into the record of its request.
    pub(crate) fn note(&self, record: &mut Record) {
        // The note of the request before gives its memory to the next one.
        let before = record.note.take().and_then(|note| note.downcast().ok());
        record.note = Some(self.last.replace(before.unwrap_or_default()));
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
        let ExchangeEnd { endpoint, waited, .. } = end;
        **self.last.borrow_mut() = ExchangeNote { service: Some(service.clone()), endpoint, waited, trace: None };
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
