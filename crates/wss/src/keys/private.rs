//! Private keys: they sign and decrypt.

use std::fmt;
use std::sync::Arc;

use super::der::{self, Reader};
use super::ec::{self, EcPrivate};
use super::rsa::{self, RsaPrivate};
use super::{Curve, PublicKey};
use crate::algorithm::{KeyTransport, SignatureMethod};
use crate::crypto::{CryptoError, Secret};

/// A private key, parsed once; it is never printed.
pub struct PrivateKey {
    inner: Inner,
    public: Arc<PublicKey>,
}

enum Inner {
    Rsa(Box<RsaPrivate>),
    Ec(EcPrivate),
}

impl PrivateKey {
    /// Reads a key in DER: PKCS#8, PKCS#1 or SEC 1.
    ///
    /// Errors: `Key`.
    /// Source: RFC 5958 §2, RFC 8017 §A.1.2, RFC 5915 §3.
    pub fn from_der(der: &[u8]) -> Result<PrivateKey, CryptoError> {
        let form = |der| {
            let mut reader = Reader::new(der);
            let mut key = reader.sequence()?;
            reader.finish()?;
            key.small()?;
            Ok(match key.any()? {
                element if element.tag == der::INTEGER => Form::Pkcs1,
                element if element.tag == der::OCTET_STRING => Form::Sec1,
                element => {
                    let mut algorithm = Reader::new(element.content);
                    let identifier = algorithm.expect(der::OBJECT_IDENTIFIER)?;
                    Form::Pkcs8 { identifier, parameters: algorithm, key: key.expect(der::OCTET_STRING)? }
                }
            })
        };
        match form(der).map_err(|_: der::Damaged| CryptoError::Key)? {
            Form::Pkcs1 => PrivateKey::from_pkcs1(der),
            Form::Sec1 => PrivateKey::from_sec1(der, None),
            Form::Pkcs8 { identifier: rsa::OBJECT_IDENTIFIER, key, .. } => PrivateKey::from_pkcs1(key),
            Form::Pkcs8 { identifier: ec::OBJECT_IDENTIFIER, mut parameters, key } => {
                let curve = parameters.expect(der::OBJECT_IDENTIFIER).map_err(|_| CryptoError::Key)?;
                PrivateKey::from_sec1(key, Some(ec::curve(curve)?))
            }
            Form::Pkcs8 { .. } => Err(CryptoError::Key),
        }
    }

    fn from_pkcs1(der: &[u8]) -> Result<PrivateKey, CryptoError> {
        let (key, public) = RsaPrivate::from_pkcs1(der)?;
        Ok(PrivateKey { inner: Inner::Rsa(Box::new(key)), public: Arc::new(PublicKey::from(public)) })
    }

    fn from_sec1(der: &[u8], curve: Option<Curve>) -> Result<PrivateKey, CryptoError> {
        let (key, public) = EcPrivate::from_sec1(der, curve)?;
        Ok(PrivateKey { inner: Inner::Ec(key), public: Arc::new(PublicKey::from(public)) })
    }

    /// Signs a message. ECDSA's signature has the form `r‖s`.
    ///
    /// Errors: `KeyKind` for a method that is not this key's; `TooLong` where the key is too small for the digest.
    pub fn sign(&self, method: SignatureMethod, message: &[u8]) -> Result<Vec<u8>, CryptoError> {
        match &self.inner {
            Inner::Rsa(key) => key.sign(method, message),
            Inner::Ec(key) => key.sign(method, message),
        }
    }

    /// Decrypts a key that was encrypted for this one.
    ///
    /// `expected` is how long the key has to be for the cipher it is for, in bytes; another length is an error.
    /// For RSA-1.5 it is none: there, whatever is wrong with the padding or the length, the answer is a random key of
    /// the expected length, so that nobody learns which ciphertexts are well-formed (RFC 3218 §2.3.2).
    /// Errors: `Decryption`; `NotForEncryption`; `Random`.
    pub fn decrypt(
        &self,
        transport: KeyTransport,
        encrypted: &[u8],
        expected: Option<usize>,
    ) -> Result<Secret, CryptoError> {
        match &self.inner {
            Inner::Rsa(key) => key.decrypt(transport, encrypted, expected),
            Inner::Ec(_) => Err(CryptoError::NotForEncryption),
        }
    }

    /// The key in DER, for who has to hand it on: PKCS#8.
    ///
    /// Errors: `Key` for one of RSA with less than 2048 bits.
    pub fn to_der(&self) -> Result<Secret, CryptoError> {
        match &self.inner {
            Inner::Rsa(key) => key.to_pkcs8(),
            Inner::Ec(key) => key.to_pkcs8(),
        }
    }

    /// The public half.
    pub fn public(&self) -> &Arc<PublicKey> {
        &self.public
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey of {:?}", self.public)
    }
}

/// How a private key is written.
enum Form<'a> {
    Pkcs8 { identifier: &'a [u8], parameters: Reader<'a>, key: &'a [u8] },
    Pkcs1,
    Sec1,
}
