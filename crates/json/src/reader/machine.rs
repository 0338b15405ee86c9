//! The grammar: from bytes to tokens, one at a time.
//!
//! What goes from function to function is small, so that it stays in registers: an error is boxed, and a token is where the reader says it is.

use super::scan::{NumberState, Scanned, StringScan};
use super::{Container, Kind, Reader, Seen, State};
use crate::error::{Error, Limit};

impl Reader {
    /// The next token; inlined by all means, for who asks asks for each token of a text.
    #[inline(always)]
    pub(super) fn token(&mut self, input: &[u8], complete: bool) -> Result<Seen, Box<Error>> {
        loop {
            if self.state == State::Start {
                match byte_order_mark(input, complete) {
                    None => return Ok(Seen::More),
                    Some(length) => self.position = length,
                }
                self.state = State::Value;
            }
            let Some(byte) = self.skip_space(input) else { return self.at_end(input, complete) };
            match self.state {
                State::Comma => match (byte, self.open.last()) {
                    (b',', Some(Container::Object)) => self.state = State::Key,
                    (b',', Some(Container::Array)) => self.state = State::Value,
                    (b'}', Some(Container::Object)) => return Ok(self.close(Kind::ObjectEnd)),
                    (b']', Some(Container::Array)) => return Ok(self.close(Kind::ArrayEnd)),
                    _ => return Err(self.unexpected(input, self.position)),
                },
                State::Colon if byte == b':' => self.state = State::Value,
                State::FirstKey if byte == b'}' => return Ok(self.close(Kind::ObjectEnd)),
                State::FirstElement if byte == b']' => return Ok(self.close(Kind::ArrayEnd)),
                State::Key | State::FirstKey if byte == b'"' => {
                    let step = self.string(input, complete, Kind::Key)?;
                    if step != Seen::More {
                        self.state = State::Colon;
                    }
                    return Ok(step);
                }
                State::Value | State::FirstElement => return self.value(input, complete, byte),
                _ => return Err(self.unexpected(input, self.position)),
            }
            // A comma or colon.
            self.position += 1;
        }
    }

    /// The byte at the next token; white space before it is decided.
    #[inline]
    pub(super) fn skip_space(&mut self, input: &[u8]) -> Option<u8> {
        while let Some(&byte) = input.get(self.position) {
            if byte > b' ' || !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.position += 1;
        }
        None
    }

    pub(super) fn at_end(&self, input: &[u8], complete: bool) -> Result<Seen, Box<Error>> {
        if !complete {
            Ok(Seen::More)
        } else if self.state == State::Comma && self.open.is_empty() {
            Ok(Seen::End)
        } else {
            Err(self.unexpected(input, input.len()))
        }
    }

    #[inline]
    fn value(&mut self, input: &[u8], complete: bool, byte: u8) -> Result<Seen, Box<Error>> {
        let step = match byte {
            b'"' => self.string(input, complete, Kind::String)?,
            b'{' => return self.open(input, Container::Object),
            b'[' => return self.open(input, Container::Array),
            b'-' | b'0'..=b'9' => self.number(input, complete)?,
            b't' => self.literal(input, complete, b"true", Kind::True)?,
            b'f' => self.literal(input, complete, b"false", Kind::False)?,
            b'n' => self.literal(input, complete, b"null", Kind::Null)?,
            _ => return Err(self.unexpected(input, self.position)),
        };
        if step != Seen::More {
            self.state = State::Comma;
        }
        Ok(step)
    }

    fn open(&mut self, input: &[u8], container: Container) -> Result<Seen, Box<Error>> {
        if self.open.len() >= self.options.depth {
            return Err(self.too_large(Limit::Depth(self.options.depth), input));
        }
        self.open.push(container);
        let (kind, state) = match container {
            Container::Object => (Kind::ObjectStart, State::FirstKey),
            Container::Array => (Kind::ArrayStart, State::FirstElement),
        };
        self.state = state;
        Ok(self.seen(self.position + 1, kind, false))
    }

    fn close(&mut self, kind: Kind) -> Seen {
        self.open.pop();
        self.state = State::Comma;
        self.seen(self.position + 1, kind, false)
    }

    #[inline]
    fn seen(&mut self, end: usize, kind: Kind, escaped: bool) -> Seen {
        self.start = self.position;
        self.position = end;
        Seen::Token(kind, escaped)
    }

    #[inline]
    fn string(&mut self, input: &[u8], complete: bool, kind: Kind) -> Result<Seen, Box<Error>> {
        let start = self.position;
        let bound =
            if kind == Kind::Key { start.saturating_add(self.options.key_bytes).saturating_add(2) } else { usize::MAX };
        let from = self.scanned.max(start + 1);
        let scanned = self.string.scan(&input[..input.len().min(bound)], from);
        let stop = match scanned {
            Scanned::End(end) => end,
            Scanned::Bad(at, _) => at,
            Scanned::Pending(_) => input.len().min(bound),
        };
        let finished = !matches!(scanned, Scanned::Pending(_)) || complete || input.len() >= bound;
        if finished
            && self.string.wide
            && let Err(error) = std::str::from_utf8(&input[start + 1..stop])
            && !(stop == bound && error.error_len().is_none())
        {
            return Err(Box::new(Error::Encoding(self.place(input, start + 1 + error.valid_up_to()))));
        }
        match scanned {
            Scanned::End(end) => {
                let escaped = self.string.escaped;
                self.string = StringScan::default();
                Ok(self.seen(end + 1, kind, escaped))
            }
            Scanned::Bad(at, expected) => Err(self.malformed(input, at, expected)),
            Scanned::Pending(_) if input.len() >= bound => {
                Err(self.too_large(Limit::KeyBytes(self.options.key_bytes), input))
            }
            Scanned::Pending(_) if complete => Err(self.malformed(input, input.len(), "the closing quote of a string")),
            Scanned::Pending(at) => {
                self.scanned = at;
                Ok(Seen::More)
            }
        }
    }

    #[inline]
    fn number(&mut self, input: &[u8], complete: bool) -> Result<Seen, Box<Error>> {
        let start = self.position;
        let bound = start.saturating_add(self.options.number_bytes);
        let from = self.scanned.max(start);
        let end = self.number.scan(&input[..input.len().min(bound)], from);
        self.scanned = end;
        if end >= bound && input.get(end).is_some_and(|&byte| self.number.after(byte).is_some()) {
            return Err(self.too_large(Limit::NumberBytes(self.options.number_bytes), input));
        }
        if end == input.len() && !complete {
            return Ok(Seen::More);
        }
        if let Some(expected) = self.number.lacks() {
            return Err(self.malformed(input, end, expected));
        }
        self.number = NumberState::Start;
        Ok(self.seen(end, Kind::Number, false))
    }

    fn literal(&mut self, input: &[u8], complete: bool, word: &'static [u8], kind: Kind) -> Result<Seen, Box<Error>> {
        let start = self.position;
        let here = &input[start..input.len().min(start + word.len())];
        if here == word {
            return Ok(self.seen(start + word.len(), kind, false));
        }
        if word.starts_with(here) && !complete {
            return Ok(Seen::More);
        }
        let common = here.iter().zip(word).take_while(|(left, right)| left == right).count();
        Err(self.malformed(input, start + common, "`true`, `false` or `null`"))
    }

    #[cold]
    pub(super) fn unexpected(&self, input: &[u8], at: usize) -> Box<Error> {
        let expected = match (self.state, self.open.last()) {
            (State::Start | State::Value, _) => "a value",
            (State::FirstElement, _) => "a value or `]`",
            (State::FirstKey, _) => "a key in double quotes or `}`",
            (State::Key, _) => "a key in double quotes",
            (State::Colon, _) => "`:`",
            (State::Comma, Some(Container::Object)) => "`,` or `}`",
            (State::Comma, Some(Container::Array)) => "`,` or `]`",
            (State::Comma, None) => "nothing behind the value",
        };
        self.malformed(input, at, expected)
    }

    #[cold]
    fn malformed(&self, input: &[u8], at: usize, expected: &'static str) -> Box<Error> {
        Box::new(Error::Malformed { place: self.place(input, at), expected, found: input.get(at).copied() })
    }

    /// The token that begins here is larger than it may be.
    #[cold]
    fn too_large(&self, limit: Limit, input: &[u8]) -> Box<Error> {
        Box::new(Error::TooLarge(limit, self.place(input, self.position)))
    }
}

/// The length of the byte order mark at the start; `None` if more input is needed to tell.
fn byte_order_mark(input: &[u8], complete: bool) -> Option<usize> {
    const MARK: &[u8] = b"\xEF\xBB\xBF";
    if input.starts_with(MARK) {
        Some(MARK.len())
    } else if MARK.starts_with(input) && !complete {
        None
    } else {
        Some(0)
    }
}
