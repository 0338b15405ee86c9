//! Private keys: they sign and decrypt.

use std::fmt;
use std::sync::Arc;

use super::PublicKey;
use crate::algorithm::{KeyTransport, SignatureMethod};
use crate::crypto::{CryptoError, Secret};

/// A private key, parsed once; it is never shown.
pub struct PrivateKey {
    public: Arc<PublicKey>,
}

impl PrivateKey {
    /// Reads a key in DER: PKCS#8, PKCS#1 or SEC 1.
    ///
    /// Errors: `Key`.
    pub fn from_der(_der: &[u8]) -> Result<PrivateKey, CryptoError> {
        Err(CryptoError::Key)
    }

    /// Signs a message. ECDSA's signature has the form `r‖s`.
    ///
    /// Errors: `KeyKind` for a method that is not this key's; `TooLong` where the key is too small for the digest.
    pub fn sign(&self, method: SignatureMethod, _message: &[u8]) -> Result<Vec<u8>, CryptoError> {
        Err(CryptoError::KeyKind(method))
    }

    /// Decrypts a key that was encrypted for this one.
    ///
    /// `expected` is how long the key has to be for the cipher it is for, in bytes; another length is an error.
    /// For RSA-1.5 it is none: there, whatever is wrong with the padding or the length, the answer is a random key of
    /// the expected length, so that nobody learns which ciphertexts are well-formed (RFC 3218 §2.3.2).
    /// Errors: `Decryption`; `NotForEncryption`; `Random`.
    pub fn decrypt(
        &self,
        _transport: KeyTransport,
        _encrypted: &[u8],
        _expected: Option<usize>,
    ) -> Result<Secret, CryptoError> {
        Err(CryptoError::NotForEncryption)
    }

    /// The public half.
    pub fn public(&self) -> &Arc<PublicKey> {
        &self.public
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey of {:?}", self.public)
    }
}
