//! The state of an exchange at some time, and what of it is another one later.

use std::borrow::Cow;

use myelin_flow::definitions::Definitions;
use myelin_flow::exchange::{Direction, Exchange};
use myelin_flow::property::Scope;
use myelin_message::{Head, Message, Outgoing};

use super::body::BodyView;
use super::trace::{Change, MessageView};

/// Longer values are cut off.
const VALUE_BYTES: usize = 4 << 10;

/// In this order changes are shown, with how the value is called and the word of its scope.
const SCOPES: [(Scope, &str); 6] = [
    (Scope::Default, "property"),
    (Scope::Axis2, "property"),
    (Scope::Axis2Client, "property"),
    (Scope::Operation, "property"),
    (Scope::Variable, "variable"),
    (Scope::Addressing, "address"),
];

/// The state of an exchange.
#[derive(Debug)]
pub(super) struct Snapshot {
    direction: Direction,
    /// Whether it is the client's request, or the first or a later response.
    called: bool,
    line: String,
    headers: Vec<(String, String)>,
    values: Vec<(usize, String, String)>,
    pub(super) body: BodyView,
}

impl Snapshot {
    pub(super) fn of(exchange: &Exchange, definitions: &Definitions, limit_bytes: usize, shy: bool) -> Snapshot {
        let mut values = Vec::new();
        for (index, (scope, _)) in SCOPES.iter().enumerate() {
            for (name, value) in exchange.properties.named(*scope, &definitions.names) {
                values.push((index, name.to_owned(), cut(&value.text()).into_owned()));
            }
        }
        let is_request = exchange.direction == Direction::Request;
        Snapshot {
            direction: exchange.direction,
            called: exchange.called,
            line: line(&exchange.message, is_request),
            headers: headers(&exchange.message.head),
            values,
            body: BodyView::of(&exchange.message.body, limit_bytes, shy && is_request),
        }
    }

    /// What is another one afterwards.
    pub(super) fn changes(&self, after: &Snapshot) -> Vec<Change> {
        let mut changes = Vec::new();
        let is_another = self.direction != after.direction || (after.called && self.line != after.line);
        if is_another {
            changes.push(Change::Message { now: after.line.clone() });
        } else {
            values(&self.headers, &after.headers, ("header", ""), &mut changes);
        }
        for (index, (scope, what)) in SCOPES.iter().enumerate() {
            let of = |values: &[(usize, String, String)]| -> Vec<(String, String)> {
                let these = values.iter().filter(|(scope, ..)| *scope == index);
                these.map(|(_, name, value)| (name.clone(), value.clone())).collect()
            };
            values(&of(&self.values), &of(&after.values), (what, scope.word()), &mut changes);
        }
        if !is_another && !self.body.is_same(&after.body) {
            changes.push(Change::Body { before: self.body.clone(), after: after.body.clone() });
        }
        changes
    }
}

/// Compares values by name; several of one name count as one text.
fn values(
    before: &[(String, String)],
    after: &[(String, String)],
    (what, scope): (&'static str, &'static str),
    changes: &mut Vec<Change>,
) {
    let find = |values: &[(String, String)], name: &str| -> Option<String> {
        let found: Vec<&str> = values
            .iter()
            .filter(|(known, _)| known.eq_ignore_ascii_case(name) && (what == "header" || known == name))
            .map(|(_, value)| value.as_str())
            .collect();
        (!found.is_empty()).then(|| found.join(", "))
    };
    let mut seen: Vec<&str> = Vec::new();
    for (name, _) in before.iter().chain(after) {
        if seen.iter().any(|known| known.eq_ignore_ascii_case(name) && (what == "header" || *known == name)) {
            continue;
        }
        seen.push(name);
        let (before, after) = (find(before, name), find(after, name));
        if before != after {
            changes.push(Change::Value { what, scope, name: name.clone(), before, after });
        }
    }
}

/// A message as it is now.
pub(super) fn view(message: &Message, is_request: bool, limit_bytes: usize, shy: bool) -> MessageView {
    MessageView {
        line: line(message, is_request),
        headers: headers(&message.head),
        body: BodyView::of(&message.body, limit_bytes, shy),
    }
}

/// A request as it leaves.
pub(super) fn view_of_outgoing(outgoing: &Outgoing, limit_bytes: usize, shy: bool) -> MessageView {
    let method = match &outgoing.method {
        myelin_message::Method::AsCame => outgoing.head.method(),
        myelin_message::Method::Named(name) => name,
    };
    MessageView {
        line: format!("{method} {}", outgoing.address).trim_start().to_owned(),
        headers: headers(&outgoing.head),
        body: BodyView::of(&outgoing.body, limit_bytes, shy),
    }
}

fn line(message: &Message, is_request: bool) -> String {
    if is_request {
        return format!("{} {}", message.head.method(), message.head.target());
    }
    let reason = message.reason.as_deref().or(message.status.canonical_reason()).unwrap_or_default();
    format!("{} {reason}", message.status.as_u16()).trim_end().to_owned()
}

fn headers(head: &Head) -> Vec<(String, String)> {
    head.iter().map(|(name, value)| (name.to_owned(), cut(&String::from_utf8_lossy(value)).into_owned())).collect()
}

/// The beginning of a text that is too long to be kept.
pub(super) fn cut(text: &str) -> Cow<'_, str> {
    if text.len() <= VALUE_BYTES {
        return Cow::Borrowed(text);
    }
    let end = (0..=VALUE_BYTES).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    Cow::Owned(format!("{}… ({} bytes)", &text[..end], text.len()))
}
