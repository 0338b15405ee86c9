//! Where in a document the parser is.

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// A byte order mark.
    Start,
    /// The XML declaration.
    Declaration,
    /// Comments, instructions, the document type, the root element.
    Prolog,
    /// Anything inside the root element.
    Content,
    /// The end of the empty-element tag that was just read.
    Closing,
    /// Comments and instructions.
    Epilog,
    /// Nothing: there was an error.
    Failed,
}

pub(super) const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();

/// Whether `literal` stands at `at`; unknown while the window ends inside it.
#[inline]
pub(super) fn begins(window: &[u8], at: usize, literal: &[u8]) -> Option<bool> {
    let rest = &window[at..];
    if rest.len() >= literal.len() {
        return Some(rest.starts_with(literal));
    }
    if literal.starts_with(rest) { None } else { Some(false) }
}
