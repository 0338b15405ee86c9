//! A file as a message, and what is done with it when its exchange has ended.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use myelin_channel::{Acknowledge, Delivery, Ending, Runtime};
use myelin_message::{Arrival, CorrelationId, Head, Message};
use tokio::sync::OwnedSemaphorePermit;

use crate::after::{Action, Done};
use crate::beside::{PATIENCE, beside};
use crate::body::body;
use crate::claim::{Claim, Taken};
use crate::names;
use crate::records::{Outcome, Record, Records};
use crate::settings::Settings;
use crate::times::stamp;
use crate::write::write;

/// Copying to another file system is given a second for each so many bytes.
const BYTES_A_SECOND: u64 = 1024 * 1024;

/// What a receiver and the files that it has delivered share.
pub(crate) struct Shared {
    pub(crate) settings: Arc<Settings>,
    pub(crate) runtime: Rc<dyn Runtime>,
    pub(crate) records: Arc<Mutex<Records>>,
    /// The files that were taken since the last time that all was looked at, and are still there.
    pub(crate) done: RefCell<HashSet<PathBuf>>,
}

/// A file as a message.
pub(crate) fn delivery(shared: &Rc<Shared>, taken: Taken, permit: OwnedSemaphorePermit) -> Delivery {
    let head = head(shared, &taken.claim);
    let (claim, body) = body(taken, Rc::clone(&shared.runtime));
    let shared = Rc::clone(shared);
    let acknowledge: Acknowledge = Box::new(move |ending| {
        Box::pin(async move {
            end(&shared, claim, ending).await;
            // The next file may come only now, where they come one after the other.
            drop(permit);
        })
    });
    let arrival =
        Arrival { transport: "vfs", peer: None, local: None, inbound: None, correlation: CorrelationId::NONE };
    Delivery { message: Message::new(head, body), arrival, acknowledge }
}

/// What Synapse tells of a file among the transport headers.
fn head(shared: &Shared, claim: &Claim) -> Head {
    let name = claim.path.file_name().unwrap_or_default();
    let modified = claim.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut lines = vec![
        (
            "Content-Type",
            shared.settings.content_type.clone().unwrap_or_else(|| type_of(&name.to_string_lossy()).into()),
        ),
        ("FILE_NAME", names::shown(name)),
        ("FILE_PATH", names::shown(claim.path.as_os_str())),
        ("FILE_URI", names::file_uri(&claim.path)),
        ("FILE_LENGTH", claim.identity.length.to_string()),
        ("LAST_MODIFIED", modified.as_millis().to_string()),
        ("VFS_SCHEME", "file".to_owned()),
    ];
    let location = &shared.settings.location;
    if location.with_sub_folders
        && let Some(below) = claim.path.parent().and_then(|folder| folder.strip_prefix(&location.path).ok())
    {
        let below = names::shown(below.as_os_str());
        lines.push(("RELATIVE_PATH", if below.is_empty() { below } else { format!("/{below}") }));
    }
    let mut head = Head::default();
    for (name, value) in lines {
        if head.append(name, value.as_bytes()).is_err() {
            tracing::warn!(file = %claim.path.display(), name, "a property of a file is left out: it is no value of a header");
        }
    }
    head
}

/// The content type of a file by its name, where the configuration names none.
fn type_of(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    match &ending[..] {
        "xml" => "text/xml",
        "json" => "application/json",
        "txt" | "csv" => "text/plain",
        _ => "application/octet-stream",
    }
}

/// Does what the configuration wants done with a file whose exchange has ended.
async fn end(shared: &Rc<Shared>, claim: Claim, ending: Ending) {
    let path = claim.path.clone();
    let outcome = match ending {
        Ending::RolledBack => {
            tracing::info!(file = %path.display(), "the exchange was rolled back: the file stays, and is taken again");
            return;
        }
        Ending::Accepted => Outcome::Success,
        Ending::Answered(answer) => reply(shared, &path, answer).await,
        Ending::Faulted { code, message } => {
            tracing::warn!(file = %path.display(), code, fault = message, "the exchange of a file ended in a fault");
            Outcome::Failure
        }
    };
    finish(shared, claim, outcome).await;
}

/// Writes the answer, where the configuration says where to.
async fn reply(shared: &Shared, path: &std::path::Path, answer: Message) -> Outcome {
    let Some(target) = &shared.settings.reply else { return Outcome::Success };
    match write(&*shared.runtime, target, &answer.head, answer.body, None).await {
        Ok(file) => {
            tracing::debug!(file = %path.display(), reply = %file.display(), "wrote the answer to a file");
            Outcome::Success
        }
        Err(error) => {
            tracing::error!(file = %path.display(), %error, "the answer to a file is lost; the file counts as failed");
            Outcome::Failure
        }
    }
}

async fn finish(shared: &Rc<Shared>, claim: Claim, outcome: Outcome) {
    let path = claim.path.clone();
    let patience = PATIENCE + Duration::from_secs(claim.identity.length / BYTES_A_SECOND);
    let (settings, records) = (Arc::clone(&shared.settings), Arc::clone(&shared.records));
    let now = shared.runtime.now();
    let work = move || Ok(settle(&settings, &records, &claim, outcome, now));
    match beside(&*shared.runtime, patience, work).await {
        Ok(is_away) if is_away => {
            shared.done.borrow_mut().remove(&path);
        }
        Ok(_) => {}
        Err(error) => {
            let what = "the file was processed, and what is to be done with it takes too long; it may be taken again";
            tracing::error!(file = %path.display(), %error, "{what}");
        }
    }
}

/// Does what is to be done with a file, and remembers it where that fails; `true` where it is not there any more.
fn settle(
    settings: &Settings,
    records: &Mutex<Records>,
    claim: &Claim,
    outcome: Outcome,
    now: std::time::SystemTime,
) -> bool {
    let path = claim.path.display();
    let action = settings.action(outcome);
    let failed = match action.perform(claim, &settings.location.path, now) {
        Ok(done) => {
            tell(claim, action, outcome, &done);
            return matches!(done, Done::Removed | Done::Moved(_) | Done::Gone);
        }
        Err(error) => error,
    };
    let retry = settings.records.retry.as_millis();
    tracing::error!(
        file = %path, error = failed,
        "the file was processed and stays where it is; it is not taken again, and this is tried again every {retry} ms"
    );
    let record = Record { identity: Some(claim.identity), outcome };
    let time = stamp(now, &settings.records.time);
    let mut records = records.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = records.add(&claim.path, record, &time) {
        tracing::error!(
            file = %path, list = %records.list().display(), %error,
            "cannot write down that the file was processed: after a start of the bus it is taken again; \
             set transport.vfs.FailedRecordsFileDestination to a folder that the bus can write to"
        );
    }
    false
}

fn tell(claim: &Claim, action: &Action, outcome: Outcome, done: &Done) {
    let path = claim.path.display();
    match done {
        Done::Moved(target) => tracing::debug!(file = %path, target = %target.display(), "moved a file"),
        Done::Removed if outcome == Outcome::Failure => {
            tracing::warn!(file = %path, "removed a file that failed; set transport.vfs.ActionAfterFailure to MOVE to keep such");
        }
        Done::Removed => tracing::debug!(file = %path, "removed a file"),
        Done::Changed => {
            tracing::warn!(
                file = %path,
                "the file was changed while it was processed: it stays, and is taken again; \
                 transport.vfs.CheckSizeInterval or MinimumAge waits for those who write"
            );
        }
        Done::Gone => tracing::warn!(file = %path, ?action, "somebody has taken the file away while it was processed"),
        Done::Stays => {}
    }
}

impl Settings {
    /// What is done with a file whose exchange ended so.
    pub(crate) fn action(&self, outcome: Outcome) -> &Action {
        match outcome {
            Outcome::Success => &self.success,
            Outcome::Failure => &self.failure,
        }
    }
}
