//! Paths: one step after the other, without gathering nodes in between wherever document order allows it.

use super::filter;
use super::predicates::Positions;
use crate::ast::{Axis, AxisStep, Expr, Path, Predicate, PredicateKind, Step};
use crate::error::Error;
use crate::run::{Flow, Focus, Run, Stop, finish};
use crate::value::node::sort;
use crate::value::{Item, Node, NodeRef};

/// Longer walks would be deep recursions; nodes are gathered in between instead.
const WALKED: usize = 16;

/// In which order nodes are wanted.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Order {
    /// In document order, each once.
    Document,
    /// In any order, and each once if that costs nothing.
    Any,
}

/// What is known of the nodes a step starts from.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    /// There is at most one.
    Single,
    /// They are in document order, and none is inside another.
    Disjoint,
    /// They are in document order.
    Ordered,
    /// Each is there once.
    Distinct,
}

/// What is known of the result of a step, if it can be walked without gathering nodes.
fn walked(axis: Axis, known: Known) -> Option<Known> {
    use Known::{Disjoint, Distinct, Ordered, Single};
    Some(match (axis, known) {
        (Axis::Self_, known) => known,
        // Attributes have nothing below them.
        (Axis::Attribute | Axis::Namespace, Single | Disjoint | Ordered) => Disjoint,
        (Axis::Attribute | Axis::Namespace, Distinct) => Distinct,
        (Axis::Child, Single | Disjoint) => Disjoint,
        (Axis::Child, Ordered | Distinct) => Distinct,
        (Axis::Descendant | Axis::DescendantOrSelf, Single | Disjoint) => Ordered,
        (Axis::Parent, Single) => Single,
        (Axis::FollowingSibling, Single) => Disjoint,
        (Axis::Following, Single) => Ordered,
        (Axis::Ancestor | Axis::AncestorOrSelf | Axis::Preceding | Axis::PrecedingSibling, Single) => Distinct,
        _ => return None,
    })
}

/// How many of the steps can be walked in one go.
fn walkable(steps: &[Step], mut known: Known, order: Order) -> usize {
    let mut count = 0;
    for (index, step) in steps.iter().take(WALKED).enumerate() {
        let Step::Axis(step) = step else { break };
        match walked(step.axis, known) {
            Some(next) => known = next,
            None => break,
        }
        if known != Known::Distinct || order == Order::Any {
            count = index + 1;
        }
    }
    count
}

impl<'a> Run<'_, 'a> {
    pub(super) fn path(
        &self,
        path: &'a Path,
        focus: &Focus<'_, 'a>,
        order: Order,
        sink: &mut dyn FnMut(Item<'a>) -> Flow,
    ) -> Flow {
        match &path.start {
            Expr::Context => self.steps(&[focus.node()?], &path.steps, focus, order, sink),
            Expr::Root => self.steps(&[self.document(focus)?], &path.steps, focus, order, sink),
            other => {
                let mut nodes = filter::nodes(&self.value(other, focus)?, "/")?;
                // An operand that is no axis sees the items in the order they have (§3.3.1.1 of 3.1).
                if matches!(path.steps[0], Step::Axis(_)) {
                    sort(&mut nodes);
                }
                self.steps(&nodes, &path.steps, focus, order, sink)
            }
        }
    }

    fn steps(
        &self,
        start: &[NodeRef<'a>],
        steps: &'a [Step],
        focus: &Focus<'_, 'a>,
        order: Order,
        sink: &mut dyn FnMut(Item<'a>) -> Flow,
    ) -> Flow {
        let mut gathered: Vec<NodeRef<'a>>;
        let mut nodes = start;
        let mut rest = steps;
        loop {
            let known = if nodes.len() <= 1 { Known::Single } else { Known::Ordered };
            if walkable(rest, known, order) == rest.len() {
                return nodes.iter().try_for_each(|node| self.walk(rest, *node, focus, sink));
            }
            gathered = match &rest[0] {
                Step::Expr(expr) => {
                    let Some(found) = self.operand_step(nodes, expr, rest.len() == 1, focus, order, sink)? else {
                        return Ok(());
                    };
                    rest = &rest[1..];
                    found
                }
                Step::Axis(step) => match walkable(rest, known, Order::Document) {
                    0 => {
                        rest = &rest[1..];
                        self.step_from_many(nodes, step, focus)?
                    }
                    count => {
                        let mut found = Vec::new();
                        for node in nodes {
                            finish(self.walk(&rest[..count], *node, focus, &mut |item| {
                                self.build(size_of::<NodeRef<'_>>())?;
                                found.extend(item.node());
                                Ok(())
                            }))?;
                        }
                        rest = &rest[count..];
                        found
                    }
                },
            };
            nodes = &gathered;
            if rest.is_empty() {
                return nodes.iter().try_for_each(|node| sink(Item::Node(*node)));
            }
        }
    }

    /// Goes down the steps from one node; recursion is as deep as there are steps.
    fn walk(
        &self,
        steps: &'a [Step],
        node: NodeRef<'a>,
        focus: &Focus<'_, 'a>,
        sink: &mut dyn FnMut(Item<'a>) -> Flow,
    ) -> Flow {
        match steps {
            [Step::Axis(last)] => self.step_from(last, node, focus, &mut |next| sink(Item::Node(next))),
            [Step::Axis(first), rest @ ..] => {
                self.step_from(first, node, focus, &mut |next| self.walk(rest, next, focus, sink))
            }
            // Only steps along axes are walked.
            _ => Ok(()),
        }
    }

    /// One step along an axis from one node, with its predicates, in the order of the axis.
    pub(super) fn step_from(
        &self,
        step: &'a AxisStep,
        from: NodeRef<'a>,
        focus: &Focus<'_, 'a>,
        sink: &mut dyn FnMut(NodeRef<'a>) -> Flow,
    ) -> Flow {
        let document = from.document;
        let test = self.names.resolve(&step.test, step.axis, document);
        let takes = |node: Node| match node {
            Node::Tree(node) => test.takes(document, node),
            Node::Namespace { .. } => filter::takes_namespace(&step.test, step.axis, NodeRef { document, node }),
        };
        if step.predicates.is_empty() {
            return self.axis(step.axis, from, |node| match takes(node) {
                true => sink(NodeRef { document, node }),
                false => Ok(()),
            });
        }
        if let [Predicate { kind: PredicateKind::Last, .. }] = step.predicates.as_slice() {
            return self.last_of(step.axis, from, takes)?.map_or(Ok(()), |node| sink(NodeRef { document, node }));
        }
        if !Positions::suffice(&step.predicates) {
            let mut found = Vec::new();
            self.axis(step.axis, from, |node| {
                if takes(node) {
                    self.build(size_of::<Item<'_>>())?;
                    found.push(Item::Node(NodeRef { document, node }));
                }
                Ok(())
            })?;
            let found = self.filter_items(found, &step.predicates, focus)?;
            return found.into_iter().filter_map(|item| item.node()).try_for_each(sink);
        }
        let mut positions = Positions::default();
        let flow = self.axis(step.axis, from, |node| {
            if !takes(node) {
                return Ok(());
            }
            let node = NodeRef { document, node };
            let (holds, last) = positions.admit(self, &step.predicates, || Item::Node(node), focus)?;
            if holds {
                sink(node)?;
            }
            if last { Err(Stop::Axis) } else { Ok(()) }
        });
        match flow {
            Err(Stop::Axis) => Ok(()),
            other => other,
        }
    }

    /// The last node of an axis that a test takes; among children it is looked for from the end.
    fn last_of(&self, axis: Axis, from: NodeRef<'a>, takes: impl Fn(Node) -> bool) -> Result<Option<Node>, Error> {
        let document = from.document;
        if let (Axis::Child, Node::Tree(parent)) = (axis, from.node) {
            let backwards = std::iter::successors(document.last_child(parent), |&node| document.previous_sibling(node));
            for node in backwards {
                self.step(1)?;
                if takes(Node::Tree(node)) {
                    return Ok(Some(Node::Tree(node)));
                }
            }
            return Ok(None);
        }
        let mut last = None;
        finish(self.axis(axis, from, |node| {
            if takes(node) {
                last = Some(node);
            }
            Ok(())
        }))?;
        Ok(last)
    }

    /// Whether a step takes a node of its axis, where no predicate asks for the position.
    pub(super) fn accepts(&self, step: &'a AxisStep, node: NodeRef<'a>, focus: &Focus<'_, 'a>) -> Result<bool, Error> {
        let takes = match node.node {
            Node::Tree(tree) => self.names.resolve(&step.test, step.axis, node.document).takes(node.document, tree),
            Node::Namespace { .. } => filter::takes_namespace(&step.test, step.axis, node),
        };
        if !takes {
            return Ok(false);
        }
        for predicate in &step.predicates {
            if !self.condition(&predicate.expr, &focus.on(&Item::Node(node), 1, 1))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Any other operand as a step; `None`: it was the last, and the sink has everything.
    fn operand_step(
        &self,
        nodes: &[NodeRef<'a>],
        expr: &'a Expr,
        last: bool,
        focus: &Focus<'_, 'a>,
        order: Order,
        sink: &mut dyn FnMut(Item<'a>) -> Flow,
    ) -> Result<Option<Vec<NodeRef<'a>>>, Stop> {
        let size = nodes.len() as u64;
        let mut found = Vec::new();
        let mut atomic = false;
        for (index, node) in nodes.iter().enumerate() {
            let item = Item::Node(*node);
            let focus = focus.on(&item, index as u64 + 1, size);
            self.each(expr, &focus, &mut |item| {
                self.build(size_of::<NodeRef<'_>>())?;
                match (item, last) {
                    (Item::Node(node), _) if !atomic => found.push(node),
                    (item @ (Item::Atomic(_) | Item::Function(_)), true) if found.is_empty() => {
                        atomic = true;
                        sink(item)?;
                    }
                    (Item::Atomic(_) | Item::Function(_), false) => {
                        return Err(
                            Error::value("XPTY0019", "a step before `/` gives something that is no node").into()
                        );
                    }
                    _ => {
                        let message = "the last step gives nodes and other values mixed";
                        return Err(Error::value("XPTY0018", message).into());
                    }
                }
                Ok(())
            })?;
        }
        if !last || order == Order::Document {
            sort(&mut found);
        }
        if !last {
            return Ok(Some(found));
        }
        found.into_iter().try_for_each(|node| sink(Item::Node(node)))?;
        Ok(None)
    }
}
