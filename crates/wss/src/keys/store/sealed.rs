//! What is encrypted under a password: how the key comes from it, and which cipher it is for.
//!
//! Source: RFC 8018 (PBES2), RFC 7292 §B, §C (PKCS#12), and Java's own two ways.

use std::num::NonZeroU32;

use aws_lc_rs::pbkdf2;
use md5::{Digest as _, Md5};
use rc2::Rc2;
use rc2::cipher::{BlockCipherDecrypt, KeyInit};

use super::super::PrivateKey;
use super::super::certificate::dotted;
use super::super::der::{self, Damaged, Reader};
use super::error::KeyStoreError;
use crate::algorithm::{DigestMethod, KeyBits};
use crate::crypto::{Chained, Hasher, Secret, decrypt_blocks, digest, hmac};

/// Why something cannot be opened.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The password is wrong, or the bytes are damaged.
    Wrong,
    /// The way is not supported: which.
    Unsupported(String),
    /// No password is given.
    NoPassword,
    /// The bytes are damaged.
    Damaged(Damaged),
}

impl From<Damaged> for Failure {
    fn from(damaged: Damaged) -> Failure {
        Failure::Damaged(damaged)
    }
}

/// How many rounds of digests may still be made for one store: a few bytes can ask for years of them.
pub(super) struct Budget(u32);

impl Default for Budget {
    fn default() -> Budget {
        Budget(10_000_000)
    }
}

impl Budget {
    fn take(&mut self, rounds: u32) -> Result<NonZeroU32, Failure> {
        let rounds = NonZeroU32::new(rounds).ok_or(Damaged("it asks for no round at all"))?;
        self.0 = self.0.checked_sub(rounds.get()).ok_or_else(|| Failure::Unsupported(format!("of {rounds} rounds")))?;
        Ok(rounds)
    }
}

/// A longer salt is nobody's.
const SALT_BYTES_MAX: usize = 1024;

/// A password in UTF-16, as Java and PKCS#12 take it.
pub(super) fn utf16(password: &Secret) -> Secret {
    let text = String::from_utf8_lossy(password.as_ref());
    let mut bytes = Secret::default();
    text.encode_utf16().for_each(|unit| bytes.extend(&unit.to_be_bytes()));
    bytes
}

/// Decrypts an `EncryptedPrivateKeyInfo` and reads the key.
pub(super) fn open_key(sealed: &[u8], password: &Secret, budget: &mut Budget) -> Result<PrivateKey, KeyStoreError> {
    let open = |budget| {
        let mut reader = Reader::new(sealed);
        let mut info = reader.sequence()?;
        reader.finish()?;
        let (algorithm, parameters) = info.algorithm()?;
        open(algorithm, parameters, info.expect(der::OCTET_STRING)?, password, budget)
    };
    let der = open(budget).map_err(|failure| match failure {
        Failure::Wrong => KeyStoreError::WrongKeyPassword,
        Failure::NoPassword => KeyStoreError::KeyPasswordMissing,
        Failure::Unsupported(what) => KeyStoreError::UnsupportedAlgorithm(what),
        Failure::Damaged(_) => KeyStoreError::Key,
    })?;
    // One in many wrong passwords gives a padding that looks right, and then no key.
    if Reader::new(der.as_ref()).sequence().is_err() {
        return Err(KeyStoreError::WrongKeyPassword);
    }
    PrivateKey::from_der(der.as_ref()).map_err(|_| KeyStoreError::Key)
}

/// `1.3.6.1.4.1.42.2.17.1.1`: the digest of JKS.
const JKS: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x2a, 0x02, 0x11, 0x01, 0x01];
/// `1.3.6.1.4.1.42.2.19.1`: MD5 and triple DES of JCEKS.
const JCEKS: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x2a, 0x02, 0x13, 0x01];
/// `1.2.840.113549.1.12.1`, before the number of a way of PKCS#12.
const PKCS12: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x01];
/// `1.2.840.113549.1.5`, before the number of a way of PKCS#5.
const PKCS5: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05];
const PBKDF2: u8 = 12;
const PBES2: u8 = 13;

/// Decrypts what was encrypted under a password in any of the ways.
pub(super) fn open(
    algorithm: &[u8],
    parameters: Reader<'_>,
    data: &[u8],
    password: &Secret,
    budget: &mut Budget,
) -> Result<Secret, Failure> {
    if algorithm == JKS {
        return open_jks(data, password);
    }
    if algorithm == JCEKS {
        return open_jceks(parameters, data, password, budget);
    }
    if let Some([PBES2]) = algorithm.strip_prefix(PKCS5) {
        return open_pbes2(parameters, data, password, budget);
    }
    match algorithm.strip_prefix(PKCS12) {
        Some([3]) => open_pkcs12(Legacy::TripleDes(24), parameters, data, password, budget),
        Some([4]) => open_pkcs12(Legacy::TripleDes(16), parameters, data, password, budget),
        Some([5]) => open_pkcs12(Legacy::Rc2(16), parameters, data, password, budget),
        Some([6]) => open_pkcs12(Legacy::Rc2(5), parameters, data, password, budget),
        _ => Err(unsupported(algorithm)),
    }
}

/// What is said of a way that is not supported: its object identifier.
pub(super) fn unsupported(algorithm: &[u8]) -> Failure {
    Failure::Unsupported(dotted(algorithm))
}

/// The plaintext is worked into a chain of digests that begins with the salt; its own digest stands behind it.
fn open_jks(data: &[u8], password: &Secret) -> Result<Secret, Failure> {
    const BYTES: usize = 20;
    let cut = Damaged("a sealed key is too short");
    let (salt, rest) = data.split_first_chunk::<BYTES>().ok_or(cut)?;
    let (sealed, check) = rest.split_last_chunk::<BYTES>().ok_or(cut)?;
    let password = utf16(password);
    let with_password = |bytes: &[u8]| {
        let mut hasher = Hasher::new(DigestMethod::Sha1);
        hasher.update(password.as_ref());
        hasher.update(bytes);
        hasher.finish()
    };
    let mut plain = sealed.to_vec();
    let mut stream = with_password(salt);
    for block in plain.chunks_mut(BYTES) {
        block.iter_mut().zip(stream.as_ref()).for_each(|(byte, mask)| *byte ^= mask);
        stream = with_password(stream.as_ref());
    }
    let plain = Secret::from(plain);
    if with_password(plain.as_ref()).as_ref() == check { Ok(plain) } else { Err(Failure::Wrong) }
}

/// Each half of the salt is digested with the password again and again; the two results are key and vector.
fn open_jceks(
    mut parameters: Reader<'_>,
    data: &[u8],
    password: &Secret,
    budget: &mut Budget,
) -> Result<Secret, Failure> {
    let mut parameters = parameters.sequence()?;
    let salt: &[u8; 8] =
        parameters.expect(der::OCTET_STRING)?.try_into().map_err(|_| Damaged("a salt has not eight bytes"))?;
    let rounds = budget.take(parameters.small()?)?;
    // Java takes the low byte of each character.
    let text = String::from_utf8_lossy(password.as_ref());
    let password = Secret::from(text.encode_utf16().map(|unit| unit as u8).collect::<Vec<u8>>());
    let mut derived = Secret::default();
    for half in salt.chunks(4) {
        let mut made = Md5::new().chain_update(half).chain_update(password.as_ref()).finalize();
        for _ in 1..rounds.get() {
            made = Md5::new().chain_update(made).chain_update(password.as_ref()).finalize();
        }
        derived.extend(&made);
    }
    let (key, vector) = derived.as_ref().split_at(24);
    decrypt_padded(Chained::TripleDes, key, vector, data)
}

fn open_pbes2(
    mut parameters: Reader<'_>,
    data: &[u8],
    password: &Secret,
    budget: &mut Budget,
) -> Result<Secret, Failure> {
    let mut parameters = parameters.sequence()?;
    let (derivation, derivation_parameters) = parameters.algorithm()?;
    let (cipher, mut vector) = parameters.algorithm()?;
    let (cipher, key_bytes) = match cipher {
        [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, number] => match number {
            2 => (Chained::Aes(KeyBits::Bits128), 16),
            22 => (Chained::Aes(KeyBits::Bits192), 24),
            42 => (Chained::Aes(KeyBits::Bits256), 32),
            _ => return Err(unsupported(cipher)),
        },
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x03, 0x07] => (Chained::TripleDes, 24),
        _ => return Err(unsupported(cipher)),
    };
    let vector = vector.expect(der::OCTET_STRING)?;
    let key = derive(derivation, derivation_parameters, password, key_bytes, budget)?;
    decrypt_padded(cipher, key.as_ref(), vector, data)
}

/// Derives a key by PBKDF2, the only way that is supported.
///
/// Source: RFC 8018 §5.2, §A.2.
pub(super) fn derive(
    algorithm: &[u8],
    mut parameters: Reader<'_>,
    password: &Secret,
    bytes: usize,
    budget: &mut Budget,
) -> Result<Secret, Failure> {
    if algorithm.strip_prefix(PKCS5) != Some(&[PBKDF2]) {
        return Err(unsupported(algorithm));
    }
    let mut parameters = parameters.sequence()?;
    let salt = parameters.expect(der::OCTET_STRING)?;
    let rounds = budget.take(parameters.small()?)?;
    if parameters.peek() == Some(der::INTEGER) && parameters.small()? as usize != bytes {
        return Err(Damaged("the derived key is not as long as the cipher wants it").into());
    }
    let digest = match parameters.is_empty() {
        true => pbkdf2::PBKDF2_HMAC_SHA1,
        false => {
            let (keyed, _) = parameters.algorithm()?;
            match keyed_digest(keyed) {
                Some(DigestMethod::Sha1) => pbkdf2::PBKDF2_HMAC_SHA1,
                Some(DigestMethod::Sha256) => pbkdf2::PBKDF2_HMAC_SHA256,
                Some(DigestMethod::Sha384) => pbkdf2::PBKDF2_HMAC_SHA384,
                Some(DigestMethod::Sha512) => pbkdf2::PBKDF2_HMAC_SHA512,
                None => return Err(unsupported(keyed)),
            }
        }
    };
    let mut key = vec![0; bytes];
    pbkdf2::derive(digest, rounds, salt, password.as_ref(), &mut key);
    Ok(Secret::from(key))
}

/// The digest in a keyed one, `1.2.840.113549.2.x`.
pub(super) fn keyed_digest(identifier: &[u8]) -> Option<DigestMethod> {
    match identifier {
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, number] => match number {
            7 => Some(DigestMethod::Sha1),
            9 => Some(DigestMethod::Sha256),
            10 => Some(DigestMethod::Sha384),
            11 => Some(DigestMethod::Sha512),
            _ => None,
        },
        _ => None,
    }
}

/// A cipher of the first PKCS#12, with the bytes of its key.
#[derive(Clone, Copy)]
enum Legacy {
    TripleDes(usize),
    Rc2(usize),
}

fn open_pkcs12(
    cipher: Legacy,
    mut parameters: Reader<'_>,
    data: &[u8],
    password: &Secret,
    budget: &mut Budget,
) -> Result<Secret, Failure> {
    let mut parameters = parameters.sequence()?;
    let salt = parameters.expect(der::OCTET_STRING)?;
    let rounds = parameters.small()?;
    let mut derive = |purpose, bytes| derive_pkcs12(DigestMethod::Sha1, purpose, password, salt, rounds, bytes, budget);
    let vector = derive(Purpose::Vector, 8)?;
    match cipher {
        Legacy::TripleDes(bytes) => {
            decrypt_padded(Chained::TripleDes, derive(Purpose::Key, bytes)?.as_ref(), vector.as_ref(), data)
        }
        Legacy::Rc2(bytes) => decrypt_rc2(derive(Purpose::Key, bytes)?.as_ref(), vector.as_ref(), data),
    }
}

/// What bytes are derived for.
///
/// Source: RFC 7292 §B.3.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    Key = 1,
    Vector = 2,
    Integrity = 3,
}

/// Derives bytes as the first PKCS#12 does.
///
/// Source: RFC 7292 §B.2.
pub(super) fn derive_pkcs12(
    method: DigestMethod,
    purpose: Purpose,
    password: &Secret,
    salt: &[u8],
    rounds: u32,
    bytes: usize,
    budget: &mut Budget,
) -> Result<Secret, Failure> {
    if salt.len() > SALT_BYTES_MAX {
        return Err(Damaged("a salt is too long").into());
    }
    let block = match method {
        DigestMethod::Sha1 | DigestMethod::Sha256 => 64,
        DigestMethod::Sha384 | DigestMethod::Sha512 => 128,
    };
    let mut password = utf16(password);
    password.extend(&[0, 0]);
    let mut state = Secret::default();
    for part in [salt, password.as_ref()] {
        let filled = part.len().next_multiple_of(block);
        part.iter().cycle().take(filled).for_each(|byte| state.extend(&[*byte]));
    }
    let mut state = state.as_ref().to_vec();
    let mut derived = Secret::default();
    while derived.len() < bytes {
        let mut hasher = Hasher::new(method);
        hasher.update(&vec![purpose as u8; block]);
        hasher.update(&state);
        let mut made = hasher.finish();
        for _ in 1..budget.take(rounds)?.get() {
            made = digest(method, made.as_ref());
        }
        derived.extend(made.as_ref());
        for part in state.chunks_mut(block) {
            add_and_one(part, made.as_ref());
        }
    }
    drop(Secret::from(state));
    derived.truncate(bytes);
    Ok(derived)
}

/// Adds the number that `other`, repeated, stands for, and one, to a number of as many bytes.
fn add_and_one(number: &mut [u8], other: &[u8]) {
    let mut carry = 1;
    for (at, byte) in number.iter_mut().enumerate().rev() {
        let sum = u16::from(*byte) + u16::from(other[at % other.len()]) + carry;
        *byte = sum as u8;
        carry = sum >> 8;
    }
}

fn decrypt_padded(cipher: Chained, key: &[u8], vector: &[u8], data: &[u8]) -> Result<Secret, Failure> {
    let mut plain = data.to_vec();
    let decrypted = decrypt_blocks(cipher, key, vector, &mut plain);
    let plain = Secret::from(plain);
    decrypted.map_err(|_| Damaged("what is encrypted does not fill its blocks"))?;
    without_padding(plain, cipher.block_bytes())
}

fn decrypt_rc2(key: &[u8], vector: &[u8], data: &[u8]) -> Result<Secret, Failure> {
    const BLOCK: usize = 8;
    if !data.len().is_multiple_of(BLOCK) {
        return Err(Damaged("what is encrypted does not fill its blocks").into());
    }
    let cipher = Rc2::new_from_slice(key).map_err(|_| Failure::Wrong)?;
    let mut plain = data.to_vec();
    let before = std::iter::once(vector).chain(data.chunks(BLOCK));
    for (block, before) in plain.chunks_mut(BLOCK).zip(before) {
        let mut decrypted = [0; BLOCK].into();
        block.iter().zip(&mut decrypted).for_each(|(byte, room): (&u8, &mut u8)| *room = *byte);
        cipher.decrypt_block(&mut decrypted);
        block.iter_mut().zip(decrypted.iter().zip(before)).for_each(|(byte, (plain, mask))| *byte = plain ^ mask);
    }
    without_padding(Secret::from(plain), BLOCK)
}

/// Takes the padding off, each byte of which is its length.
///
/// Source: RFC 8018 §6.1.1.
fn without_padding(mut plain: Secret, block: usize) -> Result<Secret, Failure> {
    let &padding = plain.as_ref().last().ok_or(Failure::Wrong)?;
    let length = plain.len().checked_sub(usize::from(padding)).ok_or(Failure::Wrong)?;
    let is_padding = padding > 0 && usize::from(padding) <= block;
    if !is_padding || plain.as_ref()[length..].iter().any(|&byte| byte != padding) {
        return Err(Failure::Wrong);
    }
    plain.truncate(length);
    Ok(plain)
}

/// Checks a keyed digest under a password.
pub(super) fn check(method: DigestMethod, key: &Secret, data: &[u8], expected: &[u8]) -> Result<(), Failure> {
    if hmac(method, key.as_ref(), data).as_ref() == expected { Ok(()) } else { Err(Failure::Wrong) }
}
