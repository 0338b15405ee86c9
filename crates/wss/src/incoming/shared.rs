//! Keys that both sides know: encrypted for us, derived of others, or of the request.

use std::sync::Arc;

use myelin_xml::NodeId;

use super::found::{At, Known, Origin, SharedKey, SharedKeyKind};
use super::inspection::Inspection;
use super::key_info::{KeyName, is_written};
use super::keys::{decryption, misplaced};
use super::uses::Use;
use crate::algorithm::{DigestMethod, KeyTransport};
use crate::crypto::{digest, random, unwrap};
use crate::enc::{EncryptedKey, KeyMethod};
use crate::keys::Identity;
use crate::token::derived::DerivedKey;
use crate::vocabulary::{WSSE, XENC};
use crate::{Refusal, Rule};

/// The longest key that a cipher asks for.
const SHARED_KEY_BYTES: usize = 32;

/// How many keys may wait for each other: a key derived of one that is wrapped with one that is derived of a third.
const CHAINED_KEYS: usize = 4;

impl Inspection<'_> {
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
        if let KeyName::Element(source) = from
            && !self.is(source, XENC, "EncryptedKey")
        {
            return Err(Refusal::new(Rule::TokenNotAllowed, "a key derived of something else than an encrypted key"));
        }
        let Known { secret, origin } = self.secret_by_name(from, node, None)?;
        let secret = Some(Known { secret: Arc::new(how.derive((*secret).as_ref())), origin });
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
    ) -> Result<Known, Refusal> {
        if self.waiting >= CHAINED_KEYS {
            return Err(Refusal::new(Rule::Limit, "keys that are made of each other"));
        }
        match name {
            KeyName::Element(node) => {
                self.note_use(node, user);
                self.waiting += 1;
                let secret = self.shared_key(node).and_then(|key| self.secret(key, bytes));
                self.waiting -= 1;
                secret
            }
            KeyName::EncryptedKey(sha1) => self.shared_by_sha1(&sha1).map(|(_, known)| known),
            KeyName::Certificate(_) | KeyName::Assertion(_) | KeyName::Name(_) | KeyName::Value(_) => {
                Err(Refusal::new(Rule::KeyUnknown, "no key that both sides know has this name"))
            }
        }
    }

    /// A key of this message or, on the initiator's side, of the request.
    pub(super) fn shared_by_sha1(&mut self, sha1: &[u8]) -> Result<(Option<NodeId>, Known), Refusal> {
        let here = self.found.keys.iter().position(|key| match &key.what.kind {
            SharedKeyKind::Encrypted { sha1: known, .. } => known == sha1,
            SharedKeyKind::Derived => false,
        });
        if let Some(key) = here {
            return self.secret(key, None).map(|known| (self.found.keys[key].node, known));
        }
        let shared = self.arrival.conversation.map_or(&[][..], |conversation| &conversation.shared_keys);
        let of_request = shared.iter().find(|key| key.sha1 == sha1);
        let unknown = || Refusal::new(Rule::KeyUnknown, "no encrypted key has this digest");
        let secret = of_request.map(|shared| Arc::clone(&shared.key)).ok_or_else(unknown)?;
        Ok((None, Known { secret, origin: Origin::Request }))
    }

    /// The key itself, decrypted when it is asked for the first time.
    pub(super) fn secret(&mut self, key: usize, bytes: Option<usize>) -> Result<Known, Refusal> {
        if let Some(shared) = &self.found.keys[key].what.secret {
            return Ok(shared.clone());
        }
        let SharedKeyKind::Encrypted { key: encrypted, ciphertext, .. } = &self.found.keys[key].what.kind else {
            return Err(misplaced());
        };
        let (method, key_info, element) = (encrypted.method, encrypted.key_info, encrypted.element);
        let user = self.found.keys[key].node.unwrap_or(element);
        let (secret, origin) = match method {
            KeyMethod::Transport(transport) => {
                let identity = self.recipient(key_info)?;
                self.will_use_key(identity.key.public())?;
                self.decrypts = true;
                let suite =
                    self.guard.policy.alternatives.iter().filter_map(|alternative| alternative.binding.common());
                let suite_bytes = suite.map(|common| common.suite.cipher.key_bytes()).max();
                let expected = bytes.or(suite_bytes).unwrap_or(SHARED_KEY_BYTES);
                // The old way has to be told a length, as nothing in it says which key is right.
                let wanted = if transport == KeyTransport::Rsa15 { Some(expected) } else { bytes };
                let SharedKeyKind::Encrypted { ciphertext, .. } = &self.found.keys[key].what.kind else {
                    return Err(misplaced());
                };
                // Whatever is wrong with the padding, the way goes on with a key that decrypts nothing.
                let secret = match identity.key.decrypt(transport, ciphertext, wanted) {
                    Ok(secret) => secret,
                    Err(_) => random(expected).map_err(|_| decryption("no random numbers"))?,
                };
                (secret, Origin::Message(key))
            }
            KeyMethod::Wrap(wrap) => {
                let ciphertext = ciphertext.clone();
                let missing = || Refusal::new(Rule::KeyUnknown, "a wrapped key that does not say by which key");
                let name = self.reader().key_info(key_info.ok_or_else(missing)?)?;
                let with = self.secret_by_name(name, user, Some(wrap.0.bytes()))?;
                self.decrypts = true;
                let secret = unwrap(wrap, (*with.secret).as_ref(), &ciphertext);
                (secret.map_err(|_| decryption("a wrapped key"))?, with.origin)
            }
        };
        let shared = Known { secret: Arc::new(secret), origin };
        self.found.keys[key].what.secret = Some(shared.clone());
        Ok(shared)
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
}
