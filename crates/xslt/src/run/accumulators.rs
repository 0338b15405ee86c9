//! `xsl:accumulator` (XSLT 3.0 §18.2): values that are worked out while a tree is gone through, for each node before and
//! behind what it holds.

use std::rc::Rc;

use myelin_xml::{Document, Kind, NodeId};
use myelin_xpath::{Error, Item, NodeRef, Value};

use super::content::Typed;
use super::failure::{Failure, Outcome};
use super::focus::{Focus, path};
use super::kept::Values;
use super::machine::Machine;
use crate::name::ExpandedName;
use crate::program::{Accumulator, UsedAccumulators};

/// What the values of a node are counted as.
const NODE_BYTES: usize = 96;

impl<'a> Machine<'a> {
    /// Notes which accumulators are for a document.
    pub(super) fn uses_accumulators(&self, document: &'a Document, used: &'a UsedAccumulators) {
        let mut accumulated = self.accumulated.borrow_mut();
        let document = std::ptr::from_ref(document);
        match accumulated.used.iter_mut().find(|(known, _)| *known == document) {
            Some((_, known)) => *known = used,
            None => accumulated.used.push((document, used)),
        }
    }

    /// Lets accumulators of a copy be those of its original.
    pub(super) fn accumulates_as(&self, copy: NodeRef<'a>, original: NodeRef<'a>) {
        if let Some(top) = copy.node.tree().filter(|_| !self.program.accumulators.is_empty()) {
            let place = (std::ptr::from_ref(copy.document), top);
            self.accumulated.borrow_mut().copies.insert(place, original);
        }
    }

    /// What a node is a copy of, where accumulators are asked for the original; otherwise the node.
    fn original(&self, mut node: NodeRef<'a>) -> NodeRef<'a> {
        loop {
            let Some(top) = node.root().node.tree() else { return node };
            let place = (std::ptr::from_ref(node.document), top);
            let Some(original) = self.accumulated.borrow().copies.get(&place).copied() else { return node };
            let (Some(tree), Some(start)) = (node.node.tree(), original.node.tree()) else { return node };
            // The way from the top down: which child it is, on each level.
            let mut way = Vec::new();
            let mut at = tree;
            while at != top {
                let before = std::iter::successors(node.document.previous_sibling(at), |one| {
                    node.document.previous_sibling(*one)
                });
                way.push(before.count());
                match node.document.parent(at) {
                    Some(parent) => at = parent,
                    None => return node,
                }
            }
            let document = original.document;
            let down = |at: NodeId, place: &usize| document.children(at).nth(*place);
            match way.iter().rev().try_fold(start, down) {
                Some(found) => node = NodeRef::new(document, found),
                None => return node,
            }
        }
    }

    /// The value of an accumulator before a node, or behind it.
    ///
    /// Errors: `XTDE3340` for a name that is none of an accumulator, `XTTE3360` for what is no node or an attribute,
    /// `XTDE3362` where the accumulator is not for the document, `XTDE3400` where it needs its own value.
    pub(super) fn accumulated(
        &'a self,
        name: &ExpandedName,
        item: Option<&Item<'a>>,
        behind: bool,
    ) -> Result<Value<'a>, Error> {
        let number = self.program.accumulators.iter().position(|known| known.name == *name);
        let unknown = || Error::value("XTDE3340", format!("there is no accumulator with the name {name}"));
        let number = number.ok_or_else(unknown)? as u32;
        let item = item.ok_or_else(|| Error::value("XTDE3350", format!("there is no node to ask {name} for")))?;
        let node = item.node().map(|node| self.original(node)).and_then(|node| Some((node, node.node.tree()?)));
        let Some((node, tree)) = node.filter(|(node, _)| node.kind() != Some(Kind::Attribute)) else {
            return Err(Error::value(
                "XTTE3360",
                format!("{name} is asked for what is no node with a place in a tree"),
            ));
        };
        let document = std::ptr::from_ref(node.document);
        let used = self.accumulated.borrow().used.iter().find(|(known, _)| *known == document).map(|(_, used)| *used);
        if let Some(UsedAccumulators::These(these)) = used
            && !these.contains(&number)
        {
            let message = format!("the accumulator {name} is not for this document: use-accumulators does not name it");
            return Err(Error::value("XTDE3362", message));
        }
        let values = self.values_of(number, node).map_err(|failure| self.leave(failure))?;
        let (before, after) = values.get(&tree).cloned().unwrap_or((Value::EMPTY, Value::EMPTY));
        Ok(if behind { after } else { before })
    }

    fn values_of(&'a self, number: u32, node: NodeRef<'a>) -> Outcome<Rc<Values<'a>>> {
        let document = node.document;
        let Some(top) = node.root().node.tree() else { return Ok(Rc::default()) };
        let place = (number, std::ptr::from_ref(document), top);
        if let Some(known) = self.accumulated.borrow().known.get(&place) {
            let circular = || Failure::new("XTDE3400", "the accumulator is part of its own definition");
            return known.clone().ok_or_else(circular);
        }
        self.accumulated.borrow_mut().known.insert(place, None);
        let accumulator = &self.program.accumulators[number as usize];
        let made = self.aside(
            accumulator.frame,
            || format!("accumulator {}", accumulator.name),
            || self.accumulate(accumulator, document, top),
        );
        let made = made.map(Rc::new).map_err(|mut failure| {
            failure.at(accumulator.at, || None);
            failure
        });
        let mut accumulated = self.accumulated.borrow_mut();
        match &made {
            Ok(values) => drop(accumulated.known.insert(place, Some(Rc::clone(values)))),
            Err(_) => drop(accumulated.known.remove(&place)),
        }
        made
    }

    /// Goes through a tree once.
    fn accumulate(&'a self, accumulator: &'a Accumulator, document: &'a Document, top: NodeId) -> Outcome<Values<'a>> {
        let mut values = Values::new();
        let kind = accumulator.kind.as_ref();
        let focus = Focus::on(NodeRef::new(document, top), 1, 1);
        let initial = self.evaluate(&accumulator.initial, &focus)?;
        let mut value = self.held(self.convert(initial, kind, Typed::ACCUMULATOR)?);
        let mut node = top;
        loop {
            self.count()?;
            self.build(NODE_BYTES)?;
            value = self.ruled(accumulator, document, node, false, value)?;
            values.insert(node, (value.clone(), Value::EMPTY));
            if let Some(child) = document.first_child(node) {
                node = child;
                continue;
            }
            loop {
                value = self.ruled(accumulator, document, node, true, value)?;
                if let Some(known) = values.get_mut(&node) {
                    known.1 = value.clone();
                }
                if node == top {
                    return Ok(values);
                }
                if let Some(next) = document.next_sibling(node) {
                    node = next;
                    break;
                }
                let Some(parent) = document.parent(node) else { return Ok(values) };
                node = parent;
            }
        }
    }

    /// The value behind the rule that is for a node, if there is one.
    fn ruled(
        &'a self,
        accumulator: &'a Accumulator,
        document: &'a Document,
        node: NodeId,
        at_end: bool,
        value: Value<'a>,
    ) -> Outcome<Value<'a>> {
        let node = NodeRef::new(document, node);
        let focus = Focus::on(node, 1, 1);
        for rule in accumulator.rules.iter().rev().filter(|rule| rule.at_end == at_end) {
            if !self.matches_any(&rule.patterns, &focus)? {
                continue;
            }
            self.assign(0, value);
            let made = self.bind(&rule.value, &focus);
            let made = made.and_then(|made| self.convert(made, accumulator.kind.as_ref(), Typed::ACCUMULATOR));
            return made.map(|made| self.held(made)).map_err(|mut failure| {
                failure.at(rule.at, || Some(path(node)));
                failure
            });
        }
        Ok(value)
    }
}
