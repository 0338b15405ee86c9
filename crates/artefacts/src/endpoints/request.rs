//! A request to one backend: made of the message, sent, and answered.

mod head;

use std::sync::Arc;

use myelin_message::{Body, Message, StatusCode};

use crate::endpoints::authentication::Credentials;
use crate::endpoints::endpoint::{Endpoint, EndpointKind, Endpoints};
use crate::endpoints::policy::{EndpointPolicy, SentState};
use crate::endpoints::{member, soap_fault};
use head::{address, addressee, method, set_action};
use myelin_content::coding;
use myelin_flow::context::RequestContext;
use myelin_flow::counters::{CallFailure, EndpointCounters};
use myelin_flow::exchange::{Direction, Exchange};
use myelin_flow::fault::{Fault, Origin, Outcome};
use myelin_flow::property::{Scope, slot};
use myelin_flow::recorder::{CalledEndpoint, Recorder};
use myelin_flow::reference::EndpointIdentity;
use myelin_flow::transport::{Address, LocalFuture, Method, Outgoing, SendError, SendErrorKind, Sent, Transport};

/// The codes of faults that say of a backend that it cannot be reached or does not answer.
const OF_SENDING: std::ops::RangeInclusive<u32> = 101500..=101509;

/// A request on its way out.
pub(super) struct Request {
    outgoing: Outgoing,
    /// What the endpoint is told of the bus.
    credentials: Option<Credentials>,
    /// Whether its body is to be read first, so that it leaves with its length.
    wants_length: bool,
    after: SendOutcome,
}

/// What is needed of a request once it has been sent, or has failed.
struct SendOutcome {
    /// Whether nobody waits for the response.
    out_only: bool,
    endpoint: Option<Arc<Endpoint>>,
}

impl Request {
    /// Makes the request to an endpoint that is no rule but a backend, or to where the message is addressed.
    ///
    /// `for_good` says that nobody looks at the message afterwards.
    /// Errors: 303001 while the endpoint is not to be tried, else the bus's.
    pub(super) fn new(
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
        endpoint: Option<&Arc<Endpoint>>,
        for_good: bool,
    ) -> Outcome<Box<Request>> {
        if let Some(endpoint) = endpoint
            && !endpoint.health.is_ready(context.transport)
        {
            return Err(endpoint.not_ready());
        }
        let address = match endpoint.map(|endpoint| (endpoint, &endpoint.kind)) {
            Some((endpoint, EndpointKind::Address { uri, text })) => {
                Address::Uri(address(exchange, endpoint, uri, text)?)
            }
            Some((_, EndpointKind::Other(text))) => Address::Other(Arc::clone(text)),
            Some((_, EndpointKind::Http { template, .. })) => Address::Uri(template.uri(exchange, context)?),
            Some((endpoint, EndpointKind::Described(described))) => {
                let spot = described.spot().ok_or_else(|| endpoint.not_ready())?;
                Address::Uri(address(exchange, endpoint, &spot.uri, &spot.text)?)
            }
            Some((_, EndpointKind::Member(member))) => Address::Uri(member::uri(member, exchange, context)?),
            _ => addressee(exchange, context)?,
        };
        let own_method = match endpoint.map(|endpoint| &endpoint.kind) {
            Some(EndpointKind::Http { method, .. }) => method.as_deref(),
            _ => None,
        };
        let method = method(exchange, own_method)?;
        let credentials = match endpoint.and_then(|endpoint| endpoint.policy.as_ref()) {
            Some(policy) => policy.credentials(exchange, context)?,
            None => None,
        };
        let timeout = match endpoint {
            Some(endpoint) => endpoint.timeout.of(exchange, context)?,
            None => context.definitions.settings.endpoints.timeout,
        };
        let host =
            exchange.properties.get(Scope::Axis2, slot::REQUEST_HOST_HEADER).map(|host| host.text().into_owned());
        exchange.last_endpoint = endpoint.map(|endpoint| Arc::clone(endpoint) as Arc<dyn EndpointIdentity>);
        let mut message = exchange.take_message(for_good);
        exchange.shape(&mut message)?;
        set_action(exchange, &mut message)?;
        if let Some(cookie) = exchange.properties.get(Scope::Default, slot::LB_COOKIE_HEADER) {
            message.head.set("Cookie", cookie.text().as_bytes())?;
        }
        if exchange.properties.is_true(Scope::Axis2, slot::FORCE_POST_PUT_NOBODY) {
            message.body = Body::Empty;
        }
        if let Method::Named(name) = &method
            && matches!(name.as_str(), "GET" | "HEAD")
        {
            // A message turned into one of these asks for something; its old body means nothing there.
            message.body = Body::Empty;
        }
        coding::accept_what_can_be_decoded(&mut message.head);
        if let Address::Other(_) = address {
            // No header line goes there that could say how the body is coded.
            coding::decode_message(&mut message.head, &mut message.body, context.definitions.settings.body_limit_bytes);
        }
        Ok(Box::new(Request {
            wants_length: exchange.wants_length(),
            after: SendOutcome {
                out_only: exchange.properties.is_true(Scope::Default, slot::OUT_ONLY),
                endpoint: endpoint.cloned(),
            },
            credentials,
            outgoing: Outgoing {
                method,
                address,
                head: message.head,
                body: message.body,
                timeout,
                host,
                manner: exchange.manner(),
            },
        }))
    }

    /// Sends the request and puts the response in its place; `None` where the configuration wants no response.
    ///
    /// Errors: the backend's, which the endpoint's state hears of, or whoever's body it was.
    pub(super) async fn carry_out(
        mut self: Box<Self>,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Option<()>> {
        let (sent, after) = match self.prepare(exchange, context).await {
            Ok(departed) => {
                let recorder = context.watch.recorder();
                if let Some(recorder) = recorder {
                    recorder.sends(self.after.called(), &mut self.outgoing);
                }
                let (sending, after) = self.begin(context);
                let began = context.watch.begin(context.transport);
                let mut sent = sending.await;
                if began.is_some() {
                    let counters = after.counters(context);
                    context.watch.asked(began, context.transport, counters, outcome_of(&sent));
                }
                if let Some(recorder) = recorder {
                    Box::pin(record(recorder, &mut sent, context)).await;
                }
                match sent {
                    Ok(response) => (Ok((response, departed)), after),
                    Err(error) => (Err(after.fault(error, context.transport)), after),
                }
            }
            Err(fault) => (Err(fault), self.after),
        };
        let outcome = match sent {
            Ok((Sent::Accepted, _)) => {
                after.succeeded();
                return Ok(None);
            }
            Ok((Sent::Response(response), _)) if after.wants_no(&response, exchange) => {
                after.succeeded();
                return Ok(None);
            }
            Ok((Sent::Response(response), departed)) => {
                exchange.set_response(response);
                match (after.policy(), departed) {
                    (Some(around), Some(departed)) => {
                        let outcome = Box::pin(around.returned(exchange, context, *departed)).await;
                        // An answer that comes in on its own may stay away, and a request may have been sent once more.
                        outcome.inspect_err(|fault| {
                            if OF_SENDING.contains(&fault.code) {
                                after.failed(fault, context.transport);
                            }
                        })
                    }
                    _ => Ok(()),
                }
            }
            Err(fault) => Err(fault),
        };
        let outcome = match outcome {
            Ok(()) if soap_fault::matters(exchange) => {
                let outcome = Box::pin(soap_fault::refuse(exchange, context)).await;
                outcome.inspect_err(|fault| after.failed(fault, context.transport))
            }
            outcome => outcome,
        };
        match outcome {
            Ok(()) => {
                after.succeeded();
                Ok(Some(()))
            }
            Err(fault) => Err(after.sign(fault)),
        }
    }

    /// Makes the request what the endpoint wants and reads its body, as far as either is asked for.
    async fn prepare(&mut self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Option<Box<SentState>>> {
        let has_outgoing_properties = exchange.has_outgoing_properties();
        if has_outgoing_properties {
            Box::pin(exchange.recode(&mut self.outgoing.head, &mut self.outgoing.body, context)).await?;
        }
        let departed = match self.after.policy().cloned() {
            Some(around) => {
                let departed = around.depart(&mut self.outgoing, self.credentials.take(), exchange, context);
                // Few have any: on the heap it does not make every exchange larger.
                Some(Box::new(Box::pin(departed).await?))
            }
            None => None,
        };
        if has_outgoing_properties {
            exchange.bare_content_type(&mut self.outgoing.head);
        }
        let is_known = !self.outgoing.manner.http10 && self.outgoing.body.length().is_some();
        if self.wants_length && !is_known {
            let is_response = exchange.direction == Direction::Response;
            let read = self.outgoing.body.bytes(context.definitions.settings.body_limit_bytes).await.map(drop);
            read.map_err(|error| Fault::body(&error, is_response))?;
        }
        Ok(departed)
    }

    /// Hands a request to the transport; a function of its own, so that no future holds the request twice.
    fn begin<'a>(
        self: Box<Self>,
        context: &RequestContext<'a>,
    ) -> (LocalFuture<'a, Result<Sent, SendError>>, SendOutcome) {
        (context.transport.send(self.outgoing), self.after)
    }
}

impl SendOutcome {
    /// Whether the configuration wants nothing of that response.
    fn wants_no(&self, response: &Message, exchange: &Exchange) -> bool {
        let is_accepted = response.status == StatusCode::ACCEPTED;
        self.out_only || (is_accepted && exchange.properties.is_true(Scope::Axis2, slot::IGNORE_SC_ACCEPTED))
    }

    fn policy(&self) -> Option<&Arc<EndpointPolicy>> {
        self.endpoint.as_ref()?.policy.as_ref()
    }

    /// What is counted of the endpoint; of an address that the message brought, what is counted of those without a name.
    fn counters<'a>(&'a self, context: &RequestContext<'a>) -> &'a EndpointCounters {
        match &self.endpoint {
            Some(endpoint) => &endpoint.counters,
            None => Endpoints::of(context.definitions).unnamed_counters(),
        }
    }

    /// The endpoint, as a recorder is told of it.
    fn called(&self) -> CalledEndpoint<'_> {
        match &self.endpoint {
            Some(endpoint) => {
                CalledEndpoint { name: &endpoint.name, place: Some(&endpoint.place), is_traced: endpoint.is_traced }
            }
            None => CalledEndpoint { name: "", place: None, is_traced: false },
        }
    }

    fn succeeded(&self) {
        if let Some(endpoint) = &self.endpoint {
            endpoint.health.succeeded(endpoint);
        }
    }

    /// What the client or the bus did wrong says nothing about the backend.
    fn failed(&self, fault: &Fault, clock: &dyn Transport) {
        if let Some(endpoint) = self.endpoint.as_ref().filter(|_| fault.origin == Origin::Backend) {
            endpoint.health.failed(endpoint, fault.code, clock.monotonic());
        }
    }

    fn fault(&self, error: SendError, clock: &dyn Transport) -> Box<Fault> {
        let timed_out = error.kind == SendErrorKind::ResponseTimeout;
        let nobody_there = {
            use SendErrorKind::{Address, ConnectFailed, ConnectTimeout};
            matches!(error.kind, Address | ConnectFailed | ConnectTimeout)
        };
        let mut fault = Box::<Fault>::from(error);
        self.failed(&fault, clock);
        fault.discard = timed_out && self.endpoint.as_ref().is_some_and(|endpoint| endpoint.discard);
        if let Some(EndpointKind::Described(described)) = self.endpoint.as_ref().map(|endpoint| &endpoint.kind)
            && nobody_there
        {
            described.failed();
        }
        fault
    }

    fn sign(&self, fault: Box<Fault>) -> Box<Fault> {
        match &self.endpoint {
            Some(endpoint) => endpoint.sign(fault),
            None => fault,
        }
    }
}

/// Tells a recorder what a request came to.
async fn record(recorder: &dyn Recorder, sent: &mut Result<Sent, SendError>, context: &RequestContext<'_>) {
    match sent {
        Ok(sent) => recorder.sent(Ok(sent)),
        Err(error) => recorder.sent(Err(error)),
    }
    if let Ok(Sent::Response(response)) = sent
        && let Some(future) = recorder.came(Direction::Response, &mut response.body, context.transport)
    {
        future.await;
    }
}

/// What a request came to, as it is counted.
fn outcome_of(sent: &Result<Sent, SendError>) -> Result<StatusCode, CallFailure> {
    use SendErrorKind as Kind;
    match sent {
        Ok(Sent::Response(response)) => Ok(response.status),
        Ok(Sent::Accepted) => Ok(StatusCode::ACCEPTED),
        Err(error) => Err(match error.kind {
            Kind::Address | Kind::ConnectFailed => CallFailure::Connect,
            Kind::ConnectTimeout | Kind::ResponseTimeout => CallFailure::Timeout,
            Kind::Closed | Kind::Sending => CallFailure::Closed,
            Kind::Protocol => CallFailure::Protocol,
            Kind::Refused | Kind::Request(_) | Kind::Overloaded => CallFailure::Other,
        }),
    }
}
