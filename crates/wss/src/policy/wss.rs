//! `Wss10`, `Wss11`, `Trust10` and `Trust13` (WS-SecurityPolicy §9 and §10).

use super::normal::Assertion;
use super::reader::Reader;
use super::{KeyReference, Wss};

/// Reads `Wss10` or `Wss11` and adds what it asks for.
pub(super) fn read(reader: &mut Reader<'_>, assertion: &Assertion, wss: &mut Wss) {
    reader.without_parameters(assertion);
    wss.version_11 |= reader.security(assertion) == "Wss11";
    for inner in &assertion.nested {
        let reference = match reader.security(inner) {
            "MustSupportRefKeyIdentifier" => Some(KeyReference::KeyIdentifier),
            "MustSupportRefIssuerSerial" => Some(KeyReference::IssuerSerial),
            "MustSupportRefEmbeddedToken" => Some(KeyReference::Embedded),
            "MustSupportRefThumbprint" => Some(KeyReference::Thumbprint),
            "MustSupportRefEncryptedKey" => Some(KeyReference::EncryptedKey),
            "MustSupportRefExternalURI" => {
                reader.warn(inner.node, "references out of the message are never followed, whatever this asks for");
                None
            }
            "RequireSignatureConfirmation" => {
                wss.signature_confirmation = true;
                None
            }
            _ => {
                reader.unknown(inner);
                continue;
            }
        };
        reader.flag(inner);
        wss.must_support.extend(reference.filter(|reference| !wss.must_support.contains(reference)));
    }
}
