//! A handler takes the events of a document, one after the other.

use std::ops::ControlFlow;

use crate::event::{End, Event, Start, Text};

/// Takes the events that [`Parser::read`](crate::Parser::read) finds; `Break` says that this was enough.
///
/// Methods that are always inlined have the parts of an event in registers, and do not pay for those that they ignore.
pub trait Handler {
    /// A start tag, or an empty-element tag: then an end follows at once.
    fn start(&mut self, start: Start<'_>) -> ControlFlow<()>;
    /// An end tag, or the end of an empty-element tag.
    fn end(&mut self, end: End) -> ControlFlow<()>;
    /// Text or a CDATA section.
    fn text(&mut self, text: Text<'_>) -> ControlFlow<()>;
    /// Any other event; these are rare.
    fn other(&mut self, event: Event<'_>) -> ControlFlow<()>;
}

/// How far a call of [`Parser::read`](crate::Parser::read) came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// The handler had enough; the next call goes on behind the event that it took last.
    Enough,
    /// The input ends before the next event does: call again with more.
    More,
    /// The document is complete and well formed.
    End,
}
