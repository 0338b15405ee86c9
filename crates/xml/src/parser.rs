//! The pull parser: bytes in any pieces become events.
//!
//! Each token is first parsed right where it stands in the input, as if all of it were there.
//! Only when the input ends inside it, [`resume`] remembers how far it was looked for its end,
//! so that a large token that comes in small pieces is not read again for each piece.

mod markup;
mod place;
mod resume;
mod tag;
mod text;

use std::ops::Range;

use crate::characters::is_space;
use crate::error::{Error, ErrorKind, Limit};
use crate::event::{Comment, Doctype, End, Event, Instruction, Start, Step, TagParts, Text, XmlDeclaration};
use crate::names::{Atom, NameId, Names};
use crate::options::{DeclaredEncoding, Options};
use crate::value;

use place::Place;
use resume::Resume;

/// Reads one document after the other, as events.
///
/// Shape: give [`next`](Parser::next) all bytes that have come so far, again and again;
/// [`reset`](Parser::reset) makes it ready for the next document and keeps all memory.
#[derive(Debug)]
pub struct Parser {
    options: Options,
    names: Names,
    /// Bytes the caller has removed from the front of its buffer; all places below count from behind them.
    base: usize,
    /// Line and column there.
    place: Place,
    /// Everything before is decided.
    at: usize,
    /// How much of the input was looked at for UTF-8, how much of that is, and whether the rest can still become so.
    seen: usize,
    checked: usize,
    invalid: bool,
    stage: Stage,
    doctype: bool,
    /// Whether the last event was the start of an empty-element tag.
    closing: bool,
    open: Vec<Open>,
    /// What each prefix is bound to, by its atom.
    bindings: Vec<Binding>,
    /// What the declarations of open elements have hidden.
    hidden: Vec<(Atom, Binding)>,
    /// The inside of the start tag that was read last.
    parts: TagParts,
    /// The inside of the declaration that was read last.
    declaration: DeclarationParts,
    /// The number of the tag that last had an attribute of an expanded name.
    last_use: Vec<u64>,
    /// The number of this tag in the life of the parser, so that `last_use` and `bindings` need no clearing.
    tag: u64,
    resume: Option<Resume>,
    failed: Option<Box<Error>>,
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A byte order mark.
    Start,
    /// The XML declaration.
    Declaration,
    /// Comments, instructions, the document type, the root element.
    Prolog,
    /// Anything inside the root element.
    Content,
    /// Comments and instructions.
    Epilog,
    /// Nothing: there was an error.
    Failed,
}

/// An open element.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Its name as written, which the end tag has to repeat.
    raw: Atom,
    name: NameId,
    /// How many bindings were hidden before its own declarations.
    hidden: usize,
}

/// What a prefix is bound to.
#[derive(Clone, Copy, Debug, Default)]
struct Binding {
    namespace: Option<Atom>,
    /// The tag whose declaration this is.
    tag: u64,
}

/// What was read, by places in the input; small, because each event passes through it.
enum Token {
    Start { name: NameId, range: Range<usize>, empty: bool },
    End { name: NameId, range: Range<usize> },
    Text { range: Range<usize>, verbatim: bool },
    Cdata { range: Range<usize>, verbatim: bool },
    Comment { range: Range<usize> },
    Instruction { range: Range<usize> },
    Doctype { range: Range<usize> },
    Declaration { range: Range<usize> },
}

/// The inside of an XML declaration, by places in the input.
#[derive(Debug, Default)]
struct DeclarationParts {
    version: Range<usize>,
    encoding: Option<Range<usize>>,
    standalone: Option<bool>,
}

/// Why no token was read.
enum Stop {
    /// The window ends, and this was expected.
    Starved(&'static str),
    Bad(Box<Fault>),
}

struct Fault {
    kind: ErrorKind,
    /// In the input.
    at: usize,
}

/// How far before the end of what was checked more is checked, so that few tokens end there.
/// Tests have small documents, which should cross the same borders.
const AHEAD: usize = if cfg!(test) { 4 } else { 512 };

/// How much is checked at a time.
const BLOCK: usize = if cfg!(test) { 16 } else { 2_048 };

/// Names that are kept for the next document; more would let one document slow down those behind it.
const KEPT_NAMES: usize = 4_096;

/// The same for their bytes.
const KEPT_NAMES_BYTES: usize = 256 << 10;

impl Parser {
    /// Ready for a first document.
    pub fn new(options: Options) -> Parser {
        Parser::with_names(options, Names::new())
    }

    /// Ready for a first document, with names (and their memory) that are known already.
    pub fn with_names(mut options: Options, names: Names) -> Parser {
        // Places inside a token are 32 bits wide.
        options.token_bytes = options.token_bytes.min(u32::MAX as usize / 2);
        Parser {
            options,
            names,
            base: 0,
            place: Place::default(),
            at: 0,
            seen: 0,
            checked: 0,
            invalid: false,
            stage: Stage::Start,
            doctype: false,
            closing: false,
            open: Vec::new(),
            bindings: Parser::outer_bindings(),
            hidden: Vec::new(),
            parts: TagParts::default(),
            declaration: DeclarationParts::default(),
            last_use: Vec::new(),
            tag: 0,
            resume: None,
            failed: None,
        }
    }

    /// The next event.
    ///
    /// Shape: `input` is the document as far as it has come, without what was [forgotten](Parser::forget):
    /// each call gives the same bytes again, perhaps with more behind; `complete` says that no more will come.
    /// However a document is cut into pieces, its events and its error are the same.
    /// Errors: the first one, again for every later call.
    #[inline]
    pub fn next<'a>(&'a mut self, input: &'a [u8], complete: bool) -> Result<Step<'a>, Error> {
        loop {
            match self.advance(input, complete) {
                Ok(token) => return Ok(Step::Event(self.event(token, input))),
                Err(stop) => {
                    if let Some(step) = self.stopped(stop, input, complete)? {
                        return Ok(step);
                    }
                }
            }
        }
    }

    /// How many bytes of the document are decided: the events so far came from them.
    #[inline]
    pub fn position(&self) -> usize {
        self.base + self.at
    }

    /// Says that the caller removes `removed`, decided bytes, from the front of its buffer.
    ///
    /// Shape: ranges of events go on counting from the beginning of the document.
    ///
    /// # Panics
    /// When there are more of them than were decided.
    pub fn forget(&mut self, removed: &[u8]) {
        let length = removed.len();
        assert!(length <= self.at, "only what was decided can be forgotten");
        self.place.pass(removed, self.base == 0);
        self.base += length;
        self.at -= length;
        self.seen -= length;
        self.checked -= length;
        if let Some(resume) = &mut self.resume {
            resume.looked -= length;
        }
    }

    /// The names met so far.
    #[inline]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Takes the names out, for a document that needs them; the parser is then as after [`reset`](Parser::reset).
    pub fn take_names(&mut self) -> Names {
        self.replace_names(Names::new())
    }

    /// Gives the names to a document that needs them.
    pub fn into_names(self) -> Names {
        self.names
    }

    /// Takes the names out and goes on with others, perhaps those of a document that is no longer needed;
    /// the parser is then as after [`reset`](Parser::reset).
    pub fn replace_names(&mut self, names: Names) -> Names {
        self.begin();
        let taken = std::mem::replace(&mut self.names, names);
        self.forget_names();
        taken
    }

    /// How many elements are open; at a start event its own is one of them, at an end event no longer.
    #[inline]
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Makes ready for the next document; memory is kept, and so are the names while they are not many.
    pub fn reset(&mut self) {
        self.begin();
        let (atoms, bytes) = self.names.size();
        if atoms > KEPT_NAMES || bytes > KEPT_NAMES_BYTES {
            self.names = Names::new();
            self.forget_names();
        }
    }

    /// Says how the next document's declared encoding is judged: what [`detect`](crate::encoding::detect) found.
    pub fn set_declared_encoding(&mut self, declared: DeclaredEncoding) {
        self.options.declared_encoding = declared;
    }

    /// The options it was made with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Forgets the last document, save for its names.
    fn begin(&mut self) {
        self.reveal(0);
        self.open.clear();
        (self.base, self.at, self.seen, self.checked) = (0, 0, 0, 0);
        self.place = Place::default();
        self.stage = Stage::Start;
        (self.invalid, self.doctype, self.closing) = (false, false, false);
        (self.resume, self.failed) = (None, None);
    }

    /// Bindings and uses are by numbers of names that are no longer valid.
    fn forget_names(&mut self) {
        self.bindings = Parser::outer_bindings();
        self.last_use = Vec::new();
    }

    /// What is bound before any declaration: `xml`, and no prefix to no namespace.
    fn outer_bindings() -> Vec<Binding> {
        let mut bindings = vec![Binding::default(); Atom::XML.index() + 1];
        bindings[Atom::EMPTY.index()].namespace = Some(Atom::EMPTY);
        bindings[Atom::XML.index()].namespace = Some(Atom::XML_NAMESPACE);
        bindings
    }

    #[inline]
    fn advance(&mut self, input: &[u8], complete: bool) -> Result<Token, Stop> {
        if self.closing {
            return Ok(self.close_empty());
        }
        if self.seen < self.at + AHEAD && self.seen < input.len() {
            self.check_utf8(input);
        }
        let window = &input[..self.window_end()];
        if self.resume.is_some() && !self.look_further(window, complete && self.seen == input.len()) {
            return Err(Stop::Starved(""));
        }
        match self.stage {
            Stage::Content => self.content(window),
            _ => self.outside(input),
        }
    }

    /// The next token inside the root element.
    #[inline]
    fn content(&mut self, window: &[u8]) -> Result<Token, Stop> {
        match (window.get(self.at), window.get(self.at + 1)) {
            (Some(b'<'), Some(b'/')) => self.end_tag(window),
            (Some(b'<'), Some(b'!')) => match begins(window, self.at, b"<![CDATA[") {
                Some(true) => self.cdata(window),
                Some(false) => self.comment(window),
                None => Err(Stop::Starved("a comment or CDATA section")),
            },
            (Some(b'<'), Some(b'?')) => self.instruction(window),
            (Some(b'<'), Some(_)) => self.start_tag(window),
            (Some(b'<'), None) => Err(Stop::Starved("a tag")),
            (Some(_), _) => self.text(window),
            (None, _) => Err(Stop::Starved("")),
        }
    }

    /// The next token before or behind the root element.
    #[inline(never)]
    fn outside(&mut self, input: &[u8]) -> Result<Token, Stop> {
        if self.stage == Stage::Failed {
            return Err(Stop::Starved(""));
        }
        if self.stage == Stage::Start {
            let begin = &input[..self.checked];
            if begin.is_empty() {
                return Err(Stop::Starved(""));
            }
            if begin.starts_with(BYTE_ORDER_MARK) {
                self.at += BYTE_ORDER_MARK.len();
            }
            self.stage = Stage::Declaration;
        }
        let window = &input[..self.window_end()];
        if self.stage == Stage::Declaration {
            match (begins(window, self.at, b"<?xml"), window.get(self.at + 5)) {
                (Some(true), Some(byte)) if is_space(*byte) || *byte == b'?' => {
                    return self.declaration(window);
                }
                (Some(true), None) | (None, _) => return Err(Stop::Starved("")),
                _ => self.stage = Stage::Prolog,
            }
        }
        // White space here is no token: the bound of a token counts from behind it.
        while input[..self.window_end()].get(self.at).is_some_and(|&byte| is_space(byte)) {
            self.at += 1;
        }
        let window = &input[..self.window_end()];
        match (window.get(self.at), window.get(self.at + 1)) {
            (Some(b'<'), Some(b'!')) => match begins(window, self.at, b"<!DOCTYPE") {
                Some(true) if self.stage == Stage::Prolog => self.document_type(window),
                Some(true) => forbidden("a document type declaration behind the root element", self.at),
                Some(false) => self.comment(window),
                None => Err(Stop::Starved("a comment")),
            },
            (Some(b'<'), Some(b'?')) => self.instruction(window),
            (Some(b'<'), Some(b'/')) => forbidden("an end tag without an open element", self.at),
            (Some(b'<'), Some(_)) if self.stage == Stage::Prolog => self.start_tag(window),
            (Some(b'<'), Some(_)) => forbidden("a second root element", self.at),
            (Some(b'<'), None) => Err(Stop::Starved("a tag")),
            (Some(_), _) if self.stage == Stage::Prolog => malformed(window, self.at, "'<'"),
            (Some(_), _) => malformed(window, self.at, "the end of the document, a comment or an instruction"),
            (None, _) => Err(Stop::Starved("")),
        }
    }

    /// How far the next token may reach: what is there, is UTF-8 and within the bounds.
    #[inline]
    fn window_end(&self) -> usize {
        let token = self.at.saturating_add(self.options.token_bytes);
        let total = self.options.total_bytes.saturating_sub(self.base);
        self.checked.min(token).min(total)
    }

    /// Whether the window cannot grow any more for the token at its end; `complete` says that all input was seen.
    fn is_last(&self, window: &[u8], complete: bool) -> bool {
        complete || self.invalid || window.len() < self.checked
    }

    /// Checks that some more of the input is UTF-8, as much again as the token at hand has so far:
    /// who stops early does not pay for what stands behind, and a large token is not read often.
    #[inline(never)]
    fn check_utf8(&mut self, input: &[u8]) {
        let further = BLOCK.max(self.seen - self.at);
        self.seen = input.len().min(self.seen.saturating_add(further));
        if self.invalid {
            return;
        }
        match std::str::from_utf8(&input[self.checked..self.seen]) {
            Ok(_) => self.checked = self.seen,
            Err(error) => {
                // Without a length the error is but the end of what was looked at, inside a character.
                self.checked += error.valid_up_to();
                self.invalid = error.error_len().is_some();
            }
        }
    }

    /// Whether the token that was not complete may be so now.
    #[inline(never)]
    fn look_further(&mut self, window: &[u8], complete: bool) -> bool {
        let found = self.is_last(window, complete) || self.resume.as_mut().is_none_or(|resume| resume.look(window));
        if found {
            self.resume = None;
        }
        found
    }

    #[inline]
    fn event<'a>(&'a self, token: Token, input: &'a [u8]) -> Event<'a> {
        let absolute = |range: &Range<usize>| self.base + range.start..self.base + range.end;
        match token {
            Token::Start { name, range, empty } => Event::Start(Start {
                name,
                empty,
                range: absolute(&range),
                tag: &input[range],
                parts: &self.parts,
                names: &self.names,
            }),
            Token::End { name, range } => Event::End(End { name, range: absolute(&range) }),
            Token::Text { range, verbatim } => {
                Event::Text(Text { cdata: false, verbatim, range: absolute(&range), bytes: &input[range] })
            }
            Token::Cdata { range, verbatim } => {
                let bytes = &input[range.start + "<![CDATA[".len()..range.end - "]]>".len()];
                Event::Text(Text { cdata: true, verbatim, range: absolute(&range), bytes })
            }
            Token::Comment { range } => Event::Comment(Comment {
                range: absolute(&range),
                raw: value::text(&input[range.start + "<!--".len()..range.end - "-->".len()]),
            }),
            Token::Instruction { range } => {
                let (target, raw) = markup::instruction_parts(&input[range.start + "<?".len()..range.end - "?>".len()]);
                Event::Instruction(Instruction {
                    range: absolute(&range),
                    target: value::text(target),
                    raw: value::text(raw),
                })
            }
            Token::Doctype { range } => {
                Event::Doctype(Doctype { range: absolute(&range), raw: value::text(&input[range]) })
            }
            Token::Declaration { range } => Event::Declaration(XmlDeclaration {
                range: absolute(&range),
                version: value::text(&input[self.declaration.version.clone()]),
                encoding: self.declaration.encoding.clone().map(|range| value::text(&input[range])),
                standalone: self.declaration.standalone,
            }),
        }
    }

    /// What it means that no token was read: more has to come, the end, or an error;
    /// nothing yet where more of the input can be looked at.
    #[cold]
    #[inline(never)]
    fn stopped<'a>(&mut self, stop: Stop, input: &[u8], complete: bool) -> Result<Option<Step<'a>>, Error> {
        if let Some(error) = &self.failed {
            return Err(Error::clone(error));
        }
        let window = &input[..self.window_end()];
        let fault = match stop {
            Stop::Bad(fault) => *fault,
            Stop::Starved(_) if self.seen < input.len() && window.len() == self.checked && !self.invalid => {
                self.resume = self.resume.take().or_else(|| Resume::begin(window, self.at));
                self.check_utf8(input);
                return Ok(None);
            }
            Stop::Starved(expected) if self.is_last(window, complete) => {
                let between = self.at == input.len() && self.stage == Stage::Epilog;
                if between {
                    return Ok(Some(Step::End));
                }
                Fault { kind: self.starved(window, input, expected), at: window.len() }
            }
            Stop::Starved(_) => {
                self.resume = self.resume.take().or_else(|| Resume::begin(window, self.at));
                return Ok(Some(Step::More));
            }
        };
        let mut place = self.place;
        place.pass(&input[..fault.at], self.base == 0);
        let Place { line, column, .. } = place;
        let error = Error { kind: fault.kind, line, column, offset: self.base + fault.at };
        self.failed = Some(Box::new(error.clone()));
        self.stage = Stage::Failed;
        Err(error)
    }

    /// Why the window is not larger.
    fn starved(&self, window: &[u8], input: &[u8], expected: &'static str) -> ErrorKind {
        if window.len() < self.checked {
            let total = self.options.total_bytes;
            return ErrorKind::Limit(match self.base + window.len() == total {
                true => Limit::TotalBytes(total),
                false => Limit::TokenBytes(self.options.token_bytes),
            });
        }
        if window.len() < input.len() {
            return ErrorKind::NotText;
        }
        let expected = match (expected, self.open.last()) {
            ("", None) => "the root element".to_owned(),
            ("", Some(open)) => format!("</{}>", self.names.text(open.raw)),
            (expected, _) => expected.to_owned(),
        };
        ErrorKind::UnexpectedEnd { expected }
    }
}

const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();

/// Whether `literal` stands at `at`; unknown while the window ends inside it.
#[inline]
fn begins(window: &[u8], at: usize, literal: &[u8]) -> Option<bool> {
    let rest = &window[at..];
    if rest.len() >= literal.len() {
        return Some(rest.starts_with(literal));
    }
    if literal.starts_with(rest) { None } else { Some(false) }
}

#[cold]
#[inline(never)]
fn bad<T>(kind: ErrorKind, at: usize) -> Result<T, Stop> {
    Err(Stop::Bad(Box::new(Fault { kind, at })))
}

fn forbidden<T>(what: &'static str, at: usize) -> Result<T, Stop> {
    bad(ErrorKind::Forbidden(what), at)
}

/// Something else was expected at `at`, which may be the end of the window.
#[cold]
#[inline(never)]
fn malformed<T>(window: &[u8], at: usize, expected: &'static str) -> Result<T, Stop> {
    let rest = &window[at..window.len().min(at + 4)];
    if rest.is_empty() {
        return Err(Stop::Starved(expected));
    }
    // A bound may cut the window inside a character; then the replacement character stands for it.
    let found = String::from_utf8_lossy(rest).chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
    bad(ErrorKind::Malformed { expected, found }, at)
}

#[cfg(test)]
mod tests;
