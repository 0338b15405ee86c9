//! A copy of a message that may have to be sent again.

use myelin_message::{Body, Head, Message};

use myelin_content::Content;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::{Direction, Exchange};
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::forms::is_within;
use myelin_flow::property::Properties;

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
    pub(super) async fn of(exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Option<Replay>> {
        let limit_bytes = context.definitions.settings.body_limit_bytes;
        let is_response = exchange.direction == Direction::Response;
        exchange.settle_for_copies();
        let body = &mut exchange.message.body;
        if !is_within(body, limit_bytes, is_response).await? {
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
