//! A collector, and how it is spoken with.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Uri};

/// A collector, and how it is spoken with.
#[derive(Clone)]
pub struct Destination {
    /// The URL, with the path of the signal where the protocol is HTTP.
    pub url: Uri,
    /// How messages are framed.
    pub protocol: Protocol,
    /// What each request brings, such as a key. No value of it is ever shown.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// How long one request may take.
    pub timeout: Duration,
    /// Whether messages are compressed by gzip.
    pub gzip: bool,
    /// PEM files of the roots that it is trusted by; none means the system's.
    pub roots: Vec<PathBuf>,
    /// PEM files of the certificate that the bus shows, leaf first, and of its key; `None` where it shows none.
    pub shows: Option<(PathBuf, PathBuf)>,
}

/// How messages of OTLP are framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// As gRPC, over HTTP/2.
    Grpc,
    /// As the bodies of HTTP/1.1.
    Http,
}

impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let Destination { protocol, timeout, gzip, roots, shows, .. } = self;
        write!(f, "{self} by {protocol:?} {timeout:?} gzip={gzip} roots={roots:?} shows={shows:?} headers={names:?}")
    }
}

/// The URL without its query, which may hold a key.
impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, authority) = (self.url.scheme_str().unwrap_or("http"), self.url.authority());
        let authority = authority.map_or("", |authority| authority.as_str());
        write!(f, "{scheme}://{authority}{}", self.url.path().trim_end_matches('/'))
    }
}
