//! The forms in which mediators work on a body, and how a body gets there: not before somebody asks, and no further.
//!
//! A mediator says by its [`Need`] what it looks at; [`when_ready`] lets it run once the body is so far.
//! What only asks expressions is answered in one pass over the bytes as they lie on the wire, which ends at the
//! decision; what that cannot answer reads the whole body into a [`Tree`] or [`Json`].

mod fragment;
mod json;
mod need;
mod plan;
mod scan;
mod tree;

pub(crate) use fragment::Fragment;
pub(crate) use json::Json;
pub(crate) use need::{Need, when_ready};
pub(crate) use plan::{PlanBuilder, Query};
pub(crate) use scan::{Answer, Scans};
pub(crate) use tree::{Tree, text_of};

use std::any::Any;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use myelin_message::{Body, Head};

use crate::engine;
use crate::exchange::{Direction, Exchange, Format, Scene, charset};
use crate::fault::{Fault, Outcome};

/// Why a body is not what its content type says.
#[derive(Debug)]
enum Unreadable {
    Xml(myelin_xml::Error),
    Json(myelin_json::Error),
}

impl From<myelin_xml::Error> for Unreadable {
    fn from(error: myelin_xml::Error) -> Unreadable {
        Unreadable::Xml(error)
    }
}

impl From<myelin_json::Error> for Unreadable {
    fn from(error: myelin_json::Error) -> Unreadable {
        Unreadable::Json(error)
    }
}

impl Unreadable {
    fn fault(self, is_response: bool) -> Box<Fault> {
        match self {
            Unreadable::Xml(error) => Fault::unreadable(is_response, format!("not well-formed XML: {error}")),
            Unreadable::Json(error) => Fault::unreadable(is_response, format!("not JSON: {error}")),
        }
    }
}

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

/// Reads the whole body and builds the form that its content type stands for.
///
/// What is neither XML nor JSON stays where it is.
///
/// Errors: faults of whoever sent it. A body that is not what it should be is still there, as bytes.
pub(crate) fn poll_built(exchange: &mut Exchange, scene: &Scene<'_>, cx: &mut Context<'_>) -> Poll<Outcome<()>> {
    if let Body::Built(_) = exchange.message.body {
        return Poll::Ready(Ok(()));
    }
    if exchange.is_opaque() {
        return Poll::Ready(Ok(()));
    }
    let is_response = exchange.direction == Direction::Response;
    ready!(poll_read(exchange, scene, cx))?;
    let bytes = match exchange.message.body.take() {
        Body::Bytes(bytes) => bytes,
        _ => Vec::new(),
    };
    let built = match exchange.content.format {
        _ if bytes.is_empty() => Ok(Body::Built(Box::new(Tree::empty()))),
        Format::Json => Json::read(bytes)
            .map(|json| Body::Built(Box::new(json)))
            .map_err(|(error, bytes)| (Unreadable::Json(error), bytes)),
        _ => Tree::read(bytes, exchange.content.charset())
            .map(|tree| Body::Built(Box::new(tree)))
            .map_err(|(error, bytes)| (Unreadable::Xml(error), bytes)),
    };
    Poll::Ready(match built {
        Ok(body) => {
            exchange.message.body = body;
            exchange.scans = Scans::default();
            Ok(())
        }
        Err((unreadable, bytes)) => {
            exchange.message.body = Body::Bytes(bytes);
            exchange.not_understood = true;
            Err(unreadable.fault(is_response))
        }
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
pub(crate) async fn take_tree(body: &mut Body, head: &Head, scene: &Scene<'_>, is_response: bool) -> Outcome<Tree> {
    if body.built::<Tree>().is_some() {
        let Body::Built(built) = body.take() else { return Err(engine::missing()) };
        return (built as Box<dyn Any>).downcast::<Tree>().map(|tree| *tree).map_err(|_| engine::missing());
    }
    let read = body.bytes(scene.bus.settings.body_limit_bytes).await.map(drop);
    read.map_err(|error| Fault::body(&error, is_response))?;
    let Body::Bytes(bytes) = body.take() else { return Ok(Tree::empty()) };
    if bytes.is_empty() {
        return Ok(Tree::empty());
    }
    Tree::read(bytes, charset(head).as_deref()).map_err(|(error, _)| Unreadable::Xml(error).fault(is_response))
}
