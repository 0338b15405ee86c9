//! Signatures: what they cover, hashed as it is written, and what is made with the key.

use std::collections::HashSet;
use std::sync::Arc;

use myelin_xml::NodeId;
use myelin_xml::c14n::{Canonical, Method, Subset, canonicalize};

use super::errors::cryptography;
use super::errors::unprotectable;
use super::header::{Item, Slot};
use super::message::Message;
use crate::Error;
use crate::algorithm::{DigestMethod, SignatureMethod};
use crate::crypto::{Digest, Hasher, Secret, digest, hmac};
use crate::dsig::{NewReference, SignedInfo, Target, Transform};
use crate::keys::Identity;
use crate::policy::Common;
use crate::vocabulary::DS;
use crate::writing::attribute;

/// A key with all that says which one it is.
pub(super) struct Signing {
    pub(super) key: SigningKey,
    pub(super) method: SignatureMethod,
    /// The content of `ds:KeyInfo`.
    pub(super) key_info: Vec<u8>,
    /// The tokens that the signature is made with, for policies that want them covered.
    pub(super) tokens: Vec<Covered>,
}

pub(super) enum SigningKey {
    Private(Arc<Identity>),
    Common(Arc<Secret>),
}

/// Something that a signature covers.
#[derive(Clone, Debug)]
pub(super) struct Covered {
    /// By which the signature refers to it.
    pub(super) id: String,
    pub(super) how: How,
}

/// How something that is covered becomes bytes.
#[derive(Clone, Debug)]
pub(super) enum How {
    /// The element of the document.
    Node(NodeId),
    /// The item of the header with that id.
    Item,
    /// The element with that id somewhere in the header, whose text this is.
    Text(Vec<u8>),
    /// The token that the reference with that id leads to (STR-Transform).
    Token {
        /// The token's own id, where it stands in the message.
        id: Option<String>,
        /// Its exclusive canonical form.
        text: Vec<u8>,
    },
}

impl Message<'_> {
    /// Signs, and puts the signature into the header; what is to be covered for two reasons is covered once.
    ///
    /// Shape: the id of the signature.
    pub(super) fn sign(
        &mut self,
        signing: &Signing,
        covered: &[Covered],
        common: &Common,
        slot: Slot,
    ) -> Result<String, Error> {
        let (canonical, hashed) = (&Canonical::new(common.suite.canonical), common.suite.digest);
        if self.on_tree {
            self.settle()?;
        }
        let mut parts = Vec::with_capacity(covered.len());
        let mut known = HashSet::new();
        for part in covered.iter().filter(|part| known.insert(&part.id)) {
            let transform = match part.how {
                How::Token { .. } => Transform::StrTransform(canonical.clone()),
                _ => Transform::Canonical(canonical.clone()),
            };
            parts.push((Target::Id(part.id.clone()), [transform], self.hash(part, canonical, hashed)?));
        }
        let references: Vec<NewReference<'_>> = parts
            .iter()
            .map(|(target, transforms, value)| NewReference {
                target,
                transforms,
                digest: hashed,
                value: value.as_ref(),
            })
            .collect();
        let signed_info = SignedInfo::new(canonical, signing.method, &references);
        let id = self.ids.next("SIG");
        let mut text = Vec::new();
        let value = if canonical.method == Method::Exclusive {
            signing.value(signed_info.bytes())?
        } else {
            signed_info.signature(&id, &[], &signing.key_info, &mut text);
            self.items.push(Item { slot, id: id.clone(), text: std::mem::take(&mut text) });
            let bytes = self.signed_info_in_place(&id, canonical)?;
            self.items.pop();
            signing.value(&bytes)?
        };
        signed_info.signature(&id, &value, &signing.key_info, &mut text);
        self.items.push(Item { slot, id: id.clone(), text });
        self.conversation.signature_values.push(value);
        Ok(id)
    }

    /// The digest of something that is covered.
    fn hash(&self, part: &Covered, canonical: &Canonical, method: DigestMethod) -> Result<Digest, Error> {
        if self.on_tree {
            return self.hash_in_place(part, canonical, method);
        }
        match &part.how {
            How::Node(node) => {
                let mut hasher = Hasher::new(method);
                let subset = Subset { apex: *node, excluded: &[] };
                canonicalize(&self.document, subset, canonical, &mut hasher).map_err(unprotectable)?;
                Ok(hasher.finish())
            }
            How::Item => {
                let item = self.items.iter().find(|item| item.id == part.id);
                Ok(digest(method, &item.expect("what is covered was put into the header before").text))
            }
            How::Text(text) => Ok(digest(method, text)),
            How::Token { id, text } => Ok(dereferenced(text, self.default_namespace(id.is_some()), method)),
        }
    }

    fn hash_in_place(&self, part: &Covered, canonical: &Canonical, method: DigestMethod) -> Result<Digest, Error> {
        let (id, is_token) = match &part.how {
            How::Token { id: Some(id), .. } => (id, true),
            How::Token { id: None, text } => return Ok(dereferenced(text, self.default_namespace(false), method)),
            _ => (&part.id, false),
        };
        let apex = self.element(id)?;
        let mut canonical = canonical.clone();
        if is_token {
            canonical.inclusive_prefixes.push(String::new());
        }
        let mut form = Vec::new();
        canonicalize(&self.document, Subset { apex, excluded: &[] }, &canonical, &mut form).map_err(unprotectable)?;
        Ok(if is_token { dereferenced(&form, self.default_namespace(true), method) } else { digest(method, &form) })
    }

    /// The default namespace around a token; around one that stands in no message there is none.
    fn default_namespace(&self, in_message: bool) -> &str {
        let header = self.envelope.header.filter(|_| in_message);
        header.and_then(|header| self.document.lookup_namespace(header, "")).unwrap_or_default()
    }

    /// What an inclusive method makes of a signature's `SignedInfo` at its place.
    fn signed_info_in_place(&mut self, id: &str, canonical: &Canonical) -> Result<Vec<u8>, Error> {
        self.settle()?;
        let signature = self.element(id)?;
        let is_signed_info = |node: &NodeId| {
            let name = self.document.qname(*node);
            (name.local, name.namespace) == ("SignedInfo", DS)
        };
        let apex = self.document.children(signature).find(is_signed_info).ok_or(Error::NotAnEnvelope)?;
        let mut form = Vec::new();
        canonicalize(&self.document, Subset { apex, excluded: &[] }, canonical, &mut form).map_err(unprotectable)?;
        Ok(form)
    }
}

impl Signing {
    fn value(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        match (&self.key, self.method) {
            (SigningKey::Private(identity), method) => identity.key.sign(method, bytes).map_err(cryptography),
            (SigningKey::Common(secret), SignatureMethod::Hmac(method)) => {
                Ok(hmac(method, secret.as_ref().as_ref(), bytes).as_ref().to_vec())
            }
            (SigningKey::Common(_), _) => Err(Error::Missing("a keyed hash for the common key".into())),
        }
    }
}

/// The digest of a token that a reference is replaced by: the form always says what the default namespace is.
///
/// Source: WS-Security 1.1 §8.3; WSS4J's `STRTransform`.
fn dereferenced(form: &[u8], default_namespace: &str, method: DigestMethod) -> Digest {
    let tag = &form[..memchr::memchr(b'>', form).unwrap_or(form.len())];
    let name = memchr::memchr(b' ', tag).unwrap_or(tag.len());
    let mut hasher = Hasher::new(method);
    hasher.update(&form[..name]);
    if memchr::memmem::find(tag, b" xmlns=\"").is_none() {
        let mut declaration = Vec::new();
        attribute(&mut declaration, "xmlns", default_namespace);
        hasher.update(if declaration.is_empty() { b" xmlns=\"\"" } else { &declaration });
    }
    hasher.update(&form[name..]);
    hasher.finish()
}
