//! What stops the parser: an error, or the end of what it may look at.

use crate::error::ErrorKind;

/// Why no token was read.
pub(super) enum Stop {
    /// The window ends, and this was expected; empty for what ends the innermost element, or the root element.
    Starved(&'static str),
    Bad(Box<Fault>),
}

pub(super) struct Fault {
    pub(super) kind: ErrorKind,
    /// In the input.
    pub(super) at: usize,
}

#[cold]
#[inline(never)]
pub(super) fn bad<T>(kind: ErrorKind, at: usize) -> Result<T, Stop> {
    Err(Stop::Bad(Box::new(Fault { kind, at })))
}

pub(super) fn forbidden<T>(what: &'static str, at: usize) -> Result<T, Stop> {
    bad(ErrorKind::Forbidden(what), at)
}

/// Something else was expected at `at`, which may be the end of the window.
#[cold]
#[inline(never)]
pub(super) fn malformed<T>(window: &[u8], at: usize, expected: &'static str) -> Result<T, Stop> {
    let rest = &window[at..window.len().min(at + 4)];
    if rest.is_empty() {
        return Err(Stop::Starved(expected));
    }
    // A bound may cut the window inside a character; then the replacement character stands for it.
    let found = String::from_utf8_lossy(rest).chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
    bad(ErrorKind::Malformed { expected, found }, at)
}
