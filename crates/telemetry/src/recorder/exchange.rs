//! What the spans of one exchange have in common: their trace, their clock, and whether they are kept.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, UNIX_EPOCH};

use myelin_engine::observer::ExchangeEnd;
use myelin_engine::recorder::{ExchangeStart, ServiceIdentity};
use myelin_engine::transport::Transport;
use myelin_message::Head;

use super::attributes;
use crate::export::{Queue, TracingOptions};
use crate::sampling::TailSampler;
use crate::span::{Attribute, Span, SpanEvent, SpanKind};
use crate::trace_context::{SpanId, TraceContext};

/// An exchange that is traced.
pub(super) struct TracedExchange {
    /// The trace, and the span of the service.
    pub(super) context: TraceContext,
    /// Whether sequences and mediators have spans.
    pub(super) mediators: bool,
    /// Whether there was a fault.
    pub(super) faulted: Cell<bool>,
    tail: TailSampler,
    queue: Queue<Span>,
    clock: Rc<dyn Transport>,
    /// When it began: in nanoseconds since 1970, and by the clock that only runs forward.
    begun: (u64, Duration),
    /// The span of the service, as long as it has not ended.
    service: RefCell<Option<Span>>,
    finished: RefCell<Vec<Span>>,
    /// How many spans it may still have, and how many there was no room for.
    room: Cell<usize>,
    dropped: Cell<usize>,
    /// Whether its spans are kept, as soon as that is known.
    is_kept: Cell<Option<bool>>,
}

impl TracedExchange {
    pub(super) fn begin(
        start: &ExchangeStart<'_>,
        context: TraceContext,
        parent: Option<TraceContext>,
        link: Option<TraceContext>,
        options: &TracingOptions,
        queue: Queue<Span>,
    ) -> TracedExchange {
        let clock = Rc::clone(start.transport);
        let wall = clock.now().duration_since(UNIX_EPOCH).map_or(0, nanos);
        let mut service = Span {
            context: context.clone(),
            parent: parent.map(|parent| parent.span),
            is_parent_remote: true,
            name: Cow::Borrowed(""),
            kind: SpanKind::Server,
            begin: wall,
            end: wall,
            attributes: Vec::with_capacity(24),
            events: Vec::new(),
            dropped_events: 0,
            link,
            error: None,
        };
        attributes::of_service(&mut service, start);
        TracedExchange {
            begun: (wall, clock.monotonic()),
            context,
            mediators: options.mediators,
            faulted: Cell::new(false),
            tail: options.tail,
            queue,
            clock,
            service: RefCell::new(Some(service)),
            finished: RefCell::default(),
            room: Cell::new(options.spans.saturating_sub(1)),
            dropped: Cell::new(0),
            is_kept: Cell::new(None),
        }
    }

    /// The time, in nanoseconds since 1970; it never runs backwards within an exchange.
    pub(super) fn now(&self) -> u64 {
        let (wall, monotonic) = self.begun;
        wall.saturating_add(nanos(self.clock.monotonic().saturating_sub(monotonic)))
    }

    /// A span begins; `None` where there is no room for it, which is counted.
    pub(super) fn span(&self, name: Cow<'static, str>, kind: SpanKind, parent: SpanId) -> Option<Span> {
        let Some(room) = self.room.get().checked_sub(1) else {
            self.dropped.set(self.dropped.get() + 1);
            return None;
        };
        self.room.set(room);
        let now = self.now();
        Some(Span {
            context: self.context.at(SpanId::new()),
            parent: Some(parent),
            is_parent_remote: false,
            name,
            kind,
            begin: now,
            end: now,
            attributes: Vec::new(),
            events: Vec::new(),
            dropped_events: 0,
            link: None,
            error: None,
        })
    }

    /// A span has ended.
    pub(super) fn finish(&self, mut span: Span) {
        span.end = self.now();
        // Of an exchange that is not kept, nothing is.
        if self.is_kept.get() != Some(false) {
            self.finished.borrow_mut().push(span);
        }
    }

    /// Adds an event to the span of the service.
    pub(super) fn add(&self, event: SpanEvent) {
        if let Some(service) = &mut *self.service.borrow_mut() {
            service.add(event);
        }
    }

    /// The resource of an API was chosen.
    pub(super) fn is_served_by(&self, identity: &ServiceIdentity) {
        if let Some(service) = &mut *self.service.borrow_mut() {
            attributes::of_route(service, identity);
        }
    }

    /// An answer leaves.
    pub(super) fn answers(&self, head: &Head) {
        if let Some(service) = &mut *self.service.borrow_mut() {
            let media_type = head.first("Content-Type").map(|value| String::from_utf8_lossy(value).into_owned());
            service.set("myelin.response.content_type", media_type);
        }
    }

    /// It has ended.
    pub(super) fn end(&self, end: &ExchangeEnd) {
        let Some(mut service) = self.service.take() else { return };
        self.faulted.set(self.faulted.get() || end.faulted);
        attributes::of_end(&mut service, end);
        let dropped = self.dropped.get();
        if dropped > 0 {
            service
                .attributes
                .push(Attribute::integer("myelin.dropped_spans", i64::try_from(dropped).unwrap_or(i64::MAX)));
        }
        let is_kept = self.context.flags.is_sampled() || self.tail.keeps(self.faulted.get(), end.took);
        self.is_kept.set(Some(is_kept));
        self.finish(service);
        self.flush();
        if is_kept && dropped > 0 {
            self.queue.drop_some(dropped);
        }
    }

    /// Hands over what has ended, once it is known whether it is kept.
    pub(super) fn flush(&self) {
        match self.is_kept.get() {
            Some(true) => self.queue.put(self.finished.take()),
            Some(false) => self.finished.borrow_mut().clear(),
            None => {}
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
