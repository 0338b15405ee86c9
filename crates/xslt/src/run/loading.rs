//! Documents that a stylesheet asks for are read, each once.

use myelin_xml::{Document, View};
use myelin_xpath::{Error, NodeRef};

use super::documents::strip;
use super::machine::{Base, Machine};
use crate::resolver::{Entities, Wanted};

impl<'a> Machine<'a> {
    /// The document that `href` names, seen from `base`.
    ///
    /// Errors: `FODC0002`, with the resolver's or the parser's sentence.
    pub(super) fn load_document(&self, href: &str, base: &str) -> Result<&'a Document, Error> {
        let asked = (href.to_owned(), base.to_owned());
        if let Some(document) = self.documents.asked.borrow().get(&asked) {
            return Ok(document);
        }
        let refused = |message: String| Error::value("FODC0002", message);
        let own = self.program.files.iter().zip(&self.program.sources).find(|(uri, _)| href.is_empty() && *uri == base);
        let (uri, bytes) = match own {
            Some((uri, source)) => (uri.clone(), source.as_bytes().to_vec()),
            None => {
                let found = self.options.resolver.resolve(href, base, Wanted::Document).map_err(refused)?;
                (found.uri, found.bytes)
            }
        };
        let known = self.documents.known.borrow().iter().find(|(known, _)| *known == uri).map(|(_, known)| *known);
        let document = match known {
            Some(document) => document,
            None => {
                let document = self.read_document(&bytes, &uri).map_err(refused)?;
                let document = self.keep(document).map_err(|failure| self.leave(failure))?;
                self.documents.known.borrow_mut().push((uri, document));
                document
            }
        };
        self.documents.asked.borrow_mut().insert(asked, document);
        Ok(document)
    }

    fn read_document(&self, bytes: &[u8], uri: &str) -> Result<Document, String> {
        let refused = |error: myelin_xml::Error| format!("{uri}: {error}");
        let (text, declared_encoding) = myelin_xml::encoding::decode(None, bytes).map_err(refused)?;
        let options = myelin_xml::Options { declared_encoding, ..myelin_xml::Options::default() };
        let entities = Entities(self.options.resolver);
        let options_of_type = self.program.doctype_options();
        let mut document = Document::parse_with_doctype(text.into_owned(), uri, &options, &entities, &options_of_type)
            .map_err(refused)?;
        if !self.program.strip.is_empty() {
            let mut view = View::default();
            strip(self.program, &mut document, &mut view);
            // It is never put back: this document belongs to the transformation.
            drop(view);
        }
        Ok(document)
    }

    /// The base URI of a tree that was made: that of the module that made it, or of the node that it is a copy of.
    fn base_of_made(&self, document: &'a Document) -> Option<String> {
        let base = self.bases.borrow().get(&std::ptr::from_ref(document)).copied();
        let module = |file: u32| self.program.files.get(file as usize).filter(|uri| !uri.is_empty()).cloned();
        match base {
            Some(Base::Original(original)) => self.base_of(original),
            Some(Base::Module(file)) => module(file),
            Some(Base::Known(uri)) => Some(uri.to_owned()),
            None if std::ptr::eq(document, self.source.document) => None,
            None => module(0),
        }
    }

    /// Notes what gives a tree its base URI that was made.
    pub(super) fn note_base(&self, document: &'a Document, base: Base<'a>) {
        if !matches!(base, Base::Module(0)) {
            self.bases.borrow_mut().insert(std::ptr::from_ref(document), base);
        }
    }

    /// The base URI of a node: that of its document, changed by each `xml:base` above it.
    pub(super) fn base_of(&self, node: NodeRef<'a>) -> Option<String> {
        let mut bases = Vec::new();
        let mut next = Some(node);
        while let Some(at) = next {
            if let Some(tree) = at.node.tree()
                && let Some(base) = at.document.attribute(tree, myelin_xml::XML_NAMESPACE, "base")
            {
                bases.push(base.into_owned());
            }
            next = at.parent();
        }
        let entity = node.node.tree().and_then(|tree| node.document.entity_base(tree));
        let base = entity.map(str::to_owned).or_else(|| self.documents.uri(node.document));
        let mut base = base.or_else(|| self.base_of_made(node.document));
        while let Some(next) = bases.pop() {
            base = Some(match base {
                Some(base) => crate::functions::resolve(&next, &base),
                None => next,
            });
        }
        base
    }
}
