//! A JSON body.

mod following;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use myelin_json::convert::Switches;
use myelin_json::{Error, Match, Options, Path, Rules, Value};
use myelin_message::Built;
use myelin_xml::Document;

use crate::convert::document_of;
use crate::output_form::OutputForm;
use crate::path_results::PathResults;
use crate::tree::Tree;
use crate::unreadable::{Unreadable, written_or_empty};
use crate::utf8::{into_utf8, utf8};

/// A body that was read as JSON, or the payload of an XML body that is worked on as JSON.
#[derive(Debug)]
pub struct Json {
    value: Value,
    changed: bool,
    /// The same as XML, as it is now.
    tree: OnceLock<Box<Tree>>,
    /// The XML body whose payload it is, in which it is sent.
    xml_body: Option<Box<XmlBody>>,
    /// What paths were found to lead to in the value, as it is now.
    path_results: PathResults,
}

/// An XML body whose payload is worked on as JSON.
#[derive(Debug)]
struct XmlBody {
    tree: Tree,
    switches: Arc<Switches>,
}

impl Json {
    /// Reads a body.
    ///
    /// Errors: the sender's, with the bytes it sent.
    pub fn read(mut bytes: Vec<u8>) -> Result<Json, (Error, Vec<u8>)> {
        match Value::take(&mut bytes, &Options::default()) {
            Ok(value) => Ok(Json {
                value,
                changed: false,
                tree: OnceLock::new(),
                xml_body: None,
                path_results: PathResults::default(),
            }),
            Err(error) => Err((error, bytes)),
        }
    }

    /// The value to look at.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The JSON as text.
    pub fn text(&self) -> Cow<'_, str> {
        match self.changed {
            false => utf8(self.value.source()),
            true => Cow::Owned(into_utf8(written(&self.value))),
        }
    }

    /// The value, to be changed: the bytes that came are not sent from now on.
    pub fn change(&mut self) -> &mut Value {
        self.changed = true;
        self.tree.take();
        self.path_results = PathResults::default();
        &mut self.value
    }

    /// What a path leads to, as [`Json::follow_all`] found it or as it is found now.
    ///
    /// Errors: as [`Path::outcome`].
    pub fn outcome(&self, path: &Arc<Path>, rules: &Rules) -> Result<Cow<'_, Match>, Error> {
        match self.path_results.find(path) {
            Some(outcome) => outcome.as_ref().map(Cow::Borrowed).map_err(Error::clone),
            None => path.outcome(&self.value, self.value.root(), rules).map(Cow::Owned),
        }
    }

    /// The same as XML, made when it is first asked for.
    ///
    /// Errors: the sender's, where it is deeper or larger than XML may be.
    pub fn tree(&self, switches: &Switches) -> Result<&Tree, Unreadable> {
        if let (Some(body), false) = (&self.xml_body, self.changed) {
            return Ok(&body.tree);
        }
        let made = || -> Result<Tree, Unreadable> {
            let document = document_of(self.text().as_bytes(), switches)?;
            Ok(match &self.xml_body {
                Some(body) => body.tree.with_payload(&document)?,
                // How it is written is settled when somebody is about to change it.
                None => Tree::converted(document, None, OutputForm::Xml),
            })
        };
        if self.tree.get().is_none() {
            // Nobody else sets it.
            let _ = self.tree.set(Box::new(made()?));
        }
        Ok(self.tree.get().map_or(Tree::opaque(), |tree| &**tree))
    }

    /// The XML that [`Json::tree`] made, if it did; nobody may change it.
    pub fn cached_tree(&mut self) -> Option<&mut Tree> {
        match &mut self.xml_body {
            Some(body) if !self.changed => Some(&mut body.tree),
            _ => self.tree.get_mut().map(|tree| &mut **tree),
        }
    }

    /// About how many bytes of memory it takes, with the XML that was made of it and the XML that it is sent in.
    pub fn memory_bytes(&self) -> usize {
        let trees = self.tree.get().map(|tree| tree.memory_bytes());
        let around = self.xml_body.as_ref().map(|body| body.tree.memory_bytes());
        self.value.memory_bytes() + trees.unwrap_or_default() + around.unwrap_or_default()
    }

    /// How many bytes of memory [`Json::tree`] takes at most, with the text that is read.
    ///
    /// Each element of an array becomes `<jsonElement>0</jsonElement>`, an element with a text.
    pub fn conversion_bytes(&self) -> usize {
        2 * self.value.source().len() + self.value.node_count() * (32 + 2 * Document::NODE_BYTES)
    }

    /// Whether [`Json::tree`] has nothing to make.
    pub fn has_tree(&self) -> bool {
        self.tree.get().is_some() || (self.xml_body.is_some() && !self.changed)
    }

    /// The same as XML, which takes its place and is sent as JSON.
    ///
    /// Errors: as [`Json::tree`].
    pub fn into_tree(mut self: Box<Self>, switches: Arc<Switches>) -> Result<Box<Tree>, Unreadable> {
        self.tree(&switches)?;
        let Some(mut tree) = self.tree.take() else {
            return Ok(Box::new(self.xml_body.map_or_else(Tree::empty, |body| body.tree)));
        };
        if self.xml_body.is_none() {
            tree.set_received(self.into_bytes(), OutputForm::Json(switches));
        }
        Ok(tree)
    }

    /// Makes it the payload of an XML body, in which it is sent.
    pub fn set_xml_body(&mut self, tree: Tree, switches: Arc<Switches>) {
        self.xml_body = Some(Box::new(XmlBody { tree, switches }));
    }

    /// The bytes of the JSON, even where it is sent within an XML body.
    pub fn into_json(self) -> Vec<u8> {
        if self.changed { written(&self.value) } else { self.value.into_source() }
    }

    /// Whether sending it needs a conversion: it was changed, and is sent within an XML body.
    pub fn is_to_be_converted(&self) -> bool {
        self.changed && self.xml_body.is_some()
    }

    /// The bytes to send: the very ones that came, as long as nobody has changed anything.
    ///
    /// Errors: as [`Json::tree`].
    pub fn into_sent(self) -> Result<Vec<u8>, Unreadable> {
        match (self.xml_body, self.changed) {
            (Some(body), true) => {
                let json = written(&self.value);
                body.tree.with_payload(&document_of(&json, &body.switches)?)?.into_sent()
            }
            (Some(body), false) => body.tree.into_sent(),
            (None, true) => Ok(written(&self.value)),
            (None, false) => Ok(self.value.into_source()),
        }
    }
}

fn written(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.source().len());
    value.write_document(&mut out);
    out
}

/// Whether a text is JSON.
pub fn is_json(text: &str) -> bool {
    Value::parse(text.into(), &Options::default()).is_ok()
}

impl Built for Json {
    fn into_bytes(self: Box<Self>) -> Vec<u8> {
        written_or_empty(self.into_sent())
    }
}
