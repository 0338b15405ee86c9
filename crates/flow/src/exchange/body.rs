//! The body of the current message, in the forms that mediators work on.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use myelin_content::{Content, Format, Json, Tree, Unreadable, coding};
use myelin_json::convert::Switches;
use myelin_message::{Body, Built};
use myelin_xml::encoding::{self, Encoding};

use crate::context::RequestContext;
use crate::exchange::{Direction, Exchange};
use crate::fault::{Fault, Outcome};

impl Exchange {
    /// The body as XML: as it was built, or what JSON stands for. What nobody understands holds nothing that could be
    /// found.
    ///
    /// Errors: the bus's, where the body is not there; the sender's, where its JSON cannot be XML.
    pub fn tree(&self) -> Outcome<&Tree> {
        if let Some(tree) = self.message.body.built::<Tree>() {
            return Ok(tree);
        }
        match self.message.body.built::<Json>() {
            Some(json) => json.tree(&self.switches()).map_err(|error| self.unreadable(error)),
            None if self.is_opaque() => Ok(Tree::opaque()),
            None => Err(self.missing_body()),
        }
    }

    /// Whether expressions find nothing in the body, and it is no fault to look: nobody understands it, or it is binary
    /// and no mediator has made XML of it.
    pub fn is_opaque(&self) -> bool {
        matches!(self.content.format, Format::None | Format::Other | Format::Binary)
            && !matches!(self.message.body, Body::Empty | Body::Built(_) | Body::Gone)
    }

    /// The body as XML, to be changed; JSON that is changed so leaves as JSON again.
    ///
    /// Errors: as [`Exchange::tree`].
    pub fn tree_mut(&mut self) -> Outcome<&mut Tree> {
        if self.message.body.built::<Json>().is_some() {
            let switches = self.switches();
            let json = self.take_built::<Json>()?;
            let tree = json.into_tree(switches).map_err(|error| self.unreadable(error))?;
            self.message.body = Body::Built(tree);
        }
        self.message.body.built_mut::<Tree>().ok_or_else(Fault::missing)
    }

    /// The body as JSON: as it was built, or what XML stands for; `None` where there is nothing.
    ///
    /// Errors: the bus's, where the body is not there, or cannot be JSON.
    pub fn json(&self) -> Outcome<Option<&Json>> {
        if let Some(json) = self.message.body.built::<Json>() {
            return Ok(Some(json));
        }
        match self.message.body.built::<Tree>() {
            Some(tree) if tree.is_empty() => Ok(None),
            Some(tree) => tree.json(&self.switches()).map_err(|error| self.unreadable(error)),
            None if self.is_opaque() => Ok(None),
            None => Err(self.missing_body()),
        }
    }

    /// The body as JSON, to be changed; XML that is changed so leaves as XML again.
    ///
    /// Errors: as [`Exchange::json`].
    pub fn json_mut(&mut self) -> Outcome<&mut Json> {
        if self.message.body.built::<Tree>().is_some() {
            let switches = self.switches();
            let tree = self.take_built::<Tree>()?;
            let json = tree.into_json(switches).map_err(|error| self.unreadable(error))?;
            self.message.body = Body::Built(json);
        }
        self.message.body.built_mut::<Json>().ok_or_else(Fault::missing)
    }

    /// About how much memory the body takes where it is built.
    pub fn built_bytes(&self) -> usize {
        let body = &self.message.body;
        let of_json = || body.built::<Json>().map_or(0, |json| json.value().source().len());
        body.built::<Tree>().map_or_else(of_json, |tree| tree.document().size_bytes())
    }

    /// Has the body decoded by whoever reads it from here on, where it is coded; what is passed on unread stays coded.
    pub fn decode(&mut self, context: &RequestContext<'_>) {
        if let Some(codings) = self.content.codings.take() {
            let limit_bytes = context.definitions.settings.body_limit_bytes;
            coding::decode(&mut self.message.head, &mut self.message.body, &codings, limit_bytes);
        }
    }

    /// Counts the memory that the body has now.
    pub fn count_memory(&mut self) {
        let body = &self.message.body;
        let bytes = match body {
            Body::Bytes(bytes) => bytes.capacity(),
            Body::Built(_) => match (body.built::<Tree>(), body.built::<Json>()) {
                (Some(tree), _) => tree.memory_bytes(),
                (None, Some(json)) => json.memory_bytes(),
                (None, None) => 0,
            },
            _ => 0,
        };
        self.memory.set(bytes);
    }

    /// Takes out the built form that was found there.
    ///
    /// Errors: the bus's, where it is not there; the body is gone then.
    pub fn take_built<T: Built>(&mut self) -> Outcome<Box<T>> {
        let Body::Built(built) = self.message.body.take() else { return Err(Fault::missing()) };
        (built as Box<dyn Any>).downcast::<T>().map_err(|_| Fault::missing())
    }

    /// How JSON and XML stand for each other.
    pub fn switches(&self) -> Arc<Switches> {
        self.switches.clone().unwrap_or_default()
    }

    /// The fault that a body which cannot be read is of whoever sent it.
    pub fn unreadable(&self, error: Unreadable) -> Box<Fault> {
        Fault::of_content(error, self.direction == Direction::Response)
    }

    fn missing_body(&self) -> Box<Fault> {
        match self.message.body {
            Body::Gone => Fault::bus("The message's body was sent already and cannot be read again"),
            _ => Fault::bus("The message's body was not read"),
        }
    }

    /// Puts another body in the place of the message's, of the type that its content type says now.
    pub fn set_body(&mut self, body: Body) {
        self.content = Content::with_types(&self.message.head, self.types.as_deref());
        self.message.body = body;
        self.not_understood = false;
        self.passes.clear();
        self.count_memory();
    }

    /// The bytes of a body that was read as it came, if it is to be XML, and in UTF-8.
    pub fn utf8(&mut self) -> Option<&mut Vec<u8>> {
        if !self.content.format.is_xml() {
            return None;
        }
        let Body::Bytes(bytes) = &mut self.message.body else { return None };
        let detected = encoding::detect(self.content.detail.as_deref(), bytes, true).ok()??;
        (detected.encoding == Encoding::Utf8 && !bytes.is_empty()).then_some(bytes)
    }

    /// Puts other bytes in the place of a part of those that would be sent; the body is to be read again.
    ///
    /// Errors: the bus's, where the body is not there.
    pub fn splice(&mut self, part: Range<usize>, with: &[u8]) -> Outcome<()> {
        let mut bytes = match self.message.body.take() {
            Body::Bytes(bytes) => bytes,
            Body::Built(built) => built.into_bytes(),
            _ => return Err(Fault::missing()),
        };
        let (length, end) = (bytes.len(), part.start + with.len());
        let new_length = end + length - part.end;
        bytes.resize(length.max(new_length), 0);
        bytes.copy_within(part.end..length, end);
        bytes.truncate(new_length);
        bytes[part.start..end].copy_from_slice(with);
        self.set_bytes(bytes);
        Ok(())
    }

    /// Puts bytes in the place of a body of the same type that was built; the next message can use its memory.
    pub fn set_bytes(&mut self, bytes: Vec<u8>) {
        if let Body::Built(built) = std::mem::replace(&mut self.message.body, Body::Bytes(bytes)) {
            built.into_bytes();
        }
        self.passes.clear();
        self.count_memory();
    }
}
