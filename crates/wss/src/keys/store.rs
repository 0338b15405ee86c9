//! Key stores: files that hold keys and certificates.

mod java;
mod jks;
mod pem;
mod pkcs12;
mod sealed;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use super::{Certificate, CertificateError, Identity, PrivateKey};
use crate::crypto::Secret;

/// Larger files are no key stores.
const BYTES_MAX: usize = 16 << 20;

/// More certificates above a key are nobody's.
const CHAIN_MAX: usize = 16;

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

/// The form of a key store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreKind {
    /// Java's own.
    Jks,
    /// Java's own with a better cipher.
    Jceks,
    /// PKCS#12
    Pkcs12,
    /// Texts between `BEGIN` and `END`. Its entries have no aliases: each has the common name of its certificate.
    Pem,
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
    fn of_keys(&self) -> Option<&Secret> {
        self.key.as_ref().or(self.store.as_ref())
    }
}

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

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StoreKind::Jks => "JKS",
            StoreKind::Jceks => "JCEKS",
            StoreKind::Pkcs12 => "PKCS12",
            StoreKind::Pem => "PEM",
        })
    }
}

impl StoreKind {
    /// What a configuration calls it: `JKS`, `JCEKS`, `PKCS12` (or `P12`), `PEM`, in any case.
    pub fn from_name(name: &str) -> Option<StoreKind> {
        match name.to_ascii_uppercase().as_str() {
            "JKS" => Some(StoreKind::Jks),
            "JCEKS" => Some(StoreKind::Jceks),
            "PKCS12" | "P12" => Some(StoreKind::Pkcs12),
            "PEM" => Some(StoreKind::Pem),
            _ => None,
        }
    }

    /// What a file is by its content.
    fn of(bytes: &[u8]) -> Option<StoreKind> {
        match bytes {
            [0xfe, 0xed, 0xfe, 0xed, ..] => Some(StoreKind::Jks),
            [0xce, 0xce, 0xce, 0xce, ..] => Some(StoreKind::Jceks),
            _ if super::pem::is_pem(bytes) => Some(StoreKind::Pem),
            [super::der::SEQUENCE, ..] => Some(StoreKind::Pkcs12),
            _ => None,
        }
    }
}

impl KeyStore {
    /// Reads a key store. Its kind is found by its content; one that is said and is another is an error, save that Java
    /// itself reads PKCS#12 as `JKS` and the other way round, on which configurations rely.
    ///
    /// Errors: [`KeyStoreError`]; what only concerns one entry is in [`unreadable`](KeyStore::unreadable).
    pub fn read(bytes: &[u8], kind: Option<StoreKind>, passwords: &Passwords) -> Result<KeyStore, KeyStoreError> {
        if bytes.len() > BYTES_MAX {
            return Err(KeyStoreError::TooLarge);
        }
        let found = StoreKind::of(bytes).ok_or(KeyStoreError::UnknownKind)?;
        match (kind, found) {
            (None, _) | (Some(StoreKind::Jks), StoreKind::Pkcs12) | (Some(StoreKind::Pkcs12), StoreKind::Jks) => {}
            (Some(said), found) if said == found => {}
            _ => return Err(KeyStoreError::OtherKind(found)),
        }
        match found {
            StoreKind::Jks | StoreKind::Jceks => jks::read(bytes, found, passwords),
            StoreKind::Pkcs12 => pkcs12::read(bytes, passwords),
            StoreKind::Pem => pem::read(bytes, passwords),
        }
    }

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

    fn keep_unreadable(&mut self, alias: impl Into<String>, cause: KeyStoreError) {
        self.unreadable.push((alias.into(), cause));
    }
}

/// What is found in a store whose keys and certificates lie side by side.
#[derive(Default)]
struct Parts {
    keys: Vec<(Option<String>, PrivateKey)>,
    certificates: Vec<Part>,
    unreadable: Vec<(String, KeyStoreError)>,
}

/// A certificate in such a store.
struct Part {
    alias: Option<String>,
    /// Whether it is an entry of its own, even if no key is there that it belongs to.
    own: bool,
    certificate: Arc<Certificate>,
}

impl Parts {
    fn unreadable(&mut self, alias: Option<String>, cause: KeyStoreError) {
        let alias = alias.unwrap_or_else(|| (self.unreadable.len() + 1).to_string());
        self.unreadable.push((alias, cause));
    }

    /// Puts each key together with its certificate, which has the same public key, and those above it.
    fn assemble(self) -> KeyStore {
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
