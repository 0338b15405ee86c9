//! The one way out of mediation: what a bus asks of whoever owns the sockets.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use myelin_message::{Body, BodyError, Head, Message, Uri};

/// A future that stays on its thread.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Sends requests to backends, tells the time and runs what goes on beside; in tests, a script.
pub trait Transport {
    /// Sends a request and gives the backend's response as soon as its head is there; its body is still on the wire.
    ///
    /// Errors: [`SendError`], all of them before any byte of a response was handed out.
    fn send<'a>(&'a self, request: Outgoing) -> LocalFuture<'a, Result<Message, SendError>>;

    /// The time of day.
    fn now(&self) -> SystemTime;

    /// Does work that holds the processor for long; the future is ready when it is done.
    ///
    /// Shape: on another thread, of which there is a bounded number, so that this one goes on serving; without them,
    /// at once on this one. Work that panics ends like any other.
    /// Errors: [`Overloaded`]; the work was not begun then.
    fn work<'a>(&'a self, work: Work) -> LocalFuture<'a, Result<(), Overloaded>> {
        work();
        Box::pin(std::future::ready(Ok(())))
    }

    /// A clock that never jumps: how long something took, and when something is due.
    fn monotonic(&self) -> Duration;

    /// Ready when that much time has passed.
    fn sleep(&self, time: Duration) -> LocalFuture<'static, ()>;

    /// Ready when all others on this thread who can go on, and who heard from their sockets meanwhile, have had a turn.
    fn turn(&self) -> LocalFuture<'static, ()> {
        let mut had_theirs = false;
        Box::pin(poll_fn(move |context| {
            if std::mem::replace(&mut had_theirs, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }))
    }

    /// Runs a future beside the others of this thread, to its end.
    fn spawn(&self, task: LocalFuture<'static, ()>);

    /// What tells, on any thread, whether that much time has passed from now on; without a clock, that it never has.
    fn deadline(&self, _after: Duration) -> Box<dyn Fn() -> bool + Send> {
        Box::new(|| false)
    }
}

/// What a future gives, where it does within that time.
pub(crate) async fn within<T>(transport: &dyn Transport, time: Duration, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut late = transport.sleep(time);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => late.as_mut().poll(context).map(|()| None),
    })
    .await
}

/// Work for another thread.
pub type Work = Box<dyn FnOnce() + Send>;

/// Why work was not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overloaded {
    /// So many pieces of work wait already.
    TooMany(usize),
    /// It has waited that long for its turn.
    TooLong(Duration),
}

impl fmt::Display for Overloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Overloaded::TooMany(waiting) => write!(f, "{waiting} pieces of long work wait for their turn already"),
            Overloaded::TooLong(wait) => write!(f, "long work had to wait for its turn for {} ms", wait.as_millis()),
        }
    }
}

impl std::error::Error for Overloaded {}

/// A request as it leaves mediation. Framing, hop-by-hop headers and `Host` are the transport's.
#[derive(Debug)]
pub struct Outgoing {
    /// The method to send, any token.
    pub method: Method,
    /// Where to: absolute, `http` or `https`; path and query make the request target.
    pub uri: Uri,
    /// The header lines to send.
    pub head: Head,
    /// The body to send.
    pub body: Body,
    /// How long the response's head may take; `None` leaves it to the transport's own limit.
    pub timeout: Option<Duration>,
    /// The `Host` to send instead of the one `uri` names.
    pub host: Option<String>,
    /// What is unusual in how it is sent.
    pub manner: Manner,
}

/// What a backend may need to be sent otherwise than usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// Whether the connection is to end with the answer (`NO_KEEPALIVE`).
    pub close: bool,
    /// Whether it leaves as HTTP/1.0 (`FORCE_HTTP_1.0`); its body was read then.
    pub http10: bool,
    /// Whether the request target is the absolute URI (`POST_TO_URI`, `FULL_URI`).
    pub absolute: bool,
}

/// The method of an outgoing request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// The one the head came with.
    AsCame,
    /// Another one.
    Named(String),
}

/// Why no response came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendError {
    /// What happened, as far as the flow can tell it apart.
    pub kind: SendErrorKind,
    /// A sentence for the log, with the address.
    pub message: String,
}

/// What kept a response from coming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendErrorKind {
    /// Name unknown, connection refused, TLS handshake failed (101503).
    ConnectFailed,
    /// No connection within the connect deadline (101508).
    ConnectTimeout,
    /// No response head within the deadline (101504).
    ResponseTimeout,
    /// The backend closed the connection before answering (101505).
    Closed,
    /// What the backend sent is no HTTP (101506).
    Protocol,
    /// Writing to the backend failed (101500).
    Sending,
    /// The client's own body broke off, came too slowly, or was malformed or too large; the client's fault.
    Request(BodyError),
    /// A limit of this bus was reached: connections to that backend, memory (answered 503).
    Overloaded,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SendError {}
