//! What a stylesheet may read beside itself and its source document.

use myelin_xml::doctype::{ExternalEntity, Externals};

/// Finds what a stylesheet names; nothing else is ever read.
pub trait Resolver {
    /// Finds what `href` names, seen from `base`, the URI of what holds the name.
    ///
    /// Errors: a sentence for the stylesheet's author: not there, or not allowed.
    fn resolve(&self, href: &str, base: &str, wanted: Wanted) -> Result<Resource, String>;

    /// Finds what a document type names by a public and a system identifier; usually by the latter alone.
    ///
    /// Errors: as [`resolve`](Resolver::resolve).
    fn external(&self, _public: Option<&str>, system: &str, base: &str) -> Result<Resource, String> {
        self.resolve(system, base, Wanted::Entity)
    }
}

/// What a resolver gives to document types.
pub(crate) struct Entities<'r>(pub(crate) &'r dyn Resolver);

impl Externals for Entities<'_> {
    fn find(&self, public: Option<&str>, system: &str, base: &str) -> Result<ExternalEntity, String> {
        let found = self.0.external(public, system, base)?;
        Ok(ExternalEntity { uri: found.uri, bytes: found.bytes })
    }
}

/// For what somebody asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A stylesheet: `xsl:import`, `xsl:include`.
    Stylesheet,
    /// A document: `document()`, `doc()`.
    Document,
    /// A text: `unparsed-text()`.
    Text,
    /// A part of a document or of its document type: `<!ENTITY chapter SYSTEM "chapter.xml">`.
    Entity,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Names it in messages, is the base of what it names itself, and tells it from others.
    pub uri: String,
    /// As it is stored.
    pub bytes: Vec<u8>,
}

/// Finds nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoResolver;

impl Resolver for NoResolver {
    fn resolve(&self, href: &str, _: &str, _: Wanted) -> Result<Resource, String> {
        Err(format!("{href:?} cannot be read: this stylesheet may read nothing beside its source"))
    }
}
