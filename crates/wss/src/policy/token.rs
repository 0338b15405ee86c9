//! Tokens (WS-SecurityPolicy §5).

use super::names::SP_11;
use super::normal::Assertion;
use super::reader::Reader;
use super::{DerivedKeys, Inclusion, KeyReference, Password, SamlVersion, Token, TokenKind, X509Form};
use crate::vocabulary::{WSC_13, WSC_2005};

/// Reads the one token in an assertion around it, such as `InitiatorToken`.
pub(super) fn read_in(reader: &mut Reader<'_>, wrapper: &Assertion) -> Option<Token> {
    reader.without_parameters(wrapper);
    let [token] = wrapper.nested.as_slice() else {
        let name = reader.name(wrapper.node).local;
        reader.wrong(wrapper.node, format!("{} tokens in {name}, expected one", wrapper.nested.len()));
        return None;
    };
    read(reader, token)
}

/// Reads a token; `None`: it is none, or cannot be honoured, and that was said.
pub(super) fn read(reader: &mut Reader<'_>, assertion: &Assertion) -> Option<Token> {
    let mut attributes = Attributes::default();
    let kind = match reader.security(assertion) {
        "UsernameToken" => username(reader, assertion, &mut attributes),
        "X509Token" => x509(reader, assertion, &mut attributes),
        "SamlToken" => saml(reader, assertion, &mut attributes),
        "KeyValueToken" => key_value(reader, assertion, &mut attributes),
        other @ ("IssuedToken"
        | "KerberosToken"
        | "SpnegoContextToken"
        | "SecurityContextToken"
        | "SecureConversationToken"
        | "RelToken") => {
            reader.unsupported(assertion.node, format!("{other} is not supported"));
            return None;
        }
        "HttpsToken" => {
            reader.wrong(assertion.node, "HttpsToken outside of a TransportToken");
            return None;
        }
        _ => {
            reader.unknown(assertion);
            return None;
        }
    };
    reader.without_parameters(assertion);
    let inclusion = inclusion(reader, assertion)?;
    Some(Token { kind, inclusion, derived_keys: attributes.derived_keys })
}

/// What all kinds of tokens may say of themselves.
#[derive(Default)]
struct Attributes {
    derived_keys: DerivedKeys,
    references: Vec<KeyReference>,
}

impl Attributes {
    /// Takes an assertion that any token may have; otherwise it is not known there.
    fn take(&mut self, reader: &mut Reader<'_>, token: &Assertion, inner: &Assertion) {
        match reader.security(inner) {
            "RequireDerivedKeys" | "RequireExplicitDerivedKeys" => {
                let is_11 = reader.name(token.node).namespace == SP_11;
                self.derived_keys = DerivedKeys::Required(if is_11 { WSC_2005 } else { WSC_13 });
            }
            "RequireImplicitDerivedKeys" => reader.unsupported(inner.node, "implicitly derived keys are not supported"),
            "RequireKeyIdentifierReference" => self.references.push(KeyReference::KeyIdentifier),
            "RequireIssuerSerialReference" => self.references.push(KeyReference::IssuerSerial),
            "RequireThumbprintReference" => self.references.push(KeyReference::Thumbprint),
            "RequireEmbeddedTokenReference" => self.references.push(KeyReference::Embedded),
            "RequireExternalUriReference" | "RequireExternalReference" => {
                reader.unsupported(inner.node, "references out of the message are never followed");
            }
            _ => return reader.unknown(inner),
        }
        reader.flag(inner);
    }
}

fn username(reader: &mut Reader<'_>, assertion: &Assertion, attributes: &mut Attributes) -> TokenKind {
    let (mut password, mut nonce, mut created) = (Password::Text, false, false);
    for inner in &assertion.nested {
        match reader.security(inner) {
            "NoPassword" => password = Password::None,
            "HashPassword" => password = Password::Digest,
            "WssUsernameToken10" | "WssUsernameToken11" => {}
            "Nonce" => nonce = true,
            "Created" => created = true,
            _ => {
                attributes.take(reader, assertion, inner);
                continue;
            }
        }
        reader.flag(inner);
    }
    if attributes.derived_keys != DerivedKeys::None {
        reader.unsupported(assertion.node, "keys derived from passwords are not supported");
    }
    // The digest is made of both, and shows nothing without (Username Token Profile 1.1 §3.1).
    let is_digest = password == Password::Digest;
    TokenKind::Username { password, nonce: nonce || is_digest, created: created || is_digest }
}

fn x509(reader: &mut Reader<'_>, assertion: &Assertion, attributes: &mut Attributes) -> TokenKind {
    let mut form = X509Form::V3;
    for inner in &assertion.nested {
        match reader.security(inner) {
            "WssX509V3Token10" | "WssX509V3Token11" => {}
            "WssX509PkiPathV1Token10" | "WssX509PkiPathV1Token11" => form = X509Form::PkiPath,
            other @ ("WssX509V1Token11" | "WssX509Pkcs7Token10" | "WssX509Pkcs7Token11") => {
                reader.unsupported(inner.node, format!("{other} is not supported"));
            }
            _ => {
                attributes.take(reader, assertion, inner);
                continue;
            }
        }
        reader.flag(inner);
    }
    TokenKind::X509 { form, references: std::mem::take(&mut attributes.references) }
}

fn saml(reader: &mut Reader<'_>, assertion: &Assertion, attributes: &mut Attributes) -> TokenKind {
    let mut found = None;
    for inner in &assertion.nested {
        match reader.security(inner) {
            "WssSamlV11Token10" | "WssSamlV11Token11" => found = Some(SamlVersion::V11),
            "WssSamlV20Token11" => found = Some(SamlVersion::V20),
            other @ ("WssSamlV10Token10" | "WssSamlV10Token11") => {
                reader.unsupported(inner.node, format!("{other} is not supported"));
            }
            _ => {
                attributes.take(reader, assertion, inner);
                continue;
            }
        }
        reader.flag(inner);
    }
    if found.is_none() {
        reader.warn(assertion.node, "the token names no version of SAML, which is taken to be 2.0");
    }
    if attributes.derived_keys != DerivedKeys::None {
        reader.unsupported(assertion.node, "keys derived from assertions are not supported");
    }
    TokenKind::Saml { version: found.unwrap_or(SamlVersion::V20) }
}

fn key_value(reader: &mut Reader<'_>, assertion: &Assertion, attributes: &mut Attributes) -> TokenKind {
    for inner in &assertion.nested {
        match reader.security(inner) {
            "RsaKeyValue" => reader.flag(inner),
            _ => attributes.take(reader, assertion, inner),
        }
    }
    if attributes.derived_keys != DerivedKeys::None {
        reader.unsupported(assertion.node, "keys derived from bare public keys are not supported");
    }
    TokenKind::KeyValue
}

/// `IncludeToken`, whose values are the version's namespace and a word; where it does not stand, it is `Always`.
fn inclusion(reader: &mut Reader<'_>, assertion: &Assertion) -> Option<Inclusion> {
    let Some(value) = reader.attribute(assertion.node, "IncludeToken") else { return Some(Inclusion::Always) };
    match value.trim().rsplit('/').next() {
        Some("Never") => Some(Inclusion::Never),
        Some("Once") => Some(Inclusion::Once),
        Some("AlwaysToRecipient") => Some(Inclusion::AlwaysToRecipient),
        Some("AlwaysToInitiator") => Some(Inclusion::AlwaysToInitiator),
        Some("Always") => Some(Inclusion::Always),
        _ => {
            let expected = "Never, Once, AlwaysToRecipient, AlwaysToInitiator or Always";
            reader.wrong(assertion.node, format!("IncludeToken ends in none of {expected}: {value}"));
            None
        }
    }
}
