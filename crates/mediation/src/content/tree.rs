//! An XML body as a tree: a SOAP envelope, or a plain document in an envelope that is never sent.

mod standing;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

use super::fragment::text_apart;
use super::{Fragment, Json, Unreadable, Way, into_utf8, memory, utf8};
use crate::expression::Answers;
use myelin_message::Built;
use myelin_soap::{Envelope, Version, wrap};
use myelin_xml::{Document, Error, Kind, NodeId, Options, Refusal, WriteOptions, encoding, write};

/// A body that was read as XML.
///
/// Only the document can be changed, and asking for it to change it is what makes it a changed one:
/// until then the very bytes that came are sent.
#[derive(Debug)]
pub(crate) struct Tree {
    document: Document,
    envelope: Envelope,
    /// Whether the envelope is ours: what came, and what is sent, is what stands in its body.
    plain: bool,
    /// What stood before and behind the root element of plain XML: nobody finds it, and it is sent again.
    around: [Vec<NodeId>; 2],
    changed: bool,
    /// The bytes that came, where they are not those that the document was read from: another encoding, or no XML.
    came: Option<Vec<u8>>,
    /// The root of plain XML while the document is handed out.
    apart: Option<NodeId>,
    /// What is written of it once it was changed.
    way: Way,
    /// The JSON that it stands for, as it is now.
    json: OnceLock<Box<Json>>,
    /// What expressions were found to give, as it is now.
    answers: Answers,
}

impl Tree {
    /// Reads a body in the encoding that its bytes and its content type say.
    ///
    /// What the root element is decides between SOAP and plain XML, whatever the content type says.
    /// Errors: the sender's, with the bytes it sent.
    pub(crate) fn read(bytes: Vec<u8>, charset: Option<&str>) -> Result<Tree, (Error, Vec<u8>)> {
        let (utf8, declared_encoding) = match encoding::decode(charset, &bytes) {
            Ok((Cow::Borrowed(_), declared)) => (None, declared),
            Ok((Cow::Owned(utf8), declared)) => (Some(utf8), declared),
            Err(error) => return Err((error, bytes)),
        };
        let options = Options { declared_encoding, ..Options::default() };
        let arena = memory::take();
        let mut bytes = bytes;
        let (document, came) = match utf8 {
            Some(mut utf8) => (Document::take(&mut utf8, &options, arena), Some(std::mem::take(&mut bytes))),
            None => (Document::take(&mut bytes, &options, arena), None),
        };
        let document = match document {
            Ok(document) => document,
            Err(error) => return Err((error, came.unwrap_or(bytes))),
        };
        Ok(Tree::of(document, came, Way::Xml))
    }

    /// What Synapse sees where there is no body.
    pub(crate) fn empty() -> Tree {
        Tree::of(Document::new(), None, Way::Xml)
    }

    /// What stands for a body that is no XML.
    ///
    /// Shape: as long as nobody changes it, `came` is sent, or where there is none, the document.
    pub(super) fn standing_for(document: Document, came: Option<Vec<u8>>, way: Way) -> Tree {
        Tree::of(document, came, way)
    }

    /// What is seen of a body that nobody understands.
    pub(crate) fn nothing() -> &'static Tree {
        static NOTHING: LazyLock<Tree> = LazyLock::new(Tree::empty);
        &NOTHING
    }

    fn of(mut document: Document, came: Option<Vec<u8>>, way: Way) -> Tree {
        let came_in = Envelope::of(&document);
        let mut around: [Vec<NodeId>; 2] = Default::default();
        let envelope = came_in.unwrap_or_else(|| {
            let (top, root) = (document.document_node(), document.root_element());
            for node in document.children(top).filter(|&node| Some(node) != root) {
                let behind = root.is_some_and(|root| document.order(root, node) == Ordering::Less);
                around[usize::from(behind)].push(node);
            }
            around.iter().flatten().for_each(|&node| document.detach(node));
            // A document that fills all the numbers of nodes cannot have been read: each takes three bytes at least.
            wrap(&mut document, Version::Soap11).expect("there is room for two nodes more")
        });
        Tree {
            document,
            envelope,
            plain: came_in.is_none(),
            around,
            changed: false,
            came,
            apart: None,
            way,
            json: OnceLock::new(),
            answers: Answers::default(),
        }
    }

    /// The document to look at.
    pub(crate) fn document(&self) -> &Document {
        &self.document
    }

    /// Where its parts are.
    pub(crate) fn envelope(&self) -> Envelope {
        self.envelope
    }

    /// The text of the first element in the body, apart from all around it.
    pub(crate) fn payload_text(&self) -> Option<String> {
        let payload = self.envelope.payload(&self.document)?;
        // The envelope around plain XML was put there, and says nothing that it means.
        let as_read = self.document.range(payload).filter(|_| self.plain && !self.changed);
        Some(match as_read {
            Some(range) => self.document.source()[range].to_owned(),
            None => text_apart(&self.document, payload),
        })
    }

    /// Whether it stands for a body that is not there.
    pub(crate) fn is_empty(&self) -> bool {
        self.document.source().is_empty() && self.came.is_none() && !self.changed
    }

    /// Whether the envelope is one that is never sent.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// What expressions were found to give.
    pub(crate) fn answers(&self) -> &Answers {
        &self.answers
    }

    /// The same, for who finds more, or whom what was found does not concern.
    pub(crate) fn answers_mut(&mut self) -> &mut Answers {
        &mut self.answers
    }

    /// Changes the document; from now on it is what is sent.
    ///
    /// Errors: the change's own; the document may then be changed half-way.
    pub(crate) fn change<T>(
        &mut self,
        change: impl FnOnce(&mut Document, &mut Envelope) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        self.changed = true;
        self.json.take();
        self.answers = Answers::default();
        let result = change(&mut self.document, &mut self.envelope);
        // Parts may have been taken out or put in.
        if let Some(envelope) = Envelope::of(&self.document) {
            self.envelope = envelope;
        }
        result
    }

    /// Where a node stands in the bytes that are sent, if those are the ones that came and are in UTF-8.
    pub(crate) fn place(&self, node: NodeId) -> Option<Range<usize>> {
        let is_source = !self.changed && self.came.is_none() && self.way.is_xml();
        self.document.range(node).filter(|_| is_source)
    }

    /// Hands out the document, without the envelope around plain XML, to somebody who brings it back as it is.
    pub(crate) fn hand_out(&mut self) -> Document {
        let payload = self.envelope.payload(&self.document).filter(|_| self.plain);
        payload.iter().for_each(|&payload| self.document.detach(payload));
        self.apart = payload;
        self.answers = Answers::default();
        std::mem::take(&mut self.document)
    }

    /// Takes back what was handed out.
    pub(crate) fn take_back(&mut self, document: Document) {
        self.document = document;
        if let (Some(body), Some(payload)) = (self.envelope.body, self.apart.take()) {
            self.document.append(body, payload).expect("the root of plain XML goes back to where it was");
        }
    }

    /// Whether the bytes that are sent are in UTF-8 while those that came were not.
    pub(crate) fn is_recoded(&self) -> bool {
        self.changed && self.came.is_some() && self.way.is_xml()
    }

    /// Takes out the envelope that came or was made, as it is now; `None` where there is plain XML only.
    pub(crate) fn take_envelope(&mut self) -> Option<Document> {
        self.answers = Answers::default();
        (!self.plain).then(|| std::mem::take(&mut self.document))
    }

    /// The document, envelope and all; of what it came from nothing is left.
    pub(crate) fn into_document(mut self) -> Document {
        std::mem::take(&mut self.document)
    }

    /// The tree of a document that is sent as it is now, not as its source.
    pub(crate) fn changed(document: Document) -> Tree {
        let mut tree = Tree::of(document, None, Way::Xml);
        tree.changed = true;
        tree
    }

    /// The body as it would be sent.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match (&self.way, self.changed, &self.came) {
            (way, false, Some(came)) if !way.is_xml() => utf8(came),
            (_, false, _) => Cow::Borrowed(self.document.source()),
            (_, true, _) => {
                // The writers copy from texts, and write UTF-8 wherever they write text.
                Cow::Owned(into_utf8(self.written().unwrap_or_default()))
            }
        }
    }

    /// The bytes that are to be sent of what was changed.
    fn written(&self) -> Result<Vec<u8>, Unreadable> {
        let around = self.plain.then_some(&self.around);
        let xml = || written(&mut self.document.clone(), self.envelope, around);
        self.way.write(&self.document, self.envelope, self.came.as_deref().unwrap_or_default(), xml)
    }

    /// The bytes to send: the very ones that came, as long as nobody has changed anything.
    ///
    /// Errors: where it cannot be written as what it stands for.
    pub(super) fn into_sent(mut self) -> Result<Vec<u8>, Unreadable> {
        if self.changed {
            return match self.way {
                Way::Xml => Ok(written(&mut self.document, self.envelope, self.plain.then_some(&self.around))),
                _ => self.written(),
            };
        }
        let (source, arena) = std::mem::take(&mut self.document).into_parts();
        memory::keep_arena(arena);
        Ok(self.came.take().unwrap_or(source))
    }

    /// Makes it an envelope of that version around what it holds, or what an envelope holds without one.
    ///
    /// Shape: of a fault outside of any envelope the sentence is left, in an element `Exception`.
    /// Errors: [`Refusal::Full`], where the document is as large as it can be.
    pub(crate) fn reshape(&mut self, to: Option<Version>) -> Result<(), Refusal> {
        let Some(version) = to else { return self.unwrap() };
        self.changed = true;
        self.plain = false;
        self.around = Default::default();
        self.answers = Answers::default();
        self.envelope.convert(&mut self.document, version)
    }

    fn unwrap(&mut self) -> Result<(), Refusal> {
        if self.plain {
            return Ok(());
        }
        let document = match (self.envelope.fault_reason(&self.document), self.envelope.payload(&self.document)) {
            (Some(reason), _) => {
                let mut document = Document::new();
                let exception = document.create_element("", "Exception", "")?;
                document.set_value(exception, &reason)?;
                document.append(document.document_node(), exception)?;
                document
            }
            // What is declared on the envelope may be meant by names and values inside.
            (None, Some(payload)) => Arc::unwrap_or_clone(Fragment::copy(&self.document, payload).document),
            (None, None) => Document::new(),
        };
        let way = std::mem::replace(&mut self.way, Way::Xml);
        *self = Tree::changed(document);
        self.way = way;
        Ok(())
    }

    /// Changes the header, which of plain XML is never sent.
    ///
    /// Errors: as [`Tree::change`].
    pub(crate) fn change_header<T>(
        &mut self,
        change: impl FnOnce(&mut Document, &mut Envelope) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let changed = self.changed || !self.plain;
        let result = self.change(change);
        self.changed = changed;
        result
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

/// A node with all below it, as XML of its own.
pub(crate) fn text_of(document: &Document, node: NodeId) -> String {
    let mut out = Vec::new();
    write(document, node, &WriteOptions::default(), &mut out);
    // The writer copies from texts and writes nothing but UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

impl Drop for Tree {
    fn drop(&mut self) {
        memory::keep(std::mem::take(&mut self.document));
    }
}

impl Built for Tree {
    fn into_bytes(self: Box<Self>) -> Vec<u8> {
        super::sent(self.into_sent())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_what_came_until_it_is_changed_and_declares_what_it_needs_of_what_is_around_it() {
        let read = |text: &str| Tree::read(text.as_bytes().to_vec(), None).unwrap();
        let plain = "<?xml version='1.0'?><!--c--><p:a  xmlns:p='urn:p' b = '&lt;'>x</p:a><!--d-->";
        let mut tree = read(plain);
        assert_eq!(tree.payload_text().as_deref(), Some("<p:a  xmlns:p='urn:p' b = '&lt;'>x</p:a>"));
        let payload = tree.envelope().payload(tree.document()).unwrap();
        let text = tree.document().first_child(payload).unwrap();
        tree.change(|document, _| document.set_value(text, "y")).unwrap();
        assert!(tree.payload_text().unwrap().ends_with(">y</p:a>"));
        let soap = |payload: &str| {
            let namespace = Version::Soap11.namespace();
            format!("<s:Envelope xmlns:s='{namespace}' xmlns:p='urn:p'><s:Body>{payload}</s:Body></s:Envelope>")
        };
        assert_eq!(read(&soap("<a  b='1'/>")).payload_text().as_deref(), Some("<a  b='1'/>"));
        assert_eq!(read(&soap("<p:a/>")).payload_text().as_deref(), Some("<p:a xmlns:p=\"urn:p\"/>"));
        assert_eq!(read(&soap("")).payload_text(), None);
    }
}
