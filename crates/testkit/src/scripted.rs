//! The transport of tests in memory: what backends answer is a script, and time is that of a [`Clock`].

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use myelin_channel::{LocalFuture, Overloaded, Runtime, Sender, Sent, Work};
use myelin_message::{Body, BodyError, Outgoing, SendError, Source, Wire};

use crate::clock::Clock;

/// A transport that opens no socket: a backend by script, a clock of its own, and work done at once.
pub struct ScriptedTransport<B> {
    /// What answers.
    pub backend: B,
    /// What everything in the test goes by.
    pub clock: Clock,
    start: SystemTime,
    worked: Cell<usize>,
}

impl<B> ScriptedTransport<B> {
    /// With a clock that stands at `start`, and goes on when everybody waits.
    pub fn new(backend: B, start: SystemTime) -> ScriptedTransport<B> {
        ScriptedTransport::with_clock(backend, start, Clock::default())
    }

    /// The same with a clock that others go by as well.
    pub fn with_clock(backend: B, start: SystemTime, clock: Clock) -> ScriptedTransport<B> {
        ScriptedTransport { backend, clock, start, worked: Cell::new(0) }
    }

    /// How many pieces of work were given away that hold the processor for long.
    pub fn worked(&self) -> usize {
        self.worked.get()
    }
}

impl<B: Sender> Sender for ScriptedTransport<B> {
    fn send<'a>(&'a self, outgoing: Outgoing) -> LocalFuture<'a, Result<Sent, SendError>> {
        self.backend.send(outgoing)
    }
}

impl<B> Runtime for ScriptedTransport<B> {
    fn work<'a>(&'a self, work: Work) -> LocalFuture<'a, Result<(), Overloaded>> {
        self.worked.set(self.worked.get() + 1);
        work();
        Box::pin(std::future::ready(Ok(())))
    }

    fn now(&self) -> SystemTime {
        self.start + self.clock.now()
    }

    fn monotonic(&self) -> Duration {
        self.clock.now()
    }

    fn sleep(&self, time: Duration) -> LocalFuture<'static, ()> {
        self.clock.sleep(time)
    }

    fn spawn(&self, task: LocalFuture<'static, ()>) {
        self.clock.spawn(task);
    }
}

/// How a body comes that is on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// At once.
    Whole,
    /// In pieces of so many bytes.
    Of(usize),
    /// Half of what is left at a time, and nothing yet whenever it is asked the first time.
    Halting,
}

/// A body on a wire that is pretended.
pub struct ScriptedBody {
    rest: RefCell<Vec<u8>>,
    pieces: Pieces,
    halted: Cell<bool>,
    /// Whether somebody took bytes out of it.
    read: Rc<Cell<bool>>,
    /// Whether its sender has closed the connection.
    has_closed: Rc<Cell<bool>>,
}

impl ScriptedBody {
    /// A body of these bytes, which come in such pieces.
    pub fn wire(bytes: Vec<u8>, pieces: Pieces) -> Body {
        ScriptedBody::watched(bytes, pieces, Rc::default())
    }

    /// The same; `read` is set when mediation takes bytes out of it.
    pub fn watched(bytes: Vec<u8>, pieces: Pieces, read: Rc<Cell<bool>>) -> Body {
        ScriptedBody::on_the_wire(bytes, pieces, read, Rc::default())
    }

    /// An empty body whose sender closes the connection when `has_closed` is set.
    pub fn sent_by(has_closed: Rc<Cell<bool>>) -> Body {
        ScriptedBody::on_the_wire(Vec::new(), Pieces::Whole, Rc::default(), has_closed)
    }

    fn on_the_wire(bytes: Vec<u8>, pieces: Pieces, read: Rc<Cell<bool>>, has_closed: Rc<Cell<bool>>) -> Body {
        let source = ScriptedBody { rest: RefCell::new(bytes), pieces, halted: Cell::new(false), read, has_closed };
        Body::Wire(Wire { source: Rc::new(source), ticket: 1 })
    }

    /// The bytes of a body as a transport relays them: one that is on the wire is taken without being read.
    ///
    /// Errors: the body's own.
    pub async fn relayed(body: &mut Body) -> Result<Vec<u8>, BodyError> {
        if let Body::Wire(wire) = body
            && let Ok(scripted) = Rc::clone(&wire.source).as_any().downcast::<ScriptedBody>()
        {
            let bytes = scripted.rest.take();
            *body = Body::Gone;
            return Ok(bytes);
        }
        Ok(body.bytes(u64::MAX).await?.to_vec())
    }

    /// Whether it has nothing yet, as every other time that it is asked.
    fn halts(&self, context: &Context<'_>) -> bool {
        let halts = self.pieces == Pieces::Halting && !self.halted.get();
        self.halted.set(halts);
        if halts {
            context.waker().wake_by_ref();
        }
        halts
    }
}

impl Source for ScriptedBody {
    fn remaining(&self, _ticket: u64) -> Option<u64> {
        (self.pieces != Pieces::Halting).then(|| self.rest.borrow().len() as u64)
    }

    fn poll_piece(&self, _ticket: u64, context: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<Result<bool, BodyError>> {
        self.read.set(true);
        if self.halts(context) {
            return Poll::Pending;
        }
        let mut rest = self.rest.borrow_mut();
        let count = match self.pieces {
            Pieces::Whole => rest.len(),
            Pieces::Of(bytes) => rest.len().min(bytes),
            Pieces::Halting => rest.len().div_ceil(2),
        };
        into.extend(rest.drain(..count));
        Poll::Ready(Ok(!rest.is_empty()))
    }

    fn poll_look(
        &self,
        _ticket: u64,
        context: &mut Context<'_>,
        _limit_bytes: u64,
        look: &mut dyn FnMut(&[u8], bool) -> bool,
    ) -> Poll<Result<(), BodyError>> {
        let rest = self.rest.borrow();
        let length = rest.len();
        let mut seen = |end: usize| look(&rest[..end], end == length);
        let enough = match self.pieces {
            Pieces::Whole => seen(length),
            Pieces::Of(bytes) => (bytes..length).step_by(bytes).chain([length]).any(seen),
            // One byte after the other, with a pause in the middle.
            Pieces::Halting if self.halted.get() => (length / 2..=length).any(seen),
            Pieces::Halting => (0..=length / 2).any(seen),
        };
        if enough {
            self.halted.set(false);
            return Poll::Ready(Ok(()));
        }
        if self.halts(context) { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn has_closed(&self, _ticket: u64) -> bool {
        self.has_closed.get()
    }

    fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
}
