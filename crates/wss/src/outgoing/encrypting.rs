//! Encryption of parts of the envelope and of items of the header.

use std::collections::{BTreeSet, HashMap, HashSet};

use myelin_xml::{NodeId, Replacements, write_replacing};

use super::errors::cryptography;
use super::header::{self, Ciphertext, Item, Slot};
use super::message::Message;
use super::parts::{self, Part, Place};
use super::session::Encryption;
use super::supporting::Supporting;
use crate::crypto::encrypt_with;
use crate::enc::{Form, NewData, reference_list};
use crate::policy::Common;
use crate::vocabulary::{WSSE11, WSU};
use crate::writing::element;
use crate::{Error, memory};

/// A part that was encrypted.
pub(super) struct Encrypted {
    /// Whether the element itself is still there, with its content encrypted.
    pub(super) element_stays: bool,
    /// Of the element that took the place of what is encrypted.
    pub(super) id: String,
}

impl Message<'_> {
    /// Encrypts the parts and tokens of the policy, with ids joining `references`.
    ///
    /// Shape: the ciphertexts by the nodes that they are of.
    pub(super) fn encrypt_all(
        &mut self,
        common: &Common,
        supporting: &[Supporting<'_>],
        references: &mut Vec<String>,
    ) -> Result<HashMap<NodeId, Encrypted>, Error> {
        let mut encrypted = HashMap::new();
        if self.alternative.binding.encryption_token(self.direction).is_none() {
            return Ok(encrypted);
        }
        let tokens = supporting.iter().map(|token| &token.set.encrypted_parts);
        let mut found: Vec<Part> = Vec::new();
        for parts in std::iter::once(&self.alternative.encrypted).chain(tokens) {
            found.extend(parts::find(&self.document, &self.envelope, self.place, parts)?);
        }
        let mut seen = HashSet::new();
        found.retain(|part| seen.insert(part.node));
        let tokens = supporting.iter().filter(|token| token.set.encrypted);
        let mut items: BTreeSet<usize> = tokens.filter_map(|token| token.item).collect();
        let order = header::order(&self.items);
        for part in parts::outermost(&self.document, found) {
            if let Place::Security(child) = part.place {
                items.insert(order[child]);
            } else {
                let encryption = self.encryption(common)?;
                encrypted.insert(part.node, self.encrypt_part(part, &encryption, references)?);
            }
        }
        for item in items {
            let encryption = self.encryption(common)?;
            self.encrypt_item(item, &encryption, references)?;
            if common.encrypt_before_signing {
                self.items[item].slot = Slot::LaterCiphertexts;
            }
        }
        Ok(encrypted)
    }

    /// Encrypts a part of the envelope outside of the header's items; the id of the `EncryptedData` joins `references`.
    fn encrypt_part(
        &mut self,
        part: Part,
        encryption: &Encryption,
        references: &mut Vec<String>,
    ) -> Result<Encrypted, Error> {
        let element_stays = matches!(part.place, Place::Body | Place::Content);
        let form = if element_stays { Form::Content } else { Form::Element };
        let mut plain_bytes = 0;
        let plain = |out: &mut Vec<u8>| {
            let (start, none) = (out.len(), Replacements::default());
            if element_stays {
                for child in self.document.children(part.node) {
                    write_replacing(&self.document, child, &none, out);
                }
            } else {
                write_replacing(&self.document, part.node, &none, out);
            }
            plain_bytes = out.len() - start;
        };
        let id = self.ids.next("ED");
        let mut text = encrypted(&id, form, encryption, self.document.source().len(), plain)?;
        references.push(id.clone());
        let mut outer = id;
        if part.place == Place::Header && self.alternative.wss.version_11 {
            outer = self.ids.next("EH");
            text = self.encrypted_header(part.node, &outer, &text);
        }
        let ciphertext = Ciphertext { text, of_content: element_stays, plain_bytes };
        self.ciphertexts.push((part.node, ciphertext));
        Ok(Encrypted { element_stays, id: outer })
    }

    /// Encrypts an item of the header; the id of the `EncryptedData`, which is the item's from now on, joins
    /// `references`.
    pub(super) fn encrypt_item(
        &mut self,
        item: usize,
        encryption: &Encryption,
        references: &mut Vec<String>,
    ) -> Result<(), Error> {
        let plain = std::mem::take(&mut self.items[item].text);
        let id = self.ids.next("ED");
        let text = encrypted(&id, Form::Element, encryption, plain.len(), |out| out.extend_from_slice(&plain))?;
        references.push(id.clone());
        let Item { id: known, text: place, .. } = &mut self.items[item];
        (*known, *place) = (id, text);
        Ok(())
    }

    /// Puts an encrypted header block into an `EncryptedHeader`, which shows for whom the block is.
    ///
    /// Source: WS-Security 1.1 §9.3.
    fn encrypted_header(&self, block: NodeId, id: &str, data: &[u8]) -> Vec<u8> {
        let namespace = self.envelope.version.namespace();
        let shown = ["actor", "mustUnderstand", "relay", "role"].map(|local| {
            let value = self.document.attribute(block, namespace, local);
            (format!("soap:{local}"), value.unwrap_or_default().into_owned())
        });
        let mut attributes =
            vec![("xmlns:soap", namespace), ("xmlns:wsse11", WSSE11), ("xmlns:wsu", WSU), ("wsu:Id", id)];
        attributes.extend(shown.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let mut out = Vec::with_capacity(data.len() + 512);
        element(&mut out, "wsse11:EncryptedHeader", &attributes, |out| out.extend_from_slice(data));
        out
    }

    /// Puts a list of what is encrypted with a key into the header, unless nothing is.
    pub(super) fn list(&mut self, references: &[String], slot: Slot) {
        if !references.is_empty() {
            let references: Vec<&str> = references.iter().map(String::as_str).collect();
            let mut text = Vec::new();
            reference_list(&references, &mut text);
            self.items.push(Item { slot, id: String::new(), text });
        }
    }
}

/// Writes an `EncryptedData` of what `plain` writes, of about so many bytes.
fn encrypted(
    id: &str,
    form: Form,
    encryption: &Encryption,
    bytes: usize,
    plain: impl FnOnce(&mut Vec<u8>),
) -> Result<Vec<u8>, Error> {
    let Encryption { key, cipher, key_info } = encryption;
    // The vector in front, the tag or the padding behind.
    let mut ciphertext = memory::buffer(bytes + 64);
    encrypt_with(*cipher, key.as_ref().as_ref(), &mut ciphertext, plain).map_err(cryptography)?;
    let mut text = memory::buffer(NewData::bytes(ciphertext.len(), key_info.len()));
    NewData { id, form, cipher: *cipher, key_info }.write(&ciphertext, &mut text);
    memory::keep_buffer(ciphertext);
    Ok(text)
}
