//! From the name of a key in a message to whose it is: certificates, bare keys, and tokens by reference.

use std::sync::Arc;

use myelin_xml::NodeId;

use super::found::{Cover, Known, Signer};
use super::inspection::Inspection;
use super::key_info::{CertificateName, Encoding, KeyName, Reader, dereferenced};
use crate::crypto::Secret;
use crate::dsig::Dereferenced;
use crate::keys::{Certificate, PublicKey, Purpose};
use crate::policy::TokenKind;
use crate::token::saml::Assertion;
use crate::vocabulary::{DS, WSSE, XENC};
use crate::{Refusal, Rule};

/// The shortest key of a keyed hash, in bytes: with shorter ones, which a sender may derive of a key that it does not
/// know, values could be tried.
const KEYED_HASH_BYTES: usize = 16;

/// What a signature is verified with.
pub(super) enum VerifyingKey {
    Public(Arc<PublicKey>),
    Shared(Arc<Secret>),
}

impl Inspection<'_> {
    pub(super) fn reader(&self) -> Reader<'_> {
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
    pub(super) fn is_token_place(&self, node: NodeId) -> bool {
        let Some(parent) = self.document.parent(node) else { return false };
        let Some(security) = self.envelope.security else { return false };
        let in_key_info = self.is(parent, DS, "KeyInfo");
        parent == security
            || in_key_info && self.is(node, XENC, "EncryptedKey")
            || (in_key_info || self.is(parent, WSSE, "Embedded")) && self.is_within(parent, security)
    }

    /// Notes that `user`, an element of the header, uses a token.
    pub(super) fn note_use(&mut self, token: NodeId, user: NodeId) {
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
                let (token, shared) = self.shared_by_sha1(&sha1)?;
                shared_signer(token, shared)
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
            return Ok((Signer::Subject { assertion: Some(node) }, VerifyingKey::Public(key)));
        }
        let key = self.shared_key(node)?;
        let shared = self.secret(key, None)?;
        shared_signer(Some(node), shared)
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

    /// A bare key says nothing of its owner, so that its certificate has to be known. Where the policy asks for no bare
    /// keys, it is as if the message had named the certificate.
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

fn shared_signer(token: Option<NodeId>, shared: Known) -> Result<(Signer, VerifyingKey), Refusal> {
    let Known { secret, origin } = shared;
    if secret.len() < KEYED_HASH_BYTES {
        return Err(Refusal::new(Rule::KeyTooSmall, format!("a keyed hash with {} bytes", secret.len())));
    }
    Ok((Signer::Shared { token, origin }, VerifyingKey::Shared(secret)))
}

pub(super) fn misplaced() -> Refusal {
    Refusal::new(Rule::UnresolvedReference, "a token at a place where none is believed")
}

pub(super) fn decryption(detail: &'static str) -> Refusal {
    Refusal::new(Rule::DecryptionFailed, detail)
}
