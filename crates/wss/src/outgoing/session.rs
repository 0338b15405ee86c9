//! Keys that encrypt a message, and what says so in it.

use std::sync::Arc;

use super::reference::{Pointer, token_reference};
use crate::algorithm::BlockCipher;
use crate::crypto::Secret;
use crate::enc::{KeyMethod, NewKey};

/// A key that encrypts, and from which others may be derived.
pub(super) struct SessionKey {
    pub(super) secret: Arc<Secret>,
    pub(super) origin: Origin,
}

/// Where the receiver has a session key from.
pub(super) enum Origin {
    /// From an `EncryptedKey` of this message.
    Message {
        id: String,
        method: KeyMethod,
        /// The key, encrypted.
        value: Vec<u8>,
        /// Whose key decrypts it: the content of `ds:KeyInfo`.
        key_info: Vec<u8>,
    },
    /// From the request, where this was the SHA-1 of the encrypted key.
    Request([u8; 20]),
}

impl SessionKey {
    /// How something in the message refers to the key: the content of `ds:KeyInfo`.
    pub(super) fn reference(&self) -> Vec<u8> {
        match &self.origin {
            Origin::Message { id, .. } => token_reference("", &Pointer::EncryptedKey(id)),
            Origin::Request(sha1) => token_reference("", &Pointer::EncryptedKeySha1(sha1)),
        }
    }

    /// The id of the `EncryptedKey` of this message.
    pub(super) fn id(&self) -> Option<&str> {
        match &self.origin {
            Origin::Message { id, .. } => Some(id),
            Origin::Request(_) => None,
        }
    }

    /// The `EncryptedKey` with its id and what is encrypted with it; `None` where the receiver knows the key.
    pub(super) fn element(&self, references: &[&str]) -> Option<(String, Vec<u8>)> {
        let Origin::Message { id, method, value, key_info } = &self.origin else { return None };
        let mut text = Vec::new();
        NewKey { id, method: *method, key_info, references }.write(value, &mut text);
        Some((id.clone(), text))
    }
}

/// A key with all that says which one it is.
pub(super) struct Encryption {
    pub(super) key: Arc<Secret>,
    pub(super) cipher: BlockCipher,
    /// The content of `ds:KeyInfo`.
    pub(super) key_info: Vec<u8>,
}
