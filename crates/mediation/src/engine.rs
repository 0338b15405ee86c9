//! Takes one request at a time through a bus, and always gives an answer.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use myelin_message::{Body, HeaderId, Message, StatusCode};

use crate::answer;
use crate::bus::Bus;
use crate::config::Place;
use crate::dispatch::{Route, dispatch};
use crate::endpoint::{self, Aftermath, EndpointRef, Forward};
use crate::exchange::{Decision, Direction, Exchange, Format, Scene};
use crate::fault::{Fault, Origin, Outcome};
use crate::mediator::Flow;
use crate::property::{Scope, slot};
use crate::security::{Departed, ProxySecurity};
use crate::sequence::Sequence;
use crate::transport::{LocalFuture, SendError, SendErrorKind, Transport};

/// How many requests to backends one exchange may make one after the other; more is a loop.
const HOP_LIMIT: usize = 16;

/// Serves requests on one thread.
pub struct Engine {
    bus: Arc<Bus>,
    transport: Rc<dyn Transport>,
    /// How many exchanges are under way.
    under_way: Cell<usize>,
}

/// An exchange counts as under way as long as this lives.
struct UnderWay<'a>(&'a Cell<usize>);

impl<'a> UnderWay<'a> {
    fn begin(count: &'a Cell<usize>) -> UnderWay<'a> {
        count.set(count.get() + 1);
        UnderWay(count)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// What the transport knows of a request apart from the message.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The client's address.
    pub peer: SocketAddr,
    /// The address it connected to.
    pub local: SocketAddr,
    /// Whether it came over TLS.
    pub secure: bool,
    /// What ties the log lines of this exchange together; may be empty.
    pub correlation: &'a str,
}

/// What serves an exchange: a proxy, or `main`.
struct Service<'a> {
    kind: &'static str,
    name: &'a str,
    place: Option<&'a Place>,
    incoming: Option<&'a Sequence>,
    outgoing: Option<&'a Sequence>,
    fault: Option<&'a Sequence>,
    endpoint: Option<&'a EndpointRef>,
    security: Option<&'a ProxySecurity>,
}

impl Engine {
    /// An engine for one thread; engines on other threads share the bus.
    pub fn new(bus: Arc<Bus>, transport: Rc<dyn Transport>) -> Engine {
        Engine { bus, transport, under_way: Cell::new(0) }
    }

    /// The bus this engine serves.
    pub fn bus(&self) -> &Arc<Bus> {
        &self.bus
    }

    /// Serves one request.
    ///
    /// Shape: the answer's head may still hold a backend's framing and hop-by-hop lines, which the transport drops;
    /// a body that nobody read is still on the backend's wire.
    /// Errors: none; whatever goes wrong is an answer with a status from 400 on, and one line in the log.
    pub async fn serve(&self, request: Message, arrival: Arrival<'_>) -> Message {
        let _under_way = UnderWay::begin(&self.under_way);
        let format = Format::of(request.head.known(HeaderId::ContentType));
        let mut mediation = pin!(self.mediate(request, &arrival));
        poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| mediation.as_mut().poll(cx))) {
            Ok(poll) => poll,
            // A defect in one exchange ends that exchange: nothing of it is shared with the others.
            Err(_) => {
                let fault = Fault::bus("The bus failed while it served this request");
                log(&fault, &arrival);
                Poll::Ready(answer::from_fault(&fault, format))
            }
        })
        .await
    }

    async fn mediate(&self, request: Message, arrival: &Arrival<'_>) -> Message {
        let bus = &*self.bus;
        let scene = Scene { bus, transport: &*self.transport, arrival, under_way: &self.under_way };
        let route = dispatch(bus, request.head.method(), request.head.target(), arrival);
        let mut exchange = Exchange::new(request);
        let service = match route {
            Route::Proxy(proxy, postfix_start) => {
                exchange.proxy = Some(Arc::clone(&proxy.name));
                exchange.postfix_start = postfix_start;
                Service {
                    kind: "proxy",
                    name: &proxy.name,
                    place: Some(&proxy.place),
                    incoming: proxy.in_sequence.as_ref().and_then(|sequence| sequence.find(bus)),
                    outgoing: proxy.out_sequence.as_ref().and_then(|sequence| sequence.find(bus)),
                    fault: proxy.fault_sequence.as_ref().and_then(|sequence| sequence.find(bus)),
                    endpoint: proxy.endpoint.as_ref(),
                    security: proxy.security.as_ref(),
                }
            }
            Route::Main(postfix_start) => {
                exchange.postfix_start = postfix_start;
                let main = bus.main.and_then(|id| bus.sequence(id));
                Service {
                    kind: "sequence",
                    name: "main",
                    place: main.map(|main| &main.place),
                    incoming: main,
                    outgoing: main,
                    fault: None,
                    endpoint: None,
                    security: None,
                }
            }
            Route::Description => return answer::plain(StatusCode::NOT_FOUND, "Descriptions are not offered yet"),
            Route::Nowhere => return answer::plain(StatusCode::NOT_FOUND, "Nothing is offered at this path"),
        };
        let fallback = bus.fault.and_then(|id| bus.sequence(id));
        let service = Service { fault: service.fault.or(fallback), ..service };
        exchange.guarded = service.fault.is_some();
        // As in Synapse, where Rampart stands before mediation, no sequence hears of what is refused here.
        let admitted = match service.security {
            None => None,
            Some(security) => match Box::pin(security.admit(&mut exchange, &scene)).await {
                Ok(admitted) => Some(admitted),
                Err(fault) => return answer::from_fault(&told(fault, &service, arrival), exchange.format),
            },
        };
        let answer = match converse(&mut exchange, &scene, &service, service.incoming, true).await {
            Ok(answer) => answer.unwrap_or_else(answer::accepted),
            // Faults are rare: on the heap they do not make every exchange larger.
            Err(fault) => Box::pin(recover(&mut exchange, &scene, &service, fault)).await,
        };
        let answer = if exchange.accepted { answer::accepted() } else { answer };
        match admitted {
            Some(admitted) => Box::pin(admitted.secure(answer, exchange.format, &scene)).await,
            None => answer,
        }
    }
}

/// Runs a sequence and everything that follows from it; `None` where nobody answered.
async fn converse(
    exchange: &mut Exchange,
    scene: &Scene<'_>,
    service: &Service<'_>,
    first: Option<&Sequence>,
    implicit: bool,
) -> Outcome<Option<Message>> {
    let mut flow = run(first, exchange, scene).await?;
    let mut implicit = implicit;
    for _ in 0..HOP_LIMIT {
        // What was sent first counts: a `respond` behind a `send` finds the message gone.
        let forward = match exchange.decision.take() {
            Some(Decision::Answer(mut message)) => {
                finish(exchange, scene, &mut message).await?;
                return Ok(Some(message));
            }
            Some(Decision::Forward(forward)) => forward,
            None if flow == Flow::Respond || is_answer(exchange, service, flow, implicit) => {
                let mut message = exchange.answer(true)?;
                finish(exchange, scene, &mut message).await?;
                return Ok(Some(message));
            }
            None if implicit && flow == Flow::Next => match service.endpoint {
                Some(endpoint) => {
                    let endpoint = endpoint.find(scene.bus).ok_or_else(missing)?;
                    Box::new(endpoint::forward(exchange, scene, Some(endpoint), !exchange.guarded)?)
                }
                None => return Ok(None),
            },
            None => return Ok(None),
        };
        implicit = false;
        if send(exchange, scene, forward).await?.is_none() {
            return Ok(Some(answer::accepted()));
        }
        match service.outgoing {
            Some(outgoing) => flow = run(Some(outgoing), exchange, scene).await?,
            None => flow = Flow::Respond,
        }
    }
    Err(Fault::bus(format!("The message was sent on more than {HOP_LIMIT} times")))
}

/// Whether what a flow ended with is the answer though nobody sent it: a fault, where no endpoint would get it.
fn is_answer(exchange: &Exchange, service: &Service<'_>, flow: Flow, implicit: bool) -> bool {
    exchange.faulted.is_some() && flow == Flow::Next && !(implicit && service.endpoint.is_some())
}

async fn run(sequence: Option<&Sequence>, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
    let Some(sequence) = sequence else { return Ok(Flow::Next) };
    exchange.last = true;
    exchange.depth = 0;
    let (exchange, outcome) = sequence.run(exchange, scene).finish().await;
    match outcome {
        // What was sent is on its way: a failure behind it concerns the log, not the client.
        Err(fault) if exchange.decision.is_some() => {
            log(&fault, scene.arrival);
            Ok(Flow::Next)
        }
        outcome => outcome,
    }
}

/// Sends a request and puts the response in its place; `None` where the configuration wants no response.
async fn send(exchange: &mut Exchange, scene: &Scene<'_>, mut forward: Box<Forward>) -> Outcome<Option<()>> {
    if exchange.properties.is_true(Scope::Axis2, slot::FORCE_SC_ACCEPTED) {
        exchange.accepted = true;
    }
    let is_response = exchange.direction == Direction::Response;
    let prepared = prepare(&mut forward, scene, is_response).await;
    let (sending, after) = begin(*forward, scene);
    let Aftermath { out_only, discard, handler, endpoint, security } = after;
    let outcome = match prepared {
        Ok(departed) => sending.await.map(|response| (response, departed)).map_err(|error| {
            let timed_out = error.kind == SendErrorKind::ResponseTimeout;
            let mut fault = Box::<Fault>::from(error);
            fault.discard = discard && timed_out;
            fault
        }),
        Err(fault) => Err(fault),
    };
    let outcome = match outcome {
        Ok(_) if out_only => return Ok(None),
        Ok((response, departed)) => {
            exchange.turn(response);
            match (security, departed) {
                (Some(security), Some(departed)) => Box::pin(security.returned(exchange, scene, departed)).await,
                _ => Ok(()),
            }
        }
        Err(fault) => Err(fault),
    };
    outcome.map(Some).map_err(|mut fault| {
        fault.handler = handler;
        if let Some((name, place)) = endpoint {
            let name = if name.is_empty() { String::new() } else { format!(" {name}") };
            fault.trail.push(format!("endpoint{name} ({place})"));
        }
        fault
    })
}

/// Secures the body of a request and reads it, as far as either is asked for.
async fn prepare(forward: &mut Forward, scene: &Scene<'_>, is_response: bool) -> Outcome<Option<Departed>> {
    let departed = match &forward.after.security {
        Some(security) => Some(Box::pin(security.depart(&mut forward.outgoing, scene, is_response)).await?),
        None => None,
    };
    if forward.wants_length {
        let read = forward.outgoing.body.bytes(scene.bus.settings.body_limit_bytes).await.map(drop);
        read.map_err(|error| Fault::body(&error, is_response))?;
    }
    Ok(departed)
}

/// Hands a request to the transport; a function of its own, so that no future holds the request twice.
fn begin<'a>(forward: Forward, scene: &Scene<'a>) -> (LocalFuture<'a, Result<Message, SendError>>, Aftermath) {
    (scene.transport.send(forward.outgoing), forward.after)
}

/// Reads an answer's body where the configuration wants its length told.
async fn finish(exchange: &Exchange, scene: &Scene<'_>, message: &mut Message) -> Outcome<()> {
    if exchange.wants_length() && !matches!(message.body, Body::Gone) {
        let is_response = exchange.direction == Direction::Response;
        let read = message.body.bytes(scene.bus.settings.body_limit_bytes).await.map(drop);
        read.map_err(|error| Fault::body(&error, is_response))?;
    }
    Ok(())
}

/// Lets the nearest handler answer a fault; where none does, the fault itself is the answer.
async fn recover(exchange: &mut Exchange, scene: &Scene<'_>, service: &Service<'_>, fault: Box<Fault>) -> Message {
    let fault = told(fault, service, scene.arrival);
    let handler = fault.handler.and_then(|id| scene.bus.sequence(id)).or(service.fault).filter(|_| !fault.discard);
    let Some(handler) = handler else { return answer::from_fault(&fault, exchange.format) };
    exchange.describe(&fault);
    exchange.decision = None;
    exchange.on_error = None;
    match converse(exchange, scene, service, Some(handler), false).await {
        // The handler answers with the message that failed, whose body is spent: the fault takes its place.
        Ok(Some(message)) if matches!(message.body, Body::Gone) => {
            let mut answer = answer::from_fault(&fault, exchange.format);
            if exchange.properties.get(Scope::Axis2, slot::HTTP_SC).is_some() {
                answer.status = message.status;
                answer.reason = message.reason;
            }
            // What the handler set in the head stays; only what described the old body cannot.
            let described = std::mem::replace(&mut answer.head, message.head);
            answer.head.remove("Content-Encoding");
            if let Some(content_type) = described.known(HeaderId::ContentType) {
                // What stood in one head can stand in another.
                let _ = answer.head.set("Content-Type", content_type);
            }
            answer
        }
        Ok(Some(message)) => message,
        Ok(None) => answer::from_fault(&fault, exchange.format),
        Err(second) => {
            log(&second, scene.arrival);
            answer::from_fault(&fault, exchange.format)
        }
    }
}

/// A fault that has come all its way, which the log has been told.
fn told(mut fault: Box<Fault>, service: &Service<'_>, arrival: &Arrival<'_>) -> Box<Fault> {
    let place = service.place.map(|place| format!(" ({place})")).unwrap_or_default();
    fault.trail.push(format!("{} {}{place}", service.kind, service.name));
    log(&fault, arrival);
    fault
}

/// What is left when a reference that was checked when loading does not hold: never, and then it is ours.
pub(crate) fn missing() -> Box<Fault> {
    Fault::bus("A reference of the configuration does not hold")
}

/// One line for each fault, with the words that people search Synapse's logs for.
pub(crate) fn log(fault: &Fault, arrival: &Arrival<'_>) {
    let trail = fault.trail.iter().rev().map(String::as_str).collect::<Vec<_>>().join(" → ");
    let cause = fault.detail.as_deref().unwrap_or(&fault.message);
    let line = format_args!(
        "ERROR_CODE = {}, ERROR_MESSAGE = {}, DIRECTION = {}, CAUSE_OF_ERROR = {}, CORRELATION_ID = {}, CLIENT = {}, AT = {}",
        fault.code,
        fault.message,
        fault.direction(),
        cause,
        arrival.correlation,
        arrival.peer,
        trail
    );
    match fault.origin {
        Origin::Bus => tracing::error!(target: "myelin::fault", "{line}"),
        _ => tracing::warn!(target: "myelin::fault", "{line}"),
    }
}
