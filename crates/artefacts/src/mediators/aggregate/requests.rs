//! Aggregates messages of several requests: those for which `correlateOn` has the same value.
//!
//! Each client has its 202 at once; the first message of a group waits for the others in a flow of its own.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::aggregation::{Joined, OpenGroup, extract};
use crate::mediators::aggregate::{Aggregate, Completion, Correlation, correlates};
use myelin_expression::Need;
use myelin_flow::branches::{
    BranchMessages, BranchResponse, BranchTargets, Contribution, CorrelationGroup, Split, gathered_limit_bytes,
};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::Flow;
use myelin_flow::transport::LocalFuture;

/// How long a group waits where nothing is said about that.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// The flow of a group: it waits for the messages, and goes on with all of them as one.
struct GroupFlow {
    group: OpenGroup,
    timeout: Duration,
    completion: Arc<Completion>,
}

impl Aggregate {
    /// A message of a request that was not split arrives.
    ///
    /// Errors: the bus's, where `correlateOn` finds nothing, and as [`OpenGroups::join`](crate::aggregation::OpenGroups::join).
    pub(super) fn join(
        &self,
        correlation: &Correlation,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Flow> {
        let Correlation { expression, groups } = correlation;
        if !correlates(expression, exchange, context)? {
            return Ok(Flow::Next);
        }
        let value = expression.text(exchange, context)?.unwrap_or_default().into_owned();
        let wanted = self.wanted(exchange, context)?;
        let limit_bytes = gathered_limit_bytes(&context.definitions.settings);
        let piece = extract(self.expression.as_ref(), self.completion.mode, exchange, context)?;
        let group = match groups.join(&value, piece, wanted, limit_bytes)? {
            Joined::Another => return Ok(Flow::Drop),
            Joined::First(group) => group,
        };
        let mut first = exchange.branch()?;
        // Branches around it that meet elsewhere do not wait for it.
        first.members.clear();
        let timeout = self.timeout.unwrap_or(LONGEST_WAIT);
        let flow = GroupFlow { group, timeout, completion: Arc::clone(&self.completion) };
        let bytes = first.message.body.length().unwrap_or_default() as usize;
        let mut first = Some(first);
        let split = Split {
            branches: BranchMessages {
                group: CorrelationGroup::new(None, 1, context.transport.monotonic()),
                marks: None,
                correlation: exchange.message_id().into(),
                make: Box::new(move |_| Ok((first.take().ok_or_else(Fault::missing)?, bytes))),
            },
            sequential: false,
            comes_back: true,
            is_detached: true,
            targets: Arc::new(flow),
            response: BranchResponse::default(),
            parent: None,
            behind: Vec::new(),
        };
        split.leave(exchange);
        Ok(Flow::Split)
    }
}

impl GroupFlow {
    /// Waits until there are enough messages, or the time is over.
    async fn messages(&self, context: &RequestContext<'_>) -> Vec<Contribution> {
        let mut sleep = context.transport.sleep(self.timeout);
        poll_fn(|cx| match self.group.poll(cx.waker()) {
            Poll::Pending => sleep.as_mut().poll(cx).map(|()| self.group.close()),
            ready => ready,
        })
        .await
    }
}

impl BranchTargets for GroupFlow {
    fn run<'a>(
        &'a self,
        _: usize,
        _: BranchResponse,
        exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> LocalFuture<'a, Outcome<Flow>> {
        Box::pin(async move {
            // It waits for other requests: the room it has among the branches of its own is for these, and it meets none.
            exchange.permits = (None, None);
            exchange.members.clear();
            let pieces = self.messages(context).await;
            Need::built().fulfil(exchange, context).await?;
            self.completion.complete(pieces, exchange, context).await
        })
    }
}
