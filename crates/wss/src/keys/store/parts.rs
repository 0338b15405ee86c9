//! Keys and certificates that lie side by side in a store, and how they belong together.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::super::{Certificate, Identity, PrivateKey};
use super::content::KeyStore;
use super::error::KeyStoreError;

/// More certificates above a key are nobody's.
pub(super) const CHAIN_MAX: usize = 16;

/// What is found in a store whose keys and certificates lie side by side.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) keys: Vec<(Option<String>, PrivateKey)>,
    pub(super) certificates: Vec<Part>,
    pub(super) unreadable: Vec<(String, KeyStoreError)>,
}

/// A certificate in such a store.
pub(super) struct Part {
    pub(super) alias: Option<String>,
    /// Whether it is an entry of its own, even if no key is there that it belongs to.
    pub(super) own: bool,
    pub(super) certificate: Arc<Certificate>,
}

impl Parts {
    pub(super) fn unreadable(&mut self, alias: Option<String>, cause: KeyStoreError) {
        let alias = alias.unwrap_or_else(|| (self.unreadable.len() + 1).to_string());
        self.unreadable.push((alias, cause));
    }

    /// Puts each key together with its certificate, which has the same public key, and those above it.
    pub(super) fn assemble(self) -> KeyStore {
        let mut store = KeyStore { unreadable: self.unreadable, ..KeyStore::default() };
        let mut by_key = HashMap::new();
        let mut by_subject = HashMap::new();
        for part in &self.certificates {
            by_key.entry(part.certificate.public_key().spki()).or_insert(part);
            by_subject.entry(part.certificate.subject()).or_insert(part);
        }
        let mut in_chains = HashSet::new();
        let no_keys = self.keys.is_empty() && store.unreadable.is_empty();
        for (number, (alias, key)) in self.keys.into_iter().enumerate() {
            let Some(own) = by_key.get(key.public().spki()) else {
                let alias = alias.unwrap_or_else(|| (number + 1).to_string());
                store.keep_unreadable(alias, KeyStoreError::CertificateMissing);
                continue;
            };
            let mut chain = vec![Arc::clone(&own.certificate)];
            while let Some(last) = chain.last()
                && let Some(above) = by_subject.get(last.issuer())
                && chain.len() < CHAIN_MAX
                && !chain.contains(&above.certificate)
            {
                chain.push(Arc::clone(&above.certificate));
            }
            in_chains.extend(chain.iter().map(|certificate| certificate.fingerprint()));
            let alias = alias.or_else(|| own.alias.clone()).unwrap_or_else(|| name(&chain[0], number));
            store.identities.push(Arc::new(Identity { alias, key, chain }));
        }
        for (number, part) in self.certificates.into_iter().enumerate() {
            let alone = part.own && !in_chains.contains(&part.certificate.fingerprint());
            if alone || no_keys {
                let alias = part.alias.unwrap_or_else(|| name(&part.certificate, number));
                store.certificates.push((alias, part.certificate));
            }
        }
        store
    }
}

/// What an entry without an alias is called: the common name, otherwise its number in the file, from 1.
fn name(certificate: &Certificate, number: usize) -> String {
    certificate.subject().common_name().map_or_else(|| (number + 1).to_string(), str::to_owned)
}
