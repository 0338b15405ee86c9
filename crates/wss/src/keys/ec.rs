//! Keys on elliptic curves.
//!
//! aws-lc-rs pairs each curve with one digest. ECDSA itself takes a digest as a number: of a longer one than the curve
//! only the first bytes count, and a shorter one is the same number with zeros before it. So a digest of another length
//! is cut or filled to the one of the pair, and all digests go with all curves.
//!
//! Source: FIPS 186-4 §6.4; SEC 1 §4.1.3.

use aws_lc_rs::digest::{self as library, Digest as Imported};
use aws_lc_rs::signature::{
    self, EcdsaKeyPair, EcdsaSigningAlgorithm, EcdsaVerificationAlgorithm, KeyPair, ParsedPublicKey,
};

use super::curve::Curve;
use super::der::{self, Reader};
use crate::algorithm::{DigestMethod, SignatureMethod};
use crate::crypto::{CryptoError, Secret, digest};

/// The object identifier `id-ecPublicKey`, 1.2.840.10045.2.1.
pub(super) const OBJECT_IDENTIFIER: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];

/// A curve with the digest that the library pairs it with.
struct Pair {
    curve: Curve,
    object_identifier: &'static [u8],
    verifying: &'static EcdsaVerificationAlgorithm,
    signing: &'static EcdsaSigningAlgorithm,
    digest: &'static library::Algorithm,
}

static PAIRS: [Pair; 3] = [
    Pair {
        curve: Curve::P256,
        object_identifier: &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07],
        verifying: &signature::ECDSA_P256_SHA256_FIXED,
        signing: &signature::ECDSA_P256_SHA256_FIXED_SIGNING,
        digest: &library::SHA256,
    },
    Pair {
        curve: Curve::P384,
        object_identifier: &[0x2b, 0x81, 0x04, 0x00, 0x22],
        verifying: &signature::ECDSA_P384_SHA384_FIXED,
        signing: &signature::ECDSA_P384_SHA384_FIXED_SIGNING,
        digest: &library::SHA384,
    },
    Pair {
        curve: Curve::P521,
        object_identifier: &[0x2b, 0x81, 0x04, 0x00, 0x23],
        verifying: &signature::ECDSA_P521_SHA512_FIXED,
        signing: &signature::ECDSA_P521_SHA512_FIXED_SIGNING,
        digest: &library::SHA512,
    },
];

impl Pair {
    fn of(curve: Curve) -> &'static Pair {
        PAIRS.iter().find(|pair| pair.curve == curve).expect("each curve has a line in the table")
    }

    /// The digest of a message in the length of the pair's.
    fn digest(&self, method: DigestMethod, message: &[u8]) -> Imported {
        let made = digest(method, message);
        let length = self.digest.output_len();
        let kept = &made.as_ref()[..made.as_ref().len().min(length)];
        let mut bytes = [0; library::MAX_OUTPUT_LEN];
        bytes[length - kept.len()..length].copy_from_slice(kept);
        Imported::import_less_safe(&bytes[..length], self.digest).expect("the length is that of the algorithm")
    }
}

/// The curve of an object identifier.
pub(super) fn curve(object_identifier: &[u8]) -> Result<Curve, CryptoError> {
    let found = PAIRS.iter().find(|pair| pair.object_identifier == object_identifier);
    found.map(|pair| pair.curve).ok_or(CryptoError::Key)
}

/// A public key.
pub(super) struct EcPublic {
    pub(super) curve: Curve,
    pub(super) point: Vec<u8>,
    pub(super) spki: Vec<u8>,
    parsed: ParsedPublicKey,
}

impl EcPublic {
    pub(super) fn new(curve: Curve, point: &[u8]) -> Result<EcPublic, CryptoError> {
        let pair = Pair::of(curve);
        // Only the uncompressed form, so that one key has one encoding.
        if point.first() != Some(&4) {
            return Err(CryptoError::Key);
        }
        let parsed = ParsedPublicKey::new(pair.verifying, point).map_err(|_| CryptoError::Key)?;
        let algorithm = der::element(
            der::SEQUENCE,
            &[
                &der::element(der::OBJECT_IDENTIFIER, &[OBJECT_IDENTIFIER]),
                &der::element(der::OBJECT_IDENTIFIER, &[pair.object_identifier]),
            ],
        );
        let spki = der::element(der::SEQUENCE, &[&algorithm, &der::element(der::BIT_STRING, &[&[0], point])]);
        Ok(EcPublic { curve, point: point.to_vec(), spki, parsed })
    }

    pub(super) fn verify(&self, method: SignatureMethod, message: &[u8], value: &[u8]) -> Result<(), CryptoError> {
        let SignatureMethod::Ecdsa(method) = method else { return Err(CryptoError::KeyKind(method)) };
        let digest = Pair::of(self.curve).digest(method, message);
        self.parsed.verify_digest_sig(&digest, value).map_err(|_| CryptoError::Signature)
    }
}

/// A private key.
pub(super) struct EcPrivate {
    curve: Curve,
    key: EcdsaKeyPair,
}

impl EcPrivate {
    /// Of an `ECPrivateKey` of SEC 1, whose curve may stand outside of it, with its public half.
    pub(super) fn from_sec1(der: &[u8], outside: Option<Curve>) -> Result<(EcPrivate, EcPublic), CryptoError> {
        let inside = |der| {
            let mut key = Reader::new(der).sequence()?;
            key.small()?;
            key.expect(der::OCTET_STRING)?;
            match key.optional(der::context(0))? {
                Some(parameters) => Reader::new(parameters).expect(der::OBJECT_IDENTIFIER).map(Some),
                None => Ok(None),
            }
        };
        let inside = inside(der).map_err(|_| CryptoError::Key)?;
        let curve = match (outside, inside.map(curve).transpose()?) {
            (Some(outside), Some(inside)) if outside != inside => return Err(CryptoError::Key),
            (Some(curve), _) | (None, Some(curve)) => curve,
            (None, None) => return Err(CryptoError::Key),
        };
        let key = EcdsaKeyPair::from_private_key_der(Pair::of(curve).signing, der).map_err(|_| CryptoError::Key)?;
        let public = EcPublic::new(curve, key.public_key().as_ref())?;
        Ok((EcPrivate { curve, key }, public))
    }

    pub(super) fn sign(&self, method: SignatureMethod, message: &[u8]) -> Result<Vec<u8>, CryptoError> {
        let SignatureMethod::Ecdsa(method) = method else { return Err(CryptoError::KeyKind(method)) };
        let digest = Pair::of(self.curve).digest(method, message);
        let value = self.key.sign_digest(&digest).map_err(|_| CryptoError::Key)?;
        Ok(value.as_ref().to_vec())
    }

    pub(super) fn to_pkcs8(&self) -> Result<Secret, CryptoError> {
        let document = self.key.to_pkcs8v1().map_err(|_| CryptoError::Key)?;
        Ok(Secret::from(document.as_ref()))
    }
}
