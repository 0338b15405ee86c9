//! Takes one request at a time through a bus, and always gives an answer.

use std::cell::{Cell, OnceCell};
use std::future::{Future, poll_fn};
use std::net::{Ipv4Addr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use myelin_message::{Body, HeaderId, Message, StatusCode};

use crate::answer;
use crate::api::{self, Passed};
use crate::branch::{self, Stage};
use crate::bus::Bus;
use crate::content::take_form;
use crate::description;
use crate::dispatch::{Route, dispatch};
use crate::endpoint;
use crate::exchange::{Decision, Direction, Exchange, Format, Ground, Scene};
use crate::fault::{Fault, Origin, Outcome};
use crate::identity;
use crate::mediator::Flow;
use crate::priority::Priorities;
use crate::property::{Properties, Scope, slot};
use crate::replies;
use crate::sequence::Sequence;
use crate::service::Service;
use crate::task::{Target, Task};
use crate::transport::Transport;

/// How many requests to backends one exchange may make one after the other; more is a loop.
const HOP_LIMIT: usize = 16;

/// How many handlers one fault may run through; more is a loop.
const HANDLER_LIMIT: usize = 16;

/// Serves requests on one thread.
pub struct Engine {
    bus: Arc<Bus>,
    transport: Rc<dyn Transport>,
    counts: Rc<Counts>,
}

/// What is under way on one thread.
#[derive(Debug, Default)]
pub struct Counts {
    /// Requests that have no answer yet.
    pub exchanges: Cell<usize>,
    /// Flows beside the first one of their request, with an answer or without.
    pub branches: Cell<usize>,
}

/// An exchange counts as under way as long as this lives.
struct UnderWay<'a>(&'a Counts);

impl<'a> UnderWay<'a> {
    fn begin(counts: &'a Counts) -> UnderWay<'a> {
        counts.exchanges.set(counts.exchanges.get() + 1);
        UnderWay(counts)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.exchanges.set(self.0.exchanges.get() - 1);
    }
}

/// Cancels what runs beside a flow, when nobody waits for it any more.
struct Waiting<'a>(Option<&'a OnceCell<Rc<Stage>>>);

impl Waiting<'_> {
    /// There is an answer: what runs beside may go on without the client.
    fn over(mut self) {
        self.0 = None;
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(stage) = self.0.and_then(OnceCell::get) {
            stage.cancel();
        }
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
    /// The port of the inbound endpoint that it came to, if it is not one of the server itself.
    pub inbound: Option<u16>,
    /// What ties the log lines of this exchange together; may be empty.
    pub correlation: &'a str,
}

impl Engine {
    /// An engine for one thread; engines on other threads share the bus.
    pub fn new(bus: Arc<Bus>, transport: Rc<dyn Transport>) -> Engine {
        Engine { bus, transport, counts: Rc::default() }
    }

    /// The engine of the bus that takes this one's place on the same thread; both count together what is under way.
    pub fn renewed(&self, bus: Arc<Bus>) -> Engine {
        Engine { bus, transport: Rc::clone(&self.transport), counts: Rc::clone(&self.counts) }
    }

    /// Its way out.
    pub(crate) fn transport(&self) -> &dyn Transport {
        &*self.transport
    }

    /// The bus this engine serves.
    pub fn bus(&self) -> &Arc<Bus> {
        &self.bus
    }

    /// What is under way on its thread.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The surroundings of a first flow.
    pub(crate) fn scene<'a>(
        &'a self,
        service: Service<'a>,
        arrival: Arrival<'a>,
        stage: &'a OnceCell<Rc<Stage>>,
    ) -> Scene<'a> {
        let (bus, transport, counts) = (&*self.bus, &*self.transport, &*self.counts);
        Scene { bus, transport, arrival, service, counts, ground: Ground::Engine(self, stage) }
    }

    /// What the flows beside one with that scene stand on.
    pub(crate) fn stage(&self, scene: &Scene<'_>) -> Rc<Stage> {
        Stage::new(scene, Arc::clone(&self.bus), Rc::clone(&self.transport), Rc::clone(&self.counts))
    }

    /// Serves one request.
    ///
    /// Shape: the answer's head may still hold a backend's framing and hop-by-hop lines, which the transport drops;
    /// a body that nobody read is still on the backend's wire.
    /// Errors: none; whatever goes wrong is an answer with a status from 400 on, and one line in the log.
    pub async fn serve(&self, request: Message, arrival: Arrival<'_>) -> Message {
        self.answer(request, arrival, self.bus.settings.priorities.as_ref(), None).await
    }

    /// Serves what a flow of this bus sends to a service of it.
    ///
    /// It needs no turn of its own: who sent it has one, and would wait for itself.
    /// Shape and errors: as [`Engine::serve`].
    pub async fn serve_own(&self, request: Message, arrival: Arrival<'_>) -> Message {
        self.answer(request, arrival, None, None).await
    }

    /// Serves the message of a task, whose answer nobody gets; what goes wrong is in the log.
    pub(crate) async fn inject(&self, task: &Task) {
        let branches = &self.counts.branches;
        branches.set(branches.get() + 1);
        let nobody = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let correlation = identity::new(self.transport.now());
        let arrival = Arrival { peer: nobody, local: nobody, secure: false, inbound: None, correlation: &correlation };
        let service = match &task.target {
            Target::Sequence => Some(Service::Entrance(&task.entrance)),
            Target::Proxy(name) => self.bus.proxies.get(name).map(Service::Proxy),
        };
        match service {
            Some(service) => {
                let known = (service, task.properties());
                let mut answer = self.answer(task.injection.message(), arrival, None, Some(known)).await;
                // A backend's answer is read, so that its connection can be used again.
                let _ = answer.body.bytes(self.bus.settings.body_limit_bytes).await;
            }
            None => tracing::error!(target: "myelin::task", "task {}: its proxy is not offered", task.name()),
        }
        branches.set(branches.get() - 1);
    }

    async fn answer(
        &self,
        request: Message,
        arrival: Arrival<'_>,
        priorities: Option<&Priorities>,
        known: Option<(Service<'_>, Properties)>,
    ) -> Message {
        let _under_way = UnderWay::begin(&self.counts);
        let format = Format::of(request.head.known(HeaderId::ContentType));
        let mut mediation = pin!(self.mediate(request, &arrival, priorities, known));
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

    /// `known` is the service where it does not hang on the request, with the properties it starts with.
    async fn mediate(
        &self,
        mut request: Message,
        arrival: &Arrival<'_>,
        priorities: Option<&Priorities>,
        known: Option<(Service<'_>, Properties)>,
    ) -> Message {
        let bus = &*self.bus;
        let mut passed = Passed::default();
        let mut properties = Properties::default();
        let (service, postfix_start) = if let Some((service, brought)) = known {
            properties = brought;
            (service, usize::MAX)
        } else {
            match dispatch(bus, &request.head, arrival) {
                Route::Proxy(proxy, postfix_start) => (Service::Proxy(proxy), postfix_start),
                Route::Main(postfix_start) => (Service::Main, postfix_start),
                Route::Entrance(entrance, postfix_start) => {
                    properties = entrance.properties();
                    (Service::Entrance(entrance), postfix_start)
                }
                Route::Api(api, extent) => {
                    let entered =
                        api::enter(api, extent, &mut request, bus, &*self.transport, &mut passed, arrival).await;
                    match entered {
                        Ok((service, brought)) => {
                            properties = brought;
                            (service, extent.address_end)
                        }
                        Err(answer) => return passed.finish(*answer),
                    }
                }
                Route::Description(proxy, question_start) => {
                    let answer = description::answer(proxy, question_start, &request, bus, &*self.transport, arrival);
                    return Box::pin(answer).await;
                }
                Route::Reply => return Box::pin(replies::receive(request, bus)).await,
                Route::Nowhere => return answer::plain(StatusCode::NOT_FOUND, "Nothing is offered at this path"),
            }
        };
        let stage = OnceCell::new();
        let waiting = Waiting(Some(&stage));
        let scene = self.scene(service, *arrival, &stage);
        let mut exchange = Exchange::new(request);
        if let Some(types) = &bus.settings.content_types {
            exchange.understand(types);
        }
        exchange.properties = properties;
        exchange.postfix_start = postfix_start;
        exchange.guarded = service.fault(bus).is_some();
        // Whoever has to wait for its turn holds nothing but its connection.
        let turn = match priorities {
            None => Ok(None),
            Some(priorities) => {
                let turn = priorities.admit(service.name(), &exchange.message.head, &*self.transport);
                Box::pin(turn).await.map(Some)
            }
        };
        let _turn = match turn {
            Ok(turn) => turn,
            Err(fault) => return passed.finish(answer::from_fault(&told(fault, &scene), exchange.format)),
        };
        // As in Synapse, where Rampart stands before mediation, no sequence hears of what is refused here.
        let admitted = match service.security() {
            None => None,
            Some(security) => match Box::pin(security.admit(&mut exchange, &scene)).await {
                Ok(admitted) => Some(admitted),
                Err(fault) => return answer::from_fault(&told(fault, &scene), exchange.format),
            },
        };
        let chosen = match service.description() {
            Some(description) => Box::pin(description::choose(description, &mut exchange, &scene)).await,
            None => Ok(()),
        };
        let outcome = match chosen {
            Ok(()) => converse(&mut exchange, &scene, service.incoming(bus), true).await,
            Err(fault) => Ok(Some(answer::from_fault(&told(fault, &scene), exchange.format))),
        };
        let answer = match outcome {
            Ok(None) if stage.get().is_some() => Box::pin(answered_beside(&scene, exchange.format)).await,
            Ok(answer) => answer.unwrap_or_else(answer::accepted),
            // Faults are rare: on the heap they do not make every exchange larger.
            Err(fault) => {
                match Box::pin(recover(&mut exchange, &scene, fault)).await {
                    Ok(answer) => answer,
                    // A handler goes on in branches, whose answers come before the fault.
                    Err(fault) if stage.get().is_some() => {
                        scene.stage().fail(fault);
                        Box::pin(answered_beside(&scene, exchange.format)).await
                    }
                    Err(fault) => answer::from_fault(&fault, exchange.format),
                }
            }
        };
        waiting.over();
        let answer = passed.finish(if exchange.accepted { answer::accepted() } else { answer });
        match admitted {
            Some(admitted) => Box::pin(admitted.secure(answer, exchange.format, &scene)).await,
            None => answer,
        }
    }
}

/// The first answer that the flows beside the first one give, which gave none.
async fn answered_beside(scene: &Scene<'_>, format: Format) -> Message {
    match scene.stage().answered().await {
        Ok(answer) => answer.unwrap_or_else(answer::accepted),
        Err(fault) => answer::from_fault(&fault, format),
    }
}

/// Runs a sequence and everything that follows from it; `None` where nobody answered.
///
/// `implicit` says whether what no sequence sends goes to the service's own endpoint.
pub(crate) async fn converse(
    exchange: &mut Exchange,
    scene: &Scene<'_>,
    first: Option<&Sequence>,
    implicit: bool,
) -> Outcome<Option<Message>> {
    let flow = run(first, exchange, scene).await?;
    carry_on(exchange, scene, flow, implicit).await
}

/// What follows where a sequence ended with `flow`: what it sent, the sequences for the responses, the answer.
pub(crate) async fn carry_on(
    exchange: &mut Exchange,
    scene: &Scene<'_>,
    mut flow: Flow,
    mut implicit: bool,
) -> Outcome<Option<Message>> {
    let service = scene.service;
    for _ in 0..HOP_LIMIT {
        if flow == Flow::Split {
            branch::carry_on(exchange, scene, implicit);
            flow = Flow::Drop;
        }
        // What was sent first counts: a `respond` behind a `send` finds the message gone.
        let departure = match exchange.decision.take() {
            Some(Decision::Answer(mut message)) => {
                finish(exchange, scene, &mut message).await?;
                return Ok(Some(message));
            }
            Some(Decision::Forward(departure)) => departure,
            None if flow == Flow::Loopback => {
                implicit = false;
                exchange.loop_back();
                flow = follow(service.outgoing(scene.bus), exchange, scene).await?;
                continue;
            }
            None if flow == Flow::Respond || is_answer(exchange, scene, flow, implicit) => {
                take_form(exchange, scene).await?;
                let mut message = exchange.answer(true)?;
                finish(exchange, scene, &mut message).await?;
                return Ok(Some(message));
            }
            None if implicit && flow == Flow::Next => match service.endpoint(scene.bus) {
                Some(endpoint) => {
                    take_form(exchange, scene).await?;
                    let for_good = !exchange.guarded;
                    endpoint::depart(exchange, scene, Some(endpoint), for_good)?
                }
                None => return Ok(None),
            },
            None => return Ok(None),
        };
        implicit = false;
        let receive = match departure.receive {
            Some(receive) => Some(receive),
            None => exchange.take_receiver(scene)?,
        };
        exchange.promise();
        if departure.carry_out(exchange, scene).await?.is_none() {
            if let Some(split) = &mut exchange.split {
                split.receive(receive);
                flow = Flow::Split;
                continue;
            }
            // A branch that wants no response leaves the answer to the others.
            let is_branch = matches!(scene.ground, Ground::Stage(_));
            return Ok((!is_branch).then(answer::accepted));
        }
        let next = match receive {
            Some(id) => Some(scene.bus.sequence(id).ok_or_else(missing)?),
            None => service.outgoing(scene.bus),
        };
        flow = follow(next, exchange, scene).await?;
    }
    Err(Fault::bus(format!("The message was sent on more than {HOP_LIMIT} times")))
}

/// Runs the sequence for a response; without one the response is the answer.
async fn follow(next: Option<&Sequence>, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
    exchange.answering = true;
    match next {
        Some(_) => run(next, exchange, scene).await,
        None => Ok(Flow::Respond),
    }
}

/// Whether what a flow ended with is the answer though nobody sent it: a fault, where no endpoint would get it.
fn is_answer(exchange: &Exchange, scene: &Scene<'_>, flow: Flow, implicit: bool) -> bool {
    exchange.faulted.is_some() && flow == Flow::Next && !(implicit && scene.service.endpoint(scene.bus).is_some())
}

/// Runs a sequence to its end.
pub(crate) async fn run(sequence: Option<&Sequence>, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
    let Some(sequence) = sequence else { return Ok(Flow::Next) };
    exchange.last = true;
    exchange.depth = 0;
    let (exchange, outcome) = sequence.run(exchange, scene).finish().await;
    settled(outcome, exchange, scene)
}

/// What a flow ended with, once it is settled what becomes of a message that it sent before.
pub(crate) fn settled(outcome: Outcome<Flow>, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
    match outcome {
        // What was sent is on its way: a failure behind it concerns the log, not the client.
        Err(fault) if exchange.decision.is_some() => {
            log(&fault, &scene.arrival);
            Ok(Flow::Next)
        }
        outcome => outcome,
    }
}

/// Makes an answer what the configuration wants, and reads its body where its length is to be told and nobody knows it.
async fn finish(exchange: &Exchange, scene: &Scene<'_>, message: &mut Message) -> Outcome<()> {
    if matches!(message.body, Body::Gone) {
        return Ok(());
    }
    if exchange.is_steered() {
        // Few are: on the heap it does not make every exchange larger.
        Box::pin(exchange.steer_answer(message, scene)).await?;
    }
    if exchange.wants_length() && message.body.length().is_none() {
        let is_response = exchange.direction == Direction::Response;
        let read = message.body.bytes(scene.bus.settings.body_limit_bytes).await.map(drop);
        read.map_err(|error| Fault::body(&error, is_response))?;
    }
    Ok(())
}

/// Lets the handlers of a fault answer it, the nearest first.
///
/// As in Synapse, the next handler runs where one fails itself, and the service's own fault sequence is the last.
/// Errors: the fault itself, where none of them answers; the log has been told.
pub(crate) async fn recover(exchange: &mut Exchange, scene: &Scene<'_>, fault: Box<Fault>) -> Outcome<Message> {
    let first = told(fault, scene);
    let mut last = scene.service.fault(scene.bus).filter(|_| !first.discard);
    let mut handlers = first.handlers.clone().filter(|_| !first.discard).unwrap_or_default();
    let mut second: Option<Box<Fault>> = None;
    for _ in 0..HANDLER_LIMIT {
        let handler = match handlers.pop() {
            Some(id) => scene.bus.sequence(id),
            None => last.take(),
        };
        let Some(handler) = handler else { break };
        let fault = second.as_ref().unwrap_or(&first);
        exchange.describe(fault);
        exchange.decision = None;
        exchange.handlers = handlers;
        match Box::pin(converse(exchange, scene, Some(handler), false)).await {
            Ok(Some(message)) => return Ok(handled(message, fault, exchange)),
            Ok(None) => break,
            Err(mut another) => {
                log(&another, &scene.arrival);
                handlers = another.handlers.take().unwrap_or_default();
                second = Some(another);
            }
        }
    }
    Err(first)
}

/// The answer of a handler.
fn handled(message: Message, fault: &Fault, exchange: &Exchange) -> Message {
    if !matches!(message.body, Body::Gone) {
        return message;
    }
    // The handler answers with the message that failed, whose body is spent: the fault takes its place.
    let mut answer = answer::from_fault(fault, exchange.format);
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

/// A fault that has come all its way, which the log has been told.
fn told(mut fault: Box<Fault>, scene: &Scene<'_>) -> Box<Fault> {
    let service = scene.service;
    let place = service.place(scene.bus).map(|place| format!(" ({place})")).unwrap_or_default();
    fault.trail.push(format!("{} {}{place}", service.kind(), service.name()));
    log(&fault, &scene.arrival);
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
    let code = fault.error_code();
    let line = format_args!(
        "ERROR_CODE = {}, ERROR_MESSAGE = {}, DIRECTION = {}, CAUSE_OF_ERROR = {}, CORRELATION_ID = {}, CLIENT = {}, AT = {}",
        code.text(),
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
