//! Several paths joined into a tree of their steps.

use std::ops::Range;

use crate::path::{Duplicates, Path, Step};

/// Paths that one pass over a text can answer.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(super) nodes: Vec<Node>,
    /// The paths sorted so that those below a node stand side by side.
    pub(super) order: Vec<usize>,
    pub(super) duplicates: Duplicates,
}

/// A step that one or more paths have in common with all steps before it.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) names: Vec<(String, usize)>,
    pub(super) indexes: Vec<(u32, usize)>,
    /// The places in `order` of the paths that go through here.
    pub(super) below: Range<usize>,
    /// Where in `order` those of them that end here end.
    pub(super) ends: usize,
    /// Whether no later text can put another value here: no key on the way could come a second time, or that would not count.
    pub(super) certain: bool,
}

impl Plan {
    pub(super) const ROOT: usize = 0;

    /// Joins `paths`; answers come in their order.
    ///
    /// Errors: the position of the first path that is not made of names and indexes from the front only.
    pub fn new(paths: &[&Path], duplicates: Duplicates) -> Result<Plan, usize> {
        let mut sorted = Vec::with_capacity(paths.len());
        for (index, path) in paths.iter().enumerate() {
            sorted.push((path.steps().ok_or(index)?, index));
        }
        // A path stands before those that go on from where it ends.
        sorted.sort();
        let mut plan = Plan { nodes: Vec::new(), order: sorted.iter().map(|&(_, index)| index).collect(), duplicates };
        plan.push(0, true);
        for (place, (steps, _)) in sorted.iter().enumerate() {
            let mut node = Plan::ROOT;
            plan.nodes[node].below.end = place + 1;
            for step in steps {
                node = plan.child(node, *step, place);
                plan.nodes[node].below.end = place + 1;
            }
            plan.nodes[node].ends = place + 1;
        }
        Ok(plan)
    }

    /// The number of paths.
    pub fn paths(&self) -> usize {
        self.order.len()
    }

    fn child(&mut self, node: usize, step: Step<'_>, place: usize) -> usize {
        let new = self.nodes.len();
        let certain = self.nodes[node].certain;
        match step {
            Step::Name(name) => {
                if let Some(&(_, child)) = self.nodes[node].names.iter().find(|(known, _)| known == name) {
                    return child;
                }
                self.nodes[node].names.push((name.to_owned(), new));
                self.push(place, certain && self.duplicates == Duplicates::First)
            }
            Step::Index(index) => {
                if let Some(&(_, child)) = self.nodes[node].indexes.iter().find(|(known, _)| *known == index) {
                    return child;
                }
                self.nodes[node].indexes.push((index, new));
                self.push(place, certain)
            }
        }
    }

    fn push(&mut self, place: usize, certain: bool) -> usize {
        self.nodes.push(Node { names: Vec::new(), indexes: Vec::new(), below: place..place, ends: place, certain });
        self.nodes.len() - 1
    }
}
