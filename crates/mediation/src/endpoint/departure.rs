//! A message that leaves: taken at the `send`, carried out when the flow has ended.

use std::sync::Arc;

use myelin_message::{Body, Message};

use super::request::Request;
use super::{Endpoint, deliver};
use crate::exchange::{Content, Exchange, Scene};
use crate::fault::{Fault, Outcome};
use crate::sequence::SequenceId;

/// What a `send` or `call` lets leave.
pub(crate) struct Departure {
    way: Way,
    /// The sequences that handle a failure, where any stand around the `send`.
    handlers: Vec<SequenceId>,
    /// The sequence that its response runs through, where that is not the service's own.
    pub(crate) receive: Option<SequenceId>,
}

enum Way {
    /// The request to a backend as it was at the `send`.
    Request(Box<Request>),
    /// The message as it was at the `send`, of which the endpoint makes requests when the flow has ended: some choose
    /// a backend only then, may have to choose another, or look at the body first.
    Parcel(Box<Parcel>),
}

struct Parcel {
    message: Message,
    content: Content,
    endpoint: Arc<Endpoint>,
}

/// Takes the message that `send` sends: to an endpoint, or to where the message is addressed.
///
/// `for_good` says that nobody looks at the message afterwards.
/// Errors: 303001 where the endpoint is a backend that is not to be tried at the moment, else the bus's.
pub(crate) fn depart(
    exchange: &mut Exchange,
    scene: &Scene<'_>,
    endpoint: Option<&Arc<Endpoint>>,
    for_good: bool,
) -> Outcome<Departure> {
    if matches!(exchange.message.body, Body::Gone) {
        return Err(Fault::bus("The message was sent already by another sequence"));
    }
    let way = match endpoint {
        Some(endpoint) if !endpoint.is_immediate() => Way::Parcel(Box::new(Parcel {
            content: exchange.content.clone(),
            message: exchange.set_aside(),
            endpoint: Arc::clone(endpoint),
        })),
        _ => Way::Request(Request::new(exchange, scene, endpoint, for_good)?),
    };
    Ok(Departure { way, handlers: exchange.handlers.clone(), receive: None })
}

impl Departure {
    /// Sends the message and puts the response in its place; `None` where the configuration wants no response, or where
    /// the exchange is to go on in the branches that it was split into.
    ///
    /// Errors: the backend's, or whoever's body it was; an endpoint's own handler comes before those around the `send`.
    pub(crate) async fn carry_out(self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Option<()>> {
        let outcome = match self.way {
            Way::Request(request) => request.carry_out(exchange, scene).await,
            Way::Parcel(parcel) => {
                let Parcel { message, content, endpoint } = *parcel;
                exchange.put_back(message, content);
                // Branches that it is split into run under the same handlers.
                let outer = std::mem::replace(&mut exchange.handlers, self.handlers.clone());
                let delivered = deliver(exchange, scene, &endpoint).await;
                exchange.handlers = outer;
                delivered
            }
        };
        outcome.map_err(|mut fault| {
            let mut handlers = self.handlers;
            handlers.extend(fault.handlers.take().unwrap_or_default());
            fault.handlers = Some(handlers);
            fault
        })
    }
}
