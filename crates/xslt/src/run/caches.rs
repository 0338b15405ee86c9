//! What a transformation has worked out and may need again: indexes of keys, tables of rules, positions and counts.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use myelin_xml::{Document, NodeId};

use crate::pattern::PatternStep;
use crate::program::Number;

/// The nodes of a document by the values of a key.
pub(super) type Index = HashMap<String, Vec<NodeId>>;

/// The indexes that were made, by key and by where the document is kept, which it is as long as they are.
///
/// `None`: one is being made, and whoever asks now is part of its own definition.
pub(super) type Indexes = HashMap<(usize, *const Document), Option<Rc<Index>>>;

/// The lists of a mode by the expanded names of one document.
pub(super) struct Table {
    /// By the number of an expanded name: the place in the list of names and one; 0: no rule asks for it.
    pub(super) elements: Box<[u32]>,
    pub(super) attributes: Box<[u32]>,
}

/// Tables of those modes and documents that were met.
pub(super) struct Tables<'a> {
    /// Of the source, by mode.
    pub(super) source: Box<[OnceCell<Table>]>,
    /// Of other documents; the last few.
    pub(super) others: RefCell<Vec<(u32, &'a Document, Rc<Table>)>>,
}

/// Tables of other documents that are kept.
pub(super) const MOST_TABLES: usize = 8;

impl Tables<'_> {
    pub(super) fn new(modes: usize) -> Self {
        Tables { source: (0..modes).map(|_| OnceCell::new()).collect(), others: RefCell::default() }
    }
}

/// The nodes that steps with positions took below the parents they were last asked about.
#[derive(Default)]
pub(super) struct Positions<'a> {
    pub(super) last: RefCell<Vec<Taken<'a>>>,
}

pub(super) struct Taken<'a> {
    pub(super) step: &'a PatternStep,
    pub(super) document: &'a Document,
    pub(super) parent: NodeId,
    /// In document order.
    pub(super) nodes: Vec<NodeId>,
}

/// How many of them are kept.
pub(super) const MOST_POSITIONS: usize = 8;

/// What an instruction last counted: nodes are mostly numbered one behind the other.
#[derive(Default)]
pub(super) struct Counted<'a> {
    last: Cell<Option<(&'a Number, &'a Document, NodeId, u64)>>,
}

impl<'a> Counted<'a> {
    /// The number of a node, if it was the last that was numbered.
    pub(super) fn known(&self, number: &Number, document: &Document, node: NodeId) -> Option<u64> {
        let (by, of, at, count) = self.last.get()?;
        (std::ptr::eq(by, number) && std::ptr::eq(of, document) && at == node).then_some(count)
    }

    pub(super) fn learn(&self, number: &'a Number, document: &'a Document, node: NodeId, count: u64) {
        self.last.set(Some((number, document, node, count)));
    }
}
