//! Stylesheets: compiled when the configuration is loaded, run on messages.

mod job;
mod library;

use std::fmt;

use myelin_xslt::{Method, Problem, Stylesheet};

pub(crate) use job::{Job, Owner, Product};
pub(crate) use library::{ENTRY, Library, Resource, Shelf};

/// A compiled stylesheet with what it may read.
pub(crate) struct Sheet {
    compiled: Stylesheet,
    shelf: Shelf,
}

impl Sheet {
    pub(crate) fn new(compiled: Stylesheet, shelf: Shelf) -> Sheet {
        Sheet { compiled, shelf }
    }

    /// What is doubtful in it and was understood all the same.
    pub(crate) fn warnings(&self) -> &[Problem] {
        self.compiled.warnings()
    }

    /// Whether its result is text.
    pub(crate) fn makes_text(&self) -> bool {
        self.compiled.output().method == Some(Method::Text)
    }

    /// The character set of a result that is a document.
    pub(crate) fn charset(&self) -> &str {
        self.compiled.output().charset()
    }
}

impl fmt::Debug for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sheet").field("shelf", &self.shelf).finish_non_exhaustive()
    }
}
