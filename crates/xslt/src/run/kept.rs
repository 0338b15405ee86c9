//! What instructions keep in the machine until the transformation ends.

use std::collections::HashMap;
use std::rc::Rc;

use myelin_xml::{Document, NodeId};
use myelin_xpath::{NodeRef, Value};

use crate::options::ResultDocument;
use crate::program::UsedAccumulators;

/// The values of one accumulator for the nodes of one tree: before and behind each.
pub(super) type Values<'a> = HashMap<NodeId, (Value<'a>, Value<'a>)>;

/// What accumulators gave.
#[derive(Default)]
pub(super) struct Accumulated<'a> {
    /// By accumulator, document and top of the tree; `None` while it is worked out.
    pub(super) known: HashMap<(u32, *const Document, NodeId), Option<Rc<Values<'a>>>>,
    /// The documents that only some of them are for.
    pub(super) used: Vec<(*const Document, &'a UsedAccumulators)>,
    /// Trees that were copied: by document and top, what they are copies of.
    pub(super) copies: HashMap<(*const Document, NodeId), NodeRef<'a>>,
}

/// The group that a merge works on.
pub(super) struct Merged<'a> {
    /// The names of all sources; `None` for one without.
    pub(super) names: Vec<Option<&'a str>>,
    /// The items of the group by the source they are from.
    pub(super) items: Vec<Value<'a>>,
    pub(super) key: Value<'a>,
}

/// The results that were written so far.
#[derive(Default)]
pub(super) struct Results {
    /// The URIs of those that were begun.
    pub(super) begun: Vec<String>,
    pub(super) made: Vec<ResultDocument>,
    /// What is the transformation's own result, written by an instruction.
    pub(super) own: Option<ResultDocument>,
    pub(super) bytes: usize,
}
