//! What follows where a sequence ended: what it sent, the sequences for responses and faults, the answer.

use std::pin::pin;

use myelin_message::{Body, HeaderId, Message};

use crate::branch;
use crate::engine::record::ExchangeRecord;
use crate::engine::{EngineContext, FlowKind};
use myelin_artefacts::endpoints;
use myelin_content::Format;
use myelin_flow::answer;
use myelin_flow::branches::Split;
use myelin_flow::exchange::{Decision, Direction, Exchange};
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::forms::render_body;
use myelin_flow::mediator::Flow;
use myelin_flow::property::{Scope, slot};
use myelin_flow::sequence::{self, Sequence};

/// How many requests to backends one exchange may make one after the other; more is a loop.
const HOP_LIMIT: usize = 16;

/// How many handlers one fault may run through; more is a loop.
const HANDLER_LIMIT: usize = 16;

/// The first answer that the flows beside the first one give, which gave none.
pub(super) async fn answered_beside(
    engine: &EngineContext<'_>,
    format: Format,
    record: Option<&ExchangeRecord>,
) -> Message {
    match engine.branch_context().answered().await {
        Ok(answer) => {
            if let Some(record) = record {
                record.answered.set(answer.is_some());
            }
            answer.unwrap_or_else(answer::accepted)
        }
        Err(fault) => {
            engine.context.watch.fault_beside();
            if let Some(record) = record {
                record.fail(&fault);
            }
            answer::from_fault(&fault, format)
        }
    }
}

/// Runs a sequence and everything that follows from it; `None` where nobody answered.
///
/// `implicit` says whether what no sequence sends goes to the service's own endpoint.
pub(crate) async fn converse(
    exchange: &mut Exchange,
    engine: &EngineContext<'_>,
    first: Option<&Sequence>,
    implicit: bool,
) -> Outcome<Option<Message>> {
    let flow = match first {
        Some(_) => sequence::run(first, exchange, &engine.context).await?,
        None => Flow::Next,
    };
    pin!(carry_on(exchange, engine, flow, implicit)).await
}

/// What follows where a sequence ended with `flow`: what it sent, the sequences for the responses, the answer.
pub(crate) async fn carry_on(
    exchange: &mut Exchange,
    engine: &EngineContext<'_>,
    mut flow: Flow,
    mut implicit: bool,
) -> Outcome<Option<Message>> {
    let service = engine.service;
    for _ in 0..HOP_LIMIT {
        if flow == Flow::Split {
            let meeting = branch::carry_on(exchange, engine, implicit);
            flow = Flow::Drop;
            if let Some(meeting) = meeting {
                // Others need the room that a branch had which is split itself.
                exchange.permits = (None, None);
                Box::pin(meeting.wait(engine)).await?;
            }
        }
        // What was sent first counts: a `respond` behind a `send` finds the message gone.
        let departure = match exchange.decision.take() {
            Some(Decision::Answer(mut message)) => {
                finish(exchange, engine, &mut message).await?;
                return Ok(Some(message));
            }
            Some(Decision::Forward(departure)) => departure,
            None if flow == Flow::Loopback => {
                implicit = false;
                exchange.loop_back();
                flow = follow(service.outgoing(engine.bus), exchange, engine).await?;
                continue;
            }
            None if flow == Flow::Respond || is_answer(exchange, engine, flow, implicit) => {
                render_body(exchange, &engine.context).await?;
                let mut message = exchange.answer(true)?;
                finish(exchange, engine, &mut message).await?;
                return Ok(Some(message));
            }
            None if implicit && flow == Flow::Next => match service.endpoint(engine.bus) {
                Some(endpoint) => {
                    endpoints::render_for(exchange, &engine.context, Some(endpoint)).await?;
                    let for_good = !exchange.guarded;
                    endpoints::depart(exchange, &engine.context, Some(endpoint), for_good)?
                }
                None => return Ok(None),
            },
            None => return Ok(None),
        };
        implicit = false;
        let receive = match departure.receive {
            Some(receive) => Some(receive),
            None => exchange.take_receiver(&engine.context)?,
        };
        exchange.note_forced_accept();
        let sent = pin!(endpoints::carry_out(departure, exchange, &engine.context)).await?;
        if sent.is_none() {
            if let Some(split) = Split::of(exchange) {
                split.response.receive = receive;
                flow = Flow::Split;
                continue;
            }
            // A branch that wants no response leaves the answer to the others.
            let is_branch = matches!(engine.flow, FlowKind::Branch(_));
            return Ok((!is_branch).then(answer::accepted));
        }
        let next = match receive {
            Some(id) => Some(engine.bus.sequence(id).ok_or_else(Fault::missing)?),
            None => service.outgoing(engine.bus),
        };
        flow = follow(next, exchange, engine).await?;
    }
    Err(Fault::bus(format!("The message was sent on more than {HOP_LIMIT} times")))
}

/// Runs the sequence for a response; without one the response is the answer.
async fn follow(next: Option<&Sequence>, exchange: &mut Exchange, engine: &EngineContext<'_>) -> Outcome<Flow> {
    exchange.answering = true;
    match next {
        Some(_) => sequence::run(next, exchange, &engine.context).await,
        None => Ok(Flow::Respond),
    }
}

/// Whether what a flow ended with is the answer though nobody sent it: a fault, where no endpoint would get it.
fn is_answer(exchange: &Exchange, engine: &EngineContext<'_>, flow: Flow, implicit: bool) -> bool {
    exchange.faulted.is_some() && flow == Flow::Next && !(implicit && engine.service.endpoint(engine.bus).is_some())
}

/// Makes an answer what the configuration wants, and reads its body where its length is to be told and nobody knows it.
async fn finish(exchange: &Exchange, engine: &EngineContext<'_>, message: &mut Message) -> Outcome<()> {
    if matches!(message.body, Body::Gone) {
        return Ok(());
    }
    if exchange.has_outgoing_properties() {
        // Few are: on the heap it does not make every exchange larger.
        Box::pin(exchange.apply_outgoing_properties(message, &engine.context)).await?;
    }
    if exchange.wants_length() && message.body.length().is_none() {
        let is_response = exchange.direction == Direction::Response;
        let read = message.body.bytes(engine.bus.definitions.settings.body_limit_bytes).await.map(drop);
        read.map_err(|error| Fault::body(&error, is_response))?;
    }
    Ok(())
}

/// Lets the handlers of a fault answer it, the nearest first.
///
/// As in Synapse, the next handler runs where one fails itself, and the service's own fault sequence is the last.
/// Errors: the fault itself, where none of them answers; the log has been told.
pub(crate) async fn recover(
    exchange: &mut Exchange,
    engine: &EngineContext<'_>,
    fault: Box<Fault>,
) -> Outcome<Message> {
    let first = told(fault, engine);
    let mut last = engine.service.fault(engine.bus).filter(|_| !first.discard);
    let mut handlers = first.handlers.clone().filter(|_| !first.discard).unwrap_or_default();
    let mut second: Option<Box<Fault>> = None;
    for _ in 0..HANDLER_LIMIT {
        let handler = match handlers.pop() {
            Some(id) => engine.bus.sequence(id),
            None => last.take(),
        };
        let Some(handler) = handler else { break };
        let fault = second.as_ref().unwrap_or(&first);
        if let Some(recorder) = engine.context.watch.recorder() {
            recorder.handles(fault, handler);
        }
        exchange.describe(fault);
        exchange.decision = None;
        exchange.handlers = handlers;
        match Box::pin(converse(exchange, engine, Some(handler), false)).await {
            Ok(Some(message)) => return Ok(handled(message, fault, exchange)),
            Ok(None) => break,
            Err(mut another) => {
                engine.context.report(&another);
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
pub(super) fn told(mut fault: Box<Fault>, engine: &EngineContext<'_>) -> Box<Fault> {
    fault.trail.push(engine.context.service.to_string());
    engine.context.report(&fault);
    fault
}
