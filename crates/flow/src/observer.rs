//! Who hears of what happens to messages.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use crate::counters::{CallFailure, EndpointCounters, ExchangeEnd, ServiceCounters};
use crate::fault::Fault;
use crate::recorder::{BranchStart, Recorder, StepDecision};
use crate::transport::Transport;

/// Hears of what happens to messages on one thread; where nobody listens nothing is measured.
pub trait Observer {
    /// An exchange has its answer, or nobody waits for one any more.
    fn answered(&self, service: &ServiceCounters, end: ExchangeEnd);

    /// A fault has come all its way to the service, whoever answers it then.
    fn faulted(&self, fault: &Fault);

    /// An endpoint was asked, and has answered or not.
    fn asked(&self, endpoint: &EndpointCounters, outcome: Result<StatusCode, CallFailure>, took: Duration);
}

/// What is told of one exchange to who observes it.
#[derive(Default)]
pub struct Watch {
    observer: Option<Rc<dyn Observer>>,
    /// What hears of each step, where the exchange is recorded.
    recorder: OnceCell<Rc<dyn Recorder>>,
    waited: Cell<Duration>,
    /// The name of the endpoint that was asked last.
    endpoint: Cell<Option<Arc<str>>>,
    faulted: Cell<bool>,
}

impl Watch {
    /// For an exchange of which this one hears, if anybody does.
    pub fn new(observer: Option<Rc<dyn Observer>>) -> Watch {
        Watch { observer, ..Watch::default() }
    }

    /// The exchange is recorded from now on.
    pub fn record(&self, recorder: Rc<dyn Recorder>) {
        // There is one for all who record.
        let _ = self.recorder.set(recorder);
    }

    /// What hears of each step; `None` where the exchange is not recorded.
    #[inline]
    pub fn recorder(&self) -> Option<&dyn Recorder> {
        self.recorder.get().map(|recorder| &**recorder)
    }

    /// Tells why the flow goes on as it does; nothing is made of `decision` where the exchange is not recorded.
    #[inline]
    pub fn decided(&self, decision: impl FnOnce() -> StepDecision) {
        if let Some(recorder) = self.recorder.get() {
            recorder.decided(&decision());
        }
    }

    /// That of the flows beside the one of which this hears.
    pub fn beside(&self) -> Watch {
        Watch { observer: self.observer.clone(), recorder: self.recorder.clone(), ..Watch::default() }
    }

    /// That of one flow beside the one of which this hears.
    pub fn branch(&self, start: BranchStart) -> Watch {
        let recorder = self.recorder.get().and_then(|recorder| recorder.branch(start));
        let recorder = recorder.map(OnceCell::from).unwrap_or_default();
        Watch { observer: self.observer.clone(), recorder, ..Watch::default() }
    }

    /// A flow beside this one has ended, for which this one has waited.
    pub fn join(&self, branch: &Watch) {
        self.waited.set(self.waited.get() + branch.waited.get());
    }

    /// The time when something begins that is measured; `None` where nobody listens.
    pub fn begin(&self, clock: &dyn Transport) -> Option<Duration> {
        (self.observer.is_some() || self.recorder.get().is_some()).then(|| clock.monotonic())
    }

    /// A fault has come all its way.
    pub fn fault(&self, fault: &Fault) {
        self.faulted.set(true);
        if let Some(observer) = &self.observer {
            observer.faulted(fault);
        }
        if let Some(recorder) = self.recorder() {
            recorder.faulted(fault);
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
        let Some(began) = began else { return };
        let took = clock.monotonic().saturating_sub(began);
        self.waited.set(self.waited.get() + took);
        self.endpoint.set(Some(Arc::clone(endpoint.name())));
        if let Some(observer) = &self.observer {
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
        let Some(began) = began else { return };
        let end = ExchangeEnd {
            status,
            faulted: self.faulted.get(),
            took: clock.monotonic().saturating_sub(began),
            waited: self.waited.get(),
            endpoint: self.endpoint.take(),
        };
        if let Some(recorder) = self.recorder() {
            recorder.ends(&end);
        }
        if let Some(observer) = &self.observer {
            observer.answered(service, end);
        }
    }
}
