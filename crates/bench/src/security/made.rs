//! Keys that are made where somebody wants to see WS-Security at work, and are good for nothing else.

use std::path::Path;

use anyhow::Context;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, KeyUsagePurpose, PKCS_RSA_SHA256};

/// A private key and its certificate, signed by itself, in PEM.
pub struct Made {
    /// The key.
    pub key: String,
    /// The certificate.
    pub certificate: String,
}

/// Makes an RSA key of 2048 bits and a certificate for a name.
///
/// Errors: the machine has no randomness.
pub fn make_identity(name: &str) -> anyhow::Result<Made> {
    let key = KeyPair::generate_for(&PKCS_RSA_SHA256)?;
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.key_usages =
        vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment, KeyUsagePurpose::DataEncipherment];
    let certificate = parameters.self_signed(&key)?;
    Ok(Made { key: key.serialize_pem(), certificate: certificate.pem() })
}

/// Writes a key store in PEM: a key with its certificate, and certificates to trust.
///
/// Errors: the file cannot be written.
pub fn make_store(path: &Path, own: &Made, trusted: &[&Made]) -> anyhow::Result<()> {
    let trusted = trusted.iter().map(|made| &*made.certificate).collect::<String>();
    let text = format!("{}{}{trusted}", own.key, own.certificate);
    std::fs::write(path, text).with_context(|| path.display().to_string())
}
