//! The file of users on the disk.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};
use myelin_manage::api::Users;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// A larger file holds something else.
const FILE_BYTES: u64 = 1 << 20;

/// Reads the users of a file; none where it is not there.
///
/// Errors: it cannot be read, or is no file of users.
pub(crate) fn read(path: &Path) -> anyhow::Result<Users> {
    let name = || path.display().to_string();
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Users::default()),
        Ok(found) if found.len() > FILE_BYTES => anyhow::bail!("{}: larger than a file of users can be", name()),
        _ => {}
    }
    let text = fs::read_to_string(path).with_context(name)?;
    Users::parse(&text).map_err(|reason| anyhow!("{}: {reason}", name()))
}

/// Keeps other processes from changing the users of a file until it is dropped; those that only read do not wait.
pub(crate) struct Lock(#[expect(dead_code, reason = "the lock ends when it is closed")] File);

/// Waits until no other process changes the users of a file: what one of two changes at once would be lost.
///
/// The lock is on the folder, as the file itself is replaced by each change.
/// Errors: there can be no such folder.
pub(crate) fn lock(path: &Path) -> anyhow::Result<Lock> {
    let folder = folder_of(path);
    let name = || folder.display().to_string();
    fs::create_dir_all(folder).with_context(name)?;
    let opened = File::open(folder).with_context(name)?;
    match flock(&opened, FlockOperation::LockExclusive) {
        // Some network drives have no locks.
        Ok(()) | Err(Errno::NOSYS | Errno::NOTSUP | Errno::NOLCK) => Ok(Lock(opened)),
        Err(error) => Err(error).with_context(name),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Puts the text of users in the place of those that stood in a file.
///
/// Errors: it cannot be written; others stand there, which another process has put there meanwhile.
pub(crate) fn replace(path: &Path, before: &str, text: &str) -> anyhow::Result<()> {
    let _lock = lock(path)?;
    ensure!(read(path)?.to_text() == before, "another program has changed the file; try again in a few seconds");
    write(path, text)
}

/// Writes the text of a file of users, which only the own user of the system can read; another process sees the old one
/// or the new one.
///
/// Errors: it cannot be written.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = folder_of(path);
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let new = beside(path);
    let write = || -> std::io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().with_context(|| path.display().to_string()).inspect_err(|_| drop(fs::remove_file(&new)))
}

/// A name in the same folder that nobody reads.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.new", std::process::id()))
}
