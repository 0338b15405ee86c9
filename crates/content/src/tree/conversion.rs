//! A tree that stands for something else than XML, or is worked on as JSON.

use std::sync::{Arc, OnceLock};

use memchr::memmem;
use myelin_json::Value;
use myelin_json::convert::Switches;
use myelin_soap::Version;
use myelin_xml::{Document, NodeId, Refusal};

use crate::annotation::Annotation;
use crate::convert::json_of;
use crate::fragment::Fragment;
use crate::json::Json;
use crate::output_form::OutputForm;
use crate::tree::Tree;
use crate::unreadable::Unreadable;
use crate::wrapped;

impl Tree {
    /// Its payload as JSON, made when it is first asked for; `None` where it has no payload.
    ///
    /// Errors: the sender's, where it is too large for that.
    pub fn json(&self, switches: &Switches) -> Result<Option<&Json>, Unreadable> {
        if self.json.get().is_none() {
            let text = json_of(&self.document, self.envelope, switches)?;
            if text.is_empty() {
                return Ok(None);
            }
            // Nobody else sets it.
            let _ = self.json.set(Box::new(Json::read(text).map_err(|(error, _)| error)?));
        }
        Ok(self.json.get().map(|json| &**json))
    }

    /// The JSON that [`Tree::json`] made, if it did; nobody may change it.
    pub fn cached_json(&mut self) -> Option<&mut Json> {
        self.json.get_mut().map(|json| &mut **json)
    }

    /// About how many bytes of memory it takes, with the bytes that came and the JSON that was made of it.
    pub fn memory_bytes(&self) -> usize {
        let json = self.json.get().map_or(0, |json| json.memory_bytes());
        self.document.size_bytes() + self.received.as_ref().map_or(0, Vec::len) + json
    }

    /// How many bytes of memory [`Tree::json`] takes at most, with its text.
    ///
    /// An empty element of four bytes becomes a member with a key.
    pub fn conversion_bytes(&self) -> usize {
        3 * self.document.text_bytes() + self.document.node_count() * Value::NODE_BYTES
    }

    /// Whether [`Tree::json`] has nothing to make.
    pub fn has_json(&self) -> bool {
        self.json.get().is_some()
    }

    /// Its payload as JSON, which takes its place and is sent within this XML.
    ///
    /// Errors: as [`Tree::json`].
    pub fn into_json(mut self: Box<Self>, switches: Arc<Switches>) -> Result<Box<Json>, Unreadable> {
        self.json(&switches)?;
        let mut json = match self.json.take() {
            Some(json) => json,
            None => Box::new(Json::read(b"{}".to_vec()).map_err(|(error, _)| error)?),
        };
        json.set_xml_body(*self, switches);
        Ok(json)
    }

    /// A copy with another payload, the root element of `json`.
    ///
    /// Errors: the document's, where it is full.
    pub fn with_payload(&self, json: &Document) -> Result<Tree, Refusal> {
        let mut tree = Tree {
            document: self.document.clone(),
            envelope: self.envelope,
            plain: self.plain,
            around: self.around.clone(),
            changed: true,
            received: self.received.clone(),
            handed_out: None,
            output_form: self.output_form.clone(),
            json: OnceLock::new(),
            annotation: Annotation::default(),
        };
        let (document, Some(body), Some(root)) = (&mut tree.document, tree.envelope.body, json.root_element()) else {
            return Ok(tree);
        };
        let new = document.import(json, root)?;
        match tree.envelope.payload(document) {
            Some(payload) => document.replace(payload, new)?,
            None => document.append(body, new)?,
        }
        Ok(tree)
    }

    /// Sets what it is written as. Only XML in UTF-8 is still sent as the bytes that came.
    ///
    /// Errors: the sender's, where its XML cannot hold the parts of its package.
    pub fn write_as(&mut self, output_form: OutputForm) -> Result<(), Unreadable> {
        if let OutputForm::Package(package) = &self.output_form {
            self.annotation.clear();
            package.put_in(&mut self.document, self.received.as_deref().unwrap_or_default())?;
        }
        self.changed |= !(output_form.is_xml() && self.output_form.is_xml() && self.received.is_none());
        (self.output_form, self.received) = (output_form, None);
        Ok(())
    }

    /// A copy of its document, with the parts of its package in the places that refer to them.
    ///
    /// Errors: as [`Tree::write_as`].
    pub fn complete_document(&self) -> Result<Document, Unreadable> {
        let mut document = self.document.clone();
        self.complete_in(&mut document)?;
        Ok(document)
    }

    /// A copy of an element, as [`Tree::complete_document`].
    ///
    /// Errors: as [`Tree::write_as`].
    pub fn fragment(&self, element: NodeId) -> Result<Fragment, Unreadable> {
        let mut fragment = Fragment::copy(&self.document, element);
        if let OutputForm::Package(_) = &self.output_form {
            self.complete_in(Arc::make_mut(&mut fragment.document))?;
        }
        Ok(fragment)
    }

    fn complete_in(&self, document: &mut Document) -> Result<(), Unreadable> {
        match &self.output_form {
            OutputForm::Package(package) => package.put_in(document, self.received.as_deref().unwrap_or_default()),
            _ => Ok(()),
        }
    }

    /// The same content in an envelope of that version, or in none.
    ///
    /// Errors: as [`Tree::reshape`].
    pub fn enveloped(mut self: Box<Self>, version: Option<Version>) -> Result<Box<Self>, Refusal> {
        let is_so = if self.plain { version.is_none() } else { version == Some(self.envelope.version) };
        if !is_so {
            self.reshape(version)?;
        }
        Ok(self)
    }

    /// Sets the boundary between its parts, where it is written in parts.
    pub fn set_boundary(&mut self, boundary: &str) {
        match &self.output_form {
            OutputForm::FormData(_) => {
                self.output_form = OutputForm::FormData(boundary.into());
            }
            OutputForm::Package(package) => {
                self.output_form = OutputForm::Package(package.with_boundary(boundary).into());
            }
            _ => {}
        }
    }

    /// Whether sending it needs a conversion: it was changed, and either is not written as XML or XML is not wanted.
    pub fn is_to_be_converted(&self, wants_xml: bool) -> bool {
        self.changed && !(self.output_form.is_xml() && wants_xml)
    }

    /// A changed tree that is written as XML is written in that form instead: that of the body whose place it took.
    pub fn restore_output_form(&mut self, output_form: OutputForm) {
        if self.changed && self.output_form.is_xml() {
            self.output_form = output_form;
        }
    }

    /// A changed tree that stands for JSON, a form or text is written as XML.
    pub fn write_as_xml(&mut self) {
        if self.changed && matches!(self.output_form, OutputForm::Json(_) | OutputForm::Form | OutputForm::Text) {
            (self.output_form, self.received) = (OutputForm::Xml, None);
        }
    }

    /// Sets the bytes that it stands for, and what it is written as once it was changed.
    pub fn set_received(&mut self, received: Vec<u8>, output_form: OutputForm) {
        (self.received, self.output_form) = (Some(received), output_form);
    }

    /// The text or bytes that its payload stands for; `None` for any other payload.
    pub fn wrapped_bytes(&self) -> Option<Vec<u8>> {
        wrapped::bytes(&self.document, self.envelope)
    }

    /// What it is written as.
    pub fn output_form(&self) -> &OutputForm {
        &self.output_form
    }

    /// Whether the boundary between its parts stands in none of them, as they are now.
    ///
    /// Errors: as [`Tree::into_sent`].
    pub fn keeps_boundary(&self) -> Result<bool, Unreadable> {
        let Some((boundary, parts)) = self.output_form.boundary(&self.document, self.envelope).filter(|_| self.changed)
        else {
            return Ok(true);
        };
        let written = self.written()?;
        Ok(memmem::find_iter(&written, format!("--{boundary}").as_bytes()).count() == parts + 1)
    }
}
