//! Values that are numbered in the order they are met.

use std::collections::HashMap;
use std::hash::Hash;

/// Values with their numbers.
#[derive(Debug)]
pub(super) struct Numbered<T> {
    list: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Numbered<T> {
        Numbered { list: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    /// The number of a value, which is a new one if it was not met before.
    pub(super) fn number(&mut self, value: T) -> u32 {
        if let Some(&number) = self.numbers.get(&value) {
            return number;
        }
        let number = self.list.len() as u32;
        self.list.push(value.clone());
        self.numbers.insert(value, number);
        number
    }

    pub(super) fn list(&self) -> &[T] {
        &self.list
    }

    pub(super) fn into_list(self) -> Vec<T> {
        self.list
    }
}
