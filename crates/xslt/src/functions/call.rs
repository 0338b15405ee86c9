//! A call of a function of the library: its arguments in the form that a function needs.

use std::borrow::Cow;

use myelin_xml::Refusal;
use myelin_xpath::types::AtomicType as T;
use myelin_xpath::{Atomic, Error, Expression, Item, NodeRef, Value, Version};

use super::Services;
use crate::name::ExpandedName;
use crate::scope::Scope;

/// What a function is called with.
pub(crate) struct Call<'c, 'a> {
    pub(crate) machine: &'a dyn Services<'a>,
    pub(crate) arguments: &'c [Value<'a>],
    /// The context item where it is called.
    pub(crate) item: Option<&'c Item<'a>>,
    /// What is known where it is called: namespaces, base URI, version.
    pub(crate) scope: &'a Scope,
    /// The variables of the frame that an expression in an argument sees.
    pub(crate) locals: &'a [(ExpandedName, u32)],
}

impl<'a> Call<'_, 'a> {
    /// By which rules the function works.
    pub(super) fn version(&self) -> Version {
        self.scope.rules()
    }

    pub(super) fn is_v1(&self) -> bool {
        self.version() == Version::V1
    }

    /// The expression in an argument, compiled as if it stood where the call does.
    pub(super) fn expression(&self, index: usize) -> Result<&'a Expression, Error> {
        self.machine.expression(&self.any_text(index), self.scope, self.locals)
    }

    /// How many arguments there are.
    pub(super) fn count(&self) -> usize {
        self.arguments.len()
    }

    /// An argument as it is.
    pub(super) fn value(&self, index: usize) -> &Value<'a> {
        &self.arguments[index]
    }

    /// An argument as a text, by the rules of 1.0: of several items the first, of none the empty text.
    ///
    /// Extension functions take their arguments so in each version: they were written for 1.0.
    pub(super) fn any_text(&self, index: usize) -> Cow<'a, str> {
        self.value(index).get(0).map_or(Cow::Borrowed(""), |item| item.into_text(self.version()))
    }

    /// An argument as a number, by the rules of 1.0.
    pub(super) fn any_number(&self, index: usize) -> f64 {
        self.value(index).number()
    }

    /// An argument as one atomic value or none; in 1.0 the first of several.
    pub(super) fn atomic(&self, index: usize) -> Result<Option<Atomic<'a>>, Error> {
        let value = self.value(index);
        if value.len() > 1 && !self.is_v1() {
            return Err(Error::value("XPTY0004", "one value is wanted here, and there are several"));
        }
        value.get(0).map(Item::atomize).transpose()
    }

    /// An argument as a text, if it is not empty; later versions refuse numbers and the like.
    pub(super) fn optional_text(&self, index: usize) -> Result<Option<Cow<'a, str>>, Error> {
        if self.is_v1() {
            return Ok(if self.value(index).is_empty() { None } else { Some(self.any_text(index)) });
        }
        match self.atomic(index)? {
            None => Ok(None),
            Some(Atomic::Text(text, _)) => Ok(Some(text)),
            Some(other) => Err(wrong_type("a text", &other)),
        }
    }

    /// An argument as a text that must be there.
    pub(super) fn text(&self, index: usize) -> Result<Cow<'a, str>, Error> {
        match self.optional_text(index)? {
            Some(text) => Ok(text),
            None if self.is_v1() => Ok(Cow::Borrowed("")),
            None => Err(Error::value("XPTY0004", "a text is wanted here, and there is none")),
        }
    }

    /// An argument as a value of one type, if it is not empty; a text of a type unknown is read as one.
    pub(super) fn typed(&self, index: usize, wanted: T) -> Result<Option<Atomic<'a>>, Error> {
        match self.atomic(index)? {
            None => Ok(None),
            Some(atomic) if atomic.atomic_type().is(wanted) => Ok(Some(atomic)),
            Some(atomic) if atomic.atomic_type() == T::Untyped || self.is_v1() => {
                atomic.cast(wanted, self.version()).map(Some)
            }
            Some(other) => Err(wrong_type(&wanted.to_string(), &other)),
        }
    }

    /// An argument as nodes, in the order of the sequence.
    pub(super) fn nodes(&self, index: usize) -> Result<Vec<NodeRef<'a>>, Error> {
        self.value(index)
            .as_nodes()
            .ok_or_else(|| Error::value("XPTY0004", "nodes are wanted here, and there is something else"))
    }

    /// An argument as nodes in document order, each once.
    pub(super) fn ordered_nodes(&self, index: usize) -> Result<Vec<NodeRef<'a>>, Error> {
        let ordered = self.value(index).clone().in_document_order()?;
        Ok(ordered.as_nodes().unwrap_or_default())
    }

    /// The context item as a node.
    pub(super) fn context_node(&self) -> Result<NodeRef<'a>, Error> {
        let item = self.item.ok_or(Error::NoContext)?;
        item.node().ok_or_else(|| Error::value("XPTY0004", "the context item is no node"))
    }

    /// A text that was made.
    pub(super) fn built(&self, text: impl Into<Cow<'a, str>>) -> Result<Value<'a>, Error> {
        let text = text.into();
        if let Cow::Owned(text) = &text {
            self.machine.build(text.len())?;
        }
        Ok(Value::from(text))
    }
}

/// Nodes as a value: each once, in document order.
pub(super) fn node_set<'a>(nodes: Vec<NodeRef<'a>>) -> Result<Value<'a>, Error> {
    Value::from_items(nodes.into_iter().map(Item::Node).collect()).in_document_order()
}

/// A node that a function makes cannot be: the value is the stylesheet's or the data's.
#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
pub(super) fn unmade(refusal: Refusal) -> Error {
    Error::Host(format!("a node cannot be made: {refusal}"))
}

pub(super) fn wrong_type(wanted: &str, found: &Atomic<'_>) -> Error {
    Error::value("XPTY0004", format!("{wanted} is wanted here, and there is {}", found.atomic_type()))
}
