//! Reading `ds:Signature`, child by child, as its schema has them.

use myelin_xml::c14n::{Canonical, Method};
use myelin_xml::{Document, NodeId};

use super::{Reference, Signature, Target, Transform};
use crate::algorithm::{DigestMethod, SignatureMethod};
use crate::binary;
use crate::error::{Refusal, Rule};
use crate::limits::Limits;
use crate::structure::{Children, required_attribute, text};
use crate::vocabulary::{DS, EXC_C14N, MESSAGE_SECURITY, WSSE};

/// A signature of RSA with 16,384 bits; longer ones are of no key that is accepted.
const VALUE_BYTES: usize = 2 << 10;

impl Signature {
    /// Reads a `ds:Signature`.
    ///
    /// Errors: `Malformed`, `UnknownElement`, `UnknownAlgorithm`, `UnknownTransform`, `ExternalReference`,
    /// `TruncatedHmac`, `Limit`; the sender's.
    /// Source: XML Signature 1.1 §4.
    pub fn read(document: &Document, element: NodeId, limits: &Limits) -> Result<Signature, Refusal> {
        let mut children = Children::of(document, element);
        let signed_info = children.require(DS, "SignedInfo")?;
        let value = children.require(DS, "SignatureValue")?;
        let key_info = children.take(DS, "KeyInfo");
        let objects = std::iter::from_fn(|| children.take(DS, "Object")).collect();
        children.end()?;

        let mut children = Children::of(document, signed_info);
        let canonical = canonical_method(document, children.require(DS, "CanonicalizationMethod")?, limits)?;
        let method = signature_method(document, children.require(DS, "SignatureMethod")?)?;
        let mut references = vec![reference(document, children.require(DS, "Reference")?, limits)?];
        while let Some(element) = children.take(DS, "Reference") {
            if references.len() >= limits.references {
                return Err(Refusal::new(Rule::Limit, format!("more than {} references", limits.references)));
            }
            references.push(reference(document, element, limits)?);
        }
        children.end()?;
        let value = binary::decode(document, value, VALUE_BYTES)?;
        Ok(Signature { element, signed_info, canonical, method, references, value, key_info, objects })
    }
}

fn signature_method(document: &Document, element: NodeId) -> Result<SignatureMethod, Refusal> {
    let uri = required_attribute(document, element, "Algorithm")?;
    let method =
        SignatureMethod::from_uri(&uri).ok_or_else(|| Refusal::new(Rule::UnknownAlgorithm, uri.into_owned()))?;
    let mut children = Children::of(document, element);
    if let SignatureMethod::Hmac(digest) = method
        && let Some(length) = children.take(DS, "HMACOutputLength")
    {
        let length = text(document, length)?;
        if length.trim() != (digest.bytes() * 8).to_string() {
            return Err(Refusal::new(Rule::TruncatedHmac, format!("a keyed hash of {:?} bits", length.trim())));
        }
    }
    children.end()?;
    Ok(method)
}

fn reference(document: &Document, element: NodeId, limits: &Limits) -> Result<Reference, Refusal> {
    let uri = document
        .attribute(element, "", "URI")
        .ok_or_else(|| Refusal::new(Rule::ExternalReference, "a reference without a URI"))?;
    let target = match uri.strip_prefix('#') {
        None if uri.is_empty() => Target::Whole,
        Some(id) if !id.is_empty() && !id.contains(['(', '#']) && id.len() <= limits.short_text => {
            Target::Id(id.to_owned())
        }
        _ => return Err(Refusal::new(Rule::ExternalReference, uri.into_owned())),
    };
    let mut children = Children::of(document, element);
    let transforms = match children.take(DS, "Transforms") {
        Some(list) => transforms(document, list, limits)?,
        None => Vec::new(),
    };
    let digest = digest_method(document, children.require(DS, "DigestMethod")?)?;
    let value = binary::decode(document, children.require(DS, "DigestValue")?, digest.bytes())?;
    children.end()?;
    if value.len() != digest.bytes() {
        return Err(Refusal::new(Rule::Malformed, format!("a digest of {} bytes", value.len())));
    }
    Ok(Reference { target, transforms, digest, value })
}

fn transforms(document: &Document, list: NodeId, limits: &Limits) -> Result<Vec<Transform>, Refusal> {
    let mut children = Children::of(document, list);
    let mut transforms = Vec::new();
    while let Some(element) = children.take(DS, "Transform") {
        if transforms.len() >= limits.transforms {
            return Err(Refusal::new(Rule::Limit, format!("more than {} transforms", limits.transforms)));
        }
        let transform = transform(document, element, limits)?;
        let fits = match transforms.last() {
            None => true,
            // Taking the signature out twice would say nothing more.
            Some(Transform::Enveloped) => transform != Transform::Enveloped,
            // What is bytes already would have to be parsed again, as what it is not in the message.
            Some(Transform::Canonical(_) | Transform::StrTransform(_)) => false,
        };
        if !fits {
            return Err(Refusal::new(Rule::UnknownTransform, "a transform behind one that makes bytes"));
        }
        transforms.push(transform);
    }
    children.end()?;
    if transforms.is_empty() {
        return Err(Refusal::new(Rule::Malformed, "Transforms without a transform"));
    }
    Ok(transforms)
}

fn transform(document: &Document, element: NodeId, limits: &Limits) -> Result<Transform, Refusal> {
    let uri = required_attribute(document, element, "Algorithm")?;
    if Canonical::from_uri(&uri).is_some() {
        return canonical_method(document, element, limits).map(Transform::Canonical);
    }
    let mut children = Children::of(document, element);
    let transform = if uri.strip_prefix(DS) == Some("enveloped-signature") {
        Transform::Enveloped
    } else if uri.strip_prefix(MESSAGE_SECURITY) == Some("#STR-Transform") {
        let parameters = children.require(WSSE, "TransformationParameters")?;
        let mut inner = Children::of(document, parameters);
        let method = canonical_method(document, inner.require(DS, "CanonicalizationMethod")?, limits)?;
        inner.end()?;
        Transform::StrTransform(method)
    } else {
        return Err(Refusal::new(Rule::UnknownTransform, uri.into_owned()));
    };
    children.end()?;
    Ok(transform)
}

/// Reads what an element with an `Algorithm` and, for the exclusive method, `InclusiveNamespaces` says.
fn canonical_method(document: &Document, element: NodeId, limits: &Limits) -> Result<Canonical, Refusal> {
    let uri = required_attribute(document, element, "Algorithm")?;
    let mut canonical =
        Canonical::from_uri(&uri).ok_or_else(|| Refusal::new(Rule::UnknownAlgorithm, uri.into_owned()))?;
    let mut children = Children::of(document, element);
    if canonical.method == Method::Exclusive
        && let Some(list) = children.take(EXC_C14N, "InclusiveNamespaces")
    {
        let prefixes = document.attribute(list, "", "PrefixList").unwrap_or_default();
        for prefix in prefixes.split_ascii_whitespace() {
            if canonical.inclusive_prefixes.len() >= limits.inclusive_prefixes {
                return Err(Refusal::new(Rule::Limit, format!("more than {} prefixes", limits.inclusive_prefixes)));
            }
            canonical.inclusive_prefixes.push(if prefix == "#default" { "" } else { prefix }.to_owned());
        }
        Children::of(document, list).end()?;
    }
    children.end()?;
    Ok(canonical)
}

/// Reads a `ds:DigestMethod`.
pub(crate) fn digest_method(document: &Document, element: NodeId) -> Result<DigestMethod, Refusal> {
    let uri = required_attribute(document, element, "Algorithm")?;
    let method = DigestMethod::from_uri(&uri).ok_or_else(|| Refusal::new(Rule::UnknownAlgorithm, uri.into_owned()))?;
    Children::of(document, element).end()?;
    Ok(method)
}
