//! What a transformation is given, and what it tells beside its result.

use std::ops::Range;

use myelin_xpath::Moment;

use crate::output::OutputProperties;
use crate::place::Place;
use crate::resolver::{NoResolver, Resolver};

/// What a transformation runs with.
pub struct Options<'o> {
    /// What the result is to be.
    pub form: Form,
    /// Values of the stylesheet's parameters; those it does not declare are ignored.
    pub parameters: &'o [Parameter],
    /// The URI of the source: its base, and what `document()` finds again; `None` if nothing is known of it.
    pub source_uri: Option<&'o str>,
    /// What `document()` and its like may read.
    pub resolver: &'o dyn Resolver,
    /// How much it may do.
    pub limits: Limits,
    /// `current-dateTime()`; `None`: asking is an error.
    pub now: Option<Moment>,
    /// Asked from time to time: whether the time for it is over.
    pub expired: Option<&'o dyn Fn() -> bool>,
    /// The mode to begin in: `local` or `{namespace}local`.
    pub initial_mode: Option<&'o str>,
    /// The template to begin with instead of the one that matches the source.
    pub initial_template: Option<&'o str>,
    /// The public function to call instead, without arguments.
    pub initial_function: Option<&'o str>,
    /// Whether it is an error where several templates match a node as well, in modes that do not say so themselves: the
    /// last one is taken otherwise.
    pub fails_on_multiple_match: bool,
    /// Whether there is no source: the document is there for its form alone, and asking for the context item is an error.
    pub source_is_absent: bool,
    /// The URI that the result goes to: the base of the URIs of `xsl:result-document`; `None` if nothing is known of it.
    pub output_uri: Option<&'o str>,
    /// Whether the stylesheet may have results beside its own, which are handed to the caller (see
    /// [`Outcome::results`]).
    pub other_results: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            form: Form::Document,
            parameters: &[],
            source_uri: None,
            resolver: &NoResolver,
            limits: Limits::default(),
            now: None,
            expired: None,
            initial_mode: None,
            initial_template: None,
            initial_function: None,
            fails_on_multiple_match: false,
            source_is_absent: false,
            output_uri: None,
            other_results: false,
        }
    }
}

/// What a result is to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// A document, written as the stylesheet says.
    #[default]
    Document,
    /// An element to be put into a document: XML in UTF-8 without a declaration or document type, whatever the
    /// stylesheet says, save that method `text` gives text.
    Element,
    /// The same for the place of the source: what the source's ancestors declare is in scope there.
    InPlace,
}

/// A value for a parameter of the stylesheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// `local` or `{namespace}local`.
    pub name: String,
    /// Its value.
    pub value: ParameterValue,
}

/// What a parameter is set to.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// A text, as it is.
    Text(String),
    /// An expression, evaluated with the source as context item.
    Expression(String),
}

/// How much a transformation may do; each bound has an error that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Templates, functions and other bodies within each other.
    pub depth: u32,
    /// Instructions run, and nodes that expressions visit.
    pub instructions: u64,
    /// Bytes of the result.
    pub output_bytes: usize,
    /// Bytes of temporary trees, variables and texts that are built; and, beside them, of stack beyond the thread's own.
    pub memory_bytes: u64,
}

impl Default for Limits {
    /// 5,000 levels, 50 million instructions and nodes, 64 MiB of result, 256 MiB of memory.
    fn default() -> Limits {
        Limits { depth: 5_000, instructions: 50_000_000, output_bytes: 64 << 20, memory_bytes: 256 << 20 }
    }
}

/// What a transformation tells beside its result.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What `xsl:message` said, in order; at most the first thousand.
    pub messages: Vec<Message>,
    /// Where the first element at the top level stands in the bytes that were written to, from `<` to behind its end
    /// tag; `None` for method `text`.
    pub root: Option<Range<usize>>,
    /// Whether text stands at the top level that is not white space alone.
    pub loose_text: bool,
    /// The results beside its own, in the order they were ended.
    pub results: Vec<ResultDocument>,
    /// How its own result was written, where an `xsl:result-document` wrote it; `None`: as the stylesheet says.
    pub output: Option<OutputProperties>,
}

/// What an `xsl:result-document` made.
#[derive(Clone, Debug)]
pub struct ResultDocument {
    /// Where it goes: its `href`, seen from [`Options::output_uri`].
    pub uri: String,
    /// What is written there.
    pub bytes: Vec<u8>,
    /// How it was written.
    pub properties: OutputProperties,
}

/// What an `xsl:message` said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its content as XML.
    pub text: String,
    /// The instruction.
    pub place: Place,
}
