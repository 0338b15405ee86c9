//! What functions ask of the transformation they run in.

use myelin_java_text::decimal_format::Symbols;
use myelin_xml::Document;
use myelin_xpath::{Atomic, Error, Expression, Item, Moment, NodeRef, Value};

use crate::name::ExpandedName;
use crate::resolver::Resource;
use crate::scope::Scope;
use crate::transformation::Transformation;

/// A transformation as functions see it; `'a`: as long as it runs.
pub(crate) trait Services<'a> {
    /// Where the result goes that is being written; `None`: nobody knows, or it is part of a value.
    fn output_uri(&self) -> Option<String>;

    /// The group that a merge works on, or those of its items that come from one source.
    ///
    /// Errors: `XTDE3480` where nothing is merged, `XTDE3490` where there is no such source.
    fn merge_group(&self, source: Option<&str>) -> Result<Value<'a>, Error>;

    /// The key of that group.
    ///
    /// Errors: `XTDE3510` where nothing is merged.
    fn merge_key(&self) -> Result<Value<'a>, Error>;

    /// The value of an accumulator before an item, or behind it.
    ///
    /// Errors: `XTDE3340` and those that follow it.
    fn accumulated(&'a self, name: &ExpandedName, item: Option<&Item<'a>>, behind: bool) -> Result<Value<'a>, Error>;

    /// Whether XSLT has an element of that local name, and this crate offers it.
    fn has_element(&self, local: &str) -> bool;

    /// Whether the stylesheet, the library or XPath has a function of that name, for so many arguments if that is said.
    fn has_function(&self, name: &ExpandedName, count: Option<f64>) -> bool;

    /// The decimal format of that name; the empty name is that of the one without.
    fn decimal_format(&self, name: &ExpandedName) -> Option<&'a Symbols>;

    /// The number of the key of that name, and whether all values of a node are one key together.
    fn key(&self, name: &ExpandedName) -> Option<(u32, bool)>;

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

    /// The nodes below `top` (a document node or whatever is detached) that have this value of a key, by its
    /// number, in document order.
    fn keyed(&'a self, key: u32, value: &Atomic<'a>, top: NodeRef<'a>) -> Result<Value<'a>, Error>;

    /// `current-group()`; `None`: no group is worked on.
    fn group(&self) -> Option<Value<'a>>;

    /// `current-grouping-key()`; `None`: there is no group, or it has no key.
    fn grouping_key(&self) -> Option<Value<'a>>;

    /// What a group of `xsl:analyze-string` has captured; 0: the whole match. `None`: nothing.
    fn captured(&self, group: usize) -> Option<String>;

    /// An expression that is known only now, compiled where `scope` says when it is asked for first,
    /// and then kept. It sees global variables, and those of the frame that `locals` has with their slots.
    fn expression(
        &'a self,
        text: &str,
        scope: &'a Scope,
        locals: &'a [(ExpandedName, u32)],
    ) -> Result<&'a Expression, Error>;

    /// Runs another stylesheet: its results by their URIs, the own one first.
    ///
    /// Errors: `FOXT0002` and `FOXT0003`, those of the other transformation, and the bounds of this one.
    fn transform(&'a self, _: Transformation<'a>) -> Result<Vec<(String, Value<'a>)>, Error> {
        Err(Error::value("FOXT0004", "transform() is there in stylesheets only"))
    }

    /// Runs such an expression; expressions within expressions are bounded by the
    /// depth of the transformation.
    fn run(
        &'a self,
        expression: &'a Expression,
        item: Option<Item<'a>>,
        position: u64,
        size: u64,
    ) -> Result<Value<'a>, Error>;
}
