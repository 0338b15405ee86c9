//! An answer that is kept: its status, its header lines, and the very bytes of its body, once.

use std::time::{Duration, SystemTime};

use myelin_message::{Body, Head, Message, StatusCode};

use super::Rules;
use super::control::{Control, knows};
use crate::date;
use crate::exchange::{Content, Exchange};
use crate::property::{Scope, Slot, Value, slot};

/// What a header line takes in memory apart from its bytes, about.
const LINE_BYTES: usize = 32;

/// The properties that say what a body is to be sent as.
const DESCRIBING: [Slot; 2] = [slot::MESSAGE_TYPE, slot::CONTENT_TYPE];

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    status: StatusCode,
    reason: Option<String>,
    head: Head,
    body: Vec<u8>,
    /// What the body is, which its content type need not say.
    content: Content,
    described: Vec<(Slot, Value)>,
    pub(super) control: Control,
    /// When its sender made it.
    made: SystemTime,
    bytes: usize,
}

impl Stored {
    /// What an exchange has for an answer now; its body was read.
    pub(super) fn of(exchange: &Exchange, status: StatusCode, now: SystemTime) -> Stored {
        let Message { head: came, reason, body, .. } = &exchange.message;
        let mut head = Head::default();
        for (name, value) in came.iter() {
            // What was a header line can be one again; what was changed or taken out of the head is left behind.
            let _ = head.append(name, value);
        }
        let body = if let Body::Bytes(bytes) = body { bytes.clone() } else { Vec::new() };
        let described = DESCRIBING.into_iter().filter_map(|slot| {
            let value = exchange.properties.get(Scope::Axis2, slot)?;
            Some((slot, value.clone()))
        });
        let lines: usize = head.iter().map(|(name, value)| name.len() + value.len() + LINE_BYTES).sum();
        let made = head.first("Date").and_then(|date| date::parse_http(std::str::from_utf8(date).ok()?));
        Stored {
            status,
            reason: reason.clone().filter(|_| status == exchange.message.status),
            control: Control::of(&head),
            bytes: body.len() + lines,
            content: exchange.content.clone(),
            described: described.collect(),
            made: made.unwrap_or(now),
            head,
            body,
        }
    }

    /// The same, of which its sender said just now that it still holds.
    pub(super) fn renewed(&self, now: SystemTime) -> Stored {
        Stored { made: now, ..self.clone() }
    }

    /// How much memory it takes, about.
    pub(super) fn size_bytes(&self) -> usize {
        self.bytes
    }

    /// How long ago it was made.
    fn age(&self, now: SystemTime) -> Duration {
        now.duration_since(self.made).unwrap_or(Duration::ZERO)
    }

    /// Whether it is older than its sender allows.
    pub(super) fn is_stale(&self, now: SystemTime) -> bool {
        self.control.max_age.is_some_and(|max_age| self.age(now) > max_age)
    }

    /// The tag by which its sender can be asked whether it still holds.
    pub(crate) fn tag(&self) -> Option<&[u8]> {
        self.head.first("ETag").filter(|tag| !tag.is_empty())
    }

    /// Becomes the response of an exchange.
    ///
    /// Who sent `if_none_match` and has it already is told so, with 304 and without the body (RFC 9110 §15.4.5).
    pub(crate) fn serve(&self, exchange: &mut Exchange, rules: &Rules, now: SystemTime, if_none_match: Option<&[u8]>) {
        let mut head = self.head.clone();
        if rules.age {
            let age = self.age(now).as_secs().to_string();
            head.set("Age", age.as_bytes()).expect("a number is the value of a header");
        }
        let is_known = |list: &[u8]| self.tag().is_some_and(|tag| knows(list, tag));
        let is_told = rules.control && self.status.is_success() && if_none_match.is_some_and(is_known);
        let mut message = if is_told {
            Message::answer(StatusCode::NOT_MODIFIED, Body::Empty)
        } else {
            let body = if self.body.is_empty() { Body::Empty } else { Body::Bytes(self.body.clone()) };
            Message { reason: self.reason.clone(), ..Message::answer(self.status, body) }
        };
        message.head = head;
        exchange.turn(message);
        exchange.content = self.content.clone();
        for (slot, value) in &self.described {
            exchange.properties.put(Scope::Axis2, *slot, Some(value.clone()));
        }
    }

    #[cfg(test)]
    pub(super) fn of_body(body: Vec<u8>) -> Stored {
        let bytes = body.len();
        let exchange = Exchange::new(Message::answer(StatusCode::OK, Body::Bytes(body)));
        Stored { bytes, ..Stored::of(&exchange, StatusCode::OK, SystemTime::UNIX_EPOCH) }
    }
}
