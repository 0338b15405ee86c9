//! What a bus has learnt while it served, and the one that takes its place goes on with: states of endpoints, sessions,
//! tokens.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What the parts of a configuration have learnt, for as long as a bus that has them is there.
///
/// It belongs to a process that reloads; a part is the same in two buses where its name and its definition are.
#[derive(Clone, Default)]
pub struct ReloadState(Arc<Mutex<HashMap<Key, Weak<dyn Any + Send + Sync>>>>);

/// What kind of knowledge it is, whose, by name and definition, and the how manyth with all of these in one load.
type Key = (&'static str, String, usize);

/// What one load has taken over.
#[derive(Default)]
pub struct InheritedState {
    reload_state: ReloadState,
    counts: HashMap<(&'static str, String), usize>,
}

impl InheritedState {
    /// What a load can take over of that state.
    pub fn of(reload_state: &ReloadState) -> InheritedState {
        // What nobody has any more is gone with the last bus that had it.
        reload_state.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, known| known.strong_count() > 0);
        InheritedState { reload_state: reload_state.clone(), counts: HashMap::new() }
    }

    /// What the part with that identity has learnt in the bus before, if `fits`; otherwise what `make` begins with.
    pub fn inherit<T: Any + Send + Sync>(
        &mut self,
        kind: &'static str,
        identity: String,
        fits: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        let count = self.counts.entry((kind, identity.clone())).or_default();
        let key = (kind, identity, *count);
        *count += 1;
        self.known(key, fits, make)
    }

    /// The same for what all parts with that identity have together, in one bus and over all that take its place.
    pub fn share<T: Any + Send + Sync>(
        &self,
        kind: &'static str,
        identity: String,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        self.known((kind, identity, 0), |_| true, make)
    }

    fn known<T: Any + Send + Sync>(&self, key: Key, fits: impl FnOnce(&T) -> bool, make: impl FnOnce() -> T) -> Arc<T> {
        let mut reload_state = self.reload_state.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = reload_state.get(&key).and_then(Weak::upgrade).and_then(|known| known.downcast::<T>().ok());
        known.filter(|known| fits(known)).unwrap_or_else(|| {
            let made = Arc::new(make());
            let shared: Arc<dyn Any + Send + Sync> = made.clone();
            reload_state.insert(key, Arc::downgrade(&shared));
            made
        })
    }
}

impl fmt::Debug for ReloadState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReloadState").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learnt_goes_on_as_long_as_somebody_has_it() {
        let reload_state = ReloadState::default();
        let load = |number: u32, fits: bool| {
            let mut heirs = InheritedState::of(&reload_state);
            ["a", "a", "b"].map(|identity| heirs.inherit("number", identity.to_owned(), |_| fits, || number))
        };
        let first = load(1, true);
        assert!(!Arc::ptr_eq(&first[0], &first[1]), "two of one definition are two");
        let second = load(2, true);
        first.iter().zip(&second).for_each(|(one, other)| assert!(Arc::ptr_eq(one, other)));
        assert_eq!(load(3, false).map(|it| *it), [3, 3, 3]);
        drop((first, second));
        assert_eq!(load(4, true).map(|it| *it), [4, 4, 4]);
        assert_eq!(reload_state.0.lock().unwrap().len(), 3);
    }

    #[test]
    fn what_is_shared_is_one_in_a_bus_and_in_those_that_take_its_place() {
        let reload_state = ReloadState::default();
        let share = |heirs: &InheritedState, number: u32| heirs.share("number", "a".to_owned(), || number);
        let heirs = InheritedState::of(&reload_state);
        let first = share(&heirs, 1);
        assert!(Arc::ptr_eq(&first, &share(&heirs, 2)));
        assert!(Arc::ptr_eq(&first, &share(&InheritedState::of(&reload_state), 3)));
    }
}
