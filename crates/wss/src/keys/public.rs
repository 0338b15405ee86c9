//! Public keys: they verify and encrypt.

use std::fmt;

use super::curve::Curve;
use super::der::{self, Reader};
use super::ec::{self, EcPublic};
use super::rsa::{self, RsaPublic};
use crate::algorithm::{KeyTransport, SignatureMethod};
use crate::crypto::CryptoError;

/// A public key, parsed once.
pub struct PublicKey(Inner);

enum Inner {
    Rsa(Box<RsaPublic>),
    Ec(EcPublic),
}

/// What a key can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// RSA.
    Rsa,
    /// A key on an elliptic curve.
    Ec(Curve),
}

impl PublicKey {
    /// Reads a `SubjectPublicKeyInfo` in DER.
    ///
    /// Errors: `Key`, also for RSA below 1024 and above 8192 bits and for other curves than [`Curve`]'s.
    /// Source: RFC 5280 §4.1.2.7, RFC 3279 §2.3.1, RFC 5480 §2.
    pub fn from_spki(der: &[u8]) -> Result<PublicKey, CryptoError> {
        let parts = |der| {
            let mut reader = Reader::new(der);
            let mut info = reader.sequence()?;
            reader.finish()?;
            let (algorithm, parameters) = info.algorithm()?;
            let key = info.bytes_of_bits()?;
            info.finish().map(|()| (algorithm, parameters, key))
        };
        let (algorithm, mut parameters, key) = parts(der).map_err(|_| CryptoError::Key)?;
        match algorithm {
            rsa::OBJECT_IDENTIFIER => RsaPublic::from_pkcs1(key).map(PublicKey::from),
            ec::OBJECT_IDENTIFIER => {
                let curve = parameters.expect(der::OBJECT_IDENTIFIER).map_err(|_| CryptoError::Key)?;
                PublicKey::from_ec(ec::curve(curve)?, key)
            }
            _ => Err(CryptoError::Key),
        }
    }

    /// Makes a key of RSA of two numbers, most significant byte first, as `RSAKeyValue` has them.
    ///
    /// Errors: as for [`from_spki`](PublicKey::from_spki).
    pub fn from_rsa(modulus: &[u8], exponent: &[u8]) -> Result<PublicKey, CryptoError> {
        RsaPublic::new(modulus, exponent).map(PublicKey::from)
    }

    /// Makes a key of a point in the uncompressed form of X9.62, as `ECKeyValue` has it.
    ///
    /// Errors: as for [`from_spki`](PublicKey::from_spki).
    pub fn from_ec(curve: Curve, point: &[u8]) -> Result<PublicKey, CryptoError> {
        EcPublic::new(curve, point).map(PublicKey::from)
    }

    /// What it is.
    pub fn kind(&self) -> KeyKind {
        match &self.0 {
            Inner::Rsa(_) => KeyKind::Rsa,
            Inner::Ec(key) => KeyKind::Ec(key.curve),
        }
    }

    /// Its size: the bits of the modulus, or of the curve's field.
    pub fn bits(&self) -> usize {
        match &self.0 {
            Inner::Rsa(key) => key.bits,
            Inner::Ec(key) => key.curve.bits(),
        }
    }

    /// As `SubjectPublicKeyInfo` in DER; two keys are the same if these are.
    pub fn spki(&self) -> &[u8] {
        match &self.0 {
            Inner::Rsa(key) => &key.spki,
            Inner::Ec(key) => &key.spki,
        }
    }

    /// The modulus and the exponent, most significant byte first; `None` for other keys than RSA's.
    pub fn rsa(&self) -> Option<(&[u8], &[u8])> {
        match &self.0 {
            Inner::Rsa(key) => Some((&key.modulus, &key.exponent)),
            Inner::Ec(_) => None,
        }
    }

    /// The point in the uncompressed form; `None` for keys of RSA.
    pub fn ec_point(&self) -> Option<&[u8]> {
        match &self.0 {
            Inner::Rsa(_) => None,
            Inner::Ec(key) => Some(&key.point),
        }
    }

    /// Checks that the signature is one of the message. ECDSA's has the form `r‖s`.
    ///
    /// Errors: `Signature`; `KeyKind` for a method that is not this key's.
    pub fn verify(&self, method: SignatureMethod, message: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        match &self.0 {
            Inner::Rsa(key) => key.verify(method, message, signature),
            Inner::Ec(key) => key.verify(method, message, signature),
        }
    }

    /// Encrypts a key for the owner of this one.
    ///
    /// Errors: `NotForEncryption`; `TooLong`; `Random`.
    pub fn encrypt(&self, transport: KeyTransport, key: &[u8]) -> Result<Vec<u8>, CryptoError> {
        match &self.0 {
            Inner::Rsa(own) => own.encrypt(transport, key),
            Inner::Ec(_) => Err(CryptoError::NotForEncryption),
        }
    }
}

impl From<RsaPublic> for PublicKey {
    fn from(key: RsaPublic) -> PublicKey {
        PublicKey(Inner::Rsa(Box::new(key)))
    }
}

impl From<EcPublic> for PublicKey {
    fn from(key: EcPublic) -> PublicKey {
        PublicKey(Inner::Ec(key))
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &PublicKey) -> bool {
        self.spki() == other.spki()
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({:?}, {} bits)", self.kind(), self.bits())
    }
}
