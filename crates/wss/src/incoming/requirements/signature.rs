//! The message's signature: made with the binding's token, over all that the policy wants signed.

use std::sync::Arc;

use myelin_xml::NodeId;

use super::super::found::{At, Cover, Origin, SharedKey, SharedKeyKind, Signed, Signer};
use super::Requirements;
use crate::incoming::inspection::Inspection;
use crate::keys::Certificate;
use crate::policy::{Binding, Common, DerivedKeys, SupportingTokens, Token, TokenKind};
use crate::side::Side;
use crate::vocabulary::{DS, SAML_11, SAML_20, WSC_13, WSC_2005, WSSE, WSSE11, WSU, XENC};
use crate::{Refusal, Rule};

/// Whether elements of a namespace are those of security.
fn is_of_security(namespace: &str) -> bool {
    [WSSE, WSSE11, WSU, DS, XENC, WSC_2005, WSC_13, SAML_11, SAML_20].contains(&namespace)
}

impl<'a> Requirements<'a> {
    /// The signature that fulfils all that is asked of the message's; none where the policy asks for none.
    pub(super) fn main_signature(&self) -> Result<Option<&'a At<Signed>>, Refusal> {
        let inspection = self.inspection;
        let Some(token) = self.alternative.binding.signature_token(inspection.guard.arriving()) else {
            return self.check_without_binding().map(|()| None);
        };
        let mut refusal = Refusal::new(Rule::NotSigned, "no signature with the token of the policy's binding");
        for signature in &inspection.found.signatures {
            if !self.is_made_with(&signature.what, token) {
                continue;
            }
            match self.check_main(signature) {
                Ok(()) => return Ok(Some(signature)),
                Err(found) => refusal = found,
            }
        }
        if self.asks_for_signature()? { Err(refusal) } else { Ok(None) }
    }

    /// Where TLS protects messages, or nothing does, no signature is the message's: parts that have to be signed are
    /// signed by TLS, or by nobody.
    fn check_without_binding(&self) -> Result<(), Refusal> {
        if self.is_transport() || self.nodes(&self.alternative.signed)?.is_empty() {
            return Ok(());
        }
        Err(Refusal::new(Rule::NotSigned, "a policy without a binding that wants parts signed"))
    }

    pub(super) fn common(&self) -> Option<&'a Common> {
        self.alternative.binding.common()
    }

    fn asks_for_signature(&self) -> Result<bool, Refusal> {
        let timestamp = self.common().is_some_and(|common| common.timestamp);
        Ok(timestamp || !self.nodes(&self.alternative.signed)?.is_empty())
    }

    /// Whether the key of a signature is of the token that a policy names.
    pub(super) fn is_made_with(&self, signature: &Signed, token: &Token) -> bool {
        let symmetric = matches!(self.alternative.binding, Binding::Symmetric { .. });
        match (&signature.signer, &token.kind) {
            // The key of a symmetric binding is a common one, which the token's owner can decrypt. A response is made
            // with the request's: a key of its own anybody could have encrypted for the initiator.
            (Signer::Shared { origin, .. }, _) => {
                let is_right = *origin == Origin::Request || self.inspection.guard.side == Side::Recipient;
                symmetric && self.is_binding_token(token) && is_right && self.is_derived_as_asked(signature, token)
            }
            (Signer::Certificate { .. }, TokenKind::X509 { .. }) => !(symmetric && self.is_binding_token(token)),
            (Signer::KeyValue(_), TokenKind::KeyValue) => true,
            (Signer::Subject { assertion }, TokenKind::Saml { version }) => {
                let asserted = assertion.and_then(|node| self.assertion(node));
                asserted.is_some_and(|assertion| assertion.version == *version)
            }
            _ => false,
        }
    }

    /// Whether a keyed hash was made with a derived key, where the policy asks for such.
    fn is_derived_as_asked(&self, signature: &Signed, token: &Token) -> bool {
        let Signer::Shared { token: key, .. } = signature.signer else { return true };
        let is_derived = |at: &At<SharedKey>| at.node == key && matches!(at.what.kind, SharedKeyKind::Derived);
        token.derived_keys == DerivedKeys::None || (key.is_some() && self.inspection.found.keys.iter().any(is_derived))
    }

    fn is_binding_token(&self, token: &Token) -> bool {
        let direction = self.inspection.guard.arriving();
        self.alternative.binding.signature_token(direction).is_some_and(|binding| std::ptr::eq(binding, token))
    }

    fn check_main(&self, signature: &At<Signed>) -> Result<(), Refusal> {
        let Inspection { found, .. } = self.inspection;
        let (node, signed) = (signature.node, &signature.what);
        if let Some(timestamp) = self.timestamp()
            && self.common().is_some_and(|common| common.timestamp)
            && !self.inspection.covers(signed, timestamp)
        {
            return Err(Refusal::new(Rule::NotSigned, "Timestamp"));
        }
        self.check_signed(signed, &self.alternative.signed)?;
        let Some(common) = self.common() else { return Ok(()) };
        if common.protect_tokens && !self.protects_token(signed) {
            return Err(Refusal::new(Rule::TokenNotProtected, "the signature does not cover its token"));
        }
        if common.only_entire_headers_and_body {
            self.check_entire(signed)?;
        }
        if common.encrypt_signature {
            let confirmations = found.confirmations.iter().map(|confirmation| confirmation.node);
            for node in std::iter::once(node).chain(confirmations).flatten() {
                if !self.was_encrypted(node) {
                    let local = self.inspection.document.qname(node).local;
                    return Err(Refusal::new(Rule::SignatureNotEncrypted, local.to_owned()));
                }
            }
        }
        Ok(())
    }

    /// Whether a signature covers the token of its own key; a key that is not in the message needs no covering.
    fn protects_token(&self, signature: &Signed) -> bool {
        let covers_certificate = |certificate| signature.covers.iter().any(|cover| cover.is_certificate(certificate));
        match &signature.signer {
            Signer::Certificate { token: Some(token), .. }
            | Signer::Shared { token: Some(token), .. }
            | Signer::Subject { assertion: Some(token) } => self.inspection.covers(signature, *token),
            Signer::Certificate { certificate, token: None } => covers_certificate(certificate),
            Signer::Subject { assertion: None } => false,
            Signer::KeyValue(_) | Signer::Shared { token: None, .. } => true,
        }
    }

    /// Checks that a signature covers whole header blocks, the whole body and children of `Security`, and nothing else.
    fn check_entire(&self, signature: &Signed) -> Result<(), Refusal> {
        let Inspection { document, envelope, .. } = self.inspection;
        let is_entire = |node: NodeId| {
            let parent = document.parent(node);
            node == envelope.body || parent.is_some() && (parent == envelope.header || parent == envelope.security)
        };
        for cover in &signature.covers {
            if let Cover::Node(node) = cover
                && !is_entire(*node)
                // A token that a reference embeds is the header's all the same.
                && !envelope.security.is_some_and(|security| self.inspection.is_within(*node, security))
            {
                let local = document.qname(*node).local;
                return Err(Refusal::new(Rule::NotSigned, format!("{local} is signed alone")));
            }
        }
        Ok(())
    }

    /// Checks that what signatures cover stands where parts of a message stand that somebody reads: header blocks, the
    /// body, what the header holds for security, and elements that the policy names.
    ///
    /// A part that was moved elsewhere is still signed, and hides that it is missing where it was.
    pub(super) fn check_places(&self) -> Result<(), Refusal> {
        let Inspection { document, envelope, found, .. } = self.inspection;
        let groups = self.alternative.supporting.iter().map(|group| &group.signed_parts);
        let mut named = Vec::new();
        for parts in std::iter::once(&self.alternative.signed).chain(groups) {
            if !parts.elements.is_empty() {
                named.extend(self.nodes(parts)?.into_iter().map(|part| part.node));
            }
        }
        for signature in &found.signatures {
            let covers_body = self.inspection.covers(&signature.what, envelope.body);
            for cover in &signature.what.covers {
                let Cover::Node(node) = *cover else { continue };
                let is_block = document.parent(node).is_some() && document.parent(node) == envelope.header;
                let in_security = envelope.security.is_some_and(|security| self.inspection.is_within(node, security));
                let in_body = covers_body && self.inspection.is_within(node, envelope.body);
                let around = self.inspection.is_within(envelope.body, node);
                let name = document.qname(node);
                let is_placed = is_block || in_body || around || (in_security && is_of_security(name.namespace));
                if !is_placed && !named.contains(&node) {
                    return Err(Refusal::new(
                        Rule::NotSigned,
                        format!("{} at a place where nobody reads it", name.local),
                    ));
                }
            }
        }
        Ok(())
    }

    /// What has to be signed by endorsing tokens besides, and encrypted for supporting tokens.
    pub(super) fn check_group_parts(&self, group: &SupportingTokens, signature: &Signed) -> Result<(), Refusal> {
        self.check_signed(signature, &group.signed_parts)
    }

    /// Checks that a response confirms the signatures of its request, where the policy wants it to.
    ///
    /// Source: WS-Security 1.1 §8.5.
    pub(super) fn check_confirmations(&self, main: Option<&At<Signed>>) -> Result<(), Refusal> {
        let Inspection { arrival, guard, found, .. } = self.inspection;
        if guard.side == Side::Recipient || !self.alternative.wss.signature_confirmation {
            return Ok(());
        }
        let wrong = |detail| Err(Refusal::new(Rule::ConfirmationWrong, detail));
        let Some(conversation) = arrival.conversation else { return wrong("nothing is known of the request") };
        let sent = &conversation.signature_values;
        let confirms = |value: &Vec<u8>| found.confirmations.iter().any(|at| at.what.as_ref() == Some(value));
        let all_known = found.confirmations.iter().all(|at| match &at.what {
            Some(value) => sent.contains(value),
            None => sent.is_empty(),
        });
        if found.confirmations.is_empty() || !all_known || !sent.iter().all(confirms) {
            return wrong("other signatures are confirmed than the request had");
        }
        for node in found.confirmations.iter().filter_map(|at| at.node) {
            let signed = main.is_some_and(|main| self.inspection.covers(&main.what, node));
            if !signed && !self.is_transport() {
                return Err(Refusal::new(Rule::NotSigned, "SignatureConfirmation"));
            }
        }
        Ok(())
    }

    /// Checks that a response is none of our own requests.
    ///
    /// Who may sign it is the trust store's to say, as in WSS4J: many services sign with one key pair and decrypt with
    /// another. What this side has signed itself is no response, unless the service has the same certificate.
    pub(super) fn check_signer(&self, main: Option<&At<Signed>>) -> Result<(), Refusal> {
        let Inspection { arrival, guard, .. } = self.inspection;
        let (Side::Initiator, Some(main), Some(request)) = (guard.side, main, arrival.conversation) else {
            return Ok(());
        };
        let wrong = |detail: &str| Err(Refusal::new(Rule::WrongSigner, detail.to_owned()));
        if request.signature_values.contains(&main.what.value) {
            return wrong("the request comes back as its response");
        }
        match &main.what.signer {
            Signer::Certificate { certificate, .. } | Signer::KeyValue(certificate) => {
                let is =
                    |one: &Option<Arc<Certificate>>| one.as_ref().is_some_and(|one| one.der() == certificate.der());
                match is(&request.signer) && !is(&request.encrypted_for) {
                    true => wrong("signed by ourselves"),
                    false => Ok(()),
                }
            }
            Signer::Shared { .. } | Signer::Subject { .. } => Ok(()),
        }
    }
}
