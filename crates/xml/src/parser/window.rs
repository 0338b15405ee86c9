//! How far the parser may look.

use super::Parser;

/// How much is checked at first, and how much at a time at most. Tests have small documents, which should cross the same
/// borders.
pub(super) const FIRST_BLOCK: usize = if cfg!(test) { 8 } else { 512 };
const LARGEST_BLOCK: usize = if cfg!(test) { 16 } else { 8_192 };

impl Parser {
    /// How far the next token may reach: what is there, is UTF-8 and within the bounds.
    #[inline]
    pub(super) fn window_end(&self) -> usize {
        self.limit.min(self.at.saturating_add(self.options.token_bytes))
    }

    /// Notes how far any token may reach.
    pub(super) fn set_limit(&mut self) {
        self.limit = self.checked.min(self.options.total_bytes.saturating_sub(self.base));
    }

    /// Whether the window cannot grow any more for the token at its end; `complete` says that all input was seen.
    pub(super) fn is_last(&self, window: &[u8], complete: bool) -> bool {
        complete || self.invalid || window.len() < self.checked
    }

    /// Checks that some more of the input is UTF-8. How much grows with what was read so far, and with the token at hand:
    /// whoever stops early does not pay for what stands behind, and a large token is not checked many times.
    #[inline(never)]
    pub(super) fn check_utf8(&mut self, input: &[u8]) {
        let further = (self.base + self.seen).clamp(FIRST_BLOCK, LARGEST_BLOCK).max(self.seen - self.at);
        self.seen = input.len().min(self.seen.saturating_add(further));
        if self.invalid {
            return;
        }
        let unchecked = &input[self.checked..self.seen];
        match if is_ascii(unchecked) { Ok("") } else { std::str::from_utf8(unchecked) } {
            Ok(_) => self.checked = self.seen,
            Err(error) => {
                // Without a length the error is but the end of what was looked at, inside a character.
                self.checked += error.valid_up_to();
                self.invalid = error.error_len().is_some();
            }
        }
        self.set_limit();
    }

    /// Whether the token that was not complete may be so now.
    #[inline(never)]
    pub(super) fn look_further(&mut self, input: &[u8], complete: bool) -> bool {
        let window = &input[..self.window_end()];
        let complete = complete && self.seen == input.len();
        let found = self.is_last(window, complete) || self.resume.as_mut().is_none_or(|resume| resume.look(window));
        if found {
            self.resume = None;
        }
        found
    }
}

/// Whether all bytes are ASCII; unlike the method of slices, cheap for the few bytes behind the last whole vector, too.
fn is_ascii(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks();
    let last = bytes.last_chunk().copied().unwrap_or_default();
    let any = words.iter().fold(u64::from_ne_bytes(last), |any, word| any | u64::from_ne_bytes(*word));
    any & 0x8080_8080_8080_8080 == 0 && (bytes.len() >= 8 || rest.is_ascii())
}
