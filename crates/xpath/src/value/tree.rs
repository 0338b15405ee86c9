//! A sequence that many versions share: what maps and arrays are made of.
//!
//! A change copies the way from the root to one place and leaves the old version as it is, so that putting entries
//! one after the other costs their number times its logarithm, whoever still holds the versions before.

use std::cmp::Ordering;
use std::rc::Rc;

/// How many maps, arrays and functions stand within each other in something.
pub(crate) trait Levels {
    fn levels(&self) -> u16;
}

/// Items by their rank, counted from 0; a weight-balanced tree.
#[derive(Debug)]
pub(crate) struct Tree<T>(Option<Rc<Branch<T>>>);

#[derive(Debug)]
struct Branch<T> {
    left: Tree<T>,
    item: Rc<T>,
    right: Tree<T>,
    size: usize,
    /// The most levels of an item here.
    levels: u16,
}

/// A side may be so many times as heavy as the other.
const WEIGHT: usize = 3;
/// An inner grandchild that is so many times as heavy as the outer one goes up alone.
const INNER: usize = 2;

impl<T> Clone for Tree<T> {
    fn clone(&self) -> Tree<T> {
        Tree(self.0.clone())
    }
}

impl<T: Levels> Tree<T> {
    pub(crate) const EMPTY: Tree<T> = Tree(None);

    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |branch| branch.size)
    }

    /// The most levels of an item.
    pub(crate) fn levels(&self) -> u16 {
        self.0.as_ref().map_or(0, |branch| branch.levels)
    }

    pub(crate) fn get(&self, mut rank: usize) -> Option<&T> {
        let mut tree = self;
        loop {
            let branch = tree.0.as_ref()?;
            let before = branch.left.len();
            match rank.cmp(&before) {
                Ordering::Less => tree = &branch.left,
                Ordering::Equal => return Some(&branch.item),
                Ordering::Greater => {
                    rank -= before + 1;
                    tree = &branch.right;
                }
            }
        }
    }

    /// The rank of the item that is equal, or else the one where it would stand; `order` says how an item stands to
    /// what is looked for.
    pub(crate) fn find(&self, order: impl Fn(&T) -> Ordering) -> Result<usize, usize> {
        let mut tree = self;
        let mut rank = 0;
        while let Some(branch) = &tree.0 {
            match order(&branch.item) {
                Ordering::Greater => tree = &branch.left,
                Ordering::Equal => return Ok(rank + branch.left.len()),
                Ordering::Less => {
                    rank += branch.left.len() + 1;
                    tree = &branch.right;
                }
            }
        }
        Err(rank)
    }

    /// With an item more, before the one at `rank`; at the end, if there are no more than `rank` items.
    pub(crate) fn insert(&self, rank: usize, item: T) -> Tree<T> {
        self.inserted(rank, Rc::new(item))
    }

    fn inserted(&self, rank: usize, item: Rc<T>) -> Tree<T> {
        let Some(Branch { left, item: middle, right, .. }) = self.0.as_deref() else {
            return join(Tree::EMPTY, item, Tree::EMPTY);
        };
        match rank.checked_sub(left.len() + 1) {
            None => balance(left.inserted(rank, item), middle.clone(), right.clone()),
            Some(rank) => balance(left.clone(), middle.clone(), right.inserted(rank, item)),
        }
    }

    /// With another item at `rank`; the same, if there is none.
    pub(crate) fn replace(&self, rank: usize, item: T) -> Tree<T> {
        let Some(Branch { left, item: middle, right, .. }) = self.0.as_deref() else { return Tree::EMPTY };
        let (middle, before) = (middle.clone(), left.len());
        match rank.cmp(&before) {
            Ordering::Less => join(left.replace(rank, item), middle, right.clone()),
            Ordering::Equal => join(left.clone(), Rc::new(item), right.clone()),
            Ordering::Greater => join(left.clone(), middle, right.replace(rank - before - 1, item)),
        }
    }

    /// Without the item at `rank`.
    pub(crate) fn remove(&self, rank: usize) -> Tree<T> {
        let Some(Branch { left, item: middle, right, .. }) = self.0.as_deref() else { return Tree::EMPTY };
        let (middle, before) = (middle.clone(), left.len());
        match rank.cmp(&before) {
            Ordering::Less => balance(left.remove(rank), middle, right.clone()),
            Ordering::Greater => balance(left.clone(), middle, right.remove(rank - before - 1)),
            Ordering::Equal => match right.first() {
                None => left.clone(),
                Some(next) => balance(left.clone(), next, right.remove(0)),
            },
        }
    }

    fn first(&self) -> Option<Rc<T>> {
        let mut branch = self.0.as_ref()?;
        while let Some(before) = &branch.left.0 {
            branch = before;
        }
        Some(branch.item.clone())
    }

    /// The items in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let mut waiting: Vec<&Branch<T>> = Vec::new();
        let mut tree = self;
        std::iter::from_fn(move || {
            while let Some(branch) = &tree.0 {
                waiting.push(branch);
                tree = &branch.left;
            }
            let branch = waiting.pop()?;
            tree = &branch.right;
            Some(&*branch.item)
        })
    }
}

impl<T: Levels> FromIterator<T> for Tree<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Tree<T> {
        let items: Vec<T> = items.into_iter().collect();
        let count = items.len();
        halves(&mut items.into_iter(), count)
    }
}

/// A tree of the next `count` items.
fn halves<T: Levels>(items: &mut impl Iterator<Item = T>, count: usize) -> Tree<T> {
    if count == 0 {
        return Tree::EMPTY;
    }
    let left = halves(items, count / 2);
    match items.next() {
        Some(item) => {
            let right = halves(items, count - count / 2 - 1);
            join(left, Rc::new(item), right)
        }
        None => left,
    }
}

fn join<T: Levels>(left: Tree<T>, item: Rc<T>, right: Tree<T>) -> Tree<T> {
    let size = left.len() + 1 + right.len();
    let levels = item.levels().max(left.levels()).max(right.levels());
    Tree(Some(Rc::new(Branch { left, item, right, size, levels })))
}

/// The same as [`join`], of sides of which one has become an item heavier or lighter.
fn balance<T: Levels>(left: Tree<T>, item: Rc<T>, right: Tree<T>) -> Tree<T> {
    let (light, heavy) = (left.len(), right.len());
    if light + heavy < 2 {
        return join(left, item, right);
    }
    if heavy > WEIGHT * light
        && let Some(Branch { left: inner, item: up, right: outer, .. }) = right.0.as_deref()
    {
        return match inner.0.as_deref() {
            Some(branch) if inner.len() >= INNER * outer.len() => join(
                join(left, item, branch.left.clone()),
                branch.item.clone(),
                join(branch.right.clone(), up.clone(), outer.clone()),
            ),
            _ => join(join(left, item, inner.clone()), up.clone(), outer.clone()),
        };
    }
    if light > WEIGHT * heavy
        && let Some(Branch { left: outer, item: up, right: inner, .. }) = left.0.as_deref()
    {
        return match inner.0.as_deref() {
            Some(branch) if inner.len() >= INNER * outer.len() => join(
                join(outer.clone(), up.clone(), branch.left.clone()),
                branch.item.clone(),
                join(branch.right.clone(), item, right),
            ),
            _ => join(outer.clone(), up.clone(), join(inner.clone(), item, right)),
        };
    }
    join(left, item, right)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl Levels for u32 {
        fn levels(&self) -> u16 {
            1
        }
    }

    fn height(tree: &Tree<u32>) -> u32 {
        tree.0.as_ref().map_or(0, |branch| 1 + height(&branch.left).max(height(&branch.right)))
    }

    proptest! {
        #[test]
        fn a_tree_does_what_a_vector_does(changes in prop::collection::vec((0_u8..4, any::<prop::sample::Index>()), 0..400)) {
            let mut tree = Tree::EMPTY;
            let mut vector: Vec<u32> = Vec::new();
            for (step, (change, index)) in changes.into_iter().enumerate() {
                let (item, before) = (step as u32, tree.clone());
                let count = vector.len();
                match (change, index.index(count + 1)) {
                    (0, rank) if rank < count => {
                        tree = tree.remove(rank);
                        vector.remove(rank);
                    }
                    (1, rank) if rank < count => {
                        tree = tree.replace(rank, item);
                        vector[rank] = item;
                    }
                    (_, rank) => {
                        tree = tree.insert(rank, item);
                        vector.insert(rank, item);
                    }
                }
                prop_assert_eq!(before.len(), count, "the version before stays");
            }
            prop_assert_eq!(tree.iter().copied().collect::<Vec<_>>(), vector.clone());
            prop_assert_eq!(vector.iter().copied().collect::<Tree<_>>().iter().copied().collect::<Vec<_>>(), vector.clone());
            prop_assert!((0..=vector.len()).all(|rank| tree.get(rank) == vector.get(rank)));
            prop_assert!(height(&tree) <= 3 * (vector.len() as u32 + 1).ilog2() + 1);
        }
    }

    #[test]
    fn items_in_order_are_found_by_halving() {
        let tree: Tree<u32> = (0..100).map(|number| number * 2).collect();
        assert_eq!(tree.find(|item| item.cmp(&84)), Ok(42));
        assert_eq!(tree.find(|item| item.cmp(&85)), Err(43));
        assert_eq!(tree.find(|item| item.cmp(&1000)), Err(100));
    }
}
