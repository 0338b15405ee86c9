//! From places of a text that was made to those of the text it was made of.

use super::input::markup_length;
use crate::error::{Error, ErrorKind};
use crate::parser::place::Place;

/// A stretch of the text.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Where it begins in the text.
    start: usize,
    /// Where it, or the reference it stands for, begins in the source.
    source: usize,
    /// Whether it is as it was in the source.
    verbatim: bool,
}

/// Where the parts of a text come from.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pieces: Vec<Piece>,
}

impl Pieces {
    /// Notes that what is added at `start` comes from `source`, as it is there or instead of it.
    pub(super) fn add(&mut self, start: usize, source: usize, verbatim: bool) {
        if let Some(last) = self.pieces.last() {
            let follows =
                if verbatim { source - last.source.min(source) == start - last.start } else { source == last.source };
            if last.verbatim == verbatim && follows {
                return;
            }
        }
        self.pieces.push(Piece { start, source, verbatim });
    }

    pub(super) fn source_offset(&self, offset: usize) -> usize {
        let after = self.pieces.partition_point(|piece| piece.start <= offset);
        match self.pieces.get(after.saturating_sub(1)) {
            Some(piece) if piece.verbatim => piece.source + (offset - piece.start.min(offset)),
            Some(piece) => piece.source,
            None => offset,
        }
    }
}

/// Where the document type of a text begins.
pub(super) fn doctype(source: &str) -> Option<usize> {
    let mut at = source.len() - source.trim_start_matches('\u{feff}').len();
    loop {
        let rest = &source[at..];
        let rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        at = source.len() - rest.len();
        if rest.starts_with("<!DOCTYPE") {
            return Some(at);
        }
        at += markup_length(rest).filter(|_| rest.starts_with("<!--") || rest.starts_with("<?"))?;
    }
}

/// An error at a byte of a text.
pub(super) fn error(source: &str, offset: usize, kind: ErrorKind) -> Error {
    let offset = offset.min(source.len());
    let mut place = Place::default();
    place.pass(&source.as_bytes()[..offset], true);
    Error { kind, line: place.line, column: place.column, offset }
}
