//! Where a message is written: the address of an endpoint or of replies, with what its parameters say.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use myelin_message::Head;

use crate::times::stamp;
use crate::uri::{Location, below};

/// The header line that names the file.
pub(crate) const NAME: &str = "transport.vfs.ReplyFileName";

/// The header line with the time that a file was changed, in milliseconds since 1970.
pub(crate) const MODIFIED: &str = "LAST_MODIFIED";

/// How often Synapse tries again, and after how long.
pub(crate) const RETRIES: u64 = 3;
pub(crate) const RECONNECT: Duration = Duration::from_secs(30);

/// The name of a file that nobody names.
const DEFAULT_NAME: &str = "response.xml";

/// Where and how messages are written.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) location: Location,
    /// The name in a folder, where the message says none.
    pub(crate) name: Option<String>,
    pub(crate) appends: bool,
    /// Whether the address is that of a folder, to be made where it is not there.
    pub(crate) creates_folder: bool,
    /// Whether the file's lock is held while it is written.
    pub(crate) locks: bool,
    /// Whether one message is written after the other.
    pub(crate) one_by_one: bool,
    /// How often a lock is waited for, and how long each time.
    pub(crate) retries: u64,
    pub(crate) reconnect: Duration,
    /// A pattern for what stands behind the folder.
    pub(crate) dated_folder: Option<String>,
    /// Whether the file gets the time that the message says.
    pub(crate) sets_modified: bool,
}

impl Target {
    /// Reads an address.
    ///
    /// Errors: a sentence; the configuration's.
    pub(crate) fn parse(address: &str) -> Result<Target, String> {
        let location = Location::parse(address)?;
        if location.with_sub_folders {
            return Err(format!("{address:?} ends in /*: a file is written to one folder; leave the star out"));
        }
        let switch = |name: &str| match location.parameter(name).map(str::to_ascii_lowercase).as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(format!("{name} is {other:?}: true and false are known")),
        };
        let number = |name: &str, default: u64| match location.parameter(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("{name} is {text:?}: a whole number is needed")),
        };
        let locks = match location.parameter("transport.vfs.Locking").map(str::to_ascii_lowercase).as_deref() {
            None | Some("enable") => true,
            Some("disable") => false,
            Some(other) => {
                return Err(format!("transport.vfs.Locking is {other:?}: enable and disable are known"));
            }
        };
        Ok(Target {
            name: location.parameter(NAME).map(str::to_owned),
            appends: switch("transport.vfs.Append")?,
            creates_folder: switch("transport.vfs.CreateFolder")?,
            locks,
            one_by_one: switch("transport.vfs.SendFileSynchronously")?,
            retries: number("transport.vfs.MaxRetryCount", RETRIES)?,
            reconnect: Duration::from_secs(number("transport.vfs.ReconnectTimeout", RECONNECT.as_secs())?),
            dated_folder: location.parameter("transport.vfs.SubFolderTimestampFormat").map(str::to_owned),
            sets_modified: switch("transport.vfs.UpdateLastModified")?,
            location,
        })
    }

    /// The name that a message is to have in a folder.
    pub(crate) fn name_for(&self, head: &Head) -> String {
        let said = head.first(NAME).filter(|name| !name.is_empty());
        let said = said.map(|name| String::from_utf8_lossy(name).into_owned());
        said.or_else(|| self.name.clone()).unwrap_or_else(|| DEFAULT_NAME.to_owned())
    }

    /// The time that the file of a message is to have.
    pub(crate) fn modified_for(&self, head: &Head) -> Option<SystemTime> {
        let said = std::str::from_utf8(head.first(MODIFIED).filter(|_| self.sets_modified)?).ok()?;
        UNIX_EPOCH.checked_add(Duration::from_millis(said.trim().parse().ok()?))
    }

    /// The file of that name, whose folder is there then.
    ///
    /// Errors: the name leads elsewhere, or the folder cannot be made.
    pub(crate) fn resolve(&self, name: &str, now: SystemTime) -> io::Result<PathBuf> {
        let base = match &self.dated_folder {
            Some(pattern) => self.location.with_date(&stamp(now, pattern)),
            None => self.location.path.clone(),
        };
        let says_so = self.location.is_folder || self.creates_folder || self.dated_folder.is_some();
        let is_folder = says_so || base.is_dir();
        let file = if is_folder { below(&base, name).map_err(io::Error::other)? } else { base };
        let folder = file.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot make the folder {}: {error}", folder.display()))
        })?;
        match std::fs::metadata(&file) {
            // A link stays one: the file that it leads to is written.
            Ok(there) if there.is_file() => std::fs::canonicalize(&file),
            Ok(there) => {
                let what = if there.is_dir() { "a folder" } else { "a device or a pipe" };
                Err(io::Error::other(format!("{} is {what}, and no file", file.display())))
            }
            Err(_) => Ok(file),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_an_address_are_read() {
        let target = Target::parse(
            "vfs:file:///out?transport.vfs.Append=true&transport.vfs.CreateFolder=TRUE&transport.vfs.Locking=disable\
             &transport.vfs.SendFileSynchronously=true&transport.vfs.MaxRetryCount=5&transport.vfs.ReconnectTimeout=2\
             &transport.vfs.SubFolderTimestampFormat=yyyy&transport.vfs.UpdateLastModified=true\
             &transport.vfs.ReplyFileName=a%20b.xml",
        );
        let target = target.unwrap();
        assert!(target.appends && target.creates_folder && !target.locks && target.one_by_one && target.sets_modified);
        assert_eq!((target.retries, target.reconnect), (5, Duration::from_secs(2)));
        assert_eq!((target.dated_folder.as_deref(), target.name.as_deref()), (Some("yyyy"), Some("a b.xml")));
        let plain = Target::parse("vfs:file:///out/a.xml").unwrap();
        assert!(!plain.appends && !plain.creates_folder && plain.locks && !plain.one_by_one && !plain.sets_modified);
        assert_eq!((plain.retries, plain.reconnect), (3, Duration::from_secs(30)));
    }

    #[test]
    fn what_is_no_target_says_why() {
        let check = |address: &str, part: &str| {
            let error = Target::parse(address).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        check("vfs:file:///out/*", "leave the star out");
        check("vfs:file:///out?transport.vfs.Append=yes", "true and false are known");
        check("vfs:file:///out?transport.vfs.Locking=on", "enable and disable are known");
        check("vfs:file:///out?transport.vfs.MaxRetryCount=-1", "a whole number is needed");
        check("vfs:sftp://host/out", "sftp addresses come with a later release");
    }

    #[test]
    fn names_come_from_the_message_the_address_or_nobody() {
        let mut head = Head::default();
        let named = Target::parse("vfs:file:///out?transport.vfs.ReplyFileName=b.xml").unwrap();
        let plain = Target::parse("vfs:file:///out").unwrap();
        assert_eq!((named.name_for(&head), plain.name_for(&head)), ("b.xml".to_owned(), "response.xml".to_owned()));
        head.set(NAME, "ä.xml".as_bytes()).unwrap();
        assert_eq!((named.name_for(&head), plain.name_for(&head)), ("ä.xml".to_owned(), "ä.xml".to_owned()));
    }

    #[test]
    fn links_lead_to_their_files_and_devices_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("real"), "x").unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        let resolve = |path: &Path| {
            let target = Target::parse(&format!("vfs:file://{}", path.display())).unwrap();
            target.resolve("a.xml", UNIX_EPOCH).map_err(|error| error.to_string())
        };
        assert_eq!(resolve(&root.join("link")), Ok(root.join("real")));
        assert_eq!(resolve(Path::new("/dev/null")), Err("/dev/null is a device or a pipe, and no file".to_owned()));
    }

    #[test]
    fn files_and_folders_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let check = |rest: &str, expected: &str| {
            let target = Target::parse(&format!("vfs:file://{}/{rest}", folder.path().display())).unwrap();
            let time = UNIX_EPOCH + Duration::from_secs(40_000_000);
            assert_eq!(target.resolve("a.xml", time).unwrap(), folder.path().join(expected), "{rest}");
        };
        check("", "a.xml");
        check("file", "file");
        check("folder/", "folder/a.xml");
        check("folder", "folder/a.xml");
        check("new/folder/file", "new/folder/file");
        check("made?transport.vfs.CreateFolder=true", "made/a.xml");
        check("dated/?transport.vfs.SubFolderTimestampFormat=yyyy", "dated/1971/a.xml");
    }
}
