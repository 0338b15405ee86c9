//! The body of a message as it is now, looked at once more to tell why a condition came out as it did.

use std::task::{Context, Waker};

use myelin_content::{Format, Tree};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_message::Body;
use myelin_xml::{Event, Options, Parser, Step};
use myelin_xpath::{Error, Host, Item, Value};

use crate::host::MessageHost;
use crate::places::MessagePart;

/// So many bytes of a body on the wire are read again.
const LIMIT_BYTES: usize = 256 << 10;

/// The XML of a message: its own, or what has come of it.
pub(super) enum SeenBody<'a> {
    Built(&'a Tree),
    Read(Box<Tree>),
}

impl<'a> SeenBody<'a> {
    /// That of a message whose body stays as it is, with the bytes that were shown before if not more; `None` where it is
    /// no XML, or compressed.
    pub(super) fn of(exchange: &'a Exchange, context: &RequestContext<'_>, shown_bytes: usize) -> Option<SeenBody<'a>> {
        let Body::Wire(wire) = &exchange.message.body else {
            return exchange.tree().ok().map(SeenBody::Built);
        };
        let content = &exchange.content;
        match content.format {
            Format::None | Format::Other => return Some(SeenBody::empty()),
            format if !format.is_xml() || content.codings.is_some() => return None,
            _ => {}
        }
        let mut seen = None;
        let mut look = |bytes: &[u8], is_all: bool| {
            let shown = &bytes[..bytes.len().min(LIMIT_BYTES)];
            // A body may be shown in pieces again.
            let is_enough = is_all || bytes.len() >= shown_bytes;
            if is_enough {
                seen = if is_all && shown.len() == bytes.len() { Some(shown.to_vec()) } else { closed(shown) };
            }
            is_enough
        };
        let limit_bytes = context.definitions.settings.body_limit_bytes;
        // It only shows what is there already, and asks for no more: nothing has to be woken.
        let _ = wire.source.poll_look(wire.ticket, &mut Context::from_waker(Waker::noop()), limit_bytes, &mut look);
        let tree = Tree::read(seen?, content.charset()).ok()?;
        Some(SeenBody::Read(Box::new(tree)))
    }

    /// One in which nothing is found.
    pub(super) fn empty() -> SeenBody<'a> {
        SeenBody::Built(Tree::opaque())
    }

    pub(super) fn tree(&self) -> &Tree {
        match self {
            SeenBody::Built(tree) => tree,
            SeenBody::Read(tree) => tree,
        }
    }
}

/// The beginning of a document with the elements closed that are open at its end; `None` where none has begun.
fn closed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut parser = Parser::new(Options::default());
    let (mut open, mut end) = (Vec::new(), 0);
    while let Ok(Step::Event(event)) = parser.next(bytes, false) {
        match &event {
            Event::Start(start) => {
                let name = start.names().get(start.name);
                let colon = if name.prefix.is_empty() { "" } else { ":" };
                open.push(format!("</{}{colon}{}>", name.prefix, name.local));
            }
            Event::End(_) => drop(open.pop()),
            _ => {}
        }
        end = parser.position();
    }
    (!open.is_empty())
        .then(|| [&bytes[..end], open.iter().rev().map(String::as_str).collect::<String>().as_bytes()].concat())
}

/// What an expression asks of an exchange, with its body as it was seen.
pub(super) struct SeenHost<'a> {
    pub(super) message: MessageHost<'a>,
    pub(super) tree: &'a Tree,
}

impl<'a> Host<'a> for SeenHost<'_> {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        match MessagePart::of_slot(slot) {
            Some(part) => {
                let node = part.find(self.tree);
                Ok(node.map_or(Value::EMPTY, |node| Value::node(self.tree.document(), node)))
            }
            None => self.message.variable(slot),
        }
    }

    fn call(&'a self, slot: u32, arguments: &[Value<'a>], item: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        self.message.call(slot, arguments, item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_ends_early_is_closed() {
        let check = |text: &str, expected: Option<&str>| {
            let found = closed(text.as_bytes());
            assert_eq!(found.as_deref().map(|bytes| std::str::from_utf8(bytes).unwrap()), expected, "{text}");
        };
        check("<a><p:b xmlns:p='u'><c/><d>IBM</d><e", Some("<a><p:b xmlns:p='u'><c/><d>IBM</d></p:b></a>"));
        check("<?xml version='1.0'?> <a x='", None);
        check("", None);
    }
}
