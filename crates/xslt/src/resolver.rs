//! What a stylesheet may read beside itself and its source document.

/// Finds what a stylesheet names; nothing else is ever read.
pub trait Resolver {
    /// Finds what `href` names, seen from `base`, the URI of what holds the name.
    ///
    /// Errors: a sentence for the stylesheet's author: not there, or not allowed.
    fn resolve(&self, href: &str, base: &str, wanted: Wanted) -> Result<Resource, String>;
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
