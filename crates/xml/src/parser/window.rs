//! How far the parser may look.

use super::Parser;

/// How far before the end of what was checked more is checked, so that few tokens end there.
/// Tests have small documents, which should cross the same borders.
pub(super) const AHEAD: usize = if cfg!(test) { 4 } else { 512 };

/// How much is checked at a time.
pub(super) const BLOCK: usize = if cfg!(test) { 16 } else { 2_048 };

impl Parser {
    /// How far the next token may reach: what is there, is UTF-8 and within the bounds.
    #[inline]
    pub(super) fn window_end(&self) -> usize {
        let token = self.at.saturating_add(self.options.token_bytes);
        let total = self.options.total_bytes.saturating_sub(self.base);
        self.checked.min(token).min(total)
    }

    /// Whether the window cannot grow any more for the token at its end; `complete` says that all input was seen.
    pub(super) fn is_last(&self, window: &[u8], complete: bool) -> bool {
        complete || self.invalid || window.len() < self.checked
    }

    /// Checks that some more of the input is UTF-8, as much again as the token at hand has so far:
    /// who stops early does not pay for what stands behind, and a large token is not read often.
    #[inline(never)]
    pub(super) fn check_utf8(&mut self, input: &[u8]) {
        let further = BLOCK.max(self.seen - self.at);
        self.seen = input.len().min(self.seen.saturating_add(further));
        if self.invalid {
            return;
        }
        match std::str::from_utf8(&input[self.checked..self.seen]) {
            Ok(_) => self.checked = self.seen,
            Err(error) => {
                // Without a length the error is but the end of what was looked at, inside a character.
                self.checked += error.valid_up_to();
                self.invalid = error.error_len().is_some();
            }
        }
    }

    /// Whether the token that was not complete may be so now.
    #[inline(never)]
    pub(super) fn look_further(&mut self, window: &[u8], complete: bool) -> bool {
        let found = self.is_last(window, complete) || self.resume.as_mut().is_none_or(|resume| resume.look(window));
        if found {
            self.resume = None;
        }
        found
    }
}
