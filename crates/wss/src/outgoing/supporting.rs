//! What the header holds beside keys and signatures: the timestamp, supporting tokens, signature confirmations.

use super::assertion::Assertion;
use super::errors::cryptography;
use super::header::{Item, Slot};
use super::message::Message;
use super::reference::{Pointer, token_reference};
use super::signing::{Covered, How, Signing};
use super::tokens::{NONCE_BYTES, User, signature_confirmation, timestamp, username};
use crate::Error;
use crate::crypto::fill;
use crate::policy::{Common, Password, SupportingTokens, TokenKind};
use crate::side::Direction;
use crate::time::{Precision, written};

/// A supporting token in the header.
pub(super) struct Supporting<'a> {
    /// How it is used.
    pub(super) set: &'a SupportingTokens,
    /// How it can be covered; nothing where it neither stands in the message nor is referred to, as a bare key.
    pub(super) covered: Option<Covered>,
    /// The item that is the token; nothing where it is only referred to.
    pub(super) item: Option<usize>,
    /// What it endorses with.
    pub(super) signing: Option<Signing>,
}

impl<'a> Message<'a> {
    /// Puts the timestamp into the header, if the policy wants one.
    pub(super) fn timestamp(&mut self, common: &Common) -> Option<Covered> {
        if !common.timestamp {
            return None;
        }
        let id = self.ids.next("TS");
        let life = self.alternative.rampart.timestamp_ttl;
        let text = timestamp(&id, self.departure.now, life, self.precision());
        self.items.push(Item { slot: Slot::of_timestamp(common.layout), id: id.clone(), text });
        Some(Covered { id, how: How::Item })
    }

    /// Puts the confirmations of the request's signatures into a response, if the policy wants them.
    ///
    /// Shape: the items.
    pub(super) fn confirmations(&mut self) -> Vec<usize> {
        if self.direction == Direction::Request || !self.alternative.wss.signature_confirmation {
            return Vec::new();
        }
        let first = self.items.len();
        let values = self.departure.conversation.map_or(&[][..], |conversation| &conversation.signature_values);
        // That the request had no signature is confirmed too.
        let none = values.is_empty().then_some(None);
        for value in values.iter().map(|value| Some(value.as_slice())).chain(none) {
            let id = self.ids.next("SC");
            let text = signature_confirmation(&id, value);
            self.items.push(Item { slot: Slot::Tokens, id, text });
        }
        (first..self.items.len()).collect()
    }

    /// Puts the supporting tokens into the header.
    ///
    /// Errors: a user without a name or password, no assertion, no private key.
    pub(super) fn supporting(&mut self) -> Result<Vec<Supporting<'a>>, Error> {
        let mut supporting = Vec::new();
        for set in self.alternative.supporting_in(self.direction) {
            for token in &set.tokens {
                let before = self.items.len();
                let mut covered = None;
                let mut signing = None;
                match &token.kind {
                    TokenKind::Username { password, nonce, created } => {
                        covered = Some(self.username(*password, *nonce, *created)?);
                    }
                    TokenKind::Saml { .. } => {
                        self.assertion()?;
                        covered = if set.signed { Some(self.assertion_reference()?) } else { None };
                    }
                    TokenKind::X509 { .. } | TokenKind::KeyValue => {}
                }
                if set.endorsing || covered.is_none() && !matches!(token.kind, TokenKind::Saml { .. }) {
                    let common = self.alternative.binding.common();
                    let suite = &common.ok_or(Error::Missing("an algorithm suite, which a binding has".into()))?.suite;
                    let key = self.private_signing(token, suite)?;
                    covered = covered.or_else(|| key.tokens.first().cloned());
                    signing = set.endorsing.then_some(key);
                }
                let item = (self.items.len() > before).then_some(before);
                if item.is_none() && signing.is_none() {
                    covered = None;
                }
                supporting.push(Supporting { set, covered, item, signing });
            }
        }
        Ok(supporting)
    }

    fn username(&mut self, password: Password, nonce: bool, created: bool) -> Result<Covered, Error> {
        let name = self.alternative.rampart.user.as_deref().ok_or(Error::Missing("the name of the user".into()))?;
        let secret = match password {
            Password::None => None,
            Password::Text | Password::Digest => {
                let known = self.guard.keys.users.password(name);
                Some(known.ok_or_else(|| Error::Missing(format!("the password of {name:?}").into()))?)
            }
        };
        let secret = secret.as_ref().map_or(Ok(""), |secret| std::str::from_utf8(secret.as_ref()));
        let secret = secret.map_err(|_| Error::Missing(format!("a password of {name:?} that is text").into()))?;
        // Without both a digest would be good for ever.
        let fresh = password == Password::Digest;
        let nonce = if fresh || nonce {
            let mut bytes = [0; NONCE_BYTES];
            fill(&mut bytes).map_err(cryptography)?;
            Some(bytes)
        } else {
            None
        };
        let created = (fresh || created).then(|| written(self.departure.now, self.precision()).to_string());
        let id = self.ids.next("UT");
        let text = username(&id, &User { name, password, secret, nonce, created });
        self.items.push(Item { slot: Slot::Tokens, id: id.clone(), text });
        Ok(Covered { id, how: How::Item })
    }

    /// The id of the assertion, which is put into the header the first time it is asked for.
    pub(super) fn assertion_id(&mut self) -> Result<String, Error> {
        Ok(self.assertion()?.id.clone())
    }

    /// Puts a reference to the assertion into the header, through which a signature covers the assertion.
    fn assertion_reference(&mut self) -> Result<Covered, Error> {
        let Assertion { id, version, canonical, .. } = self.assertion()?;
        let (assertion, version, text) = (id.clone(), *version, canonical.clone());
        let id = self.ids.next("STR");
        let reference = token_reference(&id, &Pointer::Assertion(&assertion, version));
        self.items.push(Item { slot: Slot::Tokens, id: id.clone(), text: reference });
        Ok(Covered { id, how: How::Token { id: Some(assertion), text } })
    }

    fn assertion(&mut self) -> Result<&Assertion, Error> {
        if self.assertion.is_none() {
            let given = self.guard.settings.assertion.as_deref();
            let assertion = Assertion::read(given.ok_or(Error::Missing("an assertion".into()))?)?;
            let Assertion { id, text, .. } = &assertion;
            self.items.push(Item { slot: Slot::Tokens, id: id.clone(), text: text.clone() });
            self.assertion = Some(assertion);
        }
        self.assertion.as_ref().ok_or(Error::Missing("an assertion".into()))
    }

    fn precision(&self) -> Precision {
        if self.alternative.rampart.timestamp_precision_millis { Precision::Millis } else { Precision::Seconds }
    }
}
