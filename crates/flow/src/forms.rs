//! How the body of a message gets into a form that somebody works on: not before it is asked for, and no further.

mod leaving;
mod looks;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use myelin_content::{BuiltBody, Content, Format, Tree, Unreadable, build, build_bytes, coding};
use myelin_message::budget::{Reservation, SMALL_BYTES};
use myelin_message::{Body, Head};

pub use leaving::render_body;
pub use looks::NeededForms;

use crate::context::RequestContext;
use crate::exchange::{Direction, Exchange};
use crate::fault::{Fault, Outcome};
use crate::memory::reserve;
use crate::offload::offload;

/// What takes longer to build than anybody on the same thread should wait for.
const LONG_BYTES: usize = 256 * 1024;

/// Reads the whole body, decoded; one that was built stays so.
///
/// Errors: faults of whoever sent it.
pub fn poll_read(exchange: &mut Exchange, context: &RequestContext<'_>, cx: &mut Context<'_>) -> Poll<Outcome<()>> {
    if let Body::Built(_) = exchange.message.body {
        return Poll::Ready(Ok(()));
    }
    exchange.decode(context);
    let is_decoded = coding::is_decoded(&exchange.message.body);
    let read = exchange.message.body.poll_bytes(cx, context.definitions.settings.body_limit_bytes).map_ok(drop);
    ready!(read.map_err(|error| Fault::body(&error, exchange.direction == Direction::Response)))?;
    if is_decoded {
        // What the channel counts is what came.
        exchange.count_memory();
    }
    Poll::Ready(Ok(()))
}

/// How far a body is, when nothing more has to come of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// As far as somebody needs it.
    Ready,
    /// Its bytes are there, and building it takes longer than others on this thread should wait for.
    Unbuilt,
}

/// Reads the whole body and builds the form that its content type stands for; a long one is left as bytes.
///
/// What nobody understands stays where it is.
///
/// Errors: faults of whoever sent it. A body that is not what it should be is still there, as bytes.
pub fn poll_build(
    exchange: &mut Exchange,
    context: &RequestContext<'_>,
    cx: &mut Context<'_>,
) -> Poll<Outcome<Readiness>> {
    if exchange.switches.is_none() {
        exchange.switches = Some(Arc::clone(&context.definitions.settings.json));
    }
    if let Body::Built(_) = exchange.message.body {
        return Poll::Ready(Ok(Readiness::Ready));
    }
    if exchange.is_opaque() && exchange.content.format != Format::Binary {
        return Poll::Ready(Ok(Readiness::Ready));
    }
    ready!(poll_read(exchange, context, cx))?;
    if let Body::Bytes(bytes) = &exchange.message.body
        && (bytes.len() > LONG_BYTES || !has_room(bytes, &exchange.content, &mut exchange.memory))
    {
        return Poll::Ready(Ok(Readiness::Unbuilt));
    }
    let bytes = take_bytes(exchange);
    let form = build(bytes, &exchange.content, query(exchange));
    Poll::Ready(put_built(form, exchange).map(|()| Readiness::Ready))
}

/// The same for whoever waits anyway, and to the end: a long body is built on another thread.
///
/// Errors: as far as it is read, those of whoever sent it; the bus's, 503 where too much waits for such a thread, and the
/// body is gone then.
pub async fn build_body(exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
    match poll_fn(|cx| poll_build(exchange, context, cx)).await? {
        Readiness::Ready => Ok(()),
        Readiness::Unbuilt => Box::pin(build_offloaded(exchange, context)).await,
    }
}

/// Builds a body that was read, on another thread.
///
/// Errors: the sender's, as [`build_body`]; the bus's, 503 where too much waits for such a thread.
pub async fn build_offloaded(exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
    let bytes = take_bytes(exchange);
    let (content, query) = (exchange.content.clone(), query(exchange).to_owned());
    let form = build_apart(bytes, content, query, &mut exchange.memory, context).await?;
    put_built(form, exchange)
}

/// Builds a form on another thread, with all the memory reserved that it takes at most. Every byte is looked at for
/// that, so this is done on such a thread, too.
async fn build_apart(
    bytes: Vec<u8>,
    content: Content,
    query: String,
    memory: &mut Reservation,
    context: &RequestContext<'_>,
) -> Outcome<Result<BuiltBody, (Unreadable, Vec<u8>)>> {
    let count = move || {
        let wanted = build_bytes(&bytes, &content);
        (bytes, content, wanted)
    };
    let (bytes, content, wanted) = Box::pin(offload(context, count)).await?;
    reserve(memory, wanted, context).await?;
    Box::pin(offload(context, move || build(bytes, &content, &query))).await
}

/// Whether there is memory for the built form of a body, or it needs so little that nobody counts it.
fn has_room(bytes: &[u8], content: &Content, memory: &mut Reservation) -> bool {
    bytes.len() <= SMALL_BYTES || memory.try_grow(build_bytes(bytes, content))
}

fn take_bytes(exchange: &mut Exchange) -> Vec<u8> {
    match exchange.message.body.take() {
        Body::Bytes(bytes) => bytes,
        _ => Vec::new(),
    }
}

/// The parameters of the request, which are fields of a form, too.
fn query(exchange: &Exchange) -> &str {
    let query = exchange.message.head.target().split_once('?');
    query.filter(|_| exchange.direction == Direction::Request).map_or("", |(_, query)| query)
}

fn put_built(form: Result<BuiltBody, (Unreadable, Vec<u8>)>, exchange: &mut Exchange) -> Outcome<()> {
    match form {
        Ok(form) => {
            exchange.message.body = form.into_body();
            exchange.passes.clear();
            exchange.count_memory();
            Ok(())
        }
        Err((unreadable, bytes)) => {
            exchange.message.body = Body::Bytes(bytes);
            exchange.not_understood = true;
            Err(Fault::of_content(unreadable, exchange.direction == Direction::Response))
        }
    }
}

/// Whether a body ends within `limit_bytes`. One whose sender does not say is looked at as far as that; what has come
/// stays where it is, and is relayed with the rest if there is too much.
///
/// Errors: faults of whoever sends a body that breaks off.
pub async fn is_within(body: &mut Body, limit_bytes: u64, is_response: bool) -> Outcome<bool> {
    body.settle();
    if let Some(length) = body.length() {
        return Ok(length <= limit_bytes);
    }
    let mut is_within = false;
    let looked = poll_fn(|cx| {
        body.poll_look(cx, u64::MAX, &mut |bytes, is_all| {
            let has_room = bytes.len() as u64 <= limit_bytes;
            is_within = is_all && has_room;
            is_all || !has_room
        })
    });
    looked.await.map_err(|error| Fault::body(&error, is_response))?;
    Ok(is_within)
}

/// Takes the body out of a message that leaves, as XML; reads and decodes it where nobody did.
///
/// Errors: faults of whoever sent it; the body is gone then.
pub async fn take_tree(
    head: &mut Head,
    body: &mut Body,
    content: &Content,
    context: &RequestContext<'_>,
    is_response: bool,
) -> Outcome<Tree> {
    if !matches!(body, Body::Built(_)) {
        let limit_bytes = context.definitions.settings.body_limit_bytes;
        coding::decode_message(head, body, limit_bytes);
        let read = body.bytes(limit_bytes).await.map(drop);
        read.map_err(|error| Fault::body(&error, is_response))?;
        let Body::Bytes(bytes) = body.take() else { return Ok(Tree::empty()) };
        let mut memory = Reservation::default();
        let form = match bytes.len() > LONG_BYTES {
            true => build_apart(bytes, content.clone(), String::new(), &mut memory, context).await?,
            false => build(bytes, content, ""),
        };
        *body = form.map_err(|(error, _)| Fault::of_content(error, is_response))?.into_body();
    }
    let switches = Arc::clone(&context.definitions.settings.json);
    let tree = BuiltBody::take(body)?.ok_or_else(Fault::missing)?.into_xml(switches);
    tree.map(|tree| *tree).map_err(|error| Fault::of_content(error, is_response))
}
