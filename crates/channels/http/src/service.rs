//! What answers requests, and what is told of each.

use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memchr::memchr;
use myelin_channel::LocalFuture;
use myelin_message::{Arrival, CorrelationId, Head, HeaderId, Message, Version};

/// Answers requests.
pub trait Service {
    /// Gives the answer to a request; there is always one.
    fn serve<'a>(&'a self, request: Message, arrival: Arrival<'a>) -> LocalFuture<'a, Message>;

    /// What is to be kept of each request for [`Service::finished`]; `None` where nobody wants to hear of them.
    fn recorded(&self) -> Option<&Recorded> {
        None
    }

    /// Hears of an answer that is about to be sent, in the same moment in which [`Service::serve`] gave it.
    fn answered(&self, _record: &mut Record) {}

    /// Hears of an answer that was sent, or of one whose client went away.
    fn finished(&self, _record: &Record) {}
}

/// What is kept of each request beside numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Whether method, target and correlation are.
    pub lines: bool,
    /// The header lines of requests, by their names.
    pub request_headers: Vec<String>,
    /// Those of answers.
    pub response_headers: Vec<String>,
}

/// What TLS was agreed on for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsSession {
    /// `TLSv1.3`
    pub version: &'static str,
    /// The suite, as IANA names it: `TLS_AES_256_GCM_SHA384`
    pub cipher: &'static str,
}

/// One line of an access log.
#[derive(Debug)]
pub struct Record {
    /// The client's address.
    pub peer: SocketAddr,
    /// The address that the client connected to.
    pub local: SocketAddr,
    /// What TLS was agreed on; `None` for plain HTTP.
    pub tls: Option<TlsSession>,
    /// The protocol of the request: `HTTP/1.1`
    pub protocol: &'static str,
    /// The header lines of the request that are kept, in the order of [`Recorded`].
    pub request_headers: Vec<Option<String>>,
    /// Those of the answer.
    pub response_headers: Vec<Option<String>>,
    /// Bytes received, head included.
    pub received_bytes: u64,
    /// Bytes of the request's body that were received.
    pub received_body_bytes: u64,
    /// Bytes of the answer's head.
    pub sent_head_bytes: u64,
    /// Whether the connection is there for another request.
    pub goes_on: bool,
    /// What the service itself keeps of the exchange; what it kept of the one before is there when
    /// [`Service::answered`] is called.
    pub note: Option<Box<dyn Any>>,
    /// Method and target as they came, with the blank between them; empty where the head was refused.
    pub method_and_target: Vec<u8>,
    /// The status answered with.
    pub status: u16,
    /// Bytes sent, head included.
    pub sent_bytes: u64,
    /// From the request's head to the answer's last byte.
    pub duration: Duration,
    /// The value of the answer's `activityid`; empty where it carries none.
    pub correlation: Vec<u8>,
    /// Whether the answer was sent to its end.
    pub complete: bool,
}

impl Record {
    /// For a connection whose request has not come.
    pub(crate) fn new(info: &ConnectionInfo) -> Record {
        Record { tls: info.tls, ..Record::at(info.peer, info.local) }
    }

    /// For a connection between these addresses, with nothing in it.
    pub fn at(peer: SocketAddr, local: SocketAddr) -> Record {
        Record {
            peer,
            local,
            tls: None,
            protocol: "HTTP/1.1",
            request_headers: Vec::new(),
            response_headers: Vec::new(),
            received_bytes: 0,
            received_body_bytes: 0,
            sent_head_bytes: 0,
            goes_on: false,
            note: None,
            method_and_target: Vec::new(),
            status: 0,
            sent_bytes: 0,
            duration: Duration::ZERO,
            correlation: Vec::new(),
            complete: false,
        }
    }

    /// The method; empty where the head was refused.
    pub fn method(&self) -> &[u8] {
        self.parts_of_request().0
    }

    /// The target as it came; empty where the head was refused.
    pub fn target(&self) -> &[u8] {
        self.parts_of_request().1
    }

    /// Method and target; there is no blank in a method.
    fn parts_of_request(&self) -> (&[u8], &[u8]) {
        let all = &self.method_and_target[..];
        memchr(b' ', all).map_or((all, &[]), |blank| (&all[..blank], &all[blank + 1..]))
    }

    /// Takes down a request; the memory of the one before is used again.
    pub(crate) fn begin(&mut self, request: &Head, recorded: &Recorded) -> Option<Instant> {
        self.correlation.clear();
        self.received_bytes = request.wire_bytes() as u64;
        self.protocol = protocol(request.version());
        self.method_and_target.clear();
        if recorded.lines {
            self.method_and_target.extend_from_slice(request.method_and_target());
        }
        if !recorded.request_headers.is_empty() {
            take_down(&mut self.request_headers, request, &recorded.request_headers);
        }
        recorded.lines.then(Instant::now)
    }

    /// Takes down that the last byte of the answer was sent, to a request that came then.
    pub(crate) fn end(&mut self, started: Instant) {
        self.duration = started.elapsed();
    }

    /// Takes down the head of an answer.
    pub(crate) fn answer(&mut self, answer: &Message, recorded: &Recorded) {
        self.status = answer.status.as_u16();
        if recorded.lines
            && let Some(value) = answer.head.known(HeaderId::ActivityId)
        {
            self.correlation.extend_from_slice(value);
        }
        if !recorded.response_headers.is_empty() {
            take_down(&mut self.response_headers, &answer.head, &recorded.response_headers);
        }
    }
}

fn take_down(values: &mut Vec<Option<String>>, head: &Head, names: &[String]) {
    let value = |name: &String| head.first(name).map(|value| String::from_utf8_lossy(value).into_owned());
    values.clear();
    values.extend(names.iter().map(value));
}

/// A version as the wire has it.
pub(crate) fn protocol(version: Version) -> &'static str {
    match version {
        Version::Http10 => "HTTP/1.0",
        Version::Http11 => "HTTP/1.1",
    }
}

/// What stays the same for all requests of a connection.
pub(crate) struct ConnectionInfo {
    pub(crate) tls: Option<TlsSession>,
    pub(crate) peer: SocketAddr,
    pub(crate) local: SocketAddr,
    pub(crate) secure: bool,
    pub(crate) inbound: Option<Arc<str>>,
}

impl ConnectionInfo {
    /// How a request came by it; its correlation is nobody's yet.
    pub(crate) fn arrival(&self) -> Arrival<'_> {
        Arrival {
            transport: if self.secure { "https" } else { "http" },
            peer: Some(self.peer),
            local: Some(self.local),
            inbound: self.inbound.as_deref(),
            correlation: CorrelationId::NONE,
        }
    }
}
