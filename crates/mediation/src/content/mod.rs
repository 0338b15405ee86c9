//! The forms in which mediators work on a body, and how a body gets there: not before somebody asks, and no further.
//!
//! A mediator says by its [`Need`] what it looks at; [`when_ready`] lets it run once the body is so far.
//! What only asks expressions is answered in one pass over the bytes as they lie on the wire, which ends at the
//! decision; what that cannot answer reads the whole body into a [`Tree`] or [`Json`].

mod build;
mod convert;
mod elements;
mod enclosure;
mod form_data;
mod fragment;
mod json;
mod looks;
pub(crate) mod memory;
mod mime;
mod need;
mod outcomes;
mod package;
mod plan;
mod questions;
mod rendering;
mod scan;
mod tree;
mod utf8;
mod way;
mod wrapped;

pub(crate) use build::Unreadable;
use build::build;
pub(crate) use elements::Elements;
pub(crate) use enclosure::Enclosure;
pub(crate) use fragment::{Fragment, graft};
pub(crate) use json::{Json, is_json};
pub(crate) use mime::{is_parameter, pieces, without_parameter};
pub(crate) use need::{Need, when_ready};
pub(crate) use plan::{PlanBuilder, Query};
use rendering::Form;
pub(crate) use rendering::take_form;
pub(crate) use scan::{Answer, Scans};
pub(crate) use tree::{Tree, text_of};
pub(crate) use utf8::{into_utf8, utf8};
pub(crate) use way::Way;
pub(crate) use wrapped::of_text as wrapped_text;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use myelin_message::Body;

use crate::apart::apart;
use crate::engine;
use crate::exchange::{Content, Direction, Exchange, Format, Scene};
use crate::fault::{Fault, Outcome};

/// What takes longer to build than anybody on the same thread should wait for.
const LONG_BYTES: usize = 256 * 1024;

/// Reads the whole body; one that was built stays so.
///
/// Errors: faults of whoever sent it.
fn poll_read(exchange: &mut Exchange, scene: &Scene<'_>, cx: &mut Context<'_>) -> Poll<Outcome<()>> {
    if let Body::Built(_) = exchange.message.body {
        return Poll::Ready(Ok(()));
    }
    let read = exchange.message.body.poll_bytes(cx, scene.bus.settings.body_limit_bytes).map_ok(drop);
    read.map_err(|error| Fault::body(&error, exchange.direction == Direction::Response))
}

/// How far a body is, when nothing more has to come of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Far {
    /// As far as somebody needs it.
    Enough,
    /// Its bytes are there, and building it takes longer than others on this thread should wait for.
    Unbuilt,
}

/// Reads the whole body and builds the form that its content type stands for; a long one is left as bytes.
///
/// What nobody understands stays where it is.
///
/// Errors: faults of whoever sent it. A body that is not what it should be is still there, as bytes.
fn poll_built(exchange: &mut Exchange, scene: &Scene<'_>, cx: &mut Context<'_>) -> Poll<Outcome<Far>> {
    if exchange.switches.is_none() {
        exchange.switches = Some(Arc::clone(&scene.bus.settings.json));
    }
    if let Body::Built(_) = exchange.message.body {
        return Poll::Ready(Ok(Far::Enough));
    }
    if exchange.is_opaque() && exchange.content.format != Format::Binary {
        return Poll::Ready(Ok(Far::Enough));
    }
    ready!(poll_read(exchange, scene, cx))?;
    if matches!(&exchange.message.body, Body::Bytes(bytes) if bytes.len() > LONG_BYTES) {
        return Poll::Ready(Ok(Far::Unbuilt));
    }
    let bytes = take_bytes(exchange);
    let form = build(bytes, &exchange.content, query(exchange));
    Poll::Ready(put_built(form, exchange).map(|()| Far::Enough))
}

/// The same for whoever waits anyway, and to the end: a long body is built on another thread.
///
/// Errors: as far as it is read, those of whoever sent it; the bus's, 503 where too much waits for such a thread, and the
/// body is gone then.
pub(crate) async fn bring_built(exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<()> {
    match poll_fn(|cx| poll_built(exchange, scene, cx)).await? {
        Far::Enough => Ok(()),
        Far::Unbuilt => Box::pin(build_apart(exchange, scene)).await,
    }
}

async fn build_apart(exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<()> {
    let bytes = take_bytes(exchange);
    let (content, query) = (exchange.content.clone(), query(exchange).to_owned());
    let form = apart(scene, move || build(bytes, &content, &query)).await?;
    put_built(form, exchange)
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

fn put_built(form: Result<Form, (Unreadable, Vec<u8>)>, exchange: &mut Exchange) -> Outcome<()> {
    match form {
        Ok(form) => {
            exchange.message.body = form.into_body();
            exchange.scans = Scans::default();
            Ok(())
        }
        Err((unreadable, bytes)) => {
            exchange.message.body = Body::Bytes(bytes);
            exchange.not_understood = true;
            Err(unreadable.fault(exchange.direction == Direction::Response))
        }
    }
}

/// The bytes of a built body that somebody sends who cannot hear of a fault; they are looked after before.
fn sent(bytes: Result<Vec<u8>, Unreadable>) -> Vec<u8> {
    bytes.unwrap_or_else(|error| {
        tracing::error!(target: "myelin::content", "a body could not be written: {error:?}");
        Vec::new()
    })
}

/// Whether a body ends within `limit_bytes`. One whose sender does not say is looked at as far as that; what has come
/// stays where it is, and is relayed with the rest if there is too much.
///
/// Errors: faults of whoever sends a body that breaks off.
pub(crate) async fn is_within(body: &mut Body, limit_bytes: u64, is_response: bool) -> Outcome<bool> {
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

/// Takes the body out of a message that leaves, as XML; reads it where nobody did.
///
/// Errors: faults of whoever sent it; the body is gone then.
pub(crate) async fn take_tree(
    body: &mut Body,
    content: &Content,
    scene: &Scene<'_>,
    is_response: bool,
) -> Outcome<Tree> {
    if !matches!(body, Body::Built(_)) {
        let read = body.bytes(scene.bus.settings.body_limit_bytes).await.map(drop);
        read.map_err(|error| Fault::body(&error, is_response))?;
        let Body::Bytes(bytes) = body.take() else { return Ok(Tree::empty()) };
        let form = match bytes.len() > LONG_BYTES {
            true => {
                let content = content.clone();
                Box::pin(apart(scene, move || build(bytes, &content, ""))).await?
            }
            false => build(bytes, content, ""),
        };
        *body = form.map_err(|(error, _)| error.fault(is_response))?.into_body();
    }
    let switches = Arc::clone(&scene.bus.settings.json);
    let tree = Form::take(body)?.ok_or_else(engine::missing)?.into_xml(switches);
    tree.map(|tree| *tree).map_err(|error| error.fault(is_response))
}
