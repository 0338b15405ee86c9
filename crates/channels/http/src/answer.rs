//! Writes an answer to a client: its head, the framing its body needs, the body as it comes from the backend.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Context;
use std::time::Duration;

use http::StatusCode;
use myelin_message::{Body, HeaderId, Message, Version, is_credential, is_value};

use crate::buffer::{Staging, is_short};
use crate::client::says;
use crate::connection::{CONTINUE, Connection, Shared, Side};
use crate::h1::{ConnectionHeader, Framing, RequestHead, StatusLine, write_response};
use crate::relay::{BodySource, Broken, Bytes, Coding, Ends, HEAD_BYTES, PATIENCE, Relay, Waits, merged};
use crate::state::ServerState;
use crate::timer::Tick;

/// What a client may still have on its way when its request was answered early.
pub(crate) const DRAIN_BYTES: u64 = 256 * 1024;

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
            to_head: request.head.has_method("HEAD"),
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
    /// How many of them are the head.
    pub(crate) head_bytes: u64,
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
    source: Option<BodySource>,
    bytes: Bytes,
}

impl Shape {
    /// The connection that the body comes from, if it comes from one.
    fn connection(&self) -> Option<&Shared> {
        self.source.as_ref().and_then(BodySource::connection)
    }
}

/// Sends an answer to its last byte.
pub(crate) async fn send(state: &ServerState, client: &Shared, mut answer: Message, asked: Asked) -> Outcome {
    if client.borrow().severed {
        reset(client);
        return Outcome { sent_bytes: 0, head_bytes: 0, complete: false, next: Next::Drop };
    }
    if answer.status.is_informational() {
        answer = plain(StatusCode::INTERNAL_SERVER_ERROR, "an interim status cannot be an answer");
    }
    answer.body.settle();
    let source = match &answer.body {
        Body::Wire(wire) => BodySource::of(wire),
        _ => None,
    };
    match answer.body {
        Body::Gone | Body::Reading(..) | Body::Built(_) => {
            answer = plain(StatusCode::INTERNAL_SERVER_ERROR, "the body of the answer was sent elsewhere");
        }
        Body::Wire(_) if source.is_none() => {
            answer = plain(StatusCode::INTERNAL_SERVER_ERROR, "the body of the answer was lost");
        }
        _ => {}
    }
    if !answer.head.method().is_empty() && !state.options.echo_credentials {
        // The head is that of a request, which `respond` or `loopback` made the answer.
        answer.head.remove_if(|_, name| is_credential(name));
    }
    let length = answer.body.length().map_or(0, merged);
    let mut shape = shape(&mut answer, source, asked);
    let keep_alive =
        asked.keep_alive && !answer.close && !state.stopping.get() && !shape.until_close && can_go_on(client, &shape);
    let connection = match (keep_alive, asked.version) {
        (false, _) => ConnectionHeader::Close,
        (true, Version::Http10) => ConnectionHeader::KeepAlive,
        (true, Version::Http11) => ConnectionHeader::Persistent,
    };
    let mut bytes = Staging::with_capacity(HEAD_BYTES + length);
    let goes_back = shape.connection().is_some_and(|source| Rc::ptr_eq(source, client));
    if goes_back
        && let Side::Client { awaits_continue, .. } = &mut client.borrow_mut().side
        && std::mem::take(awaits_continue)
    {
        bytes.extend_from_slice(CONTINUE);
    }
    // A reason that a mediator took from outside must not end the line.
    let reason = answer.reason.as_deref().filter(|reason| is_value(reason.as_bytes()));
    let line = StatusLine { status: answer.status, reason };
    let date = state.dates.now();
    write_response(&mut bytes, line, &answer.head, shape.framing, shape.as_came, connection, Some(&date));
    let head_bytes = bytes.len() as u64;
    let mut relay = match &shape.source {
        None => Relay::whole(bytes, std::mem::take(&mut shape.bytes)),
        Some(_) => Relay::new(bytes, shape.coding),
    };
    relay.pace(Waits::Target, state.options.pace);
    let result = relayed(client, shape.source.as_mut(), goes_back, &mut relay).await;
    let complete = result.is_ok();
    match result {
        Ok(()) => {}
        // Nothing of the broken answer has left: the client can be told instead.
        Err(Broken::Source(error)) if relay.sent == 0 && !goes_back => {
            let text = format!("the backend's answer broke off: {error}");
            let asked = Asked { keep_alive: false, ..asked };
            return Box::pin(send(state, client, plain(StatusCode::BAD_GATEWAY, &text), asked)).await;
        }
        Err(broken) => {
            if matches!(broken, Broken::TimedOut(Waits::Target)) && is_short() && !client.borrow().decoder.is_done() {
                tracing::warn!(
                    client = client.borrow().stream.peer(),
                    correlation_id = correlation(&answer),
                    "the connection is closed: the client did not read its answer while it sent its request, and the \
                     answer exceeds the memory that myelin.server.memory_bytes allows"
                );
            }
            tracing::debug!(
                ?broken,
                client = client.borrow().stream.peer(),
                correlation_id = correlation(&answer),
                "an answer broke off"
            );
            // Missing bytes show by themselves where a length or chunks were promised.
            if shape.until_close {
                reset(client);
            }
        }
    }
    if complete && let Some(source) = shape.connection() {
        finish(source, client);
    }
    let next = match (complete, keep_alive) {
        (false, _) => Next::Drop,
        (true, false) => Next::Close,
        (true, true) => Next::Request,
    };
    Outcome { sent_bytes: relay.sent, head_bytes, complete, next }
}

/// The correlation id of an answer that carries one; the exchange itself is over when its answer is sent.
fn correlation(answer: &Message) -> Option<String> {
    answer.head.known(HeaderId::ActivityId).map(|value| String::from_utf8_lossy(value).into_owned())
}

fn shape(answer: &mut Message, source: Option<BodySource>, asked: Asked) -> Shape {
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
        Body::Wire(_) => match source {
            None => none,
            Some(BodySource::Connection(_)) if no_content || asked.to_head => Shape { as_came: true, ..none },
            Some(BodySource::Foreign(_)) if no_content => none,
            Some(BodySource::Foreign(body)) if asked.to_head => Shape { framing: body.framing(), ..none },
            Some(source) => {
                let (framing, is_own) = match &source {
                    BodySource::Connection(source) => (source.borrow().framing, true),
                    BodySource::Foreign(body) => (body.framing(), false),
                };
                let (framing, coding, as_came) = match framing {
                    Framing::UntilClose if asked.version == Version::Http10 => (framing, Coding::AsCame, false),
                    Framing::Chunked if asked.version == Version::Http10 => (Framing::UntilClose, Coding::Plain, false),
                    Framing::UntilClose => (Framing::Chunked, Coding::Chunked, false),
                    Framing::Chunked if !is_own => (framing, Coding::Chunked, false),
                    _ => (framing, Coding::AsCame, is_own && says(&answer.head, framing)),
                };
                let until_close = framing == Framing::UntilClose;
                Shape { framing, coding, as_came, until_close, source: Some(source), ..none }
            }
        },
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
    let source = shape.connection();
    if waiting && !source.is_some_and(|source| Rc::ptr_eq(source, client)) {
        return false;
    }
    let uploading = source.is_some_and(|source| Rc::ptr_eq(source, client) || source.borrow().uploads());
    uploading || client.borrow().decoder.remaining().is_some_and(|remaining| remaining <= DRAIN_BYTES)
}

async fn relayed(
    client: &Shared,
    mut source: Option<&mut BodySource>,
    goes_back: bool,
    relay: &mut Relay,
) -> Result<(), Broken> {
    poll_fn(|cx| {
        let (result, source) = match &mut source {
            Some(BodySource::Foreign(body)) => (relay.poll_foreign(cx, body, client), AnswerSource::Foreign),
            Some(BodySource::Connection(_)) if goes_back => {
                (relay.poll(cx, Ends::Back(&mut client.borrow_mut())), AnswerSource::Client)
            }
            Some(BodySource::Connection(source)) => {
                let from = &mut *source.borrow_mut();
                from.poll_upload(cx);
                (relay.poll(cx, Ends::Across { from, to: &mut client.borrow_mut() }), AnswerSource::Backend(source))
            }
            None => (relay.poll(cx, Ends::Out(&mut client.borrow_mut())), AnswerSource::Here),
        };
        if result.is_pending() {
            let to = &mut *client.borrow_mut();
            let mut deadline = relay.deadline(to.idle);
            let stuck = relay.is_stuck();
            if stuck {
                read_on(cx, to, source, relay)?;
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

/// Who has the rest of an answer.
#[derive(Clone, Copy)]
enum AnswerSource<'a> {
    /// Everything is in the relay.
    Here,
    /// The client's own request goes back to it.
    Client,
    Backend(&'a Shared),
    Foreign,
}

/// Goes on reading the request of a client that takes nothing of its answer: it may have to send all of it first.
fn read_on(
    cx: &mut Context<'_>,
    client: &mut Connection,
    source: AnswerSource<'_>,
    relay: &mut Relay,
) -> Result<(), Broken> {
    if client.decoder.is_done() {
        return Ok(());
    }
    match source {
        AnswerSource::Here => {}
        AnswerSource::Client => return relay.poll_hold(cx, Ends::Back(client)),
        AnswerSource::Backend(source) => {
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
        // Should it read this request itself, it must not take what is left for all of it.
        AnswerSource::Foreign => client.ticket += 1,
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
