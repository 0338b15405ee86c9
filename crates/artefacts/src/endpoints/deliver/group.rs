//! Sends a message to a group: to one member after the other until one takes it.

use std::sync::Arc;

use crate::endpoints::deliver::{Delivered, NONE_READY, deliver_at, is_ready};
use crate::endpoints::endpoint::Endpoint;
use crate::endpoints::group::{Group, Rule};
use crate::endpoints::replay::Replay;
use crate::endpoints::session::Session;
use crate::endpoints::state::State;
use myelin_flow::context::RequestContext;
use myelin_flow::counters::Attempt;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Origin};
use myelin_flow::recorder::StepDecision;
use myelin_flow::tally::{self, Tally};

/// How often one message is sent at most, whatever the states of the members say.
const ATTEMPT_LIMIT: usize = 64;

const SESSION_NOT_READY: u32 = 309001;

impl Group {
    /// Sends the current message to one member after the other until one takes it.
    ///
    /// Each member is tried once, or as often as its state forgives a time-out.
    /// Errors: the last member's; 303000 where none was ready to be tried.
    pub(super) async fn deliver(
        &self,
        depth: usize,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
        endpoint: &Endpoint,
    ) -> Delivered {
        let session = match &self.choice.sessions {
            Some(sessions) => Some(Session::of(sessions, exchange, context).await?),
            None => None,
        };
        if let Some(session) = &session
            && let Some(member) = session.member
        {
            return self.deliver_bound(member, session, depth, exchange, context).await;
        }
        let replay =
            if self.fails_over && self.members.len() > 1 { Replay::of(exchange, context).await? } else { None };
        let mut tried = Vec::new();
        let mut failed: Option<Box<Fault>> = None;
        while tried.len() < ATTEMPT_LIMIT {
            let Some(member) = self.next(&tried, depth, context) else { break };
            context.watch.decided(|| self.decision(member, &tried, depth, context));
            if let (Some(fault), Some(replay)) = (&failed, &replay) {
                tracing::info!(
                    endpoint = %endpoint,
                    code = self.choice.rule.code_of_failing_over(),
                    after = fault.code,
                    "the endpoint fails over to another member"
                );
                tally::count(Tally::Failover);
                if let Some(endpoint) = self.member(member, context) {
                    let is_same = tried.contains(&member);
                    endpoint.counters.count_attempt(if is_same { Attempt::Retry } else { Attempt::Failover });
                }
                replay.restore(exchange);
            }
            if let Some(session) = &session {
                session.begin(member, context);
            }
            let fault = match self.deliver_to(member, depth, exchange, context).await {
                Ok(delivered) => {
                    if let (Some(session), Some(())) = (&session, delivered) {
                        session.learn(member, exchange, context).await?;
                    }
                    return Ok(delivered);
                }
                Err(fault) => fault,
            };
            if let Some(session) = &session {
                session.end();
            }
            if replay.is_none() || !self.goes_on_after(&fault, member, context) {
                return Err(fault);
            }
            tried.push(member);
            failed = Some(fault);
        }
        Err(failed.unwrap_or_else(|| Fault::not_ready(NONE_READY, format!("no member of {endpoint} is ready"))))
    }

    /// Sends a message of a session, which no other member knows: there is no failing over.
    async fn deliver_bound(
        &self,
        member: usize,
        session: &Session<'_>,
        depth: usize,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Delivered {
        context.watch.decided(|| {
            StepDecision::chose(self.told(member, context))
                .because("the session of the message is bound to this member")
        });
        if !self.is_ready(member, depth, context) {
            return Err(Fault::not_ready(SESSION_NOT_READY, "the member that the session belongs to is not ready"));
        }
        let delivered = self.deliver_to(member, depth, exchange, context).await?;
        if delivered.is_some() {
            session.learn(member, exchange, context).await?;
        }
        Ok(delivered)
    }

    async fn deliver_to(
        &self,
        member: usize,
        depth: usize,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Delivered {
        let endpoint = self.member(member, context).ok_or_else(Fault::missing)?;
        let _under_way = match &self.choice.rule {
            Rule::Balance(wheel) => Some(wheel.begin(member)),
            Rule::Failover { .. } => None,
        };
        deliver_at(depth + 1, exchange, context, endpoint).await
    }

    /// Why a message goes to a member, and why not to the others.
    fn decision(&self, member: usize, tried: &[usize], depth: usize, context: &RequestContext<'_>) -> StepDecision {
        let reason = match &self.choice.rule {
            Rule::Balance(_) => "it is the next one of the load balancing that is ready",
            Rule::Failover { dynamic: true, .. } => "it is the first member that is ready",
            Rule::Failover { dynamic: false, .. } => "it is the member in use, or the first that is ready",
        };
        let mut decision = StepDecision::chose(self.told(member, context)).because(reason);
        for other in (0..self.members.len()).filter(|other| *other != member) {
            let reason = if tried.contains(&other) {
                "it failed to take this message".to_owned()
            } else if self.is_ready(other, depth, context) {
                "it is ready, and not the next".to_owned()
            } else {
                let state = self.member(other, context).map(|endpoint| endpoint.health.condition().state);
                state.map_or("it is not there".to_owned(), |state| format!("it is {state}"))
            };
            decision = decision.but_not(self.told(other, context), reason);
        }
        decision
    }

    fn told(&self, member: usize, context: &RequestContext<'_>) -> String {
        self.member(member, context).map_or_else(|| format!("member {member}"), |endpoint| endpoint.to_string())
    }

    fn member<'a>(&'a self, member: usize, context: &RequestContext<'a>) -> Option<&'a Arc<Endpoint>> {
        self.members.get(member)?.find(context.definitions)
    }

    /// The member that is next for a message that those in `tried` did not take.
    fn next(&self, tried: &[usize], depth: usize, context: &RequestContext<'_>) -> Option<usize> {
        self.choice.rule.next(self.members.len(), |member| {
            self.is_ready(member, depth, context) && (!tried.contains(&member) || self.forgives(member, context))
        })
    }

    fn is_ready(&self, member: usize, depth: usize, context: &RequestContext<'_>) -> bool {
        let endpoint = self.member(member, context);
        endpoint.is_some_and(|endpoint| is_ready(endpoint, context.definitions, context.transport, depth + 1))
    }

    /// Whether a member that timed out may be tried again with the same message.
    fn forgives(&self, member: usize, context: &RequestContext<'_>) -> bool {
        let endpoint = self.member(member, context);
        endpoint.is_some_and(|endpoint| endpoint.health.condition().state == State::Timeout)
    }

    /// Whether another member may succeed where one failed.
    fn goes_on_after(&self, fault: &Fault, member: usize, context: &RequestContext<'_>) -> bool {
        // A limit of the bus's that was reached, 303000, may be that of connections to one member.
        let is_theirs = fault.origin == Origin::Backend || fault.code == NONE_READY;
        let allows = |endpoint: &Arc<Endpoint>| endpoint.health.rules.allows_retry(fault.code);
        is_theirs && !fault.discard && self.member(member, context).is_some_and(allows)
    }
}
