//! One client connection from its first byte to its last: request, answer, request, answer.

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use http::StatusCode;
use myelin_message::{Body, Head, HeaderId, Message, Version, Wire, is_credential, is_token};

use crate::answer::{self, Asked, DRAIN_BYTES, Next};
use crate::buffer::over_budget;
use crate::connection::{Connection, HeadError, Link, Shared, Side};
use crate::h1::{Framing, HeadScanner, Refusal, RequestHead, ScanError, read_request};
use crate::options::{Forwarded, XForwarded};
use crate::pacer::Pacer;
use crate::refusals::{Shortage, count_refused};
use crate::service::{ConnectionInfo, Record};
use crate::state::ServerState;
use crate::stream::Stream;
use crate::timer::Tick;

/// Empty lines before a request line that are skipped (RFC 9112 §2.2 asks for one at least).
const BLANK_LINES: usize = 4;
/// How long that may take, and how long a client whose connection is being closed may be silent.
const DRAIN_TIME: Duration = Duration::from_secs(2);
/// How long a client whose connection is being closed may go on sending, unless the bus is stopping.
const LINGER_TIME: Duration = Duration::from_secs(30);
/// How long a client beyond the limit of connections may take to ask, and so to hear of it.
const CROWDED_PATIENCE: Duration = Duration::from_secs(1);

/// What came instead of a request.
enum Ended {
    /// The client is through, or the bus is stopping.
    Quietly,
    /// The head cannot be accepted; the client is told, without a body where it asked by HEAD, and the connection closed.
    Refused { refusal: Refusal, to_head: bool },
}

impl From<Refusal> for Ended {
    fn from(refusal: Refusal) -> Ended {
        Ended::Refused { refusal, to_head: false }
    }
}

/// Serves one connection to its end.
pub(crate) async fn serve_connection(state: &Rc<ServerState>, stream: Stream, info: &ConnectionInfo, crowded: bool) {
    let side = Side::Client {
        awaits_continue: false,
        version: Version::Http11,
        body_bytes: state.options.body_bytes,
        pacer: Pacer::new(state.options.pace),
    };
    let client: Shared = Rc::new(Link::new(Connection::new(stream, state.options.idle, side)));
    // One for all requests: its memory is used again.
    let mut record = state.service.recorded().map(|_| Box::new(Record::new(info)));
    let mut patience = if crowded { CROWDED_PATIENCE } else { state.options.head_timeout };
    loop {
        let request = match pin!(next_request(state, &client, patience)).await {
            Ok(request) => request,
            Err(Ended::Quietly) => return,
            Err(Ended::Refused { refusal, to_head }) => {
                return Box::pin(refuse(state, &client, info, refusal, to_head)).await;
            }
        };
        if crowded || over_budget() {
            if !crowded {
                state.refusals.count(Shortage::Memory);
            }
            let refusal = Refusal { status: 503, reason: "the bus is at its limit; try again" };
            let to_head = request.head.has_method("HEAD");
            return Box::pin(refuse(state, &client, info, refusal, to_head)).await;
        }
        match pin!(exchange(state, &client, request, info, record.as_deref_mut())).await {
            Next::Request => {}
            Next::Close => return linger(state, &client).await,
            Next::Drop => return,
        }
        patience = state.options.keep_alive;
    }
}

/// One request and its answer.
async fn exchange(
    state: &Rc<ServerState>,
    client: &Shared,
    request: RequestHead,
    info: &ConnectionInfo,
    record: Option<&mut Record>,
) -> Next {
    let asked = Asked::of(&request);
    let mut recording = record.zip(state.service.recorded()).map(|(record, recorded)| {
        let started = record.begin(&request.head, recorded);
        (record, recorded, started)
    });
    let ticket = client.borrow().ticket;
    let source = Rc::clone(client);
    let mut head = request.head;
    add_forwarded(state.options.forwarded, &mut head, info);
    if head.has_method("TRACE") && !state.options.echo_credentials {
        // Whoever answers it shows what it got (RFC 9110 §9.3.8).
        head.remove_if(|_, name| is_credential(name));
    }
    let message = Message::new(head, Body::Wire(Wire { source, ticket }));
    let response = {
        let mut serving = state.service.serve(message, info.arrival());
        let served = poll_fn(|cx| {
            let polled = serving.as_mut().poll(cx);
            if polled.is_pending() {
                // A wait begins: what the client sent ahead is kept in its own size, and counted.
                client.borrow_mut().input.compact();
            }
            polled
        });
        served.await
    };
    if let Some((record, recorded, _)) = &mut recording {
        record.answer(&response, recorded);
        state.service.answered(record);
    }
    // On the heap, where mediation just was: an idle connection is small, and a busy one uses the same memory twice.
    let outcome = Box::pin(answer::send(state, client, response, asked)).await;
    if let Some((record, _, started)) = recording {
        if let Some(started) = started {
            record.end(started);
        }
        record.sent_bytes = outcome.sent_bytes;
        record.sent_head_bytes = outcome.head_bytes.min(outcome.sent_bytes);
        record.received_body_bytes = client.borrow().received_body_bytes();
        record.received_bytes += record.received_body_bytes;
        record.complete = outcome.complete;
        record.goes_on = outcome.next == Next::Request;
        state.service.finished(record);
    }
    let next = match outcome.next {
        Next::Request if !drained(client).await => Next::Close,
        next => next,
    };
    client.borrow_mut().end_message();
    next
}

/// Waits for the next request head.
async fn next_request(state: &ServerState, client: &Shared, patience: Duration) -> Result<RequestHead, Ended> {
    let mut scanner = HeadScanner::default();
    let mut blank_lines = 0;
    let mut deadline = Tick::after(patience);
    let mut begun = false;
    let mut partial = None;
    client.borrow_mut().input.set_head(true);
    let read = |bytes: &[u8]| read_request(bytes, state.options.head);
    let request = poll_fn(|cx| {
        let connection = &mut *client.borrow_mut();
        loop {
            match connection.poll_head(cx, &mut scanner, state.options.head.bytes, read) {
                Poll::Ready(Err(HeadError::Blank)) if blank_lines < BLANK_LINES => {
                    connection.input.consume(2);
                    scanner = HeadScanner::default();
                    blank_lines += 1;
                }
                Poll::Ready(Ok(request)) => return Poll::Ready(Ok(request)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(ended(&error, &scanner))),
                Poll::Pending => break,
            }
        }
        match connection.input.bytes().first() {
            None if state.stopping.get() => return Poll::Ready(Err(Ended::Quietly)),
            None => {}
            Some(first) if !is_token(&[*first]) && *first != b'\r' => {
                let reason = "the request line is a method, a target and HTTP/1.1";
                return Poll::Ready(Err(Refusal { status: 400, reason }.into()));
            }
            Some(_) if !begun => {
                begun = true;
                deadline = Tick::after(state.options.head_timeout);
            }
            Some(_) => {}
        }
        if begun && !partial.get_or_insert_with(|| state.heads.begin(cx)).keep(connection.input.kept_bytes()) {
            state.refusals.count(Shortage::Heads);
            let unread = connection.input.bytes().len();
            connection.input.consume(unread);
            let reason = "too many requests come too slowly; send the head of a request at once";
            return Poll::Ready(Err(Refusal { status: 503, reason }.into()));
        }
        if deadline.passed() {
            let late = Refusal { status: 408, reason: "the head of the request did not come in time" };
            return Poll::Ready(Err(if begun { late.into() } else { Ended::Quietly }));
        }
        connection.timer.wake_at(deadline, cx);
        Poll::Pending
    })
    .await;
    let connection = &mut *client.borrow_mut();
    connection.input.set_head(false);
    let request = request?;
    connection.begin_body(request.framing);
    let mut too_large = false;
    if let Side::Client { awaits_continue, version, body_bytes, .. } = &mut connection.side {
        *awaits_continue = request.expects_continue;
        *version = request.head.version();
        if let (Some(limit), Framing::Length(length)) = (body_bytes, request.framing) {
            too_large = length > *limit;
        }
    }
    if too_large {
        let refusal = Refusal { status: 413, reason: "the body is larger than this bus accepts" };
        return Err(Ended::Refused { refusal, to_head: request.head.has_method("HEAD") });
    }
    Ok(request)
}

fn ended(error: &HeadError, scanner: &HeadScanner) -> Ended {
    let (status, reason) = match error {
        HeadError::Scan(ScanError::BareLineFeed) => (400, "a line ends in CR LF"),
        HeadError::Scan(ScanError::TooLong) if scanner.past_start_line() => {
            (431, "the head is longer than this bus accepts")
        }
        HeadError::Scan(ScanError::TooLong) => (414, "the request line is longer than this bus accepts"),
        HeadError::Refused(refusal) => return (*refusal).into(),
        HeadError::Blank => (400, "the request line is a method, a target and HTTP/1.1"),
        HeadError::Ended(true) => (400, "the head of the request broke off"),
        HeadError::Ended(false) | HeadError::Io(_) => return Ended::Quietly,
    };
    Refusal { status, reason }.into()
}

/// Says on request whom a request came from, before any mediator sees it.
fn add_forwarded(forwarded: Forwarded, head: &mut Head, info: &ConnectionInfo) {
    // None of these values can break a line: they are addresses, constants, and what came in a line.
    if forwarded.via {
        let version = if head.version() == Version::Http10 { "1.0 myelin" } else { "1.1 myelin" };
        let _ = head.append("Via", version.as_bytes());
    }
    if forwarded.x_forwarded == XForwarded::AsCame {
        return;
    }
    if forwarded.x_forwarded == XForwarded::Replace {
        let is_told = |name: &str| {
            let start = name.get(..X_FORWARDED.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(X_FORWARDED)) || name.eq_ignore_ascii_case("Forwarded")
        };
        head.remove_if(|_, name| is_told(name));
    }
    let peer = info.peer.ip().to_string().into_bytes();
    let addresses: Vec<&[u8]> = head.all("X-Forwarded-For").chain([&peer[..]]).collect();
    let addresses = addresses.join(&b", "[..]);
    let _ = head.set("X-Forwarded-For", &addresses);
    let scheme = if info.secure { "https" } else { "http" };
    set_once(head, "X-Forwarded-Proto", HeaderId::XForwardedProto, Some(scheme.as_bytes().to_vec()));
    let host = head.known(HeaderId::Host).filter(|host| !host.is_empty()).map(<[u8]>::to_vec);
    set_once(head, "X-Forwarded-Host", HeaderId::XForwardedHost, host);
}

/// How the names begin of headers that say whom a request came from.
const X_FORWARDED: &str = "X-Forwarded-";

/// Leaves a header its first value, or gives it this one.
fn set_once(head: &mut Head, name: &str, id: HeaderId, value: Option<Vec<u8>>) {
    if let Some(value) = head.known(id).map(<[u8]>::to_vec).or(value) {
        let _ = head.set(name, &value);
    }
}

async fn refuse(state: &Rc<ServerState>, client: &Shared, info: &ConnectionInfo, refusal: Refusal, to_head: bool) {
    let started = Instant::now();
    count_refused(refusal.status);
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    let mut response = answer::plain(status, refusal.reason);
    if status == StatusCode::SERVICE_UNAVAILABLE {
        // A constant is always a value a header can hold.
        let _ = response.head.append("Retry-After", b"1");
    }
    let outcome = answer::send(state, client, response, Asked::refused(to_head)).await;
    if state.service.recorded().is_some() {
        let mut record = Record {
            status: status.as_u16(),
            sent_bytes: outcome.sent_bytes,
            sent_head_bytes: outcome.head_bytes.min(outcome.sent_bytes),
            complete: outcome.complete,
            ..Record::new(info)
        };
        record.end(started);
        state.service.finished(&record);
    }
    if outcome.next != Next::Drop {
        linger(state, client).await;
    }
}

/// Reads what is left of a request that was answered early; `false` where it is too much or takes too long.
async fn drained(client: &Shared) -> bool {
    if client.borrow().decoder.is_done() {
        return true;
    }
    let deadline = Tick::after(DRAIN_TIME);
    let mut skipped = 0;
    poll_fn(|cx| {
        let connection = &mut *client.borrow_mut();
        let end = connection.poll_skip(cx, &mut skipped);
        if end.is_pending() && (skipped > DRAIN_BYTES || deadline.passed()) {
            return Poll::Ready(false);
        }
        connection.timer.wake_at(deadline, cx);
        end
    })
    .await
}

/// Closes so that the client can still read its answer: closing with unread bytes would reset the connection
/// and take the answer away (RFC 9112 §9.6).
/// Most clients send all of a request before they look for its answer, so whatever comes is read, and forgotten.
async fn linger(state: &ServerState, client: &Shared) {
    let mut last = Tick::after(LINGER_TIME);
    let mut silence = Tick::after(DRAIN_TIME);
    let mut shut = false;
    poll_fn(|cx| {
        let connection = &mut *client.borrow_mut();
        if !shut {
            match connection.stream.poll_shutdown(cx) {
                Poll::Ready(Ok(())) => shut = true,
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Pending => {}
            }
        }
        let mut received = 0;
        if shut && connection.poll_forget(cx, &mut received).is_ready() {
            return Poll::Ready(());
        }
        if received > 0 {
            silence = Tick::after(DRAIN_TIME);
        }
        if state.stopping.get() {
            // Of all these looks the first has the nearest end.
            last = last.min(Tick::after(DRAIN_TIME));
        }
        let deadline = silence.min(last);
        if deadline.passed() {
            return Poll::Ready(());
        }
        connection.timer.wake_at(deadline, cx);
        Poll::Pending
    })
    .await;
}
