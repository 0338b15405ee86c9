//! Keys against each other, and against OpenSSL.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use ::rsa::RsaPrivateKey;
use ::rsa::pkcs1::EncodeRsaPrivateKey;
use myelin_testkit::skip;

use super::software::Entropy;
use super::testing::key;
use super::*;
use crate::algorithm::DigestMethod::{self, Sha1, Sha256, Sha384, Sha512};
use crate::algorithm::{KeyTransport, SignatureMethod};
use crate::crypto::CryptoError;

const DIGESTS: [DigestMethod; 4] = [Sha1, Sha256, Sha384, Sha512];
const EC: [KeyKind; 3] = [KeyKind::Ec(Curve::P256), KeyKind::Ec(Curve::P384), KeyKind::Ec(Curve::P521)];

/// A key of RSA of 1024 bits in PKCS#1, as only older partners have.
fn small_rsa() -> &'static [u8] {
    static KEY: OnceLock<Vec<u8>> = OnceLock::new();
    KEY.get_or_init(|| {
        let key = RsaPrivateKey::new(&mut Entropy, 1024).expect("a key");
        key.to_pkcs1_der().expect("a key").as_bytes().to_vec()
    })
}

fn private(der: &[u8]) -> PrivateKey {
    PrivateKey::from_der(der).expect("a key")
}

fn methods(of: impl Fn(DigestMethod) -> SignatureMethod) -> Vec<SignatureMethod> {
    DIGESTS.into_iter().map(of).collect()
}

fn rsa_methods() -> Vec<SignatureMethod> {
    [methods(SignatureMethod::Rsa), methods(SignatureMethod::RsaPss)].concat()
}

fn transports() -> Vec<KeyTransport> {
    let oaep = DIGESTS.into_iter().flat_map(|digest| DIGESTS.map(|mask| KeyTransport::RsaOaep { digest, mask }));
    std::iter::once(KeyTransport::Rsa15).chain(oaep).collect()
}

#[test]
fn a_key_that_is_handed_on_is_the_same_key() {
    for kind in [&[KeyKind::Rsa][..], &EC].concat() {
        let key = private(key(kind));
        let der = key.to_der().expect("a key");
        assert_eq!(private(der.as_ref()).public().spki(), key.public().spki(), "{kind:?}");
    }
    assert_eq!(private(small_rsa()).to_der().err(), Some(CryptoError::Key));
}

#[test]
fn what_was_signed_verifies_and_nothing_else() {
    let keys = [key(KeyKind::Rsa), small_rsa()].map(|der| (der, rsa_methods()));
    let keys = keys.into_iter().chain(EC.map(|kind| (key(kind), methods(SignatureMethod::Ecdsa))));
    for (der, methods) in keys {
        let key = private(der);
        for method in methods {
            let value = match key.sign(method, b"message") {
                // Two digests of 64 bytes and their frame are longer than 1024 bits.
                Err(CryptoError::TooLong)
                    if method == SignatureMethod::RsaPss(Sha512) && key.public().bits() == 1024 =>
                {
                    continue;
                }
                signed => signed.expect("signs"),
            };
            let verify = |message: &[u8], value: &[u8]| key.public().verify(method, message, value);
            assert_eq!(verify(b"message", &value), Ok(()), "{method:?}");
            assert_eq!(verify(b"massage", &value), Err(CryptoError::Signature), "{method:?}");
            assert_eq!(verify(b"message", &value[1..]), Err(CryptoError::Signature), "{method:?}");
            assert_eq!(verify(b"message", b""), Err(CryptoError::Signature), "{method:?}");
            let mut changed = value.clone();
            changed[value.len() / 2] ^= 1;
            assert_eq!(verify(b"message", &changed), Err(CryptoError::Signature), "{method:?}");
        }
    }
}

#[test]
fn a_key_signs_with_methods_of_its_kind_only() {
    let (rsa, ec) = (private(key(KeyKind::Rsa)), private(key(KeyKind::Ec(Curve::P256))));
    let check = |key: &PrivateKey, method, length| {
        assert_eq!(key.sign(method, b"").err(), Some(CryptoError::KeyKind(method)));
        assert_eq!(key.public().verify(method, b"", &vec![0; length]), Err(CryptoError::KeyKind(method)));
    };
    check(&rsa, SignatureMethod::Ecdsa(Sha256), 256);
    check(&rsa, SignatureMethod::Hmac(Sha256), 256);
    check(&ec, SignatureMethod::Rsa(Sha256), 64);
    check(&ec, SignatureMethod::Hmac(Sha256), 64);
    assert_eq!(ec.public().encrypt(KeyTransport::Rsa15, b"key").err(), Some(CryptoError::NotForEncryption));
    let decrypted = ec.decrypt(KeyTransport::Rsa15, b"key", None);
    assert_eq!(decrypted.map(drop), Err(CryptoError::NotForEncryption));
}

#[test]
fn encrypted_keys_come_back() {
    for (der, longest_digest) in [(key(KeyKind::Rsa), 64), (small_rsa(), 32)] {
        let key = private(der);
        for transport in transports() {
            let digest_bytes = if let KeyTransport::RsaOaep { digest, .. } = transport { digest.bytes() } else { 0 };
            let encrypted = key.public().encrypt(transport, &[5; 32]);
            if digest_bytes > longest_digest {
                assert_eq!(encrypted, Err(CryptoError::TooLong), "{transport:?}");
                continue;
            }
            let encrypted = encrypted.expect("encrypts");
            for expected in [None, Some(32)] {
                let decrypted = key.decrypt(transport, &encrypted, expected).expect("decrypts");
                assert_eq!(decrypted.as_ref(), [5; 32], "{transport:?}");
            }
        }
    }
}

#[test]
fn a_broken_rsa_15_ciphertext_gives_a_random_key_of_the_expected_length() {
    for der in [key(KeyKind::Rsa), small_rsa()] {
        let key = private(der);
        let encrypted = key.public().encrypt(KeyTransport::Rsa15, &[5; 16]).expect("encrypts");
        let mut broken = encrypted.clone();
        broken[7] ^= 1;
        for (encrypted, expected) in
            [(&encrypted[..], 32), (&broken, 16), (&broken, 32), (&encrypted[1..], 24), (&[], 24)]
        {
            let decrypt = || key.decrypt(KeyTransport::Rsa15, encrypted, Some(expected)).expect("never fails");
            assert_eq!(decrypt().len(), expected);
            assert_ne!(decrypt().as_ref(), &[5; 32][..expected]);
        }
    }
}

#[test]
fn a_broken_oaep_ciphertext_is_an_error_of_one_kind() {
    let key = private(key(KeyKind::Rsa));
    for mask in [Sha1, Sha256] {
        let transport = KeyTransport::RsaOaep { digest: Sha256, mask };
        let encrypted = key.public().encrypt(transport, &[5; 16]).expect("encrypts");
        let mut broken = encrypted.clone();
        broken[7] ^= 1;
        for (encrypted, expected) in [(&encrypted[..], Some(32)), (&broken, None), (&encrypted[1..], None), (&[], None)]
        {
            assert_eq!(key.decrypt(transport, encrypted, expected).map(drop), Err(CryptoError::Decryption));
        }
    }
}

#[test]
fn public_keys_are_the_same_however_they_came() {
    let rsa = private(key(KeyKind::Rsa));
    let (modulus, exponent) = rsa.public().rsa().expect("a key of RSA");
    assert_eq!(PublicKey::from_rsa(&[&[0], modulus].concat(), exponent).as_ref(), Ok(&**rsa.public()));
    assert_eq!(PublicKey::from_spki(rsa.public().spki()).as_ref(), Ok(&**rsa.public()));
    for (kind, bits) in EC.into_iter().zip([256, 384, 521]) {
        let KeyKind::Ec(curve) = kind else { continue };
        let ec = private(key(kind));
        assert_eq!((ec.public().kind(), ec.public().bits()), (kind, bits));
        let point = ec.public().ec_point().expect("a point");
        assert_eq!(PublicKey::from_ec(curve, point).as_ref(), Ok(&**ec.public()));
        assert_eq!(PublicKey::from_spki(ec.public().spki()).as_ref(), Ok(&**ec.public()));
    }
}

#[test]
fn keys_that_nobody_should_use_are_refused() {
    let small = private(small_rsa());
    let (modulus, exponent) = small.public().rsa().expect("a key of RSA");
    let refused = |modulus: &[u8], exponent: &[u8]| {
        assert_eq!(PublicKey::from_rsa(modulus, exponent).err(), Some(CryptoError::Key));
    };
    refused(&modulus[1..], exponent);
    refused(&[modulus, &[1; 1000]].concat(), exponent);
    refused(modulus, &[1]);
    refused(modulus, &[]);
    refused(modulus, &[4]);
    refused(modulus, &[1, 0, 0, 0, 1]);
    refused(&[], exponent);
    let off_the_curve = [&[4][..], &[1; 64]].concat();
    assert_eq!(PublicKey::from_ec(Curve::P256, &off_the_curve).err(), Some(CryptoError::Key));
    assert_eq!(PublicKey::from_ec(Curve::P256, &[0]).err(), Some(CryptoError::Key), "the point at infinity");
    for der in [&b""[..], b"0", &[0x30, 0], &[0x30, 3, 2, 1, 0], key(KeyKind::Rsa)] {
        assert_eq!(PublicKey::from_spki(der).err(), Some(CryptoError::Key));
    }
    for der in [&b""[..], b"0", &[0x30, 0], &[0x30, 3, 2, 1, 0], small.public().spki()] {
        assert_eq!(PrivateKey::from_der(der).map(drop).err(), Some(CryptoError::Key));
    }
}

/// Runs OpenSSL in a folder; `false` where it is not installed, which is then said.
fn openssl(folder: &Path, arguments: &str) -> bool {
    let ran = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output();
    let Ok(output) = ran else {
        skip("openssl is not installed");
        return false;
    };
    assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    true
}

#[test]
fn openssl_verifies_and_decrypts_what_is_ours() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("a file");
    let read = |name: &str| fs::read(folder.path().join(name)).expect("a file");
    for (der, key_name) in [(key(KeyKind::Rsa), "large"), (small_rsa(), "small")] {
        let key = private(der);
        write("message", b"message");
        write("private", der);
        write("public", key.public().spki());
        for (method, padding) in [
            (SignatureMethod::Rsa(Sha1), ""),
            (SignatureMethod::Rsa(Sha256), ""),
            (SignatureMethod::RsaPss(Sha1), " -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest"),
            (SignatureMethod::RsaPss(Sha256), " -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest"),
        ] {
            let digest = if method.digest() == Sha1 { "sha1" } else { "sha256" };
            write("signature", &key.sign(method, b"message").expect("signs"));
            let verify = format!("dgst -{digest}{padding} -verify public -keyform DER -signature signature message");
            if !openssl(folder.path(), &verify) {
                return;
            }
        }
        let transport = KeyTransport::RsaOaep { digest: Sha256, mask: Sha1 };
        write("encrypted", &key.public().encrypt(transport, &[5; 32]).expect("encrypts"));
        let options = "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha1";
        openssl(
            folder.path(),
            &format!("pkeyutl -decrypt -inkey private -keyform DER {options} -in encrypted -out plain"),
        );
        assert_eq!(read("plain"), [5; 32], "{key_name}");
        openssl(
            folder.path(),
            &format!("pkeyutl -encrypt -inkey private -keyform DER {options} -in plain -out theirs"),
        );
        assert_eq!(key.decrypt(transport, &read("theirs"), Some(32)).expect("decrypts").as_ref(), [5; 32]);
    }
}
