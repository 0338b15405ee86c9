//! What a configuration was read from, so that a change of it can be seen without reading it again.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Every file and folder that loading looked at, those that were not there included.
///
/// Copies share what they know.
#[derive(Clone, Debug, Default)]
pub struct Sources(Arc<Mutex<State>>);

/// What some files and folders looked like at one time; two of one configuration differ where it was changed.
pub type State = BTreeMap<PathBuf, Option<Stamp>>;

/// What tells a changed file from the one that was read, or a folder in which something came or went.
///
/// The time of change is the file system's own: copies with old dates have a new one, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

impl Stamp {
    /// `None` where there is nothing; links are followed.
    fn of(path: &Path) -> Option<Stamp> {
        let it = fs::metadata(path).ok()?;
        Some(Stamp { inode: it.ino(), bytes: it.size(), changed: (it.ctime(), it.ctime_nsec()) })
    }
}

impl Sources {
    /// Keeps what a file or folder looks like; to be called before it is read.
    pub fn look(&self, path: &Path) {
        // A file that is read twice counts as it was the first time.
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.contains_key(path) {
            state.insert(path.to_owned(), Stamp::of(path));
        }
    }

    /// Counts what something else was read from, too.
    pub fn add(&self, state: State) {
        let mut own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.into_iter().for_each(|(path, stamp)| {
            own.entry(path).or_insert(stamp);
        });
    }

    /// What everything looked like when it was read.
    pub fn as_read(&self) -> State {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What looks different now.
    pub fn changes(&self) -> State {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = state.iter().filter_map(|(path, was)| {
            let is = Stamp::of(path);
            (is != *was).then(|| (path.clone(), is))
        });
        changed.collect()
    }

    /// Takes what everything looks like now for what was read.
    pub fn accept(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.iter_mut().for_each(|(path, stamp)| *stamp = Stamp::of(path));
    }

    /// Whether a file was looked at already.
    pub fn knows(&self, path: &Path) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path)
    }

    /// Whether there is a file at a path, for which it is looked at.
    pub fn has_file(&self, path: &Path) -> bool {
        self.look(path);
        path.is_file()
    }

    /// Whether there is a folder at a path, for which it is looked at.
    pub fn has_folder(&self, path: &Path) -> bool {
        self.look(path);
        path.is_dir()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_changes_or_goes_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let [file, other] = ["a.xml", "b.xml"].map(|name| folder.path().join(name));
        fs::write(&file, "1").unwrap();
        let looked = || {
            let sources = Sources::default();
            [folder.path(), &file, &other].iter().for_each(|path| sources.look(path));
            assert!(sources.changes().is_empty());
            sources
        };
        let changed = |sources: &Sources| {
            let changed: Vec<_> = sources.changes().into_keys().collect();
            sources.accept();
            assert!(sources.changes().is_empty());
            changed
        };
        let sources = looked();
        fs::write(&file, "12").unwrap();
        assert_eq!(changed(&sources), std::slice::from_ref(&file));
        let sources = looked();
        fs::write(&other, "").unwrap();
        assert_eq!(changed(&sources), [folder.path().to_owned(), other.clone()]);
        let sources = looked();
        fs::remove_file(&file).unwrap();
        assert_eq!(changed(&sources), [folder.path().to_owned(), file.clone()]);
    }
}
