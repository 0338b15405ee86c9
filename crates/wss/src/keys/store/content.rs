//! What a key store holds.

use std::sync::Arc;

use super::super::{Certificate, Identity};
use super::error::KeyStoreError;
use crate::crypto::Secret;

/// What a key store holds.
#[derive(Debug, Default)]
pub struct KeyStore {
    /// Private keys with their certificates, in the order of the file.
    pub identities: Vec<Arc<Identity>>,
    /// Certificates alone, by alias: those of partners, and trust anchors. Certificates that only belong to the chain
    /// of a key are none of these.
    pub certificates: Vec<(String, Arc<Certificate>)>,
    /// What could not be read, by alias: a store may hold more than one is given passwords for.
    pub unreadable: Vec<(String, KeyStoreError)>,
}

/// The passwords of a key store.
#[derive(Clone, Debug, Default)]
pub struct Passwords {
    /// The store's. Without it a store is not checked to be whole, as Java does it, and encrypted parts are not read.
    pub store: Option<Secret>,
    /// Of the private keys, where it is another.
    pub key: Option<Secret>,
}

impl Passwords {
    pub(super) fn of_keys(&self) -> Option<&Secret> {
        self.key.as_ref().or(self.store.as_ref())
    }
}

impl KeyStore {
    /// The private key of an alias; case does not matter, as in Java's stores.
    ///
    /// Errors: `NoSuchKey`, or `Unreadable` where there is one.
    pub fn identity(&self, alias: &str) -> Result<&Arc<Identity>, KeyStoreError> {
        if let Some(identity) = self.identities.iter().find(|identity| identity.alias.eq_ignore_ascii_case(alias)) {
            return Ok(identity);
        }
        if let Some((alias, cause)) = self.unreadable.iter().find(|(known, _)| known.eq_ignore_ascii_case(alias)) {
            return Err(KeyStoreError::Unreadable { alias: alias.clone(), cause: Box::new(cause.clone()) });
        }
        let known = self.identities.iter().map(|identity| identity.alias.clone()).collect();
        Err(KeyStoreError::NoSuchKey { alias: alias.to_owned(), known })
    }

    /// The certificate of an alias, be it with a private key or alone; case does not matter.
    pub fn certificate(&self, alias: &str) -> Option<&Arc<Certificate>> {
        let identity = self.identities.iter().find(|identity| identity.alias.eq_ignore_ascii_case(alias));
        let alone = || self.certificates.iter().find(|(known, _)| known.eq_ignore_ascii_case(alias));
        identity.map(|identity| identity.certificate()).or_else(|| alone().map(|(_, certificate)| certificate))
    }

    pub(super) fn keep_unreadable(&mut self, alias: impl Into<String>, cause: KeyStoreError) {
        self.unreadable.push((alias.into(), cause));
    }
}
