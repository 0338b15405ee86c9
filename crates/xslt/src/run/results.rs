//! `xsl:result-document` (XSLT 3.0 §25) and `exsl:document`: results beside the one that the transformation itself has.

use std::borrow::Cow;
use std::rc::Rc;

use myelin_xpath::{Value, Version};

use super::failure::{Failure, Outcome};
use super::focus::Focus;
use super::kept::Results;
use super::machine::Machine;
use super::receiver::Receiver;
use crate::functions::resolve;
use crate::name::ExpandedName;
use crate::options::{Form, ResultDocument as Made};
use crate::output::{Method, Output, OutputProperties, parameters, values};
use crate::program::{ResultDocument, ScopeId, Writer};
use crate::resolver::Wanted;
use crate::transformation::Delivery;

/// How many results there can be beside the transformation's own.
const MOST: usize = 10_000;

/// How far the results had come.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    begun: usize,
    made: usize,
    own: bool,
}

impl Results {
    pub(super) fn mark(&self) -> Mark {
        Mark { begun: self.begun.len(), made: self.made.len(), own: self.own.is_some() }
    }

    /// Forgets what was begun since then and was not ended.
    /// What was ended stays written.
    pub(super) fn take_back(&mut self, mark: Mark) {
        self.begun.truncate(mark.begun);
        self.begun.extend(self.made[mark.made.min(self.made.len())..].iter().map(|made| made.uri.clone()));
        if !mark.own {
            self.own = None;
        }
    }

    /// Whether a result goes to a URI.
    pub(super) fn has(&self, uri: &str) -> bool {
        self.begun.iter().any(|begun| begun == uri)
    }
}

impl<'a> Machine<'a> {
    /// `xsl:result-document`, and `exsl:document`
    #[inline(never)]
    pub(super) fn result_document(&'a self, result: &'a ResultDocument, focus: &Focus<'a>) -> Outcome<()> {
        if self.temporary.get() && result.writer == Writer::Standard {
            let message = "xsl:result-document cannot write while a variable or the result of a function is made";
            return Err(Failure::new("XTDE1480", message));
        }
        let properties = self.result_properties(result, focus)?;
        let href = self.optional_avt(result.href.as_ref(), focus)?;
        let href = href.as_deref().unwrap_or_default().trim();
        let base = self.options.output_uri.unwrap_or_default();
        let around = self.output_uri.borrow().clone();
        let uri = match (href, &around) {
            ("", _) => base.to_owned(),
            // One inside another lies beside that, as stylesheets for xsltproc have it.
            (href, Some(around)) if result.writer == Writer::Exslt => resolve(href, around),
            (href, _) => resolve(href, base),
        };
        let is_own = href.is_empty() || (!base.is_empty() && uri == base);
        let properties = if is_own { self.in_form(properties) } else { properties };
        if !is_own && !self.options.other_results {
            let message =
                format!("{href:?} cannot be written: results beside the stylesheet's own are not allowed here");
            return Err(Failure::new("REFUSED", message));
        }
        {
            let mut results = self.results.borrow_mut();
            if results.has(&uri) {
                return Err(Failure::new("XTDE1490", format!("two results go to {uri:?}")));
            }
            if results.begun.len() >= MOST {
                return Err(Failure::limit(format!("there are more than {MOST} results")));
            }
            results.begun.push(uri.clone());
        }
        if self.documents.known.borrow().iter().any(|(known, _)| *known == uri) {
            return Err(Failure::new("XTDE1500", format!("{uri:?} was read before, and cannot be written")));
        }
        let outer = self.output_uri.replace(Some(Rc::from(uri.as_str())));
        if self.delivery != Delivery::Serialized {
            let value = self.value_of_result(|receiver| self.run_inside(&result.body, focus, receiver));
            self.output_uri.replace(outer);
            let value = value?;
            self.delivered.borrow_mut().push((Some(uri).filter(|_| !is_own), value));
            return Ok(());
        }
        let written = self.written(&properties, is_own, |receiver| self.run_inside(&result.body, focus, receiver));
        self.output_uri.replace(outer);
        let bytes = written?;
        self.build(bytes.len() + uri.len() + size_of::<Made>())?;
        let made = Made { uri, bytes, properties: properties.into_owned() };
        let mut results = self.results.borrow_mut();
        results.bytes = results.bytes.saturating_add(made.bytes.len());
        if is_own {
            results.own = Some(made);
        } else {
            results.made.push(made);
        }
        Ok(())
    }

    /// A result as a tree, or as the value that it is.
    pub(super) fn value_of_result(
        &'a self,
        run: impl FnOnce(&mut Receiver<'_, 'a>) -> Outcome<()>,
    ) -> Outcome<Value<'a>> {
        if self.delivery == Delivery::Raw {
            let mut receiver = Receiver::items(self);
            run(&mut receiver)?;
            return Ok(receiver.into_items());
        }
        let mut receiver = Receiver::new(Output::fragment(self.options.limits.output_bytes), self.late());
        run(&mut receiver)?;
        self.tree_of(receiver.into_output().finish_fragment()?)
    }

    /// A result as bytes.
    pub(super) fn written(
        &'a self,
        properties: &OutputProperties,
        is_own: bool,
        run: impl FnOnce(&mut Receiver<'_, 'a>) -> Outcome<()>,
    ) -> Outcome<Vec<u8>> {
        let used = self.results.borrow().bytes;
        let limit = self.options.limits.output_bytes.saturating_sub(used);
        let mut bytes = Vec::new();
        if let Some((code, message)) = properties.refusal() {
            return Err(Failure::new(code, message));
        }
        let around = if is_own { self.around() } else { None };
        if properties.is_direct() {
            let output = Output::bytes(properties, around.as_deref(), limit, &mut bytes);
            let mut receiver = Receiver::new(output, self.late());
            run(&mut receiver)?;
            receiver.into_output().finish()?;
        } else {
            let mut receiver = Receiver::items(self);
            run(&mut receiver)?;
            self.write_items(&receiver.into_items(), properties, limit, &mut bytes)?;
        }
        Ok(bytes)
    }

    /// Writes items as the properties say.
    pub(super) fn write_items(
        &self,
        value: &Value<'a>,
        properties: &OutputProperties,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Outcome<()> {
        values::write(value, properties, Version::V3, limit, out).map_err(|(code, message)| {
            if code == "LIMIT" { Failure::limit(message) } else { Failure::new(code, message) }
        })
    }

    /// What is said of a result: by the `xsl:output` it names, by a document, and by the instruction itself.
    fn result_properties(
        &'a self,
        result: &'a ResultDocument,
        focus: &Focus<'a>,
    ) -> Outcome<Cow<'a, OutputProperties>> {
        let defined = match self.optional_avt(result.format.as_ref(), focus)? {
            None if result.writer == Writer::Exslt => Cow::Owned(OutputProperties::default()),
            None => Cow::Borrowed(&self.program.output),
            Some(written) => Cow::Borrowed(self.output_named(&written, result.scope)?),
        };
        let plain = !self.program.compatible
            && result.attributes.is_empty()
            && result.characters.is_empty()
            && result.parameter_document.is_none();
        if plain && self.options.form == Form::Document {
            return Ok(defined);
        }
        let mut properties = defined.into_owned();
        if result.writer == Writer::Standard {
            // XHTML is a default of the instruction whatever the stylesheet's version (XSLT 3.0 §26).
            properties.set_stylesheet_version(properties.stylesheet_version.max(2.0));
        }
        if let Some(href) = self.optional_avt(result.parameter_document.as_ref(), focus)? {
            let base = &self.program.scopes[result.scope.0 as usize].base;
            let read = self.options.resolver.resolve(href.trim(), base, Wanted::Document);
            let document = read.and_then(|resource| parameters::read(&resource.bytes));
            let document = document.map_err(|message| Failure::new("SEPM0017", message))?;
            parameters::apply(&document, &mut properties).map_err(|(code, message)| Failure::new(code, message))?;
        }
        for (name, value) in &result.attributes {
            let value = self.avt(value, focus)?;
            self.set_property(&mut properties, name, &value, result.scope)?;
        }
        for (character, text) in &result.characters {
            properties.map_character(*character, text);
        }
        Ok(Cow::Owned(properties))
    }

    fn set_property(&self, properties: &mut OutputProperties, name: &str, value: &str, scope: ScopeId) -> Outcome<()> {
        if matches!(name, "cdata-section-elements" | "suppress-indentation") {
            let scope = &self.program.scopes[scope.0 as usize];
            let expand = |word: &str| match word.contains([':', '{']) {
                true => scope.expand(word),
                false => Some(ExpandedName::new(scope.namespace("").unwrap_or(""), word)),
            };
            let names: Option<Vec<ExpandedName>> = value.split_ascii_whitespace().map(expand).collect();
            let wrong = || Failure::new("XTDE0290", format!("{name}: {value:?} has a prefix that stands for nothing"));
            properties.add_names(name, names.ok_or_else(wrong)?);
            return Ok(());
        }
        if name == "method" && value.contains(':') {
            return Ok(());
        }
        properties.set(name, value).map_err(|message| Failure::new("XTDE0030", message))
    }

    fn output_named(&self, written: &str, scope: ScopeId) -> Outcome<&'a OutputProperties> {
        let name = self.program.scopes[scope.0 as usize].expand(written);
        let known = name.and_then(|name| self.program.outputs.iter().find(|(known, _)| *known == name));
        let unknown = || Failure::new("XTDE1460", format!("there is no xsl:output with the name {written:?}"));
        known.map(|(_, properties)| properties).ok_or_else(unknown)
    }

    /// What prefixes mean around the transformation's own result, where that becomes part of a document.
    pub(super) fn around(&self) -> Option<Vec<(&'a str, &'a str)>> {
        match self.options.form {
            Form::Document => None,
            Form::Element => Some(Vec::new()),
            // What the view shows as in scope above its root.
            Form::InPlace => Some(self.source.document.namespaces_in_scope(self.source.document.document_node())),
        }
    }

    /// How the transformation's own result is written.
    pub(super) fn in_form<'p>(&self, own: Cow<'p, OutputProperties>) -> Cow<'p, OutputProperties> {
        match (self.options.form, own.method) {
            (Form::Document, _) => own,
            (_, Some(Method::Xml | Method::Text)) if own.normalization.is_none() && own.unwritable.is_none() => own,
            (_, method) => Cow::Owned(OutputProperties {
                method: method.filter(|method| *method == Method::Text).or(Some(Method::Xml)),
                normalization: None,
                unwritable: None,
                build_tree: None,
                ..own.into_owned()
            }),
        }
    }

    /// Runs something whose result is a value, so that no result can be written meanwhile.
    #[inline]
    pub(super) fn temporarily<T>(&self, run: impl FnOnce() -> T) -> T {
        let outer = self.temporary.replace(true);
        let result = run();
        self.temporary.set(outer);
        result
    }
}
