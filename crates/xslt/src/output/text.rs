//! Results that are only asked for their text: values of attributes, of comments, of variables that hold no element.

use super::error::OutputError;

/// How much room a text gets at first.
const USUAL_BYTES: usize = 32;

/// A text, as far as it has come: that of items, which are nodes or values; texts in a row are one item.
///
/// Source: XSLT 2.0 §5.7.2. XSLT 1.0 §7.1.3 has an error for nodes that are no texts, or leaves them out; here their text
/// counts, as it does for everybody who followed 2.0.
#[derive(Debug)]
pub(super) struct Text<'o> {
    text: String,
    limit_bytes: usize,
    /// What stands between two items.
    between: &'o str,
    /// How many elements are open.
    depth: usize,
    last: Last,
}

/// The item before, outside of all elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Nothing,
    Text,
    Item,
}

impl<'o> Text<'o> {
    pub(super) fn new(between: &'o str, limit_bytes: usize) -> Text<'o> {
        Text { text: String::new(), limit_bytes, between, depth: 0, last: Last::Nothing }
    }

    pub(super) fn start(&mut self) -> Result<(), OutputError> {
        if self.depth == 0 {
            self.begin_item(Last::Item)?;
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn end_element(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) -> Result<(), OutputError> {
        // A text without characters is none, so that it does not stand between others either.
        if text.is_empty() {
            return Ok(());
        }
        if self.depth == 0 {
            self.begin_item(Last::Text)?;
        }
        self.push(text)
    }

    /// An attribute, a comment or an instruction.
    pub(super) fn node(&mut self, value: &str) -> Result<(), OutputError> {
        if self.depth > 0 { Ok(()) } else { self.atomic(value) }
    }

    /// A value that is no node.
    pub(super) fn atomic(&mut self, value: &str) -> Result<(), OutputError> {
        if self.depth == 0 {
            self.begin_item(Last::Item)?;
        }
        self.push(value)
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    pub(super) fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// Writes what stands between items, where there was one.
    #[inline]
    fn begin_item(&mut self, kind: Last) -> Result<(), OutputError> {
        let before = std::mem::replace(&mut self.last, kind);
        if before == Last::Nothing || (before, kind) == (Last::Text, Last::Text) {
            return Ok(());
        }
        self.push(self.between)
    }

    #[inline]
    fn push(&mut self, text: &str) -> Result<(), OutputError> {
        if self.text.len().saturating_add(text.len()) > self.limit_bytes {
            return Err(OutputError::TooLarge(self.limit_bytes));
        }
        if self.text.capacity() == 0 {
            self.text.reserve(text.len().max(USUAL_BYTES));
        }
        self.text.push_str(text);
        Ok(())
    }
}
