//! A client that sends exactly the bytes it is given, split as it is told, and reads answers with a deadline.
//!
//! It blocks its thread; a test with a runtime of its own calls it from another thread.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::wire::{Chunks, Framing, framing, head_end};

/// How long a client waits where the test says nothing else.
pub const DEADLINE: Duration = Duration::from_secs(60);
/// Answers are read up to this size.
const ANSWER_LIMIT_BYTES: usize = 256 * 1024 * 1024;
const HEADER_LIMIT: usize = 4096;

/// Why there is no whole answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The socket failed, as by a reset; what had arrived until then.
    Io(io::Error, Vec<u8>),
    /// The deadline passed; what had arrived until then.
    Deadline(Vec<u8>),
    /// The server closed before the end; what had arrived until then.
    Closed(Vec<u8>),
    /// What arrived is no HTTP, and why.
    Malformed(String, Vec<u8>),
}

impl Error {
    /// What had arrived when it failed.
    pub fn received(&self) -> &[u8] {
        match self {
            Error::Io(_, bytes) | Error::Deadline(bytes) | Error::Closed(bytes) | Error::Malformed(_, bytes) => bytes,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error, _) => write!(f, "the connection failed: {error}")?,
            Error::Deadline(_) => f.write_str("no whole answer within the deadline")?,
            Error::Closed(_) => f.write_str("the server closed before the end of the answer")?,
            Error::Malformed(why, _) => write!(f, "the answer is no HTTP: {why}")?,
        }
        let received = self.received();
        let shown = String::from_utf8_lossy(&received[..received.len().min(400)]);
        write!(f, "; {} bytes had arrived: {shown:?}", received.len())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io(error, _) => Some(error),
            _ => None,
        }
    }
}

/// How the end of an answer was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// No body can follow: a status of 204 or 304, or the answer to `HEAD`.
    None,
    /// `Content-Length`.
    Length,
    /// Chunked coding.
    Chunked,
    /// The server closed the connection.
    Close,
}

/// One answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// 200–599.
    pub status: u16,
    /// The reason phrase; may be empty.
    pub reason: String,
    /// 0 or 1, of HTTP/1.x.
    pub minor_version: u8,
    /// Header names and values in order, names as they came.
    pub headers: Vec<(String, String)>,
    /// The body, chunked coding undone.
    pub body: Vec<u8>,
    /// Trailer lines, as they came.
    pub trailers: Vec<String>,
    /// How its end was told.
    pub delimiter: Delimiter,
    /// The statuses of the interim answers before it.
    pub interim: Vec<u16>,
}

impl Answer {
    /// The first value of a header, whatever the case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// All values of a header.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// One connection to a server.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    ahead: Vec<u8>,
    deadline: Duration,
}

impl Client {
    /// Connects; waits at most [`DEADLINE`].
    pub fn connect(address: SocketAddr) -> io::Result<Client> {
        let stream = TcpStream::connect_timeout(&address, DEADLINE)?;
        // Pieces must leave as they are given.
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(DEADLINE))?;
        Ok(Client { stream, ahead: Vec::new(), deadline: DEADLINE })
    }

    /// Waits this long for each answer from now on.
    pub fn deadline(&mut self, deadline: Duration) {
        self.deadline = deadline;
    }

    /// The local address of the connection.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.stream.local_addr()
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends bytes in pieces that end at the offsets given, with a pause behind each.
    pub fn send_split(&mut self, bytes: &[u8], ends: &[usize], pause: Duration) -> io::Result<()> {
        let mut start = 0;
        for &end in ends.iter().chain([&bytes.len()]) {
            let end = end.clamp(start, bytes.len());
            self.send(&bytes[start..end])?;
            std::thread::sleep(pause);
            start = end;
        }
        Ok(())
    }

    /// Sends FIN; answers can still be read.
    pub fn half_close(&mut self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)
    }

    /// Sends a request and reads its answer; `HEAD` is recognised.
    ///
    /// Errors: see [`Error`]. A request that cannot be sent whole is no error yet: there may be an early answer.
    pub fn exchange(&mut self, request: &[u8]) -> Result<Answer, Error> {
        let sent = self.send(request);
        let answer = self.answer_to(request.starts_with(b"HEAD "));
        match (sent, answer) {
            (Err(error), Err(_)) => Err(Error::Io(error, std::mem::take(&mut self.ahead))),
            (_, answer) => answer,
        }
    }

    /// Reads one answer, interim ones before it included.
    pub fn answer(&mut self) -> Result<Answer, Error> {
        self.answer_to(false)
    }

    /// Reads one head and gives it as text; what follows stays to be read. For looking at interim answers.
    pub fn head(&mut self) -> Result<String, Error> {
        let until = Instant::now() + self.deadline;
        let end = self.read_head(until)?;
        Ok(String::from_utf8_lossy(&self.ahead.drain(..end).collect::<Vec<_>>()).into_owned())
    }

    /// Reads until the server closes, and gives all that arrived.
    pub fn until_closed(&mut self) -> Result<Vec<u8>, Error> {
        let until = Instant::now() + self.deadline;
        while self.fill(until)? {}
        Ok(std::mem::take(&mut self.ahead))
    }

    /// Whether the server closes the connection within `wait` without sending anything more.
    pub fn is_closed_within(&mut self, wait: Duration) -> bool {
        let was = self.ahead.len();
        match self.fill(Instant::now() + wait) {
            Ok(open) => !open,
            Err(Error::Io(..)) => self.ahead.len() == was,
            Err(_) => false,
        }
    }

    fn answer_to(&mut self, head_only: bool) -> Result<Answer, Error> {
        let until = Instant::now() + self.deadline;
        let mut interim = Vec::new();
        loop {
            let end = self.read_head(until)?;
            let head: Vec<u8> = self.ahead.drain(..end).collect();
            let mut answer = match parse_head(&head) {
                Ok(answer) => answer,
                Err(why) => return Err(Error::Malformed(why, head)),
            };
            // 101 ends HTTP on this connection, so it is no interim answer.
            if answer.status < 200 && answer.status != 101 {
                interim.push(answer.status);
                continue;
            }
            answer.interim = interim;
            let bodiless = head_only || matches!(answer.status, 101 | 204 | 304);
            match framing(&head) {
                _ if bodiless => answer.delimiter = Delimiter::None,
                Framing::Length(length) => {
                    answer.delimiter = Delimiter::Length;
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    while self.ahead.len() < length {
                        if !self.fill(until)? {
                            return Err(Error::Closed([head, std::mem::take(&mut self.ahead)].concat()));
                        }
                    }
                    answer.body = self.ahead.drain(..length).collect();
                }
                Framing::Chunked => {
                    answer.delimiter = Delimiter::Chunked;
                    self.read_chunks(&mut answer, until)?;
                }
                Framing::Unsaid => {
                    answer.delimiter = Delimiter::Close;
                    while self.fill(until)? {}
                    answer.body = std::mem::take(&mut self.ahead);
                }
            }
            return Ok(answer);
        }
    }

    fn read_chunks(&mut self, answer: &mut Answer, until: Instant) -> Result<(), Error> {
        let mut chunks = Chunks::default();
        loop {
            match chunks.take(&self.ahead) {
                Err(why) => return Err(Error::Malformed(why, std::mem::take(&mut self.ahead))),
                Ok((taken, done)) => {
                    self.ahead.drain(..taken);
                    if done {
                        break;
                    }
                }
            }
            if !self.fill(until)? {
                return Err(Error::Closed(chunks.decoded));
            }
        }
        answer.body = chunks.decoded;
        answer.trailers = chunks.trailers.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect();
        Ok(())
    }

    fn read_head(&mut self, until: Instant) -> Result<usize, Error> {
        // A head of megabytes must not be searched anew for every piece of it.
        let mut searched = 0;
        loop {
            if let Some(end) = head_end(&self.ahead[searched..]) {
                return Ok(searched + end);
            }
            searched = self.ahead.len().saturating_sub(3);
            if !self.fill(until)? {
                return Err(Error::Closed(std::mem::take(&mut self.ahead)));
            }
        }
    }

    /// Reads some more; `false` at the end.
    fn fill(&mut self, until: Instant) -> Result<bool, Error> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::Deadline(std::mem::take(&mut self.ahead)));
        }
        if self.ahead.len() > ANSWER_LIMIT_BYTES {
            return Err(Error::Malformed("the answer is too large for a test".to_owned(), Vec::new()));
        }
        let start = self.ahead.len();
        self.ahead.resize(start + 64 * 1024, 0);
        let count = self.stream.set_read_timeout(Some(left)).and_then(|()| self.stream.read(&mut self.ahead[start..]));
        self.ahead.truncate(start + *count.as_ref().unwrap_or(&0));
        match count {
            Ok(count) => Ok(count > 0),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Err(Error::Deadline(std::mem::take(&mut self.ahead)))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(Error::Io(error, std::mem::take(&mut self.ahead))),
        }
    }
}

/// Connects, sends one request and reads its answer.
///
/// Errors: see [`Error`].
pub fn exchange(address: SocketAddr, request: &[u8]) -> Result<Answer, Error> {
    Client::connect(address).map_err(|error| Error::Io(error, Vec::new()))?.exchange(request)
}

fn parse_head(head: &[u8]) -> Result<Answer, String> {
    let mut lines = vec![httparse::EMPTY_HEADER; HEADER_LIMIT];
    let mut response = httparse::Response::new(&mut lines);
    match response.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err("the head is not whole".to_owned()),
        Err(error) => return Err(error.to_string()),
    }
    Ok(Answer {
        status: response.code.unwrap_or_default(),
        reason: response.reason.unwrap_or_default().to_owned(),
        minor_version: response.version.unwrap_or_default(),
        headers: response
            .headers
            .iter()
            .map(|line| (line.name.to_owned(), String::from_utf8_lossy(line.value).into_owned()))
            .collect(),
        body: Vec::new(),
        trailers: Vec::new(),
        delimiter: Delimiter::None,
        interim: Vec::new(),
    })
}
