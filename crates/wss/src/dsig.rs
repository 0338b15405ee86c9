//! XML Signature on a tree: what a signature says, whether it is right, and how a new one is written.
//!
//! Nothing here knows of SOAP, of tokens or of trust. A signature is read strictly, and all that can be counted is
//! counted, before a key is used.
//! References lead to elements of the same document only; of transforms there are canonicalisation, the enveloped
//! signature and WS-Security's dereferencing of tokens. All else is refused by its name.
//!
//! Source: XML Signature 1.1, WS-Security 1.1 §8.3.

mod read;
mod reference;
mod value;
mod write;

#[cfg(test)]
mod tests;

use myelin_xml::NodeId;
use myelin_xml::c14n::Canonical;

use crate::algorithm::{DigestMethod, SignatureMethod};
use crate::keys::PublicKey;

pub(crate) use read::digest_method;
pub use reference::{Dereferenced, digest};
pub use write::{NewReference, SignedInfo, canonical_uri};

/// A signature as it stands in a document.
#[derive(Clone, Debug)]
pub struct Signature {
    /// `ds:Signature`.
    pub element: NodeId,
    /// `ds:SignedInfo`, which the signature's value is of.
    pub signed_info: NodeId,
    /// How `signed_info` is made bytes.
    pub canonical: Canonical,
    /// How it is signed.
    pub method: SignatureMethod,
    /// What is signed; at least one.
    pub references: Vec<Reference>,
    /// `ds:SignatureValue`.
    pub value: Vec<u8>,
    /// `ds:KeyInfo`.
    pub key_info: Option<NodeId>,
    /// Each `ds:Object`; enveloping signatures sign them.
    pub objects: Vec<NodeId>,
}

/// Something that is signed.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Where it is.
    pub target: Target,
    /// What happens to it before it is hashed, in that order.
    pub transforms: Vec<Transform>,
    /// How it is hashed.
    pub digest: DigestMethod,
    /// What the hash should be.
    pub value: Vec<u8>,
}

/// What a reference leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The document that the reference stands in (`URI=""`).
    Whole,
    /// The element with this id (`URI="#id"`).
    Id(String),
}

/// What happens to what is signed before it is hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transform {
    /// It becomes bytes; without this, Canonical XML 1.0 makes them.
    Canonical(Canonical),
    /// The signature that the reference stands in is taken out.
    Enveloped,
    /// A reference to a token becomes the token, which is made bytes.
    StrTransform(Canonical),
}

/// What a signature's value is checked with.
#[derive(Clone, Copy, Debug)]
pub enum VerifyWith<'a> {
    /// A public key: RSA or ECDSA.
    PublicKey(&'a PublicKey),
    /// A key that both sides know: HMAC.
    Secret(&'a [u8]),
}
