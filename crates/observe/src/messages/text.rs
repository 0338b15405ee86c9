//! A trace for people: a line for each step, which says where it stands, what it decided and what it changed.

use std::fmt::Write as _;
use std::time::Duration;

use myelin_flow::recorder::{Comparison, Operand};

use super::body::BodyView;
use super::json::{Shown, milliseconds, timestamp};
use super::trace::{Change, MessageView, Node, NodeKind, Trace};
use crate::secrets::Secrets;

/// So many lines of a body or of a difference are shown; JSON has more.
const LINES: usize = 24;

/// Longer lines are cut off.
const LINE_CHARACTERS: usize = 400;

pub(super) fn trace(trace: &Trace, secrets: &Secrets) -> String {
    let mut page = Page { shown: Shown { trace, secrets }, out: String::new() };
    page.write();
    page.out
}

struct Page<'a> {
    shown: Shown<'a>,
    out: String,
}

impl Page<'_> {
    fn write(&mut self) {
        let trace = self.shown.trace;
        let status = trace.status.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
        let fault = if trace.faulted { ", with a fault" } else { "" };
        let line = self.shown.secrets.text(&trace.request.line).into_owned();
        let head = format!(
            "trace {} of {}, {}: {line} → {status} in {}{fault}",
            trace.id,
            trace.service,
            timestamp(trace.began),
            time(trace.took)
        );
        self.line(0, &head);
        if !trace.correlation.is_empty() {
            self.line(1, &format!("correlation {}", trace.correlation));
        }
        self.message(1, "client sent", &trace.request);
        for node in &trace.nodes {
            self.node(node);
        }
        if trace.left_out > 0 {
            self.line(1, &format!("{} steps more are left out", trace.left_out));
        }
        if let Some(answer) = &trace.answer {
            self.message(1, "client got", answer);
        }
    }

    fn depth(&self, node: &Node) -> usize {
        let mut depth = 1;
        let mut parent = node.parent;
        while let Some(node) = parent.and_then(|parent| self.shown.trace.nodes.get(parent)) {
            depth += 1;
            parent = node.parent;
        }
        depth
    }

    fn node(&mut self, node: &Node) {
        let depth = self.depth(node);
        let took = node.took.map(|took| format!("  [{}]", time(took))).unwrap_or_default();
        let secrets = self.shown.secrets;
        match &node.kind {
            NodeKind::Sequence { name, place, outcome } => {
                self.line(depth, &format!("sequence {name} ({place}){}{took}", how(outcome)));
            }
            NodeKind::Step { step, expression, outcome, changes } => {
                self.line(depth, &format!("{step}{}{took}", how(outcome)));
                if let Some(expression) = expression {
                    self.line(depth + 1, &format!("expression {}", secrets.text(expression)));
                }
                for change in changes {
                    self.change(depth + 1, change);
                }
            }
            NodeKind::Decision(decision) => {
                let mut line = String::new();
                let text = |text: &str| self.shown.text_of(decision, text);
                if let Some(expression) = &decision.expression {
                    let _ = write!(line, "{} → ", text(expression));
                }
                let value = self.shown.value_of(decision.expression.as_deref(), decision.value.as_deref());
                if let Some(value) = value {
                    let _ = write!(line, "{value:?} → ");
                }
                line.push_str(&text(&decision.chosen));
                if let Some(reason) = &decision.reason {
                    let _ = write!(line, ", because {}", text(reason));
                }
                self.line(depth, &line);
                for told in self.shown.comparisons(decision) {
                    self.line(depth + 1, &comparison(&told));
                }
                for (what, reason) in &decision.rejected {
                    let line =
                        format!("not {}: {}", self.shown.text_of(decision, what), self.shown.text_of(decision, reason));
                    self.line(depth + 1, &line);
                }
            }
            NodeKind::Call(call) => {
                let whom = match (&call.place, call.endpoint.as_str()) {
                    (Some(place), "") => format!(" (endpoint at {place})"),
                    (Some(place), name) => format!(" (endpoint {name}, {place})"),
                    (None, _) => String::new(),
                };
                let line = secrets.text(&call.request.line).into_owned();
                self.line(depth, &format!("asked {line}{whom}{took}"));
                self.message(depth + 1, "sent", &call.request);
                match (&call.response, &call.failure) {
                    (Some(response), _) => self.message(depth + 1, "got", response),
                    (None, Some(failure)) => self.line(depth + 1, &format!("failed: {}", secrets.text(failure))),
                    (None, None) => self.line(depth + 1, "no response was waited for, or none came"),
                }
            }
            NodeKind::Fault { code, origin, message, detail, trail } => {
                let raised = trail.first().map(|step| format!(", raised at {step}")).unwrap_or_default();
                self.line(depth, &format!("fault {code} of the {origin}{raised}: {}", secrets.text(message)));
                if let Some(detail) = detail {
                    self.line(depth + 1, &secrets.text(detail));
                }
            }
            NodeKind::Handler { name, place, code } => {
                self.line(depth, &format!("fault {code} is handled by {name} ({place})"));
            }
            NodeKind::Branch { number, is_detached, outcome } => {
                let number = number.map_or("of the message itself".to_owned(), |number| number.to_string());
                let detached = if *is_detached { ", for which nobody waits" } else { "" };
                self.line(depth, &format!("branch {number}{detached}{}{took}", how(outcome)));
            }
        }
    }

    fn change(&mut self, depth: usize, change: &Change) {
        let secrets = self.shown.secrets;
        match change {
            Change::Value { what, scope, name, before, after } => {
                let text = |text: &Option<String>| match text {
                    Some(text) => format!("{:?}", secrets.value(name, text)),
                    None => "not set".to_owned(),
                };
                let scope = if matches!(*scope, "" | "default") { String::new() } else { format!(" ({scope})") };
                self.line(depth, &format!("{what} {name}{scope}: {} → {}", text(before), text(after)));
            }
            Change::Body { before, after } => {
                self.line(depth, "body:");
                let lines = self.shown.difference(before, after);
                if lines.is_empty() {
                    let told = format!("{} → {}", bytes(before), bytes(after));
                    self.line(depth + 1, &told);
                }
                for line in lines.iter().take(LINES) {
                    self.line(depth + 1, &format!("{} {}", line.sign, line.text));
                }
                if lines.len() > LINES {
                    self.line(depth + 1, &format!("… {} lines more", lines.len() - LINES));
                }
            }
            Change::Message { now } => {
                self.line(depth, &format!("the message is the response now: {}", secrets.text(now)));
            }
        }
    }

    fn message(&mut self, depth: usize, how: &str, message: &MessageView) {
        let line = self.shown.secrets.text(&message.line).into_owned();
        self.line(depth, &format!("{how} {line}, {}", bytes(&message.body)));
        for (name, value) in &message.headers {
            let value = self.shown.secrets.value(name, value).into_owned();
            self.line(depth + 1, &format!("{name}: {value}"));
        }
        let Some(text) = message.body.text() else { return };
        let text = self.shown.text(text);
        let laid_out = super::layout::lines(&text).into_owned();
        let lines: Vec<&str> = laid_out.lines().collect();
        for line in lines.iter().take(LINES) {
            self.line(depth + 1, &format!("| {line}"));
        }
        if lines.len() > LINES {
            self.line(depth + 1, &format!("| … {} lines more", lines.len() - LINES));
        }
    }

    /// A line; what would be another one, or move the cursor, is written as an escape.
    fn line(&mut self, depth: usize, text: &str) {
        self.out.extend(std::iter::repeat_n("  ", depth));
        for (index, c) in text.chars().enumerate() {
            if index >= LINE_CHARACTERS {
                self.out.push('…');
                break;
            }
            if c.is_control() && c != '\t' {
                let _ = write!(self.out, "{}", c.escape_default());
            } else {
                self.out.push(c);
            }
        }
        self.out.push('\n');
    }
}

/// `//symbol "IBM " = "IBM" is false`: a side that is no literal is told with its expression.
fn comparison(told: &Comparison) -> String {
    let side = |side: &Operand| {
        let values: Vec<String> = side.values.iter().map(|value| format!("{value:?}")).collect();
        let more = if side.more > 0 { format!(" and {} more", side.more) } else { String::new() };
        let values = if values.is_empty() { "nothing".to_owned() } else { values.join(", ") };
        match side.values.as_slice() {
            [value] if side.expression.trim_matches(['\'', '"']) == value => format!("{values}{more}"),
            _ => format!("{} {values}{more}", side.expression),
        }
    };
    let holds = match told.holds {
        Some(true) => "is true",
        Some(false) => "is false",
        None => "cannot be compared",
    };
    format!("{} {} {} {holds}", side(&told.left), told.operator, side(&told.right))
}

/// How something ended, where that is not as usual.
fn how(outcome: &str) -> String {
    match outcome {
        "next" => String::new(),
        outcome => format!(" ⇒ {outcome}"),
    }
}

fn bytes(body: &BodyView) -> String {
    match body {
        BodyView::Empty => "no body".to_owned(),
        BodyView::Text { bytes, .. } => format!("{bytes} bytes"),
        BodyView::Binary { bytes } => format!("{bytes} bytes that are no text"),
        BodyView::Unread { bytes: Some(bytes), .. } => format!("{bytes} bytes, still on the wire"),
        BodyView::Unread { bytes: None, .. } => "still on the wire".to_owned(),
        BodyView::Gone => "a body that was sent already".to_owned(),
    }
}

fn time(time: Duration) -> String {
    format!("{:.2} ms", milliseconds(time))
}
