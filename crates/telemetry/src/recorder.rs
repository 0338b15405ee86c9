//! Makes spans of what is told of an exchange: one for the service, one for each request to an endpoint, and, where it is
//! wanted, one for each branch, sequence and mediator.

mod attributes;
mod exchange;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use myelin_engine::observer::{ExchangeEnd, Fault, Origin};
use myelin_engine::recorder::{
    BranchStart, CalledEndpoint, Exchange, ExchangeStart, Flow, Node, Outcome, Recorder, RecorderSource,
    RequestContext, Sequence, StepDecision, StepPlace,
};
use myelin_engine::transport::{Outgoing, SendError, Sent};
use myelin_message::{Head, Message, StatusCode, TraceMark};

use crate::export::{Queue, Telemetry, TracingOptions};
use crate::span::{Attribute, Span, SpanEvent, SpanKind};
use crate::trace_context::{SpanId, TraceContext, TraceFlags, TraceId};
use attributes::{error_type, place_attributes};
use exchange::TracedExchange;

/// Decides for each exchange of a thread whether it is traced, and makes its spans.
pub struct SpanRecorderSource {
    options: TracingOptions,
    spans: Queue<Span>,
}

impl SpanRecorderSource {
    /// For one thread; `None` where no trace is recorded.
    pub fn new(telemetry: &Telemetry) -> Option<SpanRecorderSource> {
        Some(SpanRecorderSource { options: telemetry.tracing().clone(), spans: telemetry.spans()?.clone() })
    }
}

impl RecorderSource for SpanRecorderSource {
    fn record(&self, start: &mut ExchangeStart<'_>) -> Option<Rc<dyn Recorder>> {
        let TracingOptions { sampler, tail, continues, .. } = &self.options;
        let came = TraceContext::of(&start.request.head);
        let (parent, link) = if *continues { (came, None) } else { (None, came) };
        let trace = parent.as_ref().map_or_else(TraceId::new, |parent| parent.trace);
        let is_sampled = sampler.samples(&trace, parent.as_ref());
        let flags = parent.as_ref().map_or_else(TraceFlags::default, |parent| parent.flags).sampled(is_sampled);
        if !is_sampled && !tail.is_active() {
            pass_on(&mut start.request.head, parent, trace, flags);
            return None;
        }
        let state = parent.as_ref().and_then(|parent| parent.state.clone());
        let context = TraceContext { trace, span: SpanId::new(), flags, state };
        let mark = TraceMark { trace: *trace.bytes(), span: *context.span.bytes(), is_sampled };
        start.arrival.correlation.set_trace(mark);
        let exchange = TracedExchange::begin(start, context, parent, link, &self.options, self.spans.clone());
        let around = exchange.context.span;
        Some(Rc::new(FlowRecorder::new(Rc::new(exchange), None, around)))
    }
}

/// A message that is not traced tells so to the backends that it goes on to.
fn pass_on(head: &mut Head, parent: Option<TraceContext>, trace: TraceId, flags: TraceFlags) {
    match parent {
        // It says so already.
        Some(parent) if parent.flags == flags => {}
        Some(parent) => TraceContext { flags, ..parent }.write(head),
        None => TraceContext { trace, span: SpanId::new(), flags, state: None }.write(head),
    }
}

/// Makes spans of what one flow of an exchange does.
struct FlowRecorder {
    exchange: Rc<TracedExchange>,
    /// The span of a branch, then those of sequences and mediators that are running, the innermost last; `None` for those
    /// that there is no room for.
    open: RefCell<Vec<Option<Span>>>,
    /// The span around all of them, where none of them has room.
    around: SpanId,
    /// The request that an endpoint has not answered yet.
    call: RefCell<Option<Span>>,
    /// How many requests failed one after the other, and were sent once more.
    failed: Cell<u32>,
}

impl FlowRecorder {
    /// For a flow within the span `around`; `branch` is its own, where it has one.
    fn new(exchange: Rc<TracedExchange>, branch: Option<Span>, around: SpanId) -> FlowRecorder {
        let open = RefCell::new(branch.map(Some).into_iter().collect());
        FlowRecorder { exchange, open, around, call: RefCell::default(), failed: Cell::new(0) }
    }

    /// The span that is running.
    fn current(&self) -> SpanId {
        let open = self.open.borrow();
        open.iter().rev().flatten().next().map_or(self.around, |span| span.context.span)
    }

    /// Adds an event to the span that is running.
    fn add(&self, event: SpanEvent) {
        match self.open.borrow_mut().iter_mut().rev().flatten().next() {
            Some(span) => span.add(event),
            None => self.exchange.add(event),
        }
    }

    /// A span begins within the one that is running.
    fn begin(&self, name: impl Into<std::borrow::Cow<'static, str>>, kind: SpanKind) -> Option<Span> {
        self.exchange.span(name.into(), kind, self.current())
    }

    /// The span that began last ends.
    fn end(&self, error: Option<String>) {
        let Some(Some(mut span)) = self.open.borrow_mut().pop() else { return };
        span.error = error;
        self.exchange.finish(span);
    }

    /// All ends that has not ended.
    fn end_all(&self, why: &str) {
        if let Some(mut call) = self.call.take() {
            call.error = Some(why.to_owned());
            self.exchange.finish(call);
        }
        while !self.open.borrow().is_empty() {
            self.end(Some(why.to_owned()));
        }
    }
}

impl Recorder for FlowRecorder {
    fn hears_of_steps(&self) -> bool {
        self.exchange.mediators
    }

    fn begins<'a>(
        &'a self,
        _: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> Option<myelin_engine::transport::LocalFuture<'a, ()>> {
        self.exchange.is_served_by(context.service);
        None
    }

    fn sequence_begins(&self, sequence: &Sequence, _: &mut Exchange, _: &RequestContext<'_>) {
        if !self.exchange.mediators {
            return;
        }
        let mut span = self.begin(sequence.name.to_string(), SpanKind::Internal);
        if let Some(span) = &mut span {
            span.set("componentName", Some(sequence.name.to_string()));
            span.set("componentType", Some("Sequence"));
            span.attributes.extend(place_attributes(&sequence.place));
        }
        self.open.borrow_mut().push(span);
    }

    fn sequence_ends(&self, _: &Sequence, outcome: &Outcome<Flow>) {
        if self.exchange.mediators {
            self.end(outcome.as_ref().err().map(|fault| fault.message.clone()));
        }
    }

    fn step_begins(&self, Node { step, .. }: &Node, _: &mut Exchange, _: &RequestContext<'_>) {
        if !self.exchange.mediators {
            return;
        }
        let mut span = self.begin(step.element, SpanKind::Internal);
        if let Some(span) = &mut span {
            span.set("componentName", Some(step.element));
            span.set("componentType", Some("Mediator"));
            span.attributes.extend(place_attributes(&step.place));
        }
        self.open.borrow_mut().push(span);
    }

    fn step_ends(&self, _: &StepPlace, _: &mut Exchange, _: &RequestContext<'_>, outcome: &Outcome<Flow>) {
        if self.exchange.mediators {
            self.end(outcome.as_ref().err().map(|fault| fault.message.clone()));
        }
    }

    fn decided(&self, decision: &StepDecision) {
        // Values of expressions are parts of messages, which spans do not show.
        let rejected = decision.rejected.iter().map(|(name, reason)| match reason.is_empty() {
            true => name.clone(),
            false => format!("{name}: {reason}"),
        });
        let rejected = rejected.collect::<Vec<_>>().join("; ");
        let mut attributes = vec![Attribute::text("myelin.decision.chosen", decision.chosen.clone())];
        attributes.extend(decision.reason.clone().map(|reason| Attribute::text("myelin.decision.reason", reason)));
        if !rejected.is_empty() {
            attributes.push(Attribute::text("myelin.decision.rejected", rejected));
        }
        self.add(SpanEvent { time: self.exchange.now(), name: "decision", attributes });
    }

    fn sends(&self, endpoint: CalledEndpoint<'_>, outgoing: &mut Outgoing) {
        let mut span = self.exchange.span("".into(), SpanKind::Client, self.current());
        let context = match &mut span {
            Some(span) => {
                attributes::of_call(span, endpoint, outgoing);
                if self.failed.get() > 0 {
                    span.attributes.push(Attribute::integer("http.request.resend_count", self.failed.get()));
                }
                span.context.clone()
            }
            // There is no room for the span, and the trace goes on without it.
            None => self.exchange.context.at(self.current()),
        };
        if matches!(outgoing.address.scheme(), "http" | "https" | "local") {
            context.write(&mut outgoing.head);
        }
        if let Some(mut lost) = self.call.replace(span) {
            lost.error = Some("given up".to_owned());
            self.exchange.finish(lost);
        }
    }

    fn sent(&self, result: Result<&mut Sent, &SendError>) {
        self.failed.set(if result.is_err() { self.failed.get() + 1 } else { 0 });
        let Some(mut span) = self.call.take() else { return };
        match result {
            Ok(Sent::Response(response)) => {
                let status = response.status;
                span.attributes.push(Attribute::integer("http.response.status_code", status.as_u16()));
                if status.is_client_error() || status.is_server_error() {
                    span.set("error.type", Some(status.as_str().to_owned()));
                    // The status says it all.
                    span.error = Some(String::new());
                }
            }
            Ok(Sent::Accepted) => {}
            Err(error) => {
                span.set("error.type", Some(error_type(error.kind)));
                span.error = Some(error.message.clone());
            }
        }
        self.exchange.finish(span);
    }

    fn faulted(&self, fault: &Fault) {
        self.failed.set(0);
        self.exchange.faulted.set(true);
        let origin = match fault.origin {
            Origin::Client => "client",
            Origin::Backend => "backend",
            Origin::Bus => "bus",
        };
        let code = fault.word.as_deref().map_or_else(|| fault.code.to_string(), str::to_owned);
        let mut attributes = vec![
            // What stands in `ERROR_CODE` is the type, by which faults are grouped.
            Attribute::text("exception.type", code.clone()),
            Attribute::text("exception.message", fault.message.clone()),
            Attribute::text("exception.stacktrace", fault.trail.join("\n")),
            Attribute::text("myelin.fault.code", code),
            Attribute::text("myelin.fault.origin", origin),
        ];
        attributes.extend(fault.detail.clone().map(|detail| Attribute::text("myelin.fault.detail", detail)));
        self.add(SpanEvent { time: self.exchange.now(), name: "exception", attributes });
    }

    fn handles(&self, _: &Fault, handler: &Sequence) {
        self.failed.set(0);
        let mut attributes = vec![Attribute::text("myelin.fault.handler", handler.name.to_string())];
        attributes.extend(place_attributes(&handler.place));
        self.add(SpanEvent { time: self.exchange.now(), name: "fault.handled", attributes });
    }

    fn branch(&self, start: BranchStart) -> Option<Rc<dyn Recorder>> {
        let name = match start.number {
            Some(number) => format!("branch {}", number + 1),
            None => "branch".to_owned(),
        };
        let mut span = self.begin(name, SpanKind::Internal);
        if let Some(span) = &mut span {
            span.set("componentType", Some("Branch"));
            span.attributes.push(Attribute::boolean("myelin.branch.detached", start.is_detached));
        }
        Some(Rc::new(FlowRecorder::new(Rc::clone(&self.exchange), span, self.current())))
    }

    fn flow_ends(&self, result: Result<Option<StatusCode>, &Fault>) {
        // The outermost is that of the branch; the first flow has none, and nothing of it is open any more.
        while self.open.borrow().len() > 1 {
            self.end(None);
        }
        self.end(result.err().map(|fault| fault.message.clone()));
    }

    fn answers(&self, answer: &mut Message) {
        self.exchange.answers(&answer.head);
    }

    fn ends(&self, end: &ExchangeEnd) {
        self.end_all("the exchange ended before it did");
        self.exchange.end(end);
    }
}

impl Drop for FlowRecorder {
    fn drop(&mut self) {
        self.end_all("cancelled");
        self.exchange.flush();
    }
}
