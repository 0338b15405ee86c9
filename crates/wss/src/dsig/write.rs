//! Writing signatures as texts that are their own exclusive canonical form: what is hashed is what is written.

use myelin_xml::c14n::{Canonical, Method};

use super::{Target, Transform};
use crate::algorithm::{DigestMethod, SignatureMethod};
use crate::binary;
use crate::vocabulary::{DS, EXC_C14N, MESSAGE_SECURITY, WSSE};
use crate::writing::{attribute, element};

/// Something to be signed.
#[derive(Clone, Debug)]
pub struct NewReference<'a> {
    /// Where it is.
    pub target: &'a Target,
    /// What happened to it before it was hashed.
    pub transforms: &'a [Transform],
    /// How it was hashed.
    pub digest: DigestMethod,
    /// Its hash.
    pub value: &'a [u8],
}

/// A new `ds:SignedInfo`.
#[derive(Clone, Debug)]
pub struct SignedInfo {
    /// Its canonical form, standing alone.
    bytes: Vec<u8>,
}

const START: &[u8] = b"<ds:SignedInfo";
const DECLARATION: &[u8] = b" xmlns:ds=\"http://www.w3.org/2000/09/xmldsig#\"";

impl SignedInfo {
    /// Writes what is to be signed.
    ///
    /// Shape: `canonical` is exclusive without inclusive prefixes; otherwise the signature's value is not that of
    /// [`bytes`](SignedInfo::bytes), but of what `canonical` makes of the element at its place.
    pub fn new(canonical: &Canonical, method: SignatureMethod, references: &[NewReference<'_>]) -> SignedInfo {
        let mut out = Vec::with_capacity(512 + 512 * references.len());
        out.extend_from_slice(START);
        out.extend_from_slice(DECLARATION);
        out.push(b'>');
        canonical_method(&mut out, "ds:CanonicalizationMethod", canonical);
        algorithm(&mut out, "ds:SignatureMethod", method.uri());
        for reference in references {
            reference.write(&mut out);
        }
        out.extend_from_slice(b"</ds:SignedInfo>");
        SignedInfo { bytes: out }
    }

    /// What the signature's value is made of: the canonical form of the element.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes the signature around it.
    ///
    /// Shape: `key_info` is the content of `ds:KeyInfo`, which declares its prefixes itself save for `ds`; `id` is
    /// written as it is. What is written is its own exclusive canonical form, declares `ds` once, and holds the
    /// element without its own declaration.
    pub fn signature(&self, id: &str, value: &[u8], key_info: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(b"<ds:Signature");
        out.extend_from_slice(DECLARATION);
        attribute(out, "Id", id);
        out.push(b'>');
        out.extend_from_slice(START);
        out.extend_from_slice(&self.bytes[START.len() + DECLARATION.len()..]);
        out.extend_from_slice(b"<ds:SignatureValue>");
        binary::encode(value, out);
        out.extend_from_slice(b"</ds:SignatureValue>");
        if !key_info.is_empty() {
            out.extend_from_slice(b"<ds:KeyInfo>");
            out.extend_from_slice(key_info);
            out.extend_from_slice(b"</ds:KeyInfo>");
        }
        out.extend_from_slice(b"</ds:Signature>");
    }
}

impl NewReference<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<ds:Reference URI=\"");
        if let Target::Id(id) = self.target {
            out.push(b'#');
            crate::writing::escape(out, id);
        }
        out.extend_from_slice(b"\">");
        if !self.transforms.is_empty() {
            out.extend_from_slice(b"<ds:Transforms>");
            for transform in self.transforms {
                transform.write(out);
            }
            out.extend_from_slice(b"</ds:Transforms>");
        }
        algorithm(out, "ds:DigestMethod", self.digest.uri());
        out.extend_from_slice(b"<ds:DigestValue>");
        binary::encode(self.value, out);
        out.extend_from_slice(b"</ds:DigestValue></ds:Reference>");
    }
}

impl Transform {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Transform::Canonical(canonical) => canonical_method(out, "ds:Transform", canonical),
            Transform::Enveloped => algorithm(out, "ds:Transform", &format!("{DS}enveloped-signature")),
            Transform::StrTransform(canonical) => {
                let uri = format!("{MESSAGE_SECURITY}#STR-Transform");
                element(out, "ds:Transform", &[("Algorithm", &uri)], |out| {
                    element(out, "wsse:TransformationParameters", &[("xmlns:wsse", WSSE)], |out| {
                        canonical_method(out, "ds:CanonicalizationMethod", canonical);
                    });
                });
            }
        }
    }
}

fn canonical_method(out: &mut Vec<u8>, name: &str, canonical: &Canonical) {
    element(out, name, &[("Algorithm", canonical_uri(canonical))], |out| {
        if canonical.inclusive_prefixes.is_empty() {
            return;
        }
        let spelled = |prefix: &String| if prefix.is_empty() { "#default" } else { prefix }.to_owned();
        let list = canonical.inclusive_prefixes.iter().map(spelled).collect::<Vec<_>>().join(" ");
        element(out, "ec:InclusiveNamespaces", &[("xmlns:ec", EXC_C14N), ("PrefixList", &list)], |_| {});
    });
}

/// Writes an empty element with an `Algorithm`.
fn algorithm(out: &mut Vec<u8>, name: &str, uri: &str) {
    element(out, name, &[("Algorithm", uri)], |_| {});
}

/// The identifier of a way to make bytes.
pub fn canonical_uri(canonical: &Canonical) -> &'static str {
    match (canonical.method, canonical.comments) {
        (Method::Inclusive, false) => "http://www.w3.org/TR/2001/REC-xml-c14n-20010315",
        (Method::Inclusive, true) => "http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments",
        (Method::Inclusive11, false) => "http://www.w3.org/2006/12/xml-c14n11",
        (Method::Inclusive11, true) => "http://www.w3.org/2006/12/xml-c14n11#WithComments",
        (Method::Exclusive, false) => EXC_C14N,
        (Method::Exclusive, true) => "http://www.w3.org/2001/10/xml-exc-c14n#WithComments",
    }
}
