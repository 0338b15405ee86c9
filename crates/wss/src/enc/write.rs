//! Writing `xenc:EncryptedData` and `xenc:EncryptedKey` as texts that are their own exclusive canonical form.

use super::{Form, KeyMethod, method};
use crate::algorithm::BlockCipher;
use crate::binary;
use crate::vocabulary::{DS, XENC};
use crate::writing::{attribute, element, escape};

const START: &[u8] = b" xmlns:xenc=\"http://www.w3.org/2001/04/xmlenc#\"";

/// A new `xenc:EncryptedData`.
#[derive(Clone, Copy, Debug)]
pub struct NewData<'a> {
    /// Its `Id`; empty for none.
    pub id: &'a str,
    /// What was encrypted.
    pub form: Form,
    /// How.
    pub cipher: BlockCipher,
    /// The content of `ds:KeyInfo`, which declares its prefixes itself save for `ds` and `xenc`; empty for none.
    pub key_info: &'a [u8],
}

/// A new `xenc:EncryptedKey`.
#[derive(Clone, Copy, Debug)]
pub struct NewKey<'a> {
    /// Its `Id`; empty for none.
    pub id: &'a str,
    /// How it is encrypted.
    pub method: KeyMethod,
    /// The content of `ds:KeyInfo`, as in [`NewData`].
    pub key_info: &'a [u8],
    /// The ids of what is encrypted with it, for a list inside of it.
    pub references: &'a [&'a str],
}

impl NewData<'_> {
    /// How many bytes the element takes at most, with its ciphertext in base64 and `key_info` of so many bytes.
    pub(crate) fn bytes(ciphertext: usize, key_info: usize) -> usize {
        ciphertext.div_ceil(3) * 4 + key_info + 512
    }

    /// Writes the element.
    pub fn write(&self, ciphertext: &[u8], out: &mut Vec<u8>) {
        out.reserve(NewData::bytes(ciphertext.len(), self.key_info.len()));
        let kind = match self.form {
            Form::Element => "http://www.w3.org/2001/04/xmlenc#Element",
            Form::Content => "http://www.w3.org/2001/04/xmlenc#Content",
            Form::Octets => "",
        };
        out.extend_from_slice(b"<xenc:EncryptedData");
        out.extend_from_slice(START);
        attribute(out, "Id", self.id);
        attribute(out, "Type", kind);
        out.push(b'>');
        element(out, "xenc:EncryptionMethod", &[("Algorithm", self.cipher.uri())], |_| {});
        key_info_and_value(self.key_info, ciphertext, out);
        out.extend_from_slice(b"</xenc:EncryptedData>");
    }
}

impl NewKey<'_> {
    /// Writes the element.
    pub fn write(&self, ciphertext: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(b"<xenc:EncryptedKey");
        out.extend_from_slice(START);
        attribute(out, "Id", self.id);
        out.push(b'>');
        method::write_key_method(out, self.method);
        key_info_and_value(self.key_info, ciphertext, out);
        if !self.references.is_empty() {
            element(out, "xenc:ReferenceList", &[], |out| data_references(self.references, out));
        }
        out.extend_from_slice(b"</xenc:EncryptedKey>");
    }
}

/// Writes an `xenc:ReferenceList` that stands alone.
pub fn reference_list(ids: &[&str], out: &mut Vec<u8>) {
    element(out, "xenc:ReferenceList", &[("xmlns:xenc", XENC)], |out| data_references(ids, out));
}

fn data_references(ids: &[&str], out: &mut Vec<u8>) {
    for id in ids {
        out.extend_from_slice(b"<xenc:DataReference URI=\"#");
        escape(out, id);
        out.extend_from_slice(b"\"></xenc:DataReference>");
    }
}

fn key_info_and_value(key_info: &[u8], ciphertext: &[u8], out: &mut Vec<u8>) {
    if !key_info.is_empty() {
        element(out, "ds:KeyInfo", &[("xmlns:ds", DS)], |out| out.extend_from_slice(key_info));
    }
    out.extend_from_slice(b"<xenc:CipherData><xenc:CipherValue>");
    binary::encode(ciphertext, out);
    out.extend_from_slice(b"</xenc:CipherValue></xenc:CipherData>");
}
