//! Why a key store, or an entry in it, cannot be read.

use std::fmt;

use super::super::CertificateError;
use super::kind::StoreKind;

/// Larger files are no key stores.
pub(super) const BYTES_MAX: usize = 16 << 20;

/// Why a key store, or an entry in it, cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyStoreError {
    /// The content is that of none of the kinds.
    UnknownKind,
    /// The content is that of another kind than said.
    OtherKind(StoreKind),
    /// The file is larger than any key store.
    TooLarge,
    /// The file is damaged: how.
    Malformed(StoreKind, &'static str),
    /// The password is wrong, or the file is damaged: the two look the same.
    WrongPassword(StoreKind),
    /// The store is encrypted, and no password is given.
    PasswordMissing(StoreKind),
    /// The password of a private key is wrong.
    WrongKeyPassword,
    /// A private key is encrypted, and no password is given.
    KeyPasswordMissing,
    /// Something is encrypted or checked in a way that is not supported: which.
    UnsupportedAlgorithm(String),
    /// A private key is of a kind or size that is not supported, or malformed.
    Key,
    /// A certificate cannot be read.
    Certificate(CertificateError),
    /// A private key has no certificate in the store.
    CertificateMissing,
    /// No private key has this alias: those that have one.
    NoSuchKey {
        /// What was looked for.
        alias: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The private key of an alias could not be read.
    Unreadable {
        /// Which.
        alias: String,
        /// Why.
        cause: Box<KeyStoreError>,
    },
}

impl fmt::Display for KeyStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyStoreError::UnknownKind => f.write_str("no key store, expected one of JKS, JCEKS, PKCS12 or PEM"),
            KeyStoreError::OtherKind(kind) => write!(f, "the key store is of the kind {kind}"),
            KeyStoreError::TooLarge => write!(f, "the key store has more than {BYTES_MAX} bytes"),
            KeyStoreError::Malformed(kind, what) => write!(f, "the {kind} key store is damaged: {what}"),
            KeyStoreError::WrongPassword(kind) => {
                write!(f, "the password of the {kind} key store is wrong, or the file is damaged")
            }
            KeyStoreError::PasswordMissing(kind) => write!(f, "the {kind} key store needs a password"),
            KeyStoreError::WrongKeyPassword => f.write_str("the password of the private key is wrong"),
            KeyStoreError::KeyPasswordMissing => f.write_str("the private key needs a password"),
            KeyStoreError::UnsupportedAlgorithm(what) => {
                write!(f, "the algorithm {what} is not supported, expected AES or triple DES under a password")
            }
            KeyStoreError::Key => f.write_str(
                "the private key is not supported, expected RSA of 1024 to 8192 bits, or P-256, P-384 or P-521",
            ),
            KeyStoreError::Certificate(error) => write!(f, "a certificate cannot be read: {error}"),
            KeyStoreError::CertificateMissing => f.write_str("the private key has no certificate in the key store"),
            KeyStoreError::NoSuchKey { alias, known } if known.is_empty() => {
                write!(f, "no private key {alias:?}: the key store holds none")
            }
            KeyStoreError::NoSuchKey { alias, known } => {
                write!(f, "no private key {alias:?}, expected one of {}", known.join(", "))
            }
            KeyStoreError::Unreadable { alias, cause } => write!(f, "{alias:?}: {cause}"),
        }
    }
}

impl std::error::Error for KeyStoreError {}

impl From<CertificateError> for KeyStoreError {
    fn from(error: CertificateError) -> KeyStoreError {
        KeyStoreError::Certificate(error)
    }
}
