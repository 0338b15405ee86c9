//! Sequences: mediators one after the other, with a handler for what goes wrong.

use std::sync::Arc;

use myelin_message::Body;

use crate::config::Place;
use crate::effect::Reads;
use crate::exchange::{Exchange, Scene};
use crate::fault::{Fault, Outcome};
use crate::mediator::{Flow, Mediator, Step};

/// Sequences and branches nested deeper than this while serving are a loop.
const DEPTH_LIMIT: u32 = 100;

/// Which of the bus's named sequences.
pub(crate) type SequenceId = usize;

/// A list of mediators: a sequence, or the inside of one that has an inside.
#[derive(Clone, Default)]
pub(crate) struct Block {
    // Shared with what is left of it where a flow goes on in branches, which outlive the flow.
    nodes: Arc<[Node]>,
}

/// What is left of a block behind a mediator whose flow goes on in branches.
#[derive(Clone)]
pub(crate) struct Rest {
    block: Block,
    /// The number of the mediator to go on with.
    next: usize,
    /// Whether it is the last of its flow.
    last: bool,
    /// How many handlers of faults stand around it.
    handlers: usize,
    /// How many templates it runs in.
    functions: usize,
}

/// A mediator and where it stands.
pub(crate) struct Node {
    pub(crate) element: &'static str,
    pub(crate) place: Place,
    pub(crate) mediator: Box<dyn Mediator>,
}

/// A sequence with its error handler.
pub(crate) struct Sequence {
    /// Its name, or what it is to a proxy: `inSequence` …
    pub(crate) name: Arc<str>,
    /// Where it stands.
    pub(crate) place: Place,
    /// What it does.
    pub(crate) block: Block,
    /// The sequence that runs when a step of this one fails.
    pub(crate) on_error: Option<SequenceId>,
}

impl From<Vec<Node>> for Block {
    fn from(nodes: Vec<Node>) -> Block {
        Block { nodes: nodes.into() }
    }
}

impl Block {
    /// The mediators in order.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Runs the mediators until one ends the flow; becomes a future only from the first that waits.
    pub(crate) fn run<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        if exchange.depth >= DEPTH_LIMIT {
            let message = format!("Sequences nest deeper than {DEPTH_LIMIT}: one calls itself without end");
            return Step::Done(exchange, Err(Fault::bus(message)));
        }
        exchange.depth += 1;
        let last = exchange.last;
        self.run_from(0, last, exchange, scene)
    }

    fn run_from<'a>(
        &'a self,
        start: usize,
        last: bool,
        mut exchange: &'a mut Exchange,
        scene: &'a Scene<'a>,
    ) -> Step<'a> {
        for (index, node) in self.nodes.iter().enumerate().skip(start) {
            exchange.last = last && index + 1 == self.nodes.len();
            let unread = is_unread(exchange);
            match node.mediator.step(exchange, scene) {
                Step::Done(back, Ok(Flow::Next)) => {
                    debug_assert!(
                        !unread || is_unread(back) || node.may_read(),
                        "{} said it reads nothing",
                        node.element
                    );
                    exchange = back;
                }
                Step::Done(back, outcome) => {
                    let outcome = self.end(index, last, back, outcome);
                    return Step::Done(back, outcome);
                }
                Step::Wait(future) => {
                    return Step::Wait(Box::pin(async move {
                        match future.await {
                            (back, Ok(Flow::Next)) => {
                                debug_assert!(
                                    !unread || is_unread(back) || node.may_read(),
                                    "{} said it reads nothing",
                                    node.element
                                );
                                self.run_from(index + 1, last, back, scene).finish().await
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
    pub(crate) fn follow_split(self, exchange: &mut Exchange) {
        let (handlers, functions) = (exchange.handlers.len(), exchange.functions.len());
        if let Some(split) = &mut exchange.split {
            split.behind.push(Rest { block: self, next: 0, last: false, handlers, functions });
        }
    }

    /// The flow leaves the block at a mediator; what is behind it is kept for the branches that come back to it.
    fn end(&self, index: usize, last: bool, exchange: &mut Exchange, outcome: Outcome<Flow>) -> Outcome<Flow> {
        exchange.depth -= 1;
        if let (Ok(Flow::Split), Some(split)) = (&outcome, &mut exchange.split)
            && index + 1 < self.nodes.len()
        {
            let (handlers, functions) = (exchange.handlers.len(), exchange.functions.len());
            split.behind.push(Rest { block: self.clone(), next: index + 1, last, handlers, functions });
        }
        self.nodes[index].sign(outcome)
    }
}

impl Rest {
    /// Runs what is left of several blocks, from the inside out; a fault leaves with the handlers around it.
    pub(crate) async fn run(left: &[Rest], exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
        for (index, rest) in left.iter().enumerate() {
            exchange.depth = (left.len() - index) as u32;
            exchange.handlers.truncate(rest.handlers);
            exchange.functions.truncate(rest.functions);
            let (_, outcome) = rest.block.run_from(rest.next, rest.last, exchange, scene).finish().await;
            match outcome {
                Ok(Flow::Next) => {}
                Ok(flow) => {
                    if let Some(split) = exchange.split.as_mut().filter(|_| flow == Flow::Split) {
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
            fault.trail.push(format!("{} ({})", self.element, self.place));
            fault
        })
    }
}

impl Sequence {
    /// Runs the sequence; a fault leaves it with the handlers around where it came from.
    pub(crate) fn run<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        let outer = exchange.handlers.len();
        exchange.handlers.extend(self.on_error);
        match self.block.run(exchange, scene) {
            Step::Done(back, outcome) => {
                let outcome = self.leave(back, outer, outcome);
                Step::Done(back, outcome)
            }
            Step::Wait(future) => Step::Wait(Box::pin(async move {
                let (back, outcome) = future.await;
                let outcome = self.leave(back, outer, outcome);
                (back, outcome)
            })),
        }
    }

    fn leave(&self, exchange: &mut Exchange, outer: usize, outcome: Outcome<Flow>) -> Outcome<Flow> {
        let outcome = outcome.map_err(|mut fault| {
            fault.handlers.get_or_insert_with(|| exchange.handlers.clone());
            fault.trail.push(format!("{} ({})", self.name, self.place));
            fault
        });
        exchange.handlers.truncate(outer);
        outcome
    }
}
