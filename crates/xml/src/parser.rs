//! The pull parser: bytes in any pieces become events.
//!
//! Each token is first parsed right where it stands in the input, as if all of it were there.
//! Only when the input ends inside it, [`resume`] remembers how far it was looked for its end,
//! so that a large token that comes in small pieces is not read again for each piece.

mod beginning;
mod dispatch;
mod events;
mod markup;
pub(crate) mod place;
mod resume;
mod stage;
mod stop;
mod stopped;
mod tag;
mod take;
mod text;
mod token;
mod window;

use crate::error::Error;
use crate::event::{Step, TagParts};
use crate::handler::{Handler, Reached};
use crate::names::{Atom, NameId, Names};
use crate::options::{DeclaredEncoding, Options};

use beginning::Beginning;
use place::Place;
use resume::Resume;
use stage::Stage;
use take::{Handing, TakeToken};
use token::DeclarationParts;

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
    /// How far any token may reach: what is UTF-8, and within the bound of a document.
    limit: usize,
    stage: Stage,
    doctype: bool,
    open: Vec<Open>,
    /// The name of a tag or attribute that was read last; empty before the first.
    last_name: Atom,
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
    beginning: Option<Box<Beginning>>,
    failed: Option<Box<Error>>,
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

/// Names that are kept for the next document; more would let one document slow down those behind it.
const KEPT_NAMES: usize = 4_096;

/// The same for their bytes.
const KEPT_NAMES_BYTES: usize = 256 << 10;

impl Parser {
    /// Ready for a first document.
    pub fn new(options: Options) -> Parser {
        Parser::with_names(options, Names::new())
    }

    /// Ready for a first document, with names (and their memory) that are known already:
    /// they may come from programs, and from parsers that agree on [`Options::namespaces`].
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
            limit: 0,
            invalid: false,
            stage: Stage::Start,
            doctype: false,
            open: Vec::new(),
            last_name: Atom::EMPTY,
            bindings: Parser::outer_bindings(),
            hidden: Vec::new(),
            parts: TagParts::default(),
            declaration: DeclarationParts::default(),
            last_use: Vec::new(),
            tag: 0,
            resume: None,
            beginning: None,
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
        let mut first = None;
        Ok(match (self.run(input, complete, &mut first)?, first) {
            (_, Some(token)) => Step::Event(self.event(token, input)),
            (Reached::End, None) => Step::End,
            (Reached::More | Reached::Enough, None) => Step::More,
        })
    }

    /// Gives events to a handler, until it has enough.
    ///
    /// Shape: as calls of [`next`](Parser::next), with which it can take turns. Events do not go through memory, so this
    /// is the faster way to take many.
    /// Errors: as there.
    #[inline]
    pub fn read(&mut self, input: &[u8], complete: bool, handler: &mut impl Handler) -> Result<Reached, Error> {
        self.run(input, complete, &mut Handing(handler))
    }

    /// Gives tokens to a taker, until it has enough.
    #[inline(always)]
    fn run(&mut self, input: &[u8], complete: bool, taker: &mut impl TakeToken) -> Result<Reached, Error> {
        loop {
            match self.advance(input, complete, taker) {
                Ok(()) => return Ok(Reached::Enough),
                Err(stop) => {
                    if let Some(reached) = self.stopped(stop, input, complete)? {
                        return Ok(reached);
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
        self.set_limit();
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
        self.last_name = Atom::EMPTY;
        (self.base, self.at, self.seen, self.checked, self.limit) = (0, 0, 0, 0, 0);
        self.place = Place::default();
        self.stage = Stage::Start;
        (self.invalid, self.doctype) = (false, false);
        (self.resume, self.failed) = (None, None);
    }

    /// Bindings, uses and the beginning are by numbers of names that are no longer valid.
    fn forget_names(&mut self) {
        self.bindings = Parser::outer_bindings();
        self.last_use = Vec::new();
        self.beginning = None;
    }

    /// What is bound before any declaration: `xml`, and no prefix to no namespace.
    fn outer_bindings() -> Vec<Binding> {
        let mut bindings = vec![Binding::default(); Atom::XML.index() + 1];
        bindings[Atom::EMPTY.index()].namespace = Some(Atom::EMPTY);
        bindings[Atom::XML.index()].namespace = Some(Atom::XML_NAMESPACE);
        bindings
    }
}

#[cfg(test)]
mod tests;
