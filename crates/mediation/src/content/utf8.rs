//! Bytes that were written or checked as UTF-8, as text.
//!
//! `from_utf8_lossy` looks at every byte by itself; checking first takes a tenth of its instructions.

use std::borrow::Cow;

/// Bytes as text; what is none is replaced.
pub(crate) fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The same of bytes that nobody else needs.
pub(crate) fn into_utf8(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
