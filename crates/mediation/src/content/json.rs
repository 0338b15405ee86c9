//! A JSON body as a tree over its text.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use myelin_json::convert::Switches;
use myelin_json::{Error, Match, Options, Path, Rules, Value};
use myelin_message::Built;

use super::convert::document_of;
use super::outcomes::Outcomes;
use super::{Tree, Unreadable, Way, into_utf8, utf8};

/// A body that was read as JSON, or XML that is looked at as JSON.
#[derive(Debug)]
pub(crate) struct Json {
    value: Value,
    changed: bool,
    /// The XML that it stands for, as it is now.
    tree: OnceLock<Box<Tree>>,
    /// The body whose payload it is, where that is XML: in it, it is sent.
    over: Option<Box<(Tree, Arc<Switches>)>>,
    /// What paths were found to lead to, as it is now.
    outcomes: Outcomes,
}

impl Json {
    /// Reads a body.
    ///
    /// Errors: the sender's, with the bytes it sent.
    pub(crate) fn read(mut bytes: Vec<u8>) -> Result<Json, (Error, Vec<u8>)> {
        match Value::take(&mut bytes, &Options::default()) {
            Ok(value) => {
                Ok(Json { value, changed: false, tree: OnceLock::new(), over: None, outcomes: Outcomes::default() })
            }
            Err(error) => Err((error, bytes)),
        }
    }

    /// The value to look at.
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    /// The body as it would be sent; of XML, the JSON that it stands for.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self.changed {
            false => utf8(self.value.source()),
            true => Cow::Owned(into_utf8(self.written())),
        }
    }

    /// The value to change: what came is not what is sent from now on.
    pub(crate) fn change(&mut self) -> &mut Value {
        self.changed = true;
        self.tree.take();
        self.outcomes = Outcomes::default();
        &mut self.value
    }

    /// What a path leads to, as it was found ahead or is found now.
    ///
    /// Errors: as [`Path::outcome`].
    pub(crate) fn outcome(&self, path: &Arc<Path>, rules: &Rules) -> Result<Cow<'_, Match>, Error> {
        match self.outcomes.find(path) {
            Some(outcome) => outcome.as_ref().map(Cow::Borrowed).map_err(Error::clone),
            None => path.outcome(&self.value, self.value.root(), rules).map(Cow::Owned),
        }
    }

    /// What paths were found to lead to, for who finds more, or whom what was found does not concern.
    pub(super) fn outcomes_mut(&mut self) -> &mut Outcomes {
        &mut self.outcomes
    }

    /// The XML that it stands for.
    ///
    /// Errors: where it is deeper or larger than XML may be.
    pub(crate) fn tree(&self, switches: &Switches) -> Result<&Tree, Unreadable> {
        if let (Some(over), false) = (&self.over, self.changed) {
            return Ok(&over.0);
        }
        let made = || -> Result<Tree, Unreadable> {
            let document = document_of(self.text().as_bytes(), switches)?;
            Ok(match &self.over {
                Some(over) => over.0.with_payload(&document)?,
                // How it is written is settled when somebody is about to change it.
                None => Tree::standing_for(document, None, Way::Xml),
            })
        };
        if self.tree.get().is_none() {
            // Nobody else sets it.
            let _ = self.tree.set(Box::new(made()?));
        }
        Ok(self.tree.get().map_or(Tree::nothing(), |tree| &**tree))
    }

    /// The XML that it stands for, where it is at hand; nobody may change it.
    pub(super) fn made_tree(&mut self) -> Option<&mut Tree> {
        match &mut self.over {
            Some(over) if !self.changed => Some(&mut over.0),
            _ => self.tree.get_mut().map(|tree| &mut **tree),
        }
    }

    /// Whether the XML that it stands for is at hand.
    pub(super) fn has_tree(&self) -> bool {
        self.tree.get().is_some() || (self.over.is_some() && !self.changed)
    }

    /// The XML that it stands for, to be changed in its place.
    ///
    /// Errors: as [`Json::tree`].
    pub(crate) fn into_tree(mut self: Box<Self>, switches: Arc<Switches>) -> Result<Box<Tree>, Unreadable> {
        self.tree(&switches)?;
        let Some(mut tree) = self.tree.take() else {
            return Ok(Box::new(self.over.map_or_else(Tree::empty, |over| over.0)));
        };
        if self.over.is_none() {
            tree.stand_for(self.into_bytes(), Way::Json(switches));
        }
        Ok(tree)
    }

    /// It is the payload of XML.
    pub(super) fn lie_over(&mut self, tree: Tree, switches: Arc<Switches>) {
        self.over = Some(Box::new((tree, switches)));
    }

    /// The JSON itself, even of what would be sent as XML.
    pub(crate) fn into_json(self) -> Vec<u8> {
        if self.changed { self.written() } else { self.value.into_source() }
    }

    /// Whether it was changed and is to be written as something else than JSON.
    pub(crate) fn is_to_be_converted(&self) -> bool {
        self.changed && self.over.is_some()
    }

    /// The bytes to send: the very ones that came, as long as nobody has changed anything.
    ///
    /// Errors: as [`Json::tree`].
    pub(super) fn into_sent(self) -> Result<Vec<u8>, Unreadable> {
        match (&self.over, self.changed) {
            (Some(over), true) => over.0.with_payload(&document_of(&self.written(), &over.1)?)?.into_sent(),
            (Some(_), false) => self.over.map_or_else(|| Ok(Vec::new()), |over| over.0.into_sent()),
            (None, _) => Ok(self.into_json()),
        }
    }

    fn written(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.value.source().len());
        self.value.write_document(&mut out);
        out
    }
}

/// Whether a text is JSON.
pub(crate) fn is_json(text: &str) -> bool {
    Value::parse(text.into(), &Options::default()).is_ok()
}

impl Built for Json {
    fn into_bytes(self: Box<Self>) -> Vec<u8> {
        super::sent(self.into_sent())
    }
}
