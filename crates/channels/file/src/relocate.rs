//! Moving a file to another folder so that it is always in one of the two, and never over another file.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::names;
use crate::part::{Part, rename_new};

/// So many names are tried one after the other; then the time of day makes one that is free.
const NUMBERED: u64 = 1_000;

/// How a file is moved.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub(crate) folder: PathBuf,
    /// What stands before its name there.
    pub(crate) prefix: String,
    /// Whether the folder is made where it is not there.
    pub(crate) creates_folder: bool,
    /// Whether a copy on another file system keeps the time of its last change.
    pub(crate) keeps_modified: bool,
}

impl Move {
    /// Moves a file; says where it is then.
    ///
    /// A file that is there already stays, and the one that comes gets another name.
    /// Errors: those of the file system; the file is where it was.
    pub(crate) fn run(&self, file: &Path) -> io::Result<PathBuf> {
        let mut name = OsString::from(&self.prefix);
        name.push(file.file_name().unwrap_or_default());
        let wanted = self.folder.join(name);
        if wanted == file {
            return Ok(wanted);
        }
        let folder = wanted.parent().unwrap_or(&self.folder);
        if self.creates_folder {
            std::fs::create_dir_all(folder)?;
        } else if !folder.is_dir() {
            let message = "the folder is not there; make it, or set transport.vfs.CreateFolder to true";
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        // A link would lead nowhere from another folder.
        if std::fs::symlink_metadata(file)?.is_symlink() {
            return self.copy(file, &wanted);
        }
        match with_free_name(&wanted, |target| rename_new(file, target)) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => self.copy(file, &wanted),
            done => done,
        }
    }

    /// Copies a file to another file system, makes sure that it is there, and removes it here.
    fn copy(&self, file: &Path, wanted: &Path) -> io::Result<PathBuf> {
        let mut from = File::open(file)?;
        let metadata = from.metadata()?;
        let mut part = Part::create(wanted.parent().unwrap_or(&self.folder))?;
        io::copy(&mut from, part.file())?;
        part.file().set_permissions(metadata.permissions())?;
        if self.keeps_modified {
            part.file().set_modified(metadata.modified()?)?;
        }
        let mut part = Some(part);
        let target = with_free_name(wanted, |target| {
            let Some(ready) = part.take() else { return Err(io::ErrorKind::Other.into()) };
            ready.place(target).map_err(|(again, error)| {
                part = Some(again);
                error
            })
        })?;
        std::fs::remove_file(file)?;
        Ok(target)
    }
}

/// Tries one name after the other until there is one that no other file has.
fn with_free_name(wanted: &Path, mut place: impl FnMut(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
    let name = wanted.file_name().unwrap_or_default();
    let late = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    let late = u64::try_from(late).unwrap_or(u64::MAX);
    let mut result = Err(io::ErrorKind::AlreadyExists.into());
    for number in (0..NUMBERED).chain(late..late.saturating_add(NUMBERED)) {
        let target = wanted.with_file_name(names::numbered(name, number));
        match place(&target) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => result = Err(error),
            Ok(()) => return Ok(target),
            Err(error) => return Err(error),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn to(folder: PathBuf) -> Move {
        Move { folder, prefix: String::new(), creates_folder: false, keeps_modified: true }
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let (file, done) = (folder.path().join("a b ä.xml"), folder.path().join("done"));
        fs::create_dir(&done).unwrap();
        for (content, name) in [("0", "a b ä.xml"), ("1", "a b ä-1.xml"), ("2", "a b ä-2.xml")] {
            fs::write(&file, content).unwrap();
            assert_eq!(to(done.clone()).run(&file).unwrap(), done.join(name));
            assert!(!file.exists());
            assert_eq!(fs::read_to_string(done.join(name)).unwrap(), content);
        }
    }

    #[test]
    fn folders_are_made_where_that_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.xml");
        fs::write(&file, "a").unwrap();
        let mut way = Move { prefix: "2026/11_".to_owned(), ..to(folder.path().join("x/done")) };
        let error = way.run(&file).unwrap_err();
        assert!(error.to_string().contains("CreateFolder") && file.exists(), "{error}");
        way.creates_folder = true;
        assert_eq!(way.run(&file).unwrap(), folder.path().join("x/done/2026/11_a.xml"));
    }

    #[test]
    fn a_file_moved_to_where_it_is_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.xml");
        fs::write(&file, "a").unwrap();
        assert_eq!(to(folder.path().to_owned()).run(&file).unwrap(), file);
        assert!(file.exists());
    }

    #[test]
    fn links_become_files_where_they_go() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link, done) = (folder.path().join("real"), folder.path().join("link"), folder.path().join("done"));
        fs::create_dir(&done).unwrap();
        fs::write(&real, "content").unwrap();
        symlink("real", &link).unwrap();
        let target = to(done.clone()).run(&link).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "content");
        assert!(fs::symlink_metadata(&target).unwrap().is_file() && real.exists());
        assert!(fs::symlink_metadata(&link).is_err());
    }

    #[test]
    fn copies_keep_time_and_permissions_and_are_no_half() {
        let there = tempfile::tempdir().unwrap();
        let here = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let file = here.path().join("a.xml");
        let time = SystemTime::now() - std::time::Duration::from_secs(5000);
        // The last of them is on another file system, where the machine has one.
        let memory = tempfile::tempdir_in("/dev/shm").ok();
        let folders = [Some(&there), memory.as_ref()].into_iter().flatten();
        for folder in folders.map(|folder| folder.path()) {
            fs::write(&file, "content").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
            File::open(&file).unwrap().set_modified(time).unwrap();
            let before = fs::metadata(&file).unwrap();
            fs::write(folder.join("a.xml"), "other").unwrap();
            let way = to(folder.to_owned());
            let target = if folder == there.path() { way.copy(&file, &folder.join("a.xml")) } else { way.run(&file) };
            let (target, after) = (target.unwrap(), fs::metadata(folder.join("a-1.xml")).unwrap());
            assert_eq!(target, folder.join("a-1.xml"));
            assert_eq!(fs::read_to_string(&target).unwrap(), "content");
            assert_eq!((after.mode(), after.mtime()), (before.mode(), before.mtime()));
            assert!(!file.exists());
            assert_eq!(fs::read_dir(folder).unwrap().count(), 2);
        }
    }
}
