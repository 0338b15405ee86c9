//! How far a string or a number goes: the inner loops of the reader.

use crate::words::{HIGHS, stops};

/// Where a scan of a string stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scanned {
    /// At the closing quote.
    End(usize),
    /// At a byte that may not stand there.
    Bad(usize, &'static str),
    /// At the end of the input; go on from here.
    Pending(usize),
}

/// What is known of a string so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StringScan {
    /// Whether there is a backslash.
    pub(super) escaped: bool,
    /// Whether there may be bytes above ASCII, whose encoding is to be checked.
    pub(super) wide: bool,
}

impl StringScan {
    /// Looks on from `at`, which is behind the opening quote.
    #[inline]
    pub(super) fn scan(&mut self, input: &[u8], mut at: usize) -> Scanned {
        loop {
            at = self.plain(input, at);
            match input.get(at) {
                None => return Scanned::Pending(at),
                Some(b'"') => return Scanned::End(at),
                Some(b'\\') => match escape_length(input, at) {
                    Ok(length) => {
                        self.escaped = true;
                        at += length;
                    }
                    Err(stopped) => return stopped,
                },
                Some(_) => return Scanned::Bad(at, "no control character in a string"),
            }
        }
    }

    /// The first byte from `at` on that ends a plain stretch; eight bytes at a time.
    #[inline]
    fn plain(&mut self, input: &[u8], mut at: usize) -> usize {
        let mut seen = 0;
        while let Some(chunk) = input.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let word = u64::from_le_bytes(*chunk);
            // Bytes behind the stop are counted too: at worst a check that was not needed.
            seen |= word;
            let stops = stops(word);
            if stops != 0 {
                self.wide |= seen & HIGHS != 0;
                return at + stops.trailing_zeros() as usize / 8;
            }
            at += 8;
        }
        self.wide |= seen & HIGHS != 0;
        while let Some(&byte) = input.get(at) {
            if byte < 0x20 || byte == b'"' || byte == b'\\' {
                break;
            }
            self.wide |= byte >= 0x80;
            at += 1;
        }
        at
    }
}

/// The length of the escape at `at`, or why there is none.
fn escape_length(input: &[u8], at: usize) -> Result<usize, Scanned> {
    match input.get(at + 1) {
        None => Err(Scanned::Pending(at)),
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
        Some(b'u') => {
            for digit in at + 2..at + 6 {
                match input.get(digit) {
                    None => return Err(Scanned::Pending(at)),
                    Some(byte) if byte.is_ascii_hexdigit() => {}
                    Some(_) => return Err(Scanned::Bad(digit, "four hexadecimal digits behind `\\u`")),
                }
            }
            Ok(6)
        }
        Some(_) => Err(Scanned::Bad(at + 1, "one of `\"\\/bfnrtu` behind a backslash")),
    }
}

/// How far the grammar of a number has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberState {
    Start,
    Minus,
    Zero,
    Digits,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
}

impl NumberState {
    /// The state behind `byte`; `None` if it is no longer part of the number.
    #[inline]
    pub(super) fn after(self, byte: u8) -> Option<NumberState> {
        use NumberState::*;
        Some(match (self, byte) {
            (Start, b'-') => Minus,
            (Start | Minus, b'0') => Zero,
            (Start | Minus | Digits, b'0'..=b'9') => Digits,
            (Zero | Digits, b'.') => Point,
            (Point | Fraction, b'0'..=b'9') => Fraction,
            (Zero | Digits | Fraction, b'e' | b'E') => Exponent,
            (Exponent, b'+' | b'-') => Sign,
            (Exponent | Sign | Power, b'0'..=b'9') => Power,
            _ => return None,
        })
    }

    /// Looks on from `at` to the first byte that is not of the number.
    #[inline]
    pub(crate) fn scan(&mut self, input: &[u8], mut at: usize) -> usize {
        while let Some(next) = input.get(at).and_then(|&byte| self.after(byte)) {
            *self = next;
            at += 1;
        }
        at
    }

    /// What a number that ends here lacks.
    pub(crate) fn lacks(self) -> Option<&'static str> {
        use NumberState::*;
        match self {
            Zero | Digits | Fraction | Power => None,
            Start | Minus => Some("a digit of a number"),
            Point => Some("a digit behind the decimal point"),
            Exponent | Sign => Some("a digit of the exponent"),
        }
    }
}
