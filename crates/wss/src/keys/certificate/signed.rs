//! What is common to certificates and lists of revoked ones: a body with a signature.
//!
//! Source: RFC 5280 §4.1.1, §5.1.1; RFC 4055; RFC 5758.

use std::ops::Range;

use super::super::der::{self, Damaged, Reader};
use super::super::{KeyKind, PublicKey};
use crate::algorithm::{DigestMethod, SignatureMethod};
use crate::crypto::CryptoError;

/// The signature of a body, both by their places.
pub(in crate::keys) struct Signed {
    body: Range<usize>,
    algorithm: Vec<u8>,
    value: Range<usize>,
    /// `None` for one that we do not know.
    method: Option<SignatureMethod>,
}

impl Signed {
    /// Reads the whole and what is in the body.
    pub(in crate::keys) fn read(der: &[u8]) -> Result<(Signed, Reader<'_>), Damaged> {
        let mut outside = Reader::new(der);
        let content = outside.expect(der::SEQUENCE)?;
        outside.finish()?;
        let mut whole = Reader::new(content);
        let body = whole.any()?;
        if body.tag != der::SEQUENCE {
            return Err(Damaged("what is signed is no sequence"));
        }
        let algorithm = whole.any()?.whole;
        let value = whole.bytes_of_bits()?;
        whole.finish()?;
        // The body is the first in the content, and the value the last.
        let start = der.len() - content.len();
        let signed = Signed {
            body: start..start + body.whole.len(),
            algorithm: algorithm.to_vec(),
            value: der.len() - value.len()..der.len(),
            method: method(algorithm)?,
        };
        Ok((signed, Reader::new(body.content)))
    }

    /// The body names its algorithm once more, so that nobody can exchange it.
    pub(in crate::keys) fn check_algorithm(&self, inside: &[u8]) -> Result<(), Damaged> {
        if self.algorithm == inside { Ok(()) } else { Err(Damaged("two algorithms are named for one signature")) }
    }

    /// How it is signed; `None` for a way that is not supported.
    pub(in crate::keys) fn method(&self) -> Option<SignatureMethod> {
        self.method
    }

    /// Checks the signature over the bytes that were read.
    pub(in crate::keys) fn verify(&self, der: &[u8], key: &PublicKey) -> Result<(), CryptoError> {
        let method = self.method.ok_or(CryptoError::Signature)?;
        let (body, value) = (&der[self.body.clone()], &der[self.value.clone()]);
        match key.kind() {
            KeyKind::Rsa => key.verify(method, body, value),
            KeyKind::Ec(_) => key.verify(method, body, &fixed(value, key.bits().div_ceil(8))?),
        }
    }
}

/// The two numbers of a signature of ECDSA, each filled to the same length, one behind the other.
///
/// Source: RFC 3279 §2.2.3.
fn fixed(value: &[u8], bytes: usize) -> Result<Vec<u8>, CryptoError> {
    let numbers = || {
        let mut reader = Reader::new(value);
        let mut pair = reader.sequence()?;
        reader.finish()?;
        let numbers = [pair.unsigned()?, pair.unsigned()?];
        pair.finish().map(|()| numbers)
    };
    let mut filled = vec![0; bytes * 2];
    for (number, room) in numbers().map_err(|_| CryptoError::Signature)?.into_iter().zip(filled.chunks_mut(bytes)) {
        let zeros = bytes.checked_sub(number.len()).ok_or(CryptoError::Signature)?;
        room[zeros..].copy_from_slice(number);
    }
    Ok(filled)
}

/// The last byte of `1.2.840.113549.1.1.x`, and what it means.
const RSA: [(u8, SignatureMethod); 4] = [
    (5, SignatureMethod::Rsa(DigestMethod::Sha1)),
    (11, SignatureMethod::Rsa(DigestMethod::Sha256)),
    (12, SignatureMethod::Rsa(DigestMethod::Sha384)),
    (13, SignatureMethod::Rsa(DigestMethod::Sha512)),
];
const RSA_PREFIX: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
const RSA_PSS: u8 = 10;

/// What follows `1.2.840.10045.4`, and what it means.
const ECDSA: [(&[u8], SignatureMethod); 4] = [
    (&[1], SignatureMethod::Ecdsa(DigestMethod::Sha1)),
    (&[3, 2], SignatureMethod::Ecdsa(DigestMethod::Sha256)),
    (&[3, 3], SignatureMethod::Ecdsa(DigestMethod::Sha384)),
    (&[3, 4], SignatureMethod::Ecdsa(DigestMethod::Sha512)),
];
const ECDSA_PREFIX: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];

/// What an `AlgorithmIdentifier` means; `None` for one that is not supported.
fn method(algorithm: &[u8]) -> Result<Option<SignatureMethod>, Damaged> {
    let (identifier, parameters) = Reader::new(algorithm).algorithm()?;
    if let Some(last) = identifier.strip_prefix(RSA_PREFIX) {
        return match last {
            [RSA_PSS] => pss(parameters),
            _ => Ok(RSA.iter().find(|(known, _)| last == [*known]).map(|(_, method)| *method)),
        };
    }
    let rest = identifier.strip_prefix(ECDSA_PREFIX);
    Ok(rest.and_then(|rest| ECDSA.iter().find(|(known, _)| *known == rest)).map(|(_, method)| *method))
}

/// PSS whose mask has the same digest and whose salt is as long as it; other parameters are nobody's.
///
/// Source: RFC 4055 §3.1.
fn pss(mut parameters: Reader<'_>) -> Result<Option<SignatureMethod>, Damaged> {
    let mut parameters = parameters.sequence()?;
    let digest = match parameters.optional(der::context(0))? {
        Some(algorithm) => digest_method(Reader::new(algorithm).algorithm()?.0),
        None => Some(DigestMethod::Sha1),
    };
    let mask = match parameters.optional(der::context(1))? {
        Some(algorithm) => {
            let (identifier, mut inner) = Reader::new(algorithm).algorithm()?;
            let is_mgf1 = identifier.strip_prefix(RSA_PREFIX) == Some(&[8]);
            if is_mgf1 { digest_method(inner.algorithm()?.0) } else { None }
        }
        None => Some(DigestMethod::Sha1),
    };
    let salt = match parameters.optional(der::context(2))? {
        Some(length) => Reader::new(length).small()?,
        None => 20,
    };
    Ok(digest.filter(|digest| Some(*digest) == mask && digest.bytes() == salt as usize).map(SignatureMethod::RsaPss))
}

/// The digest of an object identifier.
pub(in crate::keys) fn digest_method(identifier: &[u8]) -> Option<DigestMethod> {
    match identifier {
        [0x2b, 0x0e, 0x03, 0x02, 0x1a] => Some(DigestMethod::Sha1),
        [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, last] => match last {
            1 => Some(DigestMethod::Sha256),
            2 => Some(DigestMethod::Sha384),
            3 => Some(DigestMethod::Sha512),
            _ => None,
        },
        _ => None,
    }
}
