//! What is sent of a tree: the very bytes that came, or what it was changed to.

use std::borrow::Cow;

use myelin_soap::Envelope;
use myelin_xml::{Document, Kind, NodeId, WriteOptions, write};

use crate::memory;
use crate::output_form::OutputForm;
use crate::tree::Tree;
use crate::unreadable::Unreadable;
use crate::utf8::{into_utf8, utf8};

impl Tree {
    /// The body as it would be sent, as text.
    pub fn text(&self) -> Cow<'_, str> {
        match (&self.output_form, self.changed, &self.received) {
            (output_form, false, Some(came)) if !output_form.is_xml() => utf8(came),
            (_, false, _) => Cow::Borrowed(self.document.source()),
            (_, true, _) => {
                // The writers copy from texts, and write UTF-8 wherever they write text.
                Cow::Owned(into_utf8(self.written().unwrap_or_default()))
            }
        }
    }

    /// The bytes to send of a changed tree.
    pub(super) fn written(&self) -> Result<Vec<u8>, Unreadable> {
        let around = self.plain.then_some(&self.around);
        let xml = || written(&mut self.document.clone(), self.envelope, around);
        self.output_form.write(&self.document, self.envelope, self.received.as_deref().unwrap_or_default(), xml)
    }

    /// The bytes to send: the very ones that came, as long as nobody has changed anything.
    ///
    /// Errors: the sender's, where it cannot be written in its output form.
    pub fn into_sent(mut self) -> Result<Vec<u8>, Unreadable> {
        if self.changed {
            return match self.output_form {
                OutputForm::Xml => Ok(written(&mut self.document, self.envelope, self.plain.then_some(&self.around))),
                _ => self.written(),
            };
        }
        let (source, arena) = std::mem::take(&mut self.document).into_parts();
        memory::keep_arena(arena);
        Ok(self.received.take().unwrap_or(source))
    }
}

/// The document as it is sent; plain XML without the envelope that was put around it.
fn written(document: &mut Document, envelope: Envelope, around: Option<&[Vec<NodeId>; 2]>) -> Vec<u8> {
    if let (Some(body), Some([before, behind])) = (envelope.body, around) {
        document.detach(envelope.element);
        // As in Synapse, of several elements the first is the message: plain XML has one root element.
        let mut roots = 0;
        let is_sent = |&node: &NodeId| document.kind(node) != Kind::Element || std::mem::replace(&mut roots, 1) == 0;
        let content: Vec<NodeId> = document.children(body).filter(is_sent).collect();
        let top = document.document_node();
        for &node in before.iter().chain(&content).chain(behind) {
            document.detach(node);
            // A text cannot stand beside a root element, and nobody would understand it there.
            let _ = document.append(top, node);
        }
    }
    let mut out = Vec::with_capacity(document.text_bytes() + 256);
    write(document, document.document_node(), &WriteOptions::default(), &mut out);
    out
}
