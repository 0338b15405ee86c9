//! Attributes and namespace nodes: they are put in front of the `>` of the tag that was written last.

use myelin_xml::{Atom, Document, Kind, Name, NodeId, XML_NAMESPACE};

use super::tags::push_name;
use super::{Bytes, Format, Indentation, OutputError, Repertoire};
use crate::output::escape::{Context, escape};
use crate::output::html::{self, Traits};

impl Bytes<'_> {
    pub(in crate::output) fn namespace(&mut self, prefix: &str, namespace: &str) -> Result<(), OutputError> {
        if !self.takes_attributes()? {
            return Ok(());
        }
        let chosen = self.scopes.require(&mut self.names, prefix, namespace)?;
        self.declare(chosen)?;
        self.check(0)
    }

    #[inline]
    pub(in crate::output) fn attribute(&mut self, name: Name<'_>, value: &str) -> Result<(), OutputError> {
        if !self.takes_attributes()? {
            return Ok(());
        }
        self.check(value.len())?;
        let (prefix, namespace) = if name.namespace.is_empty() {
            (Atom::EMPTY, Atom::EMPTY)
        } else {
            let chosen = self.scopes.attribute(&mut self.names, name.prefix, name.namespace);
            self.declare(chosen)?;
            if self.special && self.is_html5() {
                self.declare_dropped(chosen)?;
            }
            (chosen.prefix, chosen.namespace)
        };
        self.out.pop();
        let start = self.out.len();
        self.out.push(b' ');
        push_name(&self.names, prefix, name.local, self.out);
        let local = self.out.len() - name.local.len()..self.out.len();
        let written = self.value(name, value).and_then(|()| self.check(1));
        if written.is_err() {
            self.out.truncate(start);
        } else {
            self.attributes.begin(self.scopes.elements());
            self.attributes.add(namespace, start..self.out.len(), local, self.out);
        }
        self.out.push(b'>');
        written
    }

    /// Copies an attribute of a document, as it stands in its source if it can be.
    #[inline]
    pub(in crate::output) fn copy_attribute(
        &mut self,
        document: &Document,
        attribute: NodeId,
    ) -> Result<(), OutputError> {
        let name = document.qname(attribute);
        let range = document.range(attribute).filter(|_| name.namespace.is_empty());
        let (Some(range), true, true) = (range, self.quick, self.in_tag) else {
            return self.attribute(name, &document.value(attribute));
        };
        debug_assert_eq!(document.kind(attribute), Kind::Attribute, "others are not copied like this");
        self.check(range.len() + 1)?;
        self.out.pop();
        let start = self.out.len();
        self.out.push(b' ');
        self.out.extend_from_slice(&document.source().as_bytes()[range]);
        self.attributes.begin(self.scopes.elements());
        let local = start + 1..start + 1 + name.local.len();
        self.attributes.add(Atom::EMPTY, start..self.out.len(), local, self.out);
        self.out.push(b'>');
        self.check(0)
    }

    /// Whether an attribute would be written here.
    #[inline]
    fn takes_attributes(&self) -> Result<bool, OutputError> {
        match (self.in_tag, self.open.is_empty()) {
            (true, _) => Ok(true),
            (false, true) => Err(OutputError::AttributeOnDocument),
            (false, false) if self.format == Format::Text => Ok(false),
            (false, false) => Err(OutputError::AttributeLate),
        }
    }

    /// Writes the value of an attribute with its quotes.
    #[inline]
    fn value(&mut self, name: Name<'_>, value: &str) -> Result<(), OutputError> {
        if self.special {
            return self.special_value(name, value);
        }
        self.out.extend_from_slice(b"=\"");
        escape(value, Context::Attribute, Repertoire::Unicode, self.out)?;
        self.out.push(b'"');
        Ok(())
    }

    fn special_value(&mut self, name: Name<'_>, value: &str) -> Result<(), OutputError> {
        if name.namespace == XML_NAMESPACE && name.local == "space" && value == "preserve" {
            self.indentation.iter_mut().for_each(Indentation::keep);
        }
        let Some(open) = self.open.last().copied() else { return Ok(()) };
        let html = open.html && name.namespace.is_empty();
        if html && open.traits.any(Traits::META) {
            // HTML allows one of the two alone, so that neither may stand beside the one that is written here.
            self.says_content_type |= name.local.eq_ignore_ascii_case("charset")
                || (name.local.eq_ignore_ascii_case("http-equiv") && value.trim().eq_ignore_ascii_case("content-type"));
        }
        if html && self.format == Format::Html && html::is_minimised(name.local, value) {
            return Ok(());
        }
        let context =
            if open.html && self.format == Format::Html { Context::HtmlAttribute } else { Context::Attribute };
        let uri = html && self.properties.escape_uri_attributes && html::is_uri(self.local(&open), name.local);
        self.out.extend_from_slice(b"=\"");
        if uri {
            escape(&html::escape_uri(value), context, self.repertoire, self.out)?;
        } else {
            self.mapped(value, context)?;
        }
        self.out.push(b'"');
        Ok(())
    }
}
