//! Supporting tokens: each has to be there, and to be signed, encrypted and used as the policy says.

use myelin_xml::NodeId;

use super::super::found::{At, Signed, Signer};
use super::{Fulfilled, Requirements};
use crate::incoming::inspection::Inspection;
use crate::policy::{SupportingTokens, Token, TokenKind, X509Form};
use crate::{Refusal, Rule};

impl<'a> Requirements<'a> {
    /// Checks the supporting tokens, and notes which they are.
    pub(super) fn check_supporting(&self, fulfilled: &mut Fulfilled<'a>) -> Result<(), Refusal> {
        let Inspection { guard, found, .. } = self.inspection;
        let main = fulfilled.main;
        self.check_surplus()?;
        for group in self.alternative.supporting_in(guard.arriving()) {
            for token in &group.tokens {
                let node = if group.endorsing {
                    let endorser = self.check_endorsing(group, token, main)?;
                    fulfilled.endorsers.push(endorser);
                    match endorser.signer {
                        Signer::Subject { assertion } => assertion,
                        _ => None,
                    }
                } else {
                    Some(self.check_present(group, token, main)?)
                };
                let Some(node) = node else { continue };
                if let Some(user) = found.usernames.iter().find(|at| at.node == Some(node)) {
                    fulfilled.user.get_or_insert(&user.what);
                }
                if let Some(assertion) = self.assertion(node) {
                    fulfilled.assertion.get_or_insert(assertion);
                }
            }
            self.check_encrypted(&group.encrypted_parts)?;
        }
        Ok(())
    }

    /// Checks that nobody is named whom the policy does not ask for: of two users in a message, each reader could
    /// believe another.
    fn check_surplus(&self) -> Result<(), Refusal> {
        let Inspection { guard, found, .. } = self.inspection;
        let direction = guard.arriving();
        let groups = self.alternative.supporting_in(direction).iter();
        let binding = self.alternative.binding.signature_token(direction);
        let (mut users, mut assertions) = (0, 0);
        for token in groups.flat_map(|group| &group.tokens).chain(binding) {
            match token.kind {
                TokenKind::Username { .. } => users += 1,
                TokenKind::Saml { .. } => assertions += 1,
                TokenKind::X509 { .. } | TokenKind::KeyValue => {}
            }
        }
        if found.usernames.len() > users || found.assertions.len() > assertions {
            return Err(Refusal::new(Rule::TokenNotAllowed, "a user or an assertion that the policy does not ask for"));
        }
        Ok(())
    }

    /// Finds a token in the header that is covered as the group says.
    fn check_present(
        &self,
        group: &SupportingTokens,
        token: &Token,
        main: Option<&At<Signed>>,
    ) -> Result<NodeId, Refusal> {
        let mut refusal = Refusal::new(Rule::TokenMissing, format!("{:?}", token.kind));
        for node in self.candidates(token) {
            match self.check_token(group, node, main) {
                Ok(()) => return Ok(node),
                Err(found) => refusal = found,
            }
        }
        Err(refusal)
    }

    /// The elements of the header that are such a token.
    fn candidates(&self, token: &Token) -> Vec<NodeId> {
        let Inspection { found, .. } = self.inspection;
        match &token.kind {
            TokenKind::Username { password, nonce, created } => {
                let fits = found.usernames.iter().filter(|at| {
                    at.what.password == *password
                        && (!nonce || at.what.nonce.is_some())
                        && (!created || at.what.created.is_some())
                });
                fits.filter_map(|at| at.node).collect()
            }
            TokenKind::X509 { form, .. } => {
                found.binaries.iter().filter(|at| at.what.form == *form).filter_map(|at| at.node).collect()
            }
            TokenKind::Saml { version } => {
                let fits = found.assertions.iter().filter(|at| at.what.assertion.version == *version);
                fits.filter_map(|at| at.node).collect()
            }
            // A bare key is no token until somebody signs with it.
            TokenKind::KeyValue => Vec::new(),
        }
    }

    fn check_token(&self, group: &SupportingTokens, node: NodeId, main: Option<&At<Signed>>) -> Result<(), Refusal> {
        if self.is_transport() {
            return Ok(());
        }
        let local = || self.inspection.document.qname(node).local.to_owned();
        if group.signed && !main.is_some_and(|main| self.inspection.covers(&main.what, node)) {
            return Err(Refusal::new(Rule::NotSigned, local()));
        }
        if group.encrypted && !self.was_encrypted(node) {
            return Err(Refusal::new(Rule::NotEncrypted, local()));
        }
        Ok(())
    }

    /// Finds the signature by which a token's key signed the message's or, where TLS protects messages, the timestamp.
    ///
    /// Source: WS-SecurityPolicy 1.3 §8.3.
    fn check_endorsing(
        &self,
        group: &SupportingTokens,
        token: &Token,
        main: Option<&At<Signed>>,
    ) -> Result<&'a Signed, Refusal> {
        let endorsed = if self.is_transport() { self.timestamp() } else { main.and_then(|main| main.node) };
        let Some(endorsed) = endorsed else {
            return Err(Refusal::new(Rule::TokenMissing, "there is nothing to endorse"));
        };
        let mut refusal = Refusal::new(Rule::TokenMissing, format!("nobody endorses with {:?}", token.kind));
        for signature in &self.inspection.found.signatures {
            let is_main = main.is_some_and(|main| std::ptr::eq(main, signature));
            let endorses = !is_main && self.inspection.covers(&signature.what, endorsed);
            if !endorses || !self.is_made_with(&signature.what, token) {
                continue;
            }
            match self.check_endorser(group, token, &signature.what, main) {
                Ok(()) => return Ok(&signature.what),
                Err(found) => refusal = found,
            }
        }
        Err(refusal)
    }

    fn check_endorser(
        &self,
        group: &SupportingTokens,
        token: &Token,
        signature: &Signed,
        main: Option<&At<Signed>>,
    ) -> Result<(), Refusal> {
        self.check_group_parts(group, signature)?;
        match &signature.signer {
            Signer::Certificate { token: Some(node), .. } => {
                self.check_form(token, *node)?;
                self.check_token(group, *node, main)
            }
            Signer::Subject { assertion: Some(assertion) } => self.check_token(group, *assertion, main),
            Signer::Certificate { certificate, token: None } if group.signed && !self.is_transport() => {
                let covers = |main: &At<Signed>| main.what.covers.iter().any(|cover| cover.is_certificate(certificate));
                if main.is_some_and(covers) {
                    return Ok(());
                }
                Err(Refusal::new(Rule::NotSigned, "the token that endorses"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a binary token holds what the policy says.
    fn check_form(&self, token: &Token, node: NodeId) -> Result<(), Refusal> {
        let TokenKind::X509 { form, .. } = &token.kind else { return Ok(()) };
        let has_form = |wanted: X509Form| {
            self.inspection.found.binaries.iter().any(|at| at.node == Some(node) && at.what.form == wanted)
        };
        if has_form(*form) { Ok(()) } else { Err(Refusal::new(Rule::TokenMissing, "a token of another form")) }
    }
}
