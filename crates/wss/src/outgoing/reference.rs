//! References to tokens and keys: what stands in `ds:KeyInfo`.
//!
//! Each is its own exclusive canonical form inside of an element that has declared `ds`.

use crate::binary;
use crate::keys::{Certificate, Curve, KeyKind, PublicKey};
use crate::policy::{SamlVersion, X509Form};
use crate::vocabulary::{DSIG11, MESSAGE_SECURITY, MESSAGE_SECURITY_11, WSSE, WSSE11, WSU, X509_PROFILE};
use crate::writing::{element, escape_text};

/// What a `wsse:SecurityTokenReference` says.
pub(super) enum Pointer<'a> {
    /// A binary token of this form, by its id.
    Binary(&'a str, X509Form),
    /// A token that stands in the reference, as text.
    Embedded(&'a [u8], X509Form),
    /// A certificate's subject key identifier.
    KeyIdentifier(&'a Certificate),
    /// A certificate's digest.
    Thumbprint(&'a Certificate),
    /// A certificate's issuer and serial number.
    IssuerSerial(&'a Certificate),
    /// An encrypted key, by its id.
    EncryptedKey(&'a str),
    /// An encrypted key of the request, by the digest of its cipher value.
    EncryptedKeySha1(&'a [u8; 20]),
    /// A derived key, by its id, of this WS-SecureConversation.
    DerivedKey(&'a str, &'static str),
    /// A SAML assertion, by its own id.
    Assertion(&'a str, SamlVersion),
}

/// The value type of a binary token.
pub(super) fn value_type(form: X509Form) -> String {
    match form {
        X509Form::V3 => format!("{X509_PROFILE}#X509v3"),
        X509Form::PkiPath => format!("{X509_PROFILE}#X509PKIPathv1"),
    }
}

/// Writes `wsse:SecurityTokenReference`; `id` is empty for none.
///
/// Source: WS-Security 1.1 §7, X.509 Token Profile 1.1 §3.2, SAML Token Profile 1.1 §3.4.
pub(super) fn token_reference(id: &str, pointer: &Pointer<'_>) -> Vec<u8> {
    let token_type = match pointer {
        Pointer::EncryptedKey(_) | Pointer::EncryptedKeySha1(_) => format!("{MESSAGE_SECURITY_11}#EncryptedKey"),
        Pointer::Assertion(_, SamlVersion::V11) => format!("{SAML_PROFILE}-1.1#SAMLV1.1"),
        Pointer::Assertion(_, SamlVersion::V20) => format!("{SAML_PROFILE}-1.1#SAMLV2.0"),
        Pointer::Binary(_, X509Form::PkiPath) | Pointer::Embedded(_, X509Form::PkiPath) => {
            value_type(X509Form::PkiPath)
        }
        _ => String::new(),
    };
    let mut attributes = vec![("xmlns:wsse", WSSE)];
    if !token_type.is_empty() {
        attributes.push(("xmlns:wsse11", WSSE11));
    }
    if !id.is_empty() {
        attributes.extend([("xmlns:wsu", WSU), ("wsu:Id", id)]);
    }
    if !token_type.is_empty() {
        attributes.push(("wsse11:TokenType", &token_type));
    }
    let mut out = Vec::with_capacity(768);
    element(&mut out, "wsse:SecurityTokenReference", &attributes, |out| pointer.write(out));
    out
}

const SAML_PROFILE: &str = "http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile";

impl Pointer<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Pointer::Binary(id, form) => direct(out, id, &value_type(form)),
            Pointer::EncryptedKey(id) => direct(out, id, ""),
            Pointer::DerivedKey(id, namespace) => direct(out, id, &format!("{namespace}/dk")),
            Pointer::Embedded(token, form) => {
                element(out, "wsse:Embedded", &[("ValueType", &value_type(form))], |out| out.extend_from_slice(token));
            }
            Pointer::KeyIdentifier(certificate) => {
                let kind = format!("{X509_PROFILE}#X509SubjectKeyIdentifier");
                key_identifier(out, &kind, certificate.key_identifier());
            }
            Pointer::Thumbprint(certificate) => {
                key_identifier(out, &format!("{MESSAGE_SECURITY_11}#ThumbprintSHA1"), certificate.thumbprint());
            }
            Pointer::EncryptedKeySha1(digest) => {
                key_identifier(out, &format!("{MESSAGE_SECURITY_11}#EncryptedKeySHA1"), digest);
            }
            Pointer::IssuerSerial(certificate) => element(out, "ds:X509Data", &[], |out| {
                element(out, "ds:X509IssuerSerial", &[], |out| {
                    element(out, "ds:X509IssuerName", &[], |out| escape_text(out, certificate.issuer().text()));
                    element(out, "ds:X509SerialNumber", &[], |out| escape_text(out, certificate.serial()));
                });
            }),
            Pointer::Assertion(id, version) => {
                let kind = match version {
                    SamlVersion::V11 => format!("{SAML_PROFILE}-1.0#SAMLAssertionID"),
                    SamlVersion::V20 => format!("{SAML_PROFILE}-1.1#SAMLID"),
                };
                element(out, "wsse:KeyIdentifier", &[("ValueType", &kind)], |out| escape_text(out, id));
            }
        }
    }
}

fn direct(out: &mut Vec<u8>, id: &str, value_type: &str) {
    let uri = format!("#{id}");
    let attributes = [("URI", uri.as_str()), ("ValueType", value_type)];
    element(out, "wsse:Reference", &attributes, |_| {});
}

fn key_identifier(out: &mut Vec<u8>, value_type: &str, bytes: &[u8]) {
    let encoding = format!("{MESSAGE_SECURITY}#Base64Binary");
    let attributes = [("EncodingType", encoding.as_str()), ("ValueType", value_type)];
    element(out, "wsse:KeyIdentifier", &attributes, |out| binary::encode(bytes, out));
}

/// Writes `ds:KeyValue`; nothing for a key that has no form there.
///
/// Source: XML Signature 1.1 §4.5.2.
pub(super) fn key_value(key: &PublicKey) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some((modulus, exponent)) = key.rsa() {
        element(&mut out, "ds:KeyValue", &[], |out| {
            element(out, "ds:RSAKeyValue", &[], |out| {
                element(out, "ds:Modulus", &[], |out| binary::encode(modulus, out));
                element(out, "ds:Exponent", &[], |out| binary::encode(exponent, out));
            });
        });
    } else if let (KeyKind::Ec(curve), Some(point)) = (key.kind(), key.ec_point()) {
        element(&mut out, "ds:KeyValue", &[], |out| {
            element(out, "dsig11:ECKeyValue", &[("xmlns:dsig11", DSIG11)], |out| {
                element(out, "dsig11:NamedCurve", &[("URI", curve_uri(curve))], |_| {});
                element(out, "dsig11:PublicKey", &[], |out| binary::encode(point, out));
            });
        });
    }
    out
}

/// Source: XML Signature 1.1 §4.5.2.3.1.
fn curve_uri(curve: Curve) -> &'static str {
    match curve {
        Curve::P256 => "urn:oid:1.2.840.10045.3.1.7",
        Curve::P384 => "urn:oid:1.3.132.0.34",
        Curve::P521 => "urn:oid:1.3.132.0.35",
    }
}

/// The certificates of a path, the end entity's last, as an ASN.1 `SEQUENCE OF`; `chain` begins with the end entity's.
///
/// Source: X.509 Token Profile 1.1 §3.2.1, `PkiPath` of X.509.
pub(super) fn pki_path(chain: &[std::sync::Arc<Certificate>]) -> Vec<u8> {
    let length: usize = chain.iter().map(|certificate| certificate.der().len()).sum();
    let mut out = vec![0x30];
    let bytes = length.to_be_bytes();
    let significant = &bytes[bytes.iter().position(|&byte| byte != 0).unwrap_or(bytes.len() - 1)..];
    if length >= 0x80 {
        out.push(0x80 | significant.len() as u8);
    }
    out.extend_from_slice(significant);
    for certificate in chain.iter().rev() {
        out.extend_from_slice(certificate.der());
    }
    out
}
