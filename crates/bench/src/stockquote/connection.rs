//! One client connection: reads a request whole, answers it, goes on.

use std::io::{self, Write};
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::reply::Reply;
use super::service::{Call, Service};
use crate::deadlines::Deadlines;
use crate::framing::{Decoder, Malformed};
use crate::listening::PerThread;
use crate::request::{Framing, HEAD_LIMIT_BYTES, HEADER_LIMIT};

/// A connection on which nothing moves for so long is closed.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longer bodies are refused; the longest list of symbols is shorter.
const BODY_LIMIT_BYTES: usize = 2 << 20;

/// What a refused client may still send, and how long it may take.
const LINGER_BYTES: u64 = 16 << 20;
const LINGER: Duration = Duration::from_secs(2);

/// What the connections of one thread share.
pub(super) struct Shared {
    pub(super) service: Service,
    pub(super) deadlines: Deadlines,
}

impl PerThread for Shared {
    fn deadlines(&self) -> &Deadlines {
        &self.deadlines
    }
}

struct Connection {
    stream: TcpStream,
    /// What came and was not used yet.
    input: Vec<u8>,
}

/// A request's head.
struct Head {
    method: String,
    target: String,
    host: String,
    media_type: String,
    decoder: Decoder,
    keep_alive: bool,
    old_client: bool,
    expects: bool,
}

/// Why a connection ends.
enum End {
    /// Something is to be said first.
    Refused(&'static str),
    /// It broke, or the client closed it.
    Gone,
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> End {
        End::Gone
    }
}

impl From<Malformed> for End {
    fn from(_: Malformed) -> End {
        End::Refused("400 Bad Request")
    }
}

pub(super) async fn serve(stream: TcpStream, shared: Rc<Shared>) {
    let mut connection = Connection { stream, input: Vec::new() };
    if let Err(End::Refused(status)) = connection.run(&shared).await {
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        // Whoever does not take it is gone as well.
        let _ = connection.send(answer.as_bytes()).await;
        connection.linger().await;
    }
}

impl Connection {
    async fn run(&mut self, shared: &Shared) -> Result<(), End> {
        let mut out = Vec::new();
        loop {
            let mut head = self.head().await?;
            if head.expects && self.input.is_empty() {
                self.send(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
            }
            let body = self.body(&mut head.decoder).await?;
            let Head { method, target, host, media_type, .. } = &head;
            let reply = shared.service.answer(Call { method, target, host, media_type, body });
            out.clear();
            head.write(&reply, &mut out);
            self.send(&out).await?;
            if !head.keep_alive {
                return Ok(());
            }
        }
    }

    async fn head(&mut self) -> Result<Head, End> {
        loop {
            if let Some((used, head)) = Head::read(&self.input)? {
                self.input.drain(..used);
                return Ok(head);
            }
            if self.input.len() >= HEAD_LIMIT_BYTES {
                return Err(End::Refused("431 Request Header Fields Too Large"));
            }
            self.read().await?;
        }
    }

    async fn body(&mut self, decoder: &mut Decoder) -> Result<Vec<u8>, End> {
        let mut body = Vec::new();
        let mut done = decoder.is_done();
        while !done {
            if self.input.is_empty() {
                self.read().await?;
            }
            let (mut used, input) = (0, &self.input);
            while !done && used < input.len() {
                let step = decoder.advance(&input[used..])?;
                body.extend_from_slice(step.data);
                (used, done) = (used + step.used, step.done);
            }
            self.input.drain(..used);
            if body.len() > BODY_LIMIT_BYTES {
                return Err(End::Refused("413 Content Too Large"));
            }
        }
        Ok(body)
    }

    /// Reads more; the client's end is the connection's.
    async fn read(&mut self) -> Result<(), End> {
        self.input.reserve(16 * 1024);
        match timeout(PATIENCE, self.stream.read_buf(&mut self.input)).await {
            Ok(Ok(count)) if count > 0 => Ok(()),
            _ => Err(End::Gone),
        }
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), End> {
        match timeout(PATIENCE, self.stream.write_all(bytes)).await {
            Ok(sent) => Ok(sent?),
            Err(_) => Err(End::Gone),
        }
    }

    /// Takes what the client still sends: closing a socket with unread input would take the answer away from it.
    async fn linger(mut self) {
        // The other side may have closed already; then nothing comes.
        let _ = self.stream.shutdown().await;
        let mut rest = self.stream.take(LINGER_BYTES);
        let _ = timeout(LINGER, tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
    }
}

impl Head {
    /// The head at the start of `input` and its length, if it is there as a whole.
    fn read(input: &[u8]) -> Result<Option<(usize, Head)>, Malformed> {
        let mut headers = [httparse::EMPTY_HEADER; HEADER_LIMIT];
        let mut request = httparse::Request::new(&mut headers);
        let used = match request.parse(input) {
            Ok(httparse::Status::Complete(used)) => used,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(Malformed),
        };
        let Framing { decoder, keep_alive, old_client, expects, media_type, .. } = Framing::of(&request)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let host = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("host"));
        let head = Head {
            method: request.method.unwrap_or_default().to_owned(),
            target: request.path.unwrap_or_default().to_owned(),
            host: host.map_or_else(String::new, |header| text(header.value)),
            media_type: media_type.map_or_else(String::new, text),
            decoder,
            keep_alive,
            old_client,
            expects,
        };
        Ok(Some((used, head)))
    }

    fn write(&self, reply: &Reply, out: &mut Vec<u8>) {
        let reason = match reply.status {
            200 => "OK",
            202 => "Accepted",
            400 => "Bad Request",
            404 => "Not Found",
            _ => "Internal Server Error",
        };
        let connection = match (self.keep_alive, self.old_client) {
            (false, _) => "Connection: close\r\n",
            (true, true) => "Connection: keep-alive\r\n",
            (true, false) => "",
        };
        let media_type = match reply.media_type {
            "" => String::new(),
            media_type => format!("Content-Type: {media_type}; charset=UTF-8\r\n"),
        };
        let (status, length) = (reply.status, reply.body.len());
        // Writing to a vector cannot fail.
        let _ = write!(
            out,
            "HTTP/1.1 {status} {reason}\r\n{media_type}Content-Length: {length}\r\n{connection}\r\n{}",
            reply.body
        );
    }
}
