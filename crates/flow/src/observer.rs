//! Who hears of what happens to messages.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use http::StatusCode;

use crate::counters::{CallFailure, EndpointCounters, ExchangeEnd, ServiceCounters};
use crate::fault::Fault;
use crate::transport::Transport;

/// Hears of what happens to messages on one thread; where nobody listens nothing is measured.
pub trait Observer {
    /// An exchange has its answer, or nobody waits for one any more.
    fn answered(&self, service: &ServiceCounters, end: &ExchangeEnd);

    /// A fault has come all its way to the service, whoever answers it then.
    fn faulted(&self, fault: &Fault);

    /// An endpoint was asked, and has answered or not.
    fn asked(&self, endpoint: &EndpointCounters, outcome: Result<StatusCode, CallFailure>, took: Duration);
}

/// What is told of one exchange to who observes it.
#[derive(Default)]
pub struct Watch {
    observer: Option<Rc<dyn Observer>>,
    waited: Cell<Duration>,
    faulted: Cell<bool>,
}

impl Watch {
    /// For an exchange of which this one hears, if anybody does.
    pub fn new(observer: Option<Rc<dyn Observer>>) -> Watch {
        Watch { observer, ..Watch::default() }
    }

    /// The time when something begins that is measured; `None` where nobody listens.
    pub fn begin(&self, clock: &dyn Transport) -> Option<Duration> {
        self.observer.as_ref().map(|_| clock.monotonic())
    }

    /// A fault has come all its way.
    pub fn fault(&self, fault: &Fault) {
        self.faulted.set(true);
        if let Some(observer) = &self.observer {
            observer.faulted(fault);
        }
    }

    /// A fault of a flow beside this one, of which the observer has heard, ends this one too.
    pub fn fault_beside(&self) {
        self.faulted.set(true);
    }

    /// An endpoint that was asked at `began` has answered or not.
    pub fn asked(
        &self,
        began: Option<Duration>,
        clock: &dyn Transport,
        endpoint: &EndpointCounters,
        outcome: Result<StatusCode, CallFailure>,
    ) {
        if let (Some(observer), Some(began)) = (&self.observer, began) {
            let took = clock.monotonic().saturating_sub(began);
            self.waited.set(self.waited.get() + took);
            observer.asked(endpoint, outcome, took);
        }
    }

    /// The exchange that began at `began` has ended, with an answer or without.
    pub fn end(
        &self,
        began: Option<Duration>,
        clock: &dyn Transport,
        service: &ServiceCounters,
        status: Option<StatusCode>,
    ) {
        if let (Some(observer), Some(began)) = (&self.observer, began) {
            let took = clock.monotonic().saturating_sub(began);
            let (faulted, waited) = (self.faulted.get(), self.waited.get());
            observer.answered(service, &ExchangeEnd { status, faulted, took, waited });
        }
    }
}
