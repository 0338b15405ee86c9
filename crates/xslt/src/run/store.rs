//! Where things stay that a transformation makes or reads, as documents do: values refer to them until it ends.

use std::cell::{Cell, OnceCell};

/// How many things the first block has room for; each further one has twice as many.
const FIRST: usize = 8;

/// Blocks do not grow beyond this.
const MOST: usize = 1_024;

/// Keeps what it is given, at one place, as long as it lives itself.
pub(crate) struct Store<T> {
    first: Chunk<T>,
}

/// A chain of blocks; what stands in a block never moves.
struct Chunk<T> {
    slots: Box<[OnceCell<T>]>,
    used: Cell<usize>,
    next: OnceCell<Box<Chunk<T>>>,
}

/// A store and the block that has room.
pub(crate) struct Shelf<'a, T> {
    open: Cell<&'a Chunk<T>>,
}

impl<T> Store<T> {
    pub(crate) fn new() -> Store<T> {
        Store { first: Chunk::new(0) }
    }

    pub(crate) fn shelf(&self) -> Shelf<'_, T> {
        Shelf { open: Cell::new(&self.first) }
    }
}

impl<T> Chunk<T> {
    fn new(slots: usize) -> Chunk<T> {
        Chunk { slots: (0..slots).map(|_| OnceCell::new()).collect(), used: Cell::new(0), next: OnceCell::new() }
    }
}

impl<'a, T> Shelf<'a, T> {
    /// Keeps something.
    pub(crate) fn keep(&self, thing: T) -> &'a T {
        let mut chunk = self.open.get();
        if chunk.used.get() == chunk.slots.len() {
            let larger = (chunk.slots.len() * 2).clamp(FIRST, MOST);
            chunk = chunk.next.get_or_init(|| Box::new(Chunk::new(larger)));
            self.open.set(chunk);
        }
        let slot = chunk.used.get();
        chunk.used.set(slot + 1);
        chunk.slots[slot].get_or_init(|| thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_stay_where_they_are() {
        let store = Store::new();
        let shelf = store.shelf();
        let kept: Vec<&String> = (0..5_000).map(|number: u32| shelf.keep(number.to_string())).collect();
        for (number, text) in kept.iter().enumerate() {
            assert_eq!(**text, number.to_string());
        }
    }
}
