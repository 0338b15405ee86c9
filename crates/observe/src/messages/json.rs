//! A trace as JSON, as docs/tracing.md describes it.

use std::borrow::Cow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use myelin_config::problem::Place;
use myelin_flow::recorder::{Comparison, Operand, StepDecision};
use myelin_secrets::{MASK, is_secret_name};
use serde_json::{Map, Value, json};

use super::body::BodyView;
use super::difference::{Line, difference};
use super::trace::{Change, MessageView, Node, NodeKind, Trace};
use crate::secrets::Secrets;
use crate::steps::chooses_branch;

/// Nodes nested deeper than this are left out: sequences do not nest deeper either.
const DEPTH_LIMIT: usize = 400;

/// All of a trace.
pub(super) fn trace(trace: &Trace, secrets: &Secrets) -> Value {
    let shown = Shown { trace, secrets };
    let mut all = entry(trace, secrets);
    all["request"] = shown.message(&trace.request);
    all["answer"] = trace.answer.as_ref().map_or(Value::Null, |answer| shown.message(answer));
    all["stepsLeftOut"] = json!(trace.left_out);
    all["nodes"] = shown.nodes();
    all
}

/// What a list shows of a trace.
pub(super) fn entry(trace: &Trace, secrets: &Secrets) -> Value {
    let (file, line) = place(trace.service.place.as_ref());
    json!({
        "id": trace.id,
        "correlationId": trace.correlation,
        "service": { "kind": trace.service.kind, "name": &*trace.service.name, "file": file, "line": line },
        "began": timestamp(trace.began),
        "tookMs": milliseconds(trace.took),
        "status": trace.status,
        "faulted": trace.faulted,
        "summary": summary(trace, secrets),
    })
}

/// A sentence that tells traces apart: what was asked, what was decided, and who answered.
pub(super) fn summary(trace: &Trace, secrets: &Secrets) -> String {
    let shown = Shown { trace, secrets };
    let mut parts = vec![trace.request.line.clone()];
    for node in &trace.nodes {
        match &node.kind {
            NodeKind::Decision(decision) => {
                let step = node.parent.and_then(|parent| trace.nodes.get(parent)).map(|node| &node.kind);
                if let Some(NodeKind::Step { step, .. }) = step
                    && chooses_branch(step)
                {
                    parts.push(format!("{step}: {}", shown.text_of(decision, &decision.chosen)));
                }
            }
            NodeKind::Call(call) => {
                let whom = if call.endpoint.is_empty() { &call.url } else { &call.endpoint };
                let how = match (&call.response, &call.failure) {
                    (Some(response), _) => response.line.split(' ').next().unwrap_or_default(),
                    (None, Some(_)) => "failed",
                    (None, None) => "no response",
                };
                parts.push(format!("{whom}: {how}"));
            }
            NodeKind::Fault { code, .. } => parts.push(format!("fault {code}")),
            _ => {}
        }
    }
    let more = parts.len().saturating_sub(SUMMARY_PARTS);
    parts.truncate(SUMMARY_PARTS);
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    secrets.text(&parts.join(" → ")).into_owned()
}

/// So much a summary says.
const SUMMARY_PARTS: usize = 6;

/// A trace with what masks its secrets.
pub(super) struct Shown<'a> {
    pub(super) trace: &'a Trace,
    pub(super) secrets: &'a Secrets,
}

impl Shown<'_> {
    /// The nodes as a tree.
    fn nodes(&self) -> Value {
        let nodes = &self.trace.nodes;
        let mut inside: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        let mut first = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            match node.parent {
                Some(parent) => inside[parent].push(index),
                None => first.push(index),
            }
        }
        Value::Array(first.into_iter().map(|index| self.node(index, &inside, 0)).collect())
    }

    fn node(&self, index: usize, inside: &[Vec<usize>], depth: usize) -> Value {
        let node = &self.trace.nodes[index];
        let mut value = self.alone(node);
        value.insert("atMs".to_owned(), json!(milliseconds(node.at)));
        let children = inside[index].iter().filter(|_| depth < DEPTH_LIMIT);
        let children: Vec<Value> = children.map(|&child| self.node(child, inside, depth + 1)).collect();
        let is_span = !matches!(node.kind, NodeKind::Decision(_) | NodeKind::Fault { .. } | NodeKind::Handler { .. });
        if is_span {
            value.insert("tookMs".to_owned(), node.took.map_or(Value::Null, |took| json!(milliseconds(took))));
            value.insert("nodes".to_owned(), Value::Array(children));
        }
        Value::Object(value)
    }

    fn alone(&self, node: &Node) -> Map<String, Value> {
        let value = match &node.kind {
            NodeKind::Sequence { name, place: at, outcome } => {
                let (file, line) = place(Some(at));
                json!({ "kind": "sequence", "name": &**name, "file": file, "line": line, "outcome": outcome })
            }
            NodeKind::Step { step, expression, outcome, changes } => {
                let (file, line) = place(Some(&step.place));
                let changes: Vec<Value> = changes.iter().map(|change| self.change(change)).collect();
                json!({
                    "kind": "step", "element": step.element, "file": file, "line": line,
                    "expression": expression.as_deref().map(|text| self.secrets.text(text)),
                    "outcome": outcome, "changes": changes,
                })
            }
            NodeKind::Decision(decision) => {
                let text = |text: &str| self.text_of(decision, text);
                let rejected = decision.rejected.iter();
                let rejected: Vec<Value> =
                    rejected.map(|(what, reason)| json!({ "what": text(what), "reason": text(reason) })).collect();
                let compared: Vec<Value> = self.comparisons(decision).iter().map(comparison).collect();
                json!({
                    "kind": "decision",
                    "expression": decision.expression.as_deref().map(text),
                    "value": self.value_of(decision.expression.as_deref(), decision.value.as_deref()),
                    "chosen": text(&decision.chosen),
                    "reason": decision.reason.as_deref().map(text),
                    "rejected": rejected,
                    "compared": compared,
                })
            }
            NodeKind::Call(call) => {
                let (file, line) = place(call.place.as_ref());
                json!({
                    "kind": "call", "endpoint": call.endpoint, "file": file, "line": line,
                    "url": self.secrets.text(&call.url),
                    "request": self.message(&call.request),
                    "response": call.response.as_ref().map(|response| self.message(response)),
                    "failure": call.failure.as_deref().map(|failure| self.secrets.text(failure)),
                })
            }
            NodeKind::Fault { code, origin, message, detail, trail } => json!({
                "kind": "fault", "code": code, "origin": origin,
                "message": self.secrets.text(message),
                "detail": detail.as_deref().map(|detail| self.secrets.text(detail)),
                "trail": trail,
            }),
            NodeKind::Handler { name, place: at, code } => {
                let (file, line) = place(Some(at));
                json!({ "kind": "handler", "name": &**name, "file": file, "line": line, "fault": code })
            }
            NodeKind::Branch { number, is_detached, outcome } => {
                json!({ "kind": "branch", "number": number, "detached": is_detached, "outcome": outcome })
            }
        };
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    /// What a decision compared, without its secrets: where one side is named as a secret is, the other one is the secret.
    pub(super) fn comparisons(&self, decision: &StepDecision) -> Vec<Comparison> {
        let operand = |operand: &Operand, is_secret: bool| Operand {
            expression: short(&self.secrets.text(&operand.expression)),
            values: operand
                .values
                .iter()
                .map(|value| if is_secret { MASK.to_owned() } else { short(&self.secrets.text(value)) })
                .collect(),
            more: operand.more,
        };
        let masked = |told: &Comparison| {
            let is_secret = is_about_secret(told);
            let (mut left, mut right) = (operand(&told.left, is_secret), operand(&told.right, is_secret));
            for side in [&mut left, &mut right] {
                if is_secret && !is_secret_name(&side.expression) {
                    side.expression = MASK.to_owned();
                }
            }
            Comparison { left, right, operator: told.operator.clone(), holds: told.holds }
        };
        decision.compared.iter().map(masked).collect()
    }

    /// A text of a decision without secrets; what it compares with a secret is one, too.
    pub(super) fn text_of(&self, decision: &StepDecision, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for told in decision.compared.iter().filter(|told| is_about_secret(told)) {
            for side in [&told.left, &told.right] {
                let value = side.expression.trim_matches(['\'', '"']);
                if !is_secret_name(value) && !value.is_empty() {
                    text = Cow::Owned(text.replace(value, MASK));
                }
            }
        }
        self.secrets.text(&text).into_owned()
    }

    /// The value of an expression that may ask for a secret by its name.
    pub(super) fn value_of(&self, expression: Option<&str>, value: Option<&str>) -> Option<String> {
        value.map(|value| self.secrets.value(expression.unwrap_or_default(), value).into_owned())
    }

    pub(super) fn message(&self, message: &MessageView) -> Value {
        let headers: Vec<Value> =
            message.headers.iter().map(|(name, value)| json!([name, self.secrets.value(name, value)])).collect();
        json!({ "line": self.secrets.text(&message.line), "headers": headers, "body": self.body(&message.body) })
    }

    fn body(&self, body: &BodyView) -> Value {
        let (state, bytes) = match body {
            BodyView::Empty => ("empty", Some(0)),
            BodyView::Text { bytes, .. } => ("read", Some(*bytes as u64)),
            BodyView::Binary { bytes } => ("binary", Some(*bytes as u64)),
            BodyView::Unread { bytes, .. } => ("unread", *bytes),
            BodyView::Gone => ("sent", None),
        };
        let text = body.text().map(|text| self.text(text));
        let is_cut = match (&text, bytes) {
            (Some(_), Some(bytes)) => body.size_bytes() as u64 != bytes || body.size_bytes() > self.trace.body_bytes,
            (Some(_), None) => true,
            (None, _) => false,
        };
        json!({ "state": state, "bytes": bytes, "text": text, "cut": is_cut })
    }

    /// A body without its secrets, as much of it as is shown.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let limit = self.trace.body_bytes;
        let end = |text: &str| (0..=limit.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        match self.secrets.text(text) {
            Cow::Borrowed(text) => Cow::Borrowed(&text[..end(text)]),
            Cow::Owned(mut text) => {
                text.truncate(end(&text));
                Cow::Owned(text)
            }
        }
    }

    /// The lines of a body that changed.
    pub(super) fn difference(&self, before: &BodyView, after: &BodyView) -> Vec<Line> {
        let text = |body: &BodyView| body.text().map(|text| self.text(text).into_owned()).unwrap_or_default();
        difference(&text(before), &text(after))
    }

    fn change(&self, change: &Change) -> Value {
        match change {
            Change::Value { what, scope, name, before, after } => {
                let text =
                    |text: &Option<String>| text.as_deref().map(|text| self.secrets.value(name, text).into_owned());
                json!({ "what": what, "scope": scope, "name": name, "before": text(before), "after": text(after) })
            }
            Change::Body { before, after } => {
                let lines = self.difference(before, after);
                let lines: Vec<Value> = lines.iter().map(|line| json!([line.sign.to_string(), line.text])).collect();
                json!({ "what": "body", "before": self.body(before), "after": self.body(after), "difference": lines })
            }
            Change::Message { now } => json!({ "what": "message", "now": self.secrets.text(now) }),
        }
    }
}

/// Whether one side of a comparison is named as a secret is.
fn is_about_secret(told: &Comparison) -> bool {
    is_secret_name(&told.left.expression) || is_secret_name(&told.right.expression)
}

fn comparison(told: &Comparison) -> Value {
    let side = |side: &Operand| json!({ "expression": side.expression, "values": side.values, "more": side.more });
    json!({ "left": side(&told.left), "operator": told.operator, "right": side(&told.right), "holds": told.holds })
}

/// So much of an operand is shown. More of it is kept, so that a secret at the end is known as one before it is cut off.
const OPERAND_CHARACTERS: usize = 256;

fn short(text: &str) -> String {
    match text.char_indices().nth(OPERAND_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn place(place: Option<&Place>) -> (Option<&str>, Option<u32>) {
    (place.map(|place| &*place.file), place.map(|place| place.line))
}

/// In milliseconds, to the microsecond.
pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1_000.0
}

/// A time of the day as RFC 3339 has it, in UTC, to the millisecond.
pub(super) fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let time = jiff::Timestamp::from_millisecond(i64::try_from(since.as_millis()).unwrap_or_default());
    time.map_or_else(|_| String::new(), |time| format!("{time:.3}"))
}
