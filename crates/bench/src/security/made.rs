//! Keys that are made where somebody wants to see WS-Security at work, and are good for nothing else.

use std::path::Path;

use anyhow::Context;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, KeyUsagePurpose, PKCS_RSA_SHA256};

/// A private key and its certificate, in PEM.
struct Made {
    key: String,
    certificate: String,
}

/// Makes the keys of the examples: `gateway.pem` and `client.pem` in a folder, each a key of RSA with 2048 bits, its
/// certificate, which is its own issuer, and the certificate of the other.
///
/// Errors: the files cannot be written.
pub fn make_stores(folder: &Path) -> anyhow::Result<()> {
    let (gateway, client) = (make("gateway")?, make("client")?);
    for (name, own, other) in [("gateway", &gateway, &client), ("client", &client, &gateway)] {
        let path = folder.join(name).with_extension("pem");
        let text = [&*own.key, &own.certificate, &other.certificate].concat();
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn make(name: &str) -> anyhow::Result<Made> {
    let key = KeyPair::generate_for(&PKCS_RSA_SHA256)?;
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.key_usages =
        vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment, KeyUsagePurpose::DataEncipherment];
    let certificate = parameters.self_signed(&key)?;
    Ok(Made { key: key.serialize_pem(), certificate: certificate.pem() })
}
