//! Key stores that Java and OpenSSL made, and damaged ones.

use std::fs;
use std::path::Path;
use std::process::Command;

use myelin_testkit::skip;
use tempfile::TempDir;

use super::super::testing::{identity, key};
use super::super::{Curve, Identity, KeyKind};
use super::*;
use crate::algorithm::{DigestMethod, SignatureMethod};
use crate::crypto::Secret;

/// Runs a program in a folder; `false` where it is not installed, which is then said.
fn run(folder: &TempDir, program: &str, arguments: &str) -> bool {
    let arguments = arguments.split(' ').filter(|argument| !argument.is_empty());
    let Ok(output) = Command::new(program).args(arguments.clone()).current_dir(folder.path()).output() else {
        skip(&format!("{program} is not installed"));
        return false;
    };
    let told = [output.stdout, output.stderr].concat();
    let arguments: Vec<&str> = arguments.collect();
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&told));
    true
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn file(folder: &TempDir, name: &str) -> Vec<u8> {
    fs::read(folder.path().join(name)).expect("a file")
}

fn write(folder: &TempDir, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
    fs::write(folder.path().join(name), bytes).expect("a file");
}

fn passwords(store: &str, key: &str) -> Passwords {
    let secret = |text: &str| (!text.is_empty()).then(|| Secret::from(text));
    Passwords { store: secret(store), key: secret(key) }
}

/// That the key is the one of the certificate.
fn check(identity: &Identity) {
    let method = match identity.key.public().kind() {
        KeyKind::Rsa => SignatureMethod::Rsa(DigestMethod::Sha256),
        KeyKind::Ec(_) => SignatureMethod::Ecdsa(DigestMethod::Sha256),
    };
    let value = identity.key.sign(method, b"message").expect("signs");
    identity.certificate().public_key().verify(method, b"message", &value).expect("verifies");
}

/// A store of Java's with two keys and a partner's certificate, read with each password right and wrong.
fn java(kind: StoreKind, options: &str, key_password: &str) {
    let folder = folder();
    let store = format!("{options} -storetype {kind} -keystore store -storepass password");
    let own = if key_password.is_empty() { String::new() } else { format!("-keypass {key_password}") };
    let pair = "-genkeypair -validity 9000 -dname CN=Alice,O=Myelin";
    if !run(&folder, "keytool", &format!("{store} {pair} -alias Alice -keyalg RSA -keysize 2048 {own}")) {
        return;
    }
    run(&folder, "keytool", &format!("{store} {pair} -alias curve -keyalg EC -groupname secp384r1 {own}"));
    let partner = identity("Partner", KeyKind::Rsa);
    write(&folder, "partner", partner.certificate().der());
    run(&folder, "keytool", &format!("{store} -importcert -noprompt -alias partner -file partner"));
    if kind == StoreKind::Jceks {
        run(&folder, "keytool", &format!("{store} -genseckey -alias secret -keyalg AES -keysize 128 {own}"));
        run(&folder, "keytool", &format!("{store} -genseckey -alias again -keyalg AES -keysize 256 {own}"));
    }
    run(&folder, "keytool", &format!("{store} -exportcert -alias alice -file alice"));

    let bytes = file(&folder, "store");
    let read = |store, key| KeyStore::read(&bytes, None, &passwords(store, key));
    let found = read("password", key_password).expect("a key store");
    assert_eq!(found.unreadable, []);
    assert_eq!(found.identities.len(), 2);
    found.identities.iter().for_each(|identity| check(identity));
    assert_eq!(found.identity("ALICE").expect("a key").certificate().der(), file(&folder, "alice"));
    assert_eq!(found.identity("curve").expect("a key").key.public().kind(), KeyKind::Ec(Curve::P384));
    let aliases: Vec<_> = found.certificates.iter().map(|(alias, certificate)| (alias.as_str(), certificate)).collect();
    assert_eq!(aliases, [("partner", partner.certificate())]);
    assert_eq!(found.certificate("Partner"), Some(partner.certificate()));
    let told = found.identity("bob").expect_err("no such key").to_string();
    assert!(told.contains("\"bob\"") && told.contains("alice") && told.contains("curve"), "{told}");

    assert_eq!(read("Password", key_password).expect_err("wrong"), KeyStoreError::WrongPassword(kind));
    if kind != StoreKind::Pkcs12 {
        let wrong = read("password", "wrong").expect("a key store whose keys are not read");
        assert_eq!((wrong.identities.len(), wrong.certificates.len()), (0, 1));
        let cause = wrong.identity("Alice").expect_err("not read").to_string();
        assert_eq!(cause, "\"alice\": the password of the private key is wrong");
        let without = read("", "").expect("a key store whose keys are not read");
        assert_eq!((without.identities.len(), without.certificates.len()), (0, 1));
        assert_eq!(without.unreadable[0].1, KeyStoreError::KeyPasswordMissing);
    } else {
        assert_eq!(read("", "").expect_err("encrypted"), KeyStoreError::PasswordMissing(kind));
    }
    damage(&bytes, &passwords("password", key_password));
}

/// Reads what is left of a store when it is cut, and when a byte is another: never a panic.
fn damage(bytes: &[u8], passwords: &Passwords) {
    for length in (0..bytes.len()).step_by(bytes.len() / 50) {
        assert!(KeyStore::read(&bytes[..length], None, passwords).is_err(), "{length} of {} bytes", bytes.len());
    }
    for place in (0..bytes.len()).step_by(bytes.len() / 200) {
        let mut changed = bytes.to_vec();
        changed[place] ^= 0x41;
        assert!(KeyStore::read(&changed, None, passwords).is_err(), "byte {place}");
        // Without a password nothing notices a change as such.
        let _ = KeyStore::read(&changed, None, &Passwords::default());
    }
}

#[test]
fn jks_of_java_is_read() {
    java(StoreKind::Jks, "", "another");
}

#[test]
fn jceks_of_java_is_read_past_its_secret_keys() {
    // The rounds that Java makes otherwise take seconds in a build for tests.
    java(StoreKind::Jceks, "-J-Djdk.jceks.iterationCount=10000", "another");
}

#[test]
fn pkcs12_of_java_is_read() {
    java(StoreKind::Pkcs12, "", "");
}

#[test]
fn pkcs12_of_older_java_is_read() {
    java(StoreKind::Pkcs12, "-J-Dkeystore.pkcs12.legacy", "");
}

#[test]
fn stores_of_java_that_only_hold_trust_are_read() {
    let folder = folder();
    let (one, two) = (identity("One", KeyKind::Rsa), identity("Two", KeyKind::Ec(Curve::P256)));
    write(&folder, "one", one.certificate().der());
    write(&folder, "two", two.certificate().der());
    for (kind, options) in [
        (StoreKind::Jks, ""),
        (StoreKind::Pkcs12, ""),
        // Java's own store of authorities is like this: neither encrypted nor checked.
        (
            StoreKind::Pkcs12,
            "-J-Dkeystore.pkcs12.certPbeIterationCount=1 -J-Dkeystore.pkcs12.certProtectionAlgorithm=NONE -J-Dkeystore.pkcs12.macAlgorithm=NONE",
        ),
    ] {
        let name = format!("{kind}{}", options.len());
        for alias in ["one", "two"] {
            let store = format!("{options} -storetype {kind} -keystore {name} -storepass password");
            if !run(&folder, "keytool", &format!("{store} -importcert -noprompt -alias {alias} -file {alias}")) {
                return;
            }
        }
        let open = options.contains("NONE") || kind == StoreKind::Jks;
        let bytes = file(&folder, &name);
        for store in if open { &["password", ""][..] } else { &["password"] } {
            let found = KeyStore::read(&bytes, None, &passwords(store, "")).expect("a key store");
            assert!(found.identities.is_empty() && found.unreadable.is_empty());
            let mut names: Vec<_> = found.certificates.iter().map(|(alias, _)| alias.as_str()).collect();
            names.sort_unstable();
            assert_eq!(names, ["one", "two"]);
            assert_eq!(found.certificate("two"), Some(two.certificate()));
        }
    }
}

/// An authority, a certificate below it, and its key, as OpenSSL makes them.
fn openssl_chain(folder: &TempDir) -> bool {
    let request = "req -x509 -newkey rsa:2048 -noenc -keyout root.key -out root.pem -days 9000 -subj /O=Myelin/CN=Root";
    if !run(folder, "openssl", request) {
        return false;
    }
    run(folder, "openssl", "req -newkey rsa:2048 -noenc -keyout alice.key -out alice.csr -subj /O=Myelin/CN=Alice");
    let sign = "x509 -req -in alice.csr -CA root.pem -CAkey root.key -CAcreateserial -out alice.pem -days 9000";
    run(folder, "openssl", sign)
}

#[test]
fn pkcs12_of_openssl_is_read() {
    let folder = folder();
    if !openssl_chain(&folder) {
        return;
    }
    let export = "pkcs12 -export -in alice.pem -inkey alice.key -certfile root.pem -name alice -passout pass:password";
    for (name, options) in [
        ("modern", ""),
        ("sha512", "-macalg sha512 -iter 5000"),
        ("triple", "-keypbe PBE-SHA1-3DES -certpbe PBE-SHA1-3DES -macalg sha1"),
        ("two", "-keypbe PBE-SHA1-2DES -certpbe PBE-SHA1-2DES -macalg sha1"),
        ("rc2", "-legacy -keypbe PBE-SHA1-RC2-128 -certpbe PBE-SHA1-RC2-40 -macalg sha1"),
        ("aes", "-keypbe AES-192-CBC -certpbe AES-128-CBC"),
        ("open", "-keypbe NONE -certpbe NONE"),
        ("unchecked", "-nomac"),
    ] {
        run(&folder, "openssl", &format!("{export} {options} -out {name}"));
        let bytes = file(&folder, name);
        let found = KeyStore::read(&bytes, Some(StoreKind::Pkcs12), &passwords("password", "")).expect(name);
        assert_eq!((found.identities.len(), found.certificates.len(), found.unreadable.len()), (1, 0, 0), "{name}");
        let alice = found.identity("alice").expect("a key");
        check(alice);
        let chain: Vec<_> = alice.chain.iter().map(|certificate| certificate.subject().text()).collect();
        assert_eq!(chain, ["CN=Alice,O=Myelin", "CN=Root,O=Myelin"], "{name}");
        match KeyStore::read(&bytes, None, &passwords("wrong", "")) {
            Err(error) => assert_eq!(error, KeyStoreError::WrongPassword(StoreKind::Pkcs12)),
            // Only the key's own encryption tells.
            Ok(store) => {
                assert_eq!((name, &store.unreadable[0].1), ("unchecked", &KeyStoreError::WrongKeyPassword));
            }
        }
    }
    for (name, options, what) in [
        ("rc4", "-legacy -keypbe PBE-SHA1-RC4-128 -certpbe NONE", "1.2.840.113549.1.12.1.1"),
        ("des", "-legacy -keypbe PBE-MD5-DES -certpbe NONE", "1.2.840.113549.1.5.3"),
    ] {
        run(&folder, "openssl", &format!("{export} {options} -out {name}"));
        let found = KeyStore::read(&file(&folder, name), None, &passwords("password", "")).expect(name);
        let told = found.identity("alice").expect_err("not supported").to_string();
        assert!(told.contains(what), "{told}");
    }
    // Without a key there is nothing that the certificates could only be the chain of.
    run(&folder, "openssl", "pkcs12 -export -nokeys -in root.pem -passout pass:password -out trust");
    let trust = KeyStore::read(&file(&folder, "trust"), None, &passwords("password", "")).expect("a key store");
    assert_eq!(trust.certificates.len(), 1);
}

#[test]
fn pem_of_openssl_is_read() {
    let folder = folder();
    if !openssl_chain(&folder) {
        return;
    }
    run(&folder, "openssl", "rsa -in alice.key -traditional -out pkcs1");
    run(&folder, "openssl", "pkcs8 -topk8 -in alice.key -passout pass:secret -out sealed");
    run(&folder, "openssl", "pkcs8 -topk8 -in alice.key -passout pass:secret -v1 PBE-SHA1-3DES -out older");
    run(
        &folder,
        "openssl",
        "pkcs8 -topk8 -in alice.key -passout pass:secret -v2 aes-256-cbc -v2prf hmacWithSHA512 -out prf",
    );
    run(&folder, "openssl", "pkcs8 -topk8 -in alice.key -passout pass:secret -scrypt -out scrypt");
    run(&folder, "openssl", "rsa -in alice.key -traditional -aes128 -passout pass:secret -out headers");
    let text = |names: &[&str]| names.iter().flat_map(|name| file(&folder, name)).collect::<Vec<u8>>();
    let read =
        |key: &str, password| KeyStore::read(&text(&["root.pem", key, "alice.pem"]), None, &passwords("", password));
    for key in ["alice.key", "pkcs1", "sealed", "older", "prf"] {
        let found = read(key, "secret").expect(key);
        assert_eq!((found.identities.len(), found.certificates.len()), (1, 0), "{key}");
        let alice = found.identity("Alice").expect("a key");
        check(alice);
        assert_eq!(alice.chain.len(), 2, "{key}");
    }
    assert_eq!(read("sealed", "wrong").expect_err("wrong"), KeyStoreError::WrongKeyPassword);
    assert_eq!(read("sealed", "").expect_err("none"), KeyStoreError::KeyPasswordMissing);
    for (key, what) in [("scrypt", "1.3.6.1.4.1.11591.4.11"), ("headers", "openssl pkcs8 -topk8")] {
        let told = read(key, "secret").expect_err(key).to_string();
        assert!(told.contains(what), "{told}");
    }
    let trust = KeyStore::read(&text(&["alice.pem", "root.pem"]), None, &Passwords::default()).expect("a key store");
    let names: Vec<_> = trust.certificates.iter().map(|(alias, _)| alias.as_str()).collect();
    assert_eq!(names, ["alice", "root"]);

    run(&folder, "openssl", "ecparam -name prime256v1 -genkey -out curve.key");
    run(&folder, "openssl", "req -x509 -key curve.key -out curve.pem -days 9000 -subj /CN=Curve");
    let found = KeyStore::read(&text(&["curve.key", "curve.pem"]), Some(StoreKind::Pem), &Passwords::default());
    check(found.expect("a key store").identity("curve").expect("a key"));
    let alone = KeyStore::read(&file(&folder, "curve.key"), None, &Passwords::default()).expect("a key store");
    assert_eq!(alone.unreadable, [("1".to_owned(), KeyStoreError::CertificateMissing)]);
}

#[test]
fn what_is_no_key_store_is_told() {
    let read = |bytes: &[u8], kind| KeyStore::read(bytes, kind, &Passwords::default()).map(drop);
    assert_eq!(read(b"", None), Err(KeyStoreError::UnknownKind));
    assert_eq!(read(b"hello", Some(StoreKind::Jks)), Err(KeyStoreError::UnknownKind));
    assert_eq!(read(b"-----BEGIN X", Some(StoreKind::Jks)), Err(KeyStoreError::OtherKind(StoreKind::Pem)));
    assert_eq!(read(&[0xce; 99], Some(StoreKind::Jks)), Err(KeyStoreError::OtherKind(StoreKind::Jceks)));
    assert_eq!(read(&vec![0; BYTES_MAX + 1], None), Err(KeyStoreError::TooLarge));
    assert!(matches!(read(key(KeyKind::Rsa), None), Err(KeyStoreError::Malformed(StoreKind::Pkcs12, _))));
}

#[test]
fn numbers_in_a_damaged_store_claim_nothing() {
    // A version, and more entries than there are bytes; then a key of four gigabytes.
    for rest in ["00000002ffffffff", "00000002ffffffff000000010001410000000000000000ffffffff", "0000000300000001"] {
        let rest = (0..rest.len()).step_by(2).map(|at| u8::from_str_radix(&rest[at..at + 2], 16).expect("hex"));
        let mut bytes = vec![0xfe, 0xed, 0xfe, 0xed];
        bytes.extend(rest.chain([0; 20]));
        let read = KeyStore::read(&bytes, None, &Passwords::default());
        assert!(matches!(read, Err(KeyStoreError::Malformed(StoreKind::Jks, _))));
    }
}

#[test]
fn kinds_are_known_by_name() {
    for kind in [StoreKind::Jks, StoreKind::Jceks, StoreKind::Pkcs12, StoreKind::Pem] {
        assert_eq!(StoreKind::from_name(&kind.to_string().to_lowercase()), Some(kind));
    }
    assert_eq!(StoreKind::from_name("BKS"), None);
}
