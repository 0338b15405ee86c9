//! Key stores: files that hold keys and certificates.

mod content;
mod error;
mod input;
mod java;
mod jks;
mod kind;
mod parts;
mod pem;
mod pkcs12;
mod sealed;

#[cfg(test)]
mod tests;

pub use content::{KeyStore, Passwords};
use error::BYTES_MAX;
pub use error::KeyStoreError;
pub use kind::StoreKind;

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
}
