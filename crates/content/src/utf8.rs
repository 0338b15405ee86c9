//! Bytes as text, where they are mostly valid UTF-8.
//!
//! `from_utf8_lossy` looks at every byte by itself; checking first takes a tenth of its instructions.

use std::borrow::Cow;

/// Bytes as text; what is not UTF-8 becomes U+FFFD.
pub fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// As [`utf8`], for bytes that nobody else needs.
pub fn into_utf8(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
