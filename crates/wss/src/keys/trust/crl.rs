//! Lists of revoked certificates.
//!
//! Only whole lists of the authority itself are read: one that says that it is about some of its certificates, or about
//! those of others, is refused when it is loaded rather than misunderstood.
//!
//! Source: RFC 5280 §5.

use std::collections::HashSet;
use std::fmt;
use std::time::SystemTime;

use super::super::certificate::{Signed, decimal, each_extension, time};
use super::super::der::{self, Reader};
use super::super::{Certificate, CertificateError, Name, pem};
use crate::crypto::CryptoError;

/// A list of revoked certificates, parsed once.
pub struct Crl {
    der: Vec<u8>,
    signed: Signed,
    issuer: Name,
    this_update: SystemTime,
    next_update: SystemTime,
    serials: HashSet<String>,
}

/// The prefix of the extensions of X.509: `2.5.29`.
const PREFIX: &[u8] = &[0x55, 0x1d];

impl Crl {
    /// Reads a list in DER, or all lists in PEM.
    ///
    /// Errors: [`CertificateError`].
    pub fn read(bytes: &[u8]) -> Result<Vec<Crl>, CertificateError> {
        if !pem::is_pem(bytes) {
            return Crl::from_der(bytes).map(|list| vec![list]);
        }
        let blocks = pem::blocks(bytes)?;
        let lists = blocks.iter().filter(|block| block.label == "X509 CRL");
        let lists: Vec<Crl> = lists.map(|block| Crl::from_der(block.der.as_ref())).collect::<Result<_, _>>()?;
        if lists.is_empty() {
            return Err(CertificateError::Malformed("there is no text that begins with BEGIN X509 CRL"));
        }
        Ok(lists)
    }

    /// Reads a list in DER.
    ///
    /// Errors: [`CertificateError`], also for lists that are not about all certificates of their issuer, and for ones
    /// that do not say until when they are good.
    pub fn from_der(der: &[u8]) -> Result<Crl, CertificateError> {
        let (signed, mut body) = Signed::read(der)?;
        body.optional(der::INTEGER)?;
        signed.check_algorithm(body.any()?.whole)?;
        let issuer = Name::read(body.any()?.whole)?;
        let this_update = time(body.any()?)?;
        if !matches!(body.peek(), Some(der::UTC_TIME | der::GENERALIZED_TIME)) {
            return Err(CertificateError::Malformed("the list does not say until when it is good"));
        }
        let next_update = time(body.any()?)?;
        let mut entries = Reader::new(body.optional(der::SEQUENCE)?.unwrap_or_default());
        let mut serials = HashSet::new();
        while !entries.is_empty() {
            let mut entry = entries.sequence()?;
            serials.insert(decimal(entry.expect(der::INTEGER)?)?);
            time(entry.any()?)?;
            if !entry.is_empty() {
                check_extensions(entry.any()?.whole)?;
            }
        }
        if let Some(extensions) = body.optional(der::context(0))? {
            check_extensions(extensions)?;
        }
        body.finish()?;
        Ok(Crl { der: der.to_vec(), signed, issuer, this_update, next_update, serials })
    }

    pub(super) fn issuer(&self) -> &Name {
        &self.issuer
    }

    pub(super) fn this_update(&self) -> SystemTime {
        self.this_update
    }

    pub(super) fn next_update(&self) -> SystemTime {
        self.next_update
    }

    pub(super) fn names(&self, certificate: &Certificate) -> bool {
        self.serials.contains(certificate.serial())
    }

    pub(super) fn verify(&self, issuer: &Certificate) -> Result<(), CryptoError> {
        self.signed.verify(&self.der, issuer.public_key())
    }

    pub(super) fn signed(&self) -> &Signed {
        &self.signed
    }
}

/// What must be understood is understood by nobody here: it would say that the list is a part of one.
fn check_extensions(extensions: &[u8]) -> Result<(), CertificateError> {
    let mut partial = false;
    each_extension(extensions, |identifier, critical, _| {
        // The difference to an earlier list, and the certificates that the list is about.
        let narrows = matches!(identifier.strip_prefix(PREFIX), Some([27 | 28]));
        partial |= critical || narrows;
        Ok(())
    })?;
    if partial {
        return Err(CertificateError::Malformed("the list is only about some certificates of its issuer"));
    }
    Ok(())
}

impl fmt::Debug for Crl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Crl({}, {} certificates)", self.issuer, self.serials.len())
    }
}
