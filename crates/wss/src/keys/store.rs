//! Key stores: files that hold keys and certificates.

use std::fmt;
use std::sync::Arc;

use super::{Certificate, Identity};
use crate::crypto::Secret;

/// What a key store holds.
#[derive(Debug, Default)]
pub struct KeyStore {
    /// Private keys with their certificates, in the order of the file.
    pub identities: Vec<Arc<Identity>>,
    /// Certificates alone, by alias.
    pub certificates: Vec<(String, Arc<Certificate>)>,
    /// What could not be read, by alias: a store may hold more than one is given passwords for.
    pub unreadable: Vec<(String, KeyStoreError)>,
}

/// The form of a key store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreKind {
    /// Java's own.
    Jks,
    /// Java's own with better ciphers.
    Jceks,
    /// PKCS#12
    Pkcs12,
    /// Texts between `BEGIN` and `END`.
    Pem,
}

/// The passwords of a key store.
#[derive(Clone, Debug, Default)]
pub struct Passwords {
    /// The store's.
    pub store: Option<Secret>,
    /// Of the private keys, where it is another.
    pub key: Option<Secret>,
}

/// Why a key store cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyStoreError {
    /// The content is that of none of the forms.
    UnknownKind,
    /// The file is damaged.
    Malformed(StoreKind, &'static str),
}

impl fmt::Display for KeyStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyStoreError::UnknownKind => f.write_str("no key store, expected JKS, JCEKS, PKCS12 or PEM"),
            KeyStoreError::Malformed(kind, what) => write!(f, "damaged {kind:?} key store: {what}"),
        }
    }
}

impl std::error::Error for KeyStoreError {}

impl StoreKind {
    /// What a configuration calls it: `JKS`, `JCEKS`, `PKCS12`, `PEM`, in any case.
    pub fn from_name(_name: &str) -> Option<StoreKind> {
        None
    }
}

impl KeyStore {
    /// Reads a key store; its kind is found by its content where none is given.
    pub fn read(_bytes: &[u8], _kind: Option<StoreKind>, _passwords: &Passwords) -> Result<KeyStore, KeyStoreError> {
        Err(KeyStoreError::UnknownKind)
    }

    /// The private key of an alias; Java's stores know no case in theirs.
    ///
    /// Errors: there is none, or it could not be read.
    pub fn identity(&self, _alias: &str) -> Result<&Arc<Identity>, KeyStoreError> {
        Err(KeyStoreError::UnknownKind)
    }

    /// The certificate of an alias, be it with a private key or alone.
    pub fn certificate(&self, _alias: &str) -> Option<&Arc<Certificate>> {
        None
    }
}
