//! A request that leaves: made at the `send`, carried out when the flow has ended.

use std::sync::Arc;

use myelin_message::{Body, Message};

use super::authentication::Credentials;
use super::soap_fault;
use super::surroundings::{Departed, Surroundings};
use super::{Endpoint, Target, address, addressee, method, set_action};
use crate::exchange::{Direction, Exchange, Scene};
use crate::fault::{Fault, Outcome};
use crate::property::{Scope, slot};
use crate::sequence::SequenceId;
use crate::transport::{LocalFuture, Method, Outgoing, SendError, SendErrorKind};

/// A request on its way out.
pub(crate) struct Departure {
    outgoing: Outgoing,
    /// What the endpoint is told of the bus.
    credentials: Option<Credentials>,
    /// Whether its body is to be read first, so that it leaves with its length.
    wants_length: bool,
    after: Aftermath,
    /// The sequence that its response runs through, where that is not the service's own.
    pub(crate) receive: Option<SequenceId>,
}

/// What is needed of a request once it has been sent, or has failed.
struct Aftermath {
    /// Whether nobody waits for the response.
    out_only: bool,
    /// The sequences that handle a failure, where any stand around the `send`.
    handlers: Vec<SequenceId>,
    endpoint: Option<Arc<Endpoint>>,
}

/// Makes the request that `send` sends: to an endpoint, or to where the message is addressed.
pub(crate) fn depart(
    exchange: &mut Exchange,
    scene: &Scene<'_>,
    endpoint: Option<&Arc<Endpoint>>,
    for_good: bool,
) -> Outcome<Departure> {
    if matches!(exchange.message.body, Body::Gone) {
        return Err(Fault::bus("The message was sent already; sending it twice is not offered yet"));
    }
    let uri = match endpoint.map(|endpoint| (endpoint, &endpoint.target)) {
        Some((endpoint, Target::Address { uri, text })) => address(exchange, endpoint, uri, text)?,
        Some((_, Target::Http { template, .. })) => template.uri(exchange, scene)?,
        _ => addressee(exchange)?,
    };
    let own_method = match endpoint.map(|endpoint| &endpoint.target) {
        Some(Target::Http { method, .. }) => method.as_deref(),
        _ => None,
    };
    let method = method(exchange, own_method)?;
    let credentials = match endpoint.and_then(|endpoint| endpoint.surroundings.as_ref()) {
        Some(surroundings) => surroundings.credentials(exchange, scene)?,
        None => None,
    };
    let host = exchange.properties.get(Scope::Axis2, slot::REQUEST_HOST_HEADER).map(|host| host.text().into_owned());
    let mut message = exchange.take_message(for_good);
    exchange.shape(&mut message)?;
    set_action(exchange, &mut message)?;
    if let Method::Named(name) = &method
        && matches!(name.as_str(), "GET" | "HEAD")
    {
        // A message turned into one of these asks for something; its old body means nothing there.
        message.body = Body::Empty;
    }
    Ok(Departure {
        wants_length: exchange.wants_length(),
        after: Aftermath {
            out_only: exchange.properties.is_true(Scope::Default, slot::OUT_ONLY),
            handlers: exchange.handlers.clone(),
            endpoint: endpoint.cloned(),
        },
        credentials,
        outgoing: Outgoing {
            method,
            uri,
            head: message.head,
            body: message.body,
            timeout: endpoint.and_then(|endpoint| endpoint.timeout),
            host,
        },
        receive: None,
    })
}

impl Departure {
    /// Sends the request and puts the response in its place; `None` where the configuration wants no response.
    ///
    /// Errors: the backend's, or whoever's body it was; the handler is the one that stood around the `send`.
    pub(crate) async fn carry_out(
        mut self: Box<Self>,
        exchange: &mut Exchange,
        scene: &Scene<'_>,
    ) -> Outcome<Option<()>> {
        let prepared = self.prepare(exchange, scene).await;
        let (sending, after) = self.begin(scene);
        let sent = match prepared {
            Ok(departed) => sending.await.map(|response| (response, departed)).map_err(|error| after.fault(error)),
            Err(fault) => Err(fault),
        };
        let outcome = match sent {
            Ok(_) if after.out_only => return Ok(None),
            Ok((response, departed)) => {
                exchange.turn(response);
                match (after.surroundings(), departed) {
                    (Some(around), Some(departed)) => Box::pin(around.returned(exchange, scene, departed)).await,
                    _ => Ok(()),
                }
            }
            Err(fault) => Err(fault),
        };
        let outcome = match outcome {
            Ok(()) if soap_fault::matters(exchange) => Box::pin(soap_fault::refuse(exchange, scene)).await,
            outcome => outcome,
        };
        outcome.map(Some).map_err(|fault| after.sign(fault))
    }

    /// Makes the request what the endpoint wants and reads its body, as far as either is asked for.
    async fn prepare(&mut self, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Option<Departed>> {
        let departed = match self.after.surroundings().cloned() {
            Some(around) => {
                Some(Box::pin(around.depart(&mut self.outgoing, self.credentials.take(), exchange, scene)).await?)
            }
            None => None,
        };
        if self.wants_length {
            let is_response = exchange.direction == Direction::Response;
            let read = self.outgoing.body.bytes(scene.bus.settings.body_limit_bytes).await.map(drop);
            read.map_err(|error| Fault::body(&error, is_response))?;
        }
        Ok(departed)
    }

    /// Hands a request to the transport; a function of its own, so that no future holds the request twice.
    fn begin<'a>(self: Box<Self>, scene: &Scene<'a>) -> (LocalFuture<'a, Result<Message, SendError>>, Aftermath) {
        (scene.transport.send(self.outgoing), self.after)
    }
}

impl Aftermath {
    fn surroundings(&self) -> Option<&Arc<Surroundings>> {
        self.endpoint.as_ref()?.surroundings.as_ref()
    }

    fn fault(&self, error: SendError) -> Box<Fault> {
        let timed_out = error.kind == SendErrorKind::ResponseTimeout;
        let mut fault = Box::<Fault>::from(error);
        fault.discard = timed_out && self.endpoint.as_ref().is_some_and(|endpoint| endpoint.discard);
        fault
    }

    /// Says by whom a fault is handled and where it happened.
    fn sign(self, mut fault: Box<Fault>) -> Box<Fault> {
        fault.handlers = Some(self.handlers);
        if let Some(endpoint) = &self.endpoint {
            let space = if endpoint.name.is_empty() { "" } else { " " };
            fault.trail.push(format!("endpoint{space}{} ({})", endpoint.name, endpoint.place));
        }
        fault
    }
}
