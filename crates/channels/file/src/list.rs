//! Which files of a folder are messages now, and in which order. However many there are, few are kept in memory.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{Metadata, ReadDir};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use myelin_java_text::pattern::Pattern;

use crate::claim::Identity;
use crate::{lock, names};

/// How many files one look into a folder finds; there is another look when these are done.
pub(crate) const MOST: usize = 10_000;

/// How deep folders below the folder are looked into.
const DEEPEST: usize = 64;

/// How many problems with single entries are told of one look.
const MOST_PROBLEMS: usize = 10;

/// Which files are messages.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    /// What the whole name must match (`FileNamePattern`).
    pub(crate) pattern: Option<Pattern>,
    /// How long ago it was changed at least (`MinimumAge`), and at most (`MaximumAge`).
    pub(crate) minimum_age: Option<Duration>,
    pub(crate) maximum_age: Option<Duration>,
    /// How long it may be (`FileSizeLimit`).
    pub(crate) limit_bytes: Option<u64>,
    /// Whether an empty file is left alone (`CheckSizeIgnoreEmpty`).
    pub(crate) ignores_empty: bool,
    /// Whether it must not change for a while, so that what it looks like now has to be known.
    pub(crate) wants_identity: bool,
    /// The file that failed moves are listed in, which is no message.
    pub(crate) records: OsString,
}

/// What files are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Name,
    Size,
    Modified,
}

/// The order of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) by: Sort,
    pub(crate) ascending: bool,
}

/// A file that may become a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    /// What it looked like, where that matters.
    pub(crate) seen: Option<Identity>,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) candidates: Vec<Candidate>,
    /// Whether there may be more.
    pub(crate) is_full: bool,
    /// What could not be looked at, and why.
    pub(crate) problems: Vec<String>,
}

/// A look into a folder, or at a single file.
#[derive(Debug)]
pub(crate) struct Look<'a> {
    pub(crate) root: &'a Path,
    pub(crate) with_sub_folders: bool,
    pub(crate) filter: &'a Filter,
    pub(crate) order: Option<Order>,
    /// What was taken, or could not be taken, since the last time that all was looked at.
    pub(crate) done: &'a HashSet<PathBuf>,
    pub(crate) now: SystemTime,
    pub(crate) most: usize,
    /// Whether locks that were left over are removed.
    pub(crate) sweeps: bool,
}

impl Look<'_> {
    /// Looks.
    ///
    /// Errors: the folder is not there or cannot be read.
    pub(crate) fn list(&self) -> io::Result<Listing> {
        let metadata = std::fs::metadata(self.root)?;
        let mut found = Found { listing: Listing::default(), best: BinaryHeap::new() };
        if metadata.is_dir() {
            self.walk(std::fs::read_dir(self.root)?, &mut found);
        } else if metadata.is_file() && !self.done.contains(self.root) && self.filter.allows(&metadata, self.now) {
            found.add(self, self.root.to_owned(), Some(&metadata));
        }
        let Found { mut listing, best } = found;
        listing.candidates.extend(best.into_sorted_vec().into_iter().map(|ranked| ranked.candidate));
        Ok(listing)
    }

    /// Goes through a folder and, where that is wanted, those below it; links to folders are not followed.
    fn walk(&self, root: ReadDir, found: &mut Found) {
        let mut open = vec![root];
        while let Some(folder) = open.last_mut() {
            let entry = match folder.next() {
                None => {
                    open.pop();
                    continue;
                }
                Some(Ok(entry)) => entry,
                Some(Err(error)) => {
                    found.problem(format!("cannot read a folder to its end: {error}"));
                    open.pop();
                    continue;
                }
            };
            if let Err((path, error)) = self.entry(&entry, &mut open, found)
                && error.kind() != io::ErrorKind::NotFound
            {
                found.problem(format!("cannot look at {}: {error}", path.display()));
            }
            if found.listing.is_full && self.order.is_none() {
                return;
            }
        }
    }

    fn entry(
        &self,
        entry: &std::fs::DirEntry,
        open: &mut Vec<ReadDir>,
        found: &mut Found,
    ) -> Result<(), (PathBuf, io::Error)> {
        let at = |error| (entry.path(), error);
        let kind = entry.file_type().map_err(at)?;
        if kind.is_dir() {
            if self.with_sub_folders && open.len() < DEEPEST {
                open.push(std::fs::read_dir(entry.path()).map_err(at)?);
            }
            return Ok(());
        }
        if self.sweeps && kind.is_file() && names::is_lock(&entry.file_name()) {
            lock::remove_left_over(&entry.path());
        }
        if !(kind.is_file() || kind.is_symlink()) || !self.filter.allows_name(&entry.file_name()) {
            return Ok(());
        }
        let path = entry.path();
        if self.done.contains(&path) {
            return Ok(());
        }
        if kind.is_file() && !self.wants_metadata() {
            found.add(self, path, None);
            return Ok(());
        }
        let metadata = std::fs::metadata(&path).map_err(at)?;
        if metadata.is_file() && self.filter.allows(&metadata, self.now) {
            found.add(self, path, Some(&metadata));
        }
        Ok(())
    }

    fn wants_metadata(&self) -> bool {
        self.filter.wants_metadata() || self.order.is_some_and(|order| order.by != Sort::Name)
    }
}

impl Filter {
    fn allows_name(&self, name: &OsStr) -> bool {
        !names::is_reserved(name)
            && name != self.records
            && self.pattern.as_ref().is_none_or(|pattern| pattern.matches(&name.to_string_lossy()))
    }

    fn wants_metadata(&self) -> bool {
        let by_time = self.minimum_age.is_some() || self.maximum_age.is_some();
        by_time || self.limit_bytes.is_some() || self.ignores_empty || self.wants_identity
    }

    fn allows(&self, metadata: &Metadata, now: SystemTime) -> bool {
        let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let age = now.duration_since(modified).unwrap_or_default();
        self.minimum_age.is_none_or(|least| age >= least)
            && self.maximum_age.is_none_or(|most| age <= most)
            && self.limit_bytes.is_none_or(|most| metadata.len() <= most)
            && !(self.ignores_empty && metadata.len() == 0)
    }
}

struct Found {
    listing: Listing,
    /// The first ones in the order that is wanted; the last of them on top.
    best: BinaryHeap<Ranked>,
}

impl Found {
    fn add(&mut self, look: &Look<'_>, path: PathBuf, metadata: Option<&Metadata>) {
        let seen = metadata.filter(|_| look.filter.wants_identity).map(Identity::of);
        let Some(order) = look.order else {
            if self.listing.candidates.len() < look.most {
                self.listing.candidates.push(Candidate { path, seen });
            } else {
                self.listing.is_full = true;
            }
            return;
        };
        let rank = match (order.by, metadata) {
            (Sort::Size, Some(metadata)) => Rank::Size(metadata.len()),
            (Sort::Modified, Some(metadata)) => Rank::Modified(metadata.modified().ok()),
            _ => Rank::Name,
        };
        self.best.push(Ranked { rank, candidate: Candidate { path, seen }, ascending: order.ascending });
        if self.best.len() > look.most {
            self.best.pop();
            self.listing.is_full = true;
        }
    }

    fn problem(&mut self, problem: String) {
        if self.listing.problems.len() < MOST_PROBLEMS {
            self.listing.problems.push(problem);
        }
    }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Name,
    Size(u64),
    Modified(Option<SystemTime>),
}

#[derive(Debug, PartialEq, Eq)]
struct Ranked {
    rank: Rank,
    candidate: Candidate,
    ascending: bool,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> Ordering {
        let order = self.rank.cmp(&other.rank).then_with(|| self.candidate.path.cmp(&other.candidate.path));
        if self.ascending { order } else { order.reverse() }
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests;
