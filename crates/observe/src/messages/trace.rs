//! What was recorded of one exchange.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use myelin_config::problem::Place;
use myelin_flow::position::{ServiceIdentity, StepPlace};
use myelin_flow::recorder::{Operand, StepDecision};
use serde_json::Value;

use super::body::BodyView;
use super::json;
use super::selection::is_named;
use super::text;
use crate::secrets::Secrets;

/// What was recorded of one exchange; it is shown with its secrets masked only.
#[derive(Debug)]
pub struct Trace {
    pub(super) id: u64,
    pub(super) correlation: String,
    pub(super) service: ServiceIdentity,
    pub(super) began: SystemTime,
    /// Until the answer was there.
    pub(super) took: Duration,
    /// `None` where nobody got an answer.
    pub(super) status: Option<u16>,
    pub(super) faulted: bool,
    pub(super) request: MessageView,
    pub(super) answer: Option<MessageView>,
    /// In the order in which they began; each but the first ones is inside of an earlier one.
    pub(super) nodes: Vec<Node>,
    /// How many steps there were beyond the limit.
    pub(super) left_out: usize,
    /// So many bytes of each body are shown.
    pub(super) body_bytes: usize,
}

/// Something that happened.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: Option<usize>,
    /// Since the exchange began.
    pub(super) at: Duration,
    /// `None` where it has not ended.
    pub(super) took: Option<Duration>,
    pub(super) kind: NodeKind,
}

#[derive(Debug)]
pub(super) enum NodeKind {
    Sequence { name: Arc<str>, place: Place, outcome: &'static str },
    Step { step: StepPlace, expression: Option<String>, outcome: &'static str, changes: Vec<Change> },
    Decision(StepDecision),
    Call(Box<Call>),
    Fault { code: String, origin: &'static str, message: String, detail: Option<String>, trail: Vec<String> },
    Handler { name: Arc<str>, place: Place, code: String },
    Branch { number: Option<usize>, is_detached: bool, outcome: &'static str },
}

/// A request to an endpoint.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) endpoint: String,
    pub(super) place: Option<Place>,
    pub(super) url: String,
    pub(super) request: MessageView,
    pub(super) response: Option<MessageView>,
    pub(super) failure: Option<String>,
}

/// A message as it was at some time.
#[derive(Debug)]
pub(super) struct MessageView {
    /// `POST /services/Orders`, `200 OK`.
    pub(super) line: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: BodyView,
}

/// Something of the message or the exchange that is not what it was.
#[derive(Debug)]
pub(super) enum Change {
    /// A header, a property, a variable, an address or the status, with its texts before and afterwards.
    Value {
        what: &'static str,
        scope: &'static str,
        name: String,
        before: Option<String>,
        after: Option<String>,
    },
    Body {
        before: BodyView,
        after: BodyView,
    },
    /// Another message took the place of the current one.
    Message {
        now: String,
    },
}

impl Change {
    /// Whether both are about the same header, property or body.
    pub(super) fn is_about_the_same(&self, other: &Change) -> bool {
        match (self, other) {
            (Change::Value { what, scope, name, .. }, Change::Value { what: kind, scope: place, name: known, .. }) => {
                (what, scope, name) == (kind, place, known)
            }
            (Change::Body { .. }, Change::Body { .. }) | (Change::Message { .. }, Change::Message { .. }) => true,
            _ => false,
        }
    }
}

impl Trace {
    /// One of which nothing is known but the service.
    pub(super) fn empty(service: ServiceIdentity) -> Trace {
        Trace {
            id: 0,
            correlation: String::new(),
            service,
            began: SystemTime::UNIX_EPOCH,
            took: Duration::ZERO,
            status: None,
            faulted: false,
            request: MessageView { line: String::new(), headers: Vec::new(), body: BodyView::Empty },
            answer: None,
            nodes: Vec::new(),
            left_out: 0,
            body_bytes: 0,
        }
    }

    /// Its number; later traces have higher ones.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Whether there was a fault, whoever answered it.
    pub fn has_faulted(&self) -> bool {
        self.faulted
    }

    /// Whether it is of a service, by its name with or without its kind.
    pub fn is_of(&self, service: &str) -> bool {
        is_named(self.service.kind, &self.service.name, service)
    }

    /// All of it, as docs/tracing.md describes.
    pub fn to_json(&self, secrets: &Secrets) -> Value {
        json::trace(self, secrets)
    }

    /// What a list shows of it.
    pub fn to_list_json(&self, secrets: &Secrets) -> Value {
        json::entry(self, secrets)
    }

    /// For people, a line for each step.
    pub fn to_text(&self, secrets: &Secrets) -> String {
        text::trace(self, secrets)
    }

    /// About how many bytes it takes.
    pub(super) fn size_bytes(&self) -> usize {
        let message = |message: &MessageView| {
            let headers: usize = message.headers.iter().map(|(name, value)| name.len() + value.len() + 48).sum();
            message.line.len() + headers + message.body.size_bytes()
        };
        let change = |change: &Change| match change {
            Change::Value { name, before, after, .. } => {
                name.len() + [before, after].into_iter().flatten().map(String::len).sum::<usize>()
            }
            Change::Body { before, after } => before.size_bytes() + after.size_bytes(),
            Change::Message { now } => now.len(),
        };
        let operand =
            |operand: &Operand| operand.expression.len() + operand.values.iter().map(String::len).sum::<usize>();
        let node = |node: &Node| {
            let more = match &node.kind {
                NodeKind::Step { expression, changes, .. } => {
                    expression.as_ref().map_or(0, String::len) + changes.iter().map(change).sum::<usize>()
                }
                NodeKind::Call(call) => message(&call.request) + call.response.as_ref().map_or(0, message),
                NodeKind::Decision(decision) => {
                    decision.compared.iter().map(|told| operand(&told.left) + operand(&told.right)).sum()
                }
                NodeKind::Fault { message, detail, .. } => message.len() + detail.as_ref().map_or(0, String::len),
                _ => 0,
            };
            size_of::<Node>() + more
        };
        message(&self.request) + self.answer.as_ref().map_or(0, message) + self.nodes.iter().map(node).sum::<usize>()
    }
}
