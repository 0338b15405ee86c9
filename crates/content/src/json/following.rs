//! Follows paths into JSON before the mediator runs that asks for them: work that takes long is done on another thread.

use std::sync::Arc;

use myelin_json::{Error, Match, Path, Rules};

use crate::json::Json;
use crate::path_results::PathResults;

/// A value with fewer nodes and a shorter text is not worth the trouble.
const LARGE_NODES: usize = 100;
const LARGE_BYTES: usize = 64 * 1024;

impl Json {
    /// Follows paths as far as that takes no time; says whether all of them were followed, or need not be.
    pub fn follow_here(&mut self, paths: &[Arc<Path>], rules: &Rules) -> bool {
        if self.value.node_count() < LARGE_NODES && self.value.source().len() < LARGE_BYTES {
            return true;
        }
        // About a millisecond.
        let short = Rules { visits: 20_000, bytes: 256 * 1024, ..rules.clone() };
        for path in paths {
            if self.path_results.take_long {
                return false;
            }
            self.follow(path, &short, |results, result| match result {
                Err(Error::Visited(_) | Error::Made(_)) => results.take_long = true,
                result => results.keep(path, result),
            });
        }
        !self.path_results.take_long
    }

    /// Follows all paths, however long that takes.
    pub fn follow_all(&mut self, paths: &[Arc<Path>], rules: &Rules) {
        paths.iter().for_each(|path| self.follow(path, rules, |results, result| results.keep(path, result)));
    }

    /// Forgets where paths lead to: a mediator is about to ask, and what an earlier one was told does not count.
    pub fn forget_paths(&mut self) {
        self.path_results = PathResults::default();
    }

    /// Follows a path whose result is not known.
    fn follow(&mut self, path: &Arc<Path>, rules: &Rules, then: impl FnOnce(&mut PathResults, Result<Match, Error>)) {
        if self.path_results.find(path).is_none() {
            let result = path.outcome(&self.value, self.value.root(), rules);
            then(&mut self.path_results, result);
        }
    }
}
