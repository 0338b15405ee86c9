//! Writes an answer to a client: its head, the framing its body needs, the body as it comes from the backend.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Context;
use std::time::{Duration, SystemTime};

use http::StatusCode;
use myelin_message::{Body, Message, Version, is_value};

use crate::buffer::is_short;
use crate::client::says;
use crate::connection::{CONTINUE, Connection, Shared, Side, behind, fetch_foreign};
use crate::conversation::DRAIN_BYTES;
use crate::h1::{ConnectionHeader, Framing, RequestHead, StatusLine, write_response};
use crate::relay::{Broken, Bytes, Coding, Ends, HEAD_BYTES, PATIENCE, Relay, Waits, merged};
use crate::server::Hall;
use crate::timer::Tick;

/// What the answer has to know of its request.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    version: Version,
    keep_alive: bool,
    to_head: bool,
}

impl Asked {
    pub(crate) fn of(request: &RequestHead) -> Asked {
        Asked {
            version: request.head.version(),
            keep_alive: request.keep_alive,
            to_head: request.head.method() == "HEAD",
        }
    }

    /// A request that is refused, whose connection ends with the answer; `to_head` where it was a HEAD.
    pub(crate) fn refused(to_head: bool) -> Asked {
        Asked { version: Version::Http11, keep_alive: false, to_head }
    }
}

/// How an answer left.
pub(crate) struct Outcome {
    pub(crate) sent_bytes: u64,
    pub(crate) complete: bool,
    pub(crate) next: Next,
}

/// How the connection goes on behind an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// With another request.
    Request,
    /// It is closed in order, so that the client can read its answer.
    Close,
    /// It is dropped: the answer broke off, and must not look like one that ended.
    Drop,
}

/// The text of `Date`, made once a second.
#[derive(Default)]
pub(crate) struct Dates(RefCell<Option<(Tick, Rc<str>)>>);

impl Dates {
    fn now(&self) -> Rc<str> {
        let mut last = self.0.borrow_mut();
        match &*last {
            Some((made, text)) if Tick::since(*made) < Duration::from_secs(1) => Rc::clone(text),
            _ => {
                let text: Rc<str> = httpdate::fmt_http_date(SystemTime::now()).into();
                *last = Some((Tick::now(), Rc::clone(&text)));
                text
            }
        }
    }
}

/// An answer in one sentence.
pub(crate) fn plain(status: StatusCode, text: &str) -> Message {
    let mut message = Message::answer(status, Body::Bytes(format!("{text}\n").into_bytes()));
    // A constant is always a value a header can hold.
    let _ = message.head.append("Content-Type", b"text/plain; charset=utf-8");
    message
}

/// The body of an answer, seen as what has to be written.
struct Shape {
    framing: Framing,
    coding: Coding,
    /// The head's own framing lines are right.
    as_came: bool,
    /// The response must be ended by closing the connection.
    until_close: bool,
    source: Option<Shared>,
    bytes: Bytes,
}

/// Sends an answer to its last byte.
pub(crate) async fn send(hall: &Hall, client: &Shared, mut answer: Message, asked: Asked) -> Outcome {
    if client.borrow().severed {
        reset(client);
        return Outcome { sent_bytes: 0, complete: false, next: Next::Drop };
    }
    if answer.status.is_informational() {
        answer = plain(StatusCode::INTERNAL_SERVER_ERROR, "an interim status cannot be an answer");
    }
    if fetch_foreign(&mut answer.body).await.is_err() {
        answer = plain(StatusCode::INTERNAL_SERVER_ERROR, "the body of the answer was lost");
    }
    if let Body::Gone | Body::Reading(..) | Body::Built(_) = answer.body {
        answer = plain(StatusCode::INTERNAL_SERVER_ERROR, "the body of the answer was sent elsewhere");
    }
    let length = answer.body.length().map_or(0, merged);
    let shape = shape(&mut answer, asked);
    let keep_alive =
        asked.keep_alive && !answer.close && !hall.stopping.get() && !shape.until_close && can_go_on(client, &shape);
    let connection = match (keep_alive, asked.version) {
        (false, _) => ConnectionHeader::Close,
        (true, Version::Http10) => ConnectionHeader::KeepAlive,
        (true, Version::Http11) => ConnectionHeader::Persistent,
    };
    let mut bytes = Vec::with_capacity(HEAD_BYTES + length);
    let goes_back = shape.source.as_ref().is_some_and(|source| Rc::ptr_eq(source, client));
    if goes_back
        && let Side::Client { awaits_continue, .. } = &mut client.borrow_mut().side
        && std::mem::take(awaits_continue)
    {
        bytes.extend_from_slice(CONTINUE);
    }
    // A reason that a mediator took from outside must not end the line.
    let reason = answer.reason.as_deref().filter(|reason| is_value(reason.as_bytes()));
    let line = StatusLine { status: answer.status, reason };
    let date = hall.dates.now();
    write_response(&mut bytes, line, &answer.head, shape.framing, shape.as_came, connection, Some(&date));
    let mut relay = match &shape.source {
        None => Relay::whole(bytes, shape.bytes),
        Some(_) => Relay::new(bytes, shape.coding),
    }
    .pace(Waits::Target, hall.options.pace);
    let result = relayed(client, shape.source.as_ref(), goes_back, &mut relay).await;
    let complete = result.is_ok();
    match result {
        Ok(()) => {}
        // Nothing of the broken answer has left: the client can be told instead.
        Err(Broken::Source(error)) if relay.sent == 0 && !goes_back => {
            let text = format!("the backend's answer broke off: {error}");
            let asked = Asked { keep_alive: false, ..asked };
            return Box::pin(send(hall, client, plain(StatusCode::BAD_GATEWAY, &text), asked)).await;
        }
        Err(broken) => {
            if matches!(broken, Broken::TimedOut(Waits::Target)) && is_short() && !client.borrow().decoder.is_done() {
                tracing::warn!(
                    "a client read nothing of its answer while it sent its request, and myelin.server.memory_bytes \
                     leaves no more to keep the answer in: the connection is closed"
                );
            }
            tracing::debug!(?broken, "an answer broke off");
            // Missing bytes show by themselves where a length or chunks were promised.
            if shape.until_close {
                reset(client);
            }
        }
    }
    if complete && let Some(source) = &shape.source {
        finish(source, client);
    }
    let next = match (complete, keep_alive) {
        (false, _) => Next::Drop,
        (true, false) => Next::Close,
        (true, true) => Next::Request,
    };
    Outcome { sent_bytes: relay.sent, complete, next }
}

fn shape(answer: &mut Message, asked: Asked) -> Shape {
    let body = answer.body.take();
    let no_content = matches!(answer.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    let none = Shape {
        framing: Framing::Empty,
        coding: Coding::AsCame,
        as_came: no_content,
        until_close: false,
        source: None,
        bytes: Bytes::default(),
    };
    match body {
        // The head of an answer to HEAD says what GET would have got; its own lines say it best.
        Body::Empty | Body::Gone | Body::Reading(..) | Body::Built(_) if asked.to_head => {
            Shape { as_came: true, ..none }
        }
        Body::Empty | Body::Gone | Body::Reading(..) | Body::Built(_) => {
            Shape { as_came: no_content || says(&answer.head, Framing::Empty), ..none }
        }
        Body::Bytes(_) | Body::Shared(_) if no_content => none,
        Body::Bytes(_) | Body::Shared(_) => {
            let bytes = Bytes::of(body);
            let framing = Framing::Length(bytes.len() as u64);
            Shape { framing, bytes: if asked.to_head { Bytes::default() } else { bytes }, ..none }
        }
        Body::Wire(wire) => {
            let Some(source) = behind(&wire) else { return none };
            if no_content || asked.to_head {
                return Shape { as_came: true, ..none };
            }
            let old_client = asked.version == Version::Http10;
            let framing = source.borrow().framing;
            match framing {
                Framing::UntilClose | Framing::Chunked if old_client => Shape {
                    framing: Framing::UntilClose,
                    coding: if framing == Framing::Chunked { Coding::Plain } else { Coding::AsCame },
                    until_close: true,
                    source: Some(source),
                    ..none
                },
                Framing::UntilClose => {
                    Shape { framing: Framing::Chunked, coding: Coding::Chunked, source: Some(source), ..none }
                }
                _ => Shape { framing, as_came: says(&answer.head, framing), source: Some(source), ..none },
            }
        }
    }
}

/// Whether the rest of the request is no obstacle to a next one.
fn can_go_on(client: &Shared, shape: &Shape) -> bool {
    let waiting = {
        let client = client.borrow();
        match &client.side {
            _ if client.decoder.is_done() => return true,
            Side::Client { awaits_continue, .. } => *awaits_continue,
            Side::Backend { .. } => false,
        }
    };
    // A client that still waits for 100 may send its body or not: nobody can tell what comes next.
    if waiting && !shape.source.as_ref().is_some_and(|source| Rc::ptr_eq(source, client)) {
        return false;
    }
    let uploading = shape.source.as_ref().is_some_and(|source| Rc::ptr_eq(source, client) || source.borrow().uploads());
    uploading || client.borrow().decoder.remaining().is_some_and(|remaining| remaining <= DRAIN_BYTES)
}

async fn relayed(client: &Shared, source: Option<&Shared>, goes_back: bool, relay: &mut Relay) -> Result<(), Broken> {
    poll_fn(|cx| {
        if let Some(source) = source
            && !goes_back
        {
            source.borrow_mut().poll_upload(cx);
        }
        let to = &mut *client.borrow_mut();
        let result = match source {
            None => relay.poll(cx, Ends::Out(to)),
            Some(_) if goes_back => relay.poll(cx, Ends::Back(to)),
            Some(source) => relay.poll(cx, Ends::Across { from: &mut source.borrow_mut(), to }),
        };
        if result.is_pending() {
            let mut deadline = relay.deadline(to.idle);
            let stuck = relay.is_stuck();
            if stuck {
                read_on(cx, to, source, goes_back, relay)?;
            }
            // In a moment it may be seen to be busy with sending, or others have left memory to keep its answer in.
            if relay.is_blocked() && !to.decoder.is_done() && (!stuck || is_short()) {
                deadline = deadline.min(Tick::after(PATIENCE));
            }
            to.timer.wake_at(deadline, cx);
        }
        result
    })
    .await
}

/// Goes on reading the request of a client that takes nothing of its answer: it may have to send all of it first.
fn read_on(
    cx: &mut Context<'_>,
    client: &mut Connection,
    source: Option<&Shared>,
    goes_back: bool,
    relay: &mut Relay,
) -> Result<(), Broken> {
    if client.decoder.is_done() {
        return Ok(());
    }
    if goes_back {
        return relay.poll_hold(cx, Ends::Back(client));
    }
    if let Some(source) = source {
        let source = &mut *source.borrow_mut();
        // The backend reads on only as long as it gets rid of what it answers.
        if source.uploads() && !relay.is_complete() {
            relay.poll_hold(cx, Ends::Across { from: source, to: client })?;
            relay.heard_at(client.last_read);
            if !relay.is_complete() {
                return Ok(());
            }
        }
        source.end_upload();
    }
    let mut skipped = 0;
    // A request that breaks off is none of this answer's concern.
    let _ = client.poll_skip(cx, &mut skipped);
    relay.heard(skipped);
    Ok(())
}

/// After a whole answer: its connection goes back to the pool, and an upload nobody waits for ends.
fn finish(source: &Shared, client: &Shared) {
    if !Rc::ptr_eq(source, client) {
        let source = &mut *source.borrow_mut();
        source.end_upload();
        source.retire();
    }
}

/// Makes an answer that broke off look like one, even where only the end of the connection delimits it.
fn reset(client: &Shared) {
    // A socket without this option closes in order: then nobody could be told.
    let _ = socket2::SockRef::from(client.borrow().stream.socket()).set_linger(Some(Duration::ZERO));
}
