//! What paths lead to in JSON, found before the mediator runs that asks: what takes long is found on another thread.

use std::sync::Arc;

use myelin_json::{Error, Match, Path, Rules};

use super::Json;

/// How many nodes a value has, and bytes its text, that is worth the trouble.
const LARGE_NODES: usize = 100;
const LARGE_BYTES: usize = 64 * 1024;

/// How much text outcomes may have together; beyond it a path is followed by whoever asks.
const KEPT_BYTES: usize = 64 << 20;

/// What each path led to in a value, as it is now.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    known: Vec<(Arc<Path>, Result<Match, Error>)>,
    /// How many bytes were made for them.
    made_bytes: usize,
    /// Whether one was tried already that takes long.
    take_long: bool,
}

impl Outcomes {
    /// The outcome of a path that was followed ahead.
    pub(super) fn find(&self, path: &Arc<Path>) -> Option<&Result<Match, Error>> {
        self.known.iter().find(|(known, _)| Arc::ptr_eq(known, path)).map(|(_, outcome)| outcome)
    }

    fn keep(&mut self, path: &Arc<Path>, outcome: Result<Match, Error>) {
        let made = if let Ok(Match::Made(json)) = &outcome { json.len() } else { 0 };
        if self.made_bytes + made <= KEPT_BYTES {
            self.made_bytes += made;
            self.known.push((Arc::clone(path), outcome));
        }
    }
}

/// Follows paths as far as that takes no time; says whether all of them were followed, or need not be.
pub(super) fn follow_here(json: &mut Json, paths: &[Arc<Path>], rules: &Rules) -> bool {
    let value = json.value();
    if value.node_count() < LARGE_NODES && value.source().len() < LARGE_BYTES {
        return true;
    }
    // About a millisecond.
    let short = Rules { visits: 20_000, bytes: 256 * 1024, ..rules.clone() };
    for path in paths {
        if json.outcomes_mut().take_long {
            return false;
        }
        follow(json, path, &short, |outcomes, outcome| match outcome {
            Err(Error::Visited(_) | Error::Made(_)) => outcomes.take_long = true,
            outcome => outcomes.keep(path, outcome),
        });
    }
    !json.outcomes_mut().take_long
}

/// Follows all paths, however long that takes.
pub(super) fn follow_all(json: &mut Json, paths: &[Arc<Path>], rules: &Rules) {
    paths.iter().for_each(|path| follow(json, path, rules, |outcomes, outcome| outcomes.keep(path, outcome)));
}

/// Follows a path whose outcome is not known.
fn follow(json: &mut Json, path: &Arc<Path>, rules: &Rules, then: impl FnOnce(&mut Outcomes, Result<Match, Error>)) {
    if json.outcomes_mut().find(path).is_none() {
        let outcome = path.outcome(json.value(), json.value().root(), rules);
        then(json.outcomes_mut(), outcome);
    }
}
