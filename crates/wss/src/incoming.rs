//! What comes in: its `Security` header is walked from front to back, one processor for each kind of element, and what
//! was found is then held against the policy.
//!
//! Nothing is believed because it is there. An element counts as signed where a signature that was verified covers
//! that very node, or one around it; ids only lead a signature to what it covers, and never anybody else to anything.
//! What is decrypted takes its place in the source, and all nodes that were seen before move to their new places.

mod algorithms;
mod basic;
mod ciphertexts;
mod envelope;
mod found;
mod inspection;
mod key_info;
mod keys;
mod requirements;
mod shared;
mod signatures;
mod tokens;
mod uses;

use std::sync::Arc;

use myelin_xml::{Document, Kind, NodeId};

use crate::guard::Guard;
use crate::guard::{Arrival, Conversation, SharedKey, Verified};
use crate::side::Side;
use crate::token::derived::DerivedKey;
use crate::token::saml::Assertion;
use crate::vocabulary::{DS, WSSE, WSSE11, WSU, XENC};
use crate::{Findings, Refusal, Rule};
use found::SharedKeyKind;
use inspection::{Inspection, without_comments};

impl Guard {
    /// Verifies and decrypts a message that came in.
    ///
    /// Errors: [`Refusal`]: the sender's; only its fault code is for the sender's eyes.
    pub fn verify(&self, document: Document, arrival: &Arrival<'_>) -> Result<Verified, Refusal> {
        let verified = verify(self, document, arrival)?;
        self.authorize(&verified.findings)?;
        Ok(verified)
    }

    /// Checks that the user of a request has a role that may, where the policy says which.
    pub(crate) fn authorize(&self, findings: &Findings) -> Result<(), Refusal> {
        let alternative = self.policy.alternatives.get(findings.alternative);
        let roles = alternative.map_or(&[][..], |alternative| &alternative.rampart.allowed_roles);
        if roles.is_empty() || self.side == Side::Initiator {
            return Ok(());
        }
        let Some(user) = findings.user.as_ref().filter(|user| user.authenticated) else {
            return Err(Refusal::new(Rule::NotAuthorized, "the message says no user whose password is right"));
        };
        if roles.iter().any(|role| self.keys.users.has_role(&user.name, role)) {
            return Ok(());
        }
        Err(Refusal::new(Rule::NotAuthorized, format!("{:?} has none of the roles {}", user.name, roles.join(", "))))
    }
}

/// Verifies and decrypts a message; see [`Guard::verify`].
fn verify(guard: &Guard, document: Document, arrival: &Arrival<'_>) -> Result<Verified, Refusal> {
    let mut inspection = Inspection::new(guard, document, arrival)?;
    match inspection.run() {
        Ok(findings) => inspection.finish(findings),
        Err(refusal) if inspection.decrypts => Err(refusal.after_decryption()),
        Err(refusal) => Err(refusal),
    }
}

impl Inspection<'_> {
    fn run(&mut self) -> Result<Findings, Refusal> {
        let walked = self.walk();
        if let Some(broken) = self.broken.take() {
            self.even_out();
            return Err(broken);
        }
        walked?;
        let findings = requirements::check(self)?;
        self.remember()?;
        Ok(findings)
    }

    /// Looks at each child of `Security`; what is decrypted into it on the way, too.
    fn walk(&mut self) -> Result<(), Refusal> {
        while let Some(child) = self.next_child() {
            self.done.push(child);
            self.process(child)?;
        }
        // A piece whose key came with it, or before it, is no piece any more.
        let Some(security) = self.envelope.security else { return Ok(()) };
        let encrypted = |&child: &NodeId| self.is(child, XENC, "EncryptedData");
        if self.broken.is_none() && self.document.children(security).any(|child| encrypted(&child)) {
            return Err(Refusal::new(Rule::KeyUnknown, "a piece of the Security header that no key decrypts"));
        }
        Ok(())
    }

    fn next_child(&self) -> Option<NodeId> {
        let mut children = self.document.children(self.envelope.security?);
        children.find(|child| self.document.kind(*child) == Kind::Element && !self.done.contains(child))
    }

    fn process(&mut self, child: NodeId) -> Result<(), Refusal> {
        let name = self.document.qname(child);
        match (name.namespace, name.local) {
            (WSU, "Timestamp") => self.timestamp(child),
            (WSSE, "UsernameToken") => self.username_token(child),
            (WSSE, "BinarySecurityToken") => self.binary_token(child).map(drop),
            (WSSE11, "SignatureConfirmation") => self.confirmation(child),
            (XENC, "EncryptedKey") => self.encrypted_key_with_references(child),
            (XENC, "ReferenceList") => self.reference_list(child),
            (XENC, "EncryptedData") => self.encrypted_data(child),
            (DS, "Signature") => self.signature(child),
            // It says nothing by itself; signatures may refer to a token through it.
            (WSSE, "SecurityTokenReference") => Ok(()),
            (namespace, local) if DerivedKey::is(namespace, local) => self.derived_key(child).map(drop),
            (namespace, local) if Assertion::version(namespace, local).is_some() => self.assertion(child).map(drop),
            (namespace, local) if self.has_to_be_understood() => {
                Err(Refusal::new(Rule::UnknownElement, format!("{{{namespace}}}{local} in Security")))
            }
            _ => Ok(()),
        }
    }

    fn has_to_be_understood(&self) -> bool {
        self.envelope.security.is_some_and(|security| self.envelope.must_understand(&self.document, security))
    }

    /// Takes our header out, and says what the response needs to know.
    fn finish(self, findings: Findings) -> Result<Verified, Refusal> {
        let Inspection { mut document, envelope, found, arrival, .. } = self;
        if let Some(security) = envelope.security {
            document.detach(security);
        }
        document = without_comments(document, arrival)?;
        let shared_keys = found.keys.into_iter().filter_map(|key| match (key.what.kind, key.what.secret) {
            (SharedKeyKind::Encrypted { sha1, .. }, Some(key)) => Some(SharedKey { sha1, key: key.secret }),
            _ => None,
        });
        let conversation = Conversation {
            signature_values: found.signatures.into_iter().map(|signature| signature.what.value).collect(),
            signer: findings.signer.as_ref().map(Arc::clone),
            encrypted_for: None,
            shared_keys: shared_keys.collect(),
        };
        Ok(Verified { document, findings, conversation })
    }
}
