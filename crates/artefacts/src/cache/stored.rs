//! An answer that is kept: its status, its header lines, and the very bytes of its body, once.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use myelin_message::{Body, Head, Message, StatusCode};

use crate::cache::control::{Control, knows};
use crate::cache::identity::{Key, variant};
use crate::cache::rules::Rules;
use myelin_content::Content;
use myelin_flow::exchange::Exchange;
use myelin_flow::property::{Scope, Slot, Value, slot};
use myelin_java_text::date;

/// What a header line takes in memory apart from its bytes, about.
const LINE_BYTES: usize = 32;

/// The header lines of an answer that are for the one who asked first: cookies would hand on its session.
const OF_ONE: [&str; 3] = ["Set-Cookie", "Set-Cookie2", "activityid"];

/// The properties that say what a body is to be sent as.
const DESCRIBING: [Slot; 2] = [slot::MESSAGE_TYPE, slot::CONTENT_TYPE];

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    status: StatusCode,
    reason: Option<String>,
    head: Head,
    body: Arc<Vec<u8>>,
    /// What the body is, which its content type need not say.
    content: Content,
    described: Vec<(Slot, Value)>,
    pub(super) control: Control,
    /// The header lines of requests on which it hangs besides (`Vary`), and what the request said there.
    varies: Vec<String>,
    variant: Key,
    /// When its sender made it.
    made: SystemTime,
    bytes: usize,
}

impl Stored {
    /// What an exchange has for an answer now; its body was read. `asked` is the head of the request where its
    /// `Cache-Control` is heeded.
    pub(super) fn of(exchange: &Exchange, asked: Option<&Head>, status: StatusCode, now: SystemTime) -> Stored {
        let Message { head: came, reason, body, .. } = &exchange.message;
        let mut head = Head::default();
        let is_of_one = |name: &str| OF_ONE.iter().any(|known| known.eq_ignore_ascii_case(name));
        for (name, value) in came.iter().filter(|(name, _)| !is_of_one(name)) {
            // What was a header line can be one again; what was changed or taken out of the head is left behind.
            let _ = head.append(name, value);
        }
        let body = if let Body::Bytes(bytes) = body { bytes.clone() } else { Vec::new() };
        let described = DESCRIBING.into_iter().filter_map(|slot| {
            let value = exchange.properties.get(Scope::Axis2, slot)?;
            Some((slot, value.clone()))
        });
        let lines: usize = head.iter().map(|(name, value)| name.len() + value.len() + LINE_BYTES).sum();
        let text = |name: &str| std::str::from_utf8(head.first(name)?).ok();
        let made = text("Date").and_then(date::parse_http).unwrap_or(now);
        // A cache before this one has had it for so long (RFC 9111 §4.2.3).
        let aged = text("Age").and_then(|age| now.checked_sub(Duration::from_secs(age.trim().parse().ok()?)));
        let varies: Vec<String> = head
            .all("Vary")
            .filter_map(|names| std::str::from_utf8(names).ok())
            .flat_map(|names| names.split(','))
            .map(|name| name.trim().to_owned())
            .collect();
        Stored {
            status,
            reason: reason.clone().filter(|_| status == exchange.message.status),
            control: Control::of(&head),
            bytes: body.len() + lines,
            content: exchange.content.clone(),
            described: described.collect(),
            made: aged.map_or(made, |aged| aged.min(made)),
            variant: asked.map_or_else(Key::default, |asked| variant(&varies, asked)),
            varies,
            head,
            body: Arc::new(body),
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

    /// Whether a request with that head can have it: it is what that one asks for, and not older than its sender and
    /// `max_age` of the request allow (RFC 9111 §4).
    pub(super) fn is_for(&self, head: &Head, max_age: Option<Duration>, now: SystemTime) -> bool {
        let is_fresh = |max_age: Option<Duration>| max_age.is_none_or(|max_age| self.age(now) <= max_age);
        let varies_always = self.varies.iter().any(|name| name == "*");
        is_fresh(self.control.max_age)
            && is_fresh(max_age)
            && !varies_always
            && variant(&self.varies, head) == self.variant
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
            let body = if self.body.is_empty() { Body::Empty } else { Body::Shared(Arc::clone(&self.body)) };
            Message { reason: self.reason.clone(), ..Message::answer(self.status, body) }
        };
        message.head = head;
        exchange.set_response(message);
        exchange.content = self.content.clone();
        for (slot, value) in &self.described {
            exchange.properties.put(Scope::Axis2, *slot, Some(value.clone()));
        }
    }

    #[cfg(test)]
    pub(super) fn of_body(body: Vec<u8>) -> Stored {
        let bytes = body.len();
        let exchange = Exchange::new(Message::answer(StatusCode::OK, Body::Bytes(body)));
        Stored { bytes, ..Stored::of(&exchange, None, StatusCode::OK, SystemTime::UNIX_EPOCH) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::{Generator, Headers};
    use myelin_java_text::pattern::Pattern;

    #[test]
    fn however_often_it_is_given_its_body_is_there_once() {
        let stored = Stored::of_body(b"body".to_vec());
        let generator = Generator::Http(Headers::All);
        let rules = Rules { generator, statuses: Pattern::compile(".*").unwrap(), control: false, age: false };
        let mut exchange = Exchange::new(Message::answer(StatusCode::OK, Body::Empty));
        stored.serve(&mut exchange, &rules, SystemTime::UNIX_EPOCH, None);
        let Body::Shared(body) = &exchange.message.body else { panic!("{:?}", exchange.message.body) };
        assert!(Arc::ptr_eq(body, &stored.body));
    }
}
