//! X.509 certificates.
//!
//! Source: RFC 5280.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use super::PublicKey;

/// A certificate, parsed once.
#[derive(Debug)]
pub struct Certificate {
    der: Vec<u8>,
    subject: Name,
    issuer: Name,
    serial: String,
    key_identifier: Vec<u8>,
    thumbprint: [u8; 20],
    public_key: Arc<PublicKey>,
    not_before: SystemTime,
    not_after: SystemTime,
    key_usage: Option<KeyUsage>,
    is_ca: bool,
}

/// The name of a subject or an issuer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    text: String,
}

/// What a key may be used for, as its certificate says.
///
/// Source: RFC 5280 §4.2.1.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUsage(u16);

/// Why a certificate cannot be read; its author is to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateError(pub &'static str);

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no X.509 certificate that we can read: {}", self.0)
    }
}

impl std::error::Error for CertificateError {}

impl Certificate {
    /// Reads a certificate in DER.
    pub fn from_der(_der: &[u8]) -> Result<Certificate, CertificateError> {
        Err(CertificateError("not yet"))
    }

    /// The whole certificate, as it was read.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Whose key it is.
    pub fn subject(&self) -> &Name {
        &self.subject
    }

    /// Who says so.
    pub fn issuer(&self) -> &Name {
        &self.issuer
    }

    /// The serial number, in decimal.
    pub fn serial(&self) -> &str {
        &self.serial
    }

    /// The subject key identifier: the extension's, otherwise the SHA-1 of the key.
    ///
    /// Source: RFC 5280 §4.2.1.2, method 1.
    pub fn key_identifier(&self) -> &[u8] {
        &self.key_identifier
    }

    /// The SHA-1 of the certificate.
    pub fn thumbprint(&self) -> &[u8; 20] {
        &self.thumbprint
    }

    /// The key.
    pub fn public_key(&self) -> &Arc<PublicKey> {
        &self.public_key
    }

    /// Since when it is good.
    pub fn not_before(&self) -> SystemTime {
        self.not_before
    }

    /// Until when it is good; this moment included.
    pub fn not_after(&self) -> SystemTime {
        self.not_after
    }

    /// What the key may be used for; `None` where the certificate does not say.
    pub fn key_usage(&self) -> Option<KeyUsage> {
        self.key_usage
    }

    /// Whether it may issue certificates.
    pub fn is_ca(&self) -> bool {
        self.is_ca
    }
}

impl Name {
    /// The name as RFC 2253 writes it, as Java does: `CN=Alice,O=Example,C=DE`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a written name is this one, however it is spelled: spaces, case, escapes, names of attribute types.
    ///
    /// Source: RFC 2253, RFC 1779 and what .NET and Java write.
    pub fn is_written(&self, written: &str) -> bool {
        self.text == written
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Certificates that were read before, so that those of regular senders are parsed once.
#[derive(Debug, Default)]
pub struct Certificates(());

impl Certificates {
    /// The certificate that these bytes are.
    pub fn parse(&self, der: &[u8]) -> Result<Arc<Certificate>, CertificateError> {
        Certificate::from_der(der).map(Arc::new)
    }
}
