//! Assertions: of each the subject has to be confirmed, by somebody who speaks for this very message.

use super::super::found::{Asserted, At, Signed, Signer};
use super::Requirements;
use crate::incoming::inspection::Inspection;
use crate::token::saml::Method;
use crate::{Refusal, Rule};

impl Requirements<'_> {
    /// Checks that each assertion's subject is confirmed: by whoever shows it where somebody trusted signed it, by a
    /// signature with the subject's key, or by a signature of whoever vouches for it.
    ///
    /// Source: SAML Token Profile 1.1 §3.5.
    pub(super) fn check_assertions(&self, main: Option<&At<Signed>>) -> Result<(), Refusal> {
        let Inspection { arrival, found, .. } = self.inspection;
        for at in &found.assertions {
            let (Some(node), asserted) = (at.node, &at.what) else { continue };
            let signatures = || found.signatures.iter().filter(|signature| self.speaks_for_message(signature, main));
            // A subject cannot vouch for others, nor can whoever knows only a key that it may have made itself.
            let vouches = |signature: &At<Signed>| {
                signature.what.signer.certificate().is_some() && self.inspection.covers(&signature.what, node)
            };
            let mut confirmations =
                asserted.assertion.confirmations(arrival.now, self.inspection.rampart().timestamp_max_skew);
            let confirmed = confirmations.any(|way| match way.method {
                Method::Bearer => asserted.trusted,
                Method::HolderOfKey => {
                    asserted.trusted && signatures().any(|signature| is_by_subject(&signature.what.signer, at))
                }
                Method::SenderVouches => arrival.client_certificate || signatures().any(vouches),
            });
            if !confirmed {
                return Err(Refusal::new(Rule::NotTrusted, "nobody confirms the subject of the assertion"));
            }
        }
        Ok(())
    }

    /// Whether a signature is the message's, or signs it, or where there is none the body or the timestamp: a signature
    /// of another message may be right as well, over what stands somewhere in this one.
    fn speaks_for_message(&self, signature: &At<Signed>, main: Option<&At<Signed>>) -> bool {
        let covers = |node| self.inspection.covers(&signature.what, node);
        match main {
            Some(main) => std::ptr::eq(main, signature) || main.node.is_some_and(covers),
            None => covers(self.inspection.envelope.body) || self.timestamp().is_some_and(covers),
        }
    }
}

/// Whether a signature was made with one of the keys that an assertion gives its subject.
fn is_by_subject(signer: &Signer, asserted: &At<Asserted>) -> bool {
    match signer {
        Signer::Subject { assertion } => assertion.is_some() && *assertion == asserted.node,
        _ => signer.certificate().is_some_and(|certificate| {
            asserted.what.keys.iter().any(|key| key.spki() == certificate.public_key().spki())
        }),
    }
}
