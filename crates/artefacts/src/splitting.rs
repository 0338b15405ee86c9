//! A flow that goes on in branches: one message becomes many, each as soon as there is room for it.

use std::sync::Arc;

use myelin_flow::branches::{BranchMessages, BranchProperties, BranchResponse, BranchTargets, CorrelationGroup, Split};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::Flow;
use myelin_flow::recorder::StepDecision;

/// BranchMessages within branches deeper than this are a loop.
const GENERATIONS: usize = 8;

/// A message that is split, gathered, and split again more often than this is in a loop.
const SPLITS: usize = 100;

/// How a mediator or endpoint splits a message, and what each branch then does.
pub(crate) struct Splitter<T> {
    /// What an `aggregate` names that gathers these branches and no others.
    pub(crate) id: Option<Arc<str>>,
    /// The properties that tell the branches apart.
    pub(crate) properties: BranchProperties,
    /// Whether the flow itself goes on, too.
    pub(crate) continues_parent: bool,
    /// Whether each branch begins when the one before it has ended, and not at once.
    pub(crate) sequential: bool,
    /// Whether a branch that has called a backend goes on behind the mediator.
    pub(crate) comes_back: bool,
    /// What each branch does.
    pub(crate) targets: Arc<T>,
}

impl<T: BranchTargets + 'static> Splitter<T> {
    /// One whose branches the flow does not wait for, and which takes the place of the flow.
    pub(crate) fn to(targets: T, properties: BranchProperties) -> Splitter<T> {
        let targets = Arc::new(targets);
        Splitter { id: None, properties, continues_parent: false, sequential: false, comes_back: false, targets }
    }

    /// Lets a flow go on in so many copies of its message, which was read.
    ///
    /// Errors: as [`Splitter::split`].
    pub(crate) fn split_copies(
        &self,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
        count: usize,
    ) -> Outcome<Flow> {
        let mut original = exchange.branch()?;
        original.message.body.share();
        let make = move |_| {
            let copy = original.branch()?;
            let bytes = copy.message.body.length().unwrap_or_default();
            Ok((copy, bytes as usize))
        };
        self.split(exchange, context, count, make)
    }

    /// Lets a flow go on in so many branches; `make` gives the message with a number, and about how many bytes its copy
    /// takes, when the branch begins.
    ///
    /// Errors: the bus's, where branches turn in a circle, or a message that was sent is to go on.
    pub(crate) fn split(
        &self,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
        count: usize,
        make: impl FnMut(usize) -> Outcome<(Exchange, usize)> + 'static,
    ) -> Outcome<Flow> {
        if exchange.members.iter().filter(|member| member.is_coming()).count() >= GENERATIONS {
            let message =
                format!("BranchMessages nest deeper than {GENERATIONS}: a branch splits its message without end");
            return Err(Fault::bus(message));
        }
        if exchange.members.len() >= SPLITS {
            return Err(Fault::bus(format!("A message is split more than {SPLITS} times, one time after the other")));
        }
        context.watch.decided(|| {
            let how = if self.sequential { "one after the other" } else { "beside each other" };
            StepDecision::chose(format!("{count} branches, {how}"))
        });
        let parent = if self.continues_parent { Some(Box::new(exchange.branch()?)) } else { None };
        let branches = BranchMessages {
            group: CorrelationGroup::new(self.id.clone(), count, context.transport.monotonic()),
            marks: Some(self.properties),
            correlation: exchange.message_id().into(),
            make: Box::new(make),
        };
        let Splitter { sequential, comes_back, ref targets, .. } = *self;
        let targets: Arc<dyn BranchTargets> = Arc::clone(targets) as Arc<dyn BranchTargets>;
        let split = Split {
            branches,
            sequential,
            comes_back,
            is_detached: false,
            targets,
            response: BranchResponse::default(),
            parent,
            behind: Vec::new(),
        };
        split.leave(exchange);
        Ok(Flow::Split)
    }
}
