//! `ds:KeyInfo` and `wsse:SecurityTokenReference`: which key is meant, in the words of the message.

use std::sync::Arc;

use myelin_xml::{Document, NodeId};

use crate::dsig::Dereferenced;
use crate::ids::Ids;
use crate::keys::{Certificate, Certificates, Curve, Name, PublicKey};
use crate::structure::{Children, required_attribute};
use crate::token::binary::{certificate, check_encoding};
use crate::token::short_text;
use crate::vocabulary::{DS, DSIG11, MESSAGE_SECURITY, MESSAGE_SECURITY_11, WSSE, X509_PROFILE, XENC};
use crate::{Limits, Refusal, Rule, binary};

/// Numbers of the largest key of RSA that is accepted, and a byte for the sign.
const NUMBER_BYTES: usize = (2 << 10) + 1;

/// A key as a message names it.
pub(super) enum KeyName {
    /// By an element of the message: a token, or an encrypted or derived key.
    Element(NodeId),
    /// By something of its certificate.
    Certificate(CertificateName),
    /// By the SHA-1 of the ciphertext that brought it.
    EncryptedKey(Vec<u8>),
    /// By the id of an assertion.
    Assertion(String),
    /// By a name that both sides have agreed on.
    Name(String),
    /// By itself.
    Value(Arc<PublicKey>),
}

/// A certificate as a message names it.
pub(super) enum CertificateName {
    KeyIdentifier(Vec<u8>),
    Thumbprint(Vec<u8>),
    IssuerSerial {
        issuer: String,
        serial: String,
    },
    Subject(String),
    /// By itself, and perhaps those that vouch for it.
    Whole(Vec<Arc<Certificate>>),
}

impl CertificateName {
    /// Whether it is this certificate's.
    pub(super) fn is_of(&self, certificate: &Certificate) -> bool {
        match self {
            CertificateName::KeyIdentifier(identifier) => certificate.key_identifier() == &identifier[..],
            CertificateName::Thumbprint(thumbprint) => certificate.thumbprint() == &thumbprint[..],
            CertificateName::IssuerSerial { issuer, serial } => {
                certificate.serial() == serial && is_written(certificate.issuer(), issuer)
            }
            CertificateName::Subject(subject) => is_written(certificate.subject(), subject),
            CertificateName::Whole(chain) => chain.first().is_some_and(|first| first.der() == certificate.der()),
        }
    }
}

/// Whether a name as a message writes it is this one.
pub(super) fn is_written(name: &Name, written: &str) -> bool {
    Name::parse(written).is_some_and(|parsed| parsed == *name)
}

/// Reads which key a message names.
pub(super) struct Reader<'a> {
    pub(super) document: &'a Document,
    pub(super) ids: &'a Ids,
    pub(super) certificates: &'a Certificates,
    pub(super) limits: &'a Limits,
}

impl Reader<'_> {
    /// Reads a `ds:KeyInfo`, which has one child.
    ///
    /// Errors: `Malformed`, `UnknownElement`, `UnresolvedReference`, `ExternalReference`, `TokenNotAllowed`,
    /// `TokenInvalid`, `Limit`; the sender's.
    /// Source: XML Signature 1.1 §4.5; Basic Security Profile 1.1 R5402.
    pub(super) fn key_info(&self, key_info: NodeId) -> Result<KeyName, Refusal> {
        let mut children = Children::of(self.document, key_info);
        let Some(child) = children.any()? else {
            return Err(Refusal::new(Rule::Malformed, "KeyInfo is empty"));
        };
        children.end()?;
        let name = self.document.qname(child);
        match (name.namespace, name.local) {
            (WSSE, "SecurityTokenReference") => self.token_reference(child),
            (XENC, "EncryptedKey") => Ok(KeyName::Element(child)),
            (DS, "X509Data") => self.x509_data(child).map(KeyName::Certificate),
            (DS, "KeyName") => Ok(KeyName::Name(self.text(child)?)),
            (DS, "KeyValue") => self.key_value(child).map(|key| KeyName::Value(Arc::new(key))),
            (_, local) => Err(Refusal::new(Rule::UnknownElement, format!("{local} in KeyInfo"))),
        }
    }

    /// Reads a `wsse:SecurityTokenReference`.
    ///
    /// Errors: as for [`Reader::key_info`].
    /// Source: WS-Security 1.1 §7.
    pub(super) fn token_reference(&self, element: NodeId) -> Result<KeyName, Refusal> {
        let mut children = Children::of(self.document, element);
        let Some(child) = children.any()? else {
            return Err(Refusal::new(Rule::Malformed, "SecurityTokenReference is empty"));
        };
        children.end()?;
        let name = self.document.qname(child);
        match (name.namespace, name.local) {
            (WSSE, "Reference") => {
                let uri = required_attribute(self.document, child, "URI")?;
                let Some(id) = uri.strip_prefix('#') else {
                    return Err(Refusal::new(Rule::ExternalReference, uri.into_owned()));
                };
                Children::of(self.document, child).end()?;
                self.ids.require(id).map(KeyName::Element)
            }
            (WSSE, "Embedded") => {
                let mut children = Children::of(self.document, child);
                let token = children.any()?;
                children.end()?;
                token.map(KeyName::Element).ok_or_else(|| Refusal::new(Rule::Malformed, "Embedded is empty"))
            }
            (WSSE, "KeyIdentifier") => self.key_identifier(child),
            (DS, "X509Data") => self.x509_data(child).map(KeyName::Certificate),
            (DS, "KeyName") => Ok(KeyName::Name(self.text(child)?)),
            (_, local) => Err(Refusal::new(Rule::UnknownElement, format!("{local} in SecurityTokenReference"))),
        }
    }

    fn key_identifier(&self, element: NodeId) -> Result<KeyName, Refusal> {
        let kind = required_attribute(self.document, element, "ValueType")?;
        let assertion = "http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile-1.";
        if let Some("0#SAMLAssertionID" | "1#SAMLID") = kind.strip_prefix(assertion) {
            return Ok(KeyName::Assertion(self.text(element)?));
        }
        check_encoding(self.document, element)?;
        let value = || binary::decode(self.document, element, self.limits.short_text);
        match (kind.strip_prefix(X509_PROFILE), kind.strip_prefix(MESSAGE_SECURITY_11)) {
            (Some("#X509SubjectKeyIdentifier"), _) => {
                Ok(KeyName::Certificate(CertificateName::KeyIdentifier(value()?)))
            }
            (Some("#X509v3"), _) => {
                let der = binary::decode(self.document, element, self.limits.certificate_bytes)?;
                let certificate = certificate(self.certificates, &der)?;
                Ok(KeyName::Certificate(CertificateName::Whole(vec![certificate])))
            }
            (_, Some("#ThumbprintSHA1")) => Ok(KeyName::Certificate(CertificateName::Thumbprint(value()?))),
            (_, Some("#EncryptedKeySHA1")) => Ok(KeyName::EncryptedKey(value()?)),
            _ => Err(Refusal::new(Rule::TokenNotAllowed, format!("a key identifier of the type {kind}"))),
        }
    }

    /// Reads a `ds:X509Data`: certificates, the first of which is meant, or one thing that names one.
    fn x509_data(&self, element: NodeId) -> Result<CertificateName, Refusal> {
        let mut children = Children::of(self.document, element);
        let mut chain = Vec::new();
        while let Some(child) = children.take(DS, "X509Certificate") {
            if chain.len() >= self.limits.certificate_path {
                let bound = self.limits.certificate_path;
                return Err(Refusal::new(Rule::Limit, format!("more than {bound} certificates")));
            }
            let der = binary::decode(self.document, child, self.limits.certificate_bytes)?;
            chain.push(certificate(self.certificates, &der)?);
        }
        if !chain.is_empty() {
            children.end()?;
            return Ok(CertificateName::Whole(chain));
        }
        let name = if let Some(child) = children.take(DS, "X509IssuerSerial") {
            let mut parts = Children::of(self.document, child);
            let issuer = self.text(parts.require(DS, "X509IssuerName")?)?;
            let serial = self.text(parts.require(DS, "X509SerialNumber")?)?;
            parts.end()?;
            CertificateName::IssuerSerial { issuer, serial }
        } else if let Some(child) = children.take(DS, "X509SKI") {
            CertificateName::KeyIdentifier(binary::decode(self.document, child, self.limits.short_text)?)
        } else {
            CertificateName::Subject(self.text(children.require(DS, "X509SubjectName")?)?)
        };
        children.end()?;
        Ok(name)
    }

    /// Reads a `ds:KeyValue`.
    ///
    /// Source: XML Signature 1.1 §4.5.2.
    fn key_value(&self, element: NodeId) -> Result<PublicKey, Refusal> {
        let mut children = Children::of(self.document, element);
        let key = if let Some(child) = children.take(DS, "RSAKeyValue") {
            let mut numbers = Children::of(self.document, child);
            let modulus = binary::decode(self.document, numbers.require(DS, "Modulus")?, NUMBER_BYTES)?;
            let exponent = binary::decode(self.document, numbers.require(DS, "Exponent")?, NUMBER_BYTES)?;
            numbers.end()?;
            PublicKey::from_rsa(&modulus, &exponent)
        } else {
            let mut parts = Children::of(self.document, children.require(DSIG11, "ECKeyValue")?);
            let curve = required_attribute(self.document, parts.require(DSIG11, "NamedCurve")?, "URI")?;
            let curve = Curve::from_uri(&curve)
                .ok_or_else(|| Refusal::new(Rule::UnknownAlgorithm, format!("the curve {curve}")))?;
            let point = binary::decode(self.document, parts.require(DSIG11, "PublicKey")?, self.limits.short_text)?;
            parts.end()?;
            PublicKey::from_ec(curve, &point)
        };
        children.end()?;
        key.map_err(|error| Refusal::new(Rule::TokenInvalid, error.to_string()))
    }

    fn text(&self, element: NodeId) -> Result<String, Refusal> {
        short_text(self.document, element, self.limits).map(std::borrow::Cow::into_owned)
    }
}

/// Whether a token that stands for a certificate says that it is in base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// It is the only encoding: the standard's form, and WSS4J's on trees.
    Understood,
    /// As tokens that stand in messages do.
    Said,
}

/// What the STR transform puts in the place of a reference to a certificate that does not stand in the message: the
/// canonical form of a binary token that would hold it, with the prefix of the reference.
///
/// Source: WS-Security 1.1 §8.3.
pub(super) fn dereferenced(
    document: &Document,
    reference: NodeId,
    certificate: &Certificate,
    encoding: Encoding,
) -> Dereferenced {
    let prefix = document.qname(reference).prefix;
    let (name, namespaces) = match prefix {
        "" => ("BinarySecurityToken".to_owned(), format!("xmlns=\"{WSSE}\"")),
        _ => (format!("{prefix}:BinarySecurityToken"), format!("xmlns=\"\" xmlns:{prefix}=\"{WSSE}\"")),
    };
    let encoding = match encoding {
        Encoding::Understood => String::new(),
        Encoding::Said => format!(" EncodingType=\"{MESSAGE_SECURITY}#Base64Binary\""),
    };
    let mut token = Vec::with_capacity(certificate.der().len() * 2 + 512);
    token.extend_from_slice(format!("<{name} {namespaces}{encoding} ValueType=\"{X509_PROFILE}#X509v3\">").as_bytes());
    binary::encode(certificate.der(), &mut token);
    token.extend_from_slice(format!("</{name}>").as_bytes());
    Dereferenced::Bytes(token)
}
