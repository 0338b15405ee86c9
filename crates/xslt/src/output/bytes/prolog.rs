//! What stands before the first element, and how the first element decides what the result is.

use super::{Bytes, Early, Format, Indentation, Open, OutputError, Repertoire, XHTML_NAMESPACE};
use crate::output::html::Traits;
use crate::output::properties::{Charset, Method, Standalone};

impl Bytes<'_> {
    /// Decides by the first element (XSLT 1.0 §16, XSLT 2.0 §20).
    pub(super) fn decide_by(&mut self, local: &str, namespace: &str) -> Result<(), OutputError> {
        let method = match namespace {
            "" if local.eq_ignore_ascii_case("html") => Method::Html,
            XHTML_NAMESPACE if local == "html" && self.properties.is_modern() => Method::Xhtml,
            _ => Method::Xml,
        };
        self.decide(method)
    }

    /// Begins the result, and writes what came before it was clear how.
    pub(super) fn decide(&mut self, method: Method) -> Result<(), OutputError> {
        self.begin(method);
        for early in std::mem::take(&mut self.early) {
            match early {
                Early::Text(text) => self.text(&text)?,
                Early::Comment(text) => self.comment(&text)?,
                Early::Instruction(target, data) => self.instruction(&target, &data)?,
            }
        }
        self.check(0)
    }

    /// Begins the result with its declaration.
    pub(super) fn begin(&mut self, method: Method) {
        let properties = self.properties;
        self.format = match method {
            Method::Xml => Format::Xml,
            Method::Html => Format::Html,
            Method::Xhtml => Format::Xhtml,
            Method::Text | Method::Json | Method::Adaptive => Format::Text,
        };
        self.repertoire = match self.charset() {
            Charset::Utf8 | Charset::Utf16 | Charset::Utf16Be | Charset::Utf16Le => Repertoire::Unicode,
            Charset::Latin1 => Repertoire::Latin1,
            Charset::UsAscii => Repertoire::Ascii,
        };
        let markup = matches!(method, Method::Html | Method::Xhtml);
        if self.format != Format::Text && properties.indent.unwrap_or(markup) {
            self.indentation = Some(Indentation::new());
        }
        self.special = method != Method::Xml
            || self.indentation.is_some()
            || self.repertoire != Repertoire::Unicode
            || !properties.cdata_section_elements.is_empty()
            || !properties.character_map.is_empty();
        if !self.inside && matches!(method, Method::Xml | Method::Xhtml) && !properties.omit_xml_declaration {
            self.declaration();
        }
    }

    /// Begins an element that no other is around.
    pub(super) fn begin_at_top(&mut self, local: &str, traits: Traits) -> Result<(), OutputError> {
        if self.root.is_some() || self.loose_text {
            self.is_no_document()?;
        }
        if !self.inside && !std::mem::replace(&mut self.prolog.doctype, true) {
            self.doctype(local, traits);
        }
        if self.indentation.is_some() {
            self.end_line();
        }
        if self.root.is_none() {
            self.root = Some(self.out.len()..0);
        }
        self.quick = !self.special;
        self.check(0)
    }

    /// Takes note that the result has not just one element at its top.
    ///
    /// Errors: it is said to be a whole document, which only version 2.0 takes amiss.
    /// Source: XSLT and XQuery Serialization 3.1 §5.1.5, §5.1.7: SEPM0004.
    pub(super) fn is_no_document(&self) -> Result<(), OutputError> {
        let properties = self.properties;
        let whole = properties.doctype_system.is_some() || properties.standalone != Standalone::Omit;
        let markup = matches!(self.format, Format::Xml | Format::Xhtml);
        if whole && markup && properties.is_modern() && !self.inside { Err(OutputError::NoDocument) } else { Ok(()) }
    }

    /// Ends the line of the declaration or document type.
    pub(super) fn end_line(&mut self) {
        if std::mem::take(&mut self.prolog.line) {
            self.out.push(b'\n');
        }
    }

    fn declaration(&mut self) {
        let text = self.properties.declaration(self.format == Format::Xml);
        self.out.extend_from_slice(text.as_bytes());
        self.prolog.line = true;
        self.declared = self.out.len();
    }

    /// Source: XSLT and XQuery Serialization 3.1 §5.1.7, §6.1.7, §7.4.6.
    fn doctype(&mut self, local: &str, traits: Traits) {
        let properties = self.properties;
        let html = self.format == Format::Html;
        let html5 = traits.any(Traits::ROOT) && properties.is_html5() && !self.loose_text;
        let external = match (&properties.doctype_public, &properties.doctype_system) {
            (Some(public), Some(system)) => format!(" PUBLIC \"{public}\" {}", quoted(system)),
            (None, Some(system)) => format!(" SYSTEM {}", quoted(system)),
            (Some(public), None) if html => format!(" PUBLIC \"{public}\""),
            (_, None) if html5 => String::new(),
            (_, None) => return,
        };
        self.end_line();
        self.out.extend_from_slice(format!("<!DOCTYPE {local}{external}>\n").as_bytes());
    }

    /// Begins the content of the innermost element: a `head` says the content type first.
    ///
    /// Source: XSLT 1.0 §16.2, XSLT and XQuery Serialization 3.1 §6.1.14, §7.4.13.
    pub(super) fn begin_content(&mut self) {
        let head = self.open.last().is_some_and(|open| open.traits.any(Traits::HEAD));
        if !head || !self.properties.include_content_type {
            return;
        }
        if let Some(indentation) = &mut self.indentation {
            indentation.child(self.out.len() - self.begin);
        }
        let media_type = self.properties.media_type.as_deref().unwrap_or("text/html");
        let charset = if self.inside { "UTF-8" } else { self.properties.charset() };
        let end = if self.format == Format::Xhtml { " />" } else { ">" };
        let meta = format!(r#"<meta http-equiv="Content-Type" content="{media_type}; charset={charset}"{end}"#);
        self.out.extend_from_slice(meta.as_bytes());
    }

    /// Takes a `meta` back that says the content type, which was said already; whether it was one.
    pub(super) fn drop_content_type(&mut self, meta: &Open<'_>) -> bool {
        let says_content_type = std::mem::take(&mut self.says_content_type);
        let head = self.open.last().is_some_and(|open| open.traits.any(Traits::HEAD));
        if !says_content_type || !head || !self.properties.include_content_type {
            return false;
        }
        self.in_tag = false;
        self.attributes.drop_replaced(self.out);
        self.out.truncate(self.begin + meta.at as usize);
        if let Some(indentation) = &mut self.indentation {
            indentation.take_back();
        }
        true
    }
}

/// A system identifier in the quotes that it does not hold.
fn quoted(system: &str) -> String {
    if system.contains('"') { format!("'{system}'") } else { format!("\"{system}\"") }
}
