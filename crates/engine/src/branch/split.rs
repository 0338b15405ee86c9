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
use myelin_flow::observer::Watch;
use myelin_flow::recorder::BranchStart;
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
    let mut groups = if split.is_detached { Vec::new() } else { around.clone() };
    groups.push(Rc::clone(&split.branches.group));
    let left = if split.comes_back { Rc::clone(&behind) } else { Rc::default() };
    let is_detached = split.is_detached;
    let watch = Rc::new(engine.context.watch.beside());
    let begun = begin_all(Rc::clone(branch_context), split, (left, Rc::clone(&watch)), implicit);
    branch_context.spawn(groups, is_detached, Box::pin(begun));
    if let Some(parent) = parent {
        branch_context.spawn(
            around,
            false,
            Box::pin(go_on(Rc::clone(branch_context), parent, (behind, watch), implicit)),
        );
    }
    meeting
}

/// The flow that goes on besides as if nothing had been: a branch like the others for the client, who waits for none
/// of them once one has answered.
async fn go_on(
    branch_context: Rc<BranchContext>,
    mut exchange: Box<Exchange>,
    (behind, around): (Rc<[Continuation]>, Rc<Watch>),
    implicit: bool,
) {
    let watch = around.branch(BranchStart { number: None, is_detached: false });
    let engine = branch_context.context_watched_by(&watch);
    let outcome = Continuation::run(&behind, &mut exchange, &engine.context).await;
    let outcome = match sequence::settled(outcome, &exchange, &engine.context) {
        Ok(flow) => flow::carry_on(&mut exchange, &engine, flow, implicit).await,
        Err(fault) => Err(fault),
    };
    end(&engine, &mut exchange, outcome).await;
}

/// Begins branches as there is room for them.
///
/// `implicit` is for detached branches, as for the flow that they take the place of.
async fn begin_all(
    branch_context: Rc<BranchContext>,
    split: Box<Split>,
    (behind, watch): (Rc<[Continuation]>, Rc<Watch>),
    implicit: bool,
) {
    let Split { mut branches, sequential, is_detached, targets, response, .. } = *split;
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
                branch_context.context().context.report(&fault);
                branches.group.fail(&fault);
                return branch_context.fail(fault);
            }
        };
        exchange.permits = (Some(branch_context.permit(bytes).await), one_by_one);
        let groups = exchange.members.iter().map(|member| Rc::clone(&member.group)).collect();
        let targets = Arc::clone(&targets);
        let course = Course { targets, number, response, is_detached, implicit, behind: Rc::clone(&behind) };
        let life = live(Rc::clone(&branch_context), Rc::clone(&watch), exchange, course);
        branch_context.spawn(groups, is_detached, Box::pin(life));
    }
}

/// The target of one branch, and how the branch goes on.
struct Course {
    targets: Arc<dyn BranchTargets>,
    /// Which of the targets it runs.
    number: usize,
    /// How it goes on with a response.
    response: BranchResponse,
    /// Whether it is the flow of the message itself, which goes on whoever waits.
    is_detached: bool,
    /// Whether what a detached branch does not send goes to the service's own endpoint.
    implicit: bool,
    /// What is behind the mediator that made the branch.
    behind: Rc<[Continuation]>,
}

/// One branch from its beginning to its end, which may be the client's answer.
async fn live(branch_context: Rc<BranchContext>, around: Rc<Watch>, mut exchange: Exchange, course: Course) {
    let watch = around.branch(BranchStart { number: Some(course.number), is_detached: course.is_detached });
    let engine = branch_context.context_watched_by(&watch);
    let outcome = course.run(&mut exchange, &engine).await;
    end(&engine, &mut exchange, outcome).await;
}

/// A branch has come to its end, which may be the client's answer; a fault is for its handlers first.
async fn end(engine: &EngineContext<'_>, exchange: &mut Exchange, outcome: Outcome<Option<Message>>) {
    let outcome = match outcome {
        Err(fault) => Box::pin(flow::recover(exchange, engine, fault)).await.map(Some),
        outcome => outcome,
    };
    if let Some(recorder) = engine.context.watch.recorder() {
        let status = outcome.as_ref().map(|answer| answer.as_ref().map(|answer| answer.status));
        recorder.flow_ends(status.map_err(|fault| &**fault));
    }
    let branch_context = engine.branch_context();
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

impl Course {
    /// Runs a branch's target, and what is behind the mediator that made the branch.
    ///
    /// As in Micro Integrator a branch comes back to what is behind only where its target has called a backend.
    async fn run(&self, exchange: &mut Exchange, engine: &EngineContext<'_>) -> Outcome<Option<Message>> {
        let mut flow = self.targets.run(self.number, self.response, exchange, &engine.context).await?;
        if flow == Flow::Next && (exchange.called || self.is_detached) && exchange.decision.is_none() {
            let outcome = Continuation::run(&self.behind, exchange, &engine.context).await;
            flow = sequence::settled(outcome, exchange, &engine.context)?;
        } else if flow == Flow::Split
            && let Some(split) = Split::of(exchange)
        {
            split.behind.extend_from_slice(&self.behind);
        }
        // What the target sent knows the handlers around it; neither they nor a template stand around what comes back.
        exchange.handlers.clear();
        exchange.template_frames.clear();
        flow::carry_on(exchange, engine, flow, self.is_detached && self.implicit).await
    }
}
