//! The head that was read before on a thread: lines that come again are not taken apart again.

use std::ops::Range;

use myelin_message::{HeaderId, Line, Start, is_credential};

use super::lines::{RequestLine, VERSION_BYTES};

/// The head that was read before on this thread, of requests or of responses.
///
/// A client that keeps its connection open sends most lines again and again. A line says by itself what it is, so a line
/// with the same bytes as the line at its place before is read as that one was.
///
/// Lines that prove who a client is, and targets with a query, are not compared: the time that a head takes to read must
/// not tell one client what another one sent (RFC 7541 §7.1 says so of header compression).
pub(super) struct Before {
    bytes: Vec<u8>,
    start: Start,
    has_query: bool,
    /// A line of which nothing is kept has no length.
    lines: Vec<Line>,
}

/// Larger heads are not kept.
const LARGEST_BYTES: usize = 4 << 10;
const LARGEST_LINES: usize = 64;

impl Before {
    pub(super) const fn new() -> Before {
        Before { bytes: Vec::new(), start: Start::None, has_query: false, lines: Vec::new() }
    }

    /// Its request line, if `bytes` begins with the same.
    #[inline]
    pub(super) fn request_line<'a>(&self, bytes: &'a [u8]) -> Option<RequestLine<'a>> {
        let Start::Request { method, target, version } = &self.start else { return None };
        if self.has_query {
            return None;
        }
        let part = |range: &Range<u32>| &bytes[range.start as usize..range.end as usize];
        let length = target.end as usize + VERSION_BYTES;
        bytes.starts_with(self.bytes.get(..length)?).then(|| RequestLine {
            method: part(method),
            target: part(target),
            version: *version,
            length,
        })
    }

    /// Whether its start line was another one.
    #[inline]
    pub(super) fn began_otherwise(&self, start: &Start) -> bool {
        self.start != *start
    }

    /// The line at that place, if `rest`, which stands at `start` in its head, begins with the same bytes.
    #[inline]
    pub(super) fn line(&self, place: usize, rest: &[u8], start: usize) -> Option<Line> {
        let line = self.lines.get(place).filter(|line| !is_left_out(line))?;
        let bytes = self.bytes.get(line.start as usize..line.end as usize)?;
        let by = (start as u32).wrapping_sub(line.start);
        let moved = |offset: u32| offset.wrapping_add(by);
        rest.starts_with(bytes).then(|| Line {
            id: line.id,
            start: moved(line.start),
            name_end: moved(line.name_end),
            value_start: moved(line.value_start),
            value_end: moved(line.value_end),
            end: moved(line.end),
        })
    }

    /// Whether nothing is kept of the line at that place.
    pub(super) fn leaves_out(&self, place: usize) -> bool {
        self.lines.get(place).is_some_and(is_left_out)
    }

    /// Takes the place of what was read before.
    pub(super) fn keep(&mut self, head: &[u8], start: &Start, lines: &[Line]) {
        self.bytes.clear();
        self.lines.clear();
        self.start = start.clone();
        self.has_query = match start {
            Start::Request { target, .. } => head[target.start as usize..target.end as usize].contains(&b'?'),
            _ => false,
        };
        if head.len() > LARGEST_BYTES || lines.len() > LARGEST_LINES {
            return;
        }
        self.bytes.extend_from_slice(head);
        self.lines.extend_from_slice(lines);
        for line in &mut self.lines {
            if proves_identity(head, line) {
                self.bytes[line.start as usize..line.end as usize].fill(0);
                line.end = line.start;
            }
        }
    }
}

fn is_left_out(line: &Line) -> bool {
    line.end == line.start
}

/// Whether a line proves who a client is.
fn proves_identity(head: &[u8], line: &Line) -> bool {
    let name = std::str::from_utf8(&head[line.start as usize..line.name_end as usize]);
    matches!(line.id, HeaderId::Other | HeaderId::ProxyAuthorization) && name.is_ok_and(is_credential)
}

#[cfg(test)]
mod tests {
    use super::super::lines::{header_lines, request_line};
    use super::*;

    #[test]
    fn a_line_of_before_is_read_without_a_look_and_a_password_is_not() {
        let head = b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Basic YTpi\r\nX: 1\r\n\r\n";
        let mut before = Before::new();
        let mut lines = Vec::new();
        for _ in 0..2 {
            lines.clear();
            let line = request_line(head, &before).ok().unwrap();
            let (start, length) = (line.start(), line.length);
            assert_eq!(header_lines(head, (&start, length), 8, &mut before, &mut lines), Ok(head.len()));
        }
        let known = lines.iter().enumerate().map(|(place, line)| {
            before.line(place, &head[line.start as usize..], line.start as usize).map(|known| known.end)
        });
        assert_eq!(known.collect::<Vec<_>>(), [Some(lines[0].end), None, Some(lines[2].end)]);
        let asks = b"GET /?key=1 HTTP/1.1\r\n\r\n";
        let line = request_line(asks, &before).ok().unwrap();
        let mut other = Before::new();
        assert_eq!(header_lines(asks, (&line.start(), line.length), 8, &mut other, &mut Vec::new()), Ok(asks.len()));
        assert!(other.request_line(asks).is_none());
        assert!(before.request_line(head).is_some() && before.request_line(b"GET /a HTTP/1.1\r\n\r\n").is_none());
    }
}
