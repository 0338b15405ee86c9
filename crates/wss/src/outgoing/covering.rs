//! What signatures cover: parts of the envelope, items of the header, tokens; also where they have become ciphertexts.

use std::collections::HashMap;

use myelin_xml::NodeId;

use super::encrypting::Encrypted;
use super::errors::unprotectable;
use super::header;
use super::message::Message;
use super::parts::{self, Part, Place};
use super::signing::{Covered, How};
use super::supporting::Supporting;
use crate::Error;
use crate::ids::Ids;
use crate::policy::Parts;

/// Something that a signature is to cover.
pub(super) enum Signed {
    /// An element of the envelope, and its id.
    Part(NodeId, String),
    /// An item of the header.
    Item(usize),
}

impl Message<'_> {
    /// Finds what is to be signed, with ids by which it can be referred to.
    pub(super) fn signed(&mut self, parts: &Parts) -> Result<Vec<Signed>, Error> {
        let found = parts::find(&self.document, &self.envelope, self.place, parts)?;
        let mut signed = Vec::with_capacity(found.len());
        let mut reused = false;
        for Part { node, place } in found {
            if let Place::Security(child) = place {
                signed.push(Signed::Item(header::order(&self.items)[child]));
                continue;
            }
            let count = self.document.node_count();
            signed.push(Signed::Part(node, parts::id_of(&mut self.document, node, &mut self.ids)?));
            reused |= self.document.node_count() == count;
        }
        if reused {
            // An id that stands twice would make receivers verify another element, or none.
            Ids::of(&self.document, &self.guard.settings.limits).map_err(unprotectable)?;
        }
        Ok(signed)
    }

    /// How a signature covers parts, of which some may have become ciphertexts.
    pub(super) fn covered(&self, signed: Vec<Signed>, encrypted: &HashMap<NodeId, Encrypted>) -> Vec<Covered> {
        let covered = signed.into_iter().map(|signed| match signed {
            Signed::Item(item) => self.item_covered(item),
            Signed::Part(node, id) => {
                let mut around = parts::ancestors(&self.document, node);
                let inside = around.find_map(|outer| {
                    encrypted.get(&outer).filter(|encrypted| !(encrypted.element_stays && outer == node))
                });
                Covered { id: inside.map_or(id, |ciphertext| ciphertext.id.clone()), how: How::Node(node) }
            }
        });
        covered.collect()
    }

    /// How a signature covers an item of the header.
    pub(super) fn item_covered(&self, item: usize) -> Covered {
        Covered { id: self.items[item].id.clone(), how: How::Item }
    }

    /// How a signature covers a supporting token, which may have become a ciphertext.
    pub(super) fn token_covered(&self, token: &Supporting<'_>) -> Option<Covered> {
        match (&token.covered, token.item) {
            (Some(Covered { how: How::Item, .. }), Some(item)) => Some(self.item_covered(item)),
            (covered, _) => covered.clone(),
        }
    }
}
