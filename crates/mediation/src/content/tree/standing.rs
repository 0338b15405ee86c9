//! A tree that stands for something else: the JSON that it is, and what it is written as.

use std::sync::{Arc, OnceLock};

use memchr::memmem;
use myelin_json::convert::Switches;
use myelin_soap::Version;
use myelin_xml::{Document, NodeId, Refusal};

use super::Tree;
use crate::content::convert::json_of;
use crate::content::{Fragment, Json, Unreadable, Way, wrapped};
use crate::expression::Answers;

impl Tree {
    /// The JSON that it stands for; `None` where there is nothing in it.
    ///
    /// Errors: where it is too large for that.
    pub(crate) fn json(&self, switches: &Switches) -> Result<Option<&Json>, Unreadable> {
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

    /// The JSON that it stands for, where it is at hand; nobody may change it.
    pub(in crate::content) fn made_json(&mut self) -> Option<&mut Json> {
        self.json.get_mut().map(|json| &mut **json)
    }

    /// Whether the JSON that it stands for is at hand.
    pub(crate) fn has_json(&self) -> bool {
        self.json.get().is_some()
    }

    /// The JSON that it stands for, to be changed in its place.
    ///
    /// Errors: as [`Tree::json`].
    pub(crate) fn into_json(mut self: Box<Self>, switches: Arc<Switches>) -> Result<Box<Json>, Unreadable> {
        self.json(&switches)?;
        let mut json = match self.json.take() {
            Some(json) => json,
            None => Box::new(Json::read(b"{}".to_vec()).map_err(|(error, _)| error)?),
        };
        json.lie_over(*self, switches);
        Ok(json)
    }

    /// The same with another payload, that JSON stands for.
    pub(crate) fn with_payload(&self, json: &Document) -> Result<Tree, Refusal> {
        let mut tree = Tree {
            document: self.document.clone(),
            envelope: self.envelope,
            plain: self.plain,
            around: self.around.clone(),
            changed: true,
            came: self.came.clone(),
            apart: None,
            way: self.way.clone(),
            json: OnceLock::new(),
            answers: Answers::default(),
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

    /// From now on it is sent in that way, which the bytes that came are not, save for XML in UTF-8.
    ///
    /// Errors: the sender's, where what its package holds is to stand in it and has no room.
    pub(crate) fn write_as(&mut self, way: Way) -> Result<(), Unreadable> {
        if let Way::Package(package) = &self.way {
            self.answers = Answers::default();
            package.put_in(&mut self.document, self.came.as_deref().unwrap_or_default())?;
        }
        self.changed |= !(way.is_xml() && self.way.is_xml() && self.came.is_none());
        (self.way, self.came) = (way, None);
        Ok(())
    }

    /// A copy of its document, in which that stands which it refers to in other parts of a package.
    ///
    /// Errors: as [`Tree::write_as`].
    pub(crate) fn complete(&self) -> Result<Document, Unreadable> {
        let mut document = self.document.clone();
        self.complete_in(&mut document)?;
        Ok(document)
    }

    /// A copy of an element, as [`Tree::complete`].
    ///
    /// Errors: as [`Tree::write_as`].
    pub(crate) fn fragment(&self, element: NodeId) -> Result<Fragment, Unreadable> {
        let mut fragment = Fragment::copy(&self.document, element);
        if let Way::Package(_) = &self.way {
            self.complete_in(Arc::make_mut(&mut fragment.document))?;
        }
        Ok(fragment)
    }

    fn complete_in(&self, document: &mut Document) -> Result<(), Unreadable> {
        match &self.way {
            Way::Package(package) => package.put_in(document, self.came.as_deref().unwrap_or_default()),
            _ => Ok(()),
        }
    }

    /// The same in an envelope of that version, or in none.
    ///
    /// Errors: as [`Tree::reshape`].
    pub(crate) fn enveloped(mut self: Box<Self>, version: Option<Version>) -> Result<Box<Self>, Refusal> {
        let is_so = if self.plain { version.is_none() } else { version == Some(self.envelope.version) };
        if !is_so {
            self.reshape(version)?;
        }
        Ok(self)
    }

    /// Where it is written in parts anew, that boundary stands between them.
    pub(crate) fn rebound(&mut self, boundary: &str) {
        match &self.way {
            Way::FormData(_) => self.way = Way::FormData(boundary.into()),
            Way::Package(package) => self.way = Way::Package(package.bounded(boundary).into()),
            _ => {}
        }
    }

    /// Whether it was changed and is to be written as something else than XML; or is XML where that is not wanted.
    pub(crate) fn is_to_be_converted(&self, wants_xml: bool) -> bool {
        self.changed && !(self.way.is_xml() && wants_xml)
    }

    /// XML that takes the place of something that is none is written as that.
    pub(crate) fn align(&mut self, way: Way) {
        if self.changed && self.way.is_xml() {
            self.way = way;
        }
    }

    /// It stands for those bytes, and is written as what they are.
    pub(crate) fn stand_for(&mut self, came: Vec<u8>, way: Way) {
        (self.came, self.way) = (Some(came), way);
    }

    /// What stands in the element of text or of bytes, if that is the payload.
    pub(crate) fn held(&self) -> Option<Vec<u8>> {
        wrapped::held(&self.document, self.envelope)
    }

    /// What it is written as.
    pub(crate) fn way(&self) -> &Way {
        &self.way
    }

    /// Whether the boundary between its parts is in none of them, as it is now.
    ///
    /// Errors: as [`Tree::into_sent`].
    pub(crate) fn keeps_boundary(&self) -> Result<bool, Unreadable> {
        let Some((boundary, parts)) = self.way.boundary(&self.document, self.envelope).filter(|_| self.changed) else {
            return Ok(true);
        };
        let written = self.written()?;
        Ok(memmem::find_iter(&written, format!("--{boundary}").as_bytes()).count() == parts + 1)
    }
}
