//! X.509 certificates.
//!
//! Reading one checks its form; whether it is trusted is [`Trust`](super::Trust)'s to say.
//!
//! Source: RFC 5280 §4.

mod extensions;
mod name;
mod signed;
mod value;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use super::der::{self, Damaged, Reader};
use super::{Cache, PublicKey};
use crate::algorithm::DigestMethod;
use crate::crypto::{Digest, digest};
use crate::time::{Precision, written};

pub use extensions::KeyUsage;
pub(super) use extensions::{Extensions, GeneralName, each_extension};
pub use name::Name;
pub(super) use name::{dotted, text};
pub(super) use signed::{Signed, digest_method};
pub(super) use value::{decimal, time};

/// Larger certificates are none that we read: it bounds what a message can make us do.
const BYTES_MAX: usize = 64 << 10;

/// A certificate, parsed once.
pub struct Certificate {
    der: Vec<u8>,
    fingerprint: Digest,
    thumbprint: Digest,
    pub(super) signed: Signed,
    subject: Name,
    issuer: Name,
    serial: String,
    not_before: SystemTime,
    not_after: SystemTime,
    public_key: Arc<PublicKey>,
    key_identifier: Vec<u8>,
    pub(super) extensions: Extensions,
}

/// Why a certificate, or a list of revoked ones, cannot be read; its author is to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificateError {
    /// The form is not that of the standard: what exactly.
    Malformed(&'static str),
    /// The key is of a kind or size that is not supported.
    UnsupportedKey,
    /// More bytes than we read.
    TooLarge,
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CertificateError::Malformed(what) => write!(f, "not X.509 as it should be: {what}"),
            CertificateError::UnsupportedKey => {
                f.write_str("the key is not supported, expected RSA of 1024 to 8192 bits, or P-256, P-384 or P-521")
            }
            CertificateError::TooLarge => write!(f, "more than {BYTES_MAX} bytes"),
        }
    }
}

impl std::error::Error for CertificateError {}

impl From<Damaged> for CertificateError {
    fn from(Damaged(what): Damaged) -> CertificateError {
        CertificateError::Malformed(what)
    }
}

impl Certificate {
    /// Reads a certificate in DER.
    ///
    /// Errors: [`CertificateError`].
    pub fn from_der(der: &[u8]) -> Result<Certificate, CertificateError> {
        if der.len() > BYTES_MAX {
            return Err(CertificateError::TooLarge);
        }
        let (signed, mut body) = Signed::read(der)?;
        // The version: what it allows is not checked, as extensions are marked anyway.
        body.optional(der::context(0))?;
        let serial = decimal(body.expect(der::INTEGER)?)?;
        signed.check_algorithm(body.any()?.whole)?;
        let issuer = Name::read(body.any()?.whole)?;
        let mut validity = body.sequence()?;
        let (not_before, not_after) = (time(validity.any()?)?, time(validity.any()?)?);
        let subject = Name::read(body.any()?.whole)?;
        let spki = body.any()?.whole;
        for unique_identifier in [1, 2] {
            body.optional(der::context_primitive(unique_identifier))?;
        }
        let extensions = body.optional(der::context(3))?.map(Extensions::read).transpose()?.unwrap_or_default();
        body.finish()?;
        let public_key = PublicKey::from_spki(spki).map_err(|_| CertificateError::UnsupportedKey)?;
        let key_identifier = match &extensions.key_identifier {
            Some(identifier) => identifier.clone(),
            None => digest(DigestMethod::Sha1, key_bits(spki)?).as_ref().to_vec(),
        };
        Ok(Certificate {
            fingerprint: digest(DigestMethod::Sha256, der),
            thumbprint: digest(DigestMethod::Sha1, der),
            der: der.to_vec(),
            signed,
            subject,
            issuer,
            serial,
            not_before,
            not_after,
            public_key: Arc::new(public_key),
            key_identifier,
            extensions,
        })
    }

    /// Reads a path in DER, as a `PKIPath` token holds it: the one nearest to the anchor first. What is returned is in
    /// the order of [`Trust::check`](super::Trust::check): the one it is about first.
    ///
    /// Errors: [`CertificateError`], also for a path of more than `limit` certificates or of none.
    /// Source: X.509 (2005) §8.2, `PkiPath`.
    pub fn path_from_der(
        der: &[u8],
        limit: usize,
        known: &Certificates,
    ) -> Result<Vec<Arc<Certificate>>, CertificateError> {
        let mut reader = Reader::new(der);
        let mut path = reader.sequence()?;
        reader.finish()?;
        let mut certificates = Vec::new();
        while !path.is_empty() {
            if certificates.len() == limit {
                return Err(CertificateError::Malformed("the path has too many certificates"));
            }
            certificates.push(known.parse(path.any()?.whole)?);
        }
        if certificates.is_empty() {
            return Err(CertificateError::Malformed("the path has no certificate"));
        }
        certificates.reverse();
        Ok(certificates)
    }

    /// Writes a path as a `PKIPath` token holds it; `chain` has the certificate it is about first.
    pub fn path_to_der(chain: &[Arc<Certificate>]) -> Vec<u8> {
        let pieces: Vec<&[u8]> = chain.iter().rev().map(|certificate| certificate.der()).collect();
        der::element(der::SEQUENCE, &pieces)
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

    /// The SHA-1 of the certificate, 20 bytes.
    pub fn thumbprint(&self) -> &[u8] {
        self.thumbprint.as_ref()
    }

    /// The SHA-256 of the certificate.
    pub fn fingerprint(&self) -> Digest {
        self.fingerprint
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

    /// That it is not good at a time, as a sentence; `None` where it is.
    pub fn invalid_at(&self, time: SystemTime) -> Option<String> {
        if (self.not_before..=self.not_after).contains(&time) {
            return None;
        }
        let [from, to] = [self.not_before, self.not_after].map(|time| written(time, Precision::Seconds));
        Some(format!("the certificate of {} is valid from {from} to {to}", self.subject))
    }

    /// What the key may be used for; `None` where the certificate does not say.
    pub fn key_usage(&self) -> Option<KeyUsage> {
        self.extensions.key_usage
    }

    /// Whether it may issue certificates.
    pub fn is_ca(&self) -> bool {
        self.extensions.is_ca
    }
}

/// Two certificates are the same if all their bytes are.
impl PartialEq for Certificate {
    fn eq(&self, other: &Certificate) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl Eq for Certificate {}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({}, number {} of {})", self.subject, self.serial, self.issuer)
    }
}

/// The key without its algorithm.
fn key_bits(spki: &[u8]) -> Result<&[u8], Damaged> {
    let mut info = Reader::new(spki).sequence()?;
    info.any()?;
    info.bytes_of_bits()
}

/// Certificates that were read before, so that those of regular senders are parsed once.
#[derive(Debug, Default)]
pub struct Certificates(Cache<Digest, Arc<Certificate>>);

impl Certificates {
    /// The certificate that these bytes are.
    ///
    /// Errors: [`CertificateError`].
    pub fn parse(&self, der: &[u8]) -> Result<Arc<Certificate>, CertificateError> {
        if der.len() > BYTES_MAX {
            return Err(CertificateError::TooLarge);
        }
        let key = digest(DigestMethod::Sha256, der);
        if let Some(known) = self.0.find(&key) {
            return Ok(known);
        }
        let certificate = Arc::new(Certificate::from_der(der)?);
        self.0.put(key, Arc::clone(&certificate));
        Ok(certificate)
    }
}
