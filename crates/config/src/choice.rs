//! What keys may mean that are worked out while serving: all of it is there when the configuration is loaded, as nothing is
//! looked for then.

use std::collections::HashMap;
use std::sync::Arc;

use crate::registry::path_of;

/// What the keys of local entries mean, and those of files of the registry.
#[derive(Debug)]
pub struct Choice<T: ?Sized> {
    entries: HashMap<String, Arc<T>>,
    /// Of the registry, by each of their paths in it.
    resources: HashMap<String, Arc<T>>,
}

impl<T: ?Sized> Choice<T> {
    /// What local entries mean; no files yet.
    pub fn among(entries: HashMap<String, Arc<T>>) -> Choice<T> {
        Choice { entries, resources: HashMap::new() }
    }

    /// Adds a file of the registry. What was deployed comes before files at the same path: who came first stays.
    pub fn add(&mut self, paths: impl IntoIterator<Item = String>, meant: &Arc<T>) {
        for path in paths {
            self.resources.entry(path).or_insert_with(|| Arc::clone(meant));
        }
    }

    /// What that key means; `None` where there was nothing when the configuration was loaded.
    pub fn find(&self, key: &str) -> Option<&Arc<T>> {
        let in_registry = || self.resources.get(&path_of(key)?);
        self.entries.get(key).or_else(in_registry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_a_key_is_written_it_means_the_very_same() {
        let mut choice = Choice::<str>::among(HashMap::new());
        choice.add(["/_system/config/a.js".to_owned()], &Arc::from("1"));
        choice.add(["/_system/config/a.js".to_owned()], &Arc::from("2"));
        let first = choice.find("conf:a.js").unwrap();
        assert_eq!(&**first, "1");
        for key in ["conf:/a.js", "conf:////a.js", "/_system/config/a.js", "_system/config/a.js"] {
            assert!(Arc::ptr_eq(first, choice.find(key).unwrap()), "{key}");
        }
        assert!(choice.find("conf:../config/a.js").is_none());
    }
}
