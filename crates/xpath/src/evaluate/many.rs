//! An axis from many nodes at once, so that nothing is visited once for each of them.

use std::collections::HashSet;

use super::axes;
use crate::ast::{Axis, AxisStep, PredicateKind};
use crate::error::Error;
use crate::run::{Flow, Focus, Run, Stop, finish};
use crate::value::node::sort;
use crate::value::{Node, NodeRef};

impl<'a> Run<'_, 'a> {
    /// A step from nodes in document order; the result is in document order, each node once.
    pub(super) fn step_from_many(
        &self,
        nodes: &[NodeRef<'a>],
        step: &'a AxisStep,
        focus: &Focus<'_, 'a>,
    ) -> Result<Vec<NodeRef<'a>>, Error> {
        let mut found = Vec::new();
        let mut take = |node: NodeRef<'a>| -> Flow {
            self.build(size_of::<NodeRef<'_>>())?;
            found.push(node);
            Ok(())
        };
        // Where a predicate counts, each node has positions of its own.
        let counts = step.predicates.iter().any(|predicate| predicate.kind != PredicateKind::Condition);
        let one_tree = nodes.windows(2).all(|pair| std::ptr::eq(pair[0].document, pair[1].document));
        finish(match step.axis {
            _ if counts || !one_tree => nodes.iter().try_for_each(|node| self.step_from(step, *node, focus, &mut take)),
            Axis::Descendant | Axis::DescendantOrSelf => self.outermost(nodes, step, focus, &mut take),
            Axis::Following => {
                let earliest = earliest_following(nodes);
                earliest.into_iter().try_for_each(|node| self.step_from(step, node, focus, &mut take))
            }
            // What precedes any of them precedes the last of them.
            Axis::Preceding => {
                nodes.last().into_iter().try_for_each(|node| self.step_from(step, *node, focus, &mut take))
            }
            Axis::Ancestor | Axis::AncestorOrSelf | Axis::FollowingSibling => {
                self.unseen(nodes.iter(), step, focus, &mut take)
            }
            Axis::PrecedingSibling => self.unseen(nodes.iter().rev(), step, focus, &mut take),
            _ => nodes.iter().try_for_each(|node| self.step_from(step, *node, focus, &mut take)),
        })?;
        sort(&mut found);
        Ok(found)
    }

    /// Descendants of nodes that are not themselves inside an earlier one.
    fn outermost(
        &self,
        nodes: &[NodeRef<'a>],
        step: &'a AxisStep,
        focus: &Focus<'_, 'a>,
        take: &mut dyn FnMut(NodeRef<'a>) -> Flow,
    ) -> Flow {
        // Where the subtree last walked ends; nodes before that have been met in it.
        let mut end: Option<Option<Node>> = None;
        for &node in nodes {
            self.step(1)?;
            let inside = match end {
                None => false,
                Some(None) => true,
                Some(Some(end)) => node.node.order(end, node.document).is_lt(),
            };
            let Some(top) = node.node.tree().filter(|_| !inside) else {
                // Attributes are never met on the way down.
                if node.kind().is_none_or(|kind| kind == myelin_xml::Kind::Attribute) {
                    self.step_from(step, node, focus, take)?;
                }
                continue;
            };
            self.step_from(step, node, focus, take)?;
            if node.kind() != Some(myelin_xml::Kind::Attribute) {
                end = Some(axes::behind(node.document, top, None).map(Node::Tree));
            }
        }
        Ok(())
    }

    /// An axis that leads from one node to the next, ended wherever it meets a node it has led to before.
    fn unseen<'n>(
        &self,
        nodes: impl Iterator<Item = &'n NodeRef<'a>>,
        step: &'a AxisStep,
        focus: &Focus<'_, 'a>,
        take: &mut dyn FnMut(NodeRef<'a>) -> Flow,
    ) -> Flow
    where
        'a: 'n,
    {
        let mut seen = HashSet::new();
        for &from in nodes {
            let flow = self.axis(step.axis, from, |node| {
                if !seen.insert(node) {
                    return Err(Stop::Axis);
                }
                self.build(size_of::<Node>())?;
                let node = NodeRef { document: from.document, node };
                if self.accepts(step, node, focus)? { take(node) } else { Ok(()) }
            });
            match flow {
                Ok(()) | Err(Stop::Axis) => {}
                other => return other,
            }
        }
        Ok(())
    }
}

/// The node whose following axis holds those of all others.
///
/// As long as nodes come before whatever follows the ones before them, each is inside the one before.
fn earliest_following<'a>(nodes: &[NodeRef<'a>]) -> Option<NodeRef<'a>> {
    let mut best: Option<(NodeRef<'a>, NodeRef<'a>)> = None;
    let mut around = None;
    for &node in nodes {
        if best.is_some_and(|(_, start)| node.order(start).is_ge()) {
            break;
        }
        // What follows the node before follows this one, too, unless something inside that node comes first.
        if let Some(start) = axes::first_following(node, around) {
            best = Some((node, NodeRef::new(node.document, start)));
        }
        around = Some(axes::element_or_self(node.node, node.document));
    }
    best.map(|(node, _)| node)
}
