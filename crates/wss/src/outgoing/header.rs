//! The `Security` header as a list of texts, and the message around it.

use myelin_soap::{Envelope, Version};
use myelin_xml::{Document, Kind, NodeId, Replacements, write_replacing};

use super::errors::too_large;
use crate::policy::{Layout, Rampart};
use crate::vocabulary::WSSE;
use crate::writing::attribute;
use crate::{Error, memory};

/// A child of the `Security` header.
#[derive(Debug)]
pub(super) struct Item {
    /// Its place among the others.
    pub(super) slot: Slot,
    /// By which signatures refer to it; of encrypted items that of the `EncryptedData`.
    pub(super) id: String,
    /// Its own exclusive canonical form.
    pub(super) text: Vec<u8>,
}

/// The places of a header's children, first to last: whatever is used stands before what uses it, so that receivers
/// that read from front to back find each key, and undo the last protection first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    TimestampFirst,
    /// Binary tokens.
    Certificates,
    /// Encrypted and derived keys.
    Keys,
    /// What has to be decrypted before the signature is verified.
    Ciphertexts,
    /// Tokens of users and assertions, signature confirmations.
    Tokens,
    Signature,
    Endorsement,
    /// What says what may only be decrypted when the signature was verified.
    LaterKeys,
    /// What that is, of the header itself.
    LaterCiphertexts,
    TimestampLast,
}

impl Slot {
    /// Where a layout wants the timestamp.
    pub(super) fn of_timestamp(layout: Layout) -> Slot {
        match layout {
            Layout::LaxTimestampLast => Slot::TimestampLast,
            Layout::Strict | Layout::Lax | Layout::LaxTimestampFirst => Slot::TimestampFirst,
        }
    }
}

/// The attributes by which a header block is for the receiver of an actor or role.
const TARGETS: [&str; 2] = ["actor", "role"];

/// Finds the envelope, takes away the `Security` header that is in the way of ours, and marks the place for it.
///
/// Shape: the place is a comment, first in a header that is made where there is none.
/// Errors: no envelope with one body; a document without room.
pub(super) fn open(document: &mut Document, actor: Option<&str>) -> Result<(Envelope, NodeId), Error> {
    let mut envelope = Envelope::of(document).ok_or(Error::NotAnEnvelope)?;
    let body = envelope.body.ok_or(Error::NotAnEnvelope)?;
    let name = document.name(body);
    if document.children(envelope.element).filter(|&child| document.name(child) == name).count() != 1 {
        return Err(Error::NotAnEnvelope);
    }
    let header = envelope.header_or_new(document).map_err(too_large)?;
    let namespace = envelope.version.namespace();
    let is_ours = |document: &Document, block: NodeId| {
        let name = document.qname(block);
        let target = TARGETS.iter().find_map(|local| document.attribute(block, namespace, local));
        document.kind(block) == Kind::Element
            && (name.local, name.namespace) == ("Security", WSSE)
            && target.as_deref().filter(|target| !target.is_empty()) == actor
    };
    let ours: Vec<NodeId> = document.children(header).filter(|&block| is_ours(document, block)).collect();
    for block in ours {
        document.detach(block);
    }
    let place = document.create_comment("").map_err(too_large)?;
    match document.first_child(header) {
        Some(first) => document.insert_before(first, place),
        None => document.append(header, place),
    }
    .map_err(too_large)?;
    Ok((envelope, place))
}

/// The items in the order in which they stand in the header.
pub(super) fn order(items: &[Item]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&item| items[item].slot);
    order
}

/// Writes `wsse:Security` with its items in their order.
pub(super) fn write_security(items: &[Item], version: Version, rampart: &Rampart) -> Vec<u8> {
    let length: usize = items.iter().map(|item| item.text.len()).sum();
    let mut out = Vec::with_capacity(length + 512);
    out.extend_from_slice(b"<wsse:Security");
    attribute(&mut out, "xmlns:wsse", WSSE);
    attribute(&mut out, "xmlns:soap", version.namespace());
    let (target, yes) = match version {
        Version::Soap11 => ("soap:actor", "1"),
        Version::Soap12 => ("soap:role", "true"),
    };
    attribute(&mut out, target, rampart.actor.as_deref().unwrap_or_default());
    if rampart.must_understand {
        attribute(&mut out, "soap:mustUnderstand", yes);
    }
    out.push(b'>');
    for item in order(items) {
        out.extend_from_slice(&items[item].text);
    }
    out.extend_from_slice(b"</wsse:Security>");
    out
}

/// Writes the whole message: ciphertexts in the place of what they are of, the header in its own.
pub(super) fn write_message(
    document: &Document,
    place: NodeId,
    security: &[u8],
    ciphertexts: &[(NodeId, Ciphertext)],
) -> Vec<u8> {
    let mut replacements = Replacements::default();
    replacements.node(document, place, security);
    let mut length = document.text_bytes() + security.len() + 256;
    for (node, ciphertext) in ciphertexts {
        match ciphertext.of_content {
            true => replacements.content(document, *node, &ciphertext.text),
            false => replacements.node(document, *node, &ciphertext.text),
        }
        length = (length + ciphertext.text.len()).saturating_sub(ciphertext.plain_bytes);
    }
    let mut out = memory::buffer(length);
    write_replacing(document, document.document_node(), &replacements, &mut out);
    out
}

/// What takes the place of something that was encrypted.
#[derive(Debug)]
pub(super) struct Ciphertext {
    /// The element that is written.
    pub(super) text: Vec<u8>,
    /// Whether it is of what is in an element, whose tags stay.
    pub(super) of_content: bool,
    /// How long that was.
    pub(super) plain_bytes: usize,
}
