//! A sequence that a mediator runs: one that stands inside it, or one that it names.

use crate::loader::Loader;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Fault;
use myelin_flow::mediator::{Flow, Step, Steps};
use myelin_flow::sequence::{Block, SequenceId};

/// What runs: mediators that stand here, or a named sequence.
pub(crate) enum InnerSequence {
    Inline(Block),
    Named(SequenceId),
}

impl InnerSequence {
    /// Reads the sequence that an element names or holds; an element that is not there does nothing.
    pub(crate) fn read(element: Option<&Element>, loader: &mut Loader) -> Result<InnerSequence, Problem> {
        let Some(element) = element else { return Ok(InnerSequence::Inline(Block::default())) };
        match element.attribute("sequence") {
            Some(key) => loader.sequence_id(key).map(InnerSequence::Named),
            None => Ok(InnerSequence::Inline(loader.block(element))),
        }
    }

    /// What it does.
    pub(crate) fn steps(&self) -> Steps<'_> {
        match self {
            InnerSequence::Inline(block) => Steps::Block(block),
            InnerSequence::Named(id) => Steps::Named(*id),
        }
    }

    /// Runs the branch.
    pub(crate) fn run<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        match self {
            InnerSequence::Inline(block) if block.nodes().is_empty() => Step::Done(exchange, Ok(Flow::Next)),
            InnerSequence::Inline(block) => block.run(exchange, context),
            InnerSequence::Named(id) => match context.definitions.sequence(*id) {
                Some(sequence) => sequence.run(exchange, context),
                None => Step::Done(exchange, Err(Fault::missing())),
            },
        }
    }
}
