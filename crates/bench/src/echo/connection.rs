//! One client connection: reads into the thread's buffer, sends what the exchange makes of it.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;

use super::exchange::{Exchange, Progress, Sink};
use crate::deadlines::{Deadline, Deadlines};
use crate::listening::{self, PerThread, ReadBuffer};

/// A connection on which nothing moves for so long is closed.
const IDLE: Duration = Duration::from_secs(600);
/// A client has so long to take what it asked for.
const FLUSH: Duration = Duration::from_secs(60);
/// Buffers up to this size stay with an idle connection; larger ones are freed.
const KEPT_BYTES: usize = 16 * 1024;

/// How the echo behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long every answer is held back.
    pub delay: Duration,
    /// Threads, each with its own listener on the same port.
    pub threads: usize,
    /// Bodies up to so many bytes are read whole before the answer begins, others are streamed back.
    pub hold_bytes: u64,
    /// What every answer says in `X-Served-By`; nothing without a name.
    pub name: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options { delay: Duration::ZERO, threads: 1, hold_bytes: 2 << 20, name: None }
    }
}

/// What the connections of one thread share.
pub(super) struct Shared {
    pub(super) options: Options,
    pub(super) buffer: ReadBuffer,
    pub(super) deadlines: Deadlines,
    /// What the head of every answer begins with.
    opening: Rc<[u8]>,
}

impl Shared {
    pub(super) fn new(options: Options) -> Shared {
        let name = options.name.as_ref().map(|name| format!("X-Served-By: {name}\r\n"));
        let opening = format!("HTTP/1.1 200 OK\r\n{}", name.unwrap_or_default());
        let (buffer, deadlines) = (listening::read_buffer(), Deadlines::default());
        Shared { options, buffer, deadlines, opening: opening.into_bytes().into() }
    }
}

impl PerThread for Shared {
    fn deadlines(&self) -> &Deadlines {
        &self.deadlines
    }
}

struct Connection {
    stream: TcpStream,
    exchange: Exchange,
    /// Input that could not be used yet: part of a head, or requests sent ahead.
    input: Vec<u8>,
    pending: Pending,
    deadline: Deadline,
    shared: Rc<Shared>,
}

/// What could not leave yet.
#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    sent: usize,
}

/// What the connection has to do next.
enum Next {
    Read,
    Answer,
    Close,
}

pub(super) async fn serve(stream: TcpStream, shared: Rc<Shared>) {
    let mut connection = Connection {
        stream,
        exchange: Exchange::new(shared.opening.clone()),
        input: Vec::new(),
        pending: Pending::default(),
        deadline: shared.deadlines.register(),
        shared,
    };
    // An error is the end of this connection and nobody else's concern.
    let _ = connection.run().await;
}

impl Connection {
    async fn run(&mut self) -> io::Result<()> {
        let mut next = Next::Read;
        loop {
            self.flush().await?;
            next = match next {
                Next::Close => return Ok(()),
                Next::Read if !self.input.is_empty() => {
                    let input = std::mem::take(&mut self.input);
                    match self.process(&input) {
                        // What is held is the beginning of something: only more of it helps.
                        Next::Read if self.input.len() == input.len() => poll_fn(|cx| self.poll_input(cx)).await?,
                        other => other,
                    }
                }
                Next::Read => poll_fn(|context| self.poll_input(context)).await?,
                Next::Answer => {
                    if !self.shared.options.delay.is_zero() {
                        tokio::time::sleep(self.shared.options.delay).await;
                    }
                    let mut sink = SocketSink { stream: &self.stream, pending: &mut self.pending };
                    if self.exchange.answer(&mut sink) { Next::Read } else { Next::Close }
                }
            };
        }
    }

    /// Waits for input and processes it in the same breath, because the buffer it lies in is everybody's.
    fn poll_input(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Next>> {
        let shared = self.shared.clone();
        let mut buffer = shared.buffer.borrow_mut();
        let mut read = ReadBuf::new(&mut buffer);
        if Pin::new(&mut self.stream).poll_read(context, &mut read)?.is_pending() {
            self.release();
            return self.poll_idle(context);
        }
        self.deadline.disarm();
        let filled = read.filled();
        if filled.is_empty() {
            return Poll::Ready(Ok(Next::Close));
        }
        if self.input.is_empty() {
            return Poll::Ready(Ok(self.process(filled)));
        }
        let mut input = std::mem::take(&mut self.input);
        input.extend_from_slice(filled);
        Poll::Ready(Ok(self.process(&input)))
    }

    /// Goes on with the requests in `input`; what cannot be used yet is kept in `self.input`.
    fn process(&mut self, mut input: &[u8]) -> Next {
        let options = &self.shared.options;
        let mut sink = SocketSink { stream: &self.stream, pending: &mut self.pending };
        let mut next = Next::Read;
        while !input.is_empty() {
            let (used, progress) = self.exchange.take(input, options.hold_bytes, options.delay.is_zero(), &mut sink);
            input = &input[used..];
            next = match progress {
                Progress::More if used == 0 => break,
                Progress::More | Progress::Answered { keep_alive: true } => Next::Read,
                Progress::Complete => Next::Answer,
                Progress::Answered { keep_alive: false } | Progress::Refused => return Next::Close,
            };
            // While the client does not take what it asked for, its next requests wait.
            if matches!(next, Next::Answer) || !sink.pending.is_empty() {
                break;
            }
        }
        self.input.extend_from_slice(input);
        next
    }

    /// Waits until nothing is pending.
    async fn flush(&mut self) -> io::Result<()> {
        while !self.pending.is_empty() {
            self.deadline.arm(FLUSH);
            poll_fn(|context| {
                if self.deadline.poll_expired(context) {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                ready!(self.stream.poll_write_ready(context))?;
                let mut sink = SocketSink { stream: &self.stream, pending: &mut self.pending };
                Poll::Ready(sink.write_pending())
            })
            .await?;
            self.deadline.disarm();
        }
        Ok(())
    }

    /// Nothing to read: waits, but not for ever.
    fn poll_idle(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Next>> {
        if self.deadline.poll_expired(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        self.deadline.arm(IDLE);
        Poll::Pending
    }

    /// Frees large buffers while the connection has no use for them.
    fn release(&mut self) {
        for buffer in [&mut self.exchange.body, &mut self.pending.bytes] {
            if buffer.capacity() > KEPT_BYTES && buffer.is_empty() {
                *buffer = Vec::new();
            }
        }
    }
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.sent == self.bytes.len()
    }
}

/// Sends at once what the socket takes and keeps the rest as pending.
struct SocketSink<'a> {
    stream: &'a TcpStream,
    pending: &'a mut Pending,
}

impl SocketSink<'_> {
    /// Sends as much as the socket takes now; bytes sent, over the three runs.
    fn try_send(&mut self, runs: [&[u8]; 3]) -> usize {
        if !self.pending.is_empty() {
            return 0;
        }
        let total: usize = runs.iter().map(|run| run.len()).sum();
        let mut sent = 0;
        while sent < total {
            let mut skip = sent;
            let slices = runs.map(|run| {
                let from = skip.min(run.len());
                skip -= from;
                IoSlice::new(&run[from..])
            });
            match self.stream.try_write_vectored(&slices) {
                Ok(count) if count > 0 => sent += count,
                // A broken connection says so again when the rest is flushed, where it can be handled.
                _ => break,
            }
        }
        sent
    }

    fn keep(&mut self, runs: [&[u8]; 3], mut sent: usize) {
        if self.pending.is_empty() {
            self.pending.bytes.clear();
            self.pending.sent = 0;
        }
        for run in runs {
            let from = sent.min(run.len());
            sent -= from;
            self.pending.bytes.extend_from_slice(&run[from..]);
        }
    }

    fn write_pending(&mut self) -> io::Result<()> {
        while !self.pending.is_empty() {
            match self.stream.try_write(&self.pending.bytes[self.pending.sent..]) {
                Ok(count) => self.pending.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        self.pending.bytes.clear();
        self.pending.sent = 0;
        Ok(())
    }
}

impl Sink for SocketSink<'_> {
    fn send(&mut self, head: &[u8], body: &[u8], tail: &[u8]) {
        let runs = [head, body, tail];
        let sent = self.try_send(runs);
        self.keep(runs, sent);
    }

    fn send_owned(&mut self, head: &[u8], body: &mut Vec<u8>, tail: &[u8]) {
        let sent = self.try_send([head, body, tail]);
        if self.pending.is_empty() && sent >= head.len() && sent < head.len() + body.len() {
            // The rest of a large body is not copied once more: the buffers change places.
            body.extend_from_slice(tail);
            std::mem::swap(body, &mut self.pending.bytes);
            self.pending.sent = sent - head.len();
            body.clear();
        } else {
            self.keep([head, body, tail], sent);
        }
    }
}
