//! Reading and checking one answer; knows no socket.

use std::mem::MaybeUninit;

use memchr::memmem::Finder;

use super::alike::Alike;
use super::failure::Failure;
use super::plan::Verify;
use crate::framing::{self, Decoder, Malformed};
use crate::payload::Payload;

/// What a good answer looks like; shared by all connections of a thread.
pub(super) struct Expected {
    check: Check,
    /// Answers to `HEAD` have no body, whatever their head says.
    bodiless: bool,
}

enum Check {
    Status,
    Body(Payload),
    Contains(Box<Finder<'static>>),
    Xml(Box<Alike>),
    /// Kept whole, for whoever verifies it.
    Secured,
}

/// One answer, as far as it has come.
pub(super) struct Answer {
    stage: Stage,
    /// The part of a head that came without its end.
    held: Vec<u8>,
    status: u16,
    keep_alive: bool,
    verdict: Verdict,
}

enum Stage {
    Head,
    Body(Decoder),
    Done,
}

/// How far the body has been checked.
#[derive(Default)]
struct Verdict {
    /// Bytes of the body so far.
    length: u64,
    wrong: bool,
    found: bool,
    /// The end of the body so far, in which a wanted text may have begun.
    tail: Vec<u8>,
    /// All of the body, where it has to be known.
    whole: Vec<u8>,
}

/// Longer answer heads are malformed.
const HEAD_LIMIT_BYTES: usize = 64 * 1024;
const HEADER_LIMIT: usize = 128;
/// Longer secured answers are not looked at.
const SECURED_LIMIT_BYTES: usize = 64 << 20;

impl Expected {
    pub(super) fn new(verify: &Verify, body: &Payload, method: &str, secured: bool) -> Expected {
        let check = match verify {
            _ if secured => Check::Secured,
            Verify::Status => Check::Status,
            Verify::Echo => Check::Body(body.clone()),
            Verify::Body(wanted) => Check::Body(wanted.clone()),
            Verify::Contains(text) => Check::Contains(Box::new(Finder::new(text).into_owned())),
            Verify::Xml => Check::Xml(Box::new(Alike::new(body))),
            Verify::Alike(wanted) => Check::Xml(Box::new(Alike::new(wanted))),
        };
        Expected { check, bodiless: method == "HEAD" }
    }
}

impl Answer {
    pub(super) fn new() -> Answer {
        Answer { stage: Stage::Head, held: Vec::new(), status: 0, keep_alive: true, verdict: Verdict::default() }
    }

    /// Forgets the answer before; buffers stay.
    pub(super) fn begin(&mut self) {
        self.stage = Stage::Head;
        self.held.clear();
        self.verdict.length = 0;
        self.verdict.wrong = false;
        self.verdict.found = false;
        self.verdict.tail.clear();
        self.verdict.whole.clear();
    }

    /// Whether the connection may carry another request after this answer.
    pub(super) fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    /// The whole body, where it was to be kept.
    pub(super) fn whole(&self) -> &[u8] {
        &self.verdict.whole
    }

    /// Goes on with `input`; true when the answer is complete.
    ///
    /// Errors: [`Failure::Malformed`] where this is no HTTP answer, or more than one.
    #[inline]
    pub(super) fn feed(&mut self, input: &[u8], expected: &Expected) -> Result<bool, Failure> {
        match self.stage {
            Stage::Head if self.held.is_empty() => self.feed_head(input, expected),
            Stage::Head => {
                let mut held = std::mem::take(&mut self.held);
                held.extend_from_slice(input);
                self.feed_head(&held, expected)
            }
            Stage::Body(_) => self.feed_body(input, expected),
            Stage::Done => Err(malformed("bytes after the end of the answer")),
        }
    }

    /// The peer closed its side; fine only where the closing is what ends the answer.
    pub(super) fn close(&mut self) -> Result<(), Failure> {
        match self.stage {
            Stage::Body(Decoder::Close) => {
                self.stage = Stage::Done;
                Ok(())
            }
            Stage::Head if self.held.is_empty() => Err(Failure::Closed("before the answer".to_owned())),
            Stage::Head => Err(Failure::Closed("in the head of the answer".to_owned())),
            _ => Err(Failure::Closed(format!("after {} bytes of the body", self.verdict.length))),
        }
    }

    /// What the complete answer is worth.
    pub(super) fn judge(&self, expected: &Expected) -> Result<(), Failure> {
        if !(200..300).contains(&self.status) {
            return Err(Failure::Status(self.status));
        }
        let verdict = &self.verdict;
        match &expected.check {
            Check::Status => Ok(()),
            Check::Body(_) if verdict.wrong => Err(Failure::Mismatch("other bytes than were expected".to_owned())),
            Check::Body(wanted) if wanted.length() != verdict.length => {
                Err(Failure::Mismatch(format!("{} bytes instead of {}", verdict.length, wanted.length())))
            }
            Check::Contains(_) if !verdict.found => Err(Failure::Mismatch("the text is not in the body".to_owned())),
            Check::Body(_) | Check::Contains(_) => Ok(()),
            Check::Xml(_) if verdict.wrong => Err(Failure::Mismatch("far more bytes than were expected".to_owned())),
            Check::Secured if verdict.wrong => Err(Failure::Mismatch("far more bytes than any answer".to_owned())),
            Check::Secured => Ok(()),
            Check::Xml(alike) => alike.judge(&verdict.whole),
        }
    }

    fn feed_head(&mut self, mut input: &[u8], expected: &Expected) -> Result<bool, Failure> {
        loop {
            // Not filled beforehand: that takes longer than to parse an answer of usual size.
            let mut headers = [const { MaybeUninit::uninit() }; HEADER_LIMIT];
            let mut response = httparse::Response::new(&mut []);
            let config = httparse::ParserConfig::default();
            let used = match config.parse_response_with_uninit_headers(&mut response, input, &mut headers) {
                Ok(httparse::Status::Complete(used)) => used,
                Ok(httparse::Status::Partial) if input.len() < HEAD_LIMIT_BYTES => {
                    self.held.extend_from_slice(input);
                    return Ok(false);
                }
                Ok(httparse::Status::Partial) => return Err(malformed("the head of the answer has no end")),
                Err(error) => return Err(malformed(&error.to_string())),
            };
            let decoder = self.read_head(&response, expected)?;
            input = &input[used..];
            match decoder {
                // An interim answer; the real one follows.
                None => {}
                Some(decoder) if decoder.is_done() => {
                    self.stage = Stage::Done;
                    return if input.is_empty() { Ok(true) } else { self.feed(input, expected) };
                }
                Some(decoder) => {
                    self.stage = Stage::Body(decoder);
                    return self.feed_body(input, expected);
                }
            }
            if input.is_empty() {
                return Ok(false);
            }
        }
    }

    #[inline]
    fn feed_body(&mut self, mut input: &[u8], expected: &Expected) -> Result<bool, Failure> {
        let Stage::Body(decoder) = &mut self.stage else { return Ok(false) };
        while !input.is_empty() {
            let step = decoder.advance(input).map_err(|Malformed| malformed("a chunk is malformed"))?;
            self.verdict.see(step.data, expected);
            input = &input[step.used..];
            if step.done {
                self.stage = Stage::Done;
                return if input.is_empty() { Ok(true) } else { self.feed(input, expected) };
            }
        }
        Ok(false)
    }

    /// The framing of the body, or `None` for an interim answer.
    ///
    /// Source: RFC 9112 §6.3.
    fn read_head(
        &mut self,
        response: &httparse::Response<'_, '_>,
        expected: &Expected,
    ) -> Result<Option<Decoder>, Failure> {
        let status = response.code.unwrap_or(0);
        if status == 101 || !(100..600).contains(&status) {
            return Err(malformed(&format!("status {status}")));
        }
        if status < 200 {
            return Ok(None);
        }
        self.status = status;
        self.keep_alive = response.version == Some(1);
        let (mut length, mut chunked, mut coded) = (None, false, false);
        for header in response.headers.iter() {
            let name = header.name;
            // The length sorts out nearly all header lines before any name is compared.
            match name.len() {
                14 if name.eq_ignore_ascii_case("content-length") => {
                    let value = framing::content_length(header.value).map_err(|_| malformed("Content-Length"))?;
                    if length.replace(value).is_some_and(|earlier| earlier != value) {
                        return Err(malformed("two lengths"));
                    }
                }
                17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                    coded = true;
                    chunked = header.value.to_ascii_lowercase().ends_with(b"chunked");
                }
                10 if name.eq_ignore_ascii_case("connection") => {
                    self.keep_alive = framing::keeps_alive(header.value).unwrap_or(self.keep_alive);
                }
                _ => {}
            }
        }
        Ok(Some(match length {
            _ if expected.bodiless || status == 204 || status == 304 => Decoder::Length(0),
            Some(_) if coded => return Err(malformed("both a length and a transfer coding")),
            Some(length) => Decoder::Length(length),
            None if chunked => Decoder::chunked(),
            None => {
                self.keep_alive = false;
                Decoder::Close
            }
        }))
    }
}

impl Verdict {
    #[inline]
    fn see(&mut self, data: &[u8], expected: &Expected) {
        match &expected.check {
            Check::Status => {}
            Check::Body(wanted) => self.wrong |= !wanted.holds(self.length, data),
            Check::Contains(finder) if !self.found => self.search(data, finder),
            Check::Contains(_) => {}
            Check::Xml(alike) if self.whole.len() + data.len() > alike.limit_bytes => self.wrong = true,
            Check::Secured if self.whole.len() + data.len() > SECURED_LIMIT_BYTES => self.wrong = true,
            Check::Xml(_) | Check::Secured => self.whole.extend_from_slice(data),
        }
        self.length += data.len() as u64;
    }

    fn search(&mut self, data: &[u8], finder: &Finder<'_>) {
        let overlap = finder.needle().len() - 1;
        // A text that began in the part before ends within the first `overlap` bytes of this one.
        self.tail.extend_from_slice(&data[..overlap.min(data.len())]);
        self.found = finder.find(data).is_some() || finder.find(&self.tail).is_some();
        if data.len() >= overlap {
            self.tail.clear();
            self.tail.extend_from_slice(&data[data.len() - overlap..]);
        } else {
            self.tail.drain(..self.tail.len().saturating_sub(overlap));
        }
    }
}

fn malformed(what: &str) -> Failure {
    Failure::Malformed(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `input` in parts of `step` bytes and then the end of the connection.
    fn read(input: &[u8], step: usize, verify: &Verify, sent: &[u8]) -> Result<bool, Failure> {
        let expected = Expected::new(verify, &Payload::from(sent.to_vec()), "POST", false);
        let mut answer = Answer::new();
        answer.begin();
        let mut done = false;
        for part in input.chunks(step) {
            done = answer.feed(part, &expected)?;
        }
        if !done {
            answer.close()?;
        }
        answer.judge(&expected)?;
        Ok(answer.keep_alive())
    }

    #[test]
    fn the_same_xml_may_be_written_in_another_way() {
        let answer = |body: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let judged = |body: &str, sent: &[u8]| read(answer(body).as_bytes(), 9, &Verify::Xml, sent);
        let sent = b"<a b='1'><c/></a>";
        for body in ["<a b='1'><c/></a>", "<?xml version=\"1.0\"?><a b=\"1\"><c></c></a>"] {
            assert_eq!(judged(body, sent), Ok(true));
        }
        for body in ["<a b='2'><c/></a>", "<a b='1'>", ""] {
            assert!(matches!(judged(body, sent), Err(Failure::Mismatch(_))), "{body}");
        }
        assert!(matches!(judged(&"<a/>".repeat(20_000), sent), Err(Failure::Mismatch(_))));
        assert!(matches!(judged("hello", b"hello"), Err(Failure::Mismatch(_))));
        let other = Verify::Alike(Payload::from(b"<z></z>".to_vec()));
        assert_eq!(read(answer("<z/>").as_bytes(), 9, &other, sent), Ok(true));
        assert!(matches!(read(answer("<a b='1'><c/></a>").as_bytes(), 9, &other, sent), Err(Failure::Mismatch(_))));
    }

    #[test]
    fn any_split_of_an_answer_is_judged_alike() {
        let contains = Verify::Contains("lo wo".to_owned());
        for input in [
            &b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world"[..],
            b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Made\r\ncontent-length: 11\r\n\r\nhello world",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x\r\nhell\r\n7\r\no world\r\n0\r\nT: r\r\n\r\n",
        ] {
            for step in 1..=input.len() {
                for verify in [&Verify::Status, &Verify::Echo, &contains] {
                    assert_eq!(read(input, step, verify, b"hello world"), Ok(true), "parts of {step}");
                }
                assert!(matches!(read(input, step, &Verify::Echo, b"hello World"), Err(Failure::Mismatch(_))));
                assert!(matches!(read(input, step, &Verify::Echo, b"hello world!"), Err(Failure::Mismatch(_))));
                let other = Verify::Contains("low".to_owned());
                assert!(matches!(read(input, step, &other, b""), Err(Failure::Mismatch(_))));
            }
        }
    }

    #[test]
    fn closing_ends_an_answer_only_where_nothing_else_does() {
        assert_eq!(read(b"HTTP/1.1 200 OK\r\n\r\nabc", 4, &Verify::Echo, b"abc"), Ok(false));
        for input in [&b""[..], b"HTTP/1.1 2", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc"] {
            assert!(matches!(read(input, 100, &Verify::Status, b""), Err(Failure::Closed(_))));
        }
    }

    #[test]
    fn the_status_is_judged_after_the_body_was_read() {
        let input = b"HTTP/1.1 503 Busy\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(read(input, 7, &Verify::Status, b""), Err(Failure::Status(503)));
        assert_eq!(read(b"HTTP/1.1 204 None\r\n\r\n", 100, &Verify::Status, b""), Ok(true));
    }

    #[test]
    fn what_is_no_answer_is_malformed() {
        for input in [
            &b"garbage\r\n\r\n"[..],
            b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            b"HTTP/1.1 101 Switching\r\n\r\n",
        ] {
            let found = read(input, 1000, &Verify::Status, b"");
            assert!(matches!(found, Err(Failure::Malformed(_))), "{:?}: {found:?}", String::from_utf8_lossy(input));
        }
        let endless = [b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'x'; 70_000]].concat();
        assert!(matches!(read(&endless, 9000, &Verify::Status, b""), Err(Failure::Malformed(_))));
    }

    #[test]
    fn the_connection_stays_where_the_answer_says_so() {
        let check = |head: &str, expected: bool| {
            let input = format!("{head}\r\nContent-Length: 0\r\n\r\n");
            assert_eq!(read(input.as_bytes(), 1000, &Verify::Status, b""), Ok(expected), "{head}");
        };
        check("HTTP/1.1 200 OK", true);
        check("HTTP/1.1 200 OK\r\nConnection: close", false);
        check("HTTP/1.0 200 OK", false);
        check("HTTP/1.0 200 OK\r\nConnection: keep-alive", true);
    }
}
