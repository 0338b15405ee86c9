//! What goes out: signed and encrypted, as the first alternative of the policy says.
//!
//! The `Security` header is a list of texts, each written in its own exclusive canonical form, so that what is hashed
//! is what is written; parts of the envelope go from the tree straight into the digest; and the message is written
//! once, with ciphertexts and the header spliced in. Only where canonical forms depend on what stands around them (the
//! inclusive methods), or where signatures cover ciphertexts, the message is assembled and read back to be hashed.

mod assembly;
mod assertion;
mod covering;
mod encrypting;
mod errors;
mod header;
mod ids;
mod message;
mod parts;
mod protection;
mod reference;
mod session;
mod signing;
mod supporting;
#[cfg(test)]
mod tests;
mod tokens;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use myelin_xml::Document;
use myelin_xml::c14n::Method;

use crate::Error;
use crate::guard::Guard;
use crate::guard::{Conversation, Departure, Secured};
use crate::ids::Ids as Found;
use crate::policy::{Binding, Common, DerivedKeys, Token};
use assembly::Lists;
use covering::Signed;
use header::Slot;
use ids::Ids;
use message::Message;
use session::{Encryption, SessionKey};
use signing::{Covered, How, Signing, SigningKey};

impl Guard {
    /// Signs and encrypts a message that goes out.
    ///
    /// Errors: [`Error`]: ours.
    pub fn secure(&self, document: Document, departure: &Departure<'_>) -> Result<Secured, Error> {
        secure(self, document, departure)
    }
}

/// Signs and encrypts a message; see [`Guard::secure`].
fn secure(guard: &Guard, mut document: Document, departure: &Departure<'_>) -> Result<Secured, Error> {
    let alternative = guard.policy.alternatives.first().ok_or(Error::Missing("an alternative of the policy".into()))?;
    let (envelope, place) = header::open(&mut document, alternative.rampart.actor.as_deref())?;
    let message = Message {
        guard,
        alternative,
        departure,
        direction: guard.departing(),
        document,
        envelope,
        place,
        found: Found::default(),
        ids: Ids::new()?,
        items: Vec::new(),
        ciphertexts: Vec::new(),
        assertion: None,
        session: None,
        encryption: None,
        on_tree: false,
        conversation: Conversation::default(),
    };
    message.secure()
}

impl Message<'_> {
    fn secure(mut self) -> Result<Secured, Error> {
        let alternative = self.alternative;
        let supporting = self.supporting()?;
        let Some(common) = alternative.binding.common() else { return Ok(self.finish()) };
        let timestamp = self.timestamp(common);
        let confirmations = self.confirmations();
        let by_expression = !alternative.signed.elements.is_empty() || !alternative.encrypted.elements.is_empty();
        self.on_tree = common.suite.canonical != Method::Exclusive || common.encrypt_before_signing || by_expression;
        if self.on_tree {
            self.settle()?;
        }
        let signed = self.signed(&alternative.signed)?;
        let endorsed: Vec<Vec<Signed>> =
            supporting.iter().map(|token| self.signed(&token.set.signed_parts)).collect::<Result<_, _>>()?;

        let mut lists = Lists::default();
        let mut encrypted = HashMap::new();
        if common.encrypt_before_signing {
            encrypted = self.encrypt_all(common, &supporting, &mut lists.after)?;
        }
        let mut covered = self.covered(signed, &encrypted);
        covered.extend(timestamp.clone());
        covered.extend(confirmations.iter().map(|&item| self.item_covered(item)));
        let tokens = supporting.iter().filter(|token| token.set.signed);
        covered.extend(tokens.filter_map(|token| self.token_covered(token)));
        let endorsed: Vec<Vec<Covered>> = endorsed.into_iter().map(|parts| self.covered(parts, &encrypted)).collect();

        let main = self.sign_main(common, covered)?;
        let endorsed_by_all = main.clone().map(|id| Covered { id, how: How::Item }).or(timestamp);
        for (token, mut covered) in supporting.iter().zip(endorsed) {
            let Some(signing) = &token.signing else { continue };
            covered.extend(endorsed_by_all.clone());
            if common.protect_tokens {
                covered.extend_from_slice(&signing.tokens);
            }
            if !covered.is_empty() {
                self.sign(signing, &covered, common, Slot::Endorsement)?;
            }
        }

        if !common.encrypt_before_signing {
            if self.on_tree {
                self.settle()?;
            }
            self.encrypt_all(common, &supporting, &mut lists.before)?;
        }
        // An expression of the policy may have found the signature before, whose id is another then.
        let signature = main.and_then(|id| self.items.iter().position(|item| item.id == id));
        if common.encrypt_signature
            && let Some(signature) = signature
        {
            let encryption = self.encryption(common)?;
            for item in confirmations.into_iter().chain([signature]) {
                self.encrypt_item(item, &encryption, &mut lists.before)?;
            }
        }
        self.write_lists(&lists);
        Ok(self.finish())
    }

    /// Makes the signature of the binding; the id of its item, if there is one.
    fn sign_main(&mut self, common: &Common, mut covered: Vec<Covered>) -> Result<Option<String>, Error> {
        let Some(token) = self.alternative.binding.signature_token(self.direction) else { return Ok(None) };
        if covered.is_empty() {
            return Ok(None);
        }
        let signing = match &self.alternative.binding {
            Binding::Symmetric { .. } => {
                let session = self.session(token, common)?;
                let encrypted_key = session.id().map(|id| Covered { id: id.to_owned(), how: How::Item });
                let mut tokens: Vec<Covered> = encrypted_key.into_iter().collect();
                let (key, key_info) = match token.derived_keys {
                    DerivedKeys::None => (Arc::clone(&session.secret), session.reference()),
                    DerivedKeys::Required(namespace) => {
                        let bytes = common.suite.signature_derivation_bytes;
                        let (key, reference, derived) = self.derive(&session, bytes, namespace)?;
                        tokens.push(derived);
                        (key, reference)
                    }
                };
                Signing { key: SigningKey::Common(key), method: common.suite.symmetric_signature, key_info, tokens }
            }
            _ => {
                self.conversation.signer = self.guard.keys.signature.as_ref().map(|own| Arc::clone(own.certificate()));
                self.conversation.encrypted_for = self.guard.keys.encryption.clone();
                self.private_signing(token, &common.suite)?
            }
        };
        if common.protect_tokens {
            covered.extend_from_slice(&signing.tokens);
        }
        self.sign(&signing, &covered, common, Slot::Signature).map(Some)
    }

    /// The key of the binding that encrypts.
    fn encryption(&mut self, common: &Common) -> Result<Rc<Encryption>, Error> {
        if let Some(encryption) = &self.encryption {
            return Ok(Rc::clone(encryption));
        }
        let token = self.alternative.binding.encryption_token(self.direction);
        let token = token.ok_or(Error::Missing("a binding that encrypts".into()))?;
        let session = self.session(token, common)?;
        let (key, key_info) = match token.derived_keys {
            DerivedKeys::None => (Arc::clone(&session.secret), session.reference()),
            DerivedKeys::Required(namespace) => {
                let bytes = common.suite.encryption_derivation_bytes;
                let (key, reference, _) = self.derive(&session, bytes, namespace)?;
                (key, reference)
            }
        };
        let encryption = Rc::new(Encryption { key, cipher: common.suite.cipher, key_info });
        self.encryption = Some(Rc::clone(&encryption));
        Ok(encryption)
    }

    /// The key from which the binding's keys come, made the first time it is asked for.
    fn session(&mut self, token: &Token, common: &Common) -> Result<Rc<SessionKey>, Error> {
        if let Some(session) = &self.session {
            return Ok(Rc::clone(session));
        }
        let session = Rc::new(match &self.alternative.binding {
            Binding::Symmetric { .. } => self.common_key(token, &common.suite)?,
            _ => self.session_key(token, &common.suite)?,
        });
        self.session = Some(Rc::clone(&session));
        Ok(session)
    }
}
