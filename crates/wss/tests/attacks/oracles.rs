//! Oracles: whoever changes a ciphertext and asks what we think of it learns nothing, neither by the answer nor by the
//! time that it takes.

use std::time::Duration;

use myelin_testkit::processor_time;
use myelin_wss::algorithm::{BlockCipher, DigestMethod, KeyBits, KeyTransport};
use myelin_wss::crypto::encrypt;
use myelin_wss::vocabulary::XENC;
use myelin_wss::{FaultCode, Rule, binary};

use crate::ENVELOPE;
use crate::peers::{PEOPLE, Peers, between, changed, piece};
use crate::policies;

/// Changes the decoded bytes of a base64 value in the message.
fn tampered(message: &str, value: &str, change: impl Fn(&mut Vec<u8>)) -> String {
    let mut bytes = binary::decode_text(value, 1 << 20).expect("base64");
    change(&mut bytes);
    let mut text = Vec::new();
    binary::encode(&bytes, &mut text);
    changed(message, value, std::str::from_utf8(&text).expect("base64"))
}

fn data_value(message: &str) -> &str {
    between(piece(message, "<xenc:EncryptedData", "</xenc:EncryptedData>"), "<xenc:CipherValue>", "<")
}

fn key_value(message: &str) -> &str {
    between(piece(message, "<xenc:EncryptedKey", "</xenc:EncryptedKey>"), "<xenc:CipherValue>", "<")
}

/// All that can be done to ciphertexts: to the padding, to the content, to the length, to the key.
fn attacks(message: &str) -> Vec<String> {
    let (data, key) = (data_value(message), key_value(message));
    let mut attacks = Vec::new();
    for bit in 0..8 {
        // The last block but one: the padding. The vector: the first block of the content. One in between: both.
        attacks.push(tampered(message, data, |bytes| {
            let at = bytes.len() - 17;
            bytes[at] ^= 1 << bit;
        }));
        attacks.push(tampered(message, data, |bytes| bytes[3] ^= 1 << bit));
        attacks.push(tampered(message, data, |bytes| bytes[40] ^= 1 << bit));
        attacks.push(tampered(message, key, |bytes| bytes[10] ^= 1 << bit));
    }
    for cut in [1, 15, 16, 17, 32] {
        attacks.push(tampered(message, data, |bytes| bytes.truncate(bytes.len() - cut)));
        attacks.push(tampered(message, key, |bytes| bytes.truncate(bytes.len() - cut)));
    }
    attacks.push(tampered(message, data, Vec::clear));
    attacks.push(tampered(message, key, Vec::clear));
    attacks.push(tampered(message, data, |bytes| bytes.extend([0; 16])));
    attacks
}

fn check(policy: &str) {
    let peers = Peers::new(policy);
    let message = peers.request(ENVELOPE);
    for attack in attacks(&message) {
        let (_, fault) = peers.refused(attack);
        assert_eq!(fault, FaultCode::FailedCheck, "each answer is the same, byte for byte");
    }
    // What decrypts well and is signed by nobody is told by the same words.
    let signature = between(&message, "<ds:SignatureValue>", "<");
    let (rule, fault) = peers.refused(tampered(&message, signature, |bytes| bytes[40] ^= 1));
    assert_eq!((rule, fault), (Rule::SignatureInvalid, FaultCode::FailedCheck));
    assert!(peers.accept(message).is_ok());
}

#[test]
fn answers_are_the_same_for_chained_ciphers() {
    check(&policies::chained());
}

#[test]
fn answers_are_the_same_for_ciphers_that_notice_changes() {
    check(&policies::modern());
}

#[test]
fn answers_are_the_same_for_keys_encrypted_the_old_way() {
    check(&policies::asymmetric("Basic128Sha256Rsa15", "", ""));
}

#[test]
fn answers_are_the_same_where_the_signature_is_encrypted_too() {
    let policy = policies::asymmetric("Basic128Sha256", "<sp:EncryptSignature/>", "");
    let peers = Peers::new(&policy);
    let message = peers.request(ENVELOPE);
    for attack in attacks(&message) {
        assert_eq!(peers.refused(attack).1, FaultCode::FailedCheck);
    }
}

#[test]
fn every_later_refusal_is_told_as_a_broken_ciphertext() {
    let peers = Peers::new(&policies::modern());
    let message = peers.request(&ENVELOPE.replace("<h:Order xmlns:h=\"urn:h\">4711</h:Order>", ""));
    let unsigned = changed(&message, "<h:Note", "<h:Order xmlns:h=\"urn:h\"/><h:Note");
    assert_eq!(peers.refused(unsigned), (Rule::NotSigned, FaultCode::FailedCheck));
}

/// How long the service is on a processor for each of two messages, in turns: the lower quartiles, which other load of
/// the machine moves less than the medians.
fn quartiles(peers: &Peers, one: &str, other: &str) -> (Duration, Duration) {
    let time = |message: &str| {
        let start = processor_time();
        let refused = peers.accept(message).is_err();
        assert!(refused);
        processor_time() - start
    };
    let (mut ones, mut others): (Vec<_>, Vec<_>) = (0..41).map(|_| (time(one), time(other))).unzip();
    ones.sort_unstable();
    others.sort_unstable();
    (ones[10], others[10])
}

/// Whether two messages are refused within about the same time; a machine that is busy gets several chances.
fn check_time(policy: &str, change: impl Fn(&str) -> (String, String)) {
    let peers = Peers::new(policy);
    let (one, other) = change(&peers.request(ENVELOPE));
    let mut seen = Vec::new();
    for _ in 0..6 {
        let (one, other) = quartiles(&peers, &one, &other);
        let ratio = one.as_secs_f64() / other.as_secs_f64();
        if (0.88..1.14).contains(&ratio) {
            return;
        }
        seen.push((one, other));
    }
    panic!("the times differ: {seen:?}");
}

/// A message whose padding is broken, and one whose padding is right and whose content is not.
fn padding_and_content(message: &str) -> (String, String) {
    let data = data_value(message);
    let padding = tampered(message, data, |bytes| {
        let at = bytes.len() - 17;
        bytes[at] ^= 0x80;
    });
    // In the vector: a letter of the first element's name.
    (padding, tampered(message, data, |bytes| bytes[1] ^= 1))
}

#[test]
fn a_broken_padding_takes_as_long_as_broken_content() {
    check_time(&policies::chained(), padding_and_content);
}

#[test]
fn so_it_does_where_the_signature_is_encrypted() {
    check_time(&policies::asymmetric("Basic128Sha256", "<sp:EncryptSignature/>", ""), padding_and_content);
}

#[test]
fn a_broken_key_takes_as_long_as_a_wrong_one() {
    for suite in ["Basic128Sha256Rsa15", "Basic128Sha256"] {
        let policy = policies::asymmetric(suite, "", "");
        let other = Peers::new(&policy).request(ENVELOPE);
        check_time(&policy, |message| {
            let broken = tampered(message, key_value(message), |bytes| bytes[10] ^= 1);
            // Of another message, so that it decrypts well and fits nothing.
            (broken, changed(message, key_value(message), key_value(&other)))
        });
    }
}

/// A message whose unsigned header block somebody encrypted who only knows bob's certificate.
fn encrypted_by_a_stranger(message: &str, cipher: BlockCipher) -> String {
    let oaep = KeyTransport::RsaOaep { digest: DigestMethod::Sha1, mask: DigestMethod::Sha1 };
    let key = PEOPLE.bob.key.public().encrypt(oaep, &[7; 16]).expect("a key of RSA");
    let mut data = Vec::new();
    encrypt(cipher, &[7; 16], b"<h:Note xmlns:h=\"urn:h\">strange</h:Note>", &mut data).expect("a key of its length");
    let value = |bytes: &[u8]| {
        let mut text = Vec::new();
        binary::encode(bytes, &mut text);
        let text = String::from_utf8(text).expect("base64 is ASCII");
        format!("<x:CipherData><x:CipherValue>{text}</x:CipherValue></x:CipherData>")
    };
    let key = format!(
        "<x:EncryptedKey xmlns:x='{XENC}'><x:EncryptionMethod Algorithm='{XENC}rsa-oaep-mgf1p'/>{}<x:ReferenceList>\
         <x:DataReference URI='#strange'/></x:ReferenceList></x:EncryptedKey>",
        value(&key)
    );
    let data = format!(
        "<x:EncryptedData xmlns:x='{XENC}' Id='strange' Type='{XENC}Element'><x:EncryptionMethod Algorithm='{}'/>{}\
         </x:EncryptedData>",
        cipher.uri(),
        value(&data)
    );
    let message = changed(message, "</wsse:Security>", &format!("{key}</wsse:Security>"));
    changed(&message, piece(&message, "<h:Note", "</h:Note>"), &data)
}

#[test]
fn what_a_chained_cipher_encrypted_has_to_be_signed() {
    let bits = KeyBits::Bits128;
    let peers = Peers::new(&policies::chained());
    let message = encrypted_by_a_stranger(&peers.request(ENVELOPE), BlockCipher::AesCbc(bits));
    assert_eq!(peers.refused(message), (Rule::NotSigned, FaultCode::FailedCheck));
    // A cipher that notices changes needs no signature to keep its secret.
    let peers = Peers::new(&policies::modern());
    let message = encrypted_by_a_stranger(&peers.request(ENVELOPE), BlockCipher::AesGcm(bits));
    assert!(peers.accept(message).is_ok());
}
