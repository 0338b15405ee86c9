//! Stylesheets: compiled when the configuration is loaded, run on messages.

mod build;
mod job;
mod key;
mod library;
mod payload;
pub(crate) use build::Named;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use myelin_xslt::{Method, Problem, Stylesheet};

pub(crate) use job::{Input, Job, Owner, Product};
pub(crate) use key::StylesheetKey;
pub(crate) use library::{Shelf, for_stylesheets};

/// A compiled stylesheet with what it may read.
pub struct Sheet {
    compiled: Stylesheet,
    shelf: Shelf,
    /// Whether it can transform messages in one pass over their bytes.
    one_pass: bool,
    /// A document with a source of so many bytes takes long.
    long_bytes: AtomicUsize,
}

/// A document with a longer source takes long, whatever the stylesheet.
const LONG_BYTES: usize = 128 * 1024;

impl Sheet {
    pub fn new(compiled: Stylesheet, shelf: Shelf) -> Sheet {
        Sheet { one_pass: compiled.tree_reason().is_none(), compiled, shelf, long_bytes: AtomicUsize::new(LONG_BYTES) }
    }

    /// Whether a document with a source of so many bytes takes long, as far as is known.
    fn takes_long(&self, bytes: usize) -> bool {
        bytes >= self.long_bytes.load(Ordering::Relaxed)
    }

    /// A document with a source of so many bytes took long.
    fn took_long(&self, bytes: usize) {
        self.long_bytes.fetch_min(bytes, Ordering::Relaxed);
    }

    /// What is doubtful in it and was understood all the same.
    pub fn warnings(&self) -> &[Problem] {
        self.compiled.warnings()
    }

    /// Whether its result is text.
    pub fn makes_text(&self) -> bool {
        self.compiled.output().method == Some(Method::Text)
    }

    /// Whether it can transform messages in one pass over their bytes, as long as they come in its order.
    pub fn is_one_pass(&self) -> bool {
        self.one_pass && !self.compiled.may_be_malformed()
    }

    /// Whether its result need not be well-formed.
    pub fn may_be_malformed(&self) -> bool {
        self.compiled.may_be_malformed()
    }

    /// The character set of a result that is a document.
    pub fn charset(&self) -> &str {
        self.compiled.output().charset()
    }
}

impl fmt::Debug for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sheet").field("shelf", &self.shelf).finish_non_exhaustive()
    }
}
