//! A message that leaves: taken at the `send`, carried out when the flow has ended.

use std::any::Any;
use std::sync::Arc;

use myelin_message::{Body, Message};

use crate::endpoints::request::Request;
use crate::endpoints::{Endpoint, EndpointRef, deliver};
use myelin_content::Content;
use myelin_flow::branches::{BranchResponse, called};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::{Decision, Exchange};
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::forms::render_body;
use myelin_flow::mediator::Flow;
use myelin_flow::reference::PendingSend;

/// The message as it was at the `send`, of which the endpoint makes requests when the flow has ended: some choose a
/// backend only then, may have to choose another, or look at the body first.
struct PendingMessage {
    message: Message,
    content: Content,
    endpoint: Arc<Endpoint>,
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
    render_body(exchange, context).await?;
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
        Ok(request) => request.carry_out(exchange, context).await,
        Err(what) => {
            let parcel = what.downcast::<PendingMessage>().map_err(|_| Fault::missing())?;
            let PendingMessage { message, content, endpoint } = *parcel;
            exchange.put_back(message, content);
            // Branches that it is split into run under the same handlers.
            let outer = std::mem::replace(&mut exchange.handlers, handlers.clone());
            let delivered = deliver(exchange, context, &endpoint).await;
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
