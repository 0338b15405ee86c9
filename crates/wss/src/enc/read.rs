//! Reading `xenc:EncryptedData`, `xenc:EncryptedKey` and `xenc:ReferenceList`, as their schemas have them.

use myelin_xml::{Document, NodeId};

use super::{EncryptedData, EncryptedKey, Form, method};
use crate::binary;
use crate::error::{Refusal, Rule};
use crate::limits::Limits;
use crate::structure::{Children, required_attribute, text};
use crate::vocabulary::{DS, XENC};

/// A key encrypted with RSA of 16,384 bits; longer ones are for no key that is accepted.
const KEY_BYTES: usize = 2 << 10;

impl EncryptedData {
    /// Reads an `xenc:EncryptedData`.
    ///
    /// Errors: `Malformed`, `UnknownElement`, `UnknownAlgorithm`, `ExternalReference` for a `CipherReference`; the
    /// sender's.
    /// Source: XML Encryption 1.1 §3.4.
    pub fn read(document: &Document, element: NodeId, limits: &Limits) -> Result<EncryptedData, Refusal> {
        let form = match document.attribute(element, "", "Type").as_deref().and_then(|uri| uri.strip_prefix(XENC)) {
            Some("Element") => Form::Element,
            Some("Content") => Form::Content,
            _ => Form::Octets,
        };
        let mut children = Children::of(document, element);
        let cipher = method::cipher(document, children.require(XENC, "EncryptionMethod")?)?;
        let key_info = children.take(DS, "KeyInfo");
        let value = cipher_value(document, &mut children)?;
        children.end()?;
        let id = short(document, element, "Id", limits)?;
        Ok(EncryptedData { element, id, form, cipher, key_info, value })
    }

    /// The ciphertext.
    ///
    /// Errors: `Malformed`; the sender's.
    pub fn ciphertext(&self, document: &Document) -> Result<Vec<u8>, Refusal> {
        // What is decoded is shorter than its text, which is in memory already.
        binary::decode(document, self.value, usize::MAX)
    }
}

impl EncryptedKey {
    /// Reads an `xenc:EncryptedKey`.
    ///
    /// Errors: as for [`EncryptedData::read`], and `Limit`.
    /// Source: XML Encryption 1.1 §3.5.1.
    pub fn read(document: &Document, element: NodeId, limits: &Limits) -> Result<EncryptedKey, Refusal> {
        let mut children = Children::of(document, element);
        let method = method::key_method(document, children.require(XENC, "EncryptionMethod")?)?;
        let key_info = children.take(DS, "KeyInfo");
        let value = cipher_value(document, &mut children)?;
        let references = match children.take(XENC, "ReferenceList") {
            Some(list) => references(document, list, limits)?,
            None => Vec::new(),
        };
        let carried_name = match children.take(XENC, "CarriedKeyName") {
            Some(name) => Some(text(document, name)?.into_owned()),
            None => None,
        };
        children.end()?;
        let id = short(document, element, "Id", limits)?;
        let recipient = short(document, element, "Recipient", limits)?;
        Ok(EncryptedKey { element, id, recipient, method, key_info, references, carried_name, value })
    }

    /// The encrypted key.
    ///
    /// Errors: `Malformed`, `Limit` for one that no key can decrypt; the sender's.
    pub fn ciphertext(&self, document: &Document) -> Result<Vec<u8>, Refusal> {
        binary::decode(document, self.value, KEY_BYTES)
    }
}

/// The ids that an `xenc:ReferenceList` says are encrypted.
///
/// Errors: `Malformed`, `UnknownElement`, `ExternalReference`, `Limit`; the sender's.
/// Source: XML Encryption 1.1 §3.6.
pub fn references(document: &Document, list: NodeId, limits: &Limits) -> Result<Vec<String>, Refusal> {
    let mut children = Children::of(document, list);
    let mut ids = Vec::new();
    while let Some(reference) = children.take(XENC, "DataReference") {
        if ids.len() >= limits.encrypted_data {
            return Err(Refusal::new(Rule::Limit, format!("more than {} encrypted parts", limits.encrypted_data)));
        }
        let uri = required_attribute(document, reference, "URI")?;
        match uri.strip_prefix('#') {
            Some(id) if !id.is_empty() && id.len() <= limits.short_text => ids.push(id.to_owned()),
            _ => return Err(Refusal::new(Rule::ExternalReference, uri.into_owned())),
        }
        Children::of(document, reference).end()?;
    }
    children.end()?;
    Ok(ids)
}

/// Takes `CipherData` and, as nothing hangs on them, the properties behind it.
fn cipher_value(document: &Document, children: &mut Children<'_>) -> Result<NodeId, Refusal> {
    let data = children.require(XENC, "CipherData")?;
    children.take(XENC, "EncryptionProperties");
    let mut children = Children::of(document, data);
    if children.take(XENC, "CipherReference").is_some() {
        return Err(Refusal::new(Rule::ExternalReference, "a ciphertext by reference"));
    }
    let value = children.require(XENC, "CipherValue")?;
    children.end()?;
    Ok(value)
}

fn short(document: &Document, element: NodeId, local: &str, limits: &Limits) -> Result<Option<String>, Refusal> {
    let value = document.attribute(element, "", local);
    if value.as_ref().is_some_and(|value| value.len() > limits.short_text) {
        return Err(Refusal::new(Rule::Limit, format!("{local} of more than {} bytes", limits.short_text)));
    }
    Ok(value.map(std::borrow::Cow::into_owned))
}
