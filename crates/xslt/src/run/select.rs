//! Expressions: those of a common shape straight on the tree, the others by the evaluator.

use std::borrow::Cow;

use myelin_xml::{Document, Kind, NodeId};
use myelin_xpath::{Host, Item, Node, NodeRef, Value, Version};

use super::failure::Outcome;
use super::focus::{Focus, text_of};
use super::host::Explain;
use super::machine::Machine;
use crate::program::{Condition, Expr, Select, Shape, Test, TextSource};

/// A test as the numbers of one document.
#[derive(Clone, Copy)]
pub(super) enum Taken {
    Nothing,
    Any,
    Kind(Kind),
    Named(Kind, myelin_xml::ExpandedId),
}

impl Taken {
    #[inline]
    pub(super) fn takes(self, document: &Document, node: NodeId) -> bool {
        match self {
            Taken::Nothing => false,
            Taken::Any => true,
            Taken::Kind(kind) => document.kind(node) == kind,
            Taken::Named(kind, name) => document.kind(node) == kind && document.expanded(node) == Some(name),
        }
    }
}

impl<'a> Machine<'a> {
    /// What a test means for the children of elements of a document.
    #[inline]
    pub(super) fn taken(&self, test: Test, kind: Kind, document: &'a Document) -> Taken {
        match test {
            Test::Any => Taken::Any,
            Test::Element => Taken::Kind(kind),
            Test::Text => Taken::Kind(Kind::Text),
            Test::Comment => Taken::Kind(Kind::Comment),
            Test::Instruction => Taken::Kind(Kind::Instruction),
            Test::Name(index) => match self.expanded(document, index) {
                Some(name) => Taken::Named(kind, name),
                None => Taken::Nothing,
            },
        }
    }

    /// The number that a name of the program has in a document.
    #[inline]
    pub(super) fn expanded(&self, document: &'a Document, index: u32) -> Option<myelin_xml::ExpandedId> {
        let name = &self.program.names[index as usize];
        self.names.expanded(document, index, &name.namespace, &name.local)
    }

    /// The value of an expression.
    #[inline]
    pub(super) fn evaluate(&'a self, expr: &'a Expr, focus: &Focus<'a>) -> Outcome<Value<'a>> {
        expr.compiled.evaluate_from(self.shared(), focus.start()).explain(self, &expr.text)
    }

    /// The items that an expression selects.
    #[inline]
    pub(super) fn select(&'a self, select: &'a Select, focus: &Focus<'a>) -> Outcome<Value<'a>> {
        match &select.shape {
            Shape::General => self.evaluate(&select.expr, focus),
            Shape::Variable(slot) => self.variable_value(*slot, &select.expr),
            shape => self.select_around(shape, &select.expr, focus),
        }
    }

    /// The nodes of a simple shape.
    fn select_around(&'a self, shape: &'a Shape, expr: &'a Expr, focus: &Focus<'a>) -> Outcome<Value<'a>> {
        let Some((document, node)) = focus.tree() else { return self.evaluate(expr, focus) };
        if *shape == Shape::Here {
            return Ok(focus.item.clone().map_or(Value::EMPTY, Value::Item));
        }
        let mut nodes = Vec::new();
        self.each_node(shape, document, node, &mut |node| {
            nodes.push(Node::Tree(node));
            Ok(true)
        })?;
        Ok(Value::nodes(document, nodes))
    }

    /// Hands out the nodes of a simple shape in document order, until the taker has enough.
    pub(super) fn each_node(
        &self,
        shape: &Shape,
        document: &'a Document,
        node: NodeId,
        take: &mut dyn FnMut(NodeId) -> Outcome<bool>,
    ) -> Outcome<()> {
        match shape {
            Shape::Here => take(node).map(drop),
            Shape::Children(test) => self.each_child(&[*test], document, node, take).map(drop),
            Shape::Path(tests) => self.each_child(tests, document, node, take).map(drop),
            Shape::Attributes(test) => {
                let taken = self.taken(*test, Kind::Attribute, document);
                for attribute in attributes(document, node) {
                    if taken.takes(document, attribute) && !take(attribute)? {
                        break;
                    }
                }
                Ok(())
            }
            Shape::AttributesAndChildren => {
                for attribute in attributes(document, node) {
                    if !take(attribute)? {
                        return Ok(());
                    }
                }
                self.each_child(&[Test::Any], document, node, take).map(drop)
            }
            // Whoever has one of these asks the evaluator.
            Shape::Variable(_) | Shape::General => Ok(()),
        }
    }

    /// The same, each as one of several.
    pub(super) fn each_focus(
        &self,
        shape: &Shape,
        document: &'a Document,
        node: NodeId,
        take: &mut dyn FnMut(&Focus<'a>) -> Outcome<bool>,
    ) -> Outcome<()> {
        let mut size = 0;
        if self.program.asks_for_last {
            self.each_node(shape, document, node, &mut |_| {
                size += 1;
                Ok(true)
            })?;
        }
        let mut position = 0;
        self.each_node(shape, document, node, &mut |node| {
            position += 1;
            take(&Focus::on(NodeRef::new(document, node), position, size))
        })
    }

    /// Goes down one test after the other; as deep a recursion as there are tests.
    fn each_child(
        &self,
        tests: &[Test],
        document: &'a Document,
        node: NodeId,
        take: &mut dyn FnMut(NodeId) -> Outcome<bool>,
    ) -> Outcome<bool> {
        let Some((first, rest)) = tests.split_first() else { return take(node) };
        let taken = self.taken(*first, Kind::Element, document);
        let mut next = document.first_child(node);
        while let Some(child) = next {
            next = document.next_sibling(child);
            if !taken.takes(document, child) {
                continue;
            }
            let more = if rest.is_empty() { take(child)? } else { self.each_child(rest, document, child, take)? };
            if !more {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn variable_value(&'a self, slot: u32, expr: &'a Expr) -> Outcome<Value<'a>> {
        self.variable(slot).explain(self, &expr.text)
    }

    /// Whether a condition holds.
    #[inline]
    pub(super) fn holds(&'a self, condition: &'a Condition, focus: &Focus<'a>) -> Outcome<bool> {
        let Condition { expr, shape } = condition;
        match (shape, focus.tree()) {
            (Shape::General, _) | (_, None) => {
                expr.compiled.condition_from(self.shared(), focus.start()).explain(self, &expr.text)
            }
            (shape, Some((document, node))) => {
                let mut found = false;
                self.each_node(shape, document, node, &mut |_| {
                    found = true;
                    Ok(false)
                })?;
                Ok(found)
            }
        }
    }

    /// The text that an expression gives: of the first item in 1.0, of all items with `separator` between them
    /// otherwise.
    #[inline]
    pub(super) fn text(
        &'a self,
        source: &'a TextSource,
        separator: Option<&str>,
        focus: &Focus<'a>,
    ) -> Outcome<Cow<'a, str>> {
        let expr = &source.expr;
        let first_only = expr.version() == Version::V1 && separator.is_none();
        match &source.shape {
            Shape::General if first_only => {
                expr.compiled.text_from(self.shared(), focus.start()).explain(self, &expr.text)
            }
            Shape::Variable(slot) => match self.variable_text(*slot) {
                Some(text) => Ok(Cow::Borrowed(text)),
                None => self.joined(self.variable_value(*slot, expr)?, first_only, separator, expr.version()),
            },
            _ => self.text_of_items(source, first_only, separator, focus),
        }
    }

    /// The same of what may give nodes or several items.
    fn text_of_items(
        &'a self,
        source: &'a TextSource,
        first_only: bool,
        separator: Option<&str>,
        focus: &Focus<'a>,
    ) -> Outcome<Cow<'a, str>> {
        let expr = &source.expr;
        let around = if source.shape.is_walked() || source.shape == Shape::Here { focus.tree() } else { None };
        let Some((document, node)) = around else {
            return self.joined(self.evaluate(expr, focus)?, first_only, separator, expr.version());
        };
        let mut text: Option<Cow<'a, str>> = None;
        let mut after_text = false;
        self.each_node(&source.shape, document, node, &mut |node| {
            let piece = document.string_value(node);
            self.meter.add(1 + piece.len() as u64 / 16, 0);
            let is_text = document.kind(node) == Kind::Text;
            match &mut text {
                None => text = Some(piece),
                Some(text) => {
                    let text = text.to_mut();
                    // Texts in a row are one (XSLT 2.0 §5.7.2).
                    text.push_str(if is_text && after_text { "" } else { separator.unwrap_or(" ") });
                    text.push_str(&piece);
                }
            }
            after_text = is_text;
            Ok(!first_only)
        })?;
        Ok(text.unwrap_or_default())
    }

    /// The text of a value: of its first item, or of all with something between them.
    pub(super) fn joined(
        &self,
        value: Value<'a>,
        first_only: bool,
        separator: Option<&str>,
        version: Version,
    ) -> Outcome<Cow<'a, str>> {
        let has_functions = !value.is_nodes() && value.items().any(|item| matches!(item, Item::Function(_)));
        let value = if has_functions { value.atomized()? } else { value };
        if first_only || value.len() <= 1 {
            return Ok(value.first().map_or(Cow::Borrowed(""), |item| text_of(item, version)));
        }
        let separator = separator.unwrap_or(" ");
        let mut text = String::new();
        let (mut first, mut after_text) = (true, false);
        for item in value.into_items() {
            let is_text = item.node().is_some_and(|node| node.kind() == Some(Kind::Text));
            let before = text.len();
            let piece = text_of(item, version);
            // A text of no length is none, and texts in a row are one (XSLT 2.0 §5.7.2).
            if is_text && piece.is_empty() {
                continue;
            }
            let joins = std::mem::replace(&mut first, false) || (is_text && after_text);
            text.push_str(if joins { "" } else { separator });
            after_text = is_text;
            text.push_str(&piece);
            self.build(text.len() - before)?;
        }
        Ok(Cow::Owned(text))
    }
}

/// The attributes of an element; none of other nodes.
fn attributes(document: &Document, node: NodeId) -> impl Iterator<Item = NodeId> {
    let element = document.kind(node) == Kind::Element;
    element.then(|| document.attributes(node)).into_iter().flatten()
}
