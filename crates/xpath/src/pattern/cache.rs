//! The patterns last compiled while expressions ran, as compiling one costs far more than looking at a text.

use std::cell::RefCell;
use std::rc::Rc;

use super::Pattern;
use crate::error::Error;

/// More patterns than this are forgotten, the one that was asked for longest ago first.
const SIZE: usize = 8;

/// Patterns with their flags, the one asked for last in front.
#[derive(Debug, Default)]
pub(crate) struct PatternCache(RefCell<Vec<(String, Rc<Pattern>)>>);

impl PatternCache {
    /// A pattern, compiled now if it is not remembered.
    ///
    /// Errors: as [`Pattern::new`].
    pub(crate) fn get(&self, source: &str, flags: &str) -> Result<Rc<Pattern>, Error> {
        let mut known = self.0.borrow_mut();
        let found = known.iter().position(|(its, pattern)| its == flags && pattern.source() == source);
        let entry = match found {
            Some(0) => return Ok(known[0].1.clone()),
            Some(index) => known.remove(index),
            None => {
                let pattern = Rc::new(Pattern::new(source, flags)?);
                known.truncate(SIZE - 1);
                (flags.to_owned(), pattern)
            }
        };
        let pattern = entry.1.clone();
        known.insert(0, entry);
        Ok(pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_compiled_once_while_it_is_among_the_last() {
        let cache = PatternCache::default();
        let get = |source: &str, flags: &str| Rc::as_ptr(&cache.get(source, flags).expect(source));
        let (first, other) = (get("a", ""), get("a", "i"));
        assert_ne!(first, other);
        assert_eq!(first, get("a", ""));
        for number in 0..SIZE - 2 {
            get(&number.to_string(), "");
        }
        assert_eq!((first, other), (get("a", ""), get("a", "i")));
        assert!(cache.get("(", "").is_err());
    }
}
