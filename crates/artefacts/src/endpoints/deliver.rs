//! Sends a message to an endpoint of whatever kind: a backend, or a rule that leads to one.

use std::sync::Arc;

use crate::endpoints::request::Request;
use crate::endpoints::{Endpoint, EndpointRef, Endpoints, Target};
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::definitions::Definitions;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::transport::{LocalFuture, Transport};

/// An endpoint in an endpoint in … deeper than this is a loop.
pub(super) const DEPTH_LIMIT: usize = 16;

/// What a delivery gives: `None` where the configuration wants no response, or where the exchange is to go on in the
/// branches that it was split into.
pub(super) type Delivered = Outcome<Option<()>>;

/// Sends the current message and puts the response in its place.
///
/// Errors: of the backend that was tried last; 303000 and its like where none was.
pub fn deliver<'a>(
    exchange: &'a mut Exchange,
    context: &'a RequestContext<'a>,
    endpoint: &'a Arc<Endpoint>,
) -> LocalFuture<'a, Delivered> {
    deliver_at(0, exchange, context, endpoint)
}

/// The same, for an endpoint that is `depth` endpoints deep in others.
pub(super) fn deliver_at<'a>(
    depth: usize,
    exchange: &'a mut Exchange,
    context: &'a RequestContext<'a>,
    endpoint: &'a Arc<Endpoint>,
) -> LocalFuture<'a, Delivered> {
    Box::pin(async move {
        if depth >= DEPTH_LIMIT {
            return Err(Fault::bus(format!("Endpoints nest deeper than {DEPTH_LIMIT}: one leads to itself")));
        }
        if let Some(properties) = &endpoint.properties {
            properties.run(exchange, context).finish().await.1?;
        }
        let outcome = match &endpoint.target {
            Target::Alias(id) => {
                let endpoint = Endpoints::of(context.definitions).get(*id).ok_or_else(Fault::missing)?;
                return deliver_at(depth + 1, exchange, context, endpoint).await;
            }
            Target::Resolving(resolving) => {
                let found = resolving.endpoint(exchange, context).await?;
                deliver_at(depth + 1, exchange, context, found).await
            }
            Target::Group(group) => group.deliver(depth, exchange, context, endpoint).await,
            Target::Recipients(list) => list.deliver(depth, exchange, context, endpoint).await,
            _ => {
                if let Target::Default = endpoint.target {
                    Need::addressee().fulfil(exchange, context).await?;
                }
                if let Target::Described(described) = &endpoint.target {
                    described.get_ready(context).await.map_err(|fault| endpoint.sign(fault))?;
                }
                if let Target::Http { template, .. } = &endpoint.target {
                    template.get_ready(exchange, context).await?;
                }
                endpoint.timeout.get_ready(exchange, context).await?;
                return Request::new(exchange, context, Some(endpoint), false)?.carry_out(exchange, context).await;
            }
        };
        outcome.map_err(|fault| endpoint.sign(fault))
    })
}

/// Whether a message can be sent to an endpoint at the moment: to a group, as long as it can to one of its members.
pub(super) fn is_ready(endpoint: &Endpoint, definitions: &Definitions, clock: &dyn Transport, depth: usize) -> bool {
    if depth >= DEPTH_LIMIT || !endpoint.health.is_ready(clock) {
        return false;
    }
    let is_ready = |member: &EndpointRef| {
        member.find(definitions).is_some_and(|found| is_ready(found, definitions, clock, depth + 1))
    };
    match &endpoint.target {
        Target::Group(group) => group.members.iter().any(is_ready),
        Target::Recipients(list) => list.members().is_empty() || list.members().iter().any(is_ready),
        _ => true,
    }
}
