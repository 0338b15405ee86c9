//! Files that were processed and could not be moved or removed: they are not processed again, but moved when they can.
//!
//! They are listed in a file as well, so that they are known after a start: name, a blank, the time, as Synapse writes
//! it. Behind a tab stands which content it was, so that a new file of that name is not taken for the old one.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use myelin_java_text::percent::{Plus, decoded_bytes};

use crate::claim::{Claim, Identity};
use crate::lock;
use crate::part::Part;

/// So many files may wait to be moved; a folder where it is more is not looked into until it is fewer.
pub(crate) const MOST: usize = 10_000;

/// How long another process may write to a list.
const PATIENCE: Duration = Duration::from_secs(5);

/// No more of a list is read.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// How the exchange of a file ended, which says what is to be done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Success,
    Failure,
}

/// A file that is still to be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Unknown where Synapse wrote it.
    pub(crate) identity: Option<Identity>,
    pub(crate) outcome: Outcome,
}

/// The files of a folder that are still to be moved, by their paths below it.
#[derive(Debug)]
pub(crate) struct Records {
    /// The folder that is looked into, or a single file.
    root: PathBuf,
    /// Where the list is; otherwise among the files.
    destination: Option<PathBuf>,
    name: OsString,
    folder: PathBuf,
    list: PathBuf,
    all: BTreeMap<OsString, Record>,
    /// Those that could not be written down.
    unwritten: BTreeMap<OsString, Record>,
    /// Which content of the list is known.
    read: Option<Identity>,
}

impl Records {
    /// Those of a folder or a single file, with the folder and the name of their list.
    pub(crate) fn new(root: PathBuf, destination: Option<PathBuf>, name: OsString) -> Records {
        let (all, unwritten) = (BTreeMap::new(), BTreeMap::new());
        let (folder, list) = (root.clone(), PathBuf::new());
        let mut records = Records { root, destination, name, folder, list, all, unwritten, read: None };
        records.find();
        records
    }

    /// Finds out whether it is a folder, which may come and go.
    fn find(&mut self) {
        self.folder = match self.root.parent() {
            Some(folder) if self.root.is_file() => folder.to_owned(),
            _ => self.root.clone(),
        };
        self.list = self.destination.as_ref().unwrap_or(&self.folder).join(&self.name);
    }

    /// Reads the list where it has changed, and strikes out what is gone or has other content.
    ///
    /// Errors: those of the list.
    pub(crate) fn refresh(&mut self) -> io::Result<()> {
        self.find();
        self.reload()?;
        let stale = |(name, record): (&OsString, &Record)| {
            let there = std::fs::metadata(self.folder.join(name)).map(|metadata| Identity::of(&metadata));
            let is_stale = match there {
                Ok(there) => record.identity.is_some_and(|known| known != there),
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            };
            is_stale.then(|| name.clone())
        };
        let stale: Vec<_> = self.all.iter().filter_map(stale).collect();
        self.strike(&stale)
    }

    /// Where they are written down.
    pub(crate) fn list(&self) -> &Path {
        &self.list
    }

    /// Reads the list where it has changed.
    fn reload(&mut self) -> io::Result<()> {
        match File::open(&self.list) {
            Ok(file) => {
                let identity = Identity::of(&file.metadata()?);
                if self.read != Some(identity) {
                    let mut text = Vec::new();
                    file.take(MOST_BYTES).read_to_end(&mut text)?;
                    self.all = parse(&text);
                    self.read = Some(identity);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.all.clear();
                self.read = None;
            }
            Err(error) => return Err(error),
        }
        self.all.append(&mut self.unwritten.clone());
        Ok(())
    }

    /// Whether a file that was claimed is one of them, as this process or another one has written down.
    pub(crate) fn has(&mut self, claim: &Claim) -> bool {
        // A list that cannot be read was told of when the folder was looked into.
        let _ = self.reload();
        let record = self.all.get(claim.path.strip_prefix(&self.folder).unwrap_or(&claim.path).as_os_str());
        record.is_some_and(|record| record.identity.is_none_or(|known| known == claim.identity))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The files, and what is to be done with them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (PathBuf, Record)> {
        self.all.iter().map(|(name, record)| (self.folder.join(name), *record))
    }

    /// Adds a file, and writes it down.
    ///
    /// Errors: those of the list; the file is known until the bus stops, all the same.
    pub(crate) fn add(&mut self, path: &Path, record: Record, time: &str) -> io::Result<()> {
        let name = path.strip_prefix(&self.folder).unwrap_or(path).as_os_str().to_owned();
        self.all.insert(name.clone(), record);
        self.unwritten.insert(name.clone(), record);
        self.append(&line(&name, record, time))?;
        self.unwritten.remove(&name);
        Ok(())
    }

    /// Removes a file that was moved.
    ///
    /// Errors: those of the list.
    pub(crate) fn remove(&mut self, path: &Path) -> io::Result<()> {
        let name = path.strip_prefix(&self.folder).unwrap_or(path).as_os_str().to_owned();
        self.strike(&[name])
    }

    fn strike(&mut self, names: &[OsString]) -> io::Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        for name in names {
            self.all.remove(name);
            self.unwritten.remove(name);
        }
        let Some(held) = self.hold(false)? else { return Ok(()) };
        let mut text = Vec::new();
        (&held).take(MOST_BYTES).read_to_end(&mut text)?;
        let stays = |line: &&[u8]| name_of(line).is_some_and(|name| !names.contains(&name));
        let kept = text.split_inclusive(|&byte| byte == b'\n').filter(stays).collect::<Vec<_>>().concat();
        if kept.is_empty() {
            return std::fs::remove_file(&self.list);
        }
        let mut part = Part::create(self.list.parent().unwrap_or(Path::new("/")))?;
        part.file().write_all(&kept)?;
        part.replace(&self.list)
    }

    fn append(&self, line: &str) -> io::Result<()> {
        if let Some(folder) = self.list.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let Some(mut held) = self.hold(true)? else { return Err(io::ErrorKind::NotFound.into()) };
        held.write_all(line.as_bytes())?;
        held.sync_all()
    }

    /// Opens the list for this process alone; `None` where there is none.
    fn hold(&self, create: bool) -> io::Result<Option<File>> {
        loop {
            let file = match OpenOptions::new().read(true).append(true).create(create).open(&self.list) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound && !create => return Ok(None),
                Err(error) => return Err(error),
            };
            // Others hold it for the time of a write.
            if !lock::hold_within(&file, PATIENCE) {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "another process holds it"));
            }
            let mine = Identity::of(&file.metadata()?);
            let is_in_place = std::fs::metadata(&self.list).is_ok_and(|there| Identity::of(&there).inode == mine.inode);
            if is_in_place {
                return Ok(Some(file));
            }
        }
    }
}

fn line(name: &OsStr, record: Record, time: &str) -> String {
    let mut line = String::new();
    for &byte in name.as_bytes() {
        // Writing into a string cannot fail.
        let _ = match byte {
            b'%' | 0..=b' ' | 0x7f.. => write!(line, "%{byte:02X}"),
            _ => write!(line, "{}", char::from(byte)),
        };
    }
    let _ = write!(line, " {}", time.replace(char::is_control, " "));
    if let Some(Identity { device, inode, length, modified: (seconds, nanos) }) = record.identity {
        let outcome = if record.outcome == Outcome::Success { "success" } else { "failure" };
        let _ = write!(line, "\t{device}:{inode}:{length}:{seconds}:{nanos}:{outcome}");
    }
    line.push('\n');
    line
}

fn name_of(line: &[u8]) -> Option<OsString> {
    let line = std::str::from_utf8(line).ok()?;
    let name = line.split_whitespace().next()?;
    Some(OsString::from_vec(decoded_bytes(name, Plus::Itself).into_owned()))
}

fn parse(text: &[u8]) -> BTreeMap<OsString, Record> {
    let lines = text.split(|&byte| byte == b'\n').filter_map(|line| {
        let name = name_of(line)?;
        let content =
            std::str::from_utf8(line).ok()?.trim_end().split_once('\t').and_then(|(_, known)| known_content(known));
        Some((name, content.unwrap_or(Record { identity: None, outcome: Outcome::Success })))
    });
    lines.take(MOST).collect()
}

fn known_content(text: &str) -> Option<Record> {
    let mut parts = text.split(':');
    let mut next = || parts.next();
    let (device, inode, length) = (next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?);
    let modified = (next()?.parse().ok()?, next()?.parse().ok()?);
    let outcome = if next()? == "failure" { Outcome::Failure } else { Outcome::Success };
    Some(Record { identity: Some(Identity { device, inode, length, modified }), outcome })
}

#[cfg(test)]
mod tests;
