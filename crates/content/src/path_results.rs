//! What paths were found to lead to in a JSON value.

use std::sync::Arc;

use myelin_json::{Error, Match, Path};

/// The results of one value may have so much text together. Beyond it, whoever asks follows the path again.
const KEPT_BYTES: usize = 64 << 20;

/// What each path led to in a value, as the value is now.
#[derive(Debug, Default)]
pub(crate) struct PathResults {
    known: Vec<(Arc<Path>, Result<Match, Error>)>,
    /// How many bytes were made for them.
    made_bytes: usize,
    /// Whether a path was tried that takes long.
    pub(crate) take_long: bool,
}

impl PathResults {
    /// The result of a path that was followed before.
    pub(crate) fn find(&self, path: &Arc<Path>) -> Option<&Result<Match, Error>> {
        self.known.iter().find(|(known, _)| Arc::ptr_eq(known, path)).map(|(_, result)| result)
    }

    /// Keeps a result, as long as there is memory for it.
    pub(crate) fn keep(&mut self, path: &Arc<Path>, result: Result<Match, Error>) {
        let made = if let Ok(Match::Made(json)) = &result { json.len() } else { 0 };
        if self.made_bytes + made <= KEPT_BYTES {
            self.made_bytes += made;
            self.known.push((Arc::clone(path), result));
        }
    }
}
