//! Moving files that were processed and could not be moved then.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::after::{Action, Done};
use crate::claim::{Claim, NotTaken};
use crate::records::Records;
use crate::settings::Settings;

/// How many are tried in one turn; the others have theirs later.
const MOST: usize = 100;

/// Tries once more; says of which files it failed, and why.
pub(crate) fn retry(settings: &Settings, records: &Mutex<Records>, now: SystemTime) -> Vec<(PathBuf, String)> {
    let lock = || records.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = lock().refresh() {
        tracing::debug!(%error, "cannot read the list of files that could not be moved");
    }
    let waiting: Vec<_> = lock().iter().take(MOST).collect();
    let mut problems = Vec::new();
    for (path, record) in waiting {
        let action = match &settings.records.target {
            Some(target) => Action::Move(target.clone()),
            None => settings.action(record.outcome).clone(),
        };
        let claim = match Claim::new(&path, settings.locking) {
            Ok(claim) => claim,
            Err(NotTaken::Failed(what)) => {
                problems.push((path, what));
                continue;
            }
            Err(_) => continue,
        };
        // Whether it is still the file that was processed was seen when the list was read, before it was claimed.
        if record.identity.is_some_and(|known| known != claim.identity) {
            continue;
        }
        match action.perform(&claim, &settings.location.path, now) {
            Ok(Done::Changed) => continue,
            Ok(done) => tracing::info!(file = %path.display(), ?done, "a file that was processed before is dealt with"),
            Err(error) => {
                problems.push((path, format!("still {error}")));
                continue;
            }
        }
        if let Err(error) = lock().remove(&path) {
            problems
                .push((path, format!("cannot strike it out of the list of files that could not be moved: {error}")));
        }
    }
    problems
}
