//! Which of two nodes comes first in the document.

use std::cmp::Ordering;

use super::{Document, NodeId};

impl Document {
    /// Compares two nodes by document order: an element before its declarations, these before its attributes, these
    /// before its children. Trees that are detached come one behind the other, after the document.
    ///
    /// A comparison of two integers. After the tree was changed the first call numbers all nodes again, once for all
    /// calls until the next change.
    #[inline]
    pub fn order(&self, one: NodeId, other: NodeId) -> Ordering {
        if self.relinked {
            let places = self.order.get_or_init(|| self.places());
            return places[one.index()].cmp(&places[other.index()]);
        }
        one.index().cmp(&other.index())
    }

    /// For each index its place in document order.
    fn places(&self) -> Box<[u32]> {
        let mut places = vec![0; self.nodes.len()].into_boxed_slice();
        let mut next = 0;
        let tops = (1..self.nodes.len()).filter(|&index| self.nodes[index].parent == 0);
        for top in tops.filter_map(|index| NodeId::from_link(index as u32)) {
            for node in std::iter::once(top).chain(self.descendants(top)) {
                next += 1;
                places[node.index()] = next;
                let mut inner = if self.at(node).is_parent() { self.first_in_chain(node) } else { None };
                while let Some(attribute) = inner {
                    next += 1;
                    places[attribute.index()] = next;
                    inner = NodeId::from_link(self.at(attribute).next);
                }
            }
        }
        places
    }
}
