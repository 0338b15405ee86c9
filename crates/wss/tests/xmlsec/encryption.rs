//! Ciphertexts.

use std::path::PathBuf;

use myelin_wss::Limits;
use myelin_wss::algorithm::{AesKeyWrap, BlockCipher, DigestMethod, KeyBits, KeyTransport};
use myelin_wss::crypto::{decrypt, encrypt, random, unwrap, wrap};
use myelin_wss::enc::{EncryptedData, EncryptedKey, Form, KeyMethod, NewData, NewKey, Piece, splice};
use myelin_wss::keys::KeyKind;
use myelin_xml::Options;

use crate::{Pair, Peer, first, read, text};

const METHODS: [KeyMethod; 5] = [
    KeyMethod::Transport(KeyTransport::Rsa15),
    KeyMethod::Transport(KeyTransport::RsaOaep { digest: DigestMethod::Sha1, mask: DigestMethod::Sha1 }),
    KeyMethod::Wrap(AesKeyWrap(KeyBits::Bits128)),
    KeyMethod::Wrap(AesKeyWrap(KeyBits::Bits192)),
    KeyMethod::Wrap(AesKeyWrap(KeyBits::Bits256)),
];

const DOCUMENT: &str = "<e xmlns=\"urn:d\" xmlns:p=\"urn:p\"><p:a b=\"1\">text &amp; \u{e9}<c/></p:a>tail</e>";
const NAME: &[u8] = b"<ds:KeyName>k</ds:KeyName>";

/// What is encrypted of the document.
fn plaintext(form: Form) -> &'static str {
    let element = &DOCUMENT[DOCUMENT.find("<p:a").unwrap_or(0)..DOCUMENT.find("tail").unwrap_or(0)];
    match form {
        Form::Content => &element["<p:a b=\"1\">".len()..element.len() - "</p:a>".len()],
        _ => element,
    }
}

/// The document with an `EncryptedData` in the place of the plaintext.
fn with(form: Form, data: &[u8]) -> Vec<u8> {
    let data = std::str::from_utf8(data).expect("it is text");
    DOCUMENT.replacen(plaintext(form), data, 1).into_bytes()
}

/// What the program writes may be another text with the same meaning.
fn check(form: Form, bytes: &[u8]) {
    let written = String::from_utf8_lossy(bytes).replacen("<?xml version=\"1.0\"?>", "", 1).replace("&#xE9;", "\u{e9}");
    assert_eq!(written.trim(), DOCUMENT, "{form:?}");
}

fn key_file(peer: &Peer, key: &[u8]) -> (&'static str, PathBuf) {
    (if key.len() == 24 { "--deskey:k" } else { "--aeskey:k" }, peer.file("key", key))
}

/// Both sides know the key.
fn exchange_with_secret(peer: &Peer, cipher: BlockCipher, form: Form) {
    let key = random(cipher.key_bytes()).expect("there is randomness");
    let (_, file) = key_file(peer, key.as_ref());
    let option = if cipher == BlockCipher::TripleDesCbc { "--deskey:k" } else { "--aeskey:k" };
    let new = NewData { id: "D", form, cipher, key_info: NAME };
    let mut ciphertext = Vec::new();
    encrypt(cipher, key.as_ref(), plaintext(form).as_bytes(), &mut ciphertext).expect("the key has its length");
    let mut ours = Vec::new();
    new.write(&ciphertext, &mut ours);
    let decrypted = peer.run(&["--decrypt", option, text(&file)], &with(form, &ours));
    check(form, &decrypted.unwrap_or_else(|error| panic!("{cipher:?}: {error}")));

    let theirs = encrypted_by(peer, &[option, text(&file)], form, |out| new.write(b"", out));
    let document = read(&theirs);
    let data =
        EncryptedData::read(&document, first(&document, "EncryptedData"), &Limits::default()).expect("it is one");
    assert_eq!((data.form, data.cipher), (form, cipher));
    decrypted_by_us(&theirs, key.as_ref());
}

/// The document with what the program encrypts by a template.
fn encrypted_by(peer: &Peer, options: &[&str], form: Form, template: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let whole = peer.file("whole.xml", DOCUMENT.as_bytes());
    let mut arguments = vec!["--encrypt"];
    arguments.extend_from_slice(options);
    arguments.extend(["--xml-data", text(&whole), "--node-name", "urn:p:a"]);
    let mut written = Vec::new();
    template(&mut written);
    peer.run(&arguments, &written).unwrap_or_else(|error| panic!("{form:?}: {error}"))
}

fn decrypted_by_us(bytes: &[u8], key: &[u8]) {
    let document = read(bytes);
    let element = first(&document, "EncryptedData");
    let data = EncryptedData::read(&document, element, &Limits::default()).expect("it is one");
    let mut plaintext = data.ciphertext(&document).expect("it is base64");
    decrypt(data.cipher, key, &mut plaintext).expect("the key is right");
    let piece = Piece { place: element, form: data.form, plaintext };
    let (spliced, _) = splice(&document, &[piece], &Options::default()).expect("it stays in its place");
    check(data.form, spliced.source().as_bytes());
}

/// The key is new, and encrypted itself.
fn exchange_with_wrapped_key(peer: &Peer, pair: &Pair, method: KeyMethod, cipher: BlockCipher) {
    let form = Form::Element;
    let key = random(cipher.key_bytes()).expect("there is randomness");
    let mut outer = None;
    let wrapped = match method {
        KeyMethod::Transport(transport) => pair.key.public().encrypt(transport, key.as_ref()).expect("it fits"),
        KeyMethod::Wrap(method) => {
            let secret = random(method.0.bytes()).expect("there is randomness");
            outer = Some(peer.file("outer", secret.as_ref()));
            wrap(method, secret.as_ref(), key.as_ref()).expect("the key has its length")
        }
    };
    let template = |wrapped: &[u8], ciphertext: &[u8], out: &mut Vec<u8>| {
        let mut key_info = Vec::new();
        NewKey { id: "K", method, key_info: NAME, references: &[] }.write(wrapped, &mut key_info);
        NewData { id: "D", form, cipher, key_info: &key_info }.write(ciphertext, out);
    };
    let mut ciphertext = Vec::new();
    encrypt(cipher, key.as_ref(), plaintext(form).as_bytes(), &mut ciphertext).expect("the key has its length");
    let mut ours = Vec::new();
    template(&wrapped, &ciphertext, &mut ours);
    let private = match &outer {
        Some(outer) => ["--aeskey:k", text(outer)],
        None => ["--privkey-pem:k", text(&pair.private)],
    };
    let decrypted = peer.run(&["--decrypt", private[0], private[1]], &with(form, &ours));
    check(form, &decrypted.unwrap_or_else(|error| panic!("{method:?}: {error}")));

    let session = match cipher {
        BlockCipher::TripleDesCbc => "des-192".to_owned(),
        _ => format!("aes-{}", cipher.key_bytes() * 8),
    };
    let public = match &outer {
        Some(outer) => ["--aeskey:k", text(outer)],
        None => ["--pubkey-pem:k", text(&pair.public)],
    };
    let options = ["--session-key", &session, public[0], public[1]];
    let theirs = encrypted_by(peer, &options, form, |out| template(b"", b"", out));
    let document = read(&theirs);
    let read_key = EncryptedKey::read(&document, first(&document, "EncryptedKey"), &Limits::default());
    let read_key = read_key.expect("it is one");
    assert_eq!(read_key.method, method);
    let wrapped = read_key.ciphertext(&document).expect("it is base64");
    let key = match method {
        KeyMethod::Transport(transport) => pair.key.decrypt(transport, &wrapped, Some(cipher.key_bytes())),
        KeyMethod::Wrap(method) => {
            let secret = std::fs::read(outer.expect("it was written")).expect("it is there");
            unwrap(method, &secret, &wrapped)
        }
    };
    decrypted_by_us(&theirs, key.expect("it was encrypted for us").as_ref());
}

#[test]
fn ciphertexts_of_either_side_are_understood_by_the_other() {
    let Some(peer) = Peer::new() else { return };
    for cipher in BlockCipher::all() {
        for form in [Form::Element, Form::Content] {
            exchange_with_secret(&peer, cipher, form);
        }
    }
}

#[test]
fn encrypted_keys_of_either_side_are_understood_by_the_other() {
    let Some(peer) = Peer::new() else { return };
    let pair = Pair::new(&peer, KeyKind::Rsa);
    for method in METHODS {
        for cipher in BlockCipher::all() {
            exchange_with_wrapped_key(&peer, &pair, method, cipher);
        }
    }
}
