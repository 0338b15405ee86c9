//! Lines and columns, counted only when somebody wants to know.

/// A place in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// From 1.
    pub(crate) line: u64,
    /// In characters, from 1.
    pub(crate) column: u64,
    /// A carriage return stands before: a line feed behind it belongs to the same line end.
    after_return: bool,
}

impl Default for Place {
    fn default() -> Place {
        Place { line: 1, column: 1, after_return: false }
    }
}

impl Place {
    /// Moves behind `bytes`; `first` says that they begin the document, so that a byte order mark has no column.
    pub(crate) fn pass(&mut self, bytes: &[u8], first: bool) {
        let mut rest = match first {
            true => bytes.strip_prefix(super::stage::BYTE_ORDER_MARK).unwrap_or(bytes),
            false => bytes,
        };
        if rest.is_empty() {
            return;
        }
        if self.after_return && rest[0] == b'\n' {
            rest = &rest[1..];
        }
        self.after_return = bytes.ends_with(b"\r");
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            self.line += 1;
            self.column = 1;
            let length = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
            rest = &rest[end + length..];
        }
        // Each character has one byte that is not a continuation.
        self.column += rest.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64;
    }
}
