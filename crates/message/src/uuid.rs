//! Identifiers that nobody else has, as text.

use std::fmt;

/// The text of a UUID (RFC 9562 §4): 36 letters of ASCII, which need no memory of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uuid([u8; 36]);

impl Uuid {
    /// A random UUID (RFC 9562 §5.4) of these bits; six of them say that it is one.
    #[inline]
    pub fn of_random((high, low): (u64, u64)) -> Uuid {
        // Version 4, and the variant of the standard.
        let (high, low) = (high & !0xf000 | 0x4000, low & !(0b11 << 62) | 0b10 << 62);
        let [a, b, c, d] = [high >> 32, high, low >> 32, low].map(|half| digits(half as u32));
        let mut text = [b'-'; 36];
        text[..8].copy_from_slice(&a);
        text[9..13].copy_from_slice(&b[..4]);
        text[14..18].copy_from_slice(&b[4..]);
        text[19..23].copy_from_slice(&c[..4]);
        text[24..28].copy_from_slice(&c[4..]);
        text[28..].copy_from_slice(&d);
        Uuid(text)
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The bytes of its text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A number as hexadecimal digits, all of them at once.
fn digits(number: u32) -> [u8; 8] {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    // Each half byte in a byte of its own.
    let mut halves = u64::from(number);
    halves = (halves << 16 | halves) & 0x0000_ffff_0000_ffff;
    halves = (halves << 8 | halves) & 0x00ff_00ff_00ff_00ff;
    halves = (halves << 4 | halves) & 0x0f0f_0f0f_0f0f_0f0f;
    // From ten on it is a letter, which stands farther behind in ASCII.
    let letters = (halves + 6 * EACH) >> 4 & EACH;
    (halves + u64::from(b'0') * EACH + u64::from(b'a' - b'9' - 1) * letters).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_number() {
        for number in [0, 0x0123_4567, 0x89ab_cdef, u32::MAX, 0x9a00_00a9] {
            assert_eq!(digits(number), format!("{number:08x}").as_bytes());
        }
    }

    #[test]
    fn a_random_uuid_says_that_it_is_one() {
        let check = |bits, text| assert_eq!(Uuid::of_random(bits).to_string(), text);
        check((0, 0), "00000000-0000-4000-8000-000000000000");
        check((u64::MAX, u64::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        check((0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210), "01234567-89ab-4def-bedc-ba9876543210");
    }
}
