//! Records one exchange; each of its flows has a recorder, and all write to the same recording.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use myelin_channel::{LocalFuture, Sent};
use myelin_config::problem::Place;
use myelin_flow::context::RequestContext;
use myelin_flow::counters::ExchangeEnd;
use myelin_flow::definitions::{Node as SequenceNode, Sequence};
use myelin_flow::exchange::{Direction, Exchange};
use myelin_flow::fault::{Fault, Origin, Outcome};
use myelin_flow::mediator::Flow;
use myelin_flow::position::StepPlace;
use myelin_flow::recorder::{BranchStart, CalledEndpoint, Recorder, StepDecision};
use myelin_flow::transport::Transport;
use myelin_message::{Body, Message, Outgoing, SendError, Source};

use super::MessageTracing;
use super::body::{BodyView, Ticket, wait_for};
use super::snapshot::{Snapshot, cut, view, view_of_outgoing};
use super::source::Candidate;
use super::trace::{Call, Change, MessageView, Node, NodeKind, Trace};

/// What is recorded of one exchange; it becomes a trace when the last of its flows has let go of it.
pub(super) struct Recording {
    tracing: Arc<MessageTracing>,
    clock: Rc<dyn Transport>,
    begun: Duration,
    /// Whether the body of the request is not looked at, as its client waits to be asked for it.
    shy: bool,
    /// The selections that want it, as far as is known.
    candidates: Vec<Candidate>,
    /// Whether an artefact with `trace="enable"` took part.
    is_marked: Cell<bool>,
    trace: RefCell<Trace>,
    /// What was seen of bodies on the wire, the last ones last.
    seen: RefCell<Vec<(Ticket, Arc<str>)>>,
    /// The sources of these bodies: as long as they stand here, no other source gets the address that tickets name.
    pinned: RefCell<Vec<Weak<dyn Source>>>,
}

/// Records one flow.
pub(super) struct FlowRecorder {
    recording: Rc<Recording>,
    /// What began and has not ended, the innermost last.
    open: RefCell<Vec<Open>>,
    /// The branch that it is; `None` for the first flow.
    root: Option<usize>,
    /// The request that was sent last, and has no response.
    call: Cell<Option<usize>>,
}

/// Something that has not ended.
struct Open {
    /// `None` where it is beyond the limit.
    node: Option<usize>,
    /// Of a step; `None` for a sequence.
    before: Option<Snapshot>,
    /// The changes that it had made when the first step inside it began; `None` while there was none.
    ahead: Option<Vec<Change>>,
    /// The exchange as the last step inside it left it.
    inner: Option<Snapshot>,
}

impl Open {
    fn new(node: Option<usize>, before: Option<Snapshot>) -> Open {
        Open { node, before, ahead: None, inner: None }
    }

    /// The changes that the step made itself, without those of the steps inside it.
    fn own_changes(&self, after: &Snapshot) -> Vec<Change> {
        let mut changes = self.before.as_ref().map_or_else(Vec::new, |before| before.changes(after));
        if let Some(inner) = &self.inner {
            let behind = inner.changes(after);
            let own = || self.ahead.iter().flatten().chain(&behind);
            changes.retain(|change| own().any(|own| own.is_about_the_same(change)));
        }
        changes
    }
}

impl Recording {
    pub(super) fn new(
        tracing: Arc<MessageTracing>,
        clock: Rc<dyn Transport>,
        shy: bool,
        candidates: Vec<Candidate>,
        is_marked: bool,
        trace: Trace,
    ) -> Recording {
        let begun = clock.monotonic();
        let is_marked = Cell::new(is_marked);
        Recording {
            tracing,
            clock,
            begun,
            shy,
            candidates,
            is_marked,
            trace: RefCell::new(trace),
            seen: RefCell::default(),
            pinned: RefCell::default(),
        }
    }

    fn comes_to(&self, kind: &str, name: &str) {
        self.candidates.iter().for_each(|candidate| candidate.comes_to(kind, name));
    }

    fn now(&self) -> Duration {
        self.clock.monotonic().saturating_sub(self.begun)
    }

    fn body_bytes(&self) -> usize {
        self.tracing.limits.body_bytes
    }

    /// Notes that something begins; `None` where there is no room for it.
    fn begin(&self, parent: Option<usize>, kind: NodeKind) -> Option<usize> {
        let at = self.now();
        let mut trace = self.trace.borrow_mut();
        if trace.nodes.len() >= self.tracing.limits.steps {
            trace.left_out += 1;
            return None;
        }
        trace.nodes.push(Node { parent, at, took: None, kind });
        Some(trace.nodes.len() - 1)
    }

    fn end(&self, node: Option<usize>, change: impl FnOnce(&mut NodeKind)) {
        let now = self.now();
        if let Some(node) = node
            && let Some(node) = self.trace.borrow_mut().nodes.get_mut(node)
        {
            node.took = Some(now.saturating_sub(node.at));
            change(&mut node.kind);
        }
    }

    fn snapshot(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Snapshot {
        self.pin(&exchange.message.body);
        let mut snapshot = Snapshot::of(exchange, context.definitions, self.body_bytes(), self.shy);
        self.remember(&mut snapshot.body);
        snapshot
    }

    /// Keeps the source of a body from being taken for another one.
    fn pin(&self, body: &Body) {
        let Body::Wire(wire) = body else { return };
        let mut pinned = self.pinned.borrow_mut();
        if pinned.iter().any(|source| std::ptr::addr_eq(source.as_ptr(), Rc::as_ptr(&wire.source))) {
            return;
        }
        if pinned.len() >= SEEN {
            let gone = pinned.remove(0).as_ptr().cast::<()>().addr();
            self.seen.borrow_mut().retain(|((source, _), _)| *source != gone);
        }
        pinned.push(Rc::downgrade(&wire.source));
    }

    /// Keeps what is seen of a body on the wire, and shows what was seen of it before.
    fn remember(&self, body: &mut BodyView) {
        let BodyView::Unread { text, ticket, .. } = body else { return };
        let mut seen = self.seen.borrow_mut();
        let known = seen.iter().position(|(known, _)| known == ticket);
        match (text, known) {
            (Some(text), Some(known)) if text.len() >= seen[known].1.len() => seen[known].1 = Arc::clone(text),
            (text, Some(known)) => *text = Some(Arc::clone(&seen[known].1)),
            (Some(text), None) => {
                if seen.len() >= SEEN {
                    seen.remove(0);
                }
                seen.push((*ticket, Arc::clone(text)));
            }
            (None, None) => {}
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let trace = self.trace.get_mut();
        let faulted = trace.faulted;
        let wanted = self.candidates.iter().any(|candidate| {
            candidate.holds.get()
                && candidate.through.borrow().is_none()
                && (faulted || !candidate.faulted)
                && self.tracing.takes(candidate.selection)
        });
        if wanted || self.is_marked.get() {
            let trace = std::mem::replace(trace, Trace::empty(trace.service.clone()));
            self.tracing.keep(trace);
        }
    }
}

impl FlowRecorder {
    pub(super) fn first(recording: Recording) -> FlowRecorder {
        FlowRecorder { recording: Rc::new(recording), open: RefCell::default(), root: None, call: Cell::default() }
    }

    fn parent(&self) -> Option<usize> {
        let open = self.open.borrow();
        open.iter().rev().find_map(|open| open.node).or(self.root)
    }

    fn begin(&self, kind: NodeKind, before: Option<Snapshot>) {
        let node = self.recording.begin(self.parent(), kind);
        let mut open = self.open.borrow_mut();
        if let (Some(before), Some(outer)) = (&before, outer_step(&mut open)) {
            let ahead = || outer.before.as_ref().map_or_else(Vec::new, |outer| outer.changes(before));
            outer.ahead.get_or_insert_with(ahead);
        }
        open.push(Open::new(node, before));
    }

    /// Notes something that takes no time.
    fn note(&self, kind: NodeKind) -> Option<usize> {
        self.recording.begin(self.parent(), kind)
    }

    fn place_of(sequence: &Sequence) -> (Arc<str>, Place) {
        (Arc::clone(&sequence.name), sequence.place.clone())
    }
}

impl Recorder for FlowRecorder {
    fn begins<'a>(
        &'a self,
        exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> Option<LocalFuture<'a, ()>> {
        let asks = self.recording.candidates.iter().any(|candidate| candidate.when.is_some());
        asks.then(|| -> LocalFuture<'a, ()> {
            Box::pin(async move {
                for candidate in &self.recording.candidates {
                    candidate.ask(exchange, context).await;
                }
            })
        })
    }

    fn came<'a>(
        &'a self,
        direction: Direction,
        body: &'a mut Body,
        transport: &'a dyn Transport,
    ) -> Option<LocalFuture<'a, ()>> {
        let is_request = direction == Direction::Request;
        if is_request && self.recording.shy {
            return None;
        }
        let limit_bytes = self.recording.body_bytes();
        let call = self.call.take();
        self.recording.pin(body);
        let waiting = wait_for(body, limit_bytes, transport)?;
        Some(Box::pin(async move {
            let mut seen = waiting.await;
            self.recording.remember(&mut seen);
            let mut trace = self.recording.trace.borrow_mut();
            match call.and_then(|call| trace.nodes.get_mut(call)).map(|node| &mut node.kind) {
                Some(NodeKind::Call(call)) => {
                    call.response.iter_mut().for_each(|response| response.body = seen.clone());
                }
                _ if is_request => trace.request.body = seen,
                _ => {}
            }
        }))
    }

    fn sequence_begins(&self, sequence: &Sequence, _: &mut Exchange, _: &RequestContext<'_>) {
        self.recording.comes_to("sequence", &sequence.name);
        if sequence.is_traced && !self.recording.tracing.is_silenced("sequence", &sequence.name) {
            self.recording.is_marked.set(true);
        }
        let (name, place) = FlowRecorder::place_of(sequence);
        self.begin(NodeKind::Sequence { name, place, outcome: UNFINISHED }, None);
    }

    fn sequence_ends(&self, _: &Sequence, outcome: &Outcome<Flow>) {
        let Some(open) = self.open.borrow_mut().pop() else { return };
        self.recording.end(open.node, |kind| {
            if let NodeKind::Sequence { outcome: ended, .. } = kind {
                *ended = word(outcome);
            }
        });
    }

    fn step_begins(&self, node: &SequenceNode, exchange: &mut Exchange, context: &RequestContext<'_>) {
        let before = self.recording.snapshot(exchange, context);
        let (step, expression) = (node.step.clone(), node.expression.as_deref().map(|text| cut(text).into_owned()));
        let kind = NodeKind::Step { step, expression, outcome: UNFINISHED, changes: Vec::new() };
        self.begin(kind, Some(before));
    }

    fn step_ends(&self, _: &StepPlace, exchange: &mut Exchange, context: &RequestContext<'_>, outcome: &Outcome<Flow>) {
        let Some(open) = self.open.borrow_mut().pop() else { return };
        let after = open.node.map(|_| self.recording.snapshot(exchange, context));
        let changed = after.as_ref().map_or_else(Vec::new, |after| open.own_changes(after));
        if let (Some(after), Some(outer)) = (after, outer_step(&mut self.open.borrow_mut())) {
            outer.inner = Some(after);
        }
        self.recording.end(open.node, |kind| {
            if let NodeKind::Step { outcome: ended, changes, .. } = kind {
                *ended = word(outcome);
                *changes = changed;
            }
        });
    }

    fn decided(&self, decision: &StepDecision) {
        let short = |text: &Option<String>| text.as_ref().map(|text| cut(text).into_owned());
        self.note(NodeKind::Decision(StepDecision {
            expression: short(&decision.expression),
            value: short(&decision.value),
            chosen: cut(&decision.chosen).into_owned(),
            reason: short(&decision.reason),
            rejected: decision.rejected.clone(),
            compared: decision.compared.clone(),
        }));
    }

    fn sends(&self, endpoint: CalledEndpoint<'_>, outgoing: &mut Outgoing) {
        self.recording.comes_to("endpoint", endpoint.name);
        if endpoint.is_traced && !self.recording.tracing.is_silenced("endpoint", endpoint.name) {
            self.recording.is_marked.set(true);
        }
        self.recording.pin(&outgoing.body);
        let mut request = view_of_outgoing(outgoing, self.recording.body_bytes(), self.recording.shy);
        self.recording.remember(&mut request.body);
        let call = Call {
            endpoint: endpoint.name.to_owned(),
            place: endpoint.place.cloned(),
            url: outgoing.address.to_string(),
            request,
            response: None,
            failure: None,
        };
        self.call.set(self.note(NodeKind::Call(Box::new(call))));
    }

    fn sent(&self, result: Result<&mut Sent, &SendError>) {
        let limit_bytes = self.recording.body_bytes();
        let (response, failure): (Option<MessageView>, Option<String>) = match result {
            Ok(Sent::Response(response)) => (Some(view(response, false, limit_bytes, false)), None),
            Ok(Sent::Accepted) => (None, None),
            Err(error) => (None, Some(error.message.clone())),
        };
        self.recording.end(self.call.get(), |kind| {
            if let NodeKind::Call(call) = kind {
                (call.response, call.failure) = (response, failure);
            }
        });
    }

    fn faulted(&self, fault: &Fault) {
        self.recording.trace.borrow_mut().faulted = true;
        self.note(NodeKind::Fault {
            code: fault.error_code().text().into_owned(),
            origin: match fault.origin {
                Origin::Client => "client",
                Origin::Backend => "backend",
                Origin::Bus => "bus",
            },
            message: cut(&fault.message).into_owned(),
            detail: fault.detail.as_ref().map(|detail| cut(detail).into_owned()),
            trail: fault.trail.clone(),
        });
    }

    fn handles(&self, fault: &Fault, handler: &Sequence) {
        let (name, place) = FlowRecorder::place_of(handler);
        self.note(NodeKind::Handler { name, place, code: fault.error_code().text().into_owned() });
    }

    fn branch(&self, start: BranchStart) -> Option<Rc<dyn Recorder>> {
        let BranchStart { number, is_detached } = start;
        let root = self.note(NodeKind::Branch { number, is_detached, outcome: UNFINISHED });
        Some(Rc::new(FlowRecorder {
            recording: Rc::clone(&self.recording),
            open: RefCell::default(),
            // A branch beyond the limit has no place of its own, and neither have its steps.
            root: root.or(self.root),
            call: Cell::default(),
        }))
    }

    fn flow_ends(&self, result: Result<Option<StatusCode>, &Fault>) {
        let how = match result {
            Ok(Some(_)) => "answer",
            Ok(None) => "end",
            Err(_) => "fault",
        };
        self.recording.end(self.root, |kind| {
            if let NodeKind::Branch { outcome, .. } = kind {
                *outcome = how;
            }
        });
    }

    fn answers(&self, answer: &mut Message) {
        self.recording.pin(&answer.body);
        let mut seen = view(answer, false, self.recording.body_bytes(), self.recording.shy);
        self.recording.remember(&mut seen.body);
        self.recording.trace.borrow_mut().answer = Some(seen);
    }

    fn ends(&self, end: &ExchangeEnd) {
        let took = self.recording.now();
        let mut trace = self.recording.trace.borrow_mut();
        trace.status = end.status.map(|status| status.as_u16());
        trace.faulted |= end.faulted;
        trace.took = took;
    }
}

/// The step in which the next one begins.
fn outer_step(open: &mut [Open]) -> Option<&mut Open> {
    open.iter_mut().rev().find(|open| open.before.is_some())
}

/// So many bodies on the wire are remembered: those of a request, its calls and its branches.
const SEEN: usize = 64;

/// What has not ended, because nobody waited for it any more.
const UNFINISHED: &str = "unfinished";

fn word(outcome: &Outcome<Flow>) -> &'static str {
    match outcome {
        Ok(Flow::Next) => "next",
        Ok(Flow::Respond) => "respond",
        Ok(Flow::Loopback) => "loopback",
        Ok(Flow::Split) => "split",
        Ok(Flow::Drop) => "drop",
        Err(_) => "fault",
    }
}
