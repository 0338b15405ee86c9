//! What document types name outside of the document.

use std::rc::Rc;

use crate::encoding;

/// Finds external entities; nothing else is ever read.
pub trait Externals {
    /// Finds what a public and a system identifier name, seen from `base`, the URI of what holds the declaration.
    ///
    /// Errors: a sentence for the author: not there, or not allowed.
    fn find(&self, public: Option<&str>, system: &str, base: &str) -> Result<ExternalEntity, String>;
}

/// An external entity as it is stored.
#[derive(Clone, Debug)]
pub struct ExternalEntity {
    /// Names it in messages, and is the base of what it names itself.
    pub uri: String,
    /// Its bytes, in an encoding that they declare.
    pub bytes: Vec<u8>,
}

/// Finds nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoExternals;

impl Externals for NoExternals {
    fn find(&self, _: Option<&str>, system: &str, _: &str) -> Result<ExternalEntity, String> {
        Err(format!("{system:?} cannot be read: nothing beside this document is"))
    }
}

/// An external entity as it is read: without its text declaration, with line ends as XML has them.
pub(super) fn text_of(entity: &ExternalEntity) -> Result<Rc<str>, String> {
    let (bytes, _) = encoding::decode(None, &entity.bytes).map_err(|error| format!("{}: {error}", entity.uri))?;
    let text = std::str::from_utf8(&bytes).map_err(|_| format!("{}: bytes that are no text", entity.uri))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = match text.strip_prefix("<?xml") {
        Some(rest) if rest.starts_with([' ', '\t', '\r', '\n']) => match rest.split_once("?>") {
            Some((declaration, behind)) if declaration.contains("encoding") => behind,
            _ => {
                return Err(format!("{}: its text declaration has to name an encoding and to end with ?>", entity.uri));
            }
        },
        _ => text,
    };
    if let Some(foreign) = text.chars().find(|letter| !crate::characters::is_allowed(*letter)) {
        return Err(format!("{}: character U+{:04X} is not allowed", entity.uri, u32::from(foreign)));
    }
    Ok(normal_lines(text).into())
}

/// A text whose lines end with line feeds (XML 1.0 §2.11).
pub(super) fn normal_lines(text: &str) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() }
}
