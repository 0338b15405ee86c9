//! Which certificates are trusted.
//!
//! Own code over the certificates we parse, because the libraries to be had check for TLS: they ask for names of hosts,
//! and refuse an end certificate that is itself the anchor, which is how most partners of WS-Security trust each other.
//!
//! Source: RFC 5280 §6.

mod crl;
mod path;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use super::{Cache, Certificate, Name};
use crate::crypto::Digest;

pub use crl::Crl;

/// Whom we trust, and certificates to look up.
#[derive(Debug)]
pub struct Trust {
    /// The first `anchors` are trusted, the others are only known.
    certificates: Vec<Arc<Certificate>>,
    anchors: usize,
    trusted: HashSet<Digest>,
    by_subject: HashMap<Name, Vec<usize>>,
    by_serial: HashMap<String, Vec<usize>>,
    by_key_identifier: HashMap<Vec<u8>, usize>,
    by_thumbprint: HashMap<Vec<u8>, usize>,
    crls: Vec<Crl>,
    limits: TrustLimits,
    /// Chains that were found to be trusted, and when the answer holds.
    accepted: Cache<(Digest, Purpose), Window>,
}

/// When an answer holds, both ends included.
#[derive(Clone, Copy, Debug)]
struct Window {
    from: SystemTime,
    until: SystemTime,
}

impl Window {
    fn holds(self, now: SystemTime) -> bool {
        (self.from..=self.until).contains(&now)
    }

    fn narrow(&mut self, from: SystemTime, until: SystemTime) {
        self.from = self.from.max(from);
        self.until = self.until.min(until);
    }
}

/// What a certificate has to keep to.
#[derive(Clone, Debug)]
pub struct TrustLimits {
    /// The smallest key of RSA, in bits, in all certificates of a path.
    pub rsa_bits_min: usize,
    /// The most certificates of a path, with the one that is checked and the anchor.
    pub path_length_max: usize,
    /// Whether a certificate may be signed over SHA-1; that of an anchor itself always may.
    pub sha1: bool,
}

/// What the key of a certificate is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// It signed something.
    Signature,
    /// Something is encrypted for it.
    Encryption,
}

/// Why a certificate is not trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustError {
    /// The subject of the certificate to blame: the one that was checked, or one on the path from it.
    pub subject: String,
    /// What is wrong with it.
    pub reason: Distrust,
}

/// What can be wrong with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Distrust {
    /// There is no certificate to be checked.
    Missing,
    /// It is no anchor, and nobody who is known issued it.
    NoIssuer,
    /// More certificates or candidates than [`TrustLimits`] and a bound of our own allow.
    PathTooLong,
    /// It is not good yet.
    NotYetValid,
    /// It is not good any more.
    Expired,
    /// Its signature is not one of its issuer.
    Signature,
    /// It is signed in a way that is not supported, or over SHA-1 where that is not allowed.
    Algorithm,
    /// It issued another, but is no authority that may.
    NotAnAuthority,
    /// More authorities lie below it than it allows.
    PathLength,
    /// Its key is smaller than allowed.
    KeyTooSmall,
    /// Its key may not be used for this.
    KeyUsage,
    /// It has an extension that must be understood and is not.
    UnknownExtension,
    /// An authority above may not vouch for this name.
    NameNotAllowed,
    /// It is revoked.
    Revoked,
    /// Lists of revoked certificates are asked for, and none that is good now says anything of it.
    RevocationUnknown,
}

impl fmt::Display for TrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the certificate of {}: {}", self.subject, self.reason)
    }
}

impl std::error::Error for TrustError {}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Distrust::Missing => "it is missing",
            Distrust::NoIssuer => "it is no trust anchor, and its issuer is not known",
            Distrust::PathTooLong => "the path to a trust anchor is too long",
            Distrust::NotYetValid => "it is not good yet",
            Distrust::Expired => "it has expired",
            Distrust::Signature => "its signature is not one of its issuer",
            Distrust::Algorithm => "it is signed in a way that is not allowed",
            Distrust::NotAnAuthority => "it is no authority that may issue others",
            Distrust::PathLength => "it does not allow so many authorities below it",
            Distrust::KeyTooSmall => "its key is too small",
            Distrust::KeyUsage => "its key may not be used for this",
            Distrust::UnknownExtension => "it has a critical extension that is not supported",
            Distrust::NameNotAllowed => "an authority above it may not vouch for its name",
            Distrust::Revoked => "it is revoked",
            Distrust::RevocationUnknown => "no list of revoked certificates that is good now is about it",
        })
    }
}

impl Default for TrustLimits {
    fn default() -> TrustLimits {
        TrustLimits { rsa_bits_min: 2048, path_length_max: 8, sha1: false }
    }
}

impl Trust {
    /// Trusts `anchors` and what they vouch for.
    ///
    /// With lists of revoked certificates, each certificate but the anchors has to be covered by one that is good at the
    /// time: one that is out of date trusts nobody.
    pub fn new(anchors: Vec<Arc<Certificate>>, crls: Vec<Crl>, limits: TrustLimits) -> Trust {
        let trusted = anchors.iter().map(|certificate| certificate.fingerprint()).collect();
        let mut trust = Trust {
            anchors: anchors.len(),
            trusted,
            certificates: Vec::new(),
            by_subject: HashMap::new(),
            by_serial: HashMap::new(),
            by_key_identifier: HashMap::new(),
            by_thumbprint: HashMap::new(),
            crls,
            limits,
            accepted: Cache::default(),
        };
        anchors.into_iter().for_each(|certificate| trust.add(certificate));
        trust
    }

    /// Also knows these certificates: they can be looked up and lead to an anchor, but are not trusted themselves.
    pub fn with_known(mut self, certificates: Vec<Arc<Certificate>>) -> Trust {
        certificates.into_iter().for_each(|certificate| self.add(certificate));
        self
    }

    fn add(&mut self, certificate: Arc<Certificate>) {
        let at = self.certificates.len();
        self.by_subject.entry(certificate.subject().clone()).or_default().push(at);
        self.by_serial.entry(certificate.serial().to_owned()).or_default().push(at);
        self.by_key_identifier.entry(certificate.key_identifier().to_vec()).or_insert(at);
        self.by_thumbprint.entry(certificate.thumbprint().to_vec()).or_insert(at);
        self.certificates.push(certificate);
    }

    /// The anchors.
    pub fn anchors(&self) -> &[Arc<Certificate>] {
        &self.certificates[..self.anchors]
    }

    /// The certificate of an issuer, as it is written in a message, and a serial number in decimal.
    pub fn by_issuer_serial(&self, issuer: &str, serial: &str) -> Option<&Arc<Certificate>> {
        let candidates = self.by_serial.get(serial)?;
        let issuer = Name::parse(issuer)?;
        candidates.iter().map(|&at| &self.certificates[at]).find(|certificate| *certificate.issuer() == issuer)
    }

    /// The certificate with a subject key identifier.
    pub fn by_key_identifier(&self, identifier: &[u8]) -> Option<&Arc<Certificate>> {
        self.by_key_identifier.get(identifier).map(|&at| &self.certificates[at])
    }

    /// The certificate with a SHA-1.
    pub fn by_thumbprint(&self, thumbprint: &[u8]) -> Option<&Arc<Certificate>> {
        self.by_thumbprint.get(thumbprint).map(|&at| &self.certificates[at])
    }

    /// The certificate of a subject, as its name is written in a message.
    pub fn by_subject(&self, subject: &str) -> Option<&Arc<Certificate>> {
        self.of_subject(&Name::parse(subject)?).next()
    }

    /// The certificate of a bare public key.
    pub fn by_public_key(&self, key: &super::PublicKey) -> Option<&Arc<Certificate>> {
        self.certificates.iter().find(|certificate| **certificate.public_key() == *key)
    }

    /// Certificates of a subject; the anchors among them first.
    fn of_subject(&self, subject: &Name) -> impl Iterator<Item = &Arc<Certificate>> {
        self.by_subject.get(subject).into_iter().flatten().map(|&at| &self.certificates[at])
    }

    fn is_anchor(&self, certificate: &Certificate) -> bool {
        self.trusted.contains(&certificate.fingerprint())
    }
}
