//! A pull parser over bytes that come in pieces.
//!
//! It keeps no text: the caller holds what has come and shows it again with more behind.
//! What a token at the end of the input has shown so far is remembered, so that any split is read in linear time, and gives the very same events and errors.

mod scan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Limit, Place};
use crate::text;
use scan::{NumberState, Scanned, StringScan};

/// Bounds of a reader; the whole text is bounded by who holds it.
#[derive(Debug, Clone)]
pub struct Options {
    /// Arrays and objects within each other.
    pub depth: usize,
    /// Bytes between the quotes of a key.
    pub key_bytes: usize,
    /// Bytes of a number.
    pub number_bytes: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { depth: 1_000, key_bytes: 8 << 10, number_bytes: 1_000 }
    }
}

/// What a reader sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `{`
    ObjectStart,
    /// `}`
    ObjectEnd,
    /// `[`
    ArrayStart,
    /// `]`
    ArrayEnd,
    /// The name of the member whose value follows.
    Key,
    /// A string that is a value.
    String,
    /// A number.
    Number,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

/// One token of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// What it is.
    pub kind: Kind,
    /// Where it starts in the input that was shown.
    pub start: usize,
    /// The token as it stands in the text, quotes included.
    pub raw: &'a [u8],
    /// Whether a string or key has a backslash in it.
    pub escaped: bool,
}

impl<'a> Event<'a> {
    /// Where it stands in the input that was shown.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.raw.len()
    }

    /// What a string or key means; the token itself for everything else.
    pub fn text(&self) -> Cow<'a, str> {
        text::unescape(self.inner())
    }

    /// Whether a string or key means `text`.
    pub fn means(&self, text: &str) -> bool {
        text::means(self.inner(), self.escaped, text)
    }

    fn inner(&self) -> &'a [u8] {
        match self.kind {
            Kind::Key | Kind::String => &self.raw[1..self.raw.len() - 1],
            _ => self.raw,
        }
    }
}

/// What [`Reader::next`] gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// The next token.
    Event(Event<'a>),
    /// The input ends within or before a token: call again with more.
    More,
    /// The text is complete.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the first byte, where a byte order mark may stand.
    Start,
    Value,
    FirstElement,
    FirstKey,
    Key,
    Colon,
    /// Behind a value.
    Comma,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    Array,
    Object,
}

/// Reads one text, event by event; strict after RFC 8259.
///
/// A byte order mark at the start is skipped, as §8.1 allows.
/// After an error every further call fails as well.
#[derive(Debug)]
pub struct Reader {
    options: Options,
    state: State,
    /// Start of the next token, or of the white space before it, in the input.
    position: usize,
    /// What is known of the token at `position` that was not complete.
    string: StringScan,
    number: NumberState,
    scanned: usize,
    open: Vec<Container>,
    forgotten: Place,
}

impl Reader {
    /// A reader at the start of a text.
    pub fn new(options: Options) -> Reader {
        Reader {
            options,
            state: State::Start,
            position: 0,
            string: StringScan::default(),
            number: NumberState::Start,
            scanned: 0,
            open: Vec::new(),
            forgotten: Place::START,
        }
    }

    /// Makes it ready for another text; keeps its allocations.
    pub fn reset(&mut self) {
        self.state = State::Start;
        self.position = 0;
        self.string = StringScan::default();
        self.number = NumberState::Start;
        self.scanned = 0;
        self.open.clear();
        self.forgotten = Place::START;
    }

    /// Bytes of the input that are decided: events for all tokens in them have been given.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Arrays and objects that are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Says that the caller takes `gone` away from the front of the input.
    ///
    /// Shape: at most [`Reader::position`] bytes; they are only looked at for the line and column of later errors.
    pub fn forget(&mut self, gone: &[u8]) {
        let gone = &gone[..gone.len().min(self.position)];
        self.forgotten = self.forgotten.behind(gone);
        self.position -= gone.len();
        self.scanned = self.scanned.saturating_sub(gone.len());
    }

    /// The next event.
    ///
    /// Shape: `input` holds all bytes of the text that have come so far, save those that were forgotten; `complete` says that nothing follows.
    /// Errors: `Malformed`, `Encoding`, `TooLarge`: the sender's.
    #[inline]
    pub fn next<'a>(&mut self, input: &'a [u8], complete: bool) -> Result<Step<'a>, Error> {
        loop {
            if self.state == State::Start {
                match byte_order_mark(input, complete) {
                    None => return Ok(Step::More),
                    Some(length) => self.position = length,
                }
                self.state = State::Value;
            }
            let Some(byte) = self.skip_space(input) else { return self.at_end(input, complete) };
            match self.state {
                State::Comma => match (byte, self.open.last()) {
                    (b',', Some(Container::Object)) => self.state = State::Key,
                    (b',', Some(Container::Array)) => self.state = State::Value,
                    (b'}', Some(Container::Object)) => return Ok(self.close(input, Kind::ObjectEnd)),
                    (b']', Some(Container::Array)) => return Ok(self.close(input, Kind::ArrayEnd)),
                    _ => return Err(self.unexpected(input, self.position)),
                },
                State::Colon if byte == b':' => self.state = State::Value,
                State::FirstKey if byte == b'}' => return Ok(self.close(input, Kind::ObjectEnd)),
                State::FirstElement if byte == b']' => return Ok(self.close(input, Kind::ArrayEnd)),
                State::Key | State::FirstKey if byte == b'"' => {
                    let step = self.string(input, complete, Kind::Key)?;
                    if step != Step::More {
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
    fn skip_space(&mut self, input: &[u8]) -> Option<u8> {
        while let Some(&byte) = input.get(self.position) {
            if byte > b' ' || !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.position += 1;
        }
        None
    }

    fn at_end<'a>(&self, input: &[u8], complete: bool) -> Result<Step<'a>, Error> {
        if !complete {
            Ok(Step::More)
        } else if self.state == State::Comma && self.open.is_empty() {
            Ok(Step::End)
        } else {
            Err(self.unexpected(input, input.len()))
        }
    }

    #[inline]
    fn value<'a>(&mut self, input: &'a [u8], complete: bool, byte: u8) -> Result<Step<'a>, Error> {
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
        if step != Step::More {
            self.state = State::Comma;
        }
        Ok(step)
    }

    fn open<'a>(&mut self, input: &'a [u8], container: Container) -> Result<Step<'a>, Error> {
        if self.open.len() >= self.options.depth {
            return Err(Error::TooLarge(Limit::Depth(self.options.depth), self.place(input, self.position)));
        }
        self.open.push(container);
        let (kind, state) = match container {
            Container::Object => (Kind::ObjectStart, State::FirstKey),
            Container::Array => (Kind::ArrayStart, State::FirstElement),
        };
        self.state = state;
        Ok(self.token(input, self.position + 1, kind, false))
    }

    fn close<'a>(&mut self, input: &'a [u8], kind: Kind) -> Step<'a> {
        self.open.pop();
        self.state = State::Comma;
        self.token(input, self.position + 1, kind, false)
    }

    #[inline]
    fn token<'a>(&mut self, input: &'a [u8], end: usize, kind: Kind, escaped: bool) -> Step<'a> {
        let start = self.position;
        self.position = end;
        Step::Event(Event { kind, start, raw: &input[start..end], escaped })
    }

    #[inline]
    fn string<'a>(&mut self, input: &'a [u8], complete: bool, kind: Kind) -> Result<Step<'a>, Error> {
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
            return Err(Error::Encoding(self.place(input, start + 1 + error.valid_up_to())));
        }
        match scanned {
            Scanned::End(end) => {
                let escaped = self.string.escaped;
                self.string = StringScan::default();
                Ok(self.token(input, end + 1, kind, escaped))
            }
            Scanned::Bad(at, expected) => Err(self.malformed(input, at, expected)),
            Scanned::Pending(_) if input.len() >= bound => {
                Err(Error::TooLarge(Limit::KeyBytes(self.options.key_bytes), self.place(input, start)))
            }
            Scanned::Pending(_) if complete => Err(self.malformed(input, input.len(), "the closing quote of a string")),
            Scanned::Pending(at) => {
                self.scanned = at;
                Ok(Step::More)
            }
        }
    }

    #[inline]
    fn number<'a>(&mut self, input: &'a [u8], complete: bool) -> Result<Step<'a>, Error> {
        let start = self.position;
        let bound = start.saturating_add(self.options.number_bytes);
        let from = self.scanned.max(start);
        let end = self.number.scan(&input[..input.len().min(bound)], from);
        if end >= bound && input.get(end).is_some_and(|&byte| self.number.after(byte).is_some()) {
            return Err(Error::TooLarge(Limit::NumberBytes(self.options.number_bytes), self.place(input, start)));
        }
        if end == input.len() && !complete {
            self.scanned = end;
            return Ok(Step::More);
        }
        if let Some(expected) = self.number.lacks() {
            return Err(self.malformed(input, end, expected));
        }
        self.number = NumberState::Start;
        Ok(self.token(input, end, Kind::Number, false))
    }

    fn literal<'a>(
        &mut self,
        input: &'a [u8],
        complete: bool,
        word: &'static [u8],
        kind: Kind,
    ) -> Result<Step<'a>, Error> {
        let start = self.position;
        let here = &input[start..input.len().min(start + word.len())];
        if here == word {
            return Ok(self.token(input, start + word.len(), kind, false));
        }
        if word.starts_with(here) && !complete {
            return Ok(Step::More);
        }
        let common = here.iter().zip(word).take_while(|(left, right)| left == right).count();
        Err(self.malformed(input, start + common, "`true`, `false` or `null`"))
    }

    #[cold]
    fn unexpected(&self, input: &[u8], at: usize) -> Error {
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
    fn malformed(&self, input: &[u8], at: usize, expected: &'static str) -> Error {
        Error::Malformed { place: self.place(input, at), expected, found: input.get(at).copied() }
    }

    /// The place of `input[at]` in the whole text.
    pub fn place(&self, input: &[u8], at: usize) -> Place {
        self.forgotten.behind(&input[..at.min(input.len())])
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
