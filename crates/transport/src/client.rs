//! Sends a request to a backend and reads its response's head, while the request's body is still on its way.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{StatusCode, Uri};
use myelin_message::{Body, BodyError, Head, HeaderId, Message, Version, Wire, is_token};
use tokio::time::{Instant, timeout_at};

use crate::connection::{CONTINUE, Connection, HeadError, Link, Shared, Side, behind, fetch_foreign};
use crate::dial::Dialer;
use crate::error::{Error, ErrorKind};
use crate::h1::{
    ConnectionHeader, Framing, HeadScanner, RequestLine, ResponseHead, StatusLine, is_host, parse_response,
    write_request, write_response,
};
use crate::options::{ClientOptions, Expect, Pace, Retry};
use crate::pool::{Bucket, Pool, Slot, Taken};
use crate::relay::{Broken, Bytes, Coding, Ends, HEAD_BYTES, MERGE_BYTES, Relay, Upload, Waits, merged};
use crate::timer::Tick;
use crate::tls::Trust;

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

/// One thread's way to backends.
pub struct Client {
    options: ClientOptions,
    /// Who answers `Expect: 100-continue`, and the pace clients are held to: as the listener has it.
    expect: Expect,
    pace: Pace,
    dialer: Dialer,
    pool: Pool,
}

/// What to send, and where.
#[derive(Debug)]
pub struct Request {
    /// The method, where it is not the head's own.
    pub method: Option<String>,
    /// Absolute, `http` or `https`.
    pub uri: Uri,
    /// The header lines; framing, hop-by-hop lines and `Host` are set here.
    pub head: Head,
    /// The body; one that is still on a client's connection is relayed unread.
    pub body: Body,
    /// How long the response's head may take from now, instead of [`ClientOptions::response_timeout`].
    pub timeout: Option<Duration>,
    /// The `Host` to send instead of the address's.
    pub host: Option<String>,
    /// What is unusual in how it is sent.
    pub manner: Manner,
}

/// What a backend may need to be sent otherwise than usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// Whether the connection is to end with the answer.
    pub close: bool,
    /// Whether it leaves as HTTP/1.0, for which its body must have been read.
    pub http10: bool,
    /// Whether the request target is the absolute URI, as for a proxy.
    pub absolute: bool,
}

/// What one request needs to know on every attempt.
struct Errand<'a> {
    target: Target<'a>,
    /// The client that asked, where its connection is at hand: interim responses go to it.
    client: Option<Shared>,
    to_head: bool,
    start: Tick,
    timeout: Option<Duration>,
    /// Whether the connection is to end with the answer.
    close: bool,
}

/// An attempt that ended without a response.
struct Failed {
    error: Error,
    /// Not a byte of a response came.
    unanswered: bool,
}

/// How an attempt goes on.
enum Event {
    Head(Result<usize, HeadError>),
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

    /// How many backend connections serve a request or its answer, with the requests that wait for one.
    pub fn busy(&self) -> usize {
        self.pool.busy()
    }

    /// Sends a request; gives the response as soon as its head is there, its body still on the wire.
    ///
    /// A request that a reused connection loses without a byte of a response is sent once more on a fresh one, where
    /// [`ClientOptions::retry`] allows it.
    /// Errors: [`Error`]; each names the address.
    pub async fn send(&self, mut request: Request) -> Result<Message, Error> {
        let uri = std::mem::take(&mut request.uri);
        let target = Target::of(&uri)?;
        fetch_foreign(&mut request.body).await.map_err(|error| target.error(ErrorKind::Request(error), ""))?;
        let client = match &request.body {
            Body::Wire(wire) => behind(wire),
            _ => None,
        };
        let method = request.method.as_deref().unwrap_or(request.head.method());
        let repeatable = match self.options.retry {
            Retry::Always => true,
            Retry::Idempotent => matches!(method, "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE"),
            Retry::Never => false,
        };
        let to_head = method == "HEAD";
        let (timeout, close) = (request.timeout, request.manner.close);
        let errand = Errand { target, client, to_head, start: Tick::now(), timeout, close };
        let bucket = self.pool.bucket(errand.target.tls, errand.target.authority);
        let mut reused = bucket.reuse();
        // Only a connection that had time to be closed can lose a request that way: a busy one needs no copy.
        let stale = reused.as_ref().is_some_and(|idle| Tick::since(idle.since) >= STALE);
        let keep_bytes = if stale { REPLAY_BYTES } else { MERGE_BYTES };
        let mut upload = Some(self.upload(&errand, request, keep_bytes)?);
        let mut repeated = false;
        loop {
            let (backend, was_used) = match reused.take() {
                Some(idle) => (idle.connection, true),
                None => Box::pin(self.open(&bucket, &errand)).await?,
            };
            let sent_at = Tick::now();
            let failed = match self.exchange(&backend, &mut upload, &errand).await {
                Ok(message) => return Ok(message),
                Err(failed) => failed,
            };
            let raced = was_used && failed.unanswered && Tick::since(sent_at) <= RACE;
            let again = raced && repeatable && !repeated;
            if !again || !upload.as_mut().is_some_and(|upload| upload.relay.rewind()) {
                return Err(failed.error);
            }
            tracing::debug!(address = errand.target.authority, "a reused connection was closed: sending again");
            repeated = true;
        }
    }

    /// Turns a request into what is written: its head now, its body as it comes.
    fn upload(&self, errand: &Errand<'_>, request: Request, keep_bytes: usize) -> Result<Upload, Error> {
        let Request { method, mut head, body, host, manner, .. } = request;
        let target = &errand.target;
        let (framing, coding) = match &body {
            Body::Empty => (Framing::Empty, Coding::AsCame),
            Body::Bytes(bytes) => (Framing::Length(bytes.len() as u64), Coding::AsCame),
            Body::Shared(bytes) => (Framing::Length(bytes.len() as u64), Coding::AsCame),
            Body::Gone | Body::Reading(..) | Body::Built(_) => {
                return Err(target.error(ErrorKind::Request(BodyError::Gone), ""));
            }
            Body::Wire(_) => match errand.client.as_ref().map(|client| client.borrow().framing) {
                // A response that ends with its connection goes on in chunks.
                Some(Framing::UntilClose) => (Framing::Chunked, Coding::Chunked),
                Some(framing) => (framing, Coding::AsCame),
                None => return Err(target.error(ErrorKind::Request(BodyError::Gone), "")),
            },
        };
        self.settle_expectation(errand, &body, &mut head);
        let as_came = matches!(body, Body::Wire(_)) && says(&head, framing);
        let mut bytes = Vec::with_capacity(HEAD_BYTES + body.length().map_or(0, merged));
        let method = method.as_deref().unwrap_or(head.method());
        let kept = head.known(HeaderId::Host).filter(|_| self.options.preserve_host);
        let kept = kept.and_then(|value| std::str::from_utf8(value).ok());
        let host = host.as_deref().or(kept).unwrap_or(target.authority);
        if !is_host(host.as_bytes()) || !is_token(method.as_bytes()) {
            return Err(target.error(ErrorKind::Address, "the method or the Host to send is none"));
        }
        let version = if manner.http10 { Version::Http10 } else { Version::Http11 };
        if manner.http10 && framing == Framing::Chunked {
            return Err(target.error(ErrorKind::Address, "HTTP/1.0 has no body of unknown length"));
        }
        let absolute = manner.absolute.then(|| {
            let scheme = if target.tls { "https" } else { "http" };
            format!("{scheme}://{}{}", target.authority, target.path)
        });
        let path = absolute.as_deref().unwrap_or(target.path);
        let line = RequestLine { method, target: path, host, version, close: manner.close };
        write_request(&mut bytes, line, &head, framing, as_came);
        let relay = match body {
            Body::Bytes(_) | Body::Shared(_) => Relay::whole(bytes, Bytes::of(body)),
            _ if framing == Framing::Empty => Relay::whole(bytes, Bytes::default()),
            _ => Relay::new(bytes, coding).keep(keep_bytes).pace(Waits::Source, self.pace),
        };
        let source = if relay.is_complete() { None } else { errand.client.clone() };
        Ok(Upload { relay, source })
    }

    /// `Expect` goes on to the backend only while the client still waits and the backend is to answer it.
    fn settle_expectation(&self, errand: &Errand<'_>, body: &Body, head: &mut Head) {
        if head.known(HeaderId::Expect).is_none() {
            return;
        }
        let mut relayed = false;
        if let (Body::Wire(_), Some(client)) = (body, &errand.client) {
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
    async fn open(&self, bucket: &Rc<Bucket>, errand: &Errand<'_>) -> Result<(Shared, bool), Error> {
        let target = &errand.target;
        if let Some(client) = &errand.client {
            client.borrow_mut().input.compact();
        }
        let deadline = Instant::now() + self.options.connect_timeout;
        let overloaded = |detail: &str| target.error(ErrorKind::Overloaded, detail);
        let slot = match bucket.open(&self.options) {
            Some(slot) => slot,
            None => match timeout_at(deadline, bucket.take(&self.options)).await {
                Ok(Taken::Open(slot)) => slot,
                Ok(Taken::Reused(idle)) => return Ok((idle.connection, true)),
                Ok(Taken::Full) => return Err(overloaded("as many requests wait for a connection as may wait")),
                Err(_) => return Err(overloaded("no connection came free in time")),
            },
        };
        let stream = self.dialer.connect(target.tls, target.host, target.port, deadline).await.map_err(|error| {
            let kind = match error.kind() {
                io::ErrorKind::TimedOut => ErrorKind::ConnectTimeout,
                _ => ErrorKind::Connect,
            };
            target.error(kind, &error.to_string())
        })?;
        Ok((self.connection(stream, slot), false))
    }

    fn connection(&self, stream: crate::stream::Stream, slot: Slot) -> Shared {
        Rc::new_cyclic(|this| {
            let side = Side::Backend { upload: None, keep_alive: true, slot, this: this.clone() };
            Link::new(Connection::new(stream, self.options.idle, side))
        })
    }

    /// One attempt: sends and waits for the final head. The upload stays with the caller unless a response came.
    async fn exchange(
        &self,
        backend: &Shared,
        upload: &mut Option<Upload>,
        errand: &Errand<'_>,
    ) -> Result<Message, Failed> {
        let mut attempt = Attempt::default();
        let mut interim = 0;
        loop {
            let event = poll_fn(|cx| self.poll_exchange(cx, backend, upload, errand, &mut attempt)).await;
            let length = match event {
                Event::Head(Ok(length)) => length,
                event => return Err(self.failed(event, backend, errand, attempt)),
            };
            let response = {
                let connection = &mut *backend.borrow_mut();
                let response = parse_response(&connection.input.bytes()[..length], errand.to_head, self.options.head);
                connection.input.consume(length);
                attempt.scanner = HeadScanner::default();
                attempt.answered = true;
                response.map_err(|refusal| errand.failed(ErrorKind::Protocol, refusal.reason))?
            };
            if !response.status.is_informational() {
                let sent_all = attempt.uploaded && attempt.send_error.is_none();
                let rest = if attempt.uploaded || attempt.send_error.is_some() { None } else { upload.take() };
                return Ok(begin_response(backend, response, rest, sent_all, errand.close));
            }
            interim += 1;
            if response.status == StatusCode::SWITCHING_PROTOCOLS || interim > MOST_INTERIM {
                let detail = "an upgrade nobody asked for, or more interim responses than 32";
                return Err(errand.failed(ErrorKind::Protocol, detail));
            }
            if let Some(client) = &errand.client {
                Box::pin(relay_interim(client, &response)).await;
            }
        }
    }

    fn poll_exchange(
        &self,
        cx: &mut Context<'_>,
        backend: &Shared,
        upload: &mut Option<Upload>,
        errand: &Errand<'_>,
        attempt: &mut Attempt,
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
        if let Poll::Ready(head) = connection.poll_head(cx, &mut attempt.scanner, self.options.head.bytes) {
            return Poll::Ready(Event::Head(head));
        }
        let deadline = match errand.timeout {
            Some(timeout) => errand.start.plus(timeout),
            // As long as the request is still on its way, the backend is not late.
            None => upload.relay.last_progress().plus(self.options.response_timeout),
        };
        if deadline.passed() {
            return Poll::Ready(Event::TimedOut);
        }
        connection.timer.wake_at(deadline.min(upload.relay.deadline(self.options.idle)), cx);
        if let Some(client) = &errand.client {
            // A wait begins: what the client sent ahead is kept in its own size.
            client.borrow_mut().input.compact();
        }
        Poll::Pending
    }

    fn failed(&self, event: Event, backend: &Shared, errand: &Errand<'_>, attempt: Attempt) -> Failed {
        let unanswered = !attempt.answered && backend.borrow().input.is_empty();
        let closed = |detail: String| {
            let error = match attempt.send_error {
                Some(error) => errand.target.error(ErrorKind::Sending, &error.to_string()),
                None => errand.target.error(ErrorKind::Closed, &detail),
            };
            Failed { error, unanswered }
        };
        match event {
            Event::Head(Err(HeadError::Ended(true))) => closed("in the middle of the head".into()),
            Event::Head(Err(HeadError::Io(error))) => closed(error.to_string()),
            Event::Head(Err(HeadError::Scan(_))) => {
                errand.failed(ErrorKind::Protocol, "a head whose lines do not end in CR LF, or one that is too long")
            }
            Event::Head(_) => closed(String::new()),
            Event::TimedOut => errand.failed(ErrorKind::ResponseTimeout, ""),
            Event::Broken(Broken::Source(error)) => errand.failed(ErrorKind::Request(error), ""),
            Event::Broken(Broken::TimedOut(Waits::Source)) => {
                errand.failed(ErrorKind::Request(BodyError::TimedOut), "")
            }
            Event::Broken(Broken::TimedOut(Waits::Target)) => {
                errand.failed(ErrorKind::ResponseTimeout, "the backend stopped reading the request")
            }
            Event::Broken(Broken::Target(error)) => errand.failed(ErrorKind::Sending, &error.to_string()),
        }
    }
}

/// How far an attempt has come.
#[derive(Default)]
struct Attempt {
    uploaded: bool,
    send_error: Option<io::Error>,
    scanner: HeadScanner,
    /// A head has come, be it an interim one.
    answered: bool,
}

impl Errand<'_> {
    /// A failure that sending again would not mend.
    fn failed(&self, kind: ErrorKind, detail: &str) -> Failed {
        Failed { error: self.target.error(kind, detail), unanswered: false }
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
        *upload = rest.map(Box::new);
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
    let mut bytes = Vec::new();
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
    let length = head.known(HeaderId::ContentLength);
    let coding = head.known(HeaderId::TransferEncoding);
    match framing {
        Framing::Empty => coding.is_none() && length == Some(b"0"),
        Framing::Length(expected) => {
            let said = length.and_then(|value| std::str::from_utf8(value).ok()).and_then(|value| value.parse().ok());
            coding.is_none() && said == Some(expected) && once(head, HeaderId::ContentLength)
        }
        Framing::Chunked => {
            length.is_none()
                && coding.is_some_and(|value| value.eq_ignore_ascii_case(b"chunked"))
                && once(head, HeaderId::TransferEncoding)
        }
        Framing::UntilClose => length.is_none() && coding.is_none(),
    }
}

fn once(head: &Head, id: HeaderId) -> bool {
    head.lines().iter().filter(|line| line.id == id).count() == 1
}

/// Where a request goes, taken from its address.
struct Target<'a> {
    tls: bool,
    authority: &'a str,
    host: &'a str,
    port: u16,
    /// Path and query.
    path: &'a str,
}

impl<'a> Target<'a> {
    fn of(uri: &'a Uri) -> Result<Target<'a>, Error> {
        let refuse =
            |detail: &str| Error { kind: ErrorKind::Address, address: uri.to_string(), detail: detail.to_owned() };
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(refuse("it starts with http:// or https://")),
        };
        let authority = uri.authority().ok_or_else(|| refuse("it names a host"))?;
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(refuse("it names a host, and no user"));
        }
        let port = match (authority.port_u16(), tls) {
            (Some(port), _) => port,
            (None, false) => 80,
            (None, true) => 443,
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Target { tls, authority: authority.as_str(), host: authority.host(), port, path })
    }

    fn error(&self, kind: ErrorKind, detail: &str) -> Error {
        let scheme = if self.tls { "https" } else { "http" };
        Error { kind, address: format!("{scheme}://{}", self.authority), detail: detail.to_owned() }
    }
}
