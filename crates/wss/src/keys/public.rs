//! Public keys: they verify and encrypt.

use crate::algorithm::{KeyTransport, SignatureMethod};
use crate::crypto::CryptoError;

/// A public key, parsed once.
#[derive(Debug)]
pub struct PublicKey {
    kind: KeyKind,
    bits: usize,
}

/// What a key can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// RSA.
    Rsa,
    /// A key on an elliptic curve.
    Ec(Curve),
}

/// An elliptic curve of FIPS 186-4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Curve {
    /// P-256, `1.2.840.10045.3.1.7`
    P256,
    /// P-384, `1.3.132.0.34`
    P384,
    /// P-521, `1.3.132.0.35`
    P521,
}

impl Curve {
    /// What the URI in an `ECKeyValue` means: `urn:oid:` and an object identifier.
    ///
    /// Source: XML Signature 1.1 §4.5.2.3.1.
    pub fn from_uri(uri: &str) -> Option<Curve> {
        match uri {
            "urn:oid:1.2.840.10045.3.1.7" => Some(Curve::P256),
            "urn:oid:1.3.132.0.34" => Some(Curve::P384),
            "urn:oid:1.3.132.0.35" => Some(Curve::P521),
            _ => None,
        }
    }
}

impl PublicKey {
    /// Reads a `SubjectPublicKeyInfo` in DER.
    ///
    /// Errors: `Key`, also for RSA below 1024 and above 8192 bits and for other curves than [`Curve`]'s.
    pub fn from_spki(_der: &[u8]) -> Result<PublicKey, CryptoError> {
        Err(CryptoError::Key)
    }

    /// Makes a key of RSA of two numbers, most significant byte first, as `RSAKeyValue` has them.
    ///
    /// Errors: as for [`from_spki`](PublicKey::from_spki).
    pub fn from_rsa(_modulus: &[u8], _exponent: &[u8]) -> Result<PublicKey, CryptoError> {
        Err(CryptoError::Key)
    }

    /// Makes a key of a point in the uncompressed form of X9.62, as `ECKeyValue` has it.
    ///
    /// Errors: as for [`from_spki`](PublicKey::from_spki).
    pub fn from_ec(_curve: Curve, _point: &[u8]) -> Result<PublicKey, CryptoError> {
        Err(CryptoError::Key)
    }

    /// What it is.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// Its size: the bits of the modulus, or of the curve's field.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// As `SubjectPublicKeyInfo` in DER; two keys are the same if these are.
    pub fn spki(&self) -> &[u8] {
        &[]
    }

    /// The modulus and the exponent, most significant byte first; `None` for other keys than RSA's.
    pub fn rsa(&self) -> Option<(&[u8], &[u8])> {
        None
    }

    /// The point in the uncompressed form; `None` for keys of RSA.
    pub fn ec_point(&self) -> Option<&[u8]> {
        None
    }

    /// Checks that the signature is one of the message. ECDSA's has the form `r‖s`.
    ///
    /// Errors: `Signature`; `KeyKind` for a method that is not this key's.
    pub fn verify(&self, method: SignatureMethod, _message: &[u8], _signature: &[u8]) -> Result<(), CryptoError> {
        Err(CryptoError::KeyKind(method))
    }

    /// Encrypts a key for the owner of this one.
    ///
    /// Errors: `NotForEncryption`; `TooLong`; `Random`.
    pub fn encrypt(&self, _transport: KeyTransport, _key: &[u8]) -> Result<Vec<u8>, CryptoError> {
        Err(CryptoError::NotForEncryption)
    }
}
