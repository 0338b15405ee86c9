//! What is remembered, in two files that take turns.
//!
//! Each accepted message is appended to the current file, in one write. When all in the other file is too old to matter,
//! that one is emptied and becomes the current one: nothing is ever rewritten, and both stay about as large as what is
//! remembered. The files are the process's own: they are locked, and a record that was not written whole is cut off.

use std::fs::{File, OpenOptions, TryLockError, create_dir_all};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::mark::Mark;

/// A mark, and the second from which it need not be known, with the highest byte first.
const RECORD_BYTES: usize = 24;

/// What a file begins with; of the size of a record.
const MAGIC: &[u8; RECORD_BYTES] = b"myelin replay journal 1\n";

/// How many records a file has before the other's turn can come.
const TURN_RECORDS: u64 = 4_096;

const FILES: [&str; 2] = ["replays.0", "replays.1"];

/// The two files.
pub(super) struct Journal {
    files: [Part; 2],
    current: usize,
    is_new: bool,
}

struct Part {
    file: File,
    records: u64,
    /// The second from which nothing in it matters.
    end: u64,
}

impl Journal {
    /// Opens the files of a folder, or makes them, and gives what is still to be known at the second `now`.
    pub(super) fn open(folder: &Path, now: u64) -> io::Result<(Journal, Vec<(Mark, u64)>)> {
        create_dir_all(folder)?;
        let is_new = !FILES.iter().any(|name| folder.join(name).exists());
        let mut live = Vec::new();
        let mut open = |name: &str| Part::open(&folder.join(name), now, &mut live);
        let files = [open(FILES[0])?, open(FILES[1])?];
        // The file that is needed longest goes on, so that the other can be emptied the sooner.
        let current = usize::from(files[1].end > files[0].end);
        Ok((Journal { files, current, is_new }, live))
    }

    /// Whether there was none in the folder.
    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Appends a record.
    pub(super) fn append(&mut self, mark: Mark, end: u64, now: u64) -> io::Result<()> {
        let other = 1 - self.current;
        if self.files[self.current].records >= TURN_RECORDS && self.files[other].end <= now {
            self.files[other].clear()?;
            self.current = other;
        }
        self.files[self.current].append(mark, end)
    }
}

impl Part {
    fn open(path: &Path, now: u64, live: &mut Vec<(Mark, u64)>) -> io::Result<Part> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::Error(error) => error,
            TryLockError::WouldBlock => io::Error::from(io::ErrorKind::WouldBlock),
        })?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mut part = Part { file, records: 0, end: 0 };
        let Some(records) = bytes.strip_prefix(MAGIC) else {
            // Something else of that name is not ours to overwrite; a beginning that was cut off is.
            if !MAGIC.starts_with(&bytes) {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is no journal of replays"));
            }
            part.clear()?;
            return Ok(part);
        };
        for record in records.chunks_exact(RECORD_BYTES) {
            let (mark, end) = record.split_at(16);
            let mark = Mark(mark.try_into().expect("split at the length of a mark"));
            let end = u64::from_be_bytes(end.try_into().expect("the rest of a record"));
            part.records += 1;
            part.end = part.end.max(end);
            if end > now {
                live.push((mark, end));
            }
        }
        part.seal()?;
        Ok(part)
    }

    /// Leaves nothing but the beginning.
    fn clear(&mut self) -> io::Result<()> {
        (self.records, self.end) = (0, 0);
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(MAGIC)
    }

    /// Cuts off what is no whole record, and goes on behind the last that is.
    fn seal(&mut self) -> io::Result<()> {
        let length = (self.records + 1) * RECORD_BYTES as u64;
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length)).map(drop)
    }

    fn append(&mut self, mark: Mark, end: u64) -> io::Result<()> {
        let mut record = [0; RECORD_BYTES];
        record[..16].copy_from_slice(&mark.0);
        record[16..].copy_from_slice(&end.to_be_bytes());
        if let Err(error) = self.file.write_all(&record) {
            // Part of it may have been written; what comes next has to begin at its place.
            self.seal()?;
            return Err(error);
        }
        self.records += 1;
        self.end = self.end.max(end);
        Ok(())
    }
}
