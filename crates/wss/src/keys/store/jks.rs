//! Java's own key stores: JKS and JCEKS.
//!
//! Source: Java's `sun.security.provider.JavaKeyStore` and `com.sun.crypto.provider.JceKeyStore` describe the form.

use std::sync::Arc;

use super::super::{Certificate, Identity};
use super::content::{KeyStore, Passwords};
use super::error::KeyStoreError;
use super::input::Input;
use super::kind::StoreKind;
use super::parts::CHAIN_MAX;
use super::sealed::Budget;
use super::{java, sealed};
use crate::algorithm::DigestMethod;
use crate::crypto::Hasher;

/// Whose file it is, before the digest at the end.
const WHITENER: &[u8] = b"Mighty Aphrodite";
const DIGEST_BYTES: usize = 20;

const PRIVATE_KEY: u32 = 1;
const CERTIFICATE: u32 = 2;
const SECRET_KEY: u32 = 3;

pub(super) fn read(bytes: &[u8], kind: StoreKind, passwords: &Passwords) -> Result<KeyStore, KeyStoreError> {
    let cut = KeyStoreError::Malformed(kind, "it ends too early");
    let (content, expected) = bytes.split_last_chunk::<DIGEST_BYTES>().ok_or(cut)?;
    if let Some(password) = &passwords.store {
        let mut hasher = Hasher::new(DigestMethod::Sha1);
        hasher.update(sealed::utf16(password).as_ref());
        hasher.update(WHITENER);
        hasher.update(content);
        if hasher.finish().as_ref() != expected {
            return Err(KeyStoreError::WrongPassword(kind));
        }
    }
    let mut input = Input { rest: content, kind };
    input.take(4)?;
    let version = input.long()?;
    if !(1..=2).contains(&version) {
        return Err(input.malformed("its version is neither 1 nor 2"));
    }
    let mut store = KeyStore::default();
    let mut budget = Budget::default();
    for _ in 0..input.long()? {
        let tag = input.long()?;
        let alias = input.text()?;
        // When the entry was made.
        input.take(8)?;
        match tag {
            PRIVATE_KEY => {
                let key = input.sized()?;
                let count = input.long()? as usize;
                if count > CHAIN_MAX {
                    return Err(input.malformed("a chain has too many certificates"));
                }
                let mut chain = Vec::new();
                for _ in 0..count {
                    chain.push(certificate(&mut input, version)?);
                }
                match identity(alias.clone(), key, &chain, passwords, &mut budget) {
                    Ok(identity) => store.identities.push(Arc::new(identity)),
                    Err(error) => store.keep_unreadable(alias, error),
                }
            }
            CERTIFICATE => match Certificate::from_der(certificate(&mut input, version)?) {
                Ok(certificate) => store.certificates.push((alias, Arc::new(certificate))),
                Err(error) => store.keep_unreadable(alias, error.into()),
            },
            // Nothing here is done with secret keys, but one has to get past them.
            SECRET_KEY if kind == StoreKind::Jceks => java::skip_object(&mut input)?,
            _ => return Err(input.malformed("an entry is of an unknown kind")),
        }
    }
    if !input.rest.is_empty() {
        return Err(input.malformed("something follows the last entry"));
    }
    Ok(store)
}

fn certificate<'a>(input: &mut Input<'a>, version: u32) -> Result<&'a [u8], KeyStoreError> {
    if version == 2 && input.text()? != "X.509" {
        return Err(input.malformed("a certificate is not X.509"));
    }
    input.sized()
}

fn identity(
    alias: String,
    key: &[u8],
    chain: &[&[u8]],
    passwords: &Passwords,
    budget: &mut Budget,
) -> Result<Identity, KeyStoreError> {
    let password = passwords.of_keys().ok_or(KeyStoreError::KeyPasswordMissing)?;
    let key = sealed::open_key(key, password, budget)?;
    let chain = chain.iter().map(|der| Certificate::from_der(der).map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
    match chain.first() {
        Some(own) if **own.public_key() == **key.public() => Ok(Identity { alias, key, chain }),
        _ => Err(KeyStoreError::CertificateMissing),
    }
}
