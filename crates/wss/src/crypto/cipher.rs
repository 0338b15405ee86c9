//! Data encrypted with a key that both sides have, laid out as XML Encryption says: the vector first.
//!
//! Source: XML Encryption 1.1 §5.2.

use aws_lc_rs::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::cipher::{self, DecryptingKey, DecryptionContext, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;
use zeroize::Zeroize;

use super::{CryptoError, fill};
use crate::algorithm::{BlockCipher, KeyBits};

const GCM_NONCE_BYTES: usize = 12;

/// Encrypts `plain` and appends vector and ciphertext (with GCM's tag) to `out`.
///
/// Errors: `KeyLength`; `Random`.
pub fn encrypt(cipher: BlockCipher, key: &[u8], plain: &[u8], out: &mut Vec<u8>) -> Result<(), CryptoError> {
    encrypt_with(cipher, key, out, |out| out.extend_from_slice(plain))
}

/// As [`encrypt`], with what `write` appends to `out`.
///
/// Errors: as there.
pub fn encrypt_with(
    cipher: BlockCipher,
    key: &[u8],
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>),
) -> Result<(), CryptoError> {
    check_length(cipher, key)?;
    let start = out.len();
    let done = match cipher {
        BlockCipher::AesGcm(bits) => encrypt_gcm(bits, key, out, write),
        BlockCipher::AesCbc(bits) => encrypt_chained(Chained::Aes(bits), key, out, write),
        BlockCipher::TripleDesCbc => encrypt_chained(Chained::TripleDes, key, out, write),
    };
    if done.is_err() {
        // What was written until then may be plaintext.
        out[start..].zeroize();
        out.truncate(start);
    }
    done
}

/// Decrypts vector and ciphertext in place: `data` holds the plaintext afterwards.
///
/// The padding of chained ciphers is XML Encryption's, of which only the last byte means something. What is wrong with
/// a ciphertext is never told, and what was in `data` is of no use after an error.
/// Errors: `KeyLength`; `Decryption` for everything that the ciphertext's author could cause.
pub fn decrypt(cipher: BlockCipher, key: &[u8], data: &mut Vec<u8>) -> Result<(), CryptoError> {
    check_length(cipher, key)?;
    let plain = match cipher {
        BlockCipher::AesGcm(bits) => decrypt_gcm(bits, key, data),
        BlockCipher::AesCbc(bits) => decrypt_chained(Chained::Aes(bits), key, data),
        BlockCipher::TripleDesCbc => decrypt_chained(Chained::TripleDes, key, data),
    };
    let Ok((start, end)) = plain else {
        data.zeroize();
        return Err(CryptoError::Decryption);
    };
    data.truncate(end);
    data.drain(..start);
    Ok(())
}

fn check_length(cipher: BlockCipher, key: &[u8]) -> Result<(), CryptoError> {
    let (expected, got) = (cipher.key_bytes(), key.len());
    if expected == got { Ok(()) } else { Err(CryptoError::KeyLength { expected, got }) }
}

fn gcm_key(bits: KeyBits, key: &[u8]) -> Result<LessSafeKey, CryptoError> {
    let algorithm = match bits {
        KeyBits::Bits128 => &aead::AES_128_GCM,
        KeyBits::Bits192 => &aead::AES_192_GCM,
        KeyBits::Bits256 => &aead::AES_256_GCM,
    };
    UnboundKey::new(algorithm, key).map(LessSafeKey::new).map_err(|_| CryptoError::Key)
}

fn encrypt_gcm(
    bits: KeyBits,
    key: &[u8],
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>),
) -> Result<(), CryptoError> {
    let key = gcm_key(bits, key)?;
    let mut nonce = [0; GCM_NONCE_BYTES];
    fill(&mut nonce)?;
    out.extend_from_slice(&nonce);
    let start = out.len();
    write(out);
    let nonce = Nonce::assume_unique_for_key(nonce);
    let tag = key.seal_in_place_separate_tag(nonce, Aad::empty(), &mut out[start..]);
    out.extend_from_slice(tag.map_err(|_| CryptoError::TooLong)?.as_ref());
    Ok(())
}

/// Where the plaintext lies afterwards.
fn decrypt_gcm(bits: KeyBits, key: &[u8], data: &mut [u8]) -> Result<(usize, usize), CryptoError> {
    let key = gcm_key(bits, key)?;
    let (nonce, sealed) = data.split_first_chunk_mut::<GCM_NONCE_BYTES>().ok_or(CryptoError::Decryption)?;
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let plain = key.open_in_place(nonce, Aad::empty(), sealed).map_err(|_| CryptoError::Decryption)?;
    Ok((GCM_NONCE_BYTES, GCM_NONCE_BYTES + plain.len()))
}

/// A cipher whose blocks are chained.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chained {
    /// AES.
    Aes(KeyBits),
    /// DES three times, with a key of 24 bytes; in key stores also of 16, of which the first eight come again.
    TripleDes,
}

impl Chained {
    pub(crate) fn block_bytes(self) -> usize {
        match self {
            Chained::Aes(_) => 16,
            Chained::TripleDes => 8,
        }
    }

    fn key(self, key: &[u8]) -> Result<UnboundCipherKey, CryptoError> {
        // Whoever gets this far has a policy or a key store that names the old one.
        #[expect(deprecated, reason = "the only implementation of what older partners and key stores still use")]
        let algorithm = match self {
            Chained::Aes(KeyBits::Bits128) => &cipher::AES_128,
            Chained::Aes(KeyBits::Bits192) => &cipher::AES_192,
            Chained::Aes(KeyBits::Bits256) => &cipher::AES_256,
            Chained::TripleDes if key.len() == 16 => &cipher::DES_EDE_FOR_LEGACY_USE_ONLY,
            Chained::TripleDes => &cipher::DES_EDE3_FOR_LEGACY_USE_ONLY,
        };
        UnboundCipherKey::new(algorithm, key).map_err(|_| CryptoError::Key)
    }
}

fn encrypt_chained(
    cipher: Chained,
    key: &[u8],
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>),
) -> Result<(), CryptoError> {
    let block = cipher.block_bytes();
    let key = EncryptingKey::cbc(cipher.key(key)?).map_err(|_| CryptoError::Key)?;
    let mut vector = [0; 16];
    fill(&mut vector[..block])?;
    out.extend_from_slice(&vector[..block]);
    let start = out.len();
    write(out);
    let padding = block - (out.len() - start) % block;
    out.resize(out.len() + padding - 1, 0);
    // A block has at most 16 bytes.
    out.push(padding as u8);
    let context = match cipher {
        Chained::Aes(_) => EncryptionContext::Iv128(FixedLength::from(vector)),
        Chained::TripleDes => EncryptionContext::Iv64(FixedLength::from(first_eight(&vector))),
    };
    key.less_safe_encrypt(&mut out[start..], context).map(drop).map_err(|_| CryptoError::TooLong)
}

/// Where the plaintext lies afterwards.
fn decrypt_chained(cipher: Chained, key: &[u8], data: &mut [u8]) -> Result<(usize, usize), CryptoError> {
    let block = cipher.block_bytes();
    let (vector, blocks) = data.split_at_mut_checked(block).ok_or(CryptoError::Decryption)?;
    decrypt_blocks(cipher, key, vector, blocks)?;
    let padding = usize::from(*blocks.last().ok_or(CryptoError::Decryption)?);
    if padding == 0 || padding > block {
        return Err(CryptoError::Decryption);
    }
    Ok((block, data.len() - padding))
}

/// Decrypts whole blocks in place, with their padding.
///
/// Errors: `Decryption` where they are not whole or the vector is not as long as a block; `Key`.
pub(crate) fn decrypt_blocks(cipher: Chained, key: &[u8], vector: &[u8], data: &mut [u8]) -> Result<(), CryptoError> {
    let key = DecryptingKey::cbc(cipher.key(key)?).map_err(|_| CryptoError::Key)?;
    if vector.len() != cipher.block_bytes() || !data.len().is_multiple_of(cipher.block_bytes()) {
        return Err(CryptoError::Decryption);
    }
    let mut whole = [0; 16];
    whole[..vector.len()].copy_from_slice(vector);
    let context = match cipher {
        Chained::Aes(_) => DecryptionContext::Iv128(FixedLength::from(whole)),
        Chained::TripleDes => DecryptionContext::Iv64(FixedLength::from(first_eight(&whole))),
    };
    key.decrypt(data, context).map(drop).map_err(|_| CryptoError::Decryption)
}

fn first_eight(vector: &[u8; 16]) -> [u8; 8] {
    *vector.first_chunk().expect("sixteen bytes begin with eight")
}

#[cfg(test)]
mod tests {
    use super::super::random;
    use super::*;

    const ALL: [BlockCipher; 7] = [
        BlockCipher::AesCbc(KeyBits::Bits128),
        BlockCipher::AesCbc(KeyBits::Bits192),
        BlockCipher::AesCbc(KeyBits::Bits256),
        BlockCipher::AesGcm(KeyBits::Bits128),
        BlockCipher::AesGcm(KeyBits::Bits192),
        BlockCipher::AesGcm(KeyBits::Bits256),
        BlockCipher::TripleDesCbc,
    ];

    #[test]
    fn what_was_encrypted_comes_back() {
        for cipher in ALL {
            let key = random(cipher.key_bytes()).expect("random");
            for length in 0..70 {
                let plain = vec![7; length];
                let mut data = b"before".to_vec();
                encrypt(cipher, key.as_ref(), &plain, &mut data).expect("encrypts");
                let mut data = data.split_off(6);
                decrypt(cipher, key.as_ref(), &mut data).expect("decrypts");
                assert_eq!(data, plain, "{cipher:?}");
            }
        }
    }

    #[test]
    fn each_cause_of_failure_looks_the_same() {
        for cipher in ALL {
            let key = random(cipher.key_bytes()).expect("random");
            for data in [&b""[..], &[0; 7], &[0; 8], &[0; 15], &[0; 16], &[0; 17], &[0; 28], &[0; 40]] {
                let mut data = data.to_vec();
                // The last byte of a random block is a padding in one of sixteen cases.
                if let Err(error) = decrypt(cipher, key.as_ref(), &mut data) {
                    assert_eq!(error, CryptoError::Decryption, "{cipher:?}");
                }
            }
        }
    }

    #[test]
    fn a_changed_ciphertext_is_noticed_where_the_cipher_can() {
        for cipher in ALL.into_iter().filter(|cipher| cipher.is_authenticated()) {
            let key = random(cipher.key_bytes()).expect("random");
            let mut data = Vec::new();
            encrypt(cipher, key.as_ref(), b"some text", &mut data).expect("encrypts");
            for place in 0..data.len() {
                let mut changed = data.clone();
                changed[place] ^= 1;
                assert_eq!(decrypt(cipher, key.as_ref(), &mut changed), Err(CryptoError::Decryption));
            }
        }
    }

    #[test]
    fn only_the_last_byte_of_a_padding_counts() {
        // XML Encryption 1.1 §5.2.2: the others are arbitrary.
        let key = [1; 16];
        let mut blocks = *b"ab\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e";
        let encrypting = EncryptingKey::cbc(Chained::Aes(KeyBits::Bits128).key(&key).expect("key")).expect("key");
        let context = EncryptionContext::Iv128(FixedLength::from([2; 16]));
        encrypting.less_safe_encrypt(&mut blocks, context).expect("encrypts");
        let mut data = [&[2; 16], &blocks[..]].concat();
        decrypt(BlockCipher::AesCbc(KeyBits::Bits128), &key, &mut data).expect("decrypts");
        assert_eq!(data, b"ab");
    }

    #[test]
    fn a_key_of_another_length_is_refused() {
        for cipher in ALL {
            let expected = Err(CryptoError::KeyLength { expected: cipher.key_bytes(), got: 5 });
            assert_eq!(encrypt(cipher, b"short", b"", &mut Vec::new()), expected);
            assert_eq!(decrypt(cipher, b"short", &mut vec![0; 64]), expected);
        }
    }
}
