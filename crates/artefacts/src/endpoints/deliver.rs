//! Sends a message to an endpoint of whatever kind: a backend, or a rule that leads to one.
//!
//! What a `send` sends is taken there, and carried out when the flow has ended.

mod group;
mod recipients;

use std::any::Any;
use std::pin::pin;
use std::sync::Arc;

use myelin_message::{Body, Message};

use crate::endpoints::endpoint::{Endpoint, EndpointKind, EndpointRef, Endpoints};
use crate::endpoints::request::Request;
use crate::endpoints::resolve::Resolving;
use myelin_content::Content;
use myelin_expression::Need;
use myelin_flow::branches::{BranchResponse, called};
use myelin_flow::context::RequestContext;
use myelin_flow::definitions::Definitions;
use myelin_flow::exchange::{Decision, Exchange};
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::forms::render_body;
use myelin_flow::mediator::Flow;
use myelin_flow::reference::PendingSend;
use myelin_flow::transport::{LocalFuture, Transport};

/// The code of the fault where no member of a group of endpoints may be tried at the moment.
pub(super) const NONE_READY: u32 = 303000;

/// An endpoint in an endpoint in … deeper than this is a loop.
pub(super) const DEPTH_LIMIT: usize = 16;

/// What a delivery gives: `None` where the configuration wants no response, or where the exchange is to go on in the
/// branches that it was split into.
pub(super) type Delivered = Outcome<Option<()>>;

/// The message as it was at the `send`, of which the endpoint makes requests when the flow has ended: some choose a
/// backend only then, may have to choose another, or look at the body first.
struct PendingMessage {
    message: Message,
    content: Content,
    endpoint: Arc<Endpoint>,
}

/// Whether the message can leave for an endpoint as it is, for it has its form or is given one by the endpoint.
pub fn is_rendered_for(exchange: &Exchange, context: &RequestContext<'_>, endpoint: Option<&Arc<Endpoint>>) -> bool {
    exchange.has_its_form() || endpoint.is_some_and(|endpoint| endpoint.may_give_form(context.definitions, 0))
}

/// Brings the message into the form in which it leaves for an endpoint. An endpoint with a form of its own is given
/// the XML that was made, not what would be left of it in JSON.
///
/// Errors: as [`render_body`].
/// Source: Synapse's `Axis2FlexibleMEPClient`, where `format` takes the place of `messageType`.
pub async fn render_for(
    exchange: &mut Exchange,
    context: &RequestContext<'_>,
    endpoint: Option<&Arc<Endpoint>>,
) -> Outcome<()> {
    match is_rendered_for(exchange, context, endpoint) {
        true => Ok(()),
        false => render_body(exchange, context).await,
    }
}

/// Takes the message that `send` sends: to an endpoint, or to where the message is addressed.
///
/// `for_good` says that nobody looks at the message afterwards.
/// Errors: 303001 where the endpoint is a backend that is not to be tried at the moment, else the bus's.
pub fn depart(
    exchange: &mut Exchange,
    context: &RequestContext<'_>,
    endpoint: Option<&Arc<Endpoint>>,
    for_good: bool,
) -> Outcome<PendingSend> {
    if matches!(exchange.message.body, Body::Gone) {
        return Err(Fault::bus("The message was sent already by another sequence"));
    }
    let what: Box<dyn Any> = match endpoint {
        Some(endpoint) if !endpoint.is_immediate() => Box::new(PendingMessage {
            content: exchange.content.clone(),
            message: exchange.set_aside(),
            endpoint: Arc::clone(endpoint),
        }),
        // The request to a backend as it is now.
        _ => Request::new(exchange, context, endpoint, for_good)?,
    };
    Ok(PendingSend { what, handlers: exchange.handlers.clone(), receive: None })
}

/// Sends the message of a branch to an endpoint: at once where the flow wants its response, else when the flow has ended.
///
/// Errors: as [`depart`] and [`carry_out`]; of whoever sent a body that cannot be read.
pub(crate) async fn send_branch(
    endpoint: &EndpointRef,
    response: BranchResponse,
    exchange: &mut Exchange,
    context: &RequestContext<'_>,
) -> Outcome<Flow> {
    let endpoint = endpoint.find(context.definitions).ok_or_else(Fault::missing)?;
    render_for(exchange, context, Some(endpoint)).await?;
    if response.calls {
        let pending = depart(exchange, context, Some(endpoint), false)?;
        carry_out(pending, exchange, context).await?;
        return Ok(called(exchange));
    }
    let for_good = !exchange.guarded && exchange.handlers.is_empty();
    let mut pending = depart(exchange, context, Some(endpoint), for_good)?;
    pending.receive = response.receive;
    exchange.decision = Some(Decision::Forward(pending));
    Ok(Flow::Next)
}

/// Sends the message and puts the response in its place; `None` where the configuration wants no response, or where the
/// exchange is to go on in the branches that it was split into.
///
/// Errors: the backend's, or whoever's body it was; an endpoint's own handler comes before those around the `send`.
pub async fn carry_out(
    pending: PendingSend,
    exchange: &mut Exchange,
    context: &RequestContext<'_>,
) -> Outcome<Option<()>> {
    let PendingSend { what, handlers, .. } = pending;
    let outcome = match what.downcast::<Request>() {
        Ok(request) => pin!(request.carry_out(exchange, context)).await,
        Err(what) => {
            let pending = what.downcast::<PendingMessage>().map_err(|_| Fault::missing())?;
            let PendingMessage { message, content, endpoint } = *pending;
            exchange.put_back(message, content);
            // Branches that it is split into run under the same handlers.
            let outer = std::mem::replace(&mut exchange.handlers, handlers.clone());
            let delivered = deliver_at(0, exchange, context, &endpoint).await;
            exchange.handlers = outer;
            delivered
        }
    };
    outcome.map_err(|mut fault| {
        let mut handlers = handlers;
        handlers.extend(fault.handlers.take().unwrap_or_default());
        fault.handlers = Some(handlers);
        fault
    })
}

/// Sends the current message to an endpoint that is `depth` endpoints deep in others, and puts the response in its place.
///
/// Errors: of the backend that was tried last; 303000 and its like where none was.
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
        let outcome = match &endpoint.kind {
            EndpointKind::Alias(id) => {
                let endpoint = Endpoints::of(context.definitions).get(*id).ok_or_else(Fault::missing)?;
                return deliver_at(depth + 1, exchange, context, endpoint).await;
            }
            EndpointKind::Resolving(resolving) => {
                let name = resolving.name(exchange, context).await?;
                let found = Endpoints::of(context.definitions).find(name.trim());
                let found = found.ok_or_else(|| Resolving::not_found(&name))?;
                deliver_at(depth + 1, exchange, context, found).await
            }
            EndpointKind::Failing(fault) => return Err(endpoint.sign(fault.clone())),
            EndpointKind::Group(group) => group.deliver(depth, exchange, context, endpoint).await,
            EndpointKind::Recipients(list) => list.deliver(depth, exchange, context, endpoint).await,
            _ => {
                if let EndpointKind::Default = endpoint.kind {
                    Need::addressee().fulfil(exchange, context).await?;
                }
                if let EndpointKind::Described(described) = &endpoint.kind {
                    described.get_ready(context).await.map_err(|fault| endpoint.sign(fault))?;
                }
                if let EndpointKind::Http { template, .. } = &endpoint.kind {
                    template.get_ready(exchange, context).await?;
                }
                endpoint.timeout.get_ready(exchange, context).await?;
                if !endpoint.gives_form() {
                    render_body(exchange, context).await?;
                }
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
    match &endpoint.kind {
        EndpointKind::Group(group) => group.members.iter().any(is_ready),
        EndpointKind::Recipients(list) => list.members().is_empty() || list.members().iter().any(is_ready),
        _ => true,
    }
}
