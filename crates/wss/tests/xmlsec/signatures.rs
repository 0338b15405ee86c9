//! Signatures.

use myelin_wss::Limits;
use myelin_wss::algorithm::{DigestMethod, SignatureMethod};
use myelin_wss::crypto::hmac;
use myelin_wss::dsig::{Dereferenced, NewReference, Signature, SignedInfo, Target, Transform, VerifyWith, digest};
use myelin_wss::ids::Ids;
use myelin_wss::keys::{Curve, KeyKind};
use myelin_wss::vocabulary::WSU;
use myelin_xml::c14n::{Canonical, Method, Subset, canonicalize};

use crate::{DIGESTS, Pair, Peer, first, read, text};

const SECRET: &[u8] = b"a key that both sides know";

/// Makes the value of a signature.
type Signer<'a> = &'a dyn Fn(&[u8]) -> Vec<u8>;

/// How the test documents are signed.
struct How {
    method: SignatureMethod,
    /// Of `SignedInfo` and of what is signed.
    canonical: Canonical,
    digest: DigestMethod,
}

/// A document with an element that has an id, with namespaces, attributes and comments to be made canonical.
fn document() -> String {
    format!(
        "<e xmlns='urn:d' xmlns:p='urn:p' xml:lang='en'><p:a xmlns:u='{WSU}' u:Id='x' z='1' a='&lt;&#9;'>\
         text &amp; <!-- comment --><b xmlns=''/>\u{e9}</p:a></e>"
    )
}

impl How {
    /// The document with a signature over the whole and over the element, or with one to be filled in.
    fn written(&self, value: Option<Signer<'_>>) -> Vec<u8> {
        let text = document();
        let document = read(text.as_bytes());
        let whole = [Transform::Enveloped, Transform::Canonical(self.canonical.clone())];
        let part = [Transform::Canonical(self.canonical.clone())];
        let parts = [
            (Target::Whole, document.document_node(), &whole[..]),
            (Target::Id("x".to_owned()), first(&document, "a"), &part[..]),
        ];
        // Such references have no comments whatever the method says.
        let canonical = Canonical { comments: false, ..self.canonical.clone() };
        let digests = parts.each_ref().map(|(_, node, _)| {
            let digest = digest(&document, *node, &canonical, self.digest).expect("there is a canonical form");
            value.map(|_| digest.as_ref().to_vec()).unwrap_or_default()
        });
        let references: Vec<NewReference<'_>> = std::iter::zip(&parts, &digests)
            .map(|((target, _, transforms), value)| NewReference { target, transforms, digest: self.digest, value })
            .collect();
        let info = SignedInfo::new(&self.canonical, self.method, &references);
        let signed = |value: &[u8]| {
            let mut signature = Vec::new();
            info.signature("S", value, b"", &mut signature);
            let at = text.rfind("</").expect("there is an end tag");
            [&text.as_bytes()[..at], &signature, &text.as_bytes()[at..]].concat()
        };
        let Some(value) = value else { return signed(b"") };
        // What is in scope around shows where prefixes are inclusive, so that the bytes are those of the element at its
        // place.
        let unsigned = signed(b"");
        let document = read(&unsigned);
        let mut bytes = Vec::new();
        let subset = Subset { apex: first(&document, "SignedInfo"), excluded: &[] };
        canonicalize(&document, subset, &self.canonical, &mut bytes).expect("there is a canonical form");
        if self.canonical.method == Method::Exclusive && self.canonical.inclusive_prefixes.is_empty() {
            assert_eq!(bytes, info.bytes());
        }
        signed(&value(&bytes))
    }
}

/// Whether we find a signature right, with all that it says is signed.
fn verify(bytes: &[u8], key: VerifyWith<'_>) {
    let document = read(bytes);
    let signature = Signature::read(&document, first(&document, "Signature"), &Limits::default()).expect("it is one");
    signature.verify_value(&document, key).expect("it was just made");
    let ids = Ids::of(&document, &Limits::default()).expect("ids are unique");
    assert_eq!(signature.references.len(), 2);
    for reference in &signature.references {
        let target = match &reference.target {
            Target::Whole => document.document_node(),
            Target::Id(id) => ids.require(id).expect("it is there"),
        };
        let mut token = |node| Ok(Dereferenced::Node(node));
        reference.verify(&document, target, signature.element, &mut token).expect("it was just signed");
    }
}

fn canonicals() -> impl Iterator<Item = Canonical> {
    let methods = [Method::Inclusive, Method::Inclusive11, Method::Exclusive];
    let plain = methods
        .into_iter()
        .flat_map(|method| [false, true].map(|comments| Canonical { comments, ..Canonical::new(method) }));
    let inclusive_prefixes = vec!["p".to_owned(), String::new()];
    plain.chain([Canonical { inclusive_prefixes, ..Canonical::new(Method::Exclusive) }])
}

/// Signs and verifies in both directions.
fn exchange(peer: &Peer, how: &How, pair: Option<&Pair>) {
    let secret = peer.file("secret", SECRET);
    let (sign_with, verify_with) = match pair {
        None => (vec!["--hmackey", text(&secret)], vec!["--hmackey", text(&secret)]),
        Some(pair) => (vec!["--privkey-pem", text(&pair.private)], vec!["--pubkey-pem", text(&pair.public)]),
    };
    let common = ["--id-attr:Id", "urn:p:a"];
    let value = |bytes: &[u8]| match (pair, how.method) {
        (Some(pair), method) => pair.key.sign(method, bytes).expect("the key is of the method's kind"),
        (None, method) => hmac(method.digest(), SECRET, bytes).as_ref().to_vec(),
    };
    let ours = how.written(Some(&value));
    let arguments = [&["--verify"], &common[..], &verify_with].concat();
    peer.run(&arguments, &ours).unwrap_or_else(|error| panic!("{:?}, {:?}: {error}", how.method, how.canonical));
    let broken = String::from_utf8(ours).expect("it is text").replacen("text", "test", 1);
    assert!(peer.run(&arguments, broken.as_bytes()).is_err());

    let arguments = [&["--sign"], &common[..], &sign_with].concat();
    let theirs = peer.run(&arguments, &how.written(None)).unwrap_or_else(|error| panic!("{:?}: {error}", how.method));
    verify(&theirs, pair.map_or(VerifyWith::Secret(SECRET), |pair| VerifyWith::PublicKey(pair.key.public())));
}

#[test]
fn signatures_of_either_side_verify_on_the_other() {
    let Some(peer) = Peer::new() else { return };
    let kinds = [KeyKind::Rsa, KeyKind::Ec(Curve::P256), KeyKind::Ec(Curve::P384), KeyKind::Ec(Curve::P521)];
    let canonical = Canonical::new(Method::Exclusive);
    for pair in kinds.map(|kind| Pair::new(&peer, kind)) {
        for digest in DIGESTS {
            let method =
                if pair.kind == KeyKind::Rsa { SignatureMethod::Rsa(digest) } else { SignatureMethod::Ecdsa(digest) };
            exchange(&peer, &How { method, canonical: canonical.clone(), digest }, Some(&pair));
        }
    }
    for digest in DIGESTS {
        exchange(&peer, &How { method: SignatureMethod::Hmac(digest), canonical: canonical.clone(), digest }, None);
    }
}

#[test]
fn canonical_forms_are_those_of_the_other_side() {
    let Some(peer) = Peer::new() else { return };
    for canonical in canonicals() {
        let method = SignatureMethod::Hmac(DigestMethod::Sha256);
        exchange(&peer, &How { method, canonical, digest: DigestMethod::Sha256 }, None);
    }
}
