//! All documents of a stylesheet, read and put in order.

use std::rc::Rc;

use myelin_xml::NodeId;

use super::element::Element;
use super::here::Here;
use super::module::Module;
use crate::name::ExpandedName;

/// All documents of a stylesheet, and what they declare.
pub(super) struct Loaded {
    pub(super) modules: Vec<Module>,
    pub(super) declarations: Vec<Found>,
    /// The version that the outermost module says it is of.
    pub(super) version: f64,
    /// The mode that a transformation begins in, unless whoever runs it names another.
    pub(super) default_mode: Option<ExpandedName>,
    /// Whether each mode that is used has to be declared.
    pub(super) declares_modes: bool,
}

/// An element below the stylesheet element.
pub(super) struct Found {
    /// An index in [`Loaded::modules`].
    pub(super) module: usize,
    pub(super) node: NodeId,
    pub(super) here: Rc<Here>,
    pub(super) precedence: u32,
    pub(super) imports_from: u32,
    /// Whether it is a simplified stylesheet as a whole (§3.8).
    pub(super) simplified: bool,
}

impl Loaded {
    pub(super) fn element(&self, found: &Found) -> Element<'_> {
        Element { module: &self.modules[found.module], node: found.node }
    }
}
