//! What paths lead to in JSON, found before the mediator runs that asks: what takes long is found on another thread.

use std::sync::Arc;

use myelin_json::{Error, Match, Path, Rules};

use super::Json;

/// How long a text is, in bytes, that is worth the trouble.
const LARGE_BYTES: usize = 2 * 1024;

/// What each path led to in a value, as it is now.
#[derive(Debug, Default)]
pub(super) struct Outcomes(Vec<(Arc<Path>, Result<Match, Error>)>);

impl Outcomes {
    /// The outcome of a path that was followed ahead.
    pub(super) fn find(&self, path: &Arc<Path>) -> Option<&Result<Match, Error>> {
        self.0.iter().find(|(known, _)| Arc::ptr_eq(known, path)).map(|(_, outcome)| outcome)
    }
}

/// Follows paths as far as that takes no time; says whether all of them were followed, or need not be.
pub(super) fn follow_here(json: &mut Json, paths: &[Arc<Path>], rules: &Rules) -> bool {
    // About a millisecond.
    let short = Rules { visits: 20_000, bytes: 256 * 1024, ..rules.clone() };
    let mut are_all = true;
    if json.value().source().len() >= LARGE_BYTES {
        follow(json, paths, &short, |outcome| {
            let takes_long = matches!(outcome, Err(Error::Visited(_) | Error::Made(_)));
            are_all &= !takes_long;
            !takes_long
        });
    }
    are_all
}

/// Follows all paths, however long that takes.
pub(super) fn follow_all(json: &mut Json, paths: &[Arc<Path>], rules: &Rules) {
    follow(json, paths, rules, |_| true);
}

/// Follows those paths whose outcome is not known, and keeps what is to be kept.
fn follow(json: &mut Json, paths: &[Arc<Path>], rules: &Rules, mut is_kept: impl FnMut(&Result<Match, Error>) -> bool) {
    for path in paths {
        if json.outcomes().find(path).is_none() {
            let outcome = path.outcome(json.value(), json.value().root(), rules);
            if is_kept(&outcome) {
                json.outcomes_mut().0.push((Arc::clone(path), outcome));
            }
        }
    }
}
