//! Sends a request to a backend and reads its response's head, while the request's body is still on its way.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{StatusCode, Uri};
use myelin_channel::{LocalFuture, Sender, Sent};
use myelin_message::{
    Address, Body, BodyError, Head, HeaderId, Message, Method, Outgoing, SendError, SendErrorKind, Version, Wire,
    is_token,
};
use tokio::time::{Instant, timeout_at};

use crate::address::uri_of;
use crate::buffer::Staging;
use crate::connection::{CONTINUE, Connection, HeadError, Link, PendingUpload, Shared, Side};
use crate::dial::{Dialer, is_out_of_files};
use crate::h1::{
    ConnectionHeader, Framing, HeadScanner, RequestLine, ResponseHead, StatusLine, decimal, is_host, read_response,
    write_request, write_response,
};
use crate::options::{ClientOptions, Expect, Pace, Retry};
use crate::pool::{Checkout, HostPool, IdleConnection, Permit, Pool, PoolUsage};
use crate::relay::{BodySource, Broken, Bytes, Coding, Ends, HEAD_BYTES, MERGE_BYTES, Relay, Upload, Waits, merged};
use crate::timer::Tick;
use crate::tls::Trust;
use crate::wire_log;

/// Requests with a body up to this size are kept until the response begins, to be sent again if need be.
const REPLAY_BYTES: usize = 64 * 1024;
/// How long a connection has to lie unused before a larger request than [`MERGE_BYTES`] is kept for its sake.
const STALE: Duration = Duration::from_millis(500);
/// Interim responses before the final one; more is no dialogue any more.
const MOST_INTERIM: usize = 32;
/// A connection that was closed while idle shows it within a round trip; one that dies later died at work.
const RACE: Duration = Duration::from_secs(1);
/// How often unused connections are looked at.
const SWEEP: Duration = Duration::from_secs(1);

/// Requests of this process that were sent again; they are rare.
static RESENT: AtomicU64 = AtomicU64::new(0);

/// How many requests this process has sent again because a connection that was kept turned out to be closed.
pub fn resent_requests() -> u64 {
    RESENT.load(Ordering::Relaxed)
}

/// One thread's way to backends.
pub struct Client {
    options: ClientOptions,
    /// Who answers `Expect: 100-continue`, and the pace clients are held to: as the listener has it.
    expect: Expect,
    pace: Pace,
    dialer: Dialer,
    pool: Pool<Link>,
}

/// What one request needs to know on every attempt.
struct SendContext {
    host: Rc<HostPool<Link>>,
    /// The client that asked, where its connection is at hand: interim responses go to it.
    client: Option<Shared>,
    to_head: bool,
    start: Tick,
    timeout: Option<Duration>,
    /// Whether the connection is to end with the answer.
    close: bool,
}

/// A request on its way out.
struct Sending {
    context: SendContext,
    /// A connection that lay unused.
    reused: Option<IdleConnection<Link>>,
    /// `None` from when a response has begun.
    upload: Option<Upload>,
    /// Whether it may be sent once more where a reused connection loses it.
    repeatable: bool,
}

/// An attempt that ended without a response.
struct Failed {
    error: SendError,
    /// Not a byte of a response came.
    unanswered: bool,
}

/// How an attempt goes on.
enum Event {
    Head(Result<ResponseHead, HeadError>),
    Broken(Broken),
    TimedOut,
}

impl Client {
    /// A client for the current thread, inside a `LocalSet`.
    ///
    /// `trust` says whom `https` addresses are trusted by; `expect` and `pace` are the listener's.
    pub fn new(options: ClientOptions, expect: Expect, pace: Pace, trust: Trust) -> Rc<Client> {
        let dialer = Dialer::new(trust, options.resolve);
        let client = Rc::new(Client { options, expect, pace, dialer, pool: Pool::default() });
        let swept = Rc::downgrade(&client);
        tokio::task::spawn_local(async move {
            loop {
                tokio::time::sleep(SWEEP).await;
                let Some(client) = swept.upgrade() else { break };
                client.pool.sweep(&client.options);
            }
        });
        client
    }

    /// How many connections to backends there are, and how many requests wait for one.
    pub fn usage(&self) -> PoolUsage {
        self.pool.usage()
    }

    /// Makes of a request what is written, and takes an unused connection for it if there is one.
    fn begin(&self, mut request: Outgoing) -> Result<Sending, SendError> {
        let uri = uri_of(std::mem::replace(&mut request.address, Address::Uri(Uri::default())))?;
        let host = self.pool.host(&uri)?;
        request.body.settle();
        let source = match &request.body {
            Body::Wire(wire) => BodySource::of(wire),
            _ => None,
        };
        let client = source.as_ref().and_then(BodySource::connection).cloned();
        let method = method_of(&request.method, &request.head);
        let repeatable = match self.options.retry {
            Retry::Always => true,
            Retry::Idempotent => matches!(method, "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE"),
            Retry::Never => false,
        };
        let to_head = method == "HEAD";
        let (timeout, close) = (request.timeout, request.manner.close);
        let reused = host.reuse();
        let context = SendContext { host, client, to_head, start: Tick::now(), timeout, close };
        // Only a connection that had time to be closed can lose a request that way: a busy one needs no copy.
        let stale = reused.as_ref().is_some_and(|idle| Tick::since(idle.since) >= STALE);
        let keep_bytes = if stale { REPLAY_BYTES } else { MERGE_BYTES };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let upload = Some(self.upload(&context, request, path, source, keep_bytes)?);
        Ok(Sending { context, reused, upload, repeatable })
    }

    async fn carry_out(&self, sending: &mut Sending) -> Result<Message, SendError> {
        let Sending { context, reused, upload, repeatable } = sending;
        let mut repeated = false;
        loop {
            let (backend, was_used) = match reused.take() {
                Some(idle) => (idle.connection, true),
                None => Box::pin(self.open(context)).await?,
            };
            let sent_at = Tick::now();
            let failed = match self.exchange(&backend, upload, context).await {
                Ok(message) => return Ok(message),
                Err(failed) => failed,
            };
            let raced = was_used && failed.unanswered && Tick::since(sent_at) <= RACE;
            let again = raced && *repeatable && !repeated;
            if !again || !upload.as_mut().is_some_and(|upload| upload.relay.rewind()) {
                return Err(failed.error);
            }
            tracing::debug!(address = context.host.origin.authority(), "a reused connection was closed: sending again");
            RESENT.fetch_add(1, Ordering::Relaxed);
            repeated = true;
        }
    }

    /// Turns a request into what is written: its head now, its body as it comes.
    fn upload(
        &self,
        context: &SendContext,
        request: Outgoing,
        path: &str,
        source: Option<BodySource>,
        keep_bytes: usize,
    ) -> Result<Upload, SendError> {
        let Outgoing { method, mut head, body, host, manner, .. } = request;
        let origin = &context.host.origin;
        let (framing, coding) = match &body {
            Body::Empty => (Framing::Empty, Coding::AsCame),
            Body::Bytes(bytes) => (Framing::Length(bytes.len() as u64), Coding::AsCame),
            Body::Shared(bytes) => (Framing::Length(bytes.len() as u64), Coding::AsCame),
            Body::Gone | Body::Reading(..) | Body::Built(_) => {
                return Err(origin.error(SendErrorKind::Request(BodyError::Gone), ""));
            }
            Body::Wire(_) => match &source {
                Some(BodySource::Connection(client)) => match client.borrow().framing {
                    // A response that ends with its connection goes on in chunks.
                    Framing::UntilClose => (Framing::Chunked, Coding::Chunked),
                    framing => (framing, Coding::AsCame),
                },
                Some(BodySource::Foreign(body)) => match body.framing() {
                    Framing::Chunked => (Framing::Chunked, Coding::Chunked),
                    framing => (framing, Coding::AsCame),
                },
                None => return Err(origin.error(SendErrorKind::Request(BodyError::Gone), "")),
            },
        };
        self.settle_expectation(context, &body, &mut head);
        let as_came = matches!(body, Body::Wire(_)) && says(&head, framing);
        let mut bytes = Staging::with_capacity(HEAD_BYTES + body.length().map_or(0, merged));
        let method = method_of(&method, &head);
        let kept = head.known(HeaderId::Host).filter(|_| self.options.preserve_host);
        let kept = kept.and_then(|value| std::str::from_utf8(value).ok());
        let other_host = host.as_deref().or(kept);
        let host = other_host.unwrap_or(origin.authority());
        // The authority of the address was checked with it.
        if !is_token(method.as_bytes()) || !other_host.is_none_or(|host| is_host(host.as_bytes())) {
            return Err(origin.error(SendErrorKind::Address, "the method or the Host to send is none"));
        }
        let version = if manner.http10 { Version::Http10 } else { Version::Http11 };
        if manner.http10 && framing == Framing::Chunked {
            return Err(origin.error(SendErrorKind::Address, "HTTP/1.0 has no body of unknown length"));
        }
        let absolute = manner.absolute.then(|| format!("{}://{}{path}", origin.scheme(), origin.authority()));
        let target = absolute.as_deref().unwrap_or(path);
        let line = RequestLine { method, target, host, version, close: manner.close };
        write_request(&mut bytes, line, &head, framing, as_came);
        if wire_log::shows_heads() {
            wire_log::request_to(origin.authority(), &bytes);
        }
        let relay = match body {
            Body::Bytes(_) | Body::Shared(_) => Relay::whole(bytes, Bytes::of(body)),
            _ if framing == Framing::Empty => Relay::whole(bytes, Bytes::default()),
            // Who is no client cannot be sent away for being slow.
            _ if context.client.is_none() => Relay::new(bytes, coding),
            _ => {
                let mut relay = Relay::new(bytes, coding);
                relay.keep(keep_bytes);
                relay.pace(Waits::Source, self.pace);
                relay
            }
        };
        let source = source.filter(|_| !relay.is_complete());
        Ok(Upload { relay, source })
    }

    /// `Expect` goes on to the backend only while the client still waits and the backend is to answer it.
    fn settle_expectation(&self, context: &SendContext, body: &Body, head: &mut Head) {
        if head.known(HeaderId::Expect).is_none() {
            return;
        }
        let mut relayed = false;
        if let (Body::Wire(_), Some(client)) = (body, &context.client) {
            let client = &mut *client.borrow_mut();
            if let Side::Client { awaits_continue: awaits @ true, .. } = &mut client.side {
                relayed = self.expect == Expect::Relay;
                if !relayed {
                    // So few bytes always fit; a client that is gone shows when its body is read.
                    let _ = client.stream.poll_write(&mut Context::from_waker(std::task::Waker::noop()), CONTINUE);
                    *awaits = false;
                }
            }
        }
        if !relayed {
            head.remove("expect");
        }
    }

    /// Opens a connection, or takes one that came free while waiting for room; says whether it was used before.
    async fn open(&self, context: &SendContext) -> Result<(Shared, bool), SendError> {
        let host = &context.host;
        let origin = &host.origin;
        if let Some(client) = &context.client {
            client.borrow_mut().input.compact();
        }
        // A request that has to be answered sooner does not wait longer for its connection.
        let left = context.timeout.map(|timeout| timeout.saturating_sub(Tick::since(context.start)));
        let patience = left.map_or(self.options.connect_timeout, |left| left.min(self.options.connect_timeout));
        let deadline = Instant::now() + patience;
        let overloaded = |detail: &str| origin.error(SendErrorKind::Overloaded, detail);
        let permit = match host.open(&self.options) {
            Some(permit) => permit,
            None => match timeout_at(deadline, host.take(&self.options, deadline)).await {
                Ok(Checkout::Open(permit)) => permit,
                Ok(Checkout::Reused(idle)) => return Ok((idle.connection, true)),
                Ok(Checkout::Full) => return Err(overloaded("as many requests wait for a connection as may wait")),
                Ok(Checkout::Late) => {
                    return Err(overloaded("so many wait that no connection would come free in time"));
                }
                Err(_) => return Err(overloaded("no connection came free in time")),
            },
        };
        let connect = || self.dialer.connect(origin.tls, origin.host(), origin.port, deadline);
        let mut connected = connect().await;
        if connected.as_ref().is_err_and(is_out_of_files) {
            // Connections that nobody uses stand in the way of one that is needed.
            self.pool.close_idle();
            connected = connect().await;
        }
        let stream = connected.map_err(|error| {
            let kind = match error.kind() {
                // It says nothing about the backend.
                _ if is_out_of_files(&error) => SendErrorKind::Overloaded,
                io::ErrorKind::TimedOut if patience < self.options.connect_timeout => SendErrorKind::ResponseTimeout,
                io::ErrorKind::TimedOut => SendErrorKind::ConnectTimeout,
                _ => SendErrorKind::ConnectFailed,
            };
            origin.error(kind, &error.to_string())
        })?;
        Ok((self.connection(stream, permit), false))
    }

    fn connection(&self, stream: crate::stream::Stream, permit: Permit<Link>) -> Shared {
        Rc::new_cyclic(|this| {
            let side = Side::Backend { upload: None, keep_alive: true, permit, this: this.clone() };
            Link::new(Connection::new(stream, self.options.idle, side))
        })
    }

    /// One attempt: sends and waits for the final head. The upload stays with the caller unless a response came.
    async fn exchange(
        &self,
        backend: &Shared,
        upload: &mut Option<Upload>,
        context: &SendContext,
    ) -> Result<Message, Failed> {
        let mut attempt = SendAttempt::default();
        let mut interim = 0;
        loop {
            let event = poll_fn(|cx| self.poll_exchange(cx, backend, upload, context, &mut attempt)).await;
            let response = match event {
                Event::Head(Ok(response)) => response,
                event => return Err(self.failed(event, backend, context, attempt)),
            };
            if wire_log::shows_heads() {
                wire_log::response_from(context.host.origin.authority(), &response.head);
            }
            (attempt.scanner, attempt.answered) = (HeadScanner::default(), true);
            if !response.status.is_informational() {
                let sent_all = attempt.uploaded && attempt.send_error.is_none();
                let rest = if attempt.uploaded || attempt.send_error.is_some() { None } else { upload.take() };
                return Ok(begin_response(backend, response, rest, sent_all, context.close));
            }
            interim += 1;
            if response.status == StatusCode::SWITCHING_PROTOCOLS || interim > MOST_INTERIM {
                let detail = "an upgrade nobody asked for, or more interim responses than 32";
                return Err(context.failed(SendErrorKind::Protocol, detail));
            }
            if let Some(client) = &context.client {
                Box::pin(relay_interim(client, &response)).await;
            }
        }
    }

    fn poll_exchange(
        &self,
        cx: &mut Context<'_>,
        backend: &Shared,
        upload: &mut Option<Upload>,
        context: &SendContext,
        attempt: &mut SendAttempt,
    ) -> Poll<Event> {
        let connection = &mut *backend.borrow_mut();
        let Some(upload) = upload else { return Poll::Ready(Event::TimedOut) };
        if !attempt.uploaded && attempt.send_error.is_none() {
            match upload.poll(cx, connection) {
                Poll::Pending => {}
                Poll::Ready(Ok(())) => attempt.uploaded = true,
                // A backend that has heard enough answers and closes: its answer may be there to be read.
                Poll::Ready(Err(Broken::Target(error))) => attempt.send_error = Some(error),
                Poll::Ready(Err(broken)) => return Poll::Ready(Event::Broken(broken)),
            }
        }
        let limits = self.options.head;
        let read = |bytes: &[u8]| read_response(bytes, context.to_head, limits);
        if let Poll::Ready(head) = connection.poll_head(cx, &mut attempt.scanner, limits.bytes, read) {
            return Poll::Ready(Event::Head(head));
        }
        let deadline = match context.timeout {
            Some(timeout) => context.start.plus(timeout),
            // As long as the request is still on its way, the backend is not late.
            None => upload.relay.last_progress().plus(self.options.response_timeout),
        };
        if deadline.passed() {
            return Poll::Ready(Event::TimedOut);
        }
        connection.timer.wake_at(deadline.min(upload.relay.deadline(self.options.idle)), cx);
        if let Some(client) = &context.client {
            // A wait begins: what the client sent ahead is kept in its own size.
            client.borrow_mut().input.compact();
        }
        Poll::Pending
    }

    fn failed(&self, event: Event, backend: &Shared, context: &SendContext, attempt: SendAttempt) -> Failed {
        let unanswered = !attempt.answered && backend.borrow().input.is_empty();
        let closed = |detail: String| {
            let error = match attempt.send_error {
                Some(error) => context.host.origin.error(SendErrorKind::Sending, &error.to_string()),
                None => context.host.origin.error(SendErrorKind::Closed, &detail),
            };
            Failed { error, unanswered }
        };
        match event {
            Event::Head(Err(HeadError::Ended(true))) => closed("in the middle of the head".into()),
            Event::Head(Err(HeadError::Io(error))) => closed(error.to_string()),
            Event::Head(Err(HeadError::Scan(_))) => context
                .failed(SendErrorKind::Protocol, "a head whose lines do not end in CR LF, or one that is too long"),
            Event::Head(Err(HeadError::Refused(refusal))) => context.failed(SendErrorKind::Protocol, refusal.reason),
            Event::Head(Err(HeadError::Blank)) => {
                context.failed(SendErrorKind::Protocol, "an empty line stands in place of the status line")
            }
            Event::Head(_) => closed(String::new()),
            Event::TimedOut => context.failed(SendErrorKind::ResponseTimeout, ""),
            Event::Broken(Broken::Source(error)) => context.failed(SendErrorKind::Request(error), ""),
            Event::Broken(Broken::TimedOut(Waits::Source)) => {
                context.failed(SendErrorKind::Request(BodyError::TimedOut), "")
            }
            Event::Broken(Broken::TimedOut(Waits::Target)) => {
                context.failed(SendErrorKind::ResponseTimeout, "the backend stopped reading the request")
            }
            Event::Broken(Broken::Target(error)) => context.failed(SendErrorKind::Sending, &error.to_string()),
        }
    }
}

impl Sender for Client {
    /// Sends a request; gives the response as soon as its head is there, its body still on the wire.
    ///
    /// A request that a reused connection loses without a byte of a response is sent once more on a fresh one, where
    /// [`ClientOptions::retry`] allows it.
    /// Errors: [`SendError`]; each names the address.
    fn send(&self, outgoing: Outgoing) -> LocalFuture<'_, Result<Sent, SendError>> {
        // Begun here, so that the future does not hold the request beside what is made of it.
        let mut sending = self.begin(outgoing);
        Box::pin(async move {
            match sending {
                Ok(ref mut sending) => self.carry_out(sending).await.map(Sent::Response),
                Err(error) => Err(error),
            }
        })
    }
}

/// How far an attempt has come.
#[derive(Default)]
struct SendAttempt {
    uploaded: bool,
    send_error: Option<io::Error>,
    scanner: HeadScanner,
    /// A head has come, be it an interim one.
    answered: bool,
}

impl SendContext {
    /// A failure that sending again would not mend.
    fn failed(&self, kind: SendErrorKind, detail: &str) -> Failed {
        Failed { error: self.host.origin.error(kind, detail), unanswered: false }
    }
}

/// Hands the response out: its body is read, and the rest of its request sent, by whoever relays it.
fn begin_response(
    backend: &Shared,
    response: ResponseHead,
    rest: Option<Upload>,
    sent_all: bool,
    close: bool,
) -> Message {
    let connection = &mut *backend.borrow_mut();
    connection.begin_body(response.framing);
    let uploads = rest.is_some();
    if let Side::Backend { upload, keep_alive, .. } = &mut connection.side {
        *keep_alive = response.keep_alive && !close && (sent_all || uploads);
        *upload = rest.map(|rest| Box::new(rest) as Box<dyn PendingUpload>);
    }
    if response.framing == Framing::Empty && !uploads {
        connection.retire();
        return Message::new(response.head, Body::Empty);
    }
    let source = Rc::clone(backend);
    Message::new(response.head, Body::Wire(Wire { source, ticket: connection.ticket }))
}

/// Passes `100 Continue` to a client that waits for it, and other interim responses to any HTTP/1.1 client.
async fn relay_interim(client: &Shared, response: &ResponseHead) {
    let wanted = match &mut client.borrow_mut().side {
        Side::Client { awaits_continue, .. } if response.status == StatusCode::CONTINUE => {
            std::mem::take(awaits_continue)
        }
        Side::Client { version, .. } => *version == Version::Http11,
        Side::Backend { .. } => false,
    };
    if !wanted {
        return;
    }
    let mut bytes = Staging::with_capacity(HEAD_BYTES);
    let line = StatusLine { status: response.status, reason: response.head.reason() };
    write_response(&mut bytes, line, &response.head, Framing::Empty, true, ConnectionHeader::Persistent, None);
    let mut relay = Relay::whole(bytes, Bytes::default());
    let sent = poll_fn(|cx| {
        let client = &mut *client.borrow_mut();
        client.timer.wake_at(relay.deadline(client.idle), cx);
        relay.poll(cx, Ends::Out(client))
    })
    .await;
    // A client that took part of a head and no more gets nothing behind it.
    client.borrow_mut().severed |= sent.is_err();
}

/// Whether a head's own lines state that framing, so that they can stay as they came.
pub(crate) fn says(head: &Head, framing: Framing) -> bool {
    let (mut lengths, mut codings) =
        (head.all_known(HeaderId::ContentLength), head.all_known(HeaderId::TransferEncoding));
    let (length, coding) = (lengths.next(), codings.next());
    if lengths.next().is_some() || codings.next().is_some() {
        return false;
    }
    match framing {
        Framing::Empty => coding.is_none() && length == Some(b"0"),
        Framing::Length(expected) => coding.is_none() && length.and_then(decimal) == Some(expected),
        Framing::Chunked => length.is_none() && coding.is_some_and(|value| value.eq_ignore_ascii_case(b"chunked")),
        Framing::UntilClose => length.is_none() && coding.is_none(),
    }
}

fn method_of<'a>(method: &'a Method, head: &'a Head) -> &'a str {
    match method {
        Method::AsCame => head.method(),
        Method::Named(name) => name,
    }
}
