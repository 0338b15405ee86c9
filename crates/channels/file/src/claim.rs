//! Taking a file so that nobody else takes it: the step between a name in a list and a message.

use std::collections::HashSet;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::advice::explained;
use crate::lock::{Lock, Release};

/// How much of a file is read at a time.
pub(crate) const PIECE_BYTES: usize = 128 * 1024;

/// Which content a file had: whoever writes to it or replaces it changes this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) length: u64,
    /// When it was changed: seconds and nanoseconds since 1970.
    pub(crate) modified: (i64, i64),
}

/// How files are locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locking {
    /// Nobody else takes files from there (`Locking` is `disable`).
    Off,
    /// By `NAME.lock`; what Synapse left over is released by these rules, if any.
    On(Option<Release>),
}

/// A file that this process works on. Dropping it leaves the file where it is, for whoever comes next.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) path: PathBuf,
    pub(crate) identity: Identity,
    pub(crate) modified: SystemTime,
    _lock: Option<Lock>,
    _entry: UnderWay,
}

/// A claimed file that can be read.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) claim: Claim,
    pub(crate) file: File,
    /// Its first bytes; all of them where there are no more.
    pub(crate) first: Vec<u8>,
}

/// Why a file was not taken.
#[derive(Debug)]
pub(crate) enum NotTaken {
    /// Somebody else works on it.
    Busy,
    /// It is not there any more, or is no file.
    Gone,
    /// It was changed since it was seen: somebody still writes to it.
    Unstable,
    /// What kept it from being taken, and what to do.
    Failed(String),
}

impl Identity {
    pub(crate) fn of(metadata: &Metadata) -> Identity {
        Identity {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

impl Claim {
    /// Claims a file; who comes second gets nothing.
    ///
    /// Errors: see [`NotTaken`]; nothing of the claim is left then.
    pub(crate) fn new(path: &Path, locking: Locking) -> Result<Claim, NotTaken> {
        let entry = UnderWay::enter(path).ok_or(NotTaken::Busy)?;
        let lock = match locking {
            Locking::Off => None,
            Locking::On(release) => match Lock::take(path, release) {
                Ok(Some(lock)) => Some(lock),
                Ok(None) => return Err(NotTaken::Busy),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(NotTaken::Gone),
                Err(error) => {
                    let what = explained(&error);
                    let or = "or set transport.vfs.Locking to disable where nobody else takes files from the folder";
                    return Err(NotTaken::Failed(format!("cannot make its lock: {what}; {or}")));
                }
            },
        };
        // Whoever had the lock before may have moved the file.
        let metadata = std::fs::metadata(path).map_err(|error| NotTaken::reading(&error))?;
        if !metadata.is_file() {
            return Err(NotTaken::Gone);
        }
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let identity = Identity::of(&metadata);
        Ok(Claim { path: path.to_owned(), identity, modified, _lock: lock, _entry: entry })
    }

    /// Claims a file and begins to read it.
    ///
    /// Errors: as [`Claim::new`].
    pub(crate) fn open(path: &Path, locking: Locking, seen: Option<Identity>) -> Result<Taken, NotTaken> {
        let claim = Claim::new(path, locking)?;
        if seen.is_some_and(|seen| seen != claim.identity) {
            return Err(NotTaken::Unstable);
        }
        // Should a pipe have taken the file's place meanwhile, opening it must not wait for a writer.
        let no_wait = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let open = OpenOptions::new().read(true).custom_flags(no_wait).open(path);
        let mut file = open.map_err(|error| NotTaken::reading(&error))?;
        let metadata = file.metadata().map_err(|error| NotTaken::reading(&error))?;
        if Identity::of(&metadata) != claim.identity {
            return Err(NotTaken::Unstable);
        }
        let mut first = Vec::new();
        let some = claim.identity.length.min(PIECE_BYTES as u64);
        (&mut file).take(some).read_to_end(&mut first).map_err(|error| NotTaken::reading(&error))?;
        Ok(Taken { claim, file, first })
    }

    /// Whether the file is still the one that was claimed, with the same content; `None` where it is gone.
    pub(crate) fn is_unchanged(&self) -> io::Result<Option<bool>> {
        match std::fs::metadata(&self.path) {
            Ok(metadata) => Ok(Some(Identity::of(&metadata) == self.identity)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl NotTaken {
    fn reading(error: &io::Error) -> NotTaken {
        match error.kind() {
            io::ErrorKind::NotFound => NotTaken::Gone,
            _ => {
                NotTaken::Failed(format!("cannot read it: {error}; let the bus read it, or take it out of the folder"))
            }
        }
    }
}

/// The files that this process works on, whichever thread and bus: they are not taken twice even without locks.
static UNDER_WAY: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);

/// A file's place among them, until it is dropped.
#[derive(Debug)]
struct UnderWay(PathBuf);

impl UnderWay {
    fn enter(path: &Path) -> Option<UnderWay> {
        let mut all = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = all.get_or_insert_default().insert(path.to_owned());
        is_new.then(|| UnderWay(path.to_owned()))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(all) = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            all.remove(&self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_taken_once_with_and_without_locks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b ä.xml");
        std::fs::write(&path, "<a/>").unwrap();
        for locking in [Locking::On(None), Locking::Off] {
            let taken = Claim::open(&path, locking, None).unwrap();
            assert_eq!(taken.first, b"<a/>");
            assert!(matches!(Claim::open(&path, locking, None), Err(NotTaken::Busy)));
            assert_eq!(taken.claim.is_unchanged().unwrap(), Some(true));
            std::fs::write(&path, "<more/>").unwrap();
            assert_eq!(taken.claim.is_unchanged().unwrap(), Some(false));
            drop(taken);
            let again = Claim::open(&path, locking, None).unwrap();
            std::fs::write(&path, "<a/>").unwrap();
            drop(again);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_not_there_or_no_file_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.xml");
        assert!(matches!(Claim::open(&path, Locking::On(None), None), Err(NotTaken::Gone)));
        std::fs::create_dir(&path).unwrap();
        assert!(matches!(Claim::open(&path, Locking::On(None), None), Err(NotTaken::Gone)));
        let inside = path.join("away").join("b.xml");
        assert!(matches!(Claim::open(&inside, Locking::On(None), None), Err(NotTaken::Gone)));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_grew_since_it_was_seen_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.xml");
        std::fs::write(&path, "<a").unwrap();
        let seen = Identity::of(&std::fs::metadata(&path).unwrap());
        std::fs::write(&path, "<a/>").unwrap();
        assert!(matches!(Claim::open(&path, Locking::Off, Some(seen)), Err(NotTaken::Unstable)));
    }
}
