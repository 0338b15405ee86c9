//! Bindings (WS-SecurityPolicy §6 and §7).

use super::normal::Assertion;
use super::reader::Reader;
use super::{AlgorithmSuite, Binding, Common, Layout, Token, TokenKind, suite, token};

/// Reads a binding; `None`: it has something wrong or unsupported, and that was said.
pub(super) fn read(reader: &mut Reader<'_>, assertion: &Assertion) -> Option<Binding> {
    reader.without_parameters(assertion);
    match reader.security(assertion) {
        "TransportBinding" => transport(reader, assertion),
        "AsymmetricBinding" => asymmetric(reader, assertion),
        _ => symmetric(reader, assertion),
    }
}

fn transport(reader: &mut Reader<'_>, assertion: &Assertion) -> Option<Binding> {
    let mut client_certificate = None;
    let mut properties = Properties::default();
    for inner in &assertion.nested {
        match reader.security(inner) {
            "TransportToken" => client_certificate = https(reader, inner),
            "AlgorithmSuite" | "Layout" | "IncludeTimestamp" => properties.take(reader, inner),
            _ => reader.unknown(inner),
        }
    }
    if !assertion.nested.iter().any(|inner| reader.security(inner) == "TransportToken") {
        reader.wrong(assertion.node, "TransportBinding without a TransportToken");
    }
    let common = properties.finish(reader, assertion)?;
    Some(Binding::Transport { common, client_certificate: client_certificate? })
}

/// Reads the `HttpsToken` in a `TransportToken`: whether the client has to show a certificate.
fn https(reader: &mut Reader<'_>, wrapper: &Assertion) -> Option<bool> {
    let [token] = wrapper.nested.as_slice() else {
        reader.wrong(wrapper.node, "TransportToken without an HttpsToken");
        return None;
    };
    if reader.security(token) != "HttpsToken" {
        let name = reader.name(token.node).local;
        reader.unsupported(token.node, format!("{name} does not stand for a transport here, expected HttpsToken"));
        return None;
    }
    // An attribute in version 1.1, an assertion later.
    let required = reader.attribute(token.node, "RequireClientCertificate");
    let mut client_certificate = required.is_some_and(|required| matches!(required.trim(), "true" | "1"));
    for inner in &token.nested {
        match reader.security(inner) {
            "RequireClientCertificate" => client_certificate = true,
            other @ ("HttpBasicAuthentication" | "HttpDigestAuthentication") => {
                reader.unsupported(inner.node, format!("{other} is not supported: messages carry no trace of it"));
            }
            _ => reader.unknown(inner),
        }
    }
    reader.without_parameters(token);
    Some(client_certificate)
}

fn asymmetric(reader: &mut Reader<'_>, assertion: &Assertion) -> Option<Binding> {
    const TOKENS: [&str; 6] = [
        "InitiatorToken",
        "InitiatorSignatureToken",
        "InitiatorEncryptionToken",
        "RecipientToken",
        "RecipientSignatureToken",
        "RecipientEncryptionToken",
    ];
    let (properties, tokens) = members(reader, assertion, &TOKENS);
    let common = properties.finish(reader, assertion);
    let initiator_signature = tokens.one_of(reader, assertion, ["InitiatorSignatureToken", "InitiatorToken"]);
    let initiator_encryption = tokens.one_of(reader, assertion, ["InitiatorEncryptionToken", "InitiatorToken"]);
    let recipient_signature = tokens.one_of(reader, assertion, ["RecipientSignatureToken", "RecipientToken"]);
    let recipient_encryption = tokens.one_of(reader, assertion, ["RecipientEncryptionToken", "RecipientToken"]);
    Some(Binding::Asymmetric {
        common: common?,
        initiator_signature: initiator_signature?,
        initiator_encryption: initiator_encryption?,
        recipient_signature: recipient_signature?,
        recipient_encryption: recipient_encryption?,
    })
}

fn symmetric(reader: &mut Reader<'_>, assertion: &Assertion) -> Option<Binding> {
    let (properties, tokens) = members(reader, assertion, &["ProtectionToken", "SignatureToken", "EncryptionToken"]);
    let common = properties.finish(reader, assertion);
    let signature = tokens.one_of(reader, assertion, ["SignatureToken", "ProtectionToken"]);
    let encryption = tokens.one_of(reader, assertion, ["EncryptionToken", "ProtectionToken"]);
    Some(Binding::Symmetric { common: common?, signature: signature?, encryption: encryption? })
}

/// Reads what stands in a binding of messages.
fn members<'d>(reader: &mut Reader<'d>, assertion: &Assertion, names: &[&str]) -> (Properties, Tokens<'d>) {
    let mut properties = Properties::default();
    let mut tokens = Tokens(Vec::new());
    for inner in &assertion.nested {
        let name = reader.security(inner);
        if !names.contains(&name) {
            properties.take(reader, inner);
            continue;
        }
        if tokens.0.iter().any(|(known, _)| *known == name) {
            reader.wrong(inner.node, format!("a second {name}, expected one"));
        }
        let token = token::read_in(reader, inner);
        let token = token.filter(|token| {
            let fits = matches!(token.kind, TokenKind::X509 { .. })
                || (name.starts_with("Initiator") && matches!(token.kind, TokenKind::KeyValue));
            if !fits {
                reader.unsupported(inner.node, format!("this token does not serve as a {name}, expected an X509Token"));
            }
            fits
        });
        tokens.0.push((name, token));
    }
    (properties, tokens)
}

/// The tokens of a binding by the names of the assertions around them; `None`: it could not be read.
struct Tokens<'d>(Vec<(&'d str, Option<Token>)>);

impl Tokens<'_> {
    /// The token of the first name that there is.
    fn one_of(&self, reader: &mut Reader<'_>, binding: &Assertion, names: [&str; 2]) -> Option<Token> {
        let found = names.iter().find_map(|name| self.0.iter().find(|(known, _)| known == name));
        if found.is_none() {
            let [exact, both] = names;
            reader.wrong(binding.node, format!("the binding has neither {exact} nor {both}"));
        }
        found.and_then(|(_, token)| token.clone())
    }
}

/// What all bindings have, as far as it was read.
#[derive(Default)]
struct Properties {
    suite: Option<AlgorithmSuite>,
    suite_failed: bool,
    layout: Option<Layout>,
    timestamp: bool,
    encrypt_before_signing: bool,
    encrypt_signature: bool,
    protect_tokens: bool,
    only_entire_headers_and_body: bool,
}

impl Properties {
    fn take(&mut self, reader: &mut Reader<'_>, assertion: &Assertion) {
        match reader.security(assertion) {
            "AlgorithmSuite" => {
                if self.suite.is_some() {
                    reader.wrong(assertion.node, "a second AlgorithmSuite, expected one");
                }
                self.suite = suite::read(reader, assertion);
                self.suite_failed = self.suite.is_none();
                return;
            }
            "Layout" => {
                self.layout = layout(reader, assertion);
                return;
            }
            "IncludeTimestamp" => self.timestamp = true,
            "EncryptBeforeSigning" => self.encrypt_before_signing = true,
            "SignBeforeEncrypting" => self.encrypt_before_signing = false,
            "EncryptSignature" => self.encrypt_signature = true,
            "ProtectTokens" => self.protect_tokens = true,
            "OnlySignEntireHeadersAndBody" => self.only_entire_headers_and_body = true,
            _ => return reader.unknown(assertion),
        }
        reader.flag(assertion);
    }

    fn finish(self, reader: &mut Reader<'_>, binding: &Assertion) -> Option<Common> {
        if self.suite.is_none() && !self.suite_failed {
            reader.wrong(binding.node, "the binding has no AlgorithmSuite");
        }
        if matches!(self.layout, Some(Layout::LaxTimestampFirst | Layout::LaxTimestampLast)) && !self.timestamp {
            reader.wrong(binding.node, "the layout says where the timestamp stands: add IncludeTimestamp");
        }
        Some(Common {
            suite: self.suite?,
            layout: self.layout.unwrap_or(Layout::Lax),
            timestamp: self.timestamp,
            encrypt_before_signing: self.encrypt_before_signing,
            encrypt_signature: self.encrypt_signature,
            protect_tokens: self.protect_tokens,
            only_entire_headers_and_body: self.only_entire_headers_and_body,
        })
    }
}

/// Reads a `Layout`, which is `Lax` where it says nothing.
fn layout(reader: &mut Reader<'_>, assertion: &Assertion) -> Option<Layout> {
    reader.without_parameters(assertion);
    let mut found = None;
    for inner in &assertion.nested {
        let layout = match reader.security(inner) {
            "Strict" => Layout::Strict,
            "Lax" => Layout::Lax,
            "LaxTsFirst" | "LaxTimestampFirst" => Layout::LaxTimestampFirst,
            "LaxTsLast" | "LaxTimestampLast" => Layout::LaxTimestampLast,
            _ => {
                reader.unknown(inner);
                continue;
            }
        };
        reader.flag(inner);
        if found.replace(layout).is_some() {
            reader.wrong(inner.node, "a second layout, expected one");
        }
    }
    found
}
