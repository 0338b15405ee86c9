//! Sends a message to a list of recipients: the exchange goes on in a branch for each of them.

use crate::endpoints::deliver::{Delivered, NONE_READY, is_ready, send_branch};
use crate::endpoints::endpoint::{Endpoint, EndpointRef};
use crate::endpoints::recipients::{List, Recipients};
use crate::splitting::Splitter;
use myelin_expression::Need;
use myelin_flow::branches::{BranchResponse, BranchTargets};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::Flow;
use myelin_flow::recorder::StepDecision;
use myelin_flow::transport::LocalFuture;

/// The recipients of one message.
struct ReadyRecipients(Vec<EndpointRef>);

impl BranchTargets for ReadyRecipients {
    fn run<'a>(
        &'a self,
        number: usize,
        response: BranchResponse,
        exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> LocalFuture<'a, Outcome<Flow>> {
        Box::pin(async move {
            match self.0.get(number) {
                Some(endpoint) => send_branch(endpoint, response, exchange, context).await,
                None => Ok(Flow::Drop),
            }
        })
    }
}

impl Recipients {
    /// Makes a copy of the current message for each recipient that is ready; their flows go on by themselves.
    ///
    /// Errors: 303000 where none is ready, or of whoever sent a body that cannot be read.
    pub(super) async fn deliver(
        &self,
        depth: usize,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
        endpoint: &Endpoint,
    ) -> Delivered {
        let computed;
        let members: &[EndpointRef] = match &self.list {
            List::Members(members) => members,
            List::Computed { expression, need, pool } => {
                need.fulfil(exchange, context).await?;
                computed = pool.members(&expression.text(exchange, context)?.unwrap_or_default(), context)?;
                &computed
            }
        };
        let is_ready = |member: &&EndpointRef| {
            member
                .find(context.definitions)
                .is_some_and(|found| is_ready(found, context.definitions, context.transport, depth + 1))
        };
        let ready: Vec<EndpointRef> = members.iter().filter(is_ready).cloned().collect();
        context.watch.decided(|| {
            let chosen = StepDecision::chose(format!("{} of {} recipients", ready.len(), members.len()));
            members.iter().filter(|member| !is_ready(member)).fold(chosen, |decision, member| {
                let found = member.find(context.definitions);
                let state = found.map_or("not there".to_owned(), |found| found.health.condition().state.to_string());
                let name = found.map_or("a recipient".to_owned(), |found| found.to_string());
                decision.but_not(name, format!("it is {state}"))
            })
        });
        if ready.is_empty() {
            return Err(Fault::not_ready(NONE_READY, format!("no recipient of {endpoint} is ready")));
        }
        Need::read().fulfil(exchange, context).await?;
        let count = ready.len();
        Splitter::to(ReadyRecipients(ready), self.marks).split_copies(exchange, context, count)?;
        Ok(None)
    }
}
