//! A private key with the certificates that say whose it is.

use std::sync::Arc;

use super::{Certificate, PrivateKey};

/// A private key with its certificate and those above it.
#[derive(Debug)]
pub struct Identity {
    /// What it is called in its store.
    pub alias: String,
    /// The key.
    pub key: PrivateKey,
    /// At least one: the key's own certificate first, each followed by its issuer's.
    pub chain: Vec<Arc<Certificate>>,
}

impl Identity {
    /// The key's own certificate.
    pub fn certificate(&self) -> &Arc<Certificate> {
        &self.chain[0]
    }
}
