//! Where the branches of a split are to meet in time: at an `aggregate` to which each of them comes.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use crate::engine::{EngineContext, FlowKind};
use myelin_flow::branches::{CorrelationGroup, Split};
use myelin_flow::definitions::Definitions;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Branching, Effect, InnerFlow, Steps};
use myelin_flow::sequence::{Continuation, Node};

/// Sequences that call each other deeper than this are not looked into.
const DEPTH_LIMIT: u32 = 16;

/// A time by which a branch has to come to where all are to meet.
pub(crate) struct Meeting {
    group: Rc<CorrelationGroup>,
    /// By the clock that only goes forward.
    end: Duration,
}

impl Meeting {
    /// That of a split, if there is an `aggregate` with a time on the way of its branches, and nothing before it that
    /// splits them again; nobody waits for detached ones.
    pub(crate) fn of(split: &Split, engine: &EngineContext<'_>) -> Option<Meeting> {
        if split.is_detached {
            return None;
        }
        let group = &split.branches.group;
        let definitions = engine.context.definitions;
        let behind = split.behind.iter().flat_map(Continuation::nodes).filter(|_| split.comes_back);
        let response = match split.response.receive {
            Some(receive) => definitions.sequence(receive),
            None => engine.service.outgoing(engine.bus),
        };
        let response = response.into_iter().flat_map(|sequence| sequence.block.nodes());
        // A branch that has called goes on behind the split, one that has sent does with the response.
        let times = [time_of(behind, group, definitions, 0), time_of(response, group, definitions, 0)];
        let time = times.into_iter().flatten().max()?;
        Some(Meeting { group: Rc::clone(group), end: group.split_at().saturating_add(time) })
    }

    /// Waits until a branch has come, until none can come any more, or until the client has an answer.
    ///
    /// Errors: 504, if the time is over before that; the branches are ended.
    pub(crate) async fn wait(self, engine: &EngineContext<'_>) -> Outcome<()> {
        let context = &engine.context;
        let mut sleep = context.transport.sleep(self.end.saturating_sub(context.transport.monotonic()));
        let is_late = poll_fn(|cx| {
            let has_answer = match engine.flow {
                FlowKind::First(_, branch_context) => {
                    branch_context.get().is_some_and(|branch_context| branch_context.has_answer(cx.waker()))
                }
                // A branch that splits again has no client of its own.
                FlowKind::Branch(_) => false,
            };
            if has_answer || self.group.has_met() || self.group.outstanding() == 0 {
                return Poll::Ready(false);
            }
            self.group.wait(cx.waker());
            sleep.as_mut().poll(cx).map(|()| true)
        })
        .await;
        if !is_late {
            return Ok(());
        }
        context.branches.cancel_group(&self.group);
        Err(Fault::gathered_nothing())
    }
}

/// How long the first `aggregate` to which these steps lead in any case waits for the branches of a group.
fn time_of<'a>(
    nodes: impl Iterator<Item = &'a Node>,
    group: &CorrelationGroup,
    definitions: &Definitions,
    depth: u32,
) -> Option<Duration> {
    for node in nodes {
        let Effect { branching, inside, .. } = node.mediator.effect();
        match branching {
            Some(Branching::Splits) => return None,
            Some(Branching::Gathers { id, time }) if id.is_none_or(|id| group.is_of(id)) => return time,
            _ => {}
        }
        let [InnerFlow { label, flow }] = inside.as_slice() else { continue };
        if !label.is_empty() || depth == DEPTH_LIMIT {
            continue;
        }
        let block = match flow {
            Steps::Block(block) => Some(*block),
            Steps::Sequence(sequence) => Some(&sequence.block),
            Steps::Named(id) => definitions.sequence(*id).map(|sequence| &sequence.block),
            Steps::Template(_) | Steps::WorkedOut => None,
        };
        let time = block.and_then(|block| time_of(block.nodes().iter(), group, definitions, depth + 1));
        if time.is_some() {
            return time;
        }
    }
    None
}
