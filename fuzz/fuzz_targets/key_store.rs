#![no_main]
//! Key stores, certificates, lists of revoked ones, keys and names: read, or refused; what was read works.
//!
//! The seeds were made by `keytool` and `openssl` for this target, with the password `password`.

use std::time::SystemTime;

use libfuzzer_sys::fuzz_target;
use myelin_wss::algorithm::{DigestMethod, SignatureMethod};
use myelin_wss::crypto::Secret;
use myelin_wss::keys::{
    Certificate, Certificates, Crl, KeyKind, KeyStore, Name, Passwords, PrivateKey, PublicKey, Purpose, Trust,
    TrustLimits,
};

fuzz_target!(|bytes: &[u8]| {
    let password = || Some(Secret::from("password"));
    // Without the store's password nothing notices a change, so that more of the store is read.
    for passwords in [Passwords { store: None, key: password() }, Passwords { store: password(), key: None }] {
        let Ok(store) = KeyStore::read(bytes, None, &passwords) else { continue };
        for identity in &store.identities {
            assert_eq!(identity.key.public(), identity.certificate().public_key());
            assert!(store.identity(&identity.alias).is_ok());
            sign(&identity.key);
        }
        let anchors = store.certificates.iter().map(|(_, certificate)| certificate.clone()).collect();
        let trust = Trust::new(anchors, Vec::new(), TrustLimits::default());
        for identity in &store.identities {
            let _ = trust.check(&identity.chain, Purpose::Signature, SystemTime::UNIX_EPOCH);
        }
    }
    if let Ok(certificate) = Certificate::from_der(bytes) {
        assert_eq!(certificate.der(), bytes);
        assert_eq!(Name::parse(certificate.subject().text()).as_ref(), Some(certificate.subject()));
    }
    if let Ok(path) = Certificate::path_from_der(bytes, 8, &Certificates::default()) {
        assert!((1..=8).contains(&path.len()));
    }
    let _ = Crl::read(bytes);
    if let Ok(key) = PublicKey::from_spki(bytes) {
        assert_eq!(PublicKey::from_spki(key.spki()).as_ref(), Ok(&key));
    }
    if let Ok(key) = PrivateKey::from_der(bytes) {
        sign(&key);
    }
    if let Some(name) = std::str::from_utf8(bytes).ok().and_then(Name::parse) {
        assert_eq!(Name::parse(name.text()).as_ref(), Some(&name));
    }
});

fn sign(key: &PrivateKey) {
    let method = match key.public().kind() {
        KeyKind::Rsa => SignatureMethod::Rsa(DigestMethod::Sha256),
        KeyKind::Ec(_) => SignatureMethod::Ecdsa(DigestMethod::Sha256),
    };
    // A damaged key may sign wrongly, or not at all.
    let _ = key.sign(method, b"message");
}
