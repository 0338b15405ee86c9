//! Tokens: what was read, by places in the input.

use std::ops::Range;

use crate::names::NameId;
use crate::options::DeclaredEncoding;

/// What was read, by places in the input; small, because each event passes through it.
pub(super) enum Token {
    Start { name: NameId, range: Range<usize>, empty: bool },
    End { name: NameId, range: Range<usize> },
    Text { range: Range<usize>, verbatim: bool },
    Cdata { range: Range<usize>, verbatim: bool },
    Comment { range: Range<usize> },
    Instruction { range: Range<usize> },
    Doctype { range: Range<usize> },
    Declaration { range: Range<usize> },
}

/// An XML declaration and its inside.
#[derive(Debug, Default)]
pub(super) struct DeclarationParts {
    /// All of it, if it is short: mostly the next document begins with the same.
    pub(super) written: Vec<u8>,
    /// How its encoding was judged.
    pub(super) judged: Option<DeclaredEncoding>,
    pub(super) version: String,
    pub(super) encoding: Option<String>,
    pub(super) standalone: Option<bool>,
}
