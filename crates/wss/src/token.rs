//! Tokens as they stand in a message: read strictly, and not yet believed.

pub(crate) mod binary;
pub(crate) mod derived;
pub(crate) mod saml;
pub(crate) mod timestamp;
pub(crate) mod username;

use std::borrow::Cow;

use myelin_xml::{Document, NodeId};

use crate::structure::text;
use crate::{Limits, Refusal, Rule};

/// The text of an element, without white space around it.
///
/// Errors: `Limit` where it is longer than names and identifiers are, `UnknownElement` where it is no text.
pub(crate) fn short_text<'a>(
    document: &'a Document,
    element: NodeId,
    limits: &Limits,
) -> Result<Cow<'a, str>, Refusal> {
    let space = [' ', '\t', '\n', '\r'];
    let text = match text(document, element)? {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches(space)),
        Cow::Owned(text) => Cow::Owned(text.trim_matches(space).to_owned()),
    };
    if text.len() > limits.short_text {
        let local = document.qname(element).local;
        return Err(Refusal::new(Rule::Limit, format!("{local} of {} bytes", text.len())));
    }
    Ok(text)
}
