//! Keys of RSA.

use std::sync::OnceLock;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{
    KeyPair, OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OAEP_SHA384_MGF1SHA384, OAEP_SHA512_MGF1SHA512, OaepAlgorithm,
    OaepPrivateDecryptingKey, OaepPublicEncryptingKey, Pkcs1PrivateDecryptingKey, Pkcs1PublicEncryptingKey,
    PrivateDecryptingKey, PublicEncryptingKey,
};
use aws_lc_rs::signature::{self, ParsedPublicKey, RsaEncoding, RsaParameters};

use super::der::{self, Reader};
use super::software::{SoftwarePrivate, SoftwarePublic};
use crate::algorithm::{DigestMethod, KeyTransport, SignatureMethod};
use crate::crypto::{CryptoError, Secret, digest, random};

/// Smaller keys are broken by anybody, larger ones cost a verifier too much.
const BITS: std::ops::RangeInclusive<usize> = 1024..=8192;

/// From here on aws-lc-rs does all that it can do at all.
const LIBRARY_BITS_MIN: usize = 2048;

/// The object identifier `rsaEncryption`, 1.2.840.113549.1.1.1.
pub(super) const OBJECT_IDENTIFIER: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];

/// How long the random key is that stands for one that nobody could decrypt, where no length is expected.
const RANDOM_KEY_BYTES: usize = 32;

/// A public key.
pub(super) struct RsaPublic {
    pub(super) modulus: Vec<u8>,
    pub(super) exponent: Vec<u8>,
    pub(super) bits: usize,
    pub(super) spki: Vec<u8>,
    /// One for each of [`VERIFYING`], made when it is needed first.
    parsed: [OnceLock<Option<ParsedPublicKey>>; VERIFYING.len()],
    encrypting: OnceLock<Option<Encrypting>>,
    software: OnceLock<Option<SoftwarePublic>>,
}

struct Encrypting {
    oaep: OaepPublicEncryptingKey,
    pkcs1: Pkcs1PublicEncryptingKey,
}

/// Which signatures aws-lc-rs verifies, from which size of the key on.
static VERIFYING: [(SignatureMethod, usize, &RsaParameters); 7] = [
    (SignatureMethod::Rsa(DigestMethod::Sha1), 1024, &signature::RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY),
    (SignatureMethod::Rsa(DigestMethod::Sha256), 1024, &signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY),
    (SignatureMethod::Rsa(DigestMethod::Sha384), LIBRARY_BITS_MIN, &signature::RSA_PKCS1_2048_8192_SHA384),
    (SignatureMethod::Rsa(DigestMethod::Sha512), 1024, &signature::RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY),
    (SignatureMethod::RsaPss(DigestMethod::Sha256), LIBRARY_BITS_MIN, &signature::RSA_PSS_2048_8192_SHA256),
    (SignatureMethod::RsaPss(DigestMethod::Sha384), LIBRARY_BITS_MIN, &signature::RSA_PSS_2048_8192_SHA384),
    (SignatureMethod::RsaPss(DigestMethod::Sha512), LIBRARY_BITS_MIN, &signature::RSA_PSS_2048_8192_SHA512),
];

impl RsaPublic {
    /// Of an `RSAPublicKey` of PKCS#1.
    pub(super) fn from_pkcs1(der: &[u8]) -> Result<RsaPublic, CryptoError> {
        let numbers = |der| {
            let mut reader = Reader::new(der);
            let mut key = reader.sequence()?;
            reader.finish()?;
            let numbers = (key.unsigned()?, key.unsigned()?);
            key.finish().map(|()| numbers)
        };
        let (modulus, exponent) = numbers(der).map_err(|_| CryptoError::Key)?;
        RsaPublic::new(modulus, exponent)
    }

    pub(super) fn new(modulus: &[u8], exponent: &[u8]) -> Result<RsaPublic, CryptoError> {
        let (modulus, exponent) = (der::trim(modulus), der::trim(exponent));
        let (Some(first), Some(last)) = (modulus.first(), modulus.last()) else { return Err(CryptoError::Key) };
        let bits = modulus.len() * 8 - first.leading_zeros() as usize;
        // A large exponent is a way to keep a verifier busy; everybody's fits into four bytes.
        let exponent_is_fine = exponent.len() <= 4 && exponent.last().is_some_and(|last| last % 2 == 1);
        if !BITS.contains(&bits) || last % 2 == 0 || !exponent_is_fine || exponent == [1] {
            return Err(CryptoError::Key);
        }
        Ok(RsaPublic {
            spki: spki(modulus, exponent),
            modulus: modulus.to_vec(),
            exponent: exponent.to_vec(),
            bits,
            parsed: Default::default(),
            encrypting: OnceLock::new(),
            software: OnceLock::new(),
        })
    }

    pub(super) fn verify(&self, method: SignatureMethod, message: &[u8], value: &[u8]) -> Result<(), CryptoError> {
        if value.len() != self.modulus.len() {
            return Err(CryptoError::Signature);
        }
        let found = VERIFYING.iter().zip(&self.parsed);
        match found.clone().find(|((known, from, _), _)| *known == method && self.bits >= *from) {
            Some(((_, _, parameters), parsed)) => parsed
                .get_or_init(|| ParsedPublicKey::new(*parameters, &self.spki).ok())
                .as_ref()
                .ok_or(CryptoError::Key)?
                .verify_sig(message, value)
                .map_err(|_| CryptoError::Signature),
            None => self.software()?.verify(method, &digest(method.digest(), message), value),
        }
    }

    pub(super) fn encrypt(&self, transport: KeyTransport, key: &[u8]) -> Result<Vec<u8>, CryptoError> {
        if self.bits < LIBRARY_BITS_MIN {
            return self.software()?.encrypt(transport, key);
        }
        let Encrypting { oaep, pkcs1 } = self.encrypting()?;
        let mut encrypted = vec![0; self.modulus.len()];
        let done = match transport {
            KeyTransport::Rsa15 => pkcs1.encrypt(key, &mut encrypted).map(drop),
            KeyTransport::RsaOaep { digest, mask } => match oaep_algorithm(digest, mask) {
                Some(algorithm) => oaep.encrypt(algorithm, key, &mut encrypted, None).map(drop),
                None => return self.software()?.encrypt(transport, key),
            },
        };
        done.map(|()| encrypted).map_err(|_| CryptoError::TooLong)
    }

    fn encrypting(&self) -> Result<&Encrypting, CryptoError> {
        let made = self.encrypting.get_or_init(|| {
            let key = PublicEncryptingKey::from_der(&self.spki).ok()?;
            let (oaep, pkcs1) = (OaepPublicEncryptingKey::new(key.clone()), Pkcs1PublicEncryptingKey::new(key));
            Some(Encrypting { oaep: oaep.ok()?, pkcs1: pkcs1.ok()? })
        });
        made.as_ref().ok_or(CryptoError::Key)
    }

    fn software(&self) -> Result<&SoftwarePublic, CryptoError> {
        let made = self.software.get_or_init(|| SoftwarePublic::new(&self.modulus, &self.exponent).ok());
        made.as_ref().ok_or(CryptoError::Key)
    }
}

fn spki(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    let key = der::element(der::SEQUENCE, &[&der::unsigned(modulus), &der::unsigned(exponent)]);
    der::element(der::SEQUENCE, &[&algorithm(), &der::element(der::BIT_STRING, &[&[0], &key])])
}

/// The `AlgorithmIdentifier` of RSA.
fn algorithm() -> Vec<u8> {
    let identifier = der::element(der::OBJECT_IDENTIFIER, &[OBJECT_IDENTIFIER]);
    der::element(der::SEQUENCE, &[&identifier, &der::element(der::NULL, &[])])
}

/// What aws-lc-rs calls OAEP with these digests; it has none where they differ.
fn oaep_algorithm(digest: DigestMethod, mask: DigestMethod) -> Option<&'static OaepAlgorithm> {
    match (digest, mask) {
        (DigestMethod::Sha1, DigestMethod::Sha1) => Some(&OAEP_SHA1_MGF1SHA1),
        (DigestMethod::Sha256, DigestMethod::Sha256) => Some(&OAEP_SHA256_MGF1SHA256),
        (DigestMethod::Sha384, DigestMethod::Sha384) => Some(&OAEP_SHA384_MGF1SHA384),
        (DigestMethod::Sha512, DigestMethod::Sha512) => Some(&OAEP_SHA512_MGF1SHA512),
        _ => None,
    }
}

/// A private key.
pub(super) struct RsaPrivate {
    modulus_bytes: usize,
    library: Option<Library>,
    software: Option<SoftwarePrivate>,
}

struct Library {
    signing: KeyPair,
    oaep: OaepPrivateDecryptingKey,
    pkcs1: Pkcs1PrivateDecryptingKey,
}

impl RsaPrivate {
    /// Of an `RSAPrivateKey` of PKCS#1, with its public half.
    pub(super) fn from_pkcs1(der: &[u8]) -> Result<(RsaPrivate, RsaPublic), CryptoError> {
        let numbers = |der| {
            let mut key = Reader::new(der).sequence()?;
            key.small()?;
            Ok((key.unsigned()?, key.unsigned()?))
        };
        let (modulus, exponent) = numbers(der).map_err(|_: der::Damaged| CryptoError::Key)?;
        let public = RsaPublic::new(modulus, exponent)?;
        let library = if public.bits < LIBRARY_BITS_MIN { None } else { Library::from_pkcs1(der) };
        let software = SoftwarePrivate::from_pkcs1(der).ok();
        if library.is_none() && software.is_none() {
            return Err(CryptoError::Key);
        }
        Ok((RsaPrivate { modulus_bytes: public.modulus.len(), library, software }, public))
    }

    pub(super) fn sign(&self, method: SignatureMethod, message: &[u8]) -> Result<Vec<u8>, CryptoError> {
        if let (Some(library), Some(encoding)) = (&self.library, signing(method)) {
            let mut value = vec![0; self.modulus_bytes];
            let signed = library.signing.sign(encoding, &SystemRandom::new(), message, &mut value);
            return signed.map(|()| value).map_err(|_| CryptoError::TooLong);
        }
        self.software()?.sign(method, &digest(method.digest(), message))
    }

    pub(super) fn decrypt(
        &self,
        transport: KeyTransport,
        encrypted: &[u8],
        expected: Option<usize>,
    ) -> Result<Secret, CryptoError> {
        match transport {
            KeyTransport::Rsa15 => {
                // Made before, so that it takes the same time in both cases.
                let instead = random(expected.unwrap_or(RANDOM_KEY_BYTES))?;
                let decrypted = self.decrypt_raw(transport, encrypted);
                Ok(decrypted.ok().filter(|key| fits(key, expected)).unwrap_or(instead))
            }
            KeyTransport::RsaOaep { .. } => {
                let key = self.decrypt_raw(transport, encrypted)?;
                if fits(&key, expected) { Ok(key) } else { Err(CryptoError::Decryption) }
            }
        }
    }

    fn decrypt_raw(&self, transport: KeyTransport, encrypted: &[u8]) -> Result<Secret, CryptoError> {
        let Some(library) = &self.library else { return self.software()?.decrypt(transport, encrypted) };
        let mut plain = vec![0; self.modulus_bytes];
        let length = match transport {
            KeyTransport::Rsa15 => library.pkcs1.decrypt(encrypted, &mut plain).map(|plain| plain.len()),
            KeyTransport::RsaOaep { digest, mask } => match oaep_algorithm(digest, mask) {
                Some(algorithm) => {
                    library.oaep.decrypt(algorithm, encrypted, &mut plain, None).map(|plain| plain.len())
                }
                None => return self.software()?.decrypt(transport, encrypted),
            },
        };
        let mut plain = Secret::from(plain);
        plain.truncate(length.map_err(|_| CryptoError::Decryption)?);
        Ok(plain)
    }

    pub(super) fn to_pkcs8(&self) -> Result<Secret, CryptoError> {
        let signing = self.library.as_ref().map(|library| &library.signing).ok_or(CryptoError::Key)?;
        let der: Pkcs8V1Der<'static> = signing.as_der().map_err(|_| CryptoError::Key)?;
        Ok(Secret::from(der.as_ref()))
    }

    fn software(&self) -> Result<&SoftwarePrivate, CryptoError> {
        self.software.as_ref().ok_or(CryptoError::Key)
    }
}

fn fits(key: &Secret, expected: Option<usize>) -> bool {
    expected.is_none_or(|expected| key.len() == expected)
}

impl Library {
    fn from_pkcs1(der: &[u8]) -> Option<Library> {
        let private = der::element(der::OCTET_STRING, &[der]);
        let pkcs8 = der::element(der::SEQUENCE, &[&der::unsigned(&[0]), &algorithm(), &private]);
        let (_private, pkcs8) = (Secret::from(private), Secret::from(pkcs8));
        let decrypting = PrivateDecryptingKey::from_pkcs8(pkcs8.as_ref()).ok()?;
        Some(Library {
            signing: KeyPair::from_der(der).ok()?,
            oaep: OaepPrivateDecryptingKey::new(decrypting.clone()).ok()?,
            pkcs1: Pkcs1PrivateDecryptingKey::new(decrypting).ok()?,
        })
    }
}

/// What aws-lc-rs calls a way to sign; it has none with SHA-1.
fn signing(method: SignatureMethod) -> Option<&'static dyn RsaEncoding> {
    match method {
        SignatureMethod::Rsa(DigestMethod::Sha256) => Some(&signature::RSA_PKCS1_SHA256),
        SignatureMethod::Rsa(DigestMethod::Sha384) => Some(&signature::RSA_PKCS1_SHA384),
        SignatureMethod::Rsa(DigestMethod::Sha512) => Some(&signature::RSA_PKCS1_SHA512),
        SignatureMethod::RsaPss(DigestMethod::Sha256) => Some(&signature::RSA_PSS_SHA256),
        SignatureMethod::RsaPss(DigestMethod::Sha384) => Some(&signature::RSA_PSS_SHA384),
        SignatureMethod::RsaPss(DigestMethod::Sha512) => Some(&signature::RSA_PSS_SHA512),
        _ => None,
    }
}
