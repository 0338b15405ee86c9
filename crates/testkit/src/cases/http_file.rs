//! `.http` files: a message as text, its head with any line ends, its body byte for byte.

use std::fmt::Write;

use http::StatusCode;
use myelin_engine::transport::{Method, Outgoing};
use myelin_message::{Head, HeaderId, Line, Start, Version, is_token, is_value};

/// What a file holds: a head as from the wire, and the bytes behind its empty line.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) head: Head,
    pub(super) body: Vec<u8>,
}

/// What is wrong with a file, and in which line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) line: usize,
    pub(super) what: String,
}

/// Reads a request: `POST /services/a HTTP/1.1`, header lines, an empty line, the body.
///
/// Errors: the first line that is no part of a head; the file's.
pub(super) fn request(file: &[u8]) -> Result<Parsed, Malformed> {
    parse(file, |line| {
        let mut words = line.split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err("a request starts with method, target and version, as in `POST /a HTTP/1.1`".to_owned());
        };
        if !is_token(method.as_bytes()) || target.is_empty() {
            return Err(format!("{method:?} {target:?} is no method and target"));
        }
        let method_end = method.len() as u32;
        let target_end = method_end + 1 + target.len() as u32;
        Ok(Start::Request {
            method: 0..method_end,
            target: method_end + 1..target_end,
            version: parse_version(version)?,
        })
    })
}

/// Reads a response: `HTTP/1.1 200 OK`, header lines, an empty line, the body.
///
/// Errors: as [`request`].
pub(super) fn response(file: &[u8]) -> Result<Parsed, Malformed> {
    parse(file, |line| {
        let mut words = line.splitn(3, ' ');
        let version = parse_version(words.next().unwrap_or_default())?;
        let status = words.next().unwrap_or_default();
        let status = StatusCode::from_bytes(status.as_bytes()).map_err(|_| format!("{status:?} is no status"))?;
        let reason = words.next().unwrap_or_default().len() as u32;
        let end = line.len() as u32;
        Ok(Start::Response { status, reason: end - reason..end, version })
    })
}

/// Writes what mediation sends to a backend: the absolute URI, the lines a transport would send, the body.
pub(super) fn write_request(outgoing: &Outgoing, body: &[u8]) -> Vec<u8> {
    let method = match &outgoing.method {
        Method::AsCame => outgoing.head.method(),
        Method::Named(method) => method,
    };
    let mut out = format!("{method} {} HTTP/1.1\n", outgoing.address);
    if let Some(host) = &outgoing.host {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "Host: {host}");
    }
    write(out, &outgoing.head, body)
}

/// Writes an answer as the client gets it, without what the transport adds.
pub(super) fn write_response(status: StatusCode, reason: Option<&str>, head: &Head, body: &[u8]) -> Vec<u8> {
    let reason = reason.or(status.canonical_reason()).unwrap_or_default();
    write(format!("HTTP/1.1 {} {reason}\n", status.as_str()), head, body)
}

fn write(start: String, head: &Head, body: &[u8]) -> Vec<u8> {
    let mut out = start.into_bytes();
    for line in head.lines() {
        if !is_the_transports(line.id) {
            out.extend_from_slice(head.name(line).as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(head.value(line));
            out.push(b'\n');
        }
    }
    out.push(b'\n');
    out.extend_from_slice(body);
    out
}

/// Framing, hop-by-hop lines and `Host`: mediation leaves them to the transport, whatever stands in the head.
fn is_the_transports(id: HeaderId) -> bool {
    matches!(
        id,
        HeaderId::Connection
            | HeaderId::ContentLength
            | HeaderId::Expect
            | HeaderId::Host
            | HeaderId::KeepAlive
            | HeaderId::ProxyAuthenticate
            | HeaderId::ProxyAuthorization
            | HeaderId::ProxyConnection
            | HeaderId::Te
            | HeaderId::Trailer
            | HeaderId::TransferEncoding
            | HeaderId::Upgrade
    )
}

fn parse_version(word: &str) -> Result<Version, String> {
    match word {
        "HTTP/1.1" => Ok(Version::Http11),
        "HTTP/1.0" => Ok(Version::Http10),
        _ => Err(format!("{word:?} is not HTTP/1.1 or HTTP/1.0")),
    }
}

fn parse(file: &[u8], start_of: impl Fn(&str) -> Result<Start, String>) -> Result<Parsed, Malformed> {
    let mut bytes = Vec::with_capacity(file.len());
    let mut start = Start::None;
    let mut lines = Vec::new();
    let mut rest = file;
    for number in 1.. {
        let wrong = |what: &str| Malformed { line: number, what: what.to_owned() };
        let end = rest.iter().position(|&byte| byte == b'\n');
        let line = &rest[..end.unwrap_or(rest.len())];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = std::str::from_utf8(line).map_err(|_| wrong("the head is not UTF-8"))?;
        rest = end.map_or(&[], |end| &rest[end + 1..]);
        if number == 1 {
            start = start_of(text).map_err(|what| wrong(&what))?;
        } else if line.is_empty() {
            break;
        } else {
            let colon = text.find(':').ok_or_else(|| wrong("a header line needs a colon"))?;
            let value = text[colon + 1..].trim_ascii();
            if !is_token(&line[..colon]) || !is_value(value.as_bytes()) {
                return Err(wrong("this is no header line"));
            }
            let offset = bytes.len() as u32;
            // The value's place in the file's own line, found from its end, as what was trimmed there is known.
            let trimmed_end = text.trim_ascii_end().len().max(colon + 1);
            lines.push(Line {
                id: HeaderId::of(&line[..colon]),
                start: offset,
                name_end: offset + colon as u32,
                value_start: offset + (trimmed_end - value.len()) as u32,
                value_end: offset + trimmed_end as u32,
                end: offset + line.len() as u32 + 2,
            });
        }
        bytes.extend_from_slice(line);
        bytes.extend_from_slice(b"\r\n");
        if end.is_none() {
            break;
        }
    }
    Ok(Parsed { head: Head::from_wire(bytes, start, lines), body: rest.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_the_same_with_either_line_end() {
        for file in
            ["POST /a?b HTTP/1.1\nHost: x\nA:  1 \n\nbody\n", "POST /a?b HTTP/1.1\r\nHost: x\r\nA:  1 \r\n\r\nbody\n"]
        {
            let parsed = request(file.as_bytes()).unwrap();
            assert_eq!((parsed.head.method(), parsed.head.target()), ("POST", "/a?b"));
            assert_eq!(parsed.head.first("a"), Some(&b"1"[..]));
            assert_eq!(parsed.body, b"body\n");
            let mut lines = Vec::new();
            parsed.head.write_lines(&mut lines, |_| true);
            assert_eq!(lines, b"Host: x\r\nA:  1 \r\n");
        }
    }

    #[test]
    fn a_response_keeps_its_reason() {
        let parsed = response(b"HTTP/1.0 299 Quite all right\nEmpty:\n").unwrap();
        assert_eq!(parsed.head.status().unwrap().as_u16(), 299);
        assert_eq!(parsed.head.reason(), Some("Quite all right"));
        assert_eq!(parsed.head.first("empty"), Some(&b""[..]));
        assert!(parsed.body.is_empty());
    }

    #[test]
    fn what_is_no_head_is_refused_with_its_line() {
        assert_eq!(request(b"POST /a\n").unwrap_err().line, 1);
        assert_eq!(request(b"POST /a HTTP/1.1\nno colon\n\n").unwrap_err().line, 2);
        assert_eq!(request(b"").unwrap_err().line, 1);
        assert_eq!(response(b"HTTP/1.1 20 OK\n").unwrap_err().line, 1);
    }
}
