//! Messages made by hand, as whoever knows the service's certificate can make them.

use std::sync::Arc;

use myelin_wss::algorithm::{BlockCipher, DigestMethod, KeyTransport, SignatureMethod};
use myelin_wss::crypto::{encrypt, hmac};
use myelin_wss::dsig::{NewReference, SignedInfo, Target, Transform, digest};
use myelin_wss::enc::{Form, KeyMethod, NewData, NewKey};
use myelin_wss::ids::Ids;
use myelin_wss::keys::{Identity, PublicKey};
use myelin_wss::vocabulary::{WSSE, WSU};
use myelin_wss::{Limits, binary};
use myelin_xml::c14n::{Canonical, Method};
use myelin_xml::{Document, Options};

/// A timestamp of when the messages of tests are made, with the id `TS`.
pub(crate) const TIMESTAMP: &str = "<wsu:Timestamp wsu:Id='TS'><wsu:Created>2025-11-24T16:00:00Z</wsu:Created>\
    <wsu:Expires>2025-11-24T16:05:00Z</wsu:Expires></wsu:Timestamp>";

const DIGEST: DigestMethod = DigestMethod::Sha256;

/// An envelope with header blocks, what is in its `Security`, and a body with the id `B`.
pub(crate) fn envelope(blocks: &str, security: &str, body: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:wsse='{WSSE}' xmlns:wsu='{WSU}'>\
         <s:Header>{blocks}<wsse:Security s:mustUnderstand='1'>{security}</wsse:Security></s:Header>\
         <s:Body wsu:Id='B'>{body}</s:Body></s:Envelope>"
    )
}

/// What a signature is made with.
pub(crate) enum Key<'a> {
    Secret(&'a [u8]),
    Private(&'a Arc<Identity>),
}

/// A signature over elements of a message by their ids.
pub(crate) fn sign(message: &str, ids: &[&str], key: &Key<'_>, key_info: &str) -> String {
    sign_with(message, ids, &[], key, key_info)
}

/// A signature whose references have a transform in front of the canonical form.
pub(crate) fn sign_with(message: &str, ids: &[&str], more: &[Transform], key: &Key<'_>, key_info: &str) -> String {
    let document = Document::parse(message.as_bytes().to_vec(), &Options::default()).expect("it is well-formed");
    let all = Ids::of(&document, &Limits::default()).expect("each id stands once");
    let canonical = Canonical::new(Method::Exclusive);
    let transforms: Vec<Transform> = more.iter().cloned().chain([Transform::Canonical(canonical.clone())]).collect();
    let hashed = |id: &&str| {
        let digest = digest(&document, all.require(id).expect("it is there"), &canonical, DIGEST);
        (Target::Id((*id).to_owned()), digest.expect("it has a form"))
    };
    let hashes: Vec<_> = ids.iter().map(hashed).collect();
    let reference = |(target, value)| NewReference { target, transforms: &transforms, digest: DIGEST, value };
    let references: Vec<_> = hashes.iter().map(|(target, value)| reference((target, value.as_ref()))).collect();
    let method = match key {
        Key::Secret(_) => SignatureMethod::Hmac(DIGEST),
        Key::Private(_) => SignatureMethod::Rsa(DIGEST),
    };
    let signed_info = SignedInfo::new(&canonical, method, &references);
    let value = match key {
        Key::Secret(secret) => hmac(DIGEST, secret, signed_info.bytes()).as_ref().to_vec(),
        Key::Private(identity) => identity.key.sign(method, signed_info.bytes()).expect("it signs"),
    };
    let mut text = Vec::new();
    signed_info.signature("", &value, key_info.as_bytes(), &mut text);
    String::from_utf8(text).expect("it is UTF-8")
}

/// A reference to a token of the message by its id.
pub(crate) fn reference(id: &str) -> String {
    format!(
        "<wsse:SecurityTokenReference xmlns:wsse='{WSSE}'><wsse:Reference URI='#{id}'/></wsse:SecurityTokenReference>"
    )
}

/// A certificate of a key as the content of `KeyInfo`.
pub(crate) fn certificate(identity: &Identity) -> String {
    let der = base64(identity.certificate().der());
    format!("<ds:X509Data><ds:X509Certificate>{der}</ds:X509Certificate></ds:X509Data>")
}

/// A key for somebody, in an element with an id.
pub(crate) fn encrypted_key(id: &str, secret: &[u8], recipient: &PublicKey, references: &[&str]) -> String {
    let transport = KeyTransport::RsaOaep { digest: DigestMethod::Sha1, mask: DigestMethod::Sha1 };
    let ciphertext = recipient.encrypt(transport, secret).expect("it can be encrypted");
    let mut text = Vec::new();
    let key = NewKey { id, method: KeyMethod::Transport(transport), key_info: b"", references };
    key.write(&ciphertext, &mut text);
    String::from_utf8(text).expect("it is UTF-8")
}

/// Something encrypted, in an element with an id; `key` is the id of the key.
pub(crate) fn encrypted(
    id: &str,
    form: Form,
    cipher: BlockCipher,
    secret: &[u8],
    plain: &str,
    key: Option<&str>,
) -> String {
    let mut ciphertext = Vec::new();
    encrypt(cipher, secret, plain.as_bytes(), &mut ciphertext).expect("it can be encrypted");
    let key_info = key.map(reference).unwrap_or_default();
    let mut text = Vec::new();
    NewData { id, form, cipher, key_info: key_info.as_bytes() }.write(&ciphertext, &mut text);
    String::from_utf8(text).expect("it is UTF-8")
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    binary::encode(bytes, &mut text);
    String::from_utf8(text).expect("base64 is ASCII")
}
