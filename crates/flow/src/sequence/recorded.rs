//! Runs mediators of an exchange that is recorded.

use crate::context::RequestContext;
use crate::definitions::Block;
use crate::exchange::Exchange;
use crate::fault::Outcome;
use crate::mediator::Flow;
use crate::position::wait_at_step;
use crate::recorder::Recorder;

impl Block {
    /// As `run_from`, and tells of each step; what is recorded need not be fast, so this one always waits.
    pub(super) async fn run_recorded<'a>(
        &'a self,
        start: usize,
        last: bool,
        mut exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
        recorder: &'a dyn Recorder,
    ) -> (&'a mut Exchange, Outcome<Flow>) {
        for (index, node) in self.nodes().iter().enumerate().skip(start) {
            exchange.last = last && index + 1 == self.nodes().len();
            recorder.step_begins(node, exchange, context);
            let step = Box::pin(async move { node.mediator.step(exchange, context).finish().await });
            let (back, outcome) = wait_at_step(&node.step, step).await;
            recorder.step_ends(&node.step, back, context, &outcome);
            exchange = back;
            if !matches!(outcome, Ok(Flow::Next)) {
                let outcome = self.end(index, last, exchange, outcome);
                return (exchange, outcome);
            }
        }
        exchange.depth -= 1;
        (exchange, Ok(Flow::Next))
    }
}
