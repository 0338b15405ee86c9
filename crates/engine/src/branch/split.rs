//! Begins the branches in which a flow goes on, one after the other as there is room for them.

use std::rc::Rc;
use std::sync::Arc;

use myelin_message::Message;

use crate::branch::BranchContext;
use crate::branch::meeting::Meeting;
use crate::engine::EngineContext;
use crate::engine::flow;
use myelin_flow::answer;
use myelin_flow::branches::{BranchPermits, BranchResponse, BranchTargets, Split};
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::Flow;
use myelin_flow::sequence::{self, Continuation};

/// Begins the branches in which a flow goes on; the flow itself ends here, or waits for them until they meet in time.
///
/// `implicit` says whether what the flow besides does not send goes to the service's own endpoint.
pub(crate) fn carry_on(exchange: &mut Exchange, engine: &EngineContext<'_>, implicit: bool) -> Option<Meeting> {
    let mut split = Split::take(exchange)?;
    let meeting = Meeting::of(&split, engine);
    let parent = split.parent.take();
    let branch_context = engine.branch_context();
    let behind: Rc<[Continuation]> = std::mem::take(&mut split.behind).into();
    let around: Vec<_> = exchange.members.iter().map(|member| Rc::clone(&member.group)).collect();
    let mut groups = around.clone();
    groups.push(Rc::clone(&split.branches.group));
    let left = if split.comes_back { Rc::clone(&behind) } else { Rc::default() };
    branch_context.spawn(groups, Box::pin(begin_all(Rc::clone(branch_context), split, left)));
    if let Some(parent) = parent {
        branch_context.spawn(around, Box::pin(go_on(Rc::clone(branch_context), parent, behind, implicit)));
    }
    meeting
}

/// The flow that goes on besides as if nothing had been: a branch like the others for the client, who waits for none
/// of them once one has answered.
async fn go_on(
    branch_context: Rc<BranchContext>,
    mut exchange: Box<Exchange>,
    behind: Rc<[Continuation]>,
    implicit: bool,
) {
    let engine = branch_context.context();
    let outcome = Continuation::run(&behind, &mut exchange, &engine.context).await;
    let outcome = match sequence::settled(outcome, &exchange, &engine.context) {
        Ok(flow) => flow::carry_on(&mut exchange, &engine, flow, implicit).await,
        Err(fault) => Err(fault),
    };
    end(&branch_context, &mut exchange, outcome).await;
}

/// Begins branches as there is room for them.
async fn begin_all(branch_context: Rc<BranchContext>, split: Box<Split>, behind: Rc<[Continuation]>) {
    let Split { mut branches, sequential, targets, response, .. } = *split;
    let alone = sequential.then(|| BranchPermits::new(1, usize::MAX));
    let mut pending_branches = branches.group.pending_branches();
    while let Some(member) = pending_branches.next() {
        let number = member.number;
        let one_by_one = match &alone {
            Some(alone) => Some(alone.take(0).await),
            None => None,
        };
        let (mut exchange, bytes) = match branches.make(member).and_then(|made| branch_context.count_copy(made)) {
            Ok(made) => made,
            Err(fault) => {
                fault.log(&branch_context.context().context.arrival);
                branches.group.fail(&fault);
                return branch_context.fail(fault);
            }
        };
        exchange.permits = (Some(branch_context.permit(bytes).await), one_by_one);
        let groups = exchange.members.iter().map(|member| Rc::clone(&member.group)).collect();
        let life =
            live(Rc::clone(&branch_context), exchange, (Arc::clone(&targets), number, response), Rc::clone(&behind));
        branch_context.spawn(groups, Box::pin(life));
    }
}

/// The targets of a mediator, which of them a branch runs, and how it goes on with a response.
type NumberedTarget = (Arc<dyn BranchTargets>, usize, BranchResponse);

/// One branch from its beginning to its end, which may be the client's answer.
async fn live(
    branch_context: Rc<BranchContext>,
    mut exchange: Exchange,
    target: NumberedTarget,
    behind: Rc<[Continuation]>,
) {
    let engine = branch_context.context();
    let outcome = run(&target, &behind, &mut exchange, &engine).await;
    end(&branch_context, &mut exchange, outcome).await;
}

/// A branch has come to its end, which may be the client's answer; a fault is for its handlers first.
async fn end(branch_context: &Rc<BranchContext>, exchange: &mut Exchange, outcome: Outcome<Option<Message>>) {
    let outcome = match outcome {
        Err(fault) => Box::pin(flow::recover(exchange, &branch_context.context(), fault)).await.map(Some),
        outcome => outcome,
    };
    if let Err(fault) = &outcome {
        exchange.members.iter().for_each(|member| member.group.fail(fault));
    }
    match outcome {
        Ok(None) => {}
        _ if exchange.accepted => branch_context.answer(answer::accepted()),
        Ok(Some(answer)) => branch_context.answer(answer),
        Err(fault) => branch_context.fail(fault),
    }
}

/// Runs a branch's target, and what is behind the mediator that made the branch.
///
/// As in Micro Integrator a branch comes back to what is behind only where its target has called a backend.
async fn run(
    (targets, number, response): &NumberedTarget,
    behind: &[Continuation],
    exchange: &mut Exchange,
    engine: &EngineContext<'_>,
) -> Outcome<Option<Message>> {
    let mut flow = targets.run(*number, *response, exchange, &engine.context).await?;
    if flow == Flow::Next && exchange.called && exchange.decision.is_none() {
        let outcome = Continuation::run(behind, exchange, &engine.context).await;
        flow = sequence::settled(outcome, exchange, &engine.context)?;
    } else if flow == Flow::Split
        && let Some(split) = Split::of(exchange)
    {
        split.behind.extend_from_slice(behind);
    }
    // What the target sent knows the handlers around it; neither they nor a template stand around what comes back.
    exchange.handlers.clear();
    exchange.template_frames.clear();
    flow::carry_on(exchange, engine, flow, false).await
}
