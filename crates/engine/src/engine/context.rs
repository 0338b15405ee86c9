//! What surrounds an exchange while the engine runs it.

use std::rc::Rc;
use std::sync::Arc;

use crate::branch::{BranchContext, FirstBranchContext};
use crate::bus::Bus;
use crate::engine::scheduler::Scheduler;
use crate::service::Service;
use myelin_flow::context::{Counts, RequestContext};
use myelin_flow::observer::Observer;
use myelin_flow::recorder::RecorderSource;
use myelin_flow::transport::Transport;

/// What an engine consists of; flows that outlive the first one of their request keep it.
#[derive(Clone)]
pub(crate) struct EngineParts {
    pub(crate) bus: Arc<Bus>,
    pub(crate) transport: Rc<dyn Transport>,
    pub(crate) counts: Rc<Counts>,
    pub(crate) scheduler: Rc<Scheduler>,
    /// Who hears of what happens to messages.
    pub(crate) observer: Option<Rc<dyn Observer>>,
    /// Each of these decides for every exchange whether it records it.
    pub(crate) recorder_sources: Rc<[Rc<dyn RecorderSource>]>,
}

/// What surrounds an exchange while the engine runs it.
pub(crate) struct EngineContext<'a> {
    /// As mediators see it.
    pub(crate) context: RequestContext<'a>,
    pub(crate) bus: &'a Bus,
    /// What serves it.
    pub(crate) service: Service<'a>,
    pub(crate) flow: FlowKind<'a>,
}

/// Which of the flows of a request is meant.
pub(crate) enum FlowKind<'a> {
    /// The first flow: a [`BranchContext`] is made when another one begins.
    First(&'a EngineParts, &'a FirstBranchContext),
    /// One that runs beside it.
    Branch(&'a Rc<BranchContext>),
}

impl<'a> EngineContext<'a> {
    /// What the flows beside this one share; made when it is first asked for.
    pub(crate) fn branch_context(&self) -> &'a Rc<BranchContext> {
        match self.flow {
            FlowKind::First(parts, branch_context) => {
                let make = |demand| BranchContext::new(&self.context, self.service.to_owned(), parts.clone(), demand);
                branch_context.get_or_init(make)
            }
            FlowKind::Branch(branch_context) => branch_context,
        }
    }
}
