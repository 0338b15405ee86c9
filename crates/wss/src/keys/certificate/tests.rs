//! Certificates as others write them, and damaged ones.

use std::process::Command;
use std::time::{Duration, SystemTime};

use myelin_testkit::skip;
use proptest::prelude::*;

use super::super::testing::{Authority, authority_parameters, identity, key, parameters};
use super::super::{Curve, KeyKind, PrivateKey};
use super::*;

#[test]
fn what_a_certificate_says_is_what_openssl_reads_of_it() {
    let alice = identity("Älice, née \"Bob\"", KeyKind::Ec(Curve::P256));
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("alice"), alice.certificate().der()).expect("a file");
    let options = "-noout -fingerprint -sha1 -subject -issuer -nameopt RFC2253,-esc_msb,utf8 -inform DER -in alice";
    let told = Command::new("openssl").arg("x509").args(options.split(' ')).current_dir(folder.path()).output();
    let Ok(told) = told else { return skip("openssl is not installed") };
    let told = String::from_utf8(told.stdout).expect("text");
    let value = |name: &str| {
        let line = told.lines().find(|line| line.to_ascii_lowercase().starts_with(name)).expect(name);
        line.split_once('=').expect("a value").1.to_owned()
    };
    let certificate = alice.certificate();
    assert_eq!(certificate.subject().text(), value("subject"));
    assert_eq!(certificate.issuer().text(), value("issuer"));
    let thumbprint: Vec<String> = certificate.thumbprint().iter().map(|byte| format!("{byte:02X}")).collect();
    assert_eq!(thumbprint.join(":"), value("sha1 fingerprint"));
}

#[test]
fn times_usages_and_identifiers_are_read() {
    let mut asked = authority_parameters("Root");
    asked.key_identifier_method = rcgen::KeyIdMethod::PreSpecified(vec![1, 2, 3]);
    asked.serial_number = Some(rcgen::SerialNumber::from(0xfedc_ba98_7654_3210));
    let root = Authority::self_signed(asked).certificate;
    assert_eq!(root.serial(), 0xfedc_ba98_7654_3210_u64.to_string());
    let since =
        |year: u64, days: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(((year - 1970) * 365 + days) * 86_400);
    assert_eq!(root.not_before(), since(2020, 12));
    assert_eq!(root.not_after(), since(2040, 17));
    assert!(root.is_ca());
    let usage = root.key_usage().expect("usages");
    assert!(usage.allows_certificates() && usage.allows_revocation());
    assert!(!usage.allows_signature() && !usage.allows_encryption());
    assert_eq!(root.key_identifier(), [1, 2, 3]);

    let alice = identity("Alice", KeyKind::Rsa);
    let certificate = alice.certificate();
    assert!(!certificate.is_ca() && certificate.key_usage().is_none());
    assert_eq!(certificate.public_key(), alice.key.public());
    // None is said, so it is the digest of the key itself.
    let spki = certificate.public_key().spki();
    let bits = key_bits(spki).expect("a key");
    assert_eq!(certificate.key_identifier(), digest(DigestMethod::Sha1, bits).as_ref());
    assert!(spki.ends_with(bits));
}

#[test]
fn paths_are_read_as_they_were_written() {
    let root = Authority::root("Root");
    let alice = root.issue(&parameters("Alice"), KeyKind::Rsa);
    let chain = [Arc::clone(&alice), Arc::clone(&root.certificate)];
    let written = Certificate::path_to_der(&chain);
    let known = Certificates::default();
    assert_eq!(Certificate::path_from_der(&written, 2, &known).expect("a path"), chain);
    assert!(Certificate::path_from_der(&written, 1, &known).is_err());
    assert!(Certificate::path_from_der(&[0x30, 0], 1, &known).is_err());
    assert!(Certificate::path_from_der(alice.der(), 9, &known).is_err());
}

#[test]
fn a_certificate_is_parsed_once() {
    let alice = identity("Alice", KeyKind::Rsa);
    let known = Certificates::default();
    let once = known.parse(alice.certificate().der()).expect("a certificate");
    let again = known.parse(alice.certificate().der()).expect("a certificate");
    assert!(Arc::ptr_eq(&once, &again));
    assert_eq!(known.parse(&[0; BYTES_MAX + 1]), Err(CertificateError::TooLarge));
}

#[test]
fn keys_that_are_not_supported_are_told() {
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("a key");
    let certificate = parameters("Alice").self_signed(&pair).expect("a certificate");
    assert_eq!(Certificate::from_der(certificate.der()), Err(CertificateError::UnsupportedKey));
    assert!(PrivateKey::from_der(&pair.serialize_der()).is_err());
}

#[test]
fn an_exchanged_algorithm_is_noticed() {
    let alice = identity("Alice", KeyKind::Ec(Curve::P256));
    let der = alice.certificate().der();
    // ecdsa-with-SHA256, whose second place is outside of what is signed.
    let identifier = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
    let place = memchr::memmem::rfind(der, &identifier).expect("an algorithm");
    let mut changed = der.to_vec();
    changed[place + 7] = 0x04;
    assert!(matches!(Certificate::from_der(&changed), Err(CertificateError::Malformed(_))));
}

proptest! {
    #[test]
    fn damaged_certificates_and_keys_are_refused_or_read(place in 0usize..2000, value: u8, cut in 0usize..2000) {
        let alice = identity("Alice", KeyKind::Rsa);
        for der in [alice.certificate().der(), key(KeyKind::Rsa)] {
            let mut changed = der.to_vec();
            let place = place % changed.len();
            changed[place] = value;
            let _ = Certificate::from_der(&changed);
            let cut = cut % der.len();
            prop_assert!(Certificate::from_der(&der[..cut]).is_err());
            prop_assert!(PrivateKey::from_der(&der[..cut]).is_err());
        }
    }
}
