//! Runs sequences: mediators one after the other, with a handler for what goes wrong.

mod recorded;

use myelin_message::Body;

pub use crate::definitions::{Block, Node, Sequence, SequenceRef};
pub use crate::ids::SequenceId;

use crate::branches::Split;
use crate::context::RequestContext;
use crate::exchange::Exchange;
use crate::fault::{Fault, Outcome};
use crate::mediator::{Flow, Reads, Step};
use crate::position::{at_step, wait_at_step};

/// Sequences and branches nested deeper than this while serving are a loop.
const DEPTH_LIMIT: u32 = 100;

/// What is left of a block behind a mediator whose flow goes on in branches.
#[derive(Clone)]
pub struct Continuation {
    block: Block,
    /// The number of the mediator to go on with.
    next: usize,
    /// Whether it is the last of its flow.
    last: bool,
    /// How many handlers of faults stand around it.
    handlers: usize,
    /// How many templates it runs in.
    templates: usize,
}

impl Block {
    /// Runs the mediators until one ends the flow; becomes a future only from the first that waits.
    pub fn run<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        if exchange.depth >= DEPTH_LIMIT {
            let message = format!("Sequences nest deeper than {DEPTH_LIMIT}: one calls itself without end");
            return Step::Done(exchange, Err(Fault::bus(message)));
        }
        exchange.depth += 1;
        let last = exchange.last;
        self.start_from(0, last, exchange, context)
    }

    /// Runs what is left of the mediators; whether that is recorded is asked once, and not for each of them.
    fn start_from<'a>(
        &'a self,
        start: usize,
        last: bool,
        exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> Step<'a> {
        match context.watch.recorder().filter(|recorder| recorder.hears_of_steps()) {
            None => self.run_from(start, last, exchange, context),
            Some(recorder) => Step::Wait(Box::pin(self.run_recorded(start, last, exchange, context, recorder))),
        }
    }

    fn run_from<'a>(
        &'a self,
        start: usize,
        last: bool,
        mut exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> Step<'a> {
        for (index, node) in self.nodes().iter().enumerate().skip(start) {
            exchange.last = last && index + 1 == self.nodes().len();
            let unread = is_unread(exchange);
            match at_step(&node.step, || node.mediator.step(exchange, context)) {
                Step::Done(back, Ok(Flow::Next)) => {
                    debug_assert!(
                        !unread || is_unread(back) || node.may_read(),
                        "{} said it reads nothing",
                        node.step.element
                    );
                    exchange = back;
                }
                Step::Done(back, outcome) => {
                    let outcome = self.end(index, last, back, outcome);
                    return Step::Done(back, outcome);
                }
                Step::Wait(future) => {
                    return Step::Wait(Box::pin(async move {
                        match wait_at_step(&node.step, future).await {
                            (back, Ok(Flow::Next)) => {
                                debug_assert!(
                                    !unread || is_unread(back) || node.may_read(),
                                    "{} said it reads nothing",
                                    node.step.element
                                );
                                self.run_from(index + 1, last, back, context).finish().await
                            }
                            (back, outcome) => {
                                let outcome = self.end(index, last, back, outcome);
                                (back, outcome)
                            }
                        }
                    }));
                }
            }
        }
        exchange.depth -= 1;
        Step::Done(exchange, Ok(Flow::Next))
    }

    /// The flow goes on in branches, which are to come back to this block first.
    pub fn follow_split(self, exchange: &mut Exchange) {
        let (handlers, templates) = (exchange.handlers.len(), exchange.template_frames.len());
        if let Some(split) = Split::of(exchange) {
            split.behind.push(Continuation { block: self, next: 0, last: false, handlers, templates });
        }
    }

    /// The flow leaves the block at a mediator; what is behind it is kept for the branches that come back to it.
    fn end(&self, index: usize, last: bool, exchange: &mut Exchange, outcome: Outcome<Flow>) -> Outcome<Flow> {
        exchange.depth -= 1;
        if matches!(outcome, Ok(Flow::Split)) && index + 1 < self.nodes().len() {
            let (handlers, templates) = (exchange.handlers.len(), exchange.template_frames.len());
            if let Some(split) = Split::of(exchange) {
                split.behind.push(Continuation { block: self.clone(), next: index + 1, last, handlers, templates });
            }
        }
        self.nodes()[index].sign(outcome)
    }
}

impl Continuation {
    /// The mediators that it goes on with.
    pub fn nodes(&self) -> &[Node] {
        self.block.nodes().get(self.next..).unwrap_or_default()
    }

    /// Runs what is left of several blocks, from the inside out; a fault leaves with the handlers around it.
    pub async fn run(left: &[Continuation], exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        for (index, rest) in left.iter().enumerate() {
            exchange.depth = (left.len() - index) as u32;
            exchange.handlers.truncate(rest.handlers);
            exchange.template_frames.truncate(rest.templates);
            let (_, outcome) = rest.block.start_from(rest.next, rest.last, exchange, context).finish().await;
            match outcome {
                Ok(Flow::Next) => {}
                Ok(flow) => {
                    if flow == Flow::Split
                        && let Some(split) = Split::of(exchange)
                    {
                        split.behind.extend_from_slice(&left[index + 1..]);
                    }
                    return Ok(flow);
                }
                Err(mut fault) => {
                    fault.handlers.get_or_insert_with(|| exchange.handlers.clone());
                    return Err(fault);
                }
            }
        }
        Ok(Flow::Next)
    }
}

/// Whether the body is as it came, on the wire; debug builds ask, to hold mediators to what they say of themselves.
fn is_unread(exchange: &Exchange) -> bool {
    cfg!(debug_assertions) && matches!(exchange.message.body, Body::Wire(_))
}

impl Node {
    /// Whether the mediator said that it may do something with the body.
    fn may_read(&self) -> bool {
        let effect = self.mediator.effect();
        effect.reads > Reads::Nothing || effect.changes || effect.sends.is_some() || !effect.inside.is_empty()
    }

    fn sign(&self, outcome: Outcome<Flow>) -> Outcome<Flow> {
        outcome.map_err(|mut fault| {
            fault.trail.push(self.step.to_string());
            fault
        })
    }
}

impl Sequence {
    /// Runs the sequence; a fault leaves it with the handlers around where it came from.
    pub fn run<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        let outer = exchange.handlers.len();
        exchange.handlers.extend(self.on_error);
        if let Some(recorder) = context.watch.recorder() {
            recorder.sequence_begins(self, exchange, context);
        }
        match self.block.run(exchange, context) {
            Step::Done(back, outcome) => {
                let outcome = self.leave(back, outer, outcome, context);
                Step::Done(back, outcome)
            }
            Step::Wait(future) => Step::Wait(Box::pin(async move {
                let (back, outcome) = future.await;
                let outcome = self.leave(back, outer, outcome, context);
                (back, outcome)
            })),
        }
    }

    fn leave(
        &self,
        exchange: &mut Exchange,
        outer: usize,
        outcome: Outcome<Flow>,
        context: &RequestContext<'_>,
    ) -> Outcome<Flow> {
        let outcome = outcome.map_err(|mut fault| {
            fault.handlers.get_or_insert_with(|| exchange.handlers.clone());
            fault.trail.push(format!("{} ({})", self.name, self.place));
            fault
        });
        exchange.handlers.truncate(outer);
        if let Some(recorder) = context.watch.recorder() {
            recorder.sequence_ends(self, &outcome);
        }
        outcome
    }
}

/// Runs a sequence to its end.
pub async fn run(sequence: Option<&Sequence>, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
    let Some(sequence) = sequence else { return Ok(Flow::Next) };
    exchange.last = true;
    exchange.depth = 0;
    let (exchange, outcome) = sequence.run(exchange, context).finish().await;
    settled(outcome, exchange, context)
}

/// What a flow ended with, once it is settled what becomes of a message that it sent before.
pub fn settled(outcome: Outcome<Flow>, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
    match outcome {
        // What was sent is on its way: a failure behind it concerns the log, not the client.
        Err(fault) if exchange.decision.is_some() => {
            fault.log(&context.arrival);
            Ok(Flow::Next)
        }
        outcome => outcome,
    }
}

/// The sequence with a name that came up while serving.
///
/// Errors: the bus's, where there is no sound one.
pub fn named<'a>(name: &str, context: &RequestContext<'a>) -> Outcome<(SequenceId, &'a Sequence)> {
    let id = context.definitions.sequence_ids.get(name.trim()).copied();
    id.and_then(|id| Some((id, context.definitions.sequence(id)?))).ok_or_else(|| {
        Fault::bus("A sequence that the configuration calls for does not exist")
            .with_detail(format!("there is no sound sequence {name:?}"))
    })
}
