//! Predicates on sequences, and sets of nodes joined, shared and taken away.

use crate::ast::{Axis, Expr, NameTest, NodeTest, Predicate, PredicateKind};
use crate::error::Error;
use crate::run::{Flow, Focus, Run, Stop, finish};
use crate::value::node::sort;
use crate::value::{Item, NodeRef, Value};

use super::collect::Collector;
use super::predicates::Positions;

/// The nodes of a value; anything else in it is an error.
pub(super) fn nodes<'a>(value: &Value<'a>, operator: &str) -> Result<Vec<NodeRef<'a>>, Error> {
    value.as_nodes().ok_or_else(|| no_node(operator))
}

pub(super) fn no_node(operator: &str) -> Error {
    let code = if operator == "/" { "XPTY0019" } else { "XPTY0004" };
    Error::value(code, format!("`{operator}` takes nodes, and there is something else"))
}

/// Whether a test takes a namespace node, whose name is its prefix.
pub(super) fn takes_namespace(test: &NodeTest, axis: Axis, node: NodeRef<'_>) -> bool {
    let prefix = || node.namespace().map_or("", |(prefix, _)| prefix);
    match test {
        NodeTest::Any | NodeTest::Namespace => true,
        // A namespace is the principal kind of its own axis only.
        NodeTest::Name(name) if axis == Axis::Namespace => match name {
            NameTest::Any => true,
            NameTest::InNamespace(_) => false,
            NameTest::Local(local) => prefix() == local,
            NameTest::Name { namespace, local, .. } => namespace.is_empty() && prefix() == local,
        },
        _ => false,
    }
}

impl<'a> Run<'_, 'a> {
    /// An operand with predicates, `(…)[1]`: the items for which they hold.
    pub(super) fn filter(
        &self,
        inside: &'a Expr,
        predicates: &'a [Predicate],
        focus: &Focus<'_, 'a>,
        sink: &mut dyn FnMut(Item<'a>) -> Flow,
    ) -> Flow {
        if Positions::suffice(predicates) {
            let (mut positions, mut ended) = (Positions::default(), false);
            let flow = self.each(inside, focus, &mut |item| {
                let (holds, last) = positions.admit(self, predicates, || item.clone(), focus)?;
                if holds {
                    sink(item)?;
                }
                ended = last;
                if last { Err(Stop::Enough) } else { Ok(()) }
            });
            return match flow {
                Err(Stop::Enough) if ended => Ok(()),
                other => other,
            };
        }
        let value = self.value(inside, focus)?;
        if let [Predicate { kind: PredicateKind::Last, .. }] = predicates {
            return value.len().checked_sub(1).and_then(|last| value.get(last)).map_or(Ok(()), sink);
        }
        self.build(value.len() * size_of::<Item<'_>>())?;
        let items = self.filter_items(value.into_items().collect(), predicates, focus)?;
        items.into_iter().try_for_each(sink)
    }

    /// `|`: all nodes of all operands.
    pub(super) fn union(&self, operands: &'a [Expr], focus: &Focus<'_, 'a>) -> Result<Value<'a>, Error> {
        let mut all = Vec::new();
        for operand in operands {
            let gathered: Flow = self.any(operand, focus, &mut |item| {
                self.build(size_of::<NodeRef<'_>>())?;
                all.push(item.node().ok_or_else(|| no_node("|"))?);
                Ok(())
            });
            finish(gathered)?;
        }
        sort(&mut all);
        self.node_value(all)
    }

    /// `intersect` and `except`: the nodes on the left that are, or are not, on the right.
    pub(super) fn common(&self, sides: &'a [Expr; 2], focus: &Focus<'_, 'a>, wanted: bool) -> Result<Value<'a>, Error> {
        let operator = if wanted { "intersect" } else { "except" };
        let mut left = nodes(&self.value(&sides[0], focus)?, operator)?;
        let mut right = nodes(&self.value(&sides[1], focus)?, operator)?;
        sort(&mut left);
        sort(&mut right);
        self.step((left.len() + right.len()) as u64)?;
        left.retain(|node| right.binary_search_by(|other| other.order(*node)).is_ok() == wanted);
        self.node_value(left)
    }

    fn node_value(&self, nodes: Vec<NodeRef<'a>>) -> Result<Value<'a>, Error> {
        let mut collector = Collector::new(self);
        nodes.into_iter().try_for_each(|node| collector.push(Item::Node(node)))?;
        Ok(collector.finish())
    }
}
