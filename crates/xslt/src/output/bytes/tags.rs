//! Start tags and end tags.

use myelin_xml::{Atom, Document, Name, NameId, Names, NodeId};

use super::{Bytes, Format, Open, OutputError, Repertoire, Written, XHTML_NAMESPACE};
use crate::name::ExpandedName;
use crate::output::escape::{Context, escape};
use crate::output::html::Traits;
use crate::output::literal::LiteralStart;
use crate::output::scope::Chosen;

impl<'o> Bytes<'o> {
    #[inline]
    pub(in crate::output) fn start_literal(&mut self, literal: &'o LiteralStart) -> Result<(), OutputError> {
        let name = literal.name();
        if self.quick {
            self.begin_plain();
        } else if self.loses_prefix(name.as_name())? {
            let bindings = literal.namespaces().bindings().iter();
            let bindings = bindings.map(|(prefix, namespace)| (prefix.as_str(), namespace.as_str()));
            return self.start_unprefixed(name.as_name(), bindings);
        } else if !self.begin_element(&name.local, &name.namespace, literal.traits)? {
            return Ok(());
        }
        self.named(Written::Literal(literal));
        self.out.extend_from_slice(literal.open.as_bytes());
        let drops = self.special && self.is_html5();
        let declared = self.scopes.literal(&mut self.names, literal.namespaces());
        if !declared.is_empty() {
            declare(&self.names, declared, drops, self.repertoire, self.out)?;
        }
        self.check(0)
    }

    /// Writes an element that holds nothing but a text, if that takes no more than its tags and the text; whether it
    /// did.
    #[inline]
    pub(in crate::output) fn literal_text(
        &mut self,
        literal: &'o LiteralStart,
        text: &str,
    ) -> Result<bool, OutputError> {
        if !self.quick || text.is_empty() || !self.scopes.holds(literal.namespaces()) {
            return Ok(false);
        }
        let length = literal.open.len() + text.len() + literal.close.len();
        self.check(length)?;
        self.close_tag();
        self.out.reserve(length);
        self.whole(|bytes| {
            bytes.out.extend_from_slice(literal.open.as_bytes());
            escape(text, Context::Text, Repertoire::Unicode, bytes.out)?;
            bytes.out.extend_from_slice(literal.close.as_bytes());
            Ok(())
        })?;
        Ok(true)
    }

    pub(in crate::output) fn start(&mut self, name: Name<'_>) -> Result<(), OutputError> {
        if self.quick {
            self.begin_plain();
        } else if !self.begin_element(name.local, name.namespace, Traits::of(name.local))? {
            return Ok(());
        }
        let chosen = self.scopes.element(&mut self.names, name.prefix, name.namespace);
        self.start_tag(chosen, name.local)?;
        self.check(0)
    }

    /// Starts an element whose prefix HTML 5 does not have, with the namespaces it brings along.
    ///
    /// Source: XSLT and XQuery Serialization 3.1 §6.1 and §7.1.
    fn start_unprefixed<'n>(
        &mut self,
        name: Name<'_>,
        namespaces: impl Iterator<Item = (&'n str, &'n str)>,
    ) -> Result<(), OutputError> {
        self.start(Name { prefix: "", ..name })?;
        // The default namespace is its own now.
        for (prefix, namespace) in namespaces.filter(|(prefix, _)| !matches!(*prefix, "" | "xml")) {
            self.namespace(prefix, namespace)?;
        }
        Ok(())
    }

    /// Whether the result has no prefixes for the namespaces that HTML 5 knows by the names of their elements.
    #[inline]
    pub(super) fn is_html5(&self) -> bool {
        matches!(self.format, Format::Html | Format::Xhtml) && self.properties.is_html5()
    }

    /// Whether an element is written without its prefix.
    fn loses_prefix(&mut self, name: Name<'_>) -> Result<bool, OutputError> {
        if self.format == Format::Undecided {
            self.decide_by(name.local, name.namespace)?;
        }
        Ok(self.is_html5() && is_dropped(name.prefix, name.namespace))
    }

    /// Starts an element with the name of one of a document, and with the namespaces in scope there if so wanted.
    #[inline]
    pub(in crate::output) fn start_copy(
        &mut self,
        document: &'o Document,
        element: NodeId,
        name: NameId,
        namespaces: bool,
    ) -> Result<(), OutputError> {
        if self.quick {
            self.begin_plain();
        } else {
            let name = document.names().get(name);
            if self.loses_prefix(name)? {
                let scope = if namespaces { document.namespaces_in_scope(element) } else { Vec::new() };
                return self.start_unprefixed(name, scope.into_iter());
            }
            if !self.begin_element(name.local, name.namespace, Traits::of(name.local))? {
                return Ok(());
            }
        }
        let copied = self.scopes.copied(&mut self.names, document, name);
        match copied.number {
            Some(number) => {
                if !self.copied.holds(number) {
                    let name = document.names().get(name);
                    self.copied.add(self.names.text(copied.chosen.prefix), name.local);
                }
                self.named(Written::Copied(number));
                self.out.extend_from_slice(self.copied.open(number).as_bytes());
                self.declare(copied.chosen)?;
            }
            None => self.start_tag(copied.chosen, document.names().get(name).local)?,
        }
        if namespaces {
            let drops = self.special && self.is_html5();
            let declared = self.scopes.source(&mut self.names, document, element);
            if !declared.is_empty() {
                declare(&self.names, declared, drops, self.repertoire, self.out)?;
            }
        }
        self.check(0)
    }

    #[inline]
    pub(in crate::output) fn end_element(&mut self) {
        let Some(open) = self.open.pop() else { return };
        if self.format == Format::Text {
            return;
        }
        if self.special {
            self.end_special(&open);
        } else if self.in_tag {
            self.close_tag();
            self.out.pop();
            self.out.extend_from_slice(b"/>");
        } else {
            self.end_tag(&open);
        }
        self.scopes.leave(open.mark);
        if self.open.is_empty() {
            self.end_at_top();
        }
    }

    /// Copies an element with all below it as it stands in its source, if that is what would be written, and declares
    /// what is in scope around it there and not here; whether it did.
    pub(in crate::output) fn copy_as_read(
        &mut self,
        document: &'o Document,
        element: NodeId,
    ) -> Result<bool, OutputError> {
        let name = document.qname(element);
        if self.format == Format::Undecided {
            self.decide_by(name.local, name.namespace)?;
        }
        if self.special {
            return Ok(false);
        }
        let (Some(source), Some(parent)) = (document.as_read(element), document.parent(element)) else {
            return Ok(false);
        };
        if self.scopes.has_default() && document.lookup_namespace(element, "").is_none() {
            // Whether the default has to end here or further below, each element has to say for itself.
            return Ok(false);
        }
        self.check(source.len())?;
        self.close_tag();
        if self.open.is_empty() {
            self.begin_at_top(name.local, Traits::default())?;
        }
        let prefix = if name.prefix.is_empty() { 0 } else { name.prefix.len() + 1 };
        let (start, rest) = source.split_at(1 + prefix + name.local.len());
        self.out.extend_from_slice(start.as_bytes());
        let mark = self.scopes.enter();
        for &binding in self.scopes.source(&mut self.names, document, parent) {
            let prefix = self.names.text(binding.0);
            if !document.declarations(element).any(|(own, _)| own == prefix) {
                declaration(&self.names, binding, self.repertoire, self.out)?;
            }
        }
        self.scopes.leave(mark);
        self.out.extend_from_slice(rest.as_bytes());
        if self.open.is_empty() {
            self.end_at_top();
        }
        self.check(0)?;
        Ok(true)
    }

    /// Opens an element in another one, of a result that needs nothing but the rules of XML.
    #[inline]
    fn begin_plain(&mut self) {
        self.close_tag();
        let mark = self.scopes.enter();
        self.push(mark, Traits::default(), false, false);
    }

    /// Opens an element; whether elements are written at all.
    fn begin_element(&mut self, local: &str, namespace: &str, traits: Traits) -> Result<bool, OutputError> {
        if self.format == Format::Undecided {
            self.decide_by(local, namespace)?;
        }
        if self.format == Format::Text {
            let mark = self.scopes.enter();
            self.push(mark, Traits::default(), false, false);
            return Ok(false);
        }
        let html = match self.format {
            Format::Html => namespace.is_empty() || (namespace == XHTML_NAMESPACE && self.properties.is_html5()),
            Format::Xhtml => namespace == XHTML_NAMESPACE || (namespace.is_empty() && self.properties.is_html5()),
            _ => false,
        };
        let traits = match self.format {
            _ if !html => Traits::default(),
            Format::Xhtml if self.properties.is_html5() => traits.of_xhtml5(),
            _ => traits,
        };
        self.close_tag();
        if self.open.is_empty() {
            self.begin_at_top(local, traits)?;
        }
        let is_it = |name: &ExpandedName| name.local == local && name.namespace == namespace;
        if let Some(indentation) = &mut self.indentation {
            indentation.start(self.out.len() - self.begin, traits.any(Traits::INLINE));
            if traits.any(Traits::PREFORMATTED) || self.properties.suppress_indentation.iter().any(is_it) {
                indentation.keep();
            }
        }
        let cdata = !(html && self.format == Format::Html) && self.properties.cdata_section_elements.iter().any(is_it);
        let mark = self.scopes.enter();
        self.push(mark, traits, html, cdata);
        Ok(true)
    }

    #[inline]
    fn push(&mut self, mark: super::Mark, traits: Traits, html: bool, cdata: bool) {
        let at = (self.out.len() - self.begin) as u32;
        self.open.push(Open { name: Written::InTag(0), at, mark, traits, html, cdata });
    }

    /// Notes the name of the element that was opened.
    #[inline]
    fn named(&mut self, name: Written<'o>) {
        if let Some(open) = self.open.last_mut() {
            open.name = name;
        }
        self.in_tag = true;
    }

    /// Writes a start tag whose name is nowhere else.
    fn start_tag(&mut self, chosen: Chosen, local: &str) -> Result<(), OutputError> {
        self.out.push(b'<');
        let start = self.out.len();
        push_name(&self.names, chosen.prefix, local, self.out);
        self.named(Written::InTag((self.out.len() - start) as u32));
        self.out.push(b'>');
        self.declare(chosen)
    }

    /// Writes a declaration into the start tag that was written last, if there has to be one.
    #[inline]
    pub(super) fn declare(&mut self, chosen: Chosen) -> Result<(), OutputError> {
        if !chosen.declare {
            return Ok(());
        }
        let drops = self.special && self.is_html5();
        declare(&self.names, &[(chosen.prefix, chosen.namespace)], drops, self.repertoire, self.out)
    }

    /// Declares the prefix of an attribute that HTML 5 has none for, on each element that needs it.
    pub(super) fn declare_dropped(&mut self, chosen: Chosen) -> Result<(), OutputError> {
        let needed = (self.scopes.elements(), chosen.prefix);
        let (prefix, namespace) = (self.names.text(chosen.prefix), self.names.text(chosen.namespace));
        if self.redeclared == Some(needed) || !is_dropped(prefix, namespace) {
            return Ok(());
        }
        self.redeclared = Some(needed);
        declare(&self.names, &[(chosen.prefix, chosen.namespace)], false, self.repertoire, self.out)
    }

    /// Ends the start tag, if it was written last: attributes come too late now.
    #[inline]
    pub(super) fn close_tag(&mut self) {
        if self.in_tag {
            self.in_tag = false;
            self.attributes.drop_replaced(self.out);
            if self.special {
                self.begin_content();
            }
        }
    }

    #[inline]
    fn end_tag(&mut self, open: &Open<'_>) {
        match open.name {
            Written::Literal(literal) => self.out.extend_from_slice(literal.close.as_bytes()),
            Written::Copied(number) => self.out.extend_from_slice(self.copied.close(number).as_bytes()),
            Written::InTag(length) => {
                let start = self.begin + open.at as usize + 1;
                self.out.extend_from_slice(b"</");
                self.out.extend_from_within(start..start + length as usize);
                self.out.push(b'>');
            }
        }
    }

    /// Ends an element of a result that needs more than the rules of XML.
    fn end_special(&mut self, open: &Open<'o>) {
        let void = open.traits.any(Traits::VOID);
        if self.in_tag && self.drop_content_type(open) {
            return;
        }
        if self.in_tag && open.traits.any(Traits::HEAD) {
            // What it gets of its own makes it one with content.
            self.open.push(*open);
            self.close_tag();
            self.open.pop();
        }
        let empty = std::mem::take(&mut self.in_tag);
        if empty {
            self.attributes.drop_replaced(self.out);
        }
        if let Some(indentation) = &mut self.indentation {
            indentation.end(self.out.len() - self.begin);
        }
        let closed_at_once = match (open.html, self.format) {
            (false, _) => empty.then_some("/>"),
            (true, Format::Xhtml) => (empty && void).then_some(" />"),
            (true, _) => void.then_some(if empty { ">" } else { "" }),
        };
        match closed_at_once {
            Some(end) => {
                if empty {
                    self.out.pop();
                }
                self.out.extend_from_slice(end.as_bytes());
            }
            None => self.end_tag(open),
        }
    }
}

/// Writes a name.
#[inline]
pub(super) fn push_name(names: &Names, prefix: Atom, local: &str, out: &mut Vec<u8>) {
    if prefix != Atom::EMPTY {
        out.extend_from_slice(names.text(prefix).as_bytes());
        out.push(b':');
    }
    out.extend_from_slice(local.as_bytes());
}

/// Writes declarations into the start tag that was written last.
#[cold]
/// Whether HTML 5 has no prefix for a namespace.
pub(super) fn is_dropped(prefix: &str, namespace: &str) -> bool {
    !prefix.is_empty()
        && matches!(namespace, XHTML_NAMESPACE | "http://www.w3.org/2000/svg" | "http://www.w3.org/1998/Math/MathML")
}

fn declare(
    names: &Names,
    declared: &[(Atom, Atom)],
    drops: bool,
    repertoire: Repertoire,
    out: &mut Vec<u8>,
) -> Result<(), OutputError> {
    out.pop();
    let is_written =
        |(prefix, namespace): &&(Atom, Atom)| !(drops && is_dropped(names.text(*prefix), names.text(*namespace)));
    let mut written = declared.iter().filter(is_written);
    let written = written.try_for_each(|&binding| declaration(names, binding, repertoire, out));
    out.push(b'>');
    written
}

fn declaration(
    names: &Names,
    (prefix, namespace): (Atom, Atom),
    repertoire: Repertoire,
    out: &mut Vec<u8>,
) -> Result<(), OutputError> {
    out.extend_from_slice(if prefix == Atom::EMPTY { b" xmlns" } else { b" xmlns:" });
    out.extend_from_slice(names.text(prefix).as_bytes());
    out.extend_from_slice(b"=\"");
    escape(names.text(namespace), Context::Attribute, repertoire, out)?;
    out.push(b'"');
    Ok(())
}
