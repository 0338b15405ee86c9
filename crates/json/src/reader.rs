//! A pull parser over bytes that come in pieces.
//!
//! It keeps no text: the caller holds what has come and shows it again with more behind.
//! What a token at the end of the input has shown so far is remembered, so that any split is read in linear time, and gives the very same events and errors.

mod machine;
mod scan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Place};
use crate::text;
pub(crate) use scan::NumberState;
use scan::StringScan;

/// Bounds of a reader; the whole text is bounded by who holds it.
#[derive(Debug, Clone)]
pub struct Options {
    /// Arrays and objects within each other.
    pub depth: usize,
    /// Bytes between the quotes of a key.
    pub key_bytes: usize,
    /// Bytes of a number.
    pub number_bytes: usize,
    /// Nodes of a tree, 40 bytes each: a text of nothing but `[1,1,…]` makes one of every two bytes.
    pub nodes: usize,
}

impl Options {
    /// For what has passed its sender's limits, or comes from a program.
    pub(crate) const UNLIMITED: Options =
        Options { depth: usize::MAX, key_bytes: usize::MAX, number_bytes: usize::MAX, nodes: usize::MAX };
}

impl Default for Options {
    fn default() -> Options {
        Options { depth: 1_000, key_bytes: 8 << 10, number_bytes: 1_000, nodes: 4_000_000 }
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

    /// What stands between the quotes of a string or key; the token itself for everything else.
    #[inline]
    pub(crate) fn inner(&self) -> &'a [u8] {
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

/// Reads one text, event by event; strict after RFC 8259.
///
/// A byte order mark at the start is skipped, as §8.1 allows.
/// After an error every further call fails as well.
#[derive(Debug)]
pub struct Reader {
    options: Options,
    state: State,
    /// Where the last token starts in the input.
    start: usize,
    /// Start of the next token, or of the white space before it, in the input.
    position: usize,
    /// What is known of the token at `position` that was not complete.
    string: StringScan,
    number: NumberState,
    scanned: usize,
    open: Vec<Container>,
    forgotten: Place,
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

/// What a look at the input showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// A token from the reader's start to its position, and whether it has a backslash in it.
    Token(Kind, bool),
    /// The input ends within or before a token.
    More,
    /// The text is complete.
    End,
}

impl Reader {
    /// A reader at the start of a text.
    pub fn new(options: Options) -> Reader {
        Reader {
            options,
            state: State::Start,
            start: 0,
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
        self.start = 0;
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
        match self.token(input, complete) {
            Ok(seen) => Ok(self.step(seen, input)),
            Err(error) => Err(*error),
        }
    }

    /// The next event of a whole text; `None` at its end.
    ///
    /// Inlined by all means: an event that goes through memory costs more than reading it.
    #[inline(always)]
    pub(crate) fn next_of_whole<'a>(&mut self, text: &'a [u8]) -> Result<Option<Event<'a>>, Box<Error>> {
        Ok(match self.token(text, true)? {
            Seen::Token(kind, escaped) => {
                Some(Event { kind, start: self.start, raw: &text[self.start..self.position], escaped })
            }
            Seen::More | Seen::End => None,
        })
    }

    /// As [`Reader::next`], but passes over all that stands within more than `depth` arrays and objects.
    #[inline]
    pub(crate) fn next_within<'a>(&mut self, input: &'a [u8], complete: bool, depth: usize) -> Result<Step<'a>, Error> {
        loop {
            let seen = match self.token(input, complete) {
                Ok(seen) => seen,
                Err(error) => return Err(*error),
            };
            if let Seen::Token(kind, _) = seen {
                let starts = matches!(kind, Kind::ObjectStart | Kind::ArrayStart);
                if self.open.len() > depth + usize::from(starts) {
                    continue;
                }
            }
            return Ok(self.step(seen, input));
        }
    }

    /// Whether what follows the last value has come, and may follow it; `true` as well where the last token is no value.
    ///
    /// Errors: as [`Reader::next`], at the byte that may not follow.
    pub(crate) fn ends_value(&mut self, input: &[u8], complete: bool) -> Result<bool, Error> {
        if self.state != State::Comma {
            return Ok(true);
        }
        let Some(byte) = self.skip_space(input) else {
            return match self.at_end(input, complete) {
                Ok(seen) => Ok(seen == Seen::End),
                Err(error) => Err(*error),
            };
        };
        match (byte, self.open.last()) {
            (b',', Some(_)) | (b'}', Some(Container::Object)) | (b']', Some(Container::Array)) => Ok(true),
            _ => Err(*self.unexpected(input, self.position)),
        }
    }

    #[inline]
    fn step<'a>(&self, seen: Seen, input: &'a [u8]) -> Step<'a> {
        match seen {
            Seen::Token(kind, escaped) => {
                Step::Event(Event { kind, start: self.start, raw: &input[self.start..self.position], escaped })
            }
            Seen::More => Step::More,
            Seen::End => Step::End,
        }
    }

    /// The place of `input[at]` in the whole text.
    pub fn place(&self, input: &[u8], at: usize) -> Place {
        self.forgotten.behind(&input[..at.min(input.len())])
    }
}
