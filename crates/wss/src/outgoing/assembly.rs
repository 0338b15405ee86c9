//! Putting the message together: in the end, and wherever canonical forms have to be seen at their places.

use myelin_soap::Envelope;
use myelin_xml::{DoctypePolicy, Document, NodeId, Options};

use super::errors::unprotectable;
use super::header::{Item, Slot, write_message, write_security};
use super::message::Message;
use crate::guard::Secured;
use crate::ids::Ids;
use crate::policy::Binding;
use crate::{Error, memory};

/// The ids of what is encrypted with the binding's key, in the order of decryption.
#[derive(Default)]
pub(super) struct Lists {
    /// Before the signature is verified, which was made of the plaintext.
    pub(super) before: Vec<String>,
    /// When the signature was verified, which was made of the ciphertext.
    pub(super) after: Vec<String>,
}

impl Message<'_> {
    /// Says in the header what is encrypted, and with which key.
    pub(super) fn write_lists(&mut self, lists: &Lists) {
        if let Binding::Asymmetric { .. } = self.alternative.binding
            && let Some(session) = self.session.clone()
        {
            let (inside, slot, outside) = match lists.before.is_empty() {
                true => (&lists.after, Slot::LaterKeys, &lists.before),
                false => (&lists.before, Slot::Keys, &lists.after),
            };
            let references: Vec<&str> = inside.iter().map(String::as_str).collect();
            if let Some((id, text)) = session.element(&references) {
                self.items.push(Item { slot, id, text });
            }
            return self.list(outside, Slot::LaterKeys);
        }
        self.list(&lists.before, Slot::Ciphertexts);
        self.list(&lists.after, Slot::LaterKeys);
    }

    /// The whole message as it is by now.
    fn write(&self) -> Vec<u8> {
        let security = write_security(&self.items, self.envelope.version, &self.alternative.rampart);
        write_message(&self.document, self.place, &security, &self.ciphertexts)
    }

    pub(super) fn finish(self) -> Secured {
        let bytes = self.write();
        self.ciphertexts.into_iter().for_each(|(_, ciphertext)| memory::keep_buffer(ciphertext.text));
        Secured { bytes, conversation: self.conversation, arena: memory::keep_source(self.document) }
    }

    /// Writes the message and reads it back, so that all that stands in it by now has its place in the tree.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        let document = Document::parse(self.write(), &own_output()).map_err(unprotectable)?;
        let envelope = Envelope::of(&document).ok_or(Error::NotAnEnvelope)?;
        let header = envelope.header.ok_or(Error::NotAnEnvelope)?;
        // Ours is the first block: what took the place of the comment that was put in front of all others.
        self.place = document.first_child(header).ok_or(Error::NotAnEnvelope)?;
        self.found = Ids::of(&document, &self.guard.settings.limits).map_err(unprotectable)?;
        (self.document, self.envelope) = (document, envelope);
        self.ciphertexts.clear();
        Ok(())
    }

    /// The element of the message, as it was settled the last time, with that id.
    pub(super) fn element(&self, id: &str) -> Result<NodeId, Error> {
        self.found.find(id).ok_or_else(|| Error::Part(format!("{id:?} is the id of nothing").into()))
    }
}

/// The limits of what we wrote ourselves, of a message that kept to limits when it came: none.
fn own_output() -> Options {
    const NONE: usize = usize::MAX;
    Options {
        depth: NONE,
        attributes: NONE,
        declarations: NONE,
        name_bytes: NONE,
        names: NONE,
        names_bytes: NONE,
        token_bytes: NONE,
        nodes: NONE,
        doctype: DoctypePolicy::Skip,
        ..Options::default()
    }
}
