//! `xenc:EncryptedKey` with what it encrypts, `xenc:ReferenceList`, `xenc:EncryptedData`: from ciphertexts to a
//! document in which the plaintexts stand.

use myelin_xml::{Kind, NodeId};

use super::envelope::Envelope;
use super::found::{At, Decrypted, Extent, Known};
use super::inspection::Inspection;
use super::keys::decryption;
use super::uses::Use;
use crate::crypto::decrypt;
use crate::enc::{self, EncryptedData, Form, Piece};
use crate::ids::Ids;
use crate::structure::is_space;
use crate::vocabulary::{WSSE11, XENC};
use crate::{Refusal, Rule, memory};

/// Encrypted data with the key that decrypts it.
struct Locked {
    data: EncryptedData,
    /// The element that the plaintext takes the place of.
    place: NodeId,
    key: Known,
}

/// Something of about the length of a plaintext, for one that could not be decrypted.
fn filler(form: Form, length: usize) -> Vec<u8> {
    let spaces = " ".repeat(length);
    match form {
        Form::Element => format!("<x{spaces}/>").into_bytes(),
        Form::Content | Form::Octets => spaces.into_bytes(),
    }
}

impl Inspection<'_> {
    /// Reads an encrypted key, and decrypts what it says it encrypts.
    pub(super) fn encrypted_key_with_references(&mut self, node: NodeId) -> Result<(), Refusal> {
        let key = self.encrypted_key(node)?;
        let super::found::SharedKeyKind::Encrypted { key: encrypted, .. } = &self.found.keys[key].what.kind else {
            return Ok(());
        };
        let references = encrypted.references.clone();
        let mut locked = Vec::with_capacity(references.len());
        for id in &references {
            let (place, data) = self.referenced(id)?;
            let key = self.secret(key, Some(data.cipher.key_bytes()))?;
            locked.push(Locked { data, place, key });
        }
        self.unlock(locked)
    }

    /// Decrypts what a list refers to; each piece says which key decrypts it.
    pub(super) fn reference_list(&mut self, node: NodeId) -> Result<(), Refusal> {
        let mut locked = Vec::new();
        for id in enc::references(&self.document, node, self.limits())? {
            let (place, data) = self.referenced(&id)?;
            locked.push(self.locked(place, data, node)?);
        }
        self.unlock(locked)
    }

    /// Decrypts a piece of the header that says which key decrypts it; others wait for a list that refers to them.
    pub(super) fn encrypted_data(&mut self, node: NodeId) -> Result<(), Refusal> {
        let data = EncryptedData::read(&self.document, node, self.limits())?;
        if data.key_info.is_none() {
            return Ok(());
        }
        let locked = self.locked(node, data, node)?;
        self.unlock(vec![locked])
    }

    fn locked(&mut self, place: NodeId, data: EncryptedData, user: NodeId) -> Result<Locked, Refusal> {
        self.will_use(Use::Cipher(data.cipher))?;
        let name = self.key_name(data.key_info)?;
        let key = self.secret_by_name(name, user, Some(data.cipher.key_bytes()))?;
        Ok(Locked { data, place, key })
    }

    /// The encrypted data with an id, or in the `wsse11:EncryptedHeader` with that id.
    fn referenced(&mut self, id: &str) -> Result<(NodeId, EncryptedData), Refusal> {
        let mut node = self.ids.require(id)?;
        if self.is(node, WSSE11, "EncryptedHeader") {
            let inner = self.document.children(node).find(|&child| self.document.kind(child) == Kind::Element);
            node = inner.ok_or_else(|| Refusal::new(Rule::Malformed, "EncryptedHeader is empty"))?;
        }
        if !self.is(node, XENC, "EncryptedData") {
            let local = self.document.qname(node).local;
            return Err(Refusal::new(Rule::UnresolvedReference, format!("{local} is no encrypted data")));
        }
        let data = EncryptedData::read(&self.document, node, self.limits())?;
        self.will_use(Use::Cipher(data.cipher))?;
        Ok((self.place_of(node), data))
    }

    /// What a plaintext takes the place of: a header block that was encrypted has an element around it.
    ///
    /// Source: WS-Security 1.1 §9.3.
    fn place_of(&self, data: NodeId) -> NodeId {
        let parent = self.document.parent(data);
        parent.filter(|&parent| self.is(parent, WSSE11, "EncryptedHeader")).unwrap_or(data)
    }

    /// Decrypts, and puts the plaintexts in their places.
    ///
    /// What goes wrong is told at the end, when all has been done that is done with what decrypts well: neither the
    /// answer nor its time says whether a padding was right.
    fn unlock(&mut self, locked: Vec<Locked>) -> Result<(), Refusal> {
        if locked.is_empty() || self.broken.is_some() {
            return Ok(());
        }
        let limits = self.limits();
        if self.found.decrypted.len() + locked.len() > limits.encrypted_data {
            return Err(Refusal::new(Rule::Limit, format!("more than {} encrypted parts", limits.encrypted_data)));
        }
        // Each round reads all of the message again; a round has a key of its own.
        if self.round >= limits.encrypted_keys {
            return Err(Refusal::new(Rule::Limit, format!("more than {} rounds of decrypting", limits.encrypted_keys)));
        }
        // Decrypting the same piece again and again would cost more than the message is long.
        let mut places: Vec<usize> = locked.iter().map(|piece| piece.place.index()).collect();
        places.sort_unstable();
        if places.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Refusal::new(Rule::Malformed, "the same piece is encrypted twice"));
        }
        self.check_nesting(&locked)?;
        self.decrypts = true;
        if let Err(refusal) = self.splice(locked) {
            self.broken.get_or_insert(refusal);
        }
        Ok(())
    }

    fn check_nesting(&self, locked: &[Locked]) -> Result<(), Refusal> {
        let limit = self.limits().nesting;
        for piece in locked {
            let around = self
                .found
                .decrypted
                .iter()
                .filter(|done| done.node.is_some_and(|done| self.is_within(piece.place, done)));
            if around.count() >= limit {
                return Err(Refusal::new(Rule::Limit, format!("encrypted data in encrypted data, {limit} deep")));
            }
        }
        Ok(())
    }

    fn splice(&mut self, locked: Vec<Locked>) -> Result<(), Refusal> {
        let mut pieces = Vec::with_capacity(locked.len());
        let mut marks = Vec::with_capacity(locked.len());
        let round = self.round + 1;
        for Locked { data, place, key } in locked {
            if data.form == Form::Octets {
                return Err(decryption("encrypted data that is not said to be XML"));
            }
            let mut plaintext = data.ciphertext(&self.document)?;
            let length = plaintext.len();
            if decrypt(data.cipher, (*key.secret).as_ref(), &mut plaintext).is_err() {
                self.broken = Some(decryption("a ciphertext"));
                plaintext = filler(data.form, length);
            }
            let extent = match data.form {
                Form::Element => Extent::Element,
                _ if self.is_all_content(place) => Extent::Content,
                _ => Extent::Part,
            };
            marks.push((
                Decrypted { cipher: data.cipher, extent, round, origin: key.origin },
                self.document.parent(place),
            ));
            pieces.push(Piece { place, form: data.form, plaintext });
        }
        let arena = memory::arena();
        let (document, places) = match enc::splice_in(&self.document, &pieces, self.arrival.xml, arena) {
            Ok(spliced) => spliced,
            Err(refusal) => {
                // What would have been done with a document that can be read.
                self.envelope = Envelope::of(&self.document, self.rampart().actor.as_deref())?;
                self.ids = Ids::of(&self.document, self.limits())?;
                pieces.into_iter().for_each(|piece| memory::keep_buffer(piece.plaintext));
                return Err(refusal);
            }
        };
        let old = &self.document;
        let moved = |node: NodeId| places.element(old, &document, node);
        let mut decrypted = Vec::with_capacity(marks.len());
        for (piece, (what, parent)) in marks.into_iter().enumerate() {
            let node = match what.extent {
                Extent::Element => places.inserted(piece).and_then(|range| document.node_at(range.start)),
                Extent::Content | Extent::Part => parent.and_then(moved),
            };
            decrypted.push(At { node, what });
        }
        // An element that was signed while it was encrypted is signed as what it is.
        let as_plaintext = |node: NodeId| {
            let piece = pieces.iter().position(|piece| piece.place == node && piece.form == Form::Element);
            match piece.and_then(|piece| places.inserted(piece)) {
                Some(range) => document.node_at(range.start),
                None => moved(node),
            }
        };
        self.found.moved(&as_plaintext);
        self.done = self.done.iter().filter_map(|&node| moved(node)).collect();
        self.found.decrypted.append(&mut decrypted);
        memory::keep(std::mem::replace(&mut self.document, document));
        pieces.into_iter().for_each(|piece| memory::keep_buffer(piece.plaintext));
        self.round = round;
        self.envelope = Envelope::of(&self.document, self.rampart().actor.as_deref())?;
        self.ids = Ids::of(&self.document, self.limits())?;
        self.count()
    }

    /// Whether an encrypted piece is all of the content of the element around it.
    fn is_all_content(&self, place: NodeId) -> bool {
        let Some(parent) = self.document.parent(place) else { return false };
        let says_nothing = |child: NodeId| match self.document.kind(child) {
            Kind::Element => child == place,
            Kind::Text => is_space(&self.document.value(child)),
            _ => true,
        };
        self.document.children(parent).all(says_nothing)
    }
}
