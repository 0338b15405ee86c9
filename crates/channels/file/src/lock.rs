//! Locks: `NAME.lock` beside a file says that somebody works on it, as Synapse has it.
//!
//! The file keeps others out whatever they are. Beside that its owner holds an advisory lock (`flock`) on it, which the
//! kernel gives back when the owner dies: so one of ours that nobody holds is known to be left over, and is taken over
//! at once. Synapse holds none, so one of its locks counts until its own rules for a release say otherwise.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::net::{IpAddr, ToSocketAddrs};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::names;

/// How the content of our own locks begins.
const OURS: &str = "myelin-";

/// A lock without content is one whose owner is about to write it, or died before; after so long it is the latter.
const EMPTY_FOR: Duration = Duration::from_secs(10);

/// When a lock that Synapse made is taken for one that was left over (`AutoLockRelease`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    /// Its age by what it says itself (`AutoLockReleaseInterval`).
    pub(crate) after: Duration,
    /// Whether only locks that this machine made are released (`LockReleaseSameNode`).
    pub(crate) same_node: bool,
}

/// A lock that this process holds; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Takes the lock of a file; `None` where somebody else has it.
    ///
    /// Errors: it cannot be made, as in a folder that cannot be written to.
    pub(crate) fn take(file: &Path, release: Option<Release>) -> io::Result<Option<Lock>> {
        let path = names::lock_of(file);
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => Lock::fresh(Lock { path, file }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Lock::take_over(path, release),
            Err(error) => Err(error),
        }
    }

    fn fresh(lock: Lock) -> io::Result<Option<Lock>> {
        // Who looked at the file before it had content holds it for a moment.
        if hold_within(&lock.file, Duration::from_millis(100)) && lock.is_in_place() {
            lock.sign().map(Some)
        } else {
            Ok(None)
        }
    }

    /// Takes a lock that is there already, if nobody has it any more.
    fn take_over(path: PathBuf, release: Option<Release>) -> io::Result<Option<Lock>> {
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            // It was given back just now, or is not ours to touch.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let held = hold(&file);
        let mut content = String::new();
        if held == Held::No || (&file).take(1024).read_to_string(&mut content).is_err() {
            return Ok(None);
        }
        let is_left_over = match content.trim() {
            "" => age(&file.metadata()?) > EMPTY_FOR,
            // Without `flock` nobody knows whether the owner lives.
            content if content.starts_with(OURS) && held == Held::Yes => true,
            content => release.is_some_and(|release| release.allows(content)),
        };
        // It is given back by whoever has it when it is closed; `Drop` is for those who have signed it.
        let found = Lock { path, file };
        if is_left_over && found.is_in_place() {
            tracing::info!(lock = %found.path.display(), "a lock that was left over is taken over");
            return found.sign().map(Some);
        }
        found.leave();
        Ok(None)
    }

    /// Writes into it whose it is: a number, host, address and time, as Synapse does.
    fn sign(mut self) -> io::Result<Lock> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (host, address) = node();
        let content = format!("{OURS}{}-{}:{host}:{address}:{}", std::process::id(), time.as_nanos(), time.as_millis());
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(content.as_bytes())?;
        Ok(self)
    }

    /// Whether the path still leads to this very file.
    fn is_in_place(&self) -> bool {
        let Ok(mine) = self.file.metadata() else { return false };
        std::fs::metadata(&self.path).is_ok_and(|there| (there.dev(), there.ino()) == (mine.dev(), mine.ino()))
    }

    /// Lets go of a lock that is somebody else's.
    fn leave(mut self) {
        self.path = PathBuf::new();
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty()
            && self.is_in_place()
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::error!(lock = %self.path.display(), %error, "cannot remove a lock; remove it by hand");
        }
    }
}

impl Release {
    /// Whether a lock with that content may be taken over.
    fn allows(self, content: &str) -> bool {
        let parts: Vec<_> = content.split(':').collect();
        let &[_, host, address, time] = &parts[..] else { return false };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let made = Duration::from_millis(time.parse().unwrap_or(u64::MAX));
        let is_here = (host, address) == (node().0.as_str(), node().1.as_str());
        (!self.same_node || is_here) && now.checked_sub(made).is_some_and(|age| age >= self.after)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Yes,
    No,
    /// The file system has no such locks.
    Unknown,
}

fn hold(file: &File) -> Held {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Held::Yes,
        Err(Errno::WOULDBLOCK | Errno::INTR) => Held::No,
        Err(_) => Held::Unknown,
    }
}

/// Removes a lock of ours whose owner died: of a file that is not there any more nobody else would.
pub(crate) fn remove_left_over(path: &Path) {
    let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else { return };
    let mut content = String::new();
    let is_ours = (&file).take(1024).read_to_string(&mut content).is_ok() && content.starts_with(OURS);
    if is_ours && is_free(&file) {
        // Dropping it removes it, if it is still there.
        drop(Lock { path: path.to_owned(), file });
    }
}

/// Waits so long until nobody else holds that file, and holds it; `false` where somebody still does.
pub(crate) fn hold_within(file: &File, time: Duration) -> bool {
    const STEP: Duration = Duration::from_millis(1);
    let mut left = time;
    while hold(file) == Held::No {
        let Some(less) = left.checked_sub(STEP) else { return false };
        left = less;
        std::thread::sleep(STEP);
    }
    true
}

/// Whether nobody holds that file; holds it from then on.
pub(crate) fn is_free(file: &File) -> bool {
    hold(file) == Held::Yes
}

/// How long ago a file was changed, by the clock of the machine, which also stamps files.
pub(crate) fn age(metadata: &Metadata) -> Duration {
    metadata.modified().ok().and_then(|modified| modified.elapsed().ok()).unwrap_or_default()
}

/// The name and the address of this machine, as Java's `InetAddress.getLocalHost()` has them.
fn node() -> &'static (String, String) {
    static NODE: OnceLock<(String, String)> = OnceLock::new();
    NODE.get_or_init(|| {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let mut addresses = (host.as_str(), 0).to_socket_addrs().into_iter().flatten().map(|found| found.ip());
        let address = addresses.find(IpAddr::is_ipv4).map_or_else(|| "127.0.0.1".to_owned(), |found| found.to_string());
        (host, address)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("orders.xml");
        (folder, file)
    }

    fn synapse_lock(file: &Path, host: &str, age: Duration) {
        let made = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() - age;
        std::fs::write(names::lock_of(file), format!("-12345:{host}:{}:{}", node().1, made.as_millis())).unwrap();
    }

    #[test]
    fn one_has_it_and_gives_it_back() {
        let (_folder, file) = folder();
        let lock = Lock::take(&file, None).unwrap().unwrap();
        assert!(Lock::take(&file, None).unwrap().is_none());
        let content = std::fs::read_to_string(names::lock_of(&file)).unwrap();
        assert_eq!(content.split(':').count(), 4, "{content}");
        drop(lock);
        assert!(!names::lock_of(&file).exists());
        assert!(Lock::take(&file, None).unwrap().is_some());
    }

    #[test]
    fn a_lock_whose_owner_died_is_taken_over_at_once() {
        let (_folder, file) = folder();
        std::fs::write(names::lock_of(&file), format!("{OURS}1-1:host:127.0.0.1:1")).unwrap();
        let lock = Lock::take(&file, None).unwrap().unwrap();
        assert!(Lock::take(&file, None).unwrap().is_none());
        drop(lock);
        assert!(!names::lock_of(&file).exists());
    }

    #[test]
    fn locks_of_synapse_hold_until_its_own_rules_release_them() {
        let (_folder, file) = folder();
        let check = |host: &str, age: u64, release: Option<Release>, expected: bool| {
            synapse_lock(&file, host, Duration::from_secs(age));
            assert_eq!(Lock::take(&file, release).unwrap().is_some(), expected, "{host} {age} {release:?}");
            assert_eq!(names::lock_of(&file).exists(), !expected);
        };
        let here = &node().0;
        let after = |seconds, same_node| Some(Release { after: Duration::from_secs(seconds), same_node });
        check(here, 3600, None, false);
        check(here, 3600, after(0, true), true);
        check(here, 20, after(60, true), false);
        check(here, 61, after(60, true), true);
        check("elsewhere", 3600, after(0, true), false);
        check("elsewhere", 3600, after(0, false), true);
    }

    #[test]
    fn an_empty_lock_is_left_over_after_a_while() {
        let (_folder, file) = folder();
        let lock = File::create(names::lock_of(&file)).unwrap();
        assert!(Lock::take(&file, None).unwrap().is_none());
        lock.set_modified(SystemTime::now() - 2 * EMPTY_FOR).unwrap();
        assert!(Lock::take(&file, None).unwrap().is_some());
    }

    #[test]
    fn locks_that_were_left_over_are_removed_and_those_of_others_stay() {
        let (folder, file) = folder();
        let held = Lock::take(&file, None).unwrap().unwrap();
        let [ours, theirs] = ["gone.xml.lock", "there.xml.lock"].map(|name| folder.path().join(name));
        std::fs::write(&ours, format!("{OURS}1-1:host:127.0.0.1:1")).unwrap();
        std::fs::write(&theirs, "1:host:127.0.0.1:1").unwrap();
        for path in [&ours, &theirs, &held.path] {
            remove_left_over(path);
        }
        assert!(!ours.exists() && theirs.exists() && held.path.exists());
    }

    #[test]
    fn of_many_at_once_one_gets_it() {
        let (_folder, file) = folder();
        for round in 0..50 {
            if round % 2 == 1 {
                std::fs::write(names::lock_of(&file), format!("{OURS}1-1:host:127.0.0.1:1")).unwrap();
            }
            let locks: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| Lock::take(&file, None).unwrap())).collect();
                threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!(locks.len(), 1, "round {round}");
        }
    }
}
