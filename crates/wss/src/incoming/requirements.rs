//! What was found, held against the policy: one alternative has to be fulfilled in every point.

mod parts;
mod signature;
mod supporting;

use myelin_xml::{Kind, NodeId};

use super::Inspection;
use super::found::{At, Cover, Signed, Signer};
use crate::findings::{Part, Place, Saml, User};
use crate::guard::Side;
use crate::policy::{Alternative, Binding, Common, Layout, Password};
use crate::vocabulary::WSU;
use crate::{Findings, Refusal, Rule};

/// Finds the alternative that the message fulfils.
///
/// Errors: why it does not fulfil the only one, or the one of several that comes closest: the last that it was held
/// against.
pub(super) fn check(inspection: &Inspection<'_>) -> Result<Findings, Refusal> {
    let mut refusal = Refusal::new(Rule::SecurityMissing, "the policy has no alternative");
    for (number, alternative) in inspection.guard.policy.alternatives.iter().enumerate() {
        match (Requirements { inspection, alternative }).check() {
            Ok(main) => return Ok(findings(inspection, number, main)),
            Err(found) => refusal = found,
        }
    }
    if inspection.envelope.security.is_none() {
        return Err(Refusal::new(Rule::SecurityMissing, "no Security header for this receiver"));
    }
    Err(refusal)
}

/// One alternative and the message that should fulfil it.
struct Requirements<'a> {
    inspection: &'a Inspection<'a>,
    alternative: &'a Alternative,
}

impl<'a> Requirements<'a> {
    /// Checks everything, and gives the message's signature.
    fn check(&self) -> Result<Option<&'a At<Signed>>, Refusal> {
        let Requirements { inspection, alternative } = self;
        inspection.check_uses(alternative)?;
        self.check_transport()?;
        let common = alternative.binding.common();
        if let Some(common) = common {
            self.check_timestamp(common)?;
            self.check_layout(common)?;
        }
        self.check_required()?;
        self.check_places()?;
        let main = self.main_signature()?;
        if let (Some(main), Some(common)) = (main, common) {
            self.check_order(&main.what, common)?;
        }
        self.check_encrypted(&alternative.encrypted)?;
        self.check_chained_ciphers()?;
        self.check_supporting(main)?;
        self.check_confirmations(main)?;
        self.check_signer(main)?;
        Ok(main)
    }

    fn check_transport(&self) -> Result<(), Refusal> {
        let Binding::Transport { client_certificate, .. } = self.alternative.binding else { return Ok(()) };
        let arrival = self.inspection.arrival;
        if !arrival.tls {
            return Err(Refusal::new(Rule::TransportInsecure, "the message did not come through TLS"));
        }
        // What a server sends back comes with no client's certificate.
        if client_certificate && !arrival.client_certificate && self.inspection.guard.side == Side::Recipient {
            return Err(Refusal::new(Rule::TransportInsecure, "the client showed no certificate"));
        }
        Ok(())
    }

    fn is_transport(&self) -> bool {
        matches!(self.alternative.binding, Binding::Transport { .. })
    }

    fn check_timestamp(&self, common: &Common) -> Result<(), Refusal> {
        if common.timestamp && self.timestamp().is_none() {
            return Err(Refusal::new(Rule::TimestampMissing, "no timestamp"));
        }
        Ok(())
    }

    fn timestamp(&self) -> Option<NodeId> {
        self.inspection.found.timestamp.as_ref().and_then(|timestamp| timestamp.node)
    }

    fn check_layout(&self, common: &Common) -> Result<(), Refusal> {
        let Inspection { document, envelope, found, .. } = self.inspection;
        let wrong = |detail| Err(Refusal::new(Rule::LayoutWrong, detail));
        let is_timestamp =
            |child: Option<NodeId>| child.is_some_and(|child| self.inspection.is(child, WSU, "Timestamp"));
        let elements = envelope.security.into_iter().flat_map(|security| document.children(security));
        let mut elements = elements.filter(|&child| document.kind(child) == Kind::Element);
        match common.layout {
            Layout::Strict if found.token_behind_use => wrong("a token stands behind what uses it"),
            Layout::LaxTimestampFirst if !is_timestamp(elements.next()) => wrong("the timestamp is not the first"),
            Layout::LaxTimestampLast if !is_timestamp(elements.last()) => wrong("the timestamp is not the last"),
            _ => Ok(()),
        }
    }

    /// Whether what was signed was signed before it was encrypted, or encrypted before, as the policy says.
    fn check_order(&self, main: &Signed, common: &Common) -> Result<(), Refusal> {
        let Inspection { envelope, found, .. } = self.inspection;
        for piece in &found.decrypted {
            let Some(node) = piece.node else { continue };
            // Signatures and tokens are encrypted after they were made, whatever the order.
            let in_header = envelope.security.is_some_and(|security| self.inspection.is_within(node, security));
            if in_header || !self.inspection.covers(main, node) {
                continue;
            }
            let encrypted_first = main.round < piece.what.round;
            if encrypted_first != common.encrypt_before_signing {
                let detail = if encrypted_first { "encrypted, then signed" } else { "signed, then encrypted" };
                return Err(Refusal::new(Rule::ProtectionOrderWrong, detail));
            }
        }
        Ok(())
    }

    /// Nothing but a signature tells whether somebody changed what a chained cipher made.
    fn check_chained_ciphers(&self) -> Result<(), Refusal> {
        let Inspection { envelope, found, .. } = self.inspection;
        for piece in &found.decrypted {
            let Some(node) = piece.node.filter(|_| !piece.what.cipher.is_authenticated()) else { continue };
            let in_header = envelope.security.is_some_and(|security| self.inspection.is_within(node, security));
            let signed = found.signatures.iter().any(|signature| self.inspection.covers(&signature.what, node));
            if !in_header && !signed {
                return Err(Refusal::new(Rule::NotSigned, "what a chained cipher encrypted is not signed"));
            }
        }
        Ok(())
    }
}

fn findings(inspection: &Inspection<'_>, alternative: usize, main: Option<&At<Signed>>) -> Findings {
    let Inspection { found, .. } = inspection;
    let mut signed: Vec<Part> = Vec::new();
    let mut endorsers = Vec::new();
    for signature in &found.signatures {
        for cover in &signature.what.covers {
            if let Cover::Node(node) = cover {
                let part = part(inspection, *node, false);
                if !signed.contains(&part) {
                    signed.push(part);
                }
            }
        }
        if main.is_some_and(|main| !std::ptr::eq(main, signature))
            && let Signer::Certificate { certificate, .. } | Signer::KeyValue(certificate) = &signature.what.signer
        {
            endorsers.push(certificate.clone());
        }
    }
    let decrypted = found.decrypted.iter();
    let encrypted = decrypted.filter_map(|piece| Some(part(inspection, piece.node?, piece.what.content)));
    let signer = main.or(found.signatures.first()).and_then(|signature| match &signature.what.signer {
        Signer::Certificate { certificate, .. } | Signer::KeyValue(certificate) => Some(certificate.clone()),
        Signer::Subject { .. } | Signer::Shared { .. } => None,
    });
    Findings {
        alternative,
        signed,
        encrypted: encrypted.collect(),
        signer,
        endorsers,
        user: found
            .usernames
            .first()
            .map(|token| User { name: token.what.user.clone(), authenticated: token.what.password != Password::None }),
        saml: found.assertions.first().map(|token| Saml {
            version: token.what.assertion.version,
            subject: token.what.assertion.subject.clone(),
            issuer: token.what.assertion.issuer.clone(),
        }),
        timestamp: found.timestamp.as_ref().map(|timestamp| timestamp.what),
        algorithms: inspection.used_uris(),
    }
}

fn part(inspection: &Inspection<'_>, node: NodeId, content: bool) -> Part {
    let Inspection { document, envelope, .. } = inspection;
    let parent = document.parent(node);
    let place = if node == envelope.body {
        Place::Body
    } else if parent == envelope.header {
        Place::Header
    } else if parent == envelope.security {
        Place::Security
    } else {
        Place::Inside
    };
    let name = document.qname(node);
    Part { place, namespace: name.namespace.to_owned().into(), local: name.local.to_owned().into(), content }
}
