//! An XML body as a tree: a SOAP envelope, or a plain document in an envelope that is never sent.

mod conversion;
mod writing;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use myelin_message::Built;
use myelin_soap::{Envelope, Version, wrap};
use myelin_xml::{Document, Error, NodeId, Options, Refusal, encoding};

use crate::annotation::Annotation;
use crate::fragment::{Fragment, text_apart};
use crate::json::Json;
use crate::memory;
use crate::output_form::OutputForm;
use crate::unreadable::written_or_empty;

/// A body that was read as XML.
///
/// It sends the very bytes that came until somebody asks to change it.
#[derive(Debug)]
pub struct Tree {
    document: Document,
    envelope: Envelope,
    /// Whether the envelope was put around plain XML; the content of its body is sent.
    plain: bool,
    /// The nodes before and behind the root element of plain XML: no expression finds them, and they are sent again.
    around: [Vec<NodeId>; 2],
    changed: bool,
    /// The bytes that came, where they are not those that the document was read from: another encoding, or no XML.
    received: Option<Vec<u8>>,
    /// The root of plain XML while the document is handed out.
    handed_out: Option<NodeId>,
    /// What it is written as once it was changed.
    output_form: OutputForm,
    /// Its payload as JSON, as it is now.
    json: OnceLock<Box<Json>>,
    /// What a layer above knows of the document, as it is now.
    annotation: Annotation,
}

impl Tree {
    /// Reads a body in the encoding that its bytes and its content type say.
    ///
    /// The root element decides between SOAP and plain XML, whatever the content type says.
    /// Errors: the sender's, with the bytes it sent.
    pub fn read(bytes: Vec<u8>, charset: Option<&str>) -> Result<Tree, (Error, Vec<u8>)> {
        let (utf8, declared_encoding) = match encoding::decode(charset, &bytes) {
            Ok((Cow::Borrowed(_), declared)) => (None, declared),
            Ok((Cow::Owned(utf8), declared)) => (Some(utf8), declared),
            Err(error) => return Err((error, bytes)),
        };
        let options = Options { declared_encoding, ..Options::default() };
        let arena = memory::take(bytes.len());
        let mut bytes = bytes;
        let (document, received) = match utf8 {
            Some(mut utf8) => (Document::take(&mut utf8, &options, arena), Some(std::mem::take(&mut bytes))),
            None => (Document::take(&mut bytes, &options, arena), None),
        };
        let document = match document {
            Ok(document) => document,
            Err(error) => return Err((error, received.unwrap_or(bytes))),
        };
        Ok(Tree::of(document, received, OutputForm::Xml))
    }

    /// The tree of a message without a body: an envelope with an empty body, as in Synapse.
    pub fn empty() -> Tree {
        Tree::of(Document::new(), None, OutputForm::Xml)
    }

    /// The tree that stands for a body which is not XML.
    ///
    /// Shape: as long as nobody changes it, `received` is sent, or where there is none, the document.
    pub fn converted(document: Document, received: Option<Vec<u8>>, output_form: OutputForm) -> Tree {
        Tree::of(document, received, output_form)
    }

    /// The tree that expressions see of a body in an unknown format: an empty one.
    pub fn opaque() -> &'static Tree {
        static NOTHING: LazyLock<Tree> = LazyLock::new(Tree::empty);
        &NOTHING
    }

    fn of(mut document: Document, received: Option<Vec<u8>>, output_form: OutputForm) -> Tree {
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
            received,
            handed_out: None,
            output_form,
            json: OnceLock::new(),
            annotation: Annotation::default(),
        }
    }

    /// The document to look at.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Where the envelope, its header and its body are.
    pub fn envelope(&self) -> Envelope {
        self.envelope
    }

    /// The payload as XML of its own: the first element in the body.
    pub fn payload_text(&self) -> Option<String> {
        let payload = self.envelope.payload(&self.document)?;
        // The envelope around plain XML declares nothing that the payload needs.
        let as_read = self.document.range(payload).filter(|_| self.plain && !self.changed);
        Some(match as_read {
            Some(range) => self.document.source()[range].to_owned(),
            None => text_apart(&self.document, payload),
        })
    }

    /// Whether it stands for a message without a body.
    pub fn is_empty(&self) -> bool {
        self.document.source().is_empty() && self.received.is_none() && !self.changed
    }

    /// Whether it is plain XML, whose envelope is never sent.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// What a layer above knows of the document, until the document changes.
    pub fn annotation(&self) -> &Annotation {
        &self.annotation
    }

    /// The same, to be changed.
    pub fn annotation_mut(&mut self) -> &mut Annotation {
        &mut self.annotation
    }

    /// Changes the document, which is sent from now on.
    ///
    /// Errors: the change's own; the document may then be changed half-way.
    pub fn change<T>(
        &mut self,
        change: impl FnOnce(&mut Document, &mut Envelope) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        self.changed = true;
        self.json.take();
        self.annotation.clear();
        let result = change(&mut self.document, &mut self.envelope);
        // Parts may have been taken out or put in.
        if let Some(envelope) = Envelope::of(&self.document) {
            self.envelope = envelope;
        }
        result
    }

    /// Where a node stands in the bytes that are sent, in bytes; `None` unless they are those that came, in UTF-8.
    pub fn range_in_source(&self, node: NodeId) -> Option<Range<usize>> {
        let is_source = !self.changed && self.received.is_none() && self.output_form.is_xml();
        self.document.range(node).filter(|_| is_source)
    }

    /// Hands out the document, without the envelope around plain XML. It must come back by [`Tree::take_back`].
    pub fn hand_out(&mut self) -> Document {
        let payload = self.envelope.payload(&self.document).filter(|_| self.plain);
        payload.iter().for_each(|&payload| self.document.detach(payload));
        self.handed_out = payload;
        self.annotation.clear();
        std::mem::take(&mut self.document)
    }

    /// Takes back the document that [`Tree::hand_out`] gave, unchanged.
    pub fn take_back(&mut self, document: Document) {
        self.document = document;
        if let (Some(body), Some(payload)) = (self.envelope.body, self.handed_out.take()) {
            self.document.append(body, payload).expect("the root of plain XML goes back to where it was");
        }
    }

    /// Whether the bytes that are sent are in UTF-8 while those that came were not.
    pub fn is_recoded(&self) -> bool {
        self.changed && self.received.is_some() && self.output_form.is_xml()
    }

    /// Takes out the document with its envelope, as it is now; `None` for plain XML.
    pub fn take_envelope(&mut self) -> Option<Document> {
        self.annotation.clear();
        (!self.plain).then(|| std::mem::take(&mut self.document))
    }

    /// The document with its envelope.
    pub fn into_document(mut self) -> Document {
        std::mem::take(&mut self.document)
    }

    /// The tree of a document that is written anew when it is sent.
    pub fn from_document(document: Document) -> Tree {
        let mut tree = Tree::of(document, None, OutputForm::Xml);
        tree.changed = true;
        tree
    }

    /// Puts its content into an envelope of that version; with `None`, takes the envelope off.
    ///
    /// Shape: a fault without an envelope is an element `Exception` with its reason.
    /// Errors: [`Refusal::Full`], where the document is as large as it can be.
    pub fn reshape(&mut self, to: Option<Version>) -> Result<(), Refusal> {
        let Some(version) = to else { return self.unwrap() };
        self.changed = true;
        self.plain = false;
        self.around = Default::default();
        self.annotation.clear();
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
            (None, Some(payload)) => Fragment::copy(&self.document, payload).into_document(),
            (None, None) => Document::new(),
        };
        let output_form = std::mem::replace(&mut self.output_form, OutputForm::Xml);
        *self = Tree::from_document(document);
        self.output_form = output_form;
        Ok(())
    }

    /// Changes the header. That of plain XML is never sent, so that the bytes that came still are.
    ///
    /// Errors: as [`Tree::change`].
    pub fn change_header<T>(
        &mut self,
        change: impl FnOnce(&mut Document, &mut Envelope) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let changed = self.changed || !self.plain;
        let result = self.change(change);
        self.changed = changed;
        result
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        memory::keep(std::mem::take(&mut self.document));
    }
}

impl Built for Tree {
    fn into_bytes(self: Box<Self>) -> Vec<u8> {
        written_or_empty(self.into_sent())
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
