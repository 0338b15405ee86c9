//! What aws-lc-rs cannot do with RSA, done by the crate `rsa`: nothing else comes here.
//!
//! - Signatures and PSS with SHA-1, for policies that name them.
//! - Keys below 2048 bits, where a setting allows them.
//! - OAEP whose mask has another digest than its label, which WSS4J writes by default.
//!
//! Private operations are blinded. Decryption by RSA-1.5 knows no failure: a bad padding gives other bytes.
//! Why two libraries: `docs/decisions/0008`.

use std::convert::Infallible;

use aws_lc_rs::rand;
use rsa::pkcs1::DecodeRsaPrivateKey;
use rsa::rand_core::{TryCryptoRng, TryRng};
use rsa::sha2::digest::{self, FixedOutputReset};
use rsa::sha2::{Sha256, Sha384, Sha512};
use rsa::traits::PaddingScheme;
use rsa::{BoxedUint, Oaep, Pkcs1v15Encrypt, Pkcs1v15Sign, Pss, RsaPrivateKey, RsaPublicKey};
use sha1::Sha1;

use crate::algorithm::{DigestMethod, KeyTransport, SignatureMethod};
use crate::crypto::{CryptoError, Digest, Secret};

/// A public key.
#[derive(Debug)]
pub(super) struct SoftwarePublic(RsaPublicKey);

impl SoftwarePublic {
    pub(super) fn new(modulus: &[u8], exponent: &[u8]) -> Result<SoftwarePublic, CryptoError> {
        // A precision of the number's own size, as the arithmetic takes the size of the key from it.
        let number = |digits: &[u8]| BoxedUint::from_be_slice(digits, digits.len() as u32 * 8);
        let modulus = number(modulus).map_err(|_| CryptoError::Key)?;
        let exponent = number(exponent).map_err(|_| CryptoError::Key)?;
        RsaPublicKey::new(modulus, exponent).map(SoftwarePublic).map_err(|_| CryptoError::Key)
    }

    pub(super) fn verify(&self, method: SignatureMethod, digest: &Digest, value: &[u8]) -> Result<(), CryptoError> {
        let (key, digest) = (&self.0, digest.as_ref());
        let verified = match method {
            SignatureMethod::Rsa(method) => key.verify(pkcs1(method), digest, value),
            SignatureMethod::RsaPss(DigestMethod::Sha1) => key.verify(Pss::<Sha1>::new(), digest, value),
            SignatureMethod::RsaPss(DigestMethod::Sha256) => key.verify(Pss::<Sha256>::new(), digest, value),
            SignatureMethod::RsaPss(DigestMethod::Sha384) => key.verify(Pss::<Sha384>::new(), digest, value),
            SignatureMethod::RsaPss(DigestMethod::Sha512) => key.verify(Pss::<Sha512>::new(), digest, value),
            SignatureMethod::Ecdsa(_) | SignatureMethod::Hmac(_) => return Err(CryptoError::KeyKind(method)),
        };
        verified.map_err(|_| CryptoError::Signature)
    }

    pub(super) fn encrypt(&self, transport: KeyTransport, key: &[u8]) -> Result<Vec<u8>, CryptoError> {
        struct Encrypt<'a>(&'a RsaPublicKey, &'a [u8]);
        impl WithPadding for Encrypt<'_> {
            fn run(self, padding: impl PaddingScheme) -> rsa::Result<Vec<u8>> {
                self.0.encrypt(&mut Entropy, padding, self.1)
            }
        }
        with_padding(transport, Encrypt(&self.0, key)).map_err(|_| CryptoError::TooLong)
    }
}

/// A private key.
pub(super) struct SoftwarePrivate(RsaPrivateKey);

impl SoftwarePrivate {
    /// Reads an `RSAPrivateKey` of PKCS#1.
    pub(super) fn from_pkcs1(der: &[u8]) -> Result<SoftwarePrivate, CryptoError> {
        RsaPrivateKey::from_pkcs1_der(der).map(SoftwarePrivate).map_err(|_| CryptoError::Key)
    }

    pub(super) fn sign(&self, method: SignatureMethod, digest: &Digest) -> Result<Vec<u8>, CryptoError> {
        let (key, digest, entropy) = (&self.0, digest.as_ref(), &mut Entropy);
        let signed = match method {
            SignatureMethod::Rsa(method) => key.sign_with_rng(entropy, pkcs1(method), digest),
            SignatureMethod::RsaPss(DigestMethod::Sha1) => key.sign_with_rng(entropy, Pss::<Sha1>::new(), digest),
            SignatureMethod::RsaPss(DigestMethod::Sha256) => key.sign_with_rng(entropy, Pss::<Sha256>::new(), digest),
            SignatureMethod::RsaPss(DigestMethod::Sha384) => key.sign_with_rng(entropy, Pss::<Sha384>::new(), digest),
            SignatureMethod::RsaPss(DigestMethod::Sha512) => key.sign_with_rng(entropy, Pss::<Sha512>::new(), digest),
            SignatureMethod::Ecdsa(_) | SignatureMethod::Hmac(_) => return Err(CryptoError::KeyKind(method)),
        };
        signed.map_err(|_| CryptoError::TooLong)
    }

    pub(super) fn decrypt(&self, transport: KeyTransport, encrypted: &[u8]) -> Result<Secret, CryptoError> {
        struct Decrypt<'a>(&'a RsaPrivateKey, &'a [u8]);
        impl WithPadding for Decrypt<'_> {
            fn run(self, padding: impl PaddingScheme) -> rsa::Result<Vec<u8>> {
                self.0.decrypt_blinded(&mut Entropy, padding, self.1)
            }
        }
        with_padding(transport, Decrypt(&self.0, encrypted)).map(Secret::from).map_err(|_| CryptoError::Decryption)
    }
}

fn pkcs1(method: DigestMethod) -> Pkcs1v15Sign {
    match method {
        DigestMethod::Sha1 => Pkcs1v15Sign::new::<Sha1>(),
        DigestMethod::Sha256 => Pkcs1v15Sign::new::<Sha256>(),
        DigestMethod::Sha384 => Pkcs1v15Sign::new::<Sha384>(),
        DigestMethod::Sha512 => Pkcs1v15Sign::new::<Sha512>(),
    }
}

/// What is done with a padding, whose type depends on two digests.
trait WithPadding {
    fn run(self, padding: impl PaddingScheme) -> rsa::Result<Vec<u8>>;
}

fn with_padding(transport: KeyTransport, what: impl WithPadding) -> rsa::Result<Vec<u8>> {
    fn oaep<D: digest::Digest + FixedOutputReset>(mask: DigestMethod, what: impl WithPadding) -> rsa::Result<Vec<u8>> {
        match mask {
            DigestMethod::Sha1 => what.run(Oaep::<D, Sha1>::new_with_mgf_hash()),
            DigestMethod::Sha256 => what.run(Oaep::<D, Sha256>::new_with_mgf_hash()),
            DigestMethod::Sha384 => what.run(Oaep::<D, Sha384>::new_with_mgf_hash()),
            DigestMethod::Sha512 => what.run(Oaep::<D, Sha512>::new_with_mgf_hash()),
        }
    }
    match transport {
        KeyTransport::Rsa15 => what.run(Pkcs1v15Encrypt),
        KeyTransport::RsaOaep { digest: DigestMethod::Sha1, mask } => oaep::<Sha1>(mask, what),
        KeyTransport::RsaOaep { digest: DigestMethod::Sha256, mask } => oaep::<Sha256>(mask, what),
        KeyTransport::RsaOaep { digest: DigestMethod::Sha384, mask } => oaep::<Sha384>(mask, what),
        KeyTransport::RsaOaep { digest: DigestMethod::Sha512, mask } => oaep::<Sha512>(mask, what),
    }
}

/// Random numbers of aws-lc, for blinding and padding.
pub(super) struct Entropy;

impl TryRng for Entropy {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_ne_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, buffer: &mut [u8]) -> Result<(), Infallible> {
        rand::fill(buffer).expect("aws-lc ends the process itself where the system has no random numbers");
        Ok(())
    }
}

impl TryCryptoRng for Entropy {}
