//! Gathers items into a value that takes as little room as they allow.

use myelin_xml::Document;

use crate::error::Error;
use crate::run::Run;
use crate::value::{Item, Node, NodeRef, Value};

/// Items on their way into a [`Value`].
pub(super) struct Collector<'r, 'a> {
    run: &'r Run<'r, 'a>,
    first: Option<Item<'a>>,
    document: Option<&'a Document>,
    nodes: Vec<Node>,
    items: Vec<Item<'a>>,
}

impl<'r, 'a> Collector<'r, 'a> {
    pub(super) fn new(run: &'r Run<'r, 'a>) -> Collector<'r, 'a> {
        Collector { run, first: None, document: None, nodes: Vec::new(), items: Vec::new() }
    }

    #[inline]
    pub(super) fn push(&mut self, item: Item<'a>) -> Result<(), Error> {
        if let Item::Node(NodeRef { document, node }) = &item
            && self.document.is_some_and(|known| std::ptr::eq(known, *document))
        {
            self.run.build(size_of::<Node>())?;
            self.nodes.push(*node);
            return Ok(());
        }
        self.push_slowly(item)
    }

    fn push_slowly(&mut self, item: Item<'a>) -> Result<(), Error> {
        if let Some(document) = self.document.take() {
            self.items.extend(self.nodes.drain(..).map(|node| Item::Node(NodeRef { document, node })));
        }
        match (self.first.take(), self.items.is_empty()) {
            // One item alone allocates nothing.
            (None, true) => self.first = Some(item),
            (Some(Item::Node(first)), true)
                if item.node().is_some_and(|next| std::ptr::eq(next.document, first.document)) =>
            {
                self.document = Some(first.document);
                self.nodes.push(first.node);
                self.nodes.extend(item.node().map(|next| next.node));
            }
            (first, _) => {
                self.run.build(size_of::<Item<'_>>())?;
                self.items.extend(first);
                self.items.push(item);
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Value<'a> {
        match (self.first, self.document) {
            (Some(item), _) => Value::Item(item),
            (None, Some(document)) => Value::nodes(document, self.nodes),
            (None, None) => Value::from_items(self.items),
        }
    }
}
