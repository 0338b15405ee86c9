//! The operations that everything here stands on: digests, keyed digests, ciphers, wrapped and derived keys.
//!
//! This folder and [`keys`](crate::keys) are the only places that name the libraries behind them.

mod cipher;
mod hash;
mod secret;
mod wrap;

use std::fmt;

use crate::algorithm::SignatureMethod;

pub(crate) use cipher::{Chained, decrypt_blocks};
pub use cipher::{decrypt, encrypt, encrypt_with};
pub use hash::{Digest, Hasher, digest, hmac, hmac_verify, p_sha1};
pub use secret::{Secret, fill, random};
pub use wrap::{unwrap, wrap};

/// Why an operation with a key did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CryptoError {
    /// Decryption failed. Why is not said: each reason that can be told from another helps whoever tries ciphertexts.
    Decryption,
    /// The signature is not one of this message with this key.
    Signature,
    /// The key has not the length that the algorithm asks for.
    KeyLength {
        /// In bytes.
        expected: usize,
        /// In bytes.
        got: usize,
    },
    /// The key is of another kind than the algorithm's.
    KeyKind(SignatureMethod),
    /// The key cannot encrypt or decrypt: it is not one of RSA.
    NotForEncryption,
    /// What is to be encrypted or signed is too long for the key.
    TooLong,
    /// The key is malformed, or has another size than we work with.
    Key,
    /// The source of random numbers failed; the machine's fault.
    Random,
}

impl fmt::Display for CryptoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CryptoError::Decryption => f.write_str("decryption failed"),
            CryptoError::Signature => f.write_str("the signature does not verify"),
            CryptoError::KeyLength { expected, got } => {
                write!(f, "a key of {got} bytes, expected one of {expected} bytes")
            }
            CryptoError::KeyKind(method) => write!(f, "the key is of another kind than {} asks for", method.uri()),
            CryptoError::NotForEncryption => f.write_str("the key cannot encrypt, expected one of RSA"),
            CryptoError::TooLong => f.write_str("too long for the size of the key"),
            CryptoError::Key => f.write_str("the key is malformed, or of a size or kind that is not supported"),
            CryptoError::Random => f.write_str("no random numbers to be had"),
        }
    }
}

impl std::error::Error for CryptoError {}
