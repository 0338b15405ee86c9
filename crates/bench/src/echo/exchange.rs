//! What is sent for what was received; knows no socket.

use std::io::Write;
use std::rc::Rc;

use crate::framing::{Decoder, Malformed};
use crate::request::{Framing, HEAD_LIMIT_BYTES, HEADER_LIMIT};

/// Where answers go.
pub(super) trait Sink {
    /// Sends the three runs one after another, keeping a copy of what cannot leave now.
    fn send(&mut self, head: &[u8], body: &[u8], tail: &[u8]);
    /// As [`Sink::send`], but may keep `body` itself and leave another empty buffer in its place.
    fn send_owned(&mut self, head: &[u8], body: &mut Vec<u8>, tail: &[u8]);
}

/// One connection's requests, one after another.
pub(super) struct Exchange {
    /// What the head of every answer begins with.
    opening: Rc<[u8]>,
    stage: Stage,
    /// The head of the answer, in a buffer that is used again.
    head: Vec<u8>,
    /// The body while it is held.
    pub(super) body: Vec<u8>,
}

#[derive(Default)]
enum Stage {
    #[default]
    Head,
    Body {
        decoder: Decoder,
        answer: Answer,
    },
    /// The request is complete and its answer is due.
    Ready(Answer),
}

/// How the request under way is to be answered.
#[derive(Clone, Debug)]
struct Answer {
    chunked: bool,
    keep_alive: bool,
    /// HTTP/1.0 clients are told that the connection stays open.
    old_client: bool,
    /// The answer has begun and each part of the body is passed on as it comes.
    streaming: bool,
    length: u64,
    media_type: Option<Vec<u8>>,
}

/// What [`Exchange::take`] came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// More input is needed.
    More,
    /// A request is complete; [`Exchange::answer`] is to be called, after the delay if there is one.
    Complete,
    /// An answer is on its way.
    Answered { keep_alive: bool },
    /// The request is no HTTP; the refusal is on its way and the connection is to be closed.
    Refused,
}

impl Exchange {
    pub(super) fn new(opening: Rc<[u8]>) -> Exchange {
        Exchange { opening, stage: Stage::default(), head: Vec::new(), body: Vec::new() }
    }

    /// Goes on with `input` and says how many bytes of it are used up.
    ///
    /// With `hold_bytes` 0 every body that is not complete in `input` is streamed; `at_once` allows to answer
    /// without a [`Progress::Complete`] in between.
    pub(super) fn take(
        &mut self,
        input: &[u8],
        hold_bytes: u64,
        at_once: bool,
        sink: &mut impl Sink,
    ) -> (usize, Progress) {
        let outcome = match &mut self.stage {
            Stage::Head => self.take_head(input, hold_bytes, at_once, sink),
            Stage::Body { .. } => self.take_body(input, hold_bytes, at_once, sink),
            Stage::Ready(_) => Ok((0, Progress::Complete)),
        };
        outcome.unwrap_or_else(|Malformed| {
            sink.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", b"", b"");
            (0, Progress::Refused)
        })
    }

    /// Sends the answer that [`Progress::Complete`] announced; says whether the connection stays.
    pub(super) fn answer(&mut self, sink: &mut impl Sink) -> bool {
        let Stage::Ready(answer) = std::mem::take(&mut self.stage) else { return true };
        let mut tail: &[u8] = b"";
        let length = self.body.len() as u64;
        answer.write_head(&mut self.head, &self.opening, length);
        if answer.chunked {
            tail = b"0\r\n\r\n";
            if length > 0 {
                chunk_size(&mut self.head, length);
                tail = b"\r\n0\r\n\r\n";
            }
        }
        sink.send_owned(&self.head, &mut self.body, tail);
        self.body.clear();
        answer.keep_alive
    }

    fn take_head(
        &mut self,
        input: &[u8],
        hold_bytes: u64,
        at_once: bool,
        sink: &mut impl Sink,
    ) -> Result<(usize, Progress), Malformed> {
        let mut headers = [httparse::EMPTY_HEADER; HEADER_LIMIT];
        let mut request = httparse::Request::new(&mut headers);
        let used = match request.parse(input) {
            Ok(httparse::Status::Complete(used)) => used,
            Ok(httparse::Status::Partial) if input.len() < HEAD_LIMIT_BYTES => return Ok((0, Progress::More)),
            Ok(httparse::Status::Partial) | Err(_) => return Err(Malformed),
        };
        let (decoder, mut answer, expects) = read_head(&request)?;
        if let Decoder::Length(length) = decoder
            && at_once
            && (input.len() - used) as u64 >= length
        {
            // All is here: head and body leave in one send, the body straight from the read buffer.
            let end = used + length as usize;
            answer.write_head(&mut self.head, &self.opening, length);
            sink.send(&self.head, &input[used..end], b"");
            return Ok((end, Progress::Answered { keep_alive: answer.keep_alive }));
        }
        if expects && used == input.len() {
            sink.send(b"HTTP/1.1 100 Continue\r\n\r\n", b"", b"");
        }
        if matches!(decoder, Decoder::Length(length) if length > hold_bytes) {
            self.begin(&mut answer, sink);
        }
        self.body.clear();
        if let (Decoder::Length(length), false) = (&decoder, answer.streaming) {
            // No longer than `hold_bytes`: else it would be streaming.
            self.body.reserve_exact(*length as usize);
        }
        if decoder.is_done() {
            self.stage = Stage::Ready(answer);
            return Ok((used, Progress::Complete));
        }
        self.stage = Stage::Body { decoder, answer };
        let (more, progress) = self.take_body(&input[used..], hold_bytes, at_once, sink)?;
        Ok((used + more, progress))
    }

    fn take_body(
        &mut self,
        input: &[u8],
        hold_bytes: u64,
        at_once: bool,
        sink: &mut impl Sink,
    ) -> Result<(usize, Progress), Malformed> {
        let Stage::Body { mut decoder, mut answer } = std::mem::take(&mut self.stage) else {
            return Ok((0, Progress::More));
        };
        let (mut used, mut done) = (0, false);
        while used < input.len() && !done {
            let step = decoder.advance(&input[used..])?;
            used += step.used;
            done = step.done;
            if !answer.streaming && (self.body.len() + step.data.len()) as u64 > hold_bytes {
                self.begin(&mut answer, sink);
            }
            match (answer.streaming, answer.chunked) {
                (false, _) => self.body.extend_from_slice(step.data),
                (true, false) => sink.send(b"", step.data, b""),
                (true, true) if step.data.is_empty() => {}
                (true, true) => {
                    self.head.clear();
                    chunk_size(&mut self.head, step.data.len() as u64);
                    sink.send(&self.head, step.data, b"\r\n");
                }
            }
        }
        if !done {
            self.stage = Stage::Body { decoder, answer };
            return Ok((used, Progress::More));
        }
        if answer.streaming {
            if answer.chunked {
                sink.send(b"0\r\n\r\n", b"", b"");
            }
            return Ok((used, Progress::Answered { keep_alive: answer.keep_alive }));
        }
        self.stage = Stage::Ready(answer);
        if at_once {
            return Ok((used, Progress::Answered { keep_alive: self.answer(sink) }));
        }
        Ok((used, Progress::Complete))
    }

    /// Begins an answer whose body follows as it comes; what is held leaves first.
    fn begin(&mut self, answer: &mut Answer, sink: &mut impl Sink) {
        answer.streaming = true;
        answer.write_head(&mut self.head, &self.opening, answer.length);
        let mut tail: &[u8] = b"";
        if answer.chunked && !self.body.is_empty() {
            chunk_size(&mut self.head, self.body.len() as u64);
            tail = b"\r\n";
        }
        sink.send_owned(&self.head, &mut self.body, tail);
        self.body.clear();
    }
}

impl Default for Decoder {
    fn default() -> Decoder {
        Decoder::Length(0)
    }
}

impl Answer {
    fn write_head(&self, head: &mut Vec<u8>, opening: &[u8], length: u64) {
        head.clear();
        head.extend_from_slice(opening);
        if let Some(media_type) = &self.media_type {
            head.extend_from_slice(b"Content-Type: ");
            head.extend_from_slice(media_type);
            head.extend_from_slice(b"\r\n");
        }
        // Writing to a vector cannot fail.
        let _ = match self.chunked {
            true => write!(head, "Transfer-Encoding: chunked\r\n"),
            false => write!(head, "Content-Length: {length}\r\n"),
        };
        match (self.keep_alive, self.old_client) {
            (false, _) => head.extend_from_slice(b"Connection: close\r\n"),
            (true, true) => head.extend_from_slice(b"Connection: keep-alive\r\n"),
            (true, false) => {}
        }
        head.extend_from_slice(b"\r\n");
    }
}

fn chunk_size(head: &mut Vec<u8>, length: u64) {
    // Writing to a vector cannot fail.
    let _ = write!(head, "{length:x}\r\n");
}

/// The framing of the request's body, how to answer, and whether `100 Continue` is waited for.
fn read_head(request: &httparse::Request<'_, '_>) -> Result<(Decoder, Answer, bool), Malformed> {
    let Framing { decoder, length, chunked, keep_alive, old_client, expects, media_type } = Framing::of(request)?;
    // A HEAD answer has no body, so there is nothing a body could be echoed in.
    if request.method == Some("HEAD") && (chunked || length > 0) {
        return Err(Malformed);
    }
    let media_type = media_type.map(<[u8]>::to_vec);
    Ok((decoder, Answer { chunked, keep_alive, old_client, streaming: false, length, media_type }, expects))
}
