//! A document as a tree over its source: flat arrays of small nodes, text left where it came in.
//!
//! Reading makes one node of 40 bytes for each element, attribute, declaration, text, comment and instruction, in
//! document order, and copies nothing: values are ranges of the source until a program changes them.
//! What was changed is marked on the way up to the root, so that [`write`](crate::write) copies all else as it came.
//! Nothing here recurses: a document as deep as the parser's limit allows is walked, written and dropped in a loop.

mod axes;
mod bindings;
mod build;
mod builder;
mod change;
mod copy;
mod create;
mod entries;
mod fixups;
mod namespaces;
mod node;
mod order;
mod places;
mod recorder;
mod transplant;
mod value;
mod view;

#[cfg(test)]
pub(crate) mod tests;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

pub use axes::{Descendants, Siblings};
pub(crate) use bindings::Bindings;
pub use build::Arena;
pub use builder::TreeBuilder;
pub use create::Refusal;
pub(crate) use entries::Entry;
pub(crate) use fixups::{Fixups, Prefix};
pub use node::{Kind, NodeId};
pub use recorder::TreeRecorder;
pub use view::View;

use crate::doctype::Declarations;
use crate::{Atom, ExpandedId, Name, NameId, Names};
use node::Node;

/// A document: its source, its nodes and their names.
///
/// Nodes made by programs and not yet put anywhere belong to the document too, without a parent.
#[derive(Clone, Debug)]
pub struct Document {
    /// What was read, to where the document node ends; behind it, what was taken over from other documents.
    source: String,
    /// The values that programs made, one behind the other.
    made: String,
    /// The first is a filler, so that 0 can be a link that leads nowhere; the second is the document node.
    nodes: Vec<Node>,
    names: Names,
    /// What its names took before any of its own was met: those of documents before it, whose memory it uses.
    known_bytes: usize,
    /// Where the XML declaration and the document type stand in the source, if they do.
    prolog: Prolog,
    /// Whether links are not those of reading any more, so that indices say nothing about order.
    relinked: bool,
    /// For each index its place in document order, when `relinked`.
    order: OnceLock<Box<[u32]>>,
    /// What namespaces ask for beyond what the tree declares.
    fixups: OnceLock<Fixups>,
    /// What the ancestors of the element declare that is seen as the root.
    inherited: Vec<(Atom, Atom)>,
    /// Whether texts are out of sight that stand in the source.
    hides_space: bool,
    /// Whether prefixes do not mean around the element that is seen alone what they meant there in the source.
    seen_elsewhere: bool,
    /// What its document type declares, where that was read.
    declarations: Option<Arc<Declarations>>,
    serial: Serial,
}

/// A number that no other document has: of those of one thread, the later a document is begun, the higher.
#[derive(Debug)]
struct Serial(u64);

impl Serial {
    fn next() -> Serial {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Serial(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Clone for Serial {
    fn clone(&self) -> Serial {
        Serial::next()
    }
}

/// What stands in the source before the root element and is no node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prolog {
    /// The XML declaration, where there is one.
    pub(crate) declaration: Option<Range<usize>>,
    /// Whether the declaration names another encoding than UTF-8, which the source is in now.
    pub(crate) other_encoding: bool,
    /// The document type, where there is one and it was skipped.
    pub(crate) doctype: Option<Range<usize>>,
}

impl Document {
    /// How much memory a node takes.
    pub const NODE_BYTES: usize = size_of::<Node>();

    /// The node above the root element.
    #[inline]
    pub fn document_node(&self) -> NodeId {
        NodeId::DOCUMENT
    }

    /// The first element below the document node; each document that was read has one.
    pub fn root_element(&self) -> Option<NodeId> {
        self.children(NodeId::DOCUMENT).find(|&child| self.kind(child) == Kind::Element)
    }

    /// How many nodes the document holds, those taken out of it included; also the greatest [`NodeId::index`].
    pub fn node_count(&self) -> usize {
        self.nodes.len() - 1
    }

    /// How much memory the document takes, about: its source, its nodes, their values, and the names that it brought.
    #[inline]
    pub fn size_bytes(&self) -> usize {
        let nodes = self.nodes.len() * size_of::<Node>();
        self.source.len() + nodes + self.made.len() + self.names.memory_bytes().saturating_sub(self.known_bytes)
    }

    /// How long all texts that it was made of are together: about what is written of it, if nothing was taken out.
    pub fn text_bytes(&self) -> usize {
        self.source.len() + self.made.len()
    }

    /// The names that the document uses.
    #[inline]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The document in UTF-8 as it was read; empty for one made by a program.
    pub fn source(&self) -> &str {
        &self.source[..self.read_bytes()]
    }

    /// Gives the source back and drops the tree.
    pub fn into_source(self) -> Vec<u8> {
        self.into_parts().0
    }

    /// How much of all source the document was read from.
    #[inline]
    fn read_bytes(&self) -> usize {
        self.at(NodeId::DOCUMENT).end as usize
    }

    /// Whether the document is as it was read: its source says all there is to say.
    pub fn is_as_read(&self) -> bool {
        self.at(NodeId::DOCUMENT).is_as_read()
    }

    /// What stands before the root element and is no node.
    pub(crate) fn prolog(&self) -> &Prolog {
        &self.prolog
    }

    /// What the document type declares, where there is one and it was read.
    pub fn doctype(&self) -> Option<&Declarations> {
        self.declarations.as_deref()
    }

    pub(crate) fn set_declarations(&mut self, declarations: Arc<Declarations>) {
        self.declarations = Some(declarations);
    }

    /// Whether an attribute is an ID: `xml:id`, and what the document type says, where it was read.
    pub fn is_id(&self, attribute: NodeId) -> bool {
        let Some(name) = self.name(attribute) else { return false };
        let name = self.names.get(name);
        if name.namespace == crate::XML_NAMESPACE && name.local == "id" {
            return true;
        }
        let declared = self.doctype().filter(|declared| declared.has_ids());
        declared.is_some_and(|declared| self.is_declared(attribute, |element, name| declared.is_id(element, name)))
    }

    /// Whether the document type says that an attribute refers to IDs.
    pub fn is_id_reference(&self, attribute: NodeId) -> bool {
        let declared = self.doctype().filter(|declared| declared.has_references());
        declared
            .is_some_and(|declared| self.is_declared(attribute, |element, name| declared.is_reference(element, name)))
    }

    /// Asks about the names of an attribute and its element as they are written.
    fn is_declared(&self, attribute: NodeId, asked: impl Fn(&str, &str) -> bool) -> bool {
        let Some(element) = self.parent(attribute) else { return false };
        asked(&self.qname(element).written(), &self.qname(attribute).written())
    }

    /// The URI of the external entity that a node was read from.
    pub fn entity_base(&self, node: NodeId) -> Option<&str> {
        self.doctype()?.base(self.range(node)?.start)
    }

    /// What the node is.
    #[inline]
    pub fn kind(&self, node: NodeId) -> Kind {
        self.at(node).kind
    }

    /// The name of an element or attribute; of an instruction its target, as a local name without namespace.
    #[inline]
    pub fn name(&self, node: NodeId) -> Option<NameId> {
        let node = self.at(node);
        match node.kind {
            Kind::Element | Kind::Attribute | Kind::Instruction => Some(node.name()),
            Kind::Document | Kind::Text | Kind::Comment => None,
        }
    }

    /// Namespace and local name of an element or attribute as one number: what XPath compares.
    #[inline]
    pub fn expanded(&self, node: NodeId) -> Option<ExpandedId> {
        self.name(node).map(|name| self.names.expanded(name))
    }

    /// The name of the node, spelled out; all parts are empty where a node has no name.
    pub fn qname(&self, node: NodeId) -> Name<'_> {
        match self.name(node) {
            Some(name) => self.names.get(name),
            None => Name { prefix: "", local: "", namespace: "" },
        }
    }

    #[inline]
    fn at(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }
}
