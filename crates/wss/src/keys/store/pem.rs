//! PEM: certificates and private keys as text, as OpenSSL writes them.

use std::sync::Arc;

use super::super::der::Damaged;
use super::super::pem::{Block, blocks};
use super::super::{Certificate, PrivateKey};
use super::content::{KeyStore, Passwords};
use super::error::KeyStoreError;
use super::kind::StoreKind;
use super::parts::{Part, Parts};
use super::sealed::{self, Budget};

pub(super) fn read(bytes: &[u8], passwords: &Passwords) -> Result<KeyStore, KeyStoreError> {
    let blocks = blocks(bytes).map_err(|Damaged(what)| KeyStoreError::Malformed(StoreKind::Pem, what))?;
    let mut parts = Parts::default();
    let mut budget = Budget::default();
    for block in &blocks {
        match block.label {
            "CERTIFICATE" | "X509 CERTIFICATE" => {
                let certificate = Arc::new(Certificate::from_der(block.der.as_ref())?);
                parts.certificates.push(Part { alias: None, own: true, certificate });
            }
            "PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY" | "ENCRYPTED PRIVATE KEY" => {
                parts.keys.push((None, key(block, passwords, &mut budget)?));
            }
            // Parameters of curves, lists of revoked certificates and the like.
            _ => {}
        }
    }
    if parts.certificates.is_empty() && parts.keys.is_empty() {
        return Err(KeyStoreError::Malformed(StoreKind::Pem, "it holds neither a certificate nor a private key"));
    }
    Ok(parts.assemble())
}

fn key(block: &Block<'_>, passwords: &Passwords, budget: &mut Budget) -> Result<PrivateKey, KeyStoreError> {
    if block.has_headers {
        let what = "of OpenSSL's own form (openssl pkcs8 -topk8 makes a better one)";
        return Err(KeyStoreError::UnsupportedAlgorithm(what.to_owned()));
    }
    if block.label == "ENCRYPTED PRIVATE KEY" {
        let password = passwords.of_keys().ok_or(KeyStoreError::KeyPasswordMissing)?;
        return sealed::open_key(block.der.as_ref(), password, budget);
    }
    PrivateKey::from_der(block.der.as_ref()).map_err(|_| KeyStoreError::Key)
}
