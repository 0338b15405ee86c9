//! Reads the lines of a head, each byte once: start line, names and values, and where each of them lies.

use std::ops::Range;
use std::slice;

use myelin_message::{HeaderId, Line, Start, Version, is_token, token_length, value_length};

use super::before::Before;
use super::{Refusal, bad};

/// `POST /path HTTP/1.1`
pub(super) struct RequestLine<'a> {
    pub(super) method: &'a [u8],
    /// Visible ASCII, without a fragment.
    pub(super) target: &'a [u8],
    pub(super) version: Version,
    /// How many bytes it takes, its line end included.
    pub(super) length: usize,
}

/// `HTTP/1.1 200 OK`
pub(super) struct StatusLine {
    /// Three digits.
    pub(super) code: u16,
    pub(super) version: Version,
    /// Where the reason phrase lies; empty where it is not ASCII.
    pub(super) reason: Range<u32>,
    /// How many bytes it takes, its line end included.
    pub(super) length: usize,
}

impl RequestLine<'_> {
    /// Where its parts lie in the head.
    pub(super) fn start(&self) -> Start {
        let method = 0..self.method.len() as u32;
        // One space is between the two.
        let target = method.end + 1..method.end + 1 + self.target.len() as u32;
        Start::Request { method, target, version: self.version }
    }
}

const NO_REQUEST_LINE: Refusal = bad("the request line is a method, a target and HTTP/1.1");
const NO_STATUS_LINE: Refusal = bad("the status line is HTTP/1.1, a status of three digits, and a reason");
const NO_NAME: Refusal =
    bad("a header name is a token followed by a colon; folded lines and blanks before the colon are refused");
const INCOMPLETE: Refusal = bad("the head is not complete");
const OTHER_VERSION: Refusal = Refusal { status: 505, reason: "this port speaks HTTP/1.1 and HTTP/1.0" };
const TOO_MANY: Refusal = Refusal { status: 431, reason: "the head has too many header lines" };

/// What stands behind the target of a request line, its line end included: ` HTTP/1.1`.
pub(super) const VERSION_BYTES: usize = 11;

/// Reads the first line of a request (RFC 9112 §3): three words with one space between each two of them.
///
/// Errors: [`Refusal`], the client's.
pub(super) fn request_line<'a>(bytes: &'a [u8], before: &Before) -> Result<RequestLine<'a>, Refusal> {
    if let Some(line) = before.request_line(bytes) {
        return Ok(line);
    }
    let (method, rest) = word(bytes, token_length(bytes))?;
    let (target, rest) = word(rest, target_length(rest))?;
    let (version, length) = match rest {
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'1', b'\r', b'\n', ..] => (Version::Http11, 10),
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0', b'\r', b'\n', ..] => (Version::Http10, 10),
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor, b'\r', b'\n', ..]
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            return Err(OTHER_VERSION);
        }
        _ => return Err(NO_REQUEST_LINE),
    };
    Ok(RequestLine { method, target, version, length: bytes.len() - rest.len() + length })
}

/// The word of that length at the start of a line, and what follows the space behind it.
fn word(bytes: &[u8], length: usize) -> Result<(&[u8], &[u8]), Refusal> {
    match bytes.split_at(length) {
        ([], _) => Err(NO_REQUEST_LINE),
        (word, [b' ', rest @ ..]) => Ok((word, rest)),
        (_, [b'#' | 0x80.., ..]) => {
            Err(bad("a request target is ASCII without a fragment; other characters are percent-encoded"))
        }
        _ => Err(NO_REQUEST_LINE),
    }
}

/// How many bytes at the start of `text` can stand in a request target: visible ASCII but `#`.
fn target_length(text: &[u8]) -> usize {
    let is_letter = |byte: &u8| byte.is_ascii_graphic() && *byte != b'#';
    text.iter().position(|byte| !is_letter(byte)).unwrap_or(text.len())
}

/// Reads the first line of a response (RFC 9112 §4).
///
/// Errors: [`Refusal`], the backend's.
pub(super) fn status_line(bytes: &[u8]) -> Result<StatusLine, Refusal> {
    let (version, rest) = match bytes {
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'1', b' ', rest @ ..] => (Version::Http11, rest),
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0', b' ', rest @ ..] => (Version::Http10, rest),
        _ => return Err(OTHER_VERSION),
    };
    let [hundreds @ b'0'..=b'9', tens @ b'0'..=b'9', ones @ b'0'..=b'9', rest @ ..] = rest else {
        return Err(NO_STATUS_LINE);
    };
    let [hundreds, tens, ones] = [hundreds, tens, ones].map(|digit| u16::from(digit - b'0'));
    let start = match rest {
        [b' ', ..] => bytes.len() - rest.len() + 1,
        // Some servers leave the space out with the reason.
        _ => bytes.len() - rest.len(),
    };
    let end = start + value_length(&bytes[start..]);
    let (is_line_end, has_space) = (matches!(bytes[end..], [b'\r', b'\n', ..]), matches!(rest, [b' ', ..]));
    if !is_line_end || (end > start && !has_space) {
        return Err(NO_STATUS_LINE);
    }
    let reason = if bytes[start..end].is_ascii() { start as u32..end as u32 } else { 0..0 };
    Ok(StatusLine { code: hundreds * 100 + tens * 10 + ones, version, reason, length: end + 2 })
}

/// Reads the header lines behind the start line, and the empty line that ends the head; gives the length of the head
/// (RFC 9112 §5).
///
/// Errors: [`Refusal`], the sender's: above `most` lines 431.
pub(super) fn header_lines(
    bytes: &[u8],
    (start, start_length): (&Start, usize),
    most: usize,
    before: &mut Before,
    lines: &mut Vec<Line>,
) -> Result<usize, Refusal> {
    let mut rest = &bytes[start_length..];
    let mut is_new = before.began_otherwise(start);
    loop {
        if let [b'\r', b'\n', behind @ ..] = rest {
            let length = bytes.len() - behind.len();
            if is_new {
                before.keep(&bytes[..length], start, lines);
            }
            return Ok(length);
        }
        if lines.len() == most {
            return Err(TOO_MANY);
        }
        let line_start = bytes.len() - rest.len();
        let line = match before.line(lines.len(), rest, line_start) {
            Some(line) => line,
            None => {
                is_new |= !before.leaves_out(lines.len());
                header_line(bytes, line_start)?
            }
        };
        rest = &bytes[line.end as usize..];
        lines.push(line);
    }
}

/// Reads the line at `start`.
fn header_line(bytes: &[u8], start: usize) -> Result<Line, Refusal> {
    let rest = &bytes[start..];
    let Some((name, behind)) = colon(rest).and_then(|colon| rest.split_at_checked(colon)) else {
        return Err(if rest.is_empty() { INCOMPLETE } else { NO_NAME });
    };
    let id = HeaderId::of(name);
    // A name that is known is a token.
    if id == HeaderId::Other && !is_token(name) {
        return Err(NO_NAME);
    }
    let value = match behind {
        [b':', b' ', value @ ..] => value,
        _ => behind.get(1..).unwrap_or_default(),
    };
    let value = &value[value.iter().take_while(|byte| is_blank(**byte)).count()..];
    let value_start = bytes.len() - value.len();
    let length = value_length(value);
    let (value, behind) = value.split_at(length);
    match behind {
        [b'\r', b'\n', ..] => {}
        [b'\n', ..] => return Err(bad("a line ends in CR LF")),
        [] => return Err(INCOMPLETE),
        _ => return Err(bad("a header value holds no control characters")),
    }
    let blanks = value.iter().rev().take_while(|byte| is_blank(**byte)).count();
    Ok(Line {
        id,
        start: start as u32,
        name_end: (start + name.len()) as u32,
        value_start: value_start as u32,
        value_end: (value_start + length - blanks) as u32,
        end: (value_start + length + 2) as u32,
    })
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Where the first colon is: eight bytes are looked at together.
#[inline]
fn colon(text: &[u8]) -> Option<usize> {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    let (words, rest) = text.as_chunks();
    for (index, word) in words.iter().enumerate() {
        let other = u64::from_le_bytes(*word) ^ (EACH * b':' as u64);
        // The highest bit is set of the first byte that is a colon; those behind it may be wrong.
        let found = other.wrapping_sub(EACH) & !other & (EACH * 0x80);
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let offset = rest.iter().position(|&byte| byte == b':')?;
    Some(words.len() * 8 + offset)
}

/// Where the line feeds are, one after the other: eight bytes are looked at together.
pub(super) struct LineFeeds<'a> {
    words: slice::Iter<'a, [u8; 8]>,
    /// What is left behind the words.
    rest: &'a [u8],
    /// Where the next word starts, or the rest.
    next: usize,
    /// For the eight bytes before `next`: the highest bit of each line feed that was not given yet.
    found: u64,
}

impl<'a> LineFeeds<'a> {
    /// Those in `bytes` from `start` on.
    pub(super) fn new(bytes: &'a [u8], start: usize) -> LineFeeds<'a> {
        let (words, rest) = bytes[start..].as_chunks();
        LineFeeds { words: words.iter(), rest, next: start, found: 0 }
    }
}

impl Iterator for LineFeeds<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        const EACH: u64 = u64::from_le_bytes([1; 8]);
        const LOW: u64 = EACH * 0x7f;
        while self.found == 0 {
            let Some(word) = self.words.next() else {
                let offset = self.rest.iter().position(|&byte| byte == b'\n')?;
                self.rest = &self.rest[offset + 1..];
                self.next += offset + 1;
                return Some(self.next - 1);
            };
            // Any bit of a byte that is another letter is carried into its highest one.
            let other = u64::from_le_bytes(*word) ^ (EACH * b'\n' as u64);
            self.found = !(((other & LOW) + LOW) | other | LOW);
            self.next += 8;
        }
        let offset = self.found.trailing_zeros() as usize / 8;
        self.found &= self.found - 1;
        Some(self.next - 8 + offset)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use proptest::prelude::*;

    use super::*;

    /// The lines as another parser reads them: names and values.
    type Lines = Option<Vec<(String, Vec<u8>)>>;

    fn names_and_values(headers: &[httparse::Header<'_>]) -> Vec<(String, Vec<u8>)> {
        headers.iter().map(|header| (header.name.to_owned(), header.value.to_vec())).collect()
    }

    fn request_by_other(bytes: &[u8]) -> Lines {
        let mut table = [httparse::EMPTY_HEADER; 32];
        let mut request = httparse::Request::new(&mut table);
        // It takes bytes in a target that are none of ASCII, and fragments.
        let parsed = request.parse(bytes).ok()?;
        let is_target = request.path?.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
        (parsed == httparse::Status::Complete(bytes.len()) && is_target).then(|| names_and_values(request.headers))
    }

    fn response_by_other(bytes: &[u8]) -> Lines {
        let mut table = [httparse::EMPTY_HEADER; 32];
        let mut response = httparse::Response::new(&mut table);
        let parsed = response.parse(bytes).ok()?;
        (parsed == httparse::Status::Complete(bytes.len())).then(|| names_and_values(response.headers))
    }

    thread_local! {
        /// What tests read before: mostly it differs in little.
        static BEFORE: RefCell<Before> = const { RefCell::new(Before::new()) };
    }

    fn own_request(bytes: &[u8]) -> Lines {
        BEFORE.with_borrow_mut(|before| {
            let (start, length) = request_line(bytes, before).map(|line| (line.start(), line.length)).ok()?;
            own(bytes, (&start, length), before)
        })
    }

    fn own_response(bytes: &[u8]) -> Lines {
        let StatusLine { version, reason, length, .. } = status_line(bytes).ok()?;
        let start = Start::Response { status: http::StatusCode::OK, reason, version };
        BEFORE.with_borrow_mut(|before| own(bytes, (&start, length), before))
    }

    fn own(bytes: &[u8], start: (&Start, usize), before: &mut Before) -> Lines {
        let mut lines = Vec::new();
        header_lines(bytes, start, 32, before, &mut lines).ok().filter(|length| *length == bytes.len())?;
        let text = |from: u32, to: u32| bytes[from as usize..to as usize].to_vec();
        let of_line = |line: Line| {
            let name = String::from_utf8(text(line.start, line.name_end)).ok()?;
            Some((name, text(line.value_start, line.value_end)))
        };
        lines.into_iter().map(of_line).collect()
    }

    fn check(bytes: &[u8]) {
        // The other one takes a line feed that stands alone.
        if line_ends_are_whole(bytes) {
            // Twice, so that the second time all lines are those of before.
            for _ in 0..2 {
                assert_eq!(own_request(bytes), request_by_other(bytes), "{:?}", String::from_utf8_lossy(bytes));
            }
            for _ in 0..2 {
                assert_eq!(own_response(bytes), response_by_other(bytes), "{:?}", String::from_utf8_lossy(bytes));
            }
        }
    }

    fn line_ends_are_whole(bytes: &[u8]) -> bool {
        let is_whole = |at: usize| bytes[at] != b'\n' || (at > 0 && bytes[at - 1] == b'\r');
        !bytes.starts_with(b"\r") && (0..bytes.len()).all(is_whole)
    }

    #[test]
    fn each_byte_at_each_place_is_taken_or_refused_as_another_parser_does() {
        for head in [
            "POST /a?b HTTP/1.1\r\nHost: a\r\nX-y:\t1 2 \r\nEmpty:\r\n\r\n",
            "HTTP/1.1 200 Fine it is\r\nA: b\r\n\r\n",
            "HTTP/1.0 404\r\nA:b\r\n\r\n",
        ] {
            for place in 0..head.len() {
                for byte in 0..=u8::MAX {
                    let mut bytes = head.as_bytes().to_vec();
                    bytes[place] = byte;
                    check(&bytes);
                    bytes[place] = head.as_bytes()[place];
                    bytes.insert(place, byte);
                    check(&bytes);
                }
                check(&head.as_bytes()[..place]);
                check(&[&head.as_bytes()[..place], &head.as_bytes()[place + 1..]].concat());
            }
        }
    }

    proptest! {
        #[test]
        fn heads_are_read_as_another_parser_reads_them(
            start in "(GET|POST|M-SEARCH) /[a-z?/%]{0,9} HTTP/1\\.[01]|HTTP/1\\.[01] [1-9][0-9]{2}( [ -~]{0,9})?",
            lines in proptest::collection::vec("[A-Za-z!#$-]{1,20}:[ \t]{0,2}[ -~\u{80}-\u{ff}\t]{0,40}", 0..20),
        ) {
            let head = format!("{start}\r\n{}\r\n", lines.iter().map(|line| format!("{line}\r\n")).collect::<String>());
            check(head.as_bytes());
        }

        #[test]
        fn all_line_feeds_are_found(bytes in "[a-j\n\r\u{8a}\u{b}]{0,40}", start in 0..20_usize) {
            let start = start.min(bytes.len());
            let found: Vec<usize> = LineFeeds::new(bytes.as_bytes(), start).collect();
            let expected = bytes.bytes().enumerate().skip(start).filter(|(_, byte)| *byte == b'\n');
            prop_assert_eq!(found, expected.map(|(place, _)| place).collect::<Vec<_>>());
        }
    }
}
