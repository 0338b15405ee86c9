//! What the engine knew of an exchange, kept with the record of its request until the answer has left.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use myelin_engine::observer::{CallFailure, EndpointCounters, ExchangeEnd, Fault, Observer, ServiceCounters};
use myelin_message::{StatusCode, TraceMark};

/// What the engine knew of an exchange.
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

/// Hears of the exchange that ends on a thread, for whoever asks in the same moment.
#[derive(Debug, Default)]
pub(crate) struct LastExchange(RefCell<Option<ExchangeNote>>);

impl LastExchange {
    /// The exchange that has just ended belongs to this trace.
    pub(crate) fn belongs_to(&self, trace: TraceMark) {
        if let Some(note) = &mut *self.0.borrow_mut() {
            note.trace = Some(trace.trace_id());
        }
    }

    /// What is known of the exchange that has just ended.
    pub(crate) fn take(&self) -> Option<ExchangeNote> {
        self.0.take()
    }
}

impl Observer for LastExchange {
    fn answered(&self, service: &ServiceCounters, end: &ExchangeEnd) {
        let (endpoint, waited) = (end.endpoint.clone(), end.waited);
        self.0.replace(Some(ExchangeNote { service: Some(service.clone()), endpoint, waited, trace: None }));
    }

    fn faulted(&self, _: &Fault) {}

    fn asked(&self, _: &EndpointCounters, _: Result<StatusCode, CallFailure>, _: Duration) {}
}
