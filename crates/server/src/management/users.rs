//! The file of users on the disk.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use myelin_manage::api::Users;

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

/// Writes the text of a file of users, which only the own user of the system can read; another process sees the old one
/// or the new one.
///
/// Errors: it cannot be written.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
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
