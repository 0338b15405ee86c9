//! From the name of a key in a message to the key.

use std::sync::Arc;

use myelin_xml::NodeId;

use super::Inspection;
use super::algorithms::Use;
use super::found::{At, Cover, SharedKey, SharedKeyKind, Signer};
use super::key_info::{CertificateName, Encoding, KeyName, Reader, dereferenced, is_written};
use crate::algorithm::DigestMethod;
use crate::crypto::{Secret, digest, random, unwrap};
use crate::dsig::Dereferenced;
use crate::enc::{EncryptedKey, KeyMethod};
use crate::keys::{Certificate, Identity, PublicKey, Purpose};
use crate::policy::TokenKind;
use crate::token::derived::DerivedKey;
use crate::token::saml::Assertion;
use crate::vocabulary::{DS, WSSE, XENC};
use crate::{Refusal, Rule};

/// The longest encrypted key: no cipher asks for more than 32 bytes.
const SHARED_KEY_BYTES: usize = 32;

/// What a signature is verified with.
pub(super) enum VerifyingKey {
    Public(Arc<PublicKey>),
    Shared(Arc<Secret>),
}

impl Inspection<'_> {
    fn reader(&self) -> Reader<'_> {
        Reader {
            document: &self.document,
            ids: &self.ids,
            certificates: &self.guard.certificates,
            limits: self.limits(),
        }
    }

    pub(super) fn key_name(&self, key_info: Option<NodeId>) -> Result<KeyName, Refusal> {
        let missing = || Refusal::new(Rule::KeyUnknown, "the signature does not say which key made it");
        self.reader().key_info(key_info.ok_or_else(missing)?)
    }

    /// Whether an element stands where tokens are believed: in our header, by itself or in what refers to it; or, of an
    /// encrypted key, in the `KeyInfo` of what it encrypts.
    fn is_token_place(&self, node: NodeId) -> bool {
        let Some(parent) = self.document.parent(node) else { return false };
        let Some(security) = self.envelope.security else { return false };
        let in_key_info = self.is(parent, DS, "KeyInfo");
        parent == security
            || in_key_info && self.is(node, XENC, "EncryptedKey")
            || (in_key_info || self.is(parent, WSSE, "Embedded")) && self.is_within(parent, security)
    }

    /// Notes that `user`, an element of the header, uses a token.
    fn note_use(&mut self, token: NodeId, user: NodeId) {
        let in_header = self.document.parent(token) == self.envelope.security;
        // Of a document as it was read, indices are the order.
        self.found.token_behind_use |= in_header && token.index() > user.index();
    }

    /// Whose key a signature is said to be made with, and the key; for a certificate it is checked that it is trusted.
    pub(super) fn signer(&mut self, name: KeyName, user: NodeId) -> Result<(Signer, VerifyingKey), Refusal> {
        match name {
            KeyName::Element(node) if !self.is_token_place(node) => Err(misplaced()),
            KeyName::Element(node) => {
                self.note_use(node, user);
                self.signer_of_element(node)
            }
            KeyName::Certificate(name) => {
                let chain = self.chain(name)?;
                self.trusted(&chain, None)
            }
            KeyName::EncryptedKey(sha1) => {
                let (token, secret) = self.shared_by_sha1(&sha1)?;
                Ok((Signer::Shared { token }, VerifyingKey::Shared(secret)))
            }
            KeyName::Assertion(id) => {
                let node = self.assertion_by_id(&id)?;
                self.note_use(node, user);
                self.signer_of_element(node)
            }
            KeyName::Name(name) => {
                let chain = self.chain(CertificateName::Subject(name))?;
                self.trusted(&chain, None)
            }
            KeyName::Value(key) => self.signer_of_value(&key),
        }
    }

    fn signer_of_element(&mut self, node: NodeId) -> Result<(Signer, VerifyingKey), Refusal> {
        let name = self.document.qname(node);
        if name.namespace == WSSE && name.local == "BinarySecurityToken" {
            let token = self.binary_token(node)?;
            let chain = self.found.binaries[token].what.chain.clone();
            return self.trusted(&chain, Some(node));
        }
        if Assertion::version(name.namespace, name.local).is_some() {
            let asserted = self.assertion(node)?;
            let asserted = &self.found.assertions[asserted].what;
            if !asserted.trusted {
                return Err(Refusal::new(Rule::NotTrusted, "an assertion that nobody signed gives nobody a key"));
            }
            let key = asserted.keys.first().map(Arc::clone);
            let key = key.ok_or_else(|| Refusal::new(Rule::KeyUnknown, "the assertion gives its subject no key"))?;
            self.will_use_key(&key)?;
            return Ok((Signer::Subject { assertion: node }, VerifyingKey::Public(key)));
        }
        let key = self.shared_key(node)?;
        let secret = self.secret(key, None)?;
        Ok((Signer::Shared { token: Some(node) }, VerifyingKey::Shared(secret)))
    }

    /// The certificate that is named, and perhaps those above it.
    pub(super) fn chain(&self, name: CertificateName) -> Result<Vec<Arc<Certificate>>, Refusal> {
        if let CertificateName::Whole(chain) = name {
            return Ok(chain);
        }
        let keys = &self.guard.keys;
        let trust = &keys.trust;
        let found = match &name {
            CertificateName::KeyIdentifier(identifier) => trust.by_key_identifier(identifier),
            CertificateName::Thumbprint(thumbprint) => trust.by_thumbprint(thumbprint),
            CertificateName::IssuerSerial { issuer, serial } => trust.by_issuer_serial(issuer, serial),
            CertificateName::Subject(subject) => trust.by_subject(subject),
            CertificateName::Whole(_) => None,
        };
        // Whom we encrypt for may sign, and a token in the message may be named by what is in it.
        let mut others =
            keys.encryption.iter().chain(self.found.binaries.iter().filter_map(|at| at.what.chain.first()));
        let found = found.or_else(|| others.find(|certificate| name.is_of(certificate)));
        found
            .map(|certificate| vec![Arc::clone(certificate)])
            .ok_or_else(|| Refusal::new(Rule::KeyUnknown, "the certificate that is named is not known"))
    }

    fn trusted(
        &mut self,
        chain: &[Arc<Certificate>],
        token: Option<NodeId>,
    ) -> Result<(Signer, VerifyingKey), Refusal> {
        let certificate = chain.first().ok_or_else(misplaced)?;
        self.will_use_key(certificate.public_key())?;
        self.check_trust(chain)?;
        let key = VerifyingKey::Public(Arc::clone(certificate.public_key()));
        Ok((Signer::Certificate { certificate: Arc::clone(certificate), token }, key))
    }

    pub(super) fn check_trust(&self, chain: &[Arc<Certificate>]) -> Result<(), Refusal> {
        let checked = self.guard.keys.trust.check(chain, Purpose::Signature, self.arrival.now);
        checked.map_err(|error| Refusal::new(Rule::NotTrusted, error.to_string()))
    }

    /// A bare key says nothing of its owner: its certificate has to be known, and the policy has to ask for such keys or
    /// the message could as well have named the certificate.
    fn signer_of_value(&mut self, key: &PublicKey) -> Result<(Signer, VerifyingKey), Refusal> {
        let unknown = || Refusal::new(Rule::NotTrusted, "no certificate is known for the key");
        let certificate = self.guard.keys.trust.by_public_key(key).map(Arc::clone).ok_or_else(unknown)?;
        let (_, verifying) = self.trusted(&[Arc::clone(&certificate)], None)?;
        let asked_for = self.guard.policy.alternatives.iter().any(|alternative| {
            let binding = alternative.binding.signature_token(self.guard.arriving());
            let supporting = alternative.supporting.iter().flat_map(|group| &group.tokens);
            binding.into_iter().chain(supporting).any(|token| matches!(token.kind, TokenKind::KeyValue))
        });
        let signer = match asked_for {
            true => Signer::KeyValue(certificate),
            false => Signer::Certificate { certificate, token: None },
        };
        Ok((signer, verifying))
    }

    /// The number of the encrypted or derived key that an element holds; it is read where it was not before.
    pub(super) fn shared_key(&mut self, node: NodeId) -> Result<usize, Refusal> {
        if let Some(known) = self.found.keys.iter().position(|key| key.node == Some(node)) {
            return Ok(known);
        }
        if !self.is_token_place(node) {
            return Err(misplaced());
        }
        let name = self.document.qname(node);
        if DerivedKey::is(name.namespace, name.local) {
            return self.derived_key(node);
        }
        if name.namespace == XENC && name.local == "EncryptedKey" {
            return self.encrypted_key(node);
        }
        Err(Refusal::new(Rule::TokenNotAllowed, format!("a key of {}", name.local)))
    }

    /// Reads an `xenc:EncryptedKey`; it is decrypted when somebody needs it.
    pub(super) fn encrypted_key(&mut self, node: NodeId) -> Result<usize, Refusal> {
        if let Some(known) = self.found.keys.iter().position(|key| key.node == Some(node)) {
            return Ok(known);
        }
        let encrypted = |key: &&At<SharedKey>| matches!(key.what.kind, SharedKeyKind::Encrypted { .. });
        let limits = self.limits();
        if self.found.keys.iter().filter(encrypted).count() >= limits.encrypted_keys {
            return Err(Refusal::new(Rule::Limit, format!("more than {} encrypted keys", limits.encrypted_keys)));
        }
        let key = EncryptedKey::read(&self.document, node, limits)?;
        match key.method {
            KeyMethod::Transport(transport) => self.will_use(Use::Transport(transport))?,
            KeyMethod::Wrap(wrap) => self.will_use(Use::Wrap(wrap))?,
        }
        let ciphertext = key.ciphertext(&self.document)?;
        let mut sha1 = [0; 20];
        sha1.copy_from_slice(digest(DigestMethod::Sha1, &ciphertext).as_ref());
        let kind = SharedKeyKind::Encrypted { key, sha1, ciphertext };
        self.found.keys.push(At { node: Some(node), what: SharedKey { kind, secret: None } });
        Ok(self.found.keys.len() - 1)
    }

    /// Reads a `wsc:DerivedKeyToken` and derives its key.
    pub(super) fn derived_key(&mut self, node: NodeId) -> Result<usize, Refusal> {
        if let Some(known) = self.found.keys.iter().position(|key| key.node == Some(node)) {
            return Ok(known);
        }
        let limits = self.limits();
        let derived = |key: &&At<SharedKey>| matches!(key.what.kind, SharedKeyKind::Derived);
        if self.found.keys.iter().filter(derived).count() >= limits.derived_keys {
            return Err(Refusal::new(Rule::Limit, format!("more than {} derived keys", limits.derived_keys)));
        }
        let how = DerivedKey::read(&self.document, node, limits)?;
        let from = self.reader().token_reference(how.reference)?;
        // Of an encrypted key only, so that no chain of derived keys leads in a circle.
        if let KeyName::Element(source) = from
            && !self.is(source, XENC, "EncryptedKey")
        {
            return Err(Refusal::new(Rule::TokenNotAllowed, "a key derived of something else than an encrypted key"));
        }
        let secret = self.secret_by_name(from, node, None)?;
        let secret = Some(Arc::new(how.derive((*secret).as_ref())));
        self.found.keys.push(At { node: Some(node), what: SharedKey { kind: SharedKeyKind::Derived, secret } });
        Ok(self.found.keys.len() - 1)
    }

    /// The key that both sides know, by its name; `user` is the element that uses it.
    ///
    /// `bytes` is how long the key should be, where that is known.
    pub(super) fn secret_by_name(
        &mut self,
        name: KeyName,
        user: NodeId,
        bytes: Option<usize>,
    ) -> Result<Arc<Secret>, Refusal> {
        match name {
            KeyName::Element(node) => {
                self.note_use(node, user);
                let key = self.shared_key(node)?;
                self.secret(key, bytes)
            }
            KeyName::EncryptedKey(sha1) => self.shared_by_sha1(&sha1).map(|(_, secret)| secret),
            KeyName::Certificate(_) | KeyName::Assertion(_) | KeyName::Name(_) | KeyName::Value(_) => {
                Err(Refusal::new(Rule::KeyUnknown, "no key that both sides know has this name"))
            }
        }
    }

    /// A key of this message or, on the initiator's side, of the request.
    fn shared_by_sha1(&mut self, sha1: &[u8]) -> Result<(Option<NodeId>, Arc<Secret>), Refusal> {
        let here = self.found.keys.iter().position(|key| match &key.what.kind {
            SharedKeyKind::Encrypted { sha1: known, .. } => known == sha1,
            SharedKeyKind::Derived => false,
        });
        if let Some(key) = here {
            return self.secret(key, None).map(|secret| (self.found.keys[key].node, secret));
        }
        let shared = self.arrival.conversation.map_or(&[][..], |conversation| &conversation.shared_keys);
        let of_request = shared.iter().find(|key| key.sha1 == sha1);
        let unknown = || Refusal::new(Rule::KeyUnknown, "no encrypted key has this digest");
        of_request.map(|shared| (None, Arc::clone(&shared.key))).ok_or_else(unknown)
    }

    /// The key itself, decrypted when it is asked for the first time.
    pub(super) fn secret(&mut self, key: usize, bytes: Option<usize>) -> Result<Arc<Secret>, Refusal> {
        if let Some(secret) = &self.found.keys[key].what.secret {
            return Ok(Arc::clone(secret));
        }
        let SharedKeyKind::Encrypted { key: encrypted, ciphertext, .. } = &self.found.keys[key].what.kind else {
            return Err(misplaced());
        };
        let (method, key_info, element) = (encrypted.method, encrypted.key_info, encrypted.element);
        let user = self.found.keys[key].node.unwrap_or(element);
        let secret = match method {
            KeyMethod::Transport(transport) => {
                let identity = self.recipient(key_info)?;
                self.will_use_key(identity.key.public())?;
                self.decrypts = true;
                let suite =
                    self.guard.policy.alternatives.iter().filter_map(|alternative| alternative.binding.common());
                let suite_bytes = suite.map(|common| common.suite.cipher.key_bytes()).max();
                let expected = bytes.or(suite_bytes).unwrap_or(SHARED_KEY_BYTES);
                let SharedKeyKind::Encrypted { ciphertext, .. } = &self.found.keys[key].what.kind else {
                    return Err(misplaced());
                };
                // Whatever is wrong with the padding, the way goes on with a key that decrypts nothing.
                match identity.key.decrypt(transport, ciphertext, bytes.or(Some(expected))) {
                    Ok(secret) => secret,
                    Err(_) => random(expected).map_err(|_| decryption("no random numbers"))?,
                }
            }
            KeyMethod::Wrap(wrap) => {
                let ciphertext = ciphertext.clone();
                let missing = || Refusal::new(Rule::KeyUnknown, "a wrapped key that does not say by which key");
                let name = self.reader().key_info(key_info.ok_or_else(missing)?)?;
                if matches!(name, KeyName::Element(node) if node == user) {
                    return Err(misplaced());
                }
                let with = self.secret_by_name(name, user, Some(wrap.0.bytes()))?;
                self.decrypts = true;
                unwrap(wrap, (*with).as_ref(), &ciphertext).map_err(|_| decryption("a wrapped key"))?
            }
        };
        let secret = Arc::new(secret);
        self.found.keys[key].what.secret = Some(Arc::clone(&secret));
        Ok(secret)
    }

    /// For whom a key is encrypted: one of ours.
    fn recipient(&mut self, key_info: Option<NodeId>) -> Result<Arc<Identity>, Refusal> {
        let unknown = || Refusal::new(Rule::KeyUnknown, "a key that is encrypted for somebody else");
        let ours = &self.guard.keys.decryption;
        let Some(key_info) = key_info else {
            // What does not say for whom it is is for whoever has one key.
            return match &ours[..] {
                [only] => Ok(Arc::clone(only)),
                _ => Err(unknown()),
            };
        };
        let name = self.reader().key_info(key_info)?;
        let found = match name {
            KeyName::Certificate(name) => ours.iter().find(|identity| name.is_of(identity.certificate())),
            KeyName::Name(name) => ours
                .iter()
                .find(|identity| identity.alias == name || is_written(identity.certificate().subject(), &name)),
            KeyName::Value(key) => ours.iter().find(|identity| identity.key.public().spki() == key.spki()),
            KeyName::Element(node) if self.is(node, WSSE, "BinarySecurityToken") && self.is_token_place(node) => {
                let token = self.binary_token(node)?;
                let certificate = self.found.binaries[token].what.chain.first();
                ours.iter()
                    .find(|identity| certificate.is_some_and(|named| named.der() == identity.certificate().der()))
            }
            KeyName::Element(_) | KeyName::EncryptedKey(_) | KeyName::Assertion(_) => None,
        };
        found.map(Arc::clone).ok_or_else(unknown)
    }

    /// What the STR transform makes of a reference to a token, and what is covered by it.
    pub(super) fn dereference(&self, reference: NodeId, encoding: Encoding) -> Result<(Dereferenced, Cover), Refusal> {
        match self.reader().token_reference(reference)? {
            KeyName::Element(node) if self.is_token_place(node) => Ok((Dereferenced::Node(node), Cover::Node(node))),
            KeyName::Element(_) => Err(misplaced()),
            KeyName::Assertion(id) => {
                let node = self.assertion_by_id(&id)?;
                Ok((Dereferenced::Node(node), Cover::Node(node)))
            }
            KeyName::Certificate(name) => {
                let chain = self.chain(name)?;
                let certificate = Arc::clone(chain.first().ok_or_else(misplaced)?);
                let token = dereferenced(&self.document, reference, &certificate, encoding);
                Ok((token, Cover::Certificate(certificate)))
            }
            KeyName::EncryptedKey(_) | KeyName::Name(_) | KeyName::Value(_) => {
                Err(Refusal::new(Rule::UnresolvedReference, "what is referred to is no token"))
            }
        }
    }

    /// The assertion in our header that has this id.
    fn assertion_by_id(&self, id: &str) -> Result<NodeId, Refusal> {
        let node = self.ids.require(id)?;
        let name = self.document.qname(node);
        match Assertion::version(name.namespace, name.local).filter(|_| self.is_token_place(node)) {
            Some(_) => Ok(node),
            None => Err(misplaced()),
        }
    }
}

fn misplaced() -> Refusal {
    Refusal::new(Rule::UnresolvedReference, "a token at a place where none is believed")
}

pub(super) fn decryption(detail: &'static str) -> Refusal {
    Refusal::new(Rule::DecryptionFailed, detail)
}
