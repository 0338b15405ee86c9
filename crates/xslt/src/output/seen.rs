//! Which names an element has given to attributes already.

use std::collections::HashMap;

use myelin_xml::Atom;

/// How many names are looked through one by one; beyond that their places are kept in a table.
const FEW: usize = 16;

/// Namespace and local name.
pub(super) type Key = (Atom, Atom);

/// Something for each attribute of an element, in the order they came.
#[derive(Debug)]
pub(super) struct Seen<V> {
    entries: Vec<(Key, V)>,
    /// Places in `entries`, once there are many.
    places: HashMap<Key, usize>,
}

impl<V> Default for Seen<V> {
    fn default() -> Seen<V> {
        Seen { entries: Vec::new(), places: HashMap::new() }
    }
}

impl<V> Seen<V> {
    #[inline]
    pub(super) fn clear(&mut self) {
        if self.entries.len() > FEW {
            self.places.clear();
        }
        self.entries.clear();
    }

    /// Puts in a value, in place of the one that the name had, which is given back.
    #[inline]
    pub(super) fn put(&mut self, key: Key, value: V) -> Option<V> {
        match self.place(key) {
            Some(place) => Some(std::mem::replace(&mut self.entries[place].1, value)),
            None => {
                self.add(key, value);
                None
            }
        }
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    #[inline]
    fn place(&self, key: Key) -> Option<usize> {
        if self.entries.len() <= FEW {
            self.entries.iter().position(|&(known, _)| known == key)
        } else {
            self.places.get(&key).copied()
        }
    }

    #[inline]
    fn add(&mut self, key: Key, value: V) {
        self.entries.push((key, value));
        if self.entries.len() > FEW {
            // The first time all that came before, then one by one.
            let from = self.places.len();
            self.places.extend(self.entries.iter().enumerate().skip(from).map(|(place, &(key, _))| (key, place)));
        }
    }
}

#[cfg(test)]
mod tests {
    use myelin_xml::Names;

    use super::*;

    #[test]
    fn the_last_value_of_a_name_counts_among_few_and_among_many() {
        let mut names = Names::new();
        let mut seen = Seen::default();
        for count in [3, 100, 5] {
            seen.clear();
            let keys: Vec<Key> = (0..count).map(|n| (Atom::EMPTY, names.atom(&format!("a{n}")))).collect();
            for (place, &key) in keys.iter().enumerate() {
                assert_eq!(seen.put(key, place), None);
            }
            assert_eq!(seen.put(keys[1], 7), Some(1));
            let expected: Vec<usize> = (0..count).map(|place| if place == 1 { 7 } else { place }).collect();
            assert_eq!(seen.values().copied().collect::<Vec<_>>(), expected);
        }
    }
}
