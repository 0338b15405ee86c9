//! Tokens: what was read, by places in the input.

use std::ops::Range;

use crate::names::NameId;

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

/// The inside of an XML declaration, by places in the input.
#[derive(Debug, Default)]
pub(super) struct DeclarationParts {
    pub(super) version: Range<usize>,
    pub(super) encoding: Option<Range<usize>>,
    pub(super) standalone: Option<bool>,
}
