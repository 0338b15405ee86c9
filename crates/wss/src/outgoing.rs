//! What goes out: signed and encrypted, as the first alternative of the policy says.
//!
//! The `Security` header is a list of texts, each written in its own exclusive canonical form, so that what is hashed
//! is what is written; parts of the envelope go from the tree straight into the digest; and the message is written
//! once, with ciphertexts and the header spliced in. Only where canonical forms depend on what stands around them (the
//! inclusive methods), or where signatures cover ciphertexts, the message is assembled and read back to be hashed.

mod assembly;
mod encrypting;
mod header;
mod ids;
mod parts;
mod protection;
mod reference;
mod signing;
mod supporting;
mod tokens;

use std::rc::Rc;
use std::sync::Arc;

use myelin_soap::Envelope;
use myelin_xml::c14n::Method;
use myelin_xml::{Document, NodeId};

use crate::Error;
use crate::guard::{Conversation, Departure, Direction, Guard, Secured};
use crate::ids::Ids as Found;
use crate::policy::{Alternative, Binding, Common, DerivedKeys, Parts, Token};
use assembly::{Lists, unprotectable};
use encrypting::{Encrypted, Encryption};
use header::{Ciphertext, Item, Slot};
use ids::Ids;
use parts::Part;
use protection::SessionKey;
use signing::{Covered, How, Signing, SigningKey};
use supporting::{Assertion, Supporting};

/// Signs and encrypts a message; see [`Guard::secure`].
pub(crate) fn secure(guard: &Guard, mut document: Document, departure: &Departure<'_>) -> Result<Secured, Error> {
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

/// A message on its way to be secured.
struct Message<'a> {
    guard: &'a Guard,
    alternative: &'a Alternative,
    departure: &'a Departure<'a>,
    direction: Direction,
    document: Document,
    envelope: Envelope,
    /// The node that the `Security` header takes the place of.
    place: NodeId,
    /// The ids of the document, where it was assembled and read back.
    found: Found,
    ids: Ids,
    items: Vec<Item>,
    ciphertexts: Vec<(NodeId, Ciphertext)>,
    assertion: Option<Assertion>,
    session: Option<Rc<SessionKey>>,
    encryption: Option<Rc<Encryption>>,
    /// Whether what is signed is hashed in the assembled message.
    on_tree: bool,
    conversation: Conversation,
}

impl Message<'_> {
    fn secure(mut self) -> Result<Secured, Error> {
        let alternative = self.alternative;
        let supporting = self.supporting()?;
        let Some(common) = alternative.binding.common() else { return Ok(self.finish()) };
        let timestamp = self.timestamp(common);
        let confirmations = self.confirmations();
        let signed = self.signed(&alternative.signed)?;
        let endorsed: Vec<Vec<(NodeId, String)>> =
            supporting.iter().map(|token| self.signed(&token.set.signed_parts)).collect::<Result<_, _>>()?;
        self.on_tree = common.suite.canonical != Method::Exclusive || common.encrypt_before_signing;

        let mut lists = Lists::default();
        let mut encrypted = Vec::new();
        if common.encrypt_before_signing {
            encrypted = self.encrypt_all(common, &supporting, &mut lists.after)?;
        }
        let header_covered: Vec<Covered> = timestamp
            .iter()
            .cloned()
            .chain(confirmations.iter().map(|&item| self.item_covered(item)))
            .chain(supporting.iter().filter(|token| token.set.signed).filter_map(|token| self.token_covered(token)))
            .collect();
        let mut covered = self.parts_covered(signed, &encrypted);
        covered.extend(header_covered);
        let endorsed: Vec<Vec<Covered>> =
            endorsed.into_iter().map(|parts| self.parts_covered(parts, &encrypted)).collect();

        let main = self.sign_main(common, covered)?;
        for (token, mut covered) in supporting.iter().zip(endorsed) {
            let Some(signing) = &token.signing else { continue };
            covered.extend(main.clone().map(|id| Covered { id, how: How::Item }).or_else(|| timestamp.clone()));
            covered.extend(signing.token.clone().filter(|_| common.protect_tokens));
            self.sign(signing, &covered, common, Slot::Endorsement)?;
        }

        if !common.encrypt_before_signing {
            self.encrypt_all(common, &supporting, &mut lists.before)?;
        }
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

    /// Finds what is to be signed, with ids by which it can be referred to.
    fn signed(&mut self, parts: &Parts) -> Result<Vec<(NodeId, String)>, Error> {
        let found = parts::find(&self.document, &self.envelope, self.place, parts)?;
        let mut signed = Vec::with_capacity(found.len());
        let mut reused = false;
        for part in found {
            let count = self.document.node_count();
            signed.push((part.node, parts::id_of(&mut self.document, part.node, &mut self.ids)?));
            reused |= self.document.node_count() == count;
        }
        if reused {
            // An id that stands twice would make receivers verify another element, or none.
            Found::of(&self.document, &self.guard.settings.limits).map_err(unprotectable)?;
        }
        Ok(signed)
    }

    /// How a signature covers parts, of which some may have become ciphertexts.
    fn parts_covered(&self, parts: Vec<(NodeId, String)>, encrypted: &[Encrypted]) -> Vec<Covered> {
        let mut covered: Vec<Covered> = Vec::with_capacity(parts.len());
        for (node, id) in parts {
            let mut around = std::iter::successors(Some(node), |&node| self.document.parent(node));
            let inside = around.find_map(|outer| {
                encrypted.iter().find(|part| part.node == outer && !(part.element_stays && outer == node))
            });
            let id = inside.map_or(id, |part| part.id.clone());
            if inside.is_none() || covered.iter().all(|part| part.id != id) {
                covered.push(Covered { id, how: How::Node(node) });
            }
        }
        covered
    }

    fn item_covered(&self, item: usize) -> Covered {
        Covered { id: self.items[item].id.clone(), how: How::Item }
    }

    /// How a signature covers a supporting token, which may have become a ciphertext.
    fn token_covered(&self, token: &Supporting<'_>) -> Option<Covered> {
        match (&token.covered, token.item) {
            (Some(Covered { how: How::Item, .. }), Some(item)) => Some(self.item_covered(item)),
            (covered, _) => covered.clone(),
        }
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
                let (key, key_info) = match token.derived_keys {
                    DerivedKeys::None => (Arc::clone(&session.secret), session.reference()),
                    DerivedKeys::Required(namespace) => {
                        let bytes = common.suite.signature_derivation_bytes;
                        let (key, reference) = self.derive(&session, bytes, namespace)?;
                        (Arc::new(key), reference)
                    }
                };
                let token = session.id().map(|id| Covered { id: id.to_owned(), how: How::Item });
                Signing { key: SigningKey::Common(key), method: common.suite.symmetric_signature, key_info, token }
            }
            _ => self.private_signing(token, &common.suite)?,
        };
        covered.extend(signing.token.clone().filter(|_| common.protect_tokens));
        self.sign(&signing, &covered, common, Slot::Signature).map(Some)
    }

    /// Encrypts the parts and tokens of the policy, with ids joining `references`.
    fn encrypt_all(
        &mut self,
        common: &Common,
        supporting: &[Supporting<'_>],
        references: &mut Vec<String>,
    ) -> Result<Vec<Encrypted>, Error> {
        if self.alternative.binding.encryption_token(self.direction).is_none() {
            return Ok(Vec::new());
        }
        let all = std::iter::once(&self.alternative.encrypted)
            .chain(supporting.iter().map(|token| &token.set.encrypted_parts));
        let mut parts: Vec<Part> = Vec::new();
        for wanted in all {
            parts.extend(parts::find(&self.document, &self.envelope, self.place, wanted)?);
        }
        let parts = parts::outermost(&self.document, parts);
        let items = supporting.iter().filter(|token| token.set.encrypted).filter_map(|token| token.item);
        let items: Vec<usize> = items.collect();
        if parts.is_empty() && items.is_empty() {
            return Ok(Vec::new());
        }
        let encryption = self.encryption(common)?;
        for item in items {
            self.encrypt_item(item, &encryption, references)?;
        }
        parts.into_iter().map(|part| self.encrypt_part(part, &encryption, references)).collect()
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
                let (key, reference) = self.derive(&session, bytes, namespace)?;
                (Arc::new(key), reference)
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
