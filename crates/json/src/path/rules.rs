//! How a path is evaluated.

use crate::error::Error;
use crate::value::{NodeId, Value};

/// Which member counts where an object has a key twice.
///
/// See `docs/decisions/0004-json-duplicate-keys.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Duplicates {
    /// The first, so that a decision can fall before the rest of the text has come.
    #[default]
    First,
    /// The last, as Jayway and most programs read; nothing is decided before the object ends.
    Last,
    /// Neither: looking such a key up is an error.
    Refuse,
}

/// How a path is evaluated.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Which of two members with the same key counts.
    pub duplicates: Duplicates,
    /// Nodes that one evaluation may look at, those it only passes by included; each 256 bytes of a text that a filter
    /// compares count as one.
    pub visits: usize,
    /// Bytes of text that one evaluation may make or put in.
    pub bytes: usize,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { duplicates: Duplicates::default(), visits: 10_000_000, bytes: 64 << 20 }
    }
}

impl Rules {
    /// Writes a part of a value behind what was made already.
    pub(super) fn write(&self, value: &Value, node: NodeId, out: &mut Vec<u8>) -> Result<(), Error> {
        if value.write_within(node, self.bytes, out) { Ok(()) } else { Err(Error::Made(self.bytes)) }
    }
}
