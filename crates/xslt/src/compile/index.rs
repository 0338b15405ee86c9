//! What a stylesheet declares, sorted by kind and by name.

use std::collections::HashMap;
use std::rc::Rc;

use super::element::Element;
use super::here::Here;
use crate::name::ExpandedName;

/// An element below the stylesheet element, with what holds for it.
#[derive(Clone)]
pub(super) struct Declaration<'s> {
    pub(super) element: Element<'s>,
    pub(super) here: Rc<Here>,
    pub(super) precedence: u32,
    pub(super) imports_from: u32,
    /// Counts the declarations in the order they are written, imports and includes in place.
    pub(super) order: u32,
}

/// Declarations by kind, lowest precedence first; of those that can be overridden only what is left.
#[derive(Default)]
pub(super) struct Declarations<'s> {
    pub(super) templates: Vec<Declaration<'s>>,
    /// Simplified stylesheets: literal result elements that stand for a template.
    pub(super) simplified: Vec<Declaration<'s>>,
    pub(super) globals: Vec<(ExpandedName, Declaration<'s>)>,
    pub(super) functions: Vec<Declaration<'s>>,
    pub(super) attribute_sets: Vec<(ExpandedName, Vec<Declaration<'s>>)>,
    pub(super) accumulators: Vec<(ExpandedName, Declaration<'s>)>,
    pub(super) keys: Vec<(ExpandedName, Vec<Declaration<'s>>)>,
    /// What says something about the whole: output, white space, decimal formats, modes, character maps.
    pub(super) others: Vec<Declaration<'s>>,
}

/// What names refer to.
#[derive(Default)]
pub(super) struct Index {
    pub(super) templates: HashMap<ExpandedName, u32>,
    pub(super) globals: HashMap<ExpandedName, u32>,
    pub(super) functions: HashMap<ExpandedName, Vec<KnownFunction>>,
    pub(super) attribute_sets: HashMap<ExpandedName, u32>,
    pub(super) accumulators: HashMap<ExpandedName, u32>,
}

impl Index {
    /// Whether the stylesheet declares functions in a namespace.
    pub(super) fn has_functions_in(&self, namespace: &str) -> bool {
        self.functions.keys().any(|name| name.namespace == namespace)
    }
}

/// A namespace of the stylesheet that is another in the result.
pub(super) struct Alias {
    pub(super) stylesheet: String,
    pub(super) prefix: String,
    pub(super) result: String,
}

/// What is known of a function before it is compiled.
pub(super) struct KnownFunction {
    /// Its number.
    pub(super) function: u32,
    /// The fewest and the most arguments it takes.
    pub(super) least: usize,
    pub(super) most: usize,
}

impl KnownFunction {
    pub(super) fn takes(&self, arguments: usize) -> bool {
        (self.least..=self.most).contains(&arguments)
    }
}
