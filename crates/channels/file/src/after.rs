//! What is done with a file when its exchange has ended.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::advice::explained;
use crate::claim::Claim;
use crate::relocate::Move;
use crate::times::stamp;
use crate::uri::Location;

/// What is done with a file.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// It is removed.
    Delete,
    /// It goes to another folder.
    Move(Destination),
    /// It stays, and is taken again when the folder is looked into the next time.
    Leave,
}

/// Where a file goes.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    pub(crate) location: Location,
    /// A pattern for what stands behind the folder (`SubFolderTimestampFormat`).
    pub(crate) dated_folder: Option<String>,
    /// A pattern for what stands before the name (`MoveTimestampFormat`).
    pub(crate) dated_prefix: Option<String>,
    /// Whether folders are made where they are not there (`CreateFolder`).
    pub(crate) creates_folder: bool,
    /// Whether a copy keeps the time of the last change (`UpdateLastModified`).
    pub(crate) keeps_modified: bool,
}

/// What became of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Done {
    Removed,
    Moved(PathBuf),
    /// It is still there.
    Stays,
    /// It was changed while it was processed: it stays, and is taken again.
    Changed,
    /// Somebody else has taken it away.
    Gone,
}

impl Action {
    /// Does it.
    ///
    /// Errors: those of the file system, with the place that the file should have gone to; it is where it was.
    pub(crate) fn perform(&self, claim: &Claim, root: &Path, now: SystemTime) -> Result<Done, String> {
        if let Action::Leave = self {
            return Ok(Done::Stays);
        }
        match claim.is_unchanged() {
            Ok(Some(true)) => {}
            Ok(Some(false)) => return Ok(Done::Changed),
            Ok(None) => return Ok(Done::Gone),
            Err(error) => return Err(format!("cannot look at it: {}", explained(&error))),
        }
        match self {
            Action::Leave => Ok(Done::Stays),
            Action::Delete => match std::fs::remove_file(&claim.path) {
                Ok(()) => Ok(Done::Removed),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Done::Gone),
                Err(error) => Err(format!("cannot remove it: {}", explained(&error))),
            },
            Action::Move(destination) => {
                let way = destination.way(&claim.path, root, now);
                let moved = way.run(&claim.path);
                moved
                    .map(Done::Moved)
                    .map_err(|error| format!("cannot move it to {}: {}", way.folder.display(), explained(&error)))
            }
        }
    }
}

impl Destination {
    /// How a file gets there at that time.
    fn way(&self, file: &Path, root: &Path, now: SystemTime) -> Move {
        let mut folder = match &self.dated_folder {
            Some(pattern) => self.location.with_date(&stamp(now, pattern)),
            None => self.location.path.clone(),
        };
        // With `/*` at its end the folders below are those that the file comes from.
        let below = file.parent().and_then(|parent| parent.strip_prefix(root).ok());
        if self.location.with_sub_folders
            && let Some(below) = below.filter(|below| !below.as_os_str().is_empty())
        {
            folder.push(below);
        }
        Move {
            folder,
            prefix: self.dated_prefix.as_ref().map_or_else(String::new, |pattern| stamp(now, pattern)),
            creates_folder: self.creates_folder || self.location.with_sub_folders,
            keeps_modified: self.keeps_modified,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Locking;
    use std::fs;
    use std::time::{Duration, UNIX_EPOCH};

    fn destination(address: &str) -> Destination {
        Destination {
            location: Location::parse(address).unwrap(),
            dated_folder: None,
            dated_prefix: None,
            creates_folder: true,
            keeps_modified: true,
        }
    }

    #[test]
    fn files_are_removed_moved_or_left() {
        let folder = tempfile::tempdir().unwrap();
        let (root, file) = (folder.path().join("in"), folder.path().join("in/sub/a.xml"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let check = |action: &Action, expected: Done| {
            fs::write(&file, "content").unwrap();
            let claim = Claim::new(&file, Locking::On(None)).unwrap();
            assert_eq!(action.perform(&claim, &root, UNIX_EPOCH + Duration::from_secs(40_000_000)), Ok(expected));
        };
        check(&Action::Leave, Done::Stays);
        assert!(file.exists());
        check(&Action::Delete, Done::Removed);
        assert!(!file.exists());
        let done = |rest: &str| folder.path().join(rest);
        let address = |rest: &str| format!("file://{}/{rest}", folder.path().display());
        check(&Action::Move(destination(&address("flat"))), Done::Moved(done("flat/a.xml")));
        check(&Action::Move(destination(&address("deep/*"))), Done::Moved(done("deep/sub/a.xml")));
        let mut dated = destination(&address("dated/"));
        dated.dated_folder = Some("yyyy/MM".to_owned());
        dated.dated_prefix = Some("yyyyMM'_'".to_owned());
        check(&Action::Move(dated), Done::Moved(done("dated/1971/04/197104_a.xml")));
    }

    #[test]
    fn a_file_that_was_changed_meanwhile_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.xml");
        fs::write(&file, "content").unwrap();
        let claim = Claim::new(&file, Locking::On(None)).unwrap();
        fs::write(&file, "other content").unwrap();
        assert_eq!(Action::Delete.perform(&claim, folder.path(), UNIX_EPOCH), Ok(Done::Changed));
        fs::remove_file(&file).unwrap();
        assert_eq!(Action::Delete.perform(&claim, folder.path(), UNIX_EPOCH), Ok(Done::Gone));
    }

    #[test]
    fn what_cannot_be_done_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.xml");
        fs::write(&file, "content").unwrap();
        let mut missing = destination(&format!("file://{}/missing", folder.path().display()));
        missing.creates_folder = false;
        let claim = Claim::new(&file, Locking::On(None)).unwrap();
        let error = Action::Move(missing).perform(&claim, folder.path(), UNIX_EPOCH).unwrap_err();
        assert!(error.contains("missing: the folder is not there"), "{error}");
        assert!(file.exists());
    }
}
