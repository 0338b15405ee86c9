//! References: from an element to its canonical bytes, straight into a digest.

use myelin_xml::c14n::{Canonical, Method, Sink, Subset, canonicalize as write_canonical};
use myelin_xml::{Document, NodeId};

use super::{Reference, Transform};
use crate::algorithm::DigestMethod;
use crate::crypto::{Digest, Hasher};
use crate::error::{Refusal, Rule};
use crate::structure::is;
use crate::vocabulary::WSSE;

/// The token that a `wsse:SecurityTokenReference` leads to.
#[derive(Clone, Debug)]
pub enum Dereferenced {
    /// An element of the document.
    Node(NodeId),
    /// A token that does not stand in the document, in its canonical form: a `wsse:BinarySecurityToken` that would
    /// hold it.
    Bytes(Vec<u8>),
}

/// The digest of an element's canonical form, or of the document's.
///
/// Errors: `Malformed` where there is none, as a namespace is relative; the sender's.
pub fn digest(
    document: &Document,
    apex: NodeId,
    canonical: &Canonical,
    method: DigestMethod,
) -> Result<Digest, Refusal> {
    let mut hasher = Hasher::new(method);
    canonicalize(document, apex, &[], canonical, &mut hasher)?;
    Ok(hasher.finish())
}

impl Reference {
    /// Whether the digest is that of `target`, which the reference leads to.
    ///
    /// `signature` is the signature that the reference stands in; its value should be verified first, as each reference
    /// may lead to the whole document. `token` finds what a `SecurityTokenReference` leads to, and is asked at most
    /// once.
    /// Errors: `SignatureInvalid` for another digest, `Malformed` where nothing can be hashed; the sender's. Those of
    /// `token`.
    /// Source: XML Signature 1.1 §4.4.3, WS-Security 1.1 §8.3.
    pub fn verify(
        &self,
        document: &Document,
        target: NodeId,
        signature: NodeId,
        token: &mut dyn FnMut(NodeId) -> Result<Dereferenced, Refusal>,
    ) -> Result<(), Refusal> {
        let digest = self.hash(document, target, signature, token)?;
        if digest.as_ref() == self.value {
            return Ok(());
        }
        Err(Refusal::new(Rule::SignatureInvalid, format!("another digest of {:?}", self.target)))
    }

    fn hash(
        &self,
        document: &Document,
        target: NodeId,
        signature: NodeId,
        token: &mut dyn FnMut(NodeId) -> Result<Dereferenced, Refusal>,
    ) -> Result<Digest, Refusal> {
        let mut hasher = Hasher::new(self.digest);
        // What a bare id or an empty URI leads to has no comments, whatever the method would do with them.
        let canonical = Canonical { comments: false, ..self.canonical() };
        let enveloped = self.transforms.contains(&Transform::Enveloped);
        if !matches!(self.transforms.last(), Some(Transform::StrTransform(_))) {
            let excluded: &[NodeId] = if enveloped { &[signature] } else { &[] };
            canonicalize(document, target, excluded, &canonical, &mut hasher)?;
            return Ok(hasher.finish());
        }
        if !is(document, target, WSSE, "SecurityTokenReference") {
            let local = document.qname(target).local;
            return Err(Refusal::new(Rule::Malformed, format!("{local} is dereferenced, expected a reference")));
        }
        match token(target)? {
            Dereferenced::Bytes(bytes) => hasher.update(&bytes),
            Dereferenced::Node(node) => {
                let mut canonical = canonical;
                canonical.inclusive_prefixes.push(String::new());
                let mut form = Vec::new();
                canonicalize(document, node, &[], &canonical, &mut form)?;
                let (name, rest) = form.split_at(apex_name(&form, document.lookup_namespace(node, "").is_some()));
                hasher.update(name);
                hasher.update(if name.is_empty() { b"" } else { b" xmlns=\"\"" });
                hasher.update(rest);
            }
        }
        Ok(hasher.finish())
    }
}

/// Where a token's canonical form has to say that there is no default namespace: behind the name of its first element;
/// 0 where there is one, which the form shows.
///
/// Source: WS-Security 1.1 §8.3; WSS4J's `STRTransform`, which treats the default namespace as an inclusive prefix.
fn apex_name(form: &[u8], default_namespace: bool) -> usize {
    if default_namespace { 0 } else { memchr::memchr2(b' ', b'>', form).unwrap_or(0) }
}

pub(super) fn canonicalize(
    document: &Document,
    apex: NodeId,
    excluded: &[NodeId],
    canonical: &Canonical,
    sink: &mut dyn Sink,
) -> Result<(), Refusal> {
    write_canonical(document, Subset { apex, excluded }, canonical, sink)
        .map_err(|error| Refusal::new(Rule::Malformed, error.to_string()))
}

impl Reference {
    /// How the target becomes bytes.
    fn canonical(&self) -> Canonical {
        let named = self.transforms.iter().find_map(|transform| match transform {
            Transform::Canonical(canonical) | Transform::StrTransform(canonical) => Some(canonical.clone()),
            Transform::Enveloped => None,
        });
        named.unwrap_or_else(|| Canonical::new(Method::Inclusive))
    }
}
