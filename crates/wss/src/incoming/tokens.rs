//! Tokens and timestamps of the header: each is read, and what can be checked of it alone is checked.

use std::sync::Arc;

use myelin_xml::NodeId;
use myelin_xml::c14n::Method as Canonicalization;

use super::found::{Asserted, At};
use super::inspection::Inspection;
use super::key_info::{CertificateName, KeyName};
use crate::algorithm::{DigestMethod, SignatureMethod};
use crate::dsig::{Signature, Target, Transform, VerifyWith};
use crate::keys::{Certificate, PublicKey};
use crate::policy::{Password, TokenKind};
use crate::replay::Mark;
use crate::structure::Children;
use crate::token::binary::BinaryToken;
use crate::token::saml::{Assertion, Method};
use crate::token::timestamp::{self, Ages};
use crate::token::username::UsernameToken;
use crate::{Refusal, Rule, binary};

impl Inspection<'_> {
    fn ages(&self) -> Ages {
        let rampart = self.rampart();
        Ages { ttl: rampart.timestamp_ttl, skew: rampart.timestamp_max_skew, strict: rampart.timestamp_strict }
    }

    pub(super) fn timestamp(&mut self, node: NodeId) -> Result<(), Refusal> {
        if self.found.timestamp.is_some() {
            return Err(Refusal::new(Rule::TimestampTwice, "two timestamps in one header"));
        }
        let what = timestamp::read(&self.document, node, self.limits())?;
        timestamp::check(&what, self.ages(), self.arrival.now)?;
        self.found.timestamp = Some(At { node: Some(node), what });
        Ok(())
    }

    pub(super) fn username_token(&mut self, node: NodeId) -> Result<(), Refusal> {
        // Where nobody asks for users, passwords cannot be tried either.
        if !self.asks_for_users() {
            return Err(Refusal::new(Rule::TokenNotAllowed, "a username token that no policy asks for"));
        }
        let token = UsernameToken::read(&self.document, node, self.limits())?;
        if let Some(created) = &token.created {
            timestamp::check(&timestamp_of(created.time), self.nonce_ages(), self.arrival.now)?;
        }
        match token.password {
            Password::None => {}
            Password::Digest if token.nonce.is_none() || token.created.is_none() => {
                return Err(Refusal::new(Rule::TokenInvalid, "a password's digest without nonce or time"));
            }
            Password::Text | Password::Digest => {
                let known = self.guard.keys.users.password(&token.user);
                let known = known.as_ref().map(|password| password.as_ref());
                // Somebody who is not known takes as long as a wrong password.
                let right = token.shows(known.unwrap_or_default()) & known.is_some();
                if !right {
                    return Err(Refusal::new(Rule::AuthenticationFailed, format!("user {:?}", token.user)));
                }
            }
        }
        self.found.usernames.push(At { node: Some(node), what: token });
        Ok(())
    }

    fn asks_for_users(&self) -> bool {
        let direction = self.guard.arriving();
        let alternatives = self.guard.policy.alternatives.iter();
        let mut tokens =
            alternatives.flat_map(|alternative| alternative.supporting_in(direction)).flat_map(|group| &group.tokens);
        tokens.any(|token| matches!(token.kind, TokenKind::Username { .. }))
    }

    fn nonce_ages(&self) -> Ages {
        Ages { ttl: self.rampart().nonce_life, ..self.ages() }
    }

    /// The number of a binary token, which is read where it was not before.
    pub(super) fn binary_token(&mut self, node: NodeId) -> Result<usize, Refusal> {
        if let Some(known) = self.found.binaries.iter().position(|token| token.node == Some(node)) {
            return Ok(known);
        }
        let what = BinaryToken::read(&self.document, node, &self.guard.certificates, self.limits())?;
        self.found.binaries.push(At { node: Some(node), what });
        self.check_count(self.found.binaries.len())?;
        Ok(self.found.binaries.len() - 1)
    }

    /// Tokens stand in references too, where they were not counted before.
    fn check_count(&self, tokens: usize) -> Result<(), Refusal> {
        let limit = self.limits().tokens;
        if tokens > limit { Err(Refusal::new(Rule::Limit, format!("more than {limit} tokens"))) } else { Ok(()) }
    }

    pub(super) fn confirmation(&mut self, node: NodeId) -> Result<(), Refusal> {
        let value = self.document.attribute(node, "", "Value");
        let value = value.map(|value| binary::decode_text(&value, self.limits().short_text)).transpose()?;
        Children::of(&self.document, node).end()?;
        self.found.confirmations.push(At { node: Some(node), what: value });
        Ok(())
    }

    /// The number of an assertion, which is read and checked where it was not before.
    pub(super) fn assertion(&mut self, node: NodeId) -> Result<usize, Refusal> {
        if let Some(known) = self.found.assertions.iter().position(|token| token.node == Some(node)) {
            return Ok(known);
        }
        self.check_count(self.found.assertions.len() + 1)?;
        let assertion = Assertion::read(&self.document, node, self.limits())?;
        let (now, skew) = (self.arrival.now, self.rampart().timestamp_max_skew);
        assertion.check_time(now, skew)?;
        assertion.check_audience(&self.guard.settings.audiences)?;
        let trusted = match assertion.signature {
            Some(signature) => {
                self.assertion_signature(&assertion, signature)?;
                true
            }
            None => false,
        };
        let mut keys = Vec::new();
        let holder = assertion.confirmations(now, skew).filter(|way| way.method == Method::HolderOfKey);
        for key_info in holder.filter_map(|way| way.key_info) {
            keys.push(self.subject_key(key_info)?);
        }
        self.found.assertions.push(At { node: Some(node), what: Asserted { assertion, trusted, keys } });
        Ok(self.found.assertions.len() - 1)
    }

    /// The key that an assertion gives its subject.
    fn subject_key(&self, key_info: NodeId) -> Result<Arc<PublicKey>, Refusal> {
        match self.key_name(Some(key_info))? {
            KeyName::Value(key) => Ok(key),
            KeyName::Certificate(CertificateName::Whole(chain)) if !chain.is_empty() => {
                Ok(Arc::clone(chain[0].public_key()))
            }
            _ => Err(Refusal::new(Rule::TokenNotAllowed, "a subject's key that is neither certificate nor bare key")),
        }
    }

    /// Checks the signature that an assertion has itself: over all of it, and by somebody trusted.
    ///
    /// It is the issuer's, whom no policy of ours tells which algorithms to use: SHA-1 counts only where the policy's
    /// suite has it.
    /// Source: SAML 2.0 core §5.4.
    fn assertion_signature(&mut self, assertion: &Assertion, node: NodeId) -> Result<(), Refusal> {
        let signature = Signature::read(&self.document, node, self.limits())?;
        let [reference] = &signature.references[..] else {
            return Err(Refusal::new(Rule::TokenInvalid, "an assertion's signature has one reference"));
        };
        if reference.target != Target::Id(assertion.id.clone()) || !signature.objects.is_empty() {
            return Err(Refusal::new(Rule::TokenInvalid, "an assertion's signature is over something else"));
        }
        let canonical = |transform: &Transform| match transform {
            Transform::Enveloped => true,
            Transform::Canonical(canonical) => canonical.method == Canonicalization::Exclusive,
            Transform::StrTransform(_) => false,
        };
        let enveloped = reference.transforms.contains(&Transform::Enveloped);
        if !enveloped || !reference.transforms.iter().all(canonical) {
            return Err(Refusal::new(Rule::UnknownTransform, "an assertion's signature is enveloped and exclusive"));
        }
        for digest in [reference.digest, signature.method.digest()] {
            if digest == DigestMethod::Sha1 && !self.accepts_sha1() {
                return Err(Refusal::new(Rule::AlgorithmNotAllowed, "SHA-1 in an assertion's signature"));
            }
        }
        if matches!(signature.method, SignatureMethod::Hmac(_)) {
            return Err(Refusal::new(Rule::AlgorithmNotAllowed, "a keyed hash in an assertion's signature"));
        }
        let chain = self.issuer_chain(self.key_name(signature.key_info)?)?;
        self.check_trust(&chain)?;
        self.public_operations += 1;
        signature.verify_value(&self.document, VerifyWith::PublicKey(chain[0].public_key()))?;
        // Its id leads to the very element, as no id stands twice; it is asked all the same.
        if self.ids.find(&assertion.id) != Some(assertion.element) {
            return Err(Refusal::new(Rule::TokenInvalid, "an assertion's id is not its own"));
        }
        reference.verify(&self.document, assertion.element, node, &mut |_| {
            Err(Refusal::new(Rule::UnknownTransform, "an assertion's signature refers to a token"))
        })
    }

    fn accepts_sha1(&self) -> bool {
        let commons = self.guard.policy.alternatives.iter().filter_map(|alternative| alternative.binding.common());
        commons.into_iter().any(|common| common.suite.accepts_digest(DigestMethod::Sha1))
    }

    /// The certificate of who signed an assertion, and perhaps those above it; at least one.
    fn issuer_chain(&self, name: KeyName) -> Result<Vec<Arc<Certificate>>, Refusal> {
        let unknown = || Refusal::new(Rule::KeyUnknown, "an assertion's issuer is not known");
        match name {
            KeyName::Certificate(name) => self.chain(name),
            KeyName::Value(key) => {
                let certificate = self.guard.keys.trust.by_public_key(&key).ok_or_else(unknown)?;
                Ok(vec![Arc::clone(certificate)])
            }
            KeyName::Name(name) => self.chain(CertificateName::Subject(name)),
            KeyName::Element(_) | KeyName::EncryptedKey(_) | KeyName::Assertion(_) => Err(unknown()),
        }
    }

    /// Remembers the message, now that all is well, so that it is not accepted again.
    pub(super) fn remember(&self) -> Result<(), Refusal> {
        let now = self.arrival.now;
        let mut marks = Vec::new();
        if let Some(At { node: Some(node), what }) = &self.found.timestamp {
            let end = timestamp::check(what, self.ages(), now)?;
            for signature in &self.found.signatures {
                if self.covers(&signature.what, *node) {
                    let mark = Mark::of("signature", &[Self::fixed_value(&signature.what)]);
                    marks.push((mark, what.created, end));
                }
            }
        }
        for token in &self.found.usernames {
            if let (Some(nonce), Some(created)) = (&token.what.nonce, &token.what.created) {
                let end = timestamp::check(&timestamp_of(created.time), self.nonce_ages(), now)?;
                marks.push((Mark::of("nonce", &[token.what.user.as_bytes(), nonce]), created.time, end));
            }
        }
        marks.into_iter().try_for_each(|(mark, created, end)| self.arrival.replays.admit(mark, created, end, now))
    }
}

/// What a token says of its time, as a timestamp would.
fn timestamp_of(created: std::time::SystemTime) -> crate::findings::Timestamp {
    crate::findings::Timestamp { created, expires: None }
}
