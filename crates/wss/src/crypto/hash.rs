//! Digests and keyed digests.

use std::fmt;

use aws_lc_rs::{constant_time, digest as library, hmac as keyed};
use myelin_xml::c14n::Sink;

use super::Secret;
use crate::algorithm::DigestMethod;

/// Takes bytes piece by piece and gives their digest; a canonical form can be written into it.
#[derive(Clone)]
pub struct Hasher(library::Context);

impl Hasher {
    /// One that has seen nothing.
    pub fn new(method: DigestMethod) -> Hasher {
        Hasher(library::Context::new(algorithm(method)))
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes.
    pub fn finish(self) -> Digest {
        Digest::new(self.0.finish().as_ref())
    }
}

impl Sink for Hasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

/// A digest, as it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    bytes: [u8; library::MAX_OUTPUT_LEN],
    length: u8,
}

impl Digest {
    fn new(bytes: &[u8]) -> Digest {
        let mut digest = Digest { bytes: [0; library::MAX_OUTPUT_LEN], length: bytes.len() as u8 };
        digest.bytes[..bytes.len()].copy_from_slice(bytes);
        digest
    }
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The digest of bytes that lie together.
pub fn digest(method: DigestMethod, bytes: &[u8]) -> Digest {
    Digest::new(library::digest(algorithm(method), bytes).as_ref())
}

/// The keyed digest of bytes.
///
/// Source: RFC 2104.
pub fn hmac(method: DigestMethod, key: &[u8], data: &[u8]) -> Digest {
    Digest::new(keyed::sign(&keyed::Key::new(keyed_algorithm(method), key), data).as_ref())
}

/// Whether `tag` is the whole keyed digest of `data`, found out in a time that does not depend on where it differs.
pub fn hmac_verify(method: DigestMethod, key: &[u8], data: &[u8], tag: &[u8]) -> bool {
    constant_time::verify_slices_are_equal(hmac(method, key, data).as_ref(), tag).is_ok()
}

/// Derives `length` bytes that begin at `offset` of the stream that a secret and a seed in pieces make.
///
/// Shape: what comes before `offset` is made and thrown away, so callers bound both.
/// Source: RFC 5246 §5 with SHA-1 instead of SHA-256 (`P_SHA1` of RFC 2246 §5); WS-SecureConversation 1.3 §7.
pub fn p_sha1(secret: &[u8], label_and_seed: &[&[u8]], offset: usize, length: usize) -> Secret {
    let key = keyed::Key::new(keyed::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let sign = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut context = keyed::Context::with_key(&key);
        pieces.for_each(|piece| context.update(piece));
        context.sign()
    };
    let end = offset.saturating_add(length);
    let mut stream = Vec::new();
    let mut chain = sign(&mut label_and_seed.iter().copied());
    while stream.len() < end {
        let block = sign(&mut std::iter::once(chain.as_ref()).chain(label_and_seed.iter().copied()));
        stream.extend_from_slice(block.as_ref());
        chain = sign(&mut std::iter::once(chain.as_ref()));
    }
    let stream = Secret::from(stream);
    Secret::from(&stream.as_ref()[offset..end])
}

pub(super) fn algorithm(method: DigestMethod) -> &'static library::Algorithm {
    match method {
        DigestMethod::Sha1 => &library::SHA1_FOR_LEGACY_USE_ONLY,
        DigestMethod::Sha256 => &library::SHA256,
        DigestMethod::Sha384 => &library::SHA384,
        DigestMethod::Sha512 => &library::SHA512,
    }
}

fn keyed_algorithm(method: DigestMethod) -> keyed::Algorithm {
    match method {
        DigestMethod::Sha1 => keyed::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        DigestMethod::Sha256 => keyed::HMAC_SHA256,
        DigestMethod::Sha384 => keyed::HMAC_SHA384,
        DigestMethod::Sha512 => keyed::HMAC_SHA512,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn digests_are_those_of_the_standard() {
        // FIPS 180-4, the message "abc".
        assert_eq!(hex(digest(DigestMethod::Sha1, b"abc").as_ref()), "a9993e364706816aba3e25717850c26c9cd0d89d");
        let mut hasher = Hasher::new(DigestMethod::Sha256);
        hasher.update(b"a");
        Sink::write(&mut hasher, b"bc");
        assert_eq!(hex(hasher.finish().as_ref()), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        for method in [DigestMethod::Sha1, DigestMethod::Sha256, DigestMethod::Sha384, DigestMethod::Sha512] {
            assert_eq!(digest(method, b"").as_ref().len(), method.bytes());
        }
    }

    #[test]
    fn keyed_digests_are_those_of_rfc_2202_and_4231() {
        // Test case 2 of both.
        let (key, data) = (b"Jefe", b"what do ya want for nothing?");
        assert_eq!(hex(hmac(DigestMethod::Sha1, key, data).as_ref()), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
        assert_eq!(
            hex(hmac(DigestMethod::Sha256, key, data).as_ref()),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            hex(hmac(DigestMethod::Sha384, key, data).as_ref()),
            "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649"
        );
        assert_eq!(
            hex(hmac(DigestMethod::Sha512, key, data).as_ref()),
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554\
             9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
        );
    }

    #[test]
    fn a_truncated_keyed_digest_is_none() {
        let tag = hmac(DigestMethod::Sha256, b"key", b"data");
        assert!(hmac_verify(DigestMethod::Sha256, b"key", b"data", tag.as_ref()));
        assert!(!hmac_verify(DigestMethod::Sha256, b"key", b"data", &tag.as_ref()[..16]));
        assert!(!hmac_verify(DigestMethod::Sha256, b"key", b"data", b""));
        assert!(!hmac_verify(DigestMethod::Sha256, b"key", b"date", tag.as_ref()));
    }

    #[test]
    fn derived_keys_are_pieces_of_one_stream() {
        let whole = p_sha1(b"secret", &[b"label", b"nonce"], 0, 100);
        // What Python's hmac module makes of the definition.
        assert_eq!(
            hex(&whole.as_ref()[..50]),
            "6ed2066b07def198658ea9a810a28a1b56bf3ce9c25e41b15983f7bb537a5a35f7053d3699f65993092a51e14baf2743e879"
        );
        for (offset, length) in [(0, 16), (16, 24), (37, 63), (100, 0)] {
            let piece = p_sha1(b"secret", &[b"labelnonce"], offset, length);
            assert_eq!(piece.as_ref(), &whole.as_ref()[offset..offset + length]);
        }
    }
}
