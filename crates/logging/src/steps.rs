//! A line for each step of a flow and each request to an endpoint, at `trace`: the topic `myelin::flow`.
//!
//! Whether lines are wanted is asked once an exchange, so that all others pay nothing.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use myelin_channel::Sent;
use myelin_flow::context::RequestContext;
use myelin_flow::definitions::Node;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::Flow;
use myelin_flow::position::{StepPlace, at_step};
use myelin_flow::recorder::{BranchStart, CalledEndpoint, ExchangeStart, Recorder, RecorderSource};
use myelin_flow::transport::Transport;
use myelin_message::{Outgoing, SendError};
use tracing_subscriber::filter::LevelFilter;

/// Records the exchanges whose steps may be logged.
#[derive(Debug, Default)]
pub struct StepLog;

impl RecorderSource for StepLog {
    fn record(&self, start: &mut ExchangeStart<'_>) -> Option<Rc<dyn Recorder>> {
        // The level may be that of a sequence, which nobody knows yet.
        (LevelFilter::current() >= LevelFilter::TRACE)
            .then(|| Rc::new(StepLines::new(Rc::clone(start.transport))) as Rc<dyn Recorder>)
    }
}

/// Writes the lines of one flow.
struct StepLines {
    clock: Rc<dyn Transport>,
    /// When the steps began that have not ended, the innermost last.
    steps: RefCell<Vec<Duration>>,
    /// The endpoint that was sent a request last, and when.
    call: RefCell<Option<(String, Duration)>>,
}

impl StepLines {
    fn new(clock: Rc<dyn Transport>) -> StepLines {
        StepLines { clock, steps: RefCell::default(), call: RefCell::default() }
    }

    fn micros_since(&self, began: Duration) -> u128 {
        self.clock.monotonic().saturating_sub(began).as_micros()
    }
}

impl Recorder for StepLines {
    fn step_begins(&self, _: &Node, _: &mut Exchange, _: &RequestContext<'_>) {
        self.steps.borrow_mut().push(self.clock.monotonic());
    }

    fn step_ends(&self, step: &StepPlace, _: &mut Exchange, _: &RequestContext<'_>, outcome: &Outcome<Flow>) {
        let Some(began) = self.steps.borrow_mut().pop() else { return };
        let (element, micros) = (step.element, self.micros_since(began));
        at_step(step, || match outcome {
            Ok(flow) => {
                let outcome = format!("{flow:?}").to_lowercase();
                tracing::trace!(target: "myelin::flow", "step {element}: {outcome} after {micros} µs");
            }
            Err(fault) => {
                let code = fault.error_code();
                let code = code.text();
                tracing::trace!(target: "myelin::flow", "step {element}: fault {code} after {micros} µs");
            }
        });
    }

    fn sends(&self, endpoint: CalledEndpoint<'_>, _: &mut Outgoing) {
        let name = if endpoint.name.is_empty() { "without a name" } else { endpoint.name };
        tracing::trace!(target: "myelin::flow", endpoint = name, "a request is sent to an endpoint");
        self.call.replace(Some((name.to_owned(), self.clock.monotonic())));
    }

    fn sent(&self, result: Result<&mut Sent, &SendError>) {
        let Some((endpoint, began)) = self.call.take() else { return };
        let micros = self.micros_since(began);
        match result {
            Ok(Sent::Response(response)) => {
                let status = response.status.as_u16();
                tracing::trace!(target: "myelin::flow", endpoint, "the endpoint answers {status} after {micros} µs");
            }
            Ok(_) => tracing::trace!(target: "myelin::flow", endpoint, "the endpoint accepts after {micros} µs"),
            Err(error) => {
                let kind = &error.kind;
                tracing::trace!(target: "myelin::flow", endpoint, "the endpoint fails after {micros} µs: {kind:?}");
            }
        }
    }

    fn branch(&self, _: BranchStart) -> Option<Rc<dyn Recorder>> {
        Some(Rc::new(StepLines::new(Rc::clone(&self.clock))))
    }
}
