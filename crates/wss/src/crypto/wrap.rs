//! Keys encrypted with keys: AES key wrap.
//!
//! The library wraps with 128 and 256 bits only; XML Encryption has 192 too, so the three share one walk over its
//! blocks of AES.
//!
//! Source: RFC 3394 §2.2.

use aws_lc_rs::cipher::{
    self, Algorithm, DecryptingKey, DecryptionContext, EncryptingKey, EncryptionContext, UnboundCipherKey,
};
use aws_lc_rs::constant_time;

use super::{CryptoError, Secret};
use crate::algorithm::{AesKeyWrap, KeyBits};

/// What stands before each key, so that a wrong one is noticed.
const INITIAL: [u8; 8] = [0xa6; 8];

/// Keys longer than this are none of ours; it bounds what a message can make us do.
const KEY_BYTES_MAX: usize = 512;

/// Encrypts a key of at least 16 bytes, in multiples of 8.
///
/// Errors: `KeyLength` for the key that wraps; `Key` for the one to be wrapped.
pub fn wrap(method: AesKeyWrap, key_encryption_key: &[u8], key: &[u8]) -> Result<Vec<u8>, CryptoError> {
    if key.len() < 16 || !key.len().is_multiple_of(8) || key.len() > KEY_BYTES_MAX {
        return Err(CryptoError::Key);
    }
    let cipher = EncryptingKey::ecb(unbound(method, key_encryption_key)?).map_err(|_| CryptoError::Key)?;
    let mut wrapped = [&INITIAL, key].concat();
    let blocks = key.len() / 8;
    for step in 0..6 {
        for block in 1..=blocks {
            let mut pair = pair(&wrapped, block);
            cipher.less_safe_encrypt(&mut pair, EncryptionContext::None).map_err(|_| CryptoError::Key)?;
            count(&mut pair, step * blocks + block);
            put(&mut wrapped, block, &pair);
        }
    }
    Ok(wrapped)
}

/// Decrypts a key.
///
/// Errors: `KeyLength` for the key that wraps; `Decryption` for everything else.
pub fn unwrap(method: AesKeyWrap, key_encryption_key: &[u8], wrapped: &[u8]) -> Result<Secret, CryptoError> {
    let cipher = DecryptingKey::ecb(unbound(method, key_encryption_key)?).map_err(|_| CryptoError::Key)?;
    if wrapped.len() < 24 || !wrapped.len().is_multiple_of(8) || wrapped.len() > KEY_BYTES_MAX + 8 {
        return Err(CryptoError::Decryption);
    }
    let mut key = wrapped.to_vec();
    let blocks = key.len() / 8 - 1;
    for step in (0..6).rev() {
        for block in (1..=blocks).rev() {
            let mut pair = pair(&key, block);
            count(&mut pair, step * blocks + block);
            cipher.decrypt(&mut pair, DecryptionContext::None).map_err(|_| CryptoError::Decryption)?;
            put(&mut key, block, &pair);
        }
    }
    let key = Secret::from(key);
    let (initial, key) = key.as_ref().split_at(8);
    constant_time::verify_slices_are_equal(initial, &INITIAL).map_err(|_| CryptoError::Decryption)?;
    Ok(Secret::from(key))
}

fn unbound(method: AesKeyWrap, key: &[u8]) -> Result<UnboundCipherKey, CryptoError> {
    let algorithm: &'static Algorithm = match method.0 {
        KeyBits::Bits128 => &cipher::AES_128,
        KeyBits::Bits192 => &cipher::AES_192,
        KeyBits::Bits256 => &cipher::AES_256,
    };
    let error = CryptoError::KeyLength { expected: method.0.bytes(), got: key.len() };
    UnboundCipherKey::new(algorithm, key).map_err(|_| error)
}

/// The register, which is the first block, and another block behind it.
fn pair(blocks: &[u8], block: usize) -> [u8; 16] {
    let mut pair = [0; 16];
    pair[..8].copy_from_slice(&blocks[..8]);
    pair[8..].copy_from_slice(&blocks[block * 8..][..8]);
    pair
}

fn put(blocks: &mut [u8], block: usize, pair: &[u8; 16]) {
    blocks[..8].copy_from_slice(&pair[..8]);
    blocks[block * 8..][..8].copy_from_slice(&pair[8..]);
}

/// Works the number of a step into the register.
fn count(pair: &mut [u8; 16], step: usize) {
    for (byte, number) in pair[..8].iter_mut().zip((step as u64).to_be_bytes()) {
        *byte ^= number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect()
    }

    fn check(bits: KeyBits, key_bytes: usize, expected: &str) {
        let key_encryption_key: Vec<u8> = (0..=255).take(bits.bytes()).collect();
        let key = &bytes("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f")[..key_bytes];
        let wrapped = wrap(AesKeyWrap(bits), &key_encryption_key, key).expect("wraps");
        assert_eq!(wrapped, bytes(expected));
        assert_eq!(unwrap(AesKeyWrap(bits), &key_encryption_key, &wrapped).expect("unwraps").as_ref(), key);
    }

    #[test]
    fn wrapped_keys_are_those_of_rfc_3394() {
        // §4.1 to §4.6.
        check(KeyBits::Bits128, 16, "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5");
        check(KeyBits::Bits192, 16, "96778b25ae6ca435f92b5b97c050aed2468ab8a17ad84e5d");
        check(KeyBits::Bits256, 16, "64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7");
        check(KeyBits::Bits192, 24, "031d33264e15d33268f24ec260743edce1c6c7ddee725a936ba814915c6762d2");
        check(KeyBits::Bits256, 24, "a8f9bc1612c68b3ff6e6f4fbe30e71e4769c8b80a32cb8958cd5d17d6b254da1");
        check(KeyBits::Bits256, 32, "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21");
    }

    #[test]
    fn a_changed_key_is_noticed() {
        let wrapped = wrap(AesKeyWrap(KeyBits::Bits128), &[1; 16], &[2; 16]).expect("wraps");
        for place in 0..wrapped.len() {
            let mut changed = wrapped.clone();
            changed[place] ^= 1;
            let got = unwrap(AesKeyWrap(KeyBits::Bits128), &[1; 16], &changed);
            assert_eq!(got.map(drop), Err(CryptoError::Decryption));
        }
        for length in [0, 8, 16, 23, 25] {
            let got = unwrap(AesKeyWrap(KeyBits::Bits128), &[1; 16], &vec![0; length]);
            assert_eq!(got.map(drop), Err(CryptoError::Decryption));
        }
    }
}
