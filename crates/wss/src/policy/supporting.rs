//! Supporting tokens (WS-SecurityPolicy §8).

use super::normal::Assertion;
use super::parts::{Meaning, read_elements, read_parts};
use super::reader::Reader;
use super::{Inclusion, SupportingTokens, TokenKind, suite, token};

/// How the tokens of an assertion are used, by its name: signed, endorsing, encrypted.
///
/// Source: §8.1 to §8.8; version 1.1 has those without encryption.
pub(super) fn usage(name: &str) -> Option<(bool, bool, bool)> {
    match name {
        "SupportingTokens" => Some((false, false, false)),
        "SignedSupportingTokens" => Some((true, false, false)),
        "EndorsingSupportingTokens" => Some((false, true, false)),
        "SignedEndorsingSupportingTokens" => Some((true, true, false)),
        "EncryptedSupportingTokens" => Some((false, false, true)),
        "SignedEncryptedSupportingTokens" => Some((true, false, true)),
        "EndorsingEncryptedSupportingTokens" => Some((false, true, true)),
        "SignedEndorsingEncryptedSupportingTokens" => Some((true, true, true)),
        _ => None,
    }
}

/// Reads supporting tokens, which are used as the assertion's name says.
///
/// `binding_suite` is the name of the binding's algorithms, if there are any: a token may repeat it, and not have its own.
pub(super) fn read(
    reader: &mut Reader<'_>,
    assertion: &Assertion,
    (signed, endorsing, encrypted): (bool, bool, bool),
    binding_suite: Option<&str>,
) -> SupportingTokens {
    reader.without_parameters(assertion);
    let mut supporting = SupportingTokens {
        tokens: Vec::new(),
        signed,
        endorsing,
        encrypted,
        signed_parts: Default::default(),
        encrypted_parts: Default::default(),
    };
    for inner in &assertion.nested {
        match reader.security(inner) {
            "AlgorithmSuite" => {
                if let Some(own) = suite::read(reader, inner)
                    && binding_suite != Some(own.name.as_str())
                {
                    reader.unsupported(inner.node, "supporting tokens with other algorithms than their binding");
                }
            }
            "SignedParts" => read_parts(reader, inner, Meaning::Signed, &mut supporting.signed_parts),
            "SignedElements" => read_elements(reader, inner, false, &mut supporting.signed_parts),
            "EncryptedParts" => read_parts(reader, inner, Meaning::Encrypted, &mut supporting.encrypted_parts),
            "EncryptedElements" => read_elements(reader, inner, false, &mut supporting.encrypted_parts),
            "ContentEncryptedElements" => read_elements(reader, inner, true, &mut supporting.encrypted_parts),
            _ => {
                let Some(token) = token::read(reader, inner) else { continue };
                if token.inclusion == Inclusion::AlwaysToInitiator {
                    reader.unsupported(inner.node, "supporting tokens stand in requests, not in responses alone");
                }
                if endorsing && matches!(token.kind, TokenKind::Username { .. }) {
                    reader.unsupported(inner.node, "a UsernameToken has no key to endorse with");
                }
                supporting.tokens.push(token);
            }
        }
    }
    if supporting.tokens.is_empty() && reader.errors.is_empty() && reader.unsupported.is_empty() {
        reader.wrong(assertion.node, "supporting tokens without a token");
    }
    supporting
}
