//! Name tests as numbers: each name is looked up once in a document, then integers are compared.

use std::cell::Cell;

use myelin_xml::{Atom, Document, ExpandedId, Kind, NodeId};

use crate::node_test::{Axis, NameTest, NodeTest};
use crate::pattern::PatternCache;

/// How many names of an expression are remembered; those behind are looked up again for each step.
const SIZE: usize = 8;

/// Where the numbers of names and compiled patterns are remembered.
pub(crate) enum NameCache<'a> {
    /// With other expressions.
    Shared(&'a NameTable<'a>),
    /// As long as one evaluation lasts.
    Own(OwnNames<'a>),
}

/// The numbers that the names of an expression have in the document last looked at.
#[derive(Default)]
pub(crate) struct OwnNames<'a> {
    document: Cell<Option<&'a Document>>,
    found: [Cell<Slot>; SIZE],
    patterns: PatternCache,
}

/// The numbers that the names of many expressions have, each in the document it was last looked for in.
///
/// The regular expressions that were last compiled while they ran are kept here, too.
///
/// Who numbers names over several expressions ([`Environment::name`](crate::Environment::name)) gives one table to all
/// their evaluations, so that a name is looked up once in a document and not once for each evaluation.
#[derive(Debug)]
pub struct NameTable<'a> {
    found: Box<[Entry<'a>]>,
    patterns: PatternCache,
}

/// In which document a name was last looked for, and what was found there.
type Entry<'a> = Cell<(Option<&'a Document>, Slot)>;

impl<'a> NameTable<'a> {
    /// A table for the numbers below `count`.
    pub fn new(count: usize) -> NameTable<'a> {
        let found = (0..count).map(|_| Cell::new((None, Slot::Unknown))).collect();
        NameTable { found, patterns: PatternCache::default() }
    }

    /// The number of a name in a document; `None`: the document does not have it.
    #[inline]
    pub fn expanded(&self, document: &'a Document, index: u32, namespace: &str, local: &str) -> Option<ExpandedId> {
        let Some(slot) = self.found.get(index as usize) else { return document.names().find(namespace, local) };
        match slot.get() {
            (Some(known), Slot::Found(expanded)) if std::ptr::eq(known, document) => Some(expanded),
            (Some(known), Slot::Absent) if std::ptr::eq(known, document) => None,
            _ => {
                let found = document.names().find(namespace, local);
                slot.set((Some(document), found.map_or(Slot::Absent, Slot::Found)));
                found
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
enum Slot {
    #[default]
    Unknown,
    /// The document has no such name.
    Absent,
    Found(ExpandedId),
}

/// A node test for one axis of one document.
#[derive(Clone, Copy)]
pub(crate) enum Test {
    Nothing,
    Any,
    /// Every node of a kind.
    Kind(Kind),
    Expanded(Kind, ExpandedId),
    InNamespace(Kind, Atom),
    Local(Kind, Atom),
    Document,
    /// A document whose only element has that name.
    DocumentOf(ExpandedId),
}

impl<'a> OwnNames<'a> {
    fn expanded(&self, document: &'a Document, index: u32, namespace: &str, local: &str) -> Option<ExpandedId> {
        let Some(slot) = self.found.get(index as usize) else { return document.names().find(namespace, local) };
        if !self.document.get().is_some_and(|known| std::ptr::eq(known, document)) {
            self.document.set(Some(document));
            self.found.iter().for_each(|slot| slot.set(Slot::Unknown));
        }
        if let Slot::Unknown = slot.get() {
            slot.set(document.names().find(namespace, local).map_or(Slot::Absent, Slot::Found));
        }
        match slot.get() {
            Slot::Found(expanded) => Some(expanded),
            Slot::Absent | Slot::Unknown => None,
        }
    }
}

impl<'a> NameCache<'a> {
    #[inline]
    pub(crate) fn new(shared: Option<&'a NameTable<'a>>) -> NameCache<'a> {
        shared.map_or_else(|| NameCache::Own(OwnNames::default()), NameCache::Shared)
    }

    /// Where patterns are compiled that are no literals.
    pub(crate) fn patterns(&self) -> &PatternCache {
        match self {
            NameCache::Shared(shared) => &shared.patterns,
            NameCache::Own(own) => &own.patterns,
        }
    }

    /// For another expression: what several share, and nothing of what this one has found.
    pub(crate) fn for_another(&self) -> NameCache<'a> {
        match self {
            NameCache::Shared(shared) => NameCache::Shared(shared),
            NameCache::Own(_) => NameCache::Own(OwnNames::default()),
        }
    }

    fn expanded(&self, document: &'a Document, namespace: &str, local: &str, index: u32) -> Option<ExpandedId> {
        match self {
            NameCache::Shared(shared) => shared.expanded(document, index, namespace, local),
            NameCache::Own(own) => own.expanded(document, index, namespace, local),
        }
    }

    /// What a node test means for the nodes of one axis.
    pub(crate) fn resolve(&self, test: &NodeTest, axis: Axis, document: &'a Document) -> Test {
        match test {
            NodeTest::Any => Test::Any,
            NodeTest::Name(name) if axis == Axis::Attribute => self.named(Kind::Attribute, name, document),
            NodeTest::Name(name) | NodeTest::Element(name) => self.named(Kind::Element, name, document),
            NodeTest::Attribute(name) => self.named(Kind::Attribute, name, document),
            NodeTest::Text => Test::Kind(Kind::Text),
            NodeTest::Comment => Test::Kind(Kind::Comment),
            NodeTest::Instruction(None) => Test::Kind(Kind::Instruction),
            NodeTest::Instruction(Some(target)) => match document.names().find("", target) {
                Some(expanded) => Test::Expanded(Kind::Instruction, expanded),
                None => Test::Nothing,
            },
            NodeTest::Document(None) => Test::Document,
            NodeTest::Document(Some(name)) => match self.named(Kind::Element, name, document) {
                Test::Expanded(_, expanded) => Test::DocumentOf(expanded),
                Test::Kind(_) => Test::Document,
                _ => Test::Nothing,
            },
            NodeTest::Namespace => Test::Nothing,
        }
    }

    fn named(&self, kind: Kind, name: &NameTest, document: &'a Document) -> Test {
        let atom = |text: &str| document.names().find_atom(text);
        match name {
            NameTest::Any => Test::Kind(kind),
            NameTest::InNamespace(uri) => atom(uri).map_or(Test::Nothing, |uri| Test::InNamespace(kind, uri)),
            NameTest::Local(local) => atom(local).map_or(Test::Nothing, |local| Test::Local(kind, local)),
            NameTest::Name { namespace, local, index } => {
                let expanded = self.expanded(document, namespace, local, *index);
                expanded.map_or(Test::Nothing, |expanded| Test::Expanded(kind, expanded))
            }
        }
    }
}

impl Test {
    #[inline]
    pub(crate) fn takes(self, document: &Document, node: NodeId) -> bool {
        match self {
            Test::Any => true,
            Test::Kind(kind) => document.kind(node) == kind,
            Test::Expanded(kind, expanded) => document.kind(node) == kind && document.expanded(node) == Some(expanded),
            Test::Nothing => false,
            other => other.takes_seldom(document, node),
        }
    }

    fn takes_seldom(self, document: &Document, node: NodeId) -> bool {
        let atoms = || document.name(node).map(|name| document.names().atoms(name));
        match self {
            Test::InNamespace(kind, uri) => {
                document.kind(node) == kind && atoms().is_some_and(|(.., namespace)| namespace == uri)
            }
            Test::Local(kind, local) => {
                document.kind(node) == kind && atoms().is_some_and(|(_, name, _)| name == local)
            }
            Test::Document => document.kind(node) == Kind::Document,
            Test::DocumentOf(expanded) => {
                let mut elements = document.children(node).filter(|child| document.kind(*child) == Kind::Element);
                document.kind(node) == Kind::Document
                    && elements.next().is_some_and(|element| document.expanded(element) == Some(expanded))
                    && elements.next().is_none()
            }
            _ => false,
        }
    }
}
