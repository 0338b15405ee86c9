//! Reads request and response heads strictly (RFC 9112).
//!
//! What two parsers could read differently is refused here and never forwarded: that is where requests are smuggled.
//! [`lines`] reads the letters; this file does framing, `Host`, and limits.

mod before;
mod lines;

use std::cell::RefCell;
use std::fmt;
use std::net::Ipv6Addr;

use http::StatusCode;
use myelin_message::{Head, HeaderId, Start, Version};

use super::body::Framing;
use before::Before;

/// The most header lines a head may have, whatever the limits say.
const MOST_LINES: usize = 256;
/// The longest method: the longest that is registered has 17 letters.
const METHOD_LIMIT: usize = 32;

/// How large a head may be.
#[derive(Clone, Copy, Debug)]
pub struct HeadLimits {
    /// Bytes of start line and header lines together. Default 64 KiB.
    pub bytes: usize,
    /// Header lines, at most 256. Default 128.
    pub lines: usize,
}

impl Default for HeadLimits {
    fn default() -> HeadLimits {
        HeadLimits { bytes: 64 * 1024, lines: 128 }
    }
}

/// Why a head is refused: the status to answer with (to a client) and a sentence that says what would be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// 400, 414, 417, 431, 501 or 505.
    pub status: u16,
    /// What is wrong, for the answer's body and the log.
    pub reason: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason)
    }
}

const fn bad(reason: &'static str) -> Refusal {
    Refusal { status: 400, reason }
}

/// The head of a request, and what it says about the bytes behind it.
#[derive(Debug)]
pub struct RequestHead {
    /// The lines as they came.
    pub head: Head,
    /// How the body is delimited.
    pub framing: Framing,
    /// Whether the client can send another request on this connection.
    pub keep_alive: bool,
    /// Whether the client waits for `100 Continue` before it sends the body.
    pub expects_continue: bool,
}

/// The head of a response, and what it says about the bytes behind it.
#[derive(Debug)]
pub struct ResponseHead {
    /// The lines as they came.
    pub head: Head,
    /// 100–999; below 200 another head follows.
    pub status: StatusCode,
    /// How the body is delimited.
    pub framing: Framing,
    /// Whether the connection can carry another request.
    pub keep_alive: bool,
}

/// What [`HeadScanner`] cannot go on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanError {
    /// A line ends in LF without CR (RFC 9112 §2.2 lets a recipient accept it; we refuse: peers disagree on it).
    BareLineFeed,
    /// The head is longer than allowed.
    TooLong,
}

/// Finds the end of a head in bytes that arrive in pieces, looking at each byte once.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadScanner {
    scanned: usize,
    line_start: usize,
}

impl HeadScanner {
    /// Looks at `bytes` (all that arrived so far, from the start of the head); gives the head's length when complete.
    pub fn scan(&mut self, bytes: &[u8], limit_bytes: usize) -> Result<Option<usize>, ScanError> {
        for line_feed in lines::LineFeeds::new(bytes, self.scanned) {
            if line_feed == self.line_start || bytes[line_feed - 1] != b'\r' {
                return Err(ScanError::BareLineFeed);
            }
            if line_feed > limit_bytes {
                return Err(ScanError::TooLong);
            }
            let empty = line_feed - 1 == self.line_start;
            self.scanned = line_feed + 1;
            self.line_start = self.scanned;
            if empty {
                return Ok(Some(self.scanned));
            }
        }
        self.scanned = bytes.len();
        if bytes.len() > limit_bytes { Err(ScanError::TooLong) } else { Ok(None) }
    }

    /// Whether it has seen no byte yet.
    pub(crate) fn is_new(&self) -> bool {
        self.scanned == 0
    }

    /// Whether the start line is complete; tells an over-long target (414) from over-long header lines (431).
    pub fn past_start_line(&self) -> bool {
        self.line_start > 0
    }
}

thread_local! {
    static REQUEST_BEFORE: RefCell<Before> = const { RefCell::new(Before::new()) };
    static RESPONSE_BEFORE: RefCell<Before> = const { RefCell::new(Before::new()) };
}

/// Reads a request head; `bytes` is one complete head, its empty line included.
///
/// Errors: [`Refusal`], the client's.
pub fn parse_request(bytes: &[u8], limits: HeadLimits) -> Result<RequestHead, Refusal> {
    whole(read_request(bytes, limits)?, bytes)
}

/// Reads the request head that `bytes` start with; gives its length as well.
///
/// Errors: as [`parse_request`].
pub(crate) fn read_request(bytes: &[u8], limits: HeadLimits) -> Result<(RequestHead, usize), Refusal> {
    let (line, (mut head, length)) = REQUEST_BEFORE.with_borrow_mut(|before| {
        let line = lines::request_line(bytes, before)?;
        check_target(line.method, line.target)?;
        let (start, most) = (line.start(), limits.lines.min(MOST_LINES));
        let read = |lines: &mut _| lines::header_lines(bytes, (&start, line.length), most, before, lines);
        let head = Head::read(bytes, start.clone(), read)?;
        Ok((line, head))
    })?;
    let version = line.version;
    let fields = Fields::of(&head)?;
    fields.drop_nominated(&mut head);
    match fields.hosts {
        0 if version == Version::Http11 => return Err(bad("an HTTP/1.1 request has a Host header")),
        0 | 1 => {}
        _ => return Err(bad("a request has one Host header")),
    }
    if fields.upgrades && fields.asks_for_websocket && version == Version::Http11 {
        return Err(Refusal {
            status: 501,
            reason: "this bus does not offer WebSocket; it serves HTTP requests alone",
        });
    }
    if let Some(authority) = authority(line.target)? {
        // RFC 9112 §3.2.2: whatever Host says, the request is for the host of its target. A host that was checked is
        // always a value a header can hold.
        let _ = head.set("Host", authority);
    }
    let framing = match (fields.chunked, fields.length) {
        (true, Some(_)) => return Err(bad("a message has Content-Length or Transfer-Encoding, not both")),
        (true, None) if version == Version::Http10 => return Err(bad("HTTP/1.0 has no Transfer-Encoding")),
        (true, None) => Framing::Chunked,
        (false, Some(0) | None) => Framing::Empty,
        (false, Some(length)) => Framing::Length(length),
    };
    let expects_continue = match head.known(HeaderId::Expect) {
        None => false,
        Some(value) if value.eq_ignore_ascii_case(b"100-continue") => {
            version == Version::Http11 && framing != Framing::Empty
        }
        Some(_) => return Err(Refusal { status: 417, reason: "the one expectation this bus knows is 100-continue" }),
    };
    let keep_alive = fields.keep_alive(version);
    Ok((RequestHead { head, framing, keep_alive, expects_continue }, length))
}

/// Reads a response head; `bytes` is one complete head, `to_head` says that the request was a HEAD.
///
/// Errors: [`Refusal`], the backend's; its status means nothing here.
pub fn parse_response(bytes: &[u8], to_head: bool, limits: HeadLimits) -> Result<ResponseHead, Refusal> {
    whole(read_response(bytes, to_head, limits)?, bytes)
}

fn whole<T>((head, length): (T, usize), bytes: &[u8]) -> Result<T, Refusal> {
    if length == bytes.len() { Ok(head) } else { Err(bad("the head is not complete")) }
}

/// Reads the response head that `bytes` start with; gives its length as well.
///
/// Errors: as [`parse_response`].
pub(crate) fn read_response(bytes: &[u8], to_head: bool, limits: HeadLimits) -> Result<(ResponseHead, usize), Refusal> {
    let lines::StatusLine { code, version, reason, length } = lines::status_line(bytes)?;
    let status = StatusCode::from_u16(code).map_err(|_| bad("a status is between 100 and 999"))?;
    let (start, most) = (Start::Response { status, reason, version }, limits.lines.min(MOST_LINES));
    let (mut head, length) = RESPONSE_BEFORE.with_borrow_mut(|before| {
        let read = |lines: &mut _| lines::header_lines(bytes, (&start, length), most, before, lines);
        Head::read(bytes, start.clone(), read)
    })?;
    let fields = Fields::of(&head)?;
    fields.drop_nominated(&mut head);
    let framing = match (fields.chunked, fields.length) {
        (true, Some(_)) => return Err(bad("a message has Content-Length or Transfer-Encoding, not both")),
        (true, None) if version == Version::Http10 => return Err(bad("HTTP/1.0 has no Transfer-Encoding")),
        _ if to_head || code < 200 || code == 204 || code == 304 => Framing::Empty,
        (true, None) => Framing::Chunked,
        (false, Some(0)) => Framing::Empty,
        (false, Some(length)) => Framing::Length(length),
        (false, None) => Framing::UntilClose,
    };
    let keep_alive = fields.keep_alive(version) && framing != Framing::UntilClose;
    Ok((ResponseHead { head, status, framing, keep_alive }, length))
}

/// What the lines say about framing and connection, gathered in one pass.
#[derive(Default)]
struct Fields {
    hosts: usize,
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep: bool,
    /// `Connection` names further lines that are about this connection only.
    nominates: bool,
    /// `Connection` names `Upgrade`.
    upgrades: bool,
    /// `Upgrade` names `websocket`.
    asks_for_websocket: bool,
}

impl Fields {
    fn of(head: &Head) -> Result<Fields, Refusal> {
        let mut fields = Fields::default();
        for line in head.lines() {
            let value = head.value(line);
            match line.id {
                HeaderId::Host => {
                    fields.hosts += 1;
                    if !is_host(value) {
                        return Err(bad(HOST_FORM));
                    }
                }
                HeaderId::ContentLength => {
                    let Some(length) = decimal(value) else {
                        return Err(bad("Content-Length is one decimal number"));
                    };
                    if fields.length.replace(length).is_some() {
                        return Err(bad("a message has one Content-Length"));
                    }
                }
                HeaderId::TransferEncoding => {
                    if fields.chunked {
                        return Err(bad("a message has one Transfer-Encoding"));
                    }
                    if !value.eq_ignore_ascii_case(b"chunked") {
                        return Err(Refusal {
                            status: 501,
                            reason: "the one transfer coding this bus knows is chunked",
                        });
                    }
                    fields.chunked = true;
                }
                HeaderId::Connection => {
                    for token in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
                        let (close, keep) =
                            (token.eq_ignore_ascii_case(b"close"), token.eq_ignore_ascii_case(b"keep-alive"));
                        fields.close |= close;
                        fields.keep |= keep;
                        fields.nominates |= !close && !keep && !token.is_empty();
                        fields.upgrades |= token.eq_ignore_ascii_case(b"upgrade");
                    }
                }
                HeaderId::Upgrade => {
                    fields.asks_for_websocket |=
                        value.split(|&byte| byte == b',').any(|it| it.trim_ascii().eq_ignore_ascii_case(b"websocket"));
                }
                _ => {}
            }
        }
        Ok(fields)
    }

    /// Removes the lines that `Connection` names (RFC 9110 §7.6.1).
    ///
    /// It is done when the head arrives: later the same names could strip what a mediator or this bus has added.
    /// Framing and `Host` stay, whatever `Connection` says of them.
    fn drop_nominated(&self, head: &mut Head) {
        if !self.nominates {
            return;
        }
        let values: Vec<Vec<u8>> = head.all("connection").map(<[u8]>::to_vec).collect();
        let names: Vec<&[u8]> = values.iter().flat_map(|value| value.split(|&byte| byte == b',')).collect();
        head.remove_if(|id, name| {
            let stays = [
                HeaderId::Connection,
                HeaderId::ContentLength,
                HeaderId::TransferEncoding,
                HeaderId::Trailer,
                HeaderId::Host,
            ];
            !stays.contains(&id)
                && names.iter().any(|nominated| nominated.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
        });
    }

    /// RFC 9112 §9.3.
    fn keep_alive(&self, version: Version) -> bool {
        !self.close && (version == Version::Http11 || self.keep)
    }
}

/// The authority of a target in absolute-form, which stands in place of `Host` (RFC 9112 §3.2.2).
///
/// Errors: it names no host (RFC 9110 §4.2.1), or a user (§4.2.4), or is no host and port.
fn authority(target: &[u8]) -> Result<Option<&[u8]>, Refusal> {
    if target.starts_with(b"/") {
        return Ok(None);
    }
    let Some(scheme_length) = target.windows(3).position(|letters| letters == b"://") else { return Ok(None) };
    let rest = &target[scheme_length + 3..];
    let authority = rest.split(|byte| matches!(byte, b'/' | b'?')).next().unwrap_or_default();
    if authority.is_empty() || !is_host(authority) {
        return Err(bad("an absolute request target names a host, perhaps a port, and no user"));
    }
    Ok(Some(authority))
}

/// RFC 9112 §3.2, without authority-form: `CONNECT` asks for a tunnel, which a bus does not give.
fn check_target(method: &[u8], target: &[u8]) -> Result<(), Refusal> {
    if method == b"CONNECT" {
        return Err(Refusal { status: 501, reason: "this bus opens no tunnels" });
    }
    if method.len() > METHOD_LIMIT {
        return Err(Refusal { status: 501, reason: "a method has at most 32 letters" });
    }
    let absolute = |scheme: &[u8]| {
        target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            && target.len() > scheme.len()
    };
    let is_asterisk = || target == b"*" && method == b"OPTIONS";
    if target.starts_with(b"/") || is_asterisk() || absolute(b"http://") || absolute(b"https://") {
        return Ok(());
    }
    Err(bad("a request target starts with / or is an absolute http or https address"))
}

/// The number that decimal digits say, and nothing else.
pub(crate) fn decimal(value: &[u8]) -> Option<u64> {
    // Nineteen digits always fit; a sign, a space or a list is no length (RFC 9110 §8.6).
    if value.is_empty() || value.len() > 19 || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(value.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

/// What `Host` has to be.
pub(crate) const HOST_FORM: &str =
    "a host is one name or address, and perhaps a port from 0 to 65535; an IPv6 address is in brackets";

/// Whether a value can be that of `Host`: a host and perhaps a port (RFC 3986 §3.2.2, §3.2.3), or nothing at all.
///
/// A list is none, though a comma may stand in a name: some servers take the first, some the last of its members.
pub(crate) fn is_host(value: &[u8]) -> bool {
    host_and_port(value).is_some()
}

/// The length of the host in what can be the value of `Host`, and the port where digits say one; `None` for what is none.
pub(crate) fn host_and_port(value: &[u8]) -> Option<(usize, Option<u16>)> {
    let name_length = |start: usize, letters: &[bool; 256]| {
        let rest = &value[start..];
        start + rest.iter().position(|&byte| !letters[usize::from(byte)]).unwrap_or(rest.len())
    };
    let end = match value.first() {
        Some(b'[') => match memchr::memchr(b']', value) {
            Some(end) if is_ip_literal(&value[1..end]) => end + 1,
            _ => return None,
        },
        _ => match name_length(0, &PLAIN_LETTERS) {
            plain if value.get(plain) != Some(&b'%') => plain,
            plain => {
                let end = name_length(plain, &NAME_LETTERS);
                if !is_percent_encoded(&value[plain..end]) {
                    return None;
                }
                end
            }
        },
    };
    let (name, rest) = value.split_at(end);
    let port = match rest {
        [] => None,
        [b':', port @ ..] if !name.is_empty() => port_of(port)?,
        _ => return None,
    };
    Some((end, port))
}

/// The letters of a host's name, by their codes, and those that stand for themselves.
static NAME_LETTERS: [bool; 256] = name_letters(true);
static PLAIN_LETTERS: [bool; 256] = name_letters(false);

const fn name_letters(percent: bool) -> [bool; 256] {
    let mut letters = [false; 256];
    let mut code = 0;
    while code < letters.len() {
        letters[code] = is_name_letter(code as u8) && (percent || code as u8 != b'%');
        code += 1;
    }
    letters
}

const fn is_name_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'.' | b'_' | b'~' | b'%' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b';' | b'='
        )
}

/// The port that digits say, none where there are none: that of the scheme; `None` for what is no port.
fn port_of(digits: &[u8]) -> Option<Option<u16>> {
    if digits.is_empty() {
        return Some(None);
    }
    let add = |number: u32, digit: &u8| {
        let number = number * 10 + u32::from(digit.wrapping_sub(b'0'));
        (digit.is_ascii_digit() && number <= 65_535).then_some(number)
    };
    digits.iter().try_fold(0, add).map(|port| Some(port as u16))
}

/// What stands in brackets: an IPv6 address, or one of a version to come; zones are of one machine (RFC 6874).
fn is_ip_literal(text: &[u8]) -> bool {
    if let [b'v' | b'V', rest @ ..] = text {
        let Some(dot) = memchr::memchr(b'.', rest) else { return false };
        let (version, address) = (&rest[..dot], &rest[dot + 1..]);
        let is_letter = |byte: &u8| (*byte != b'%' && is_name_letter(*byte)) || *byte == b':';
        return [version, address].iter().all(|part| !part.is_empty())
            && version.iter().all(u8::is_ascii_hexdigit)
            && address.iter().all(is_letter);
    }
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok())
}

/// Whether two hexadecimal digits follow each `%`.
fn is_percent_encoded(name: &[u8]) -> bool {
    name.split(|&byte| byte == b'%')
        .skip(1)
        .all(|part| matches!(part, [first, second, ..] if first.is_ascii_hexdigit() && second.is_ascii_hexdigit()))
}

#[cfg(test)]
#[path = "head_tests.rs"]
mod tests;
