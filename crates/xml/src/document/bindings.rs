//! What is known of each prefix at the place of a walk, at a cost that hangs on the prefixes in use, not on all names.

use std::collections::HashMap;

/// How many prefixes are looked for one after the other; beyond that their places are kept in a table.
const FEW: usize = 16;

/// A value for each key that was ever asked to be changed, the default for all others.
///
/// Subtrees are written and signed one by one, so that a table as long as all names of the document would make a
/// large document cost its size again for each of its parts.
#[derive(Debug, Default)]
pub(crate) struct Bindings<V> {
    entries: Vec<(usize, V)>,
    /// Places in `entries`, once there are many.
    places: HashMap<usize, usize>,
}

impl<V: Copy + Default> Bindings<V> {
    /// The value under `key`.
    #[inline]
    pub(crate) fn get(&self, key: usize) -> V {
        self.place(key).map_or_else(V::default, |place| self.entries[place].1)
    }

    /// The value under `key`, to be changed.
    #[inline]
    pub(crate) fn get_mut(&mut self, key: usize) -> &mut V {
        let place = match self.place(key) {
            Some(place) => place,
            None => self.add(key),
        };
        &mut self.entries[place].1
    }

    /// All keys that were ever changed, each once, with their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, V)> {
        self.entries.iter().copied()
    }

    #[inline]
    fn place(&self, key: usize) -> Option<usize> {
        if self.entries.len() <= FEW {
            self.entries.iter().position(|&(known, _)| known == key)
        } else {
            self.places.get(&key).copied()
        }
    }

    #[cold]
    fn add(&mut self, key: usize) -> usize {
        self.entries.push((key, V::default()));
        if self.entries.len() > FEW {
            // The first time all that came before, then one by one.
            let from = self.places.len();
            self.places.extend(self.entries.iter().enumerate().skip(from).map(|(place, &(key, _))| (key, place)));
        }
        self.entries.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_among_few_and_among_many() {
        let mut bindings = Bindings::default();
        for round in 1..3 {
            for key in 0..100 {
                *bindings.get_mut(key * 7) = key + round;
                assert_eq!((bindings.get(key * 7), bindings.get(key * 7 + 1)), (key + round, 0));
            }
            assert!(bindings.iter().eq((0..100).map(|key| (key * 7, key + round))));
        }
    }
}
