//! The head of a message: the bytes as they came, an index, and an overlay of edits.
//!
//! Header case, order and repetition survive because an untouched line is copied from the bytes that came.
//! An edit appends its line to the same bytes and repoints the index, so there is one way to write a head out.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use http::StatusCode;

use crate::header::{FieldValue, HeaderId, is_token};

/// The protocol version a message came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Version {
    /// HTTP/1.0: no chunked coding, connections close unless the client says otherwise.
    Http10,
    /// HTTP/1.1.
    #[default]
    Http11,
}

/// The start line, as ranges into the head's bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The head was made here.
    #[default]
    None,
    /// `GET /path HTTP/1.1`
    Request {
        /// The method's letters.
        method: Range<u32>,
        /// The request target, as it came.
        target: Range<u32>,
        /// The client's protocol version.
        version: Version,
    },
    /// `HTTP/1.1 200 OK`
    Response {
        /// 100–999.
        status: StatusCode,
        /// The reason phrase; may be empty.
        reason: Range<u32>,
        /// The backend's protocol version.
        version: Version,
    },
}

/// One header line, as offsets into the head's bytes.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// The name, recognised.
    pub id: HeaderId,
    /// Where the name starts, and the line with it.
    pub start: u32,
    /// Where the name ends.
    pub name_end: u32,
    /// Where the value starts, surrounding white space left out.
    pub value_start: u32,
    /// Where the value ends.
    pub value_end: u32,
    /// Where the next line starts: behind CR LF.
    pub end: u32,
}

/// A header name or value that must not be written: it would end the line or is no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The name of the header that was to be set.
    pub name: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "header {:?}: a name is a token and a value holds no control characters (RFC 9110 §5)", self.name)
    }
}

impl std::error::Error for Malformed {}

/// Start line and header lines of one message.
///
/// Shape: field lines in the order they came; names compare without case.
///
/// It is as small as a reference, so that messages are moved at little cost; the memory of most is used again.
#[derive(Default)]
pub struct Head(Option<Box<Parts>>);

/// What a head holds.
#[derive(Default)]
struct Parts {
    bytes: Vec<u8>,
    start: Start,
    lines: Vec<Line>,
    /// The known names that its lines may have, by [`HeaderId::bit`]: those whose lines were removed may still be in it.
    known: u32,
}

/// The parts of an empty head.
static NOTHING: Parts = Parts { bytes: Vec::new(), start: Start::None, lines: Vec::new(), known: 0 };

impl Head {
    /// A head from the wire; `lines` index into `bytes`. Only a parser calls this.
    pub fn from_wire(bytes: Vec<u8>, start: Start, lines: Vec<Line>) -> Head {
        Head(Some(Box::new(Parts { known: names_of(&lines), bytes, start, lines })))
    }

    /// The head that `bytes` start with, and its length: `read` adds the lines and tells the length.
    ///
    /// Errors: those of `read`.
    pub fn read<E>(
        bytes: &[u8],
        start: Start,
        read: impl FnOnce(&mut Vec<Line>) -> Result<usize, E>,
    ) -> Result<(Head, usize), E> {
        let mut head = Head::default();
        let parts = head.parts_mut();
        let length = read(&mut parts.lines)?;
        parts.known = names_of(&parts.lines);
        parts.bytes.extend_from_slice(&bytes[..length]);
        parts.start = start;
        Ok((head, length))
    }

    #[inline]
    fn parts(&self) -> &Parts {
        self.0.as_deref().unwrap_or(&NOTHING)
    }

    fn parts_mut(&mut self) -> &mut Parts {
        self.0.get_or_insert_with(spare::take)
    }

    /// The head of a request that did not come over the wire, without any header line.
    pub fn request(method: &str, target: &str) -> Head {
        let line = [method, " ", target].concat();
        // A head that is larger than four gigabytes was never read.
        let offset = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let method_end = offset(method.len());
        let target_start = method_end.saturating_add(1);
        let target = target_start..target_start.saturating_add(offset(target.len()));
        let start = Start::Request { method: 0..method_end, target, version: Version::Http11 };
        Head::from_wire(line.into_bytes(), start, Vec::new())
    }

    /// How many bytes it has as it came, with its start line; of one that was made or changed here, about as many.
    pub fn wire_bytes(&self) -> usize {
        self.parts().bytes.len()
    }

    /// The request's method; empty on a response or a head made here.
    pub fn method(&self) -> &str {
        let Start::Request { method, .. } = &self.parts().start else { return "" };
        // The usual ones need no look at whether they are text.
        match &self.parts().bytes[method.start as usize..method.end as usize] {
            b"GET" => "GET",
            b"POST" => "POST",
            b"PUT" => "PUT",
            b"DELETE" => "DELETE",
            b"HEAD" => "HEAD",
            _ => self.text(method),
        }
    }

    /// Whether it is the head of a request with this method.
    #[inline]
    pub fn has_method(&self, name: &str) -> bool {
        match &self.parts().start {
            Start::Request { method, .. } => {
                self.parts().bytes[method.start as usize..method.end as usize] == *name.as_bytes()
            }
            _ => false,
        }
    }

    /// The request target as it came: `/path?query`, `http://host/path`, or `*`.
    pub fn target(&self) -> &str {
        match &self.parts().start {
            Start::Request { target, .. } => self.text(target),
            _ => "",
        }
    }

    /// Method and target of a request with the blank between them; empty for other heads.
    pub fn method_and_target(&self) -> &[u8] {
        match &self.parts().start {
            Start::Request { method, target, .. } => &self.parts().bytes[method.start as usize..target.end as usize],
            _ => &[],
        }
    }

    /// The response's status, where this is the head of a response.
    pub fn status(&self) -> Option<StatusCode> {
        match &self.parts().start {
            Start::Response { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// The response's reason phrase, where it came with one.
    pub fn reason(&self) -> Option<&str> {
        match &self.parts().start {
            Start::Response { reason, .. } if !reason.is_empty() => Some(self.text(reason)),
            _ => None,
        }
    }

    /// The protocol version the sender speaks.
    pub fn version(&self) -> Version {
        match &self.parts().start {
            Start::Request { version, .. } | Start::Response { version, .. } => *version,
            Start::None => Version::Http11,
        }
    }

    /// All header lines in order, as name and value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.parts().lines.iter().map(|line| (self.name(line), self.value(line)))
    }

    /// The index of header lines, for who needs offsets and ids.
    #[inline]
    pub fn lines(&self) -> &[Line] {
        &self.parts().lines
    }

    /// The value of one line of this head.
    #[inline]
    pub fn value(&self, line: &Line) -> &[u8] {
        &self.parts().bytes[line.value_start as usize..line.value_end as usize]
    }

    /// The name of one line of this head, in the case it came in.
    pub fn name(&self, line: &Line) -> &str {
        // A parsed or set name is a token, which is ASCII.
        std::str::from_utf8(&self.parts().bytes[line.start as usize..line.name_end as usize]).unwrap_or_default()
    }

    /// The first value of a header.
    pub fn first(&self, name: &str) -> Option<&[u8]> {
        self.parts().lines.iter().find(|line| self.is(line, name)).map(|line| self.value(line))
    }

    /// Every value of a header, in order.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.parts().lines.iter().filter(move |line| self.is(line, name)).map(|line| self.value(line))
    }

    /// The first value of a known header.
    #[inline]
    pub fn known(&self, id: HeaderId) -> Option<&[u8]> {
        if self.parts().known & id.bit() == 0 { None } else { self.first_known(id) }
    }

    fn first_known(&self, id: HeaderId) -> Option<&[u8]> {
        self.lines().iter().find(|line| line.id == id).map(|line| self.value(line))
    }

    /// Every value of a known header, in order.
    pub fn all_known(&self, id: HeaderId) -> impl Iterator<Item = &[u8]> {
        let parts = self.parts();
        let lines = if parts.known & id.bit() == 0 { &[] } else { &parts.lines[..] };
        lines.iter().filter(move |line| line.id == id).map(|line| self.value(line))
    }

    /// Sets a header to one value: in place of its first line, or at the end; further lines of that name go.
    ///
    /// Errors: [`Malformed`] for a name or value that would break the line; the configuration's or the caller's.
    pub fn set(&mut self, name: &str, value: &[u8]) -> Result<(), Malformed> {
        let line = self.write_line(name, value)?;
        let mut lines = std::mem::take(&mut self.parts_mut().lines);
        let mut placed = false;
        lines.retain_mut(|old| {
            if !self.is(old, name) {
                return true;
            }
            *old = line;
            !std::mem::replace(&mut placed, true)
        });
        if !placed {
            lines.push(line);
        }
        self.parts_mut().lines = lines;
        Ok(())
    }

    /// Leaves of each name the first line alone.
    pub fn keep_first_lines(&mut self) {
        let mut seen = HashSet::new();
        let mut lines = std::mem::take(&mut self.parts_mut().lines);
        lines.retain(|line| seen.insert(self.name(line).to_ascii_lowercase()));
        self.parts_mut().lines = lines;
    }

    /// Adds a header line behind the others, leaving those of the same name.
    ///
    /// Errors: as [`Head::set`].
    pub fn append(&mut self, name: &str, value: &[u8]) -> Result<(), Malformed> {
        let line = self.write_line(name, value)?;
        self.parts_mut().lines.push(line);
        Ok(())
    }

    /// The same of a header that the bus knows, by its id and its name.
    ///
    /// Errors: as [`Head::set`].
    pub fn append_known(&mut self, id: HeaderId, name: &'static str, value: FieldValue<'_>) -> Result<(), Malformed> {
        debug_assert!(id != HeaderId::Other && HeaderId::of(name.as_bytes()) == id);
        let parts = self.parts_mut();
        let line = parts.write(id, name, value)?;
        parts.lines.push(line);
        Ok(())
    }

    /// Removes every line of a header; tells whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.lines().len();
        let mut lines = std::mem::take(&mut self.parts_mut().lines);
        lines.retain(|line| !self.is(line, name));
        self.parts_mut().lines = lines;
        self.lines().len() != before
    }

    /// Removes all header lines.
    pub fn clear(&mut self) {
        self.parts_mut().lines.clear();
    }

    /// Removes the lines that `goes` says, by id and name.
    pub fn remove_if(&mut self, goes: impl Fn(HeaderId, &str) -> bool) {
        let mut lines = std::mem::take(&mut self.parts_mut().lines);
        lines.retain(|line| !goes(line.id, self.name(line)));
        self.parts_mut().lines = lines;
    }

    /// Writes the header lines that `keeps` lets through, each with its CR LF; no start line, no empty line.
    pub fn write_lines(&self, out: &mut Vec<u8>, keeps: impl Fn(&Line) -> bool) {
        // Neighbours that both stay are copied together: most heads leave in two or three pieces.
        let (bytes, mut run) = (&self.parts().bytes, 0..0);
        for line in self.lines().iter().filter(|line| keeps(line)) {
            if run.end == line.start as usize {
                run.end = line.end as usize;
            } else {
                out.extend_from_slice(&bytes[run]);
                run = line.start as usize..line.end as usize;
            }
        }
        out.extend_from_slice(&bytes[run]);
    }

    fn is(&self, line: &Line, name: &str) -> bool {
        self.parts().bytes[line.start as usize..line.name_end as usize].eq_ignore_ascii_case(name.as_bytes())
    }

    fn text(&self, range: &Range<u32>) -> &str {
        // A reason phrase may hold bytes that are not UTF-8; it is then taken as absent.
        std::str::from_utf8(&self.parts().bytes[range.start as usize..range.end as usize]).unwrap_or_default()
    }

    fn write_line(&mut self, name: &str, value: &[u8]) -> Result<Line, Malformed> {
        if !is_token(name.as_bytes()) {
            return Err(Malformed { name: name.to_owned() });
        }
        let value = FieldValue::new(value).ok_or_else(|| Malformed { name: name.to_owned() })?;
        self.parts_mut().write(HeaderId::of(name.as_bytes()), name, value)
    }
}

impl Parts {
    /// Writes a line, whose name can stand in a head, behind the bytes.
    #[inline]
    fn write(&mut self, id: HeaderId, name: &str, value: FieldValue<'_>) -> Result<Line, Malformed> {
        let value = value.as_bytes();
        let bytes = &mut self.bytes;
        if bytes.len() + value.len() > u32::MAX as usize / 2 {
            return Err(Malformed { name: name.to_owned() });
        }
        bytes.reserve(name.len() + value.len() + 4);
        let offset = |bytes: &Vec<u8>| bytes.len() as u32;
        let start = offset(bytes);
        bytes.extend_from_slice(name.as_bytes());
        let name_end = offset(bytes);
        bytes.extend_from_slice(b": ");
        let value_start = offset(bytes);
        bytes.extend_from_slice(value);
        let value_end = offset(bytes);
        bytes.extend_from_slice(b"\r\n");
        let end = offset(bytes);
        self.known |= id.bit();
        Ok(Line { id, start, name_end, value_start, value_end, end })
    }
}

/// The names of these lines, by [`HeaderId::bit`].
fn names_of(lines: &[Line]) -> u32 {
    lines.iter().fold(0, |known, line| known | line.id.bit())
}

impl Clone for Head {
    fn clone(&self) -> Head {
        let mut copy = Head::default();
        if let Some(parts) = &self.0 {
            let new = copy.parts_mut();
            new.bytes.extend_from_slice(&parts.bytes);
            new.lines.extend_from_slice(&parts.lines);
            (new.start, new.known) = (parts.start.clone(), parts.known);
        }
        copy
    }
}

impl Drop for Head {
    fn drop(&mut self) {
        if let Some(parts) = self.0.take() {
            spare::give_back(parts);
        }
    }
}

/// Keeps the memory of dropped heads for later ones: a request that is passed on allocates nothing for heads of usual
/// size.
mod spare {
    use std::cell::RefCell;

    use super::{Parts, Start};

    /// How many are kept by a thread.
    const MOST: usize = 64;
    /// A thread frees the memory of a head with more bytes or lines.
    const LARGEST_BYTES: usize = 4 << 10;
    const LARGEST_LINES: usize = 64;

    thread_local! {
        #[expect(clippy::vec_box, reason = "a box is what a head holds, and is to be used again")]
        static SPARE: RefCell<Vec<Box<Parts>>> = const { RefCell::new(Vec::new()) };
    }

    /// The parts of a head that holds nothing yet.
    pub(super) fn take() -> Box<Parts> {
        SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten().unwrap_or_default()
    }

    pub(super) fn give_back(mut parts: Box<Parts>) {
        if parts.bytes.capacity() > LARGEST_BYTES || parts.lines.capacity() > LARGEST_LINES {
            return;
        }
        parts.bytes.clear();
        parts.lines.clear();
        (parts.start, parts.known) = (Start::None, 0);
        // At the end of a thread nobody takes it any more.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < MOST {
                spare.push(parts);
            }
        });
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (name, value) in self.iter() {
            map.entry(&name, &String::from_utf8_lossy(value));
        }
        map.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(lines: &[(&str, &str)]) -> Head {
        let mut head = Head::default();
        for (name, value) in lines {
            head.append(name, value.as_bytes()).unwrap();
        }
        head
    }

    fn written(head: &Head) -> String {
        let mut out = Vec::new();
        head.write_lines(&mut out, |_| true);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn order_case_and_repetition_survive() {
        let head = head(&[("SOAPAction", "a"), ("x-B", "1"), ("X-b", "2")]);
        assert_eq!(written(&head), "SOAPAction: a\r\nx-B: 1\r\nX-b: 2\r\n");
        assert_eq!(head.all("X-B").collect::<Vec<_>>(), [b"1", b"2"]);
    }

    #[test]
    fn set_takes_the_place_of_the_first_line_and_drops_the_rest() {
        let mut head = head(&[("a", "1"), ("B", "2"), ("A", "3")]);
        head.set("A", b"new").unwrap();
        assert_eq!(written(&head), "A: new\r\nB: 2\r\n");
        head.set("c", b"").unwrap();
        assert!(head.remove("b"));
        assert!(!head.remove("b"));
        assert_eq!(written(&head), "A: new\r\nc: \r\n");
    }

    #[test]
    fn a_line_break_cannot_be_smuggled_into_a_header() {
        let mut head = Head::default();
        assert!(head.set("a", b"1\r\nb: 2").is_err());
        assert!(head.set("a b", b"1").is_err());
        assert!(head.append("", b"1").is_err());
        assert_eq!(written(&head), "");
    }
}
