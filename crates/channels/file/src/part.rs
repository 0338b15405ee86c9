//! Files that appear complete or not at all: written under another name in the same folder, then renamed.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::{lock, names};

/// Parts that nobody holds are left over from a process that was killed; before that age their owners may be about to.
const LEFT_OVER: Duration = Duration::from_secs(60);

/// How many entries of a folder are looked through for parts that are left over.
const MOST_ENTRIES: usize = 100_000;

/// How many folders are remembered as looked through.
const MOST_FOLDERS: usize = 1_000;

/// A file that is being written. Dropping it before it is complete removes it.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    file: File,
}

impl Part {
    /// Begins a file in a folder; the first time there, removes what killed processes left.
    ///
    /// Errors: the folder is not there, cannot be written to, or is full.
    pub(crate) fn create(folder: &Path) -> io::Result<Part> {
        clean_once(folder);
        let path = folder.join(names::part());
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        let part = Part { path, file };
        // Held for as long as it is written: that is how the others know. Where there are no such locks, they wait.
        let _ = lock::is_free(&part.file);
        Ok(part)
    }

    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Makes it the file of that name, in place of one that may be there.
    pub(crate) fn replace(self, target: &Path) -> io::Result<()> {
        self.finish(target, |from, to| std::fs::rename(from, to))
    }

    /// Makes it the file of that name.
    ///
    /// Errors: `AlreadyExists` with the part where there is one.
    pub(crate) fn place(self, target: &Path) -> Result<(), (Part, io::Error)> {
        if let Err(error) = self.file.sync_all().and_then(|()| rename_new(&self.path, target)) {
            return Err((self, error));
        }
        let mut done = self;
        done.path = PathBuf::new();
        sync_folder_of(target).map_err(|error| (done, error))
    }

    fn finish(mut self, target: &Path, rename: fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
        self.file.sync_all()?;
        rename(&self.path, target)?;
        self.path = PathBuf::new();
        sync_folder_of(target)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // Whoever comes next removes what cannot be removed now.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Renames a file where no other has that name yet.
///
/// Errors: `AlreadyExists`; `CrossesDevices`; those of the file system.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        done => return Ok(done?),
    }
    // File systems of the network know no renaming of that kind, but mostly links.
    match std::fs::hard_link(from, to) {
        Ok(()) => std::fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) if std::fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => std::fs::rename(from, to),
    }
}

/// Makes sure that the name of a file lasts, as its content does.
pub(crate) fn sync_folder_of(file: &Path) -> io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some file systems have nothing to do there, and say so; who may write into a folder need not be allowed to
        // read it.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied) => Ok(()),
        done => done,
    }
}

fn clean_once(folder: &Path) {
    static CLEANED: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    {
        let mut cleaned = CLEANED.lock().unwrap_or_else(PoisonError::into_inner);
        let cleaned = cleaned.get_or_insert_default();
        if cleaned.len() >= MOST_FOLDERS || !cleaned.insert(folder.to_owned()) {
            return;
        }
    }
    clean(folder);
}

/// Removes the parts and the locks of processes that were killed.
fn clean(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.take(MOST_ENTRIES).flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        if names::is_lock(&name) {
            lock::remove_left_over(&path);
        }
        if !names::is_part(&name) {
            continue;
        }
        let Ok(file) = File::open(&path) else { continue };
        let is_old = file.metadata().is_ok_and(|metadata| lock::age(&metadata) > LEFT_OVER);
        if is_old && lock::is_free(&file) && std::fs::remove_file(&path).is_ok() {
            tracing::info!(file = %path.display(), "removed a file that a killed process had begun");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;
    use std::time::SystemTime;

    #[test]
    fn a_file_appears_complete_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.xml");
        let mut part = Part::create(folder.path()).unwrap();
        part.file().write_all(b"half").unwrap();
        drop(part);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        for content in ["one", "two"] {
            let mut part = Part::create(folder.path()).unwrap();
            part.file().write_all(content.as_bytes()).unwrap();
            part.replace(&target).unwrap();
            assert_eq!(fs::read_to_string(&target).unwrap(), content);
        }
        let part = Part::create(folder.path()).unwrap();
        let (_part, error) = part.place(&target).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&target).unwrap(), "two");
    }

    #[test]
    fn parts_of_killed_processes_are_removed_and_those_of_others_left() {
        let folder = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - 2 * LEFT_OVER;
        let held = Part::create(folder.path()).unwrap();
        held.file.set_modified(old).unwrap();
        let left_over = folder.path().join(names::part());
        File::create(&left_over).unwrap().set_modified(old).unwrap();
        let new = folder.path().join(names::part());
        File::create(&new).unwrap();
        clean(folder.path());
        assert!(!left_over.exists() && new.exists() && held.path.exists());
    }
}
