//! How mediators send a message to an endpoint and wait for its response.

pub(crate) mod blocking;
mod payload;
pub(crate) mod response;

pub(crate) use payload::Payload;

use crate::endpoints::{self, EndpointRef};
use myelin_expression::Need;
use myelin_flow::branches::Split;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::Receiver;

/// Why only a call whose answer takes the place of the message can go to a list of recipients.
pub(crate) const ONE_ANSWER_NEEDED: &str = "A list of recipients has more than one answer: a <send> can go there, and a <call> that is \
                             neither blocking nor has a target";

/// The endpoint that a message is sent to, for the effect of a mediator.
pub(crate) fn receiver(endpoint: Option<&EndpointRef>) -> Receiver<'_> {
    endpoint.map_or(Receiver::Addressee, |endpoint| Receiver::Endpoint(endpoint))
}

/// Sends a message to an endpoint, and puts the response in its place; says whether there is one.
///
/// Errors: a list of recipients has more than one; else as [`send_or_split`].
pub(crate) async fn send(
    exchange: &mut Exchange,
    endpoint: Option<&EndpointRef>,
    context: &RequestContext<'_>,
) -> Outcome<bool> {
    let answered = send_or_split(exchange, endpoint, context).await?;
    match Split::take(exchange) {
        Some(_) => Err(Fault::bus(ONE_ANSWER_NEEDED)),
        None => Ok(answered),
    }
}

/// The same, save that a list of recipients leaves the branches in the exchange that it is to go on in.
pub(crate) async fn send_or_split(
    exchange: &mut Exchange,
    endpoint: Option<&EndpointRef>,
    context: &RequestContext<'_>,
) -> Outcome<bool> {
    let endpoint = match endpoint {
        Some(endpoint) => Some(endpoint.find(context.definitions).ok_or_else(Fault::missing)?),
        None => {
            Need::addressee().fulfil(exchange, context).await?;
            None
        }
    };
    endpoints::render_for(exchange, context, endpoint).await?;
    let departure = endpoints::depart(exchange, context, endpoint, false)?;
    Ok(endpoints::carry_out(departure, exchange, context).await?.is_some())
}
