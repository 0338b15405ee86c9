//! A bounded memory of what was worked out before, shared by threads.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

/// How many entries each of the two generations holds.
const GENERATION: usize = 1024;

/// Remembers values by key: at least the last [`GENERATION`] of them, at most twice as many.
///
/// When the young generation is full it becomes the old one, and the old one goes. What is found in the old one moves to
/// the young, so that what is in use stays. Whoever finds something in the young one only reads, side by side with others.
pub(super) struct Cache<K, V>(RwLock<Generations<K, V>>);

struct Generations<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl<K: Copy + Eq + Hash, V: Clone> Cache<K, V> {
    pub(super) fn find(&self, key: &K) -> Option<V> {
        let generations = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = generations.young.get(key) {
            return Some(value.clone());
        }
        let value = generations.old.get(key)?.clone();
        drop(generations);
        self.put(*key, value.clone());
        Some(value)
    }

    pub(super) fn put(&self, key: K, value: V) {
        let mut generations = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if generations.young.len() >= GENERATION {
            generations.old = std::mem::take(&mut generations.young);
        }
        generations.young.insert(key, value);
    }
}

impl<K, V> Default for Cache<K, V> {
    fn default() -> Cache<K, V> {
        Cache(RwLock::new(Generations { young: HashMap::new(), old: HashMap::new() }))
    }
}

impl<K, V> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cache")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_use_stays_and_the_rest_goes() {
        let cache = Cache::default();
        for key in 0..10 * GENERATION {
            cache.put(key, key);
            assert_eq!(cache.find(&0), Some(0));
        }
        assert_eq!(cache.find(&1), None);
        let generations = cache.0.read().expect("nobody panicked");
        assert!(generations.young.len() <= GENERATION && generations.old.len() <= GENERATION);
    }
}
