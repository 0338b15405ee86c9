//! Whether a node matches a pattern: from its last step backwards (XSLT 1.0 §5.2).

use myelin_xml::{Document, Kind, NodeId};
use myelin_xpath::ast::{NameTest, NodeTest};
use myelin_xpath::{Atomic, Expression, Item, Node, NodeRef, Start, Value};

use super::caches::{MOST_POSITIONS, Taken};
use super::failure::Outcome;
use super::focus::{Focus, item};
use super::host::Explain;
use super::machine::Machine;
use crate::pattern::{Anchor, Link, Pattern, PatternPredicate, PatternStep};

impl<'a> Machine<'a> {
    /// Whether some alternative of a pattern matches an item.
    pub(super) fn matches_any(&'a self, patterns: &'a [Pattern], focus: &Focus<'a>) -> Outcome<bool> {
        for pattern in patterns {
            if self.matches_item(pattern, focus)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a pattern matches an item.
    pub(super) fn matches_item(&'a self, pattern: &'a Pattern, focus: &Focus<'a>) -> Outcome<bool> {
        if let Anchor::Item(predicates) = &pattern.anchor {
            let Some(item) = &focus.item else { return Ok(false) };
            return self.all_hold(predicates, item, item);
        }
        if let Anchor::Selected(expression) = &pattern.anchor {
            let Some(node) = focus.node() else { return Ok(false) };
            return self.is_selected(expression, node);
        }
        match focus.tree() {
            Some((document, node)) => self.matches(pattern, document, node),
            None => self.matches_namespace(pattern, focus),
        }
    }

    /// Namespace nodes match only `namespace-node()`.
    fn matches_namespace(&'a self, pattern: &'a Pattern, focus: &Focus<'a>) -> Outcome<bool> {
        let is_namespace = matches!(focus.node(), Some(NodeRef { node: Node::Namespace { .. }, .. }));
        let [step] = &*pattern.steps else { return Ok(false) };
        Ok(is_namespace && step.test == NodeTest::Namespace && step.predicates.is_empty())
    }

    fn matches(&'a self, pattern: &'a Pattern, document: &'a Document, node: NodeId) -> Outcome<bool> {
        self.matches_from(pattern, 0, document, node, node)
    }

    /// Whether the steps from `index` on, counted from the last, match a node. `candidate` is the node that the whole
    /// pattern is asked about.
    fn matches_from(
        &'a self,
        pattern: &'a Pattern,
        index: usize,
        document: &'a Document,
        node: NodeId,
        candidate: NodeId,
    ) -> Outcome<bool> {
        let Some(step) = pattern.steps.get(index) else {
            return self.is_anchor(&pattern.anchor, document, node);
        };
        self.count()?;
        if !self.takes(step, document, node, candidate)? {
            return Ok(false);
        }
        let last = index + 1 == pattern.steps.len();
        if last && matches!(pattern.anchor, Anchor::Anywhere) {
            return Ok(true);
        }
        let mut next = match step.link {
            Link::Parent | Link::Ancestor => document.parent(node),
            Link::SelfOrAncestor | Link::Same => Some(node),
        };
        while let Some(above) = next {
            if self.matches_from(pattern, index + 1, document, above, candidate)? {
                return Ok(true);
            }
            next = match step.link {
                Link::Parent | Link::Same => None,
                Link::Ancestor | Link::SelfOrAncestor => document.parent(above),
            };
        }
        Ok(false)
    }

    /// Whether an expression gives a node when it is run there or above.
    fn is_selected(&'a self, expression: &'a Expression, wanted: NodeRef<'a>) -> Outcome<bool> {
        let candidate = Item::Node(wanted);
        let mut next = Some(wanted);
        while let Some(at) = next {
            self.count()?;
            next = at.parent();
            let focus = Focus::on(at, 1, 1);
            let start = Start { current: Some(&candidate), ..focus.start() };
            let value = expression.evaluate_from(self.shared(), start).explain(self, "the pattern")?;
            self.meter.add(value.len() as u64, 0);
            if value.items().any(|item| item.node() == Some(wanted)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a node is what a pattern hangs on.
    fn is_anchor(&'a self, anchor: &'a Anchor, document: &'a Document, node: NodeId) -> Outcome<bool> {
        match anchor {
            Anchor::Anywhere => Ok(true),
            Anchor::Root => Ok(document.kind(node) == Kind::Document),
            Anchor::Item(_) | Anchor::Selected(_) => Ok(false),
            Anchor::Nodes(expression) => {
                let focus = Focus { item: Some(item(document, document.document_node())), position: 1, size: 1 };
                let value = expression.evaluate_from(self.shared(), focus.start()).explain(self, "the pattern")?;
                let wanted = NodeRef::new(document, node);
                self.meter.add(value.len() as u64, 0);
                Ok(value.items().any(|item| item.node() == Some(wanted)))
            }
        }
    }

    /// Whether a step takes a node.
    fn takes(
        &'a self,
        step: &'a PatternStep,
        document: &'a Document,
        node: NodeId,
        candidate: NodeId,
    ) -> Outcome<bool> {
        if !self.is_of(step, document, node) {
            return Ok(false);
        }
        if step.predicates.is_empty() {
            return Ok(true);
        }
        if step.predicates.iter().any(|predicate| predicate.positional) {
            return self.is_at(step, document, node, candidate);
        }
        self.all_hold(&step.predicates, &item(document, node), &item(document, candidate))
    }

    /// Whether a node is of the kind and name that a step asks for.
    fn is_of(&self, step: &PatternStep, document: &'a Document, node: NodeId) -> bool {
        let kind = document.kind(node);
        let principal = if step.attribute { Kind::Attribute } else { Kind::Element };
        // Without a parent there is no step to an element or text; `self::` and the like name what they mean.
        match &step.test {
            NodeTest::Any => match step.link {
                Link::SelfOrAncestor | Link::Same => true,
                _ => (kind == Kind::Attribute) == step.attribute && kind != Kind::Document,
            },
            NodeTest::Name(name) => kind == principal && self.is_named(name, document, node),
            NodeTest::Element(name) => kind == Kind::Element && self.is_named(name, document, node),
            NodeTest::Attribute(name) => kind == Kind::Attribute && self.is_named(name, document, node),
            NodeTest::Text => kind == Kind::Text,
            NodeTest::Comment => kind == Kind::Comment,
            NodeTest::Instruction(None) => kind == Kind::Instruction,
            NodeTest::Instruction(Some(target)) => {
                kind == Kind::Instruction && document.qname(node).local == target.as_str()
            }
            NodeTest::Document(None) => kind == Kind::Document,
            NodeTest::Document(Some(name)) => {
                let root = document.root_element();
                kind == Kind::Document && root.is_some_and(|root| self.is_named(name, document, root))
            }
            NodeTest::Namespace => false,
        }
    }

    fn is_named(&self, test: &NameTest, document: &'a Document, node: NodeId) -> bool {
        match test {
            NameTest::Any => true,
            NameTest::InNamespace(namespace) => document.qname(node).namespace == namespace.as_str(),
            NameTest::Local(local) => document.qname(node).local == local.as_str(),
            NameTest::Name { index, .. } => {
                document.expanded(node).is_some_and(|name| self.expanded(document, *index) == Some(name))
            }
        }
    }

    /// Whether predicates hold that do not ask for a position.
    fn all_hold(&'a self, predicates: &'a [PatternPredicate], item: &Item<'a>, candidate: &Item<'a>) -> Outcome<bool> {
        for predicate in predicates {
            if !self.predicate(predicate, item, 1, 1, candidate)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn predicate(
        &'a self,
        predicate: &'a PatternPredicate,
        item: &Item<'a>,
        position: u64,
        size: u64,
        candidate: &Item<'a>,
    ) -> Outcome<bool> {
        let focus = Focus { item: Some(item.clone()), position, size };
        let start = Start { current: Some(candidate), ..focus.start() };
        if !predicate.positional {
            return self
                .temporarily(|| predicate.expression.condition_from(self.shared(), start))
                .explain(self, "the pattern's predicate");
        }
        let value = self
            .temporarily(|| predicate.expression.evaluate_from(self.shared(), start))
            .explain(self, "the pattern's predicate")?;
        Ok(match &value {
            Value::Item(Item::Atomic(atomic @ (Atomic::Double(_) | Atomic::Integer(..)))) => {
                atomic.as_double() == Some(position as f64)
            }
            Value::Item(Item::Atomic(atomic)) if atomic.is_numeric() => atomic.as_double() == Some(position as f64),
            other => other.boolean(),
        })
    }

    /// Whether a step with positions takes a node without a parent, which is the only one of its siblings (`child-or-top`,
    /// XSLT 3.0 §5.5.3).
    fn is_first(
        &'a self,
        step: &'a PatternStep,
        document: &'a Document,
        node: NodeId,
        candidate: NodeId,
    ) -> Outcome<bool> {
        for predicate in &step.predicates {
            if !self.predicate(predicate, &item(document, node), 1, 1, &item(document, candidate))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a node is among those that a step with positions takes below its parent.
    ///
    /// These are found once for a parent, as its children are asked about one after the other.
    fn is_at(
        &'a self,
        step: &'a PatternStep,
        document: &'a Document,
        node: NodeId,
        candidate: NodeId,
    ) -> Outcome<bool> {
        let Some(parent) = document.parent(node) else { return self.is_first(step, document, node, candidate) };
        let same = |taken: &Taken<'a>| {
            std::ptr::eq(taken.step, step) && std::ptr::eq(taken.document, document) && taken.parent == parent
        };
        if let Some(taken) = self.positions.last.borrow().iter().find(|taken| same(taken)) {
            return Ok(taken.nodes.binary_search_by(|at| document.order(*at, node)).is_ok());
        }
        let siblings = if step.attribute { document.attributes(parent) } else { document.children(parent) };
        let mut nodes: Vec<NodeId> = siblings.filter(|&sibling| self.is_of(step, document, sibling)).collect();
        for predicate in &step.predicates {
            let size = nodes.len() as u64;
            let mut kept = Vec::new();
            for (index, sibling) in nodes.into_iter().enumerate() {
                self.count()?;
                let position = index as u64 + 1;
                if self.predicate(predicate, &item(document, sibling), position, size, &item(document, candidate))? {
                    kept.push(sibling);
                }
            }
            nodes = kept;
        }
        let found = nodes.contains(&node);
        let mut last = self.positions.last.borrow_mut();
        if last.len() == MOST_POSITIONS {
            last.remove(0);
        }
        last.push(Taken { step, document, parent, nodes });
        Ok(found)
    }
}
