//! XML Encryption on a tree: what is encrypted and how, plaintexts put in their places, and how ciphertexts are written.
//!
//! Nothing here knows of SOAP or of where keys come from. Decrypting is splicing: a plaintext takes the place of its
//! `EncryptedData` in the document's source, and the whole is parsed again with the document's own limits, so that
//! what was encrypted is judged as what was not.
//!
//! Source: XML Encryption 1.1.

mod method;
mod read;
mod splice;
mod write;

#[cfg(test)]
mod tests;

use myelin_xml::NodeId;

use crate::algorithm::{AesKeyWrap, BlockCipher, KeyTransport};

pub(crate) use method::transport_uri;
pub use read::references;
pub use splice::{Piece, Places, splice, splice_in};
pub use write::{NewData, NewKey, reference_list};

/// An `xenc:EncryptedData`.
#[derive(Clone, Debug)]
pub struct EncryptedData {
    /// The element.
    pub element: NodeId,
    /// Its `Id`.
    pub id: Option<String>,
    /// What it holds.
    pub form: Form,
    /// How it is encrypted.
    pub cipher: BlockCipher,
    /// `ds:KeyInfo`.
    pub key_info: Option<NodeId>,
    /// `xenc:CipherValue`.
    value: NodeId,
}

/// What was encrypted (`Type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One element.
    Element,
    /// Any content of an element.
    Content,
    /// Bytes that are not XML, or not said to be.
    Octets,
}

/// An `xenc:EncryptedKey`.
#[derive(Clone, Debug)]
pub struct EncryptedKey {
    /// The element.
    pub element: NodeId,
    /// Its `Id`.
    pub id: Option<String>,
    /// For whom it is (`Recipient`): a hint that nothing hangs on.
    pub recipient: Option<String>,
    /// How it is encrypted.
    pub method: KeyMethod,
    /// `ds:KeyInfo`: which key decrypts it.
    pub key_info: Option<NodeId>,
    /// The ids of what it encrypts, as far as it says.
    pub references: Vec<String>,
    /// The name that it gives to the key in it.
    pub carried_name: Option<String>,
    /// `xenc:CipherValue`.
    value: NodeId,
}

/// How a key is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyMethod {
    /// For the owner of a key pair.
    Transport(KeyTransport),
    /// With a key that both sides have.
    Wrap(AesKeyWrap),
}
