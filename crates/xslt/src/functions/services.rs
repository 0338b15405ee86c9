//! What functions ask of the transformation they run in.

use myelin_xml::Document;
use myelin_xpath::{Atomic, Error, Expression, Item, Moment, NodeRef, Value};

use crate::program::{CallTarget, Program, Scope};
use crate::resolver::Resource;

/// A transformation as functions see it; `'a`: as long as it runs.
pub(crate) trait Services<'a> {
    /// The program that runs.
    fn program(&self) -> &'a Program;

    /// `current-dateTime()`, if somebody said what time it is.
    fn now(&self) -> Option<Moment>;

    /// Counts bytes that a function builds.
    ///
    /// Errors: [`Error::Bytes`] beyond the limit.
    fn build(&self, bytes: usize) -> Result<(), Error>;

    /// Counts nodes that a function looks at.
    ///
    /// Errors: [`Error::Steps`] beyond the limit.
    fn step(&self, nodes: u64) -> Result<(), Error>;

    /// Keeps a document that a function has made; its memory is counted here.
    ///
    /// Errors: [`Error::Bytes`] beyond the limit.
    fn keep(&self, document: Document) -> Result<&'a Document, Error>;

    /// The document that `href` names, seen from `base`, without the white space that the stylesheet strips; the same
    /// one whenever it is asked for. An empty `href` is the document at `base`, of a stylesheet too.
    ///
    /// Errors: `FODC0002` where it cannot be read, and the resolver's sentence.
    fn load(&self, href: &str, base: &str) -> Result<&'a Document, Error>;

    /// The text that `href` names, as it is stored.
    ///
    /// Errors: `FOUT1170` and the resolver's sentence.
    fn read(&self, href: &str, base: &str) -> Result<Resource, Error>;

    /// The base URI of a node: that of its document, changed by each `xml:base` above it; `None`: it has none.
    fn base_uri(&self, node: NodeRef<'a>) -> Option<String>;

    /// A number that only this document has in this transformation.
    fn document_number(&self, document: &'a Document) -> u32;

    /// Whether the transformation itself has made this document.
    fn is_temporary(&self, document: &'a Document) -> bool;

    /// The nodes below `top` (a document node or whatever is detached) that have this value of a key, an index in
    /// [`Program::keys`], in document order.
    fn keyed(&'a self, key: u32, value: &Atomic<'a>, top: NodeRef<'a>) -> Result<Value<'a>, Error>;

    /// `current-group()`; `None`: no group is worked on.
    fn group(&self) -> Option<Value<'a>>;

    /// `current-grouping-key()`; `None`: there is no group, or it has no key.
    fn grouping_key(&self) -> Option<Value<'a>>;

    /// What a group of `xsl:analyze-string` has captured; 0: the whole match. `None`: nothing.
    fn captured(&self, group: usize) -> Option<String>;

    /// An expression that is known only now, compiled where `scope` says: by
    /// [`dynamic::compile`](super::dynamic::compile) when it is asked for first, and then kept.
    fn expression(&'a self, text: &str, scope: &'a Scope) -> Result<&'a Expression, Error>;

    /// A number for what such an expression calls, which the host's `call` understands.
    fn declare(&self, target: CallTarget, scope: &'a Scope) -> u32;

    /// Runs such an expression. It sees global variables only; expressions within expressions are bounded by the
    /// depth of the transformation.
    fn run(
        &'a self,
        expression: &'a Expression,
        item: Option<Item<'a>>,
        position: u64,
        size: u64,
    ) -> Result<Value<'a>, Error>;
}
