//! Lists that are copied only where somebody changes them.

use std::ops::{Deref, Range};
use std::rc::Rc;

/// A list with one owner, or one that several share.
///
/// What an expression gives has one owner and costs no more than a vector; what a variable holds is shared once, so
/// that each reference to the variable costs the same, however long the list is.
#[derive(Clone, Debug)]
pub enum List<T> {
    /// With one owner; a clone copies it.
    Owned(Vec<T>),
    /// With several; a clone is one more of them.
    Shared(Rc<Vec<T>>),
}

impl<T> List<T> {
    /// The same list, for several owners.
    #[must_use]
    pub fn shared(self) -> List<T> {
        match self {
            List::Owned(items) => List::Shared(Rc::new(items)),
            shared @ List::Shared(_) => shared,
        }
    }
}

impl<T: Clone> List<T> {
    /// The items, copied where others own them, too.
    pub fn into_vec(self) -> Vec<T> {
        match self {
            List::Owned(items) => items,
            List::Shared(items) => Rc::unwrap_or_clone(items),
        }
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            List::Owned(items) => items,
            List::Shared(items) => items,
        }
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> List<T> {
        List::Owned(items)
    }
}

impl<T: Clone> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        match self {
            List::Owned(items) => IntoIter::Owned(items.into_iter()),
            List::Shared(items) => IntoIter::Shared(0..items.len(), items),
        }
    }
}

/// The items of a list, one after the other; of a shared one only those that are asked for are copied.
pub enum IntoIter<T> {
    /// Of a list with one owner.
    Owned(std::vec::IntoIter<T>),
    /// Of a shared one, with the indices to come.
    Shared(Range<usize>, Rc<Vec<T>>),
}

impl<T: Clone> Iterator for IntoIter<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        match self {
            IntoIter::Owned(items) => items.next(),
            IntoIter::Shared(left, items) => left.next().map(|index| items[index].clone()),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            IntoIter::Owned(items) => items.size_hint(),
            IntoIter::Shared(left, _) => left.size_hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_list_is_not_copied() {
        let list = List::from(vec![1, 2, 3]).shared();
        let other = list.clone();
        assert_eq!(list.as_ptr(), other.as_ptr());
        assert_eq!(other.clone().into_iter().skip(1).collect::<Vec<_>>(), [2, 3]);
    }
}
