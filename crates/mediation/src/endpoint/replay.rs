//! A copy of a message that may have to be sent again.

use std::future::poll_fn;

use myelin_message::{Body, Head, Message};

use crate::exchange::{Content, Direction, Exchange, Scene};
use crate::fault::{Fault, Outcome};
use crate::property::Properties;

/// What is sent to the next member of a group when one has failed.
pub(super) struct Replay {
    head: Head,
    body: Option<Vec<u8>>,
    content: Content,
    /// What a response takes the place of, even one that then counts as a failure.
    direction: Direction,
    postfix_start: usize,
    properties: Properties,
}

impl Replay {
    /// Copies the current message; `None` where its body is too large to be kept, which is then left on the wire.
    ///
    /// Units: bodies up to `Settings::body_limit_bytes`.
    /// Errors: faults of whoever sends a body that breaks off.
    pub(super) async fn of(exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Option<Replay>> {
        let limit_bytes = scene.bus.settings.body_limit_bytes;
        let is_response = exchange.direction == Direction::Response;
        exchange.settle();
        let body = &mut exchange.message.body;
        if body.length().is_some_and(|length| length > limit_bytes) || !fits(body, limit_bytes, is_response).await? {
            return Ok(None);
        }
        let body = match body.bytes(limit_bytes).await.map_err(|error| Fault::body(&error, is_response))? {
            [] => None,
            bytes => Some(bytes.to_vec()),
        };
        Ok(Some(Replay {
            body,
            head: exchange.message.head.clone(),
            content: exchange.content.clone(),
            direction: exchange.direction,
            postfix_start: exchange.postfix_start,
            properties: exchange.properties.clone(),
        }))
    }

    /// The message as it was.
    pub(super) fn restore(&self, exchange: &mut Exchange) {
        let body = self.body.clone().map_or(Body::Empty, Body::Bytes);
        exchange.put_back(Message::new(self.head.clone(), body), self.content.clone());
        exchange.direction = self.direction;
        exchange.postfix_start = self.postfix_start;
        exchange.properties.clone_from(&self.properties);
    }
}

/// Whether a body ends before the limit. One whose sender does not say is looked at until it has come so far; what has
/// come stays where it is, and is relayed with the rest if there is too much.
async fn fits(body: &mut Body, limit_bytes: u64, is_response: bool) -> Outcome<bool> {
    if body.length().is_some() {
        return Ok(true);
    }
    let mut fits = false;
    let looked = poll_fn(|cx| {
        body.poll_look(cx, u64::MAX, &mut |bytes, is_all| {
            let is_within = bytes.len() as u64 <= limit_bytes;
            fits = is_all && is_within;
            is_all || !is_within
        })
    });
    looked.await.map_err(|error| Fault::body(&error, is_response))?;
    Ok(fits)
}
