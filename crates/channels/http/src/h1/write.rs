//! Writes heads: start line, the lines that pass on, and the framing of the body that follows.

use std::io::Write as _;

use http::StatusCode;
use myelin_message::{Head, HeaderId, Version};

use super::body::Framing;

/// The first line of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestLine<'a> {
    /// Any token.
    pub method: &'a str,
    /// Origin-form, path and query; or absolute.
    pub target: &'a str,
    /// The value of `Host`.
    pub host: &'a str,
    /// The protocol version.
    pub version: Version,
    /// Whether the connection is not to be used again.
    pub close: bool,
}

/// The first line of a response.
#[derive(Clone, Copy, Debug)]
pub struct StatusLine<'a> {
    /// 100–999.
    pub status: StatusCode,
    /// The reason phrase, where it is not the status's own.
    pub reason: Option<&'a str>,
}

/// What a head says of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Nothing: HTTP/1.1 keeps it open.
    Persistent,
    /// `Connection: close`.
    Close,
    /// `Connection: keep-alive`, which an HTTP/1.0 client asked for and wants confirmed.
    KeepAlive,
}

/// Writes the head of a request.
///
/// `as_came` says that the body is relayed in the framing it came in, so that the head's own framing lines stay.
pub fn write_request(out: &mut Vec<u8>, line: RequestLine<'_>, head: &Head, framing: Framing, as_came: bool) {
    let version = match line.version {
        Version::Http10 => " HTTP/1.0\r\n",
        Version::Http11 => " HTTP/1.1\r\n",
    };
    for part in [line.method, " ", line.target, version] {
        out.extend_from_slice(part.as_bytes());
    }
    // The client's Host keeps its place and case; only its value may be another.
    let host_written = head.known(HeaderId::Host) != Some(line.host.as_bytes());
    if host_written {
        for part in ["Host: ", line.host, "\r\n"] {
            out.extend_from_slice(part.as_bytes());
        }
    }
    head.write_lines(out, |line| {
        !(is_hop(line.id)
            || line.id == HeaderId::ProxyAuthorization
            || (line.id == HeaderId::Host && host_written)
            || (!as_came && is_framing(line.id)))
    });
    match framing {
        _ if as_came => {}
        // A method that usually carries a body says that this one does not (RFC 9110 §8.6).
        Framing::Empty if !matches!(line.method, "GET" | "HEAD" | "DELETE" | "OPTIONS" | "TRACE") => {
            write_length(out, 0);
        }
        Framing::Empty | Framing::UntilClose => {}
        Framing::Length(length) => write_length(out, length),
        Framing::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
    }
    if line.close {
        out.extend_from_slice(CLOSE);
    }
    out.extend_from_slice(b"\r\n");
}

/// Writes the head of a response.
///
/// `date` is added where the head has none (RFC 9110 §6.6.1).
/// `as_came` as for [`write_request`]; `framing` is that of the body that follows or, to a HEAD, would have followed.
pub fn write_response(
    out: &mut Vec<u8>,
    line: StatusLine<'_>,
    head: &Head,
    framing: Framing,
    as_came: bool,
    connection: Connection,
    date: Option<&str>,
) {
    let status = line.status;
    match (status, line.reason) {
        // What is mostly answered.
        (StatusCode::OK, None) => out.extend_from_slice(b"HTTP/1.1 200 OK\r\n"),
        (_, reason) => {
            let reason = reason.or(status.canonical_reason()).unwrap_or_default();
            for part in ["HTTP/1.1 ", status.as_str(), " ", reason, "\r\n"] {
                out.extend_from_slice(part.as_bytes());
            }
        }
    }
    let bodiless = status.is_informational() || status == StatusCode::NO_CONTENT;
    head.write_lines(out, |line| {
        let framing_goes = if as_came { bodiless } else { true };
        !(is_hop(line.id) || (is_framing(line.id) && framing_goes))
    });
    match framing {
        _ if as_came || bodiless => {}
        Framing::Empty if status == StatusCode::NOT_MODIFIED => {}
        Framing::Empty => write_length(out, 0),
        Framing::Length(length) => write_length(out, length),
        Framing::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        Framing::UntilClose => {}
    }
    if let Some(date) = date
        && head.known(HeaderId::Date).is_none()
    {
        for part in ["Date: ", date, "\r\n"] {
            out.extend_from_slice(part.as_bytes());
        }
    }
    match connection {
        Connection::Persistent => {}
        Connection::Close => out.extend_from_slice(CLOSE),
        Connection::KeepAlive => out.extend_from_slice(b"Connection: keep-alive\r\n"),
    }
    out.extend_from_slice(b"\r\n");
}

/// Says that the connection ends with the message.
const CLOSE: &[u8] = b"Connection: close\r\n";

fn write_length(out: &mut Vec<u8>, length: u64) {
    // Writing to a Vec cannot fail.
    let _ = write!(out, "Content-Length: {length}\r\n");
}

fn is_framing(id: HeaderId) -> bool {
    matches!(id, HeaderId::ContentLength | HeaderId::TransferEncoding | HeaderId::Trailer)
}

/// Lines that are about one connection only (RFC 9110 §7.6.1); those that `Connection` names went when the head came.
fn is_hop(id: HeaderId) -> bool {
    matches!(
        id,
        HeaderId::Connection
            | HeaderId::KeepAlive
            | HeaderId::ProxyConnection
            | HeaderId::ProxyAuthenticate
            | HeaderId::Te
            | HeaderId::Upgrade
    )
}

#[cfg(test)]
mod tests {
    use super::super::head::{HeadLimits, parse_request, parse_response};
    use super::*;

    fn forwarded(request: &str, framing: Framing, as_came: bool) -> String {
        let request = parse_request(request.as_bytes(), HeadLimits::default()).unwrap();
        let (method, version) = (request.head.method(), Version::Http11);
        let line = RequestLine { method, target: "/b?c", host: "backend:9000", version, close: false };
        let mut out = Vec::new();
        write_request(&mut out, line, &request.head, framing, as_came);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_request_can_leave_as_http_10_end_its_connection_and_name_the_whole_uri() {
        let mut out = Vec::new();
        let (version, target) = (Version::Http10, "http://back/a?b");
        let line = RequestLine { method: "POST", target, host: "back", version, close: true };
        write_request(&mut out, line, &Head::default(), Framing::Length(3), false);
        let expected = "POST http://back/a?b HTTP/1.0\r\nHost: back\r\nContent-Length: 3\r\nConnection: close\r\n\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn hop_by_hop_lines_stay_behind_and_all_others_keep_their_bytes() {
        let request = "POST /a HTTP/1.1\r\nHost: bus\r\nx-a:1\r\nConnection: keep-alive, X-Secret\r\nX-Secret: 1\r\n\
                       Keep-Alive: 5\r\nUpgrade: h2c\r\nTE: trailers\r\nX-a:  2 \r\nContent-Length: 3\r\n\r\n";
        assert_eq!(
            forwarded(request, Framing::Length(3), true),
            "POST /b?c HTTP/1.1\r\nHost: backend:9000\r\nx-a:1\r\nX-a:  2 \r\nContent-Length: 3\r\n\r\n"
        );
        assert_eq!(
            forwarded(request, Framing::Chunked, false),
            "POST /b?c HTTP/1.1\r\nHost: backend:9000\r\nx-a:1\r\nX-a:  2 \r\nTransfer-Encoding: chunked\r\n\r\n"
        );
    }

    #[test]
    fn connection_cannot_hide_framing_or_host() {
        let request =
            "POST / HTTP/1.1\r\nHost: backend:9000\r\nConnection: content-length, host\r\nContent-Length: 3\r\n\r\n";
        assert_eq!(
            forwarded(request, Framing::Length(3), true),
            "POST /b?c HTTP/1.1\r\nHost: backend:9000\r\nContent-Length: 3\r\n\r\n"
        );
    }

    #[test]
    fn an_empty_post_says_so_and_an_empty_get_does_not() {
        assert!(
            forwarded("POST / HTTP/1.1\r\nHost: a\r\n\r\n", Framing::Empty, false).contains("Content-Length: 0\r\n")
        );
        assert!(!forwarded("GET / HTTP/1.1\r\nHost: a\r\n\r\n", Framing::Empty, false).contains("Content-Length"));
    }

    #[test]
    fn a_response_is_written_with_the_framing_of_its_body() {
        let answer = |text: &str, framing, as_came, connection| {
            let response = parse_response(text.as_bytes(), false, HeadLimits::default()).unwrap();
            let mut out = Vec::new();
            let line = StatusLine { status: response.status, reason: response.head.reason() };
            write_response(&mut out, line, &response.head, framing, as_came, connection, None);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            answer("HTTP/1.1 200 Fine\r\nContent-length:5\r\n\r\n", Framing::Length(5), true, Connection::Persistent),
            "HTTP/1.1 200 Fine\r\nContent-length:5\r\n\r\n"
        );
        assert_eq!(
            answer("HTTP/1.0 200 OK\r\nA: 1\r\n\r\n", Framing::Chunked, false, Connection::Close),
            "HTTP/1.1 200 OK\r\nA: 1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        );
        assert_eq!(
            answer(
                "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n",
                Framing::Empty,
                true,
                Connection::Persistent
            ),
            "HTTP/1.1 204 No Content\r\n\r\n"
        );
    }
}
