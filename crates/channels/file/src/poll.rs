//! Looking into a folder again and again, and delivering what is there.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use myelin_channel::{Delivery, Due, LocalFuture, Receiver, Runtime};
use tokio::sync::Semaphore;

use crate::advice::explained;
use crate::beside::{PATIENCE, beside};
use crate::claim::{Claim, NotTaken};
use crate::deliver::{Shared, delivery};
use crate::list::{Candidate, Listing, Look, MOST};
use crate::records::{self, Records};
use crate::retry::retry;
use crate::settings::{Settings, is_missing};

/// How long a look into a large folder may take.
const LOOK_PATIENCE: Duration = Duration::from_secs(600);

/// However far away the next time is, a clock that was set meanwhile is noticed within this time.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The same problem is told again after so long.
const SILENCE: Duration = Duration::from_secs(3600);

/// So many problems are remembered as told.
const MOST_TOLD: usize = 1_000;

/// What takes files from one folder.
pub(crate) struct Poller {
    shared: Rc<Shared>,
    turns: Arc<Semaphore>,
    /// What the last look has found and nobody has taken yet.
    found: VecDeque<Candidate>,
    /// Whether a new time has begun, and not all was made ready for it.
    begins: bool,
    /// Whether it may be looked at once more before the next time is due, as there is more than one look finds.
    has_more: bool,
    /// Whether locks that were left over were removed.
    has_swept: bool,
    /// How many files may still be taken until the next time.
    left: usize,
    /// When the last time began, and when the next one is due.
    last: Option<Duration>,
    due: Option<Due>,
    /// Until when files that were found have to stay as they were seen.
    stable: Duration,
    /// When failed moves are tried again.
    retry: Duration,
    /// Looks that failed, one after the other.
    failures: u64,
    /// When the last file was taken.
    taken: Option<Duration>,
    told: HashMap<String, Duration>,
}

impl Poller {
    pub(crate) fn new(settings: Arc<Settings>, runtime: Rc<dyn Runtime>) -> Poller {
        let turns = turns(&settings);
        let list = &settings.records;
        let records = Records::new(settings.location.path.clone(), list.folder.clone(), list.name.clone());
        let records = Arc::new(Mutex::new(records));
        let shared = Rc::new(Shared { settings, runtime, records, done: Default::default() });
        Poller {
            shared,
            turns,
            found: VecDeque::new(),
            begins: false,
            has_more: false,
            has_swept: false,
            left: 0,
            last: None,
            due: None,
            stable: Duration::ZERO,
            retry: Duration::ZERO,
            failures: 0,
            taken: None,
            told: HashMap::new(),
        }
    }

    async fn next(&mut self) -> Option<Delivery> {
        loop {
            // Nobody closes the semaphore.
            let permit = Arc::clone(&self.turns).acquire_owned().await.ok()?;
            if self.found.is_empty() {
                drop(permit);
                if self.begins {
                    self.begin().await;
                } else if self.has_more && self.left > 0 {
                    self.look().await;
                } else {
                    self.wait().await?;
                    self.begin().await;
                }
                continue;
            }
            self.pause().await;
            let Some(candidate) = self.found.pop_front() else { continue };
            if let Some(taken) = self.take(candidate).await {
                self.taken = Some(self.shared.runtime.monotonic());
                self.left -= 1;
                if self.left == 0 {
                    self.found.clear();
                }
                return Some(delivery(&self.shared, taken, permit));
            }
        }
    }

    /// Waits until the next time is due, and does meanwhile what is left to do; `None` where there is no next time.
    async fn wait(&mut self) -> Option<()> {
        let runtime = Rc::clone(&self.shared.runtime);
        let settings = Arc::clone(&self.shared.settings);
        let due = match self.due {
            Some(due) => due,
            None => {
                let next = settings.schedule.next(self.last, &*runtime)?;
                // A folder that could not be looked into may be there again before the next time.
                let again = Due::Monotonic(runtime.monotonic().saturating_add(settings.reconnect));
                let is_tried_again = self.failures > 0 && self.failures <= settings.retries;
                let is_sooner = is_tried_again && again.left(&*runtime) < next.left(&*runtime);
                *self.due.insert(if is_sooner { again } else { next })
            }
        };
        loop {
            let left = due.left(&*runtime).min(LONGEST_WAIT);
            if left.is_zero() {
                return Some(());
            }
            let wait = match self.retry.checked_sub(runtime.monotonic()) {
                Some(retry) if self.has_records() => left.min(retry),
                _ => left,
            };
            runtime.sleep(wait).await;
            self.retry_moves().await;
        }
    }

    /// Begins a new time: all files may be taken again.
    async fn begin(&mut self) {
        self.last = Some(self.shared.runtime.monotonic());
        self.due = None;
        // Who does not wait for the end of this, and comes again, begins again.
        self.begins = true;
        self.left = self.shared.settings.count.unwrap_or(usize::MAX);
        self.shared.done.borrow_mut().clear();
        self.retry_moves().await;
        let records = Arc::clone(&self.shared.records);
        let refreshed = move || {
            let mut records = records.lock().unwrap_or_else(PoisonError::into_inner);
            let done = records.refresh();
            Ok((
                done.map_err(|error| (records.list().to_owned(), error)),
                records.iter().map(|(path, _)| path).collect(),
            ))
        };
        let refreshed: std::io::Result<(Result<(), _>, Vec<_>)> =
            beside(&*self.shared.runtime, PATIENCE, refreshed).await;
        match refreshed {
            Ok((done, paths)) => {
                if let Err((list, error)) = done {
                    let what = "cannot use the list of files that were processed and could not be moved";
                    self.tell(&list, &format!("{what}: {error}"));
                }
                if paths.len() >= records::MOST {
                    let what =
                        format!("{} files were processed and could not be moved: no more are taken", paths.len());
                    self.tell(&self.shared.settings.location.path.clone(), &what);
                    (self.begins, self.has_more) = (false, false);
                    return;
                }
                self.shared.done.borrow_mut().extend(paths);
            }
            Err(error) => self.tell(&self.shared.settings.location.path.clone(), &error.to_string()),
        }
        (self.begins, self.has_more) = (false, true);
        self.look().await;
    }

    /// Looks into the folder.
    async fn look(&mut self) {
        let settings = Arc::clone(&self.shared.settings);
        let done = self.shared.done.borrow().clone();
        if done.len() >= MOST + settings.at_once {
            // So many stay where they are that there is no end to looking for others.
            self.has_more = false;
            return;
        }
        let (now, order, sweeps) = (self.shared.runtime.now(), settings.order, !self.has_swept);
        let work = move || {
            let (root, with_sub_folders) = (&settings.location.path, settings.location.with_sub_folders);
            Look { root, with_sub_folders, filter: &settings.filter, order, done: &done, now, most: MOST, sweeps }
                .list()
        };
        let listing = beside(&*self.shared.runtime, LOOK_PATIENCE, work).await;
        self.has_more = false;
        match listing {
            Ok(Listing { candidates, is_full, problems }) => {
                self.failures = 0;
                self.has_swept = true;
                self.has_more = is_full;
                self.found = candidates.into();
                let root = self.shared.settings.location.path.clone();
                problems.iter().for_each(|problem| self.tell(&root, problem));
                let stable = self.shared.settings.stable.unwrap_or_default();
                self.stable = self.shared.runtime.monotonic().saturating_add(stable);
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let path = self.shared.settings.location.path.clone();
                if is_missing(&path) {
                    self.tell(&path, "the folder is not there; make it, or correct transport.vfs.FileURI");
                } else {
                    tracing::debug!(file = %path.display(), "the file is not there yet");
                }
            }
            Err(error) => {
                self.failures += 1;
                let what = format!("cannot look into it, which is tried again: {}", explained(&error));
                self.tell(&self.shared.settings.location.path.clone(), &what);
            }
        }
    }

    /// Lets as much time pass before a file is taken as is wanted: behind the one before, and since it was found.
    async fn pause(&self) {
        let next = self.taken.map(|taken| taken.saturating_add(self.shared.settings.pause)).unwrap_or_default();
        let left = next.max(self.stable).saturating_sub(self.shared.runtime.monotonic());
        if !left.is_zero() {
            self.shared.runtime.sleep(left).await;
        }
    }

    async fn take(&mut self, candidate: Candidate) -> Option<crate::claim::Taken> {
        let (locking, Candidate { path, seen }) = (self.shared.settings.locking, candidate);
        self.shared.done.borrow_mut().insert(path.clone());
        let file = path.clone();
        let records = Arc::clone(&self.shared.records);
        let work = move || {
            let taken = Claim::open(&file, locking, seen);
            let is_done = |claim: &Claim| records.lock().unwrap_or_else(PoisonError::into_inner).has(claim);
            // It may have been processed since it was found, and still be there.
            Ok(taken.and_then(|taken| if is_done(&taken.claim) { Err(NotTaken::Busy) } else { Ok(taken) }))
        };
        match beside(&*self.shared.runtime, PATIENCE, work).await {
            Ok(Ok(taken)) => return Some(taken),
            Ok(Err(NotTaken::Busy)) => tracing::debug!(file = %path.display(), "somebody else works on a file"),
            Ok(Err(NotTaken::Gone)) => {
                self.shared.done.borrow_mut().remove(&path);
            }
            Ok(Err(NotTaken::Unstable)) => tracing::debug!(file = %path.display(), "a file is still being written"),
            Ok(Err(NotTaken::Failed(what))) => self.tell(&path, &what),
            Err(error) => self.tell(&path, &error.to_string()),
        }
        None
    }

    /// Whether files wait to be moved; whoever works on their list just now is not waited for.
    fn has_records(&self) -> bool {
        self.shared.records.try_lock().is_ok_and(|records| records.len() > 0)
    }

    /// Tries again to move what could not be moved, where it is time.
    async fn retry_moves(&mut self) {
        let runtime = Rc::clone(&self.shared.runtime);
        if runtime.monotonic() < self.retry {
            return;
        }
        self.retry = runtime.monotonic().saturating_add(self.shared.settings.records.retry);
        let (settings, records) = (Arc::clone(&self.shared.settings), Arc::clone(&self.shared.records));
        if !self.has_records() {
            return;
        }
        let now = runtime.now();
        let problems = beside(&*runtime, LOOK_PATIENCE, move || Ok(retry(&settings, &records, now))).await;
        for (path, problem) in problems.unwrap_or_default() {
            self.tell(&path, &problem);
        }
    }

    /// Tells of a problem, unless the same was told not long ago.
    fn tell(&mut self, path: &Path, problem: &str) {
        let now = self.shared.runtime.monotonic();
        let key = format!("{}: {problem}", path.display());
        self.told.retain(|_, told| now.saturating_sub(*told) < SILENCE);
        if self.told.len() >= MOST_TOLD || self.told.contains_key(&key) {
            tracing::debug!(file = %path.display(), "{problem}");
            return;
        }
        tracing::error!(file = %path.display(), "{problem}");
        self.told.insert(key, now);
    }
}

/// The turns of those that take the same files one after the other.
type Turns = HashMap<(PathBuf, String), Weak<Semaphore>>;

/// How many files may be under way at once.
///
/// Where they are taken one after the other, this holds for the receivers of two configurations, too: after a reload
/// the new one waits until the file that the old one has taken is done.
fn turns(settings: &Settings) -> Arc<Semaphore> {
    static TURNS: Mutex<Option<Turns>> = Mutex::new(None);
    let new = Arc::new(Semaphore::new(settings.at_once));
    if settings.at_once > 1 {
        return new;
    }
    let pattern = settings.filter.pattern.as_ref().map_or("", |pattern| pattern.label());
    let key = (settings.location.path.clone(), pattern.to_owned());
    let mut all = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_default();
    all.retain(|_, turns| turns.strong_count() > 0);
    if let Some(known) = all.get(&key).and_then(Weak::upgrade) {
        return known;
    }
    all.insert(key, Arc::downgrade(&new));
    new
}

impl Receiver for Poller {
    fn next(&mut self) -> LocalFuture<'_, Option<Delivery>> {
        Box::pin(self.next())
    }
}
