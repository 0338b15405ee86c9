//! The body of the current message, in the forms that mediators work on.

use std::ops::Range;

use myelin_message::Body;
use myelin_xml::encoding::{self, Encoding};

use super::{Content, Exchange, Format};
use crate::content::{Answer, Json, Query, Scans, Tree};
use crate::engine;
use crate::fault::{Fault, Outcome};

impl Exchange {
    /// The body as XML, where it was built as that; what is neither XML nor JSON holds nothing that could be found.
    ///
    /// Errors: the bus's, where it is JSON.
    pub(crate) fn tree(&self) -> Outcome<&Tree> {
        match self.message.body.built::<Tree>() {
            Some(tree) => Ok(tree),
            None if self.is_opaque() => Ok(self.nothing.get_or_init(|| Box::new(Tree::empty()))),
            None => Err(self.is_no("XML")),
        }
    }

    /// Whether the body is neither XML nor JSON: as in Synapse, nothing is found there, and it is no fault to look.
    pub(crate) fn is_opaque(&self) -> bool {
        matches!(self.content.format, Format::None | Format::Other)
            && !matches!(self.message.body, Body::Empty | Body::Built(_) | Body::Gone)
    }

    /// The same, to be changed.
    pub(crate) fn tree_mut(&mut self) -> Outcome<&mut Tree> {
        if self.message.body.built::<Tree>().is_none() {
            return Err(self.is_no("XML"));
        }
        self.message.body.built_mut::<Tree>().ok_or_else(engine::missing)
    }

    /// The body as JSON, where it was built as that; `None` where there is no body.
    ///
    /// Errors: the bus's, where it is something else.
    pub(crate) fn json(&self) -> Outcome<Option<&Json>> {
        match self.message.body.built::<Json>() {
            Some(json) => Ok(Some(json)),
            None if self.is_opaque() || self.message.body.built::<Tree>().is_some_and(Tree::is_empty) => Ok(None),
            None => Err(self.is_no("JSON")),
        }
    }

    /// The same, to be changed.
    pub(crate) fn json_mut(&mut self) -> Outcome<&mut Json> {
        if self.message.body.built::<Json>().is_none() {
            return Err(self.is_no("JSON"));
        }
        self.message.body.built_mut::<Json>().ok_or_else(engine::missing)
    }

    fn is_no(&self, wanted: &str) -> Box<Fault> {
        match self.message.body {
            Body::Gone => Fault::bus("The message's body was sent already and cannot be read again"),
            _ => Fault::bus(format!("The message's body is no {wanted}; converting it is not offered yet")),
        }
    }

    /// The answer to a query on a body that was not built.
    pub(crate) fn answer_of(&self, query: &Query) -> Option<Answer<'_>> {
        if let Body::Built(_) = self.message.body { None } else { self.scans.answer(query) }
    }

    /// Puts another body in the place of the message's, of the type that its content type says now.
    pub(crate) fn set_body(&mut self, body: Body) {
        self.content = Content::of(&self.message.head);
        self.message.body = body;
        self.not_understood = false;
        self.scans = Scans::default();
    }

    /// The bytes of a body that was read as it came, if it is to be XML, and in UTF-8.
    pub(crate) fn utf8(&mut self) -> Option<&mut Vec<u8>> {
        if self.is_opaque() || self.content.format == Format::Json {
            return None;
        }
        let Body::Bytes(bytes) = &mut self.message.body else { return None };
        let detected = encoding::detect(self.content.charset.as_deref(), bytes, true).ok()??;
        (detected.encoding == Encoding::Utf8 && !bytes.is_empty()).then_some(bytes)
    }

    /// Puts other bytes in the place of a part of those that would be sent; the body is to be read again.
    ///
    /// Errors: the bus's, where the body is not there.
    pub(crate) fn splice(&mut self, part: Range<usize>, with: &[u8]) -> Outcome<()> {
        let mut bytes = match self.message.body.take() {
            Body::Bytes(bytes) => bytes,
            Body::Built(built) => built.into_bytes(),
            _ => return Err(engine::missing()),
        };
        let behind = bytes.split_off(part.end);
        bytes.truncate(part.start);
        bytes.extend_from_slice(with);
        bytes.extend_from_slice(&behind);
        self.set_bytes(bytes);
        Ok(())
    }

    /// Puts bytes in the place of a body of the same type that was built; the next message can use its memory.
    pub(crate) fn set_bytes(&mut self, bytes: Vec<u8>) {
        if let Body::Built(built) = std::mem::replace(&mut self.message.body, Body::Bytes(bytes)) {
            built.into_bytes();
        }
        self.scans = Scans::default();
    }
}
