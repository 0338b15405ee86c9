//! What a part of an expression runs with: the context item and the variables that the expression binds.

use crate::error::Error;
use crate::value::{Item, NodeRef, Value};

/// What a part of an expression runs with.
#[derive(Clone)]
pub(crate) struct Focus<'r, 'a> {
    pub(crate) item: Option<Item<'a>>,
    pub(crate) position: u64,
    pub(crate) size: u64,
    pub(super) locals: Option<&'r Frame<'r, 'a>>,
}

/// Variables that the expression binds, and those bound around them.
#[derive(Clone, Copy)]
pub(super) struct Frame<'r, 'a> {
    /// The number of the first of them; the others follow it.
    pub(super) first: u32,
    pub(super) values: &'r [Value<'a>],
    pub(super) outer: Option<&'r Frame<'r, 'a>>,
}

impl<'r, 'a> Focus<'r, 'a> {
    /// The focus on one item of several.
    pub(crate) fn on(&self, item: Item<'a>, position: u64, size: u64) -> Focus<'r, 'a> {
        Focus { item: Some(item), position, size, locals: self.locals }
    }

    /// These variables, before those bound around them.
    pub(super) fn frame<'n>(&self, first: u32, values: &'n [Value<'a>]) -> Frame<'n, 'a>
    where
        'r: 'n,
    {
        Frame { first, values, outer: self.locals }
    }

    /// The same with another chain of variables.
    pub(super) fn binding<'n>(&self, frame: &'n Frame<'n, 'a>) -> Focus<'n, 'a>
    where
        'r: 'n,
    {
        Focus { item: self.item.clone(), position: self.position, size: self.size, locals: Some(frame) }
    }

    /// The value of a variable by its number.
    pub(super) fn local(&self, local: u32) -> Option<&Value<'a>> {
        let mut frames = std::iter::successors(self.locals, |frame| frame.outer);
        frames.find_map(|frame| frame.values.get(local.checked_sub(frame.first)? as usize))
    }

    /// The context node.
    pub(crate) fn node(&self) -> Result<NodeRef<'a>, Error> {
        match &self.item {
            Some(Item::Node(node)) => Ok(*node),
            Some(Item::Atomic(_) | Item::Function(_)) => {
                Err(Error::value("XPTY0020", "a path starts from a node, and here is none"))
            }
            None => Err(Error::NoContext),
        }
    }
}
