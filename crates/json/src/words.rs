//! Looking for bytes, eight at a time.

pub(crate) const ONES: u64 = u64::from_ne_bytes([1; 8]);
pub(crate) const HIGHS: u64 = ONES << 7;

/// Marks, by their highest bits, the bytes of `word` that are `byte`; exact up to the first of them.
#[inline]
pub(crate) fn equal(word: u64, byte: u8) -> u64 {
    let zero = word ^ (ONES * u64::from(byte));
    zero.wrapping_sub(ONES) & !zero & HIGHS
}

/// Marks what cannot stand in a JSON string as it is: quotes, backslashes and control characters; exact up to the first of them.
#[inline]
pub(crate) fn stops(word: u64) -> u64 {
    let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
    equal(word, b'"') | equal(word, b'\\') | controls
}

/// The first byte from `at` on that `marks` marks in its word, as the functions above do.
///
/// Letters must not be marked: they fill a word that is not full.
#[inline]
pub(crate) fn find(bytes: &[u8], mut at: usize, marks: impl Fn(u64) -> u64) -> Option<usize> {
    loop {
        let rest = &bytes[at..];
        let Some(chunk) = rest.first_chunk::<8>() else {
            let fill = u64::from_ne_bytes([b'a'; 8]);
            let word = rest.iter().rev().fold(fill, |word, &byte| word << 8 | u64::from(byte));
            return first(marks(word)).map(|place| at + place);
        };
        if let Some(place) = first(marks(u64::from_le_bytes(*chunk))) {
            return Some(at + place);
        }
        at += 8;
    }
}

#[inline]
fn first(marks: u64) -> Option<usize> {
    (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_is_found_wherever_it_stands() {
        for length in 0..40 {
            for place in 0..length {
                for byte in [b'"', b'\\', 0, 0x1F] {
                    let mut bytes = vec![b'x'; length];
                    bytes[place..].fill(0xC3);
                    bytes[place] = byte;
                    for from in 0..=place {
                        assert_eq!(find(&bytes, from, stops), Some(place), "{bytes:?} from {from}");
                    }
                    assert_eq!(find(&bytes, place + 1, stops), None);
                }
            }
        }
    }
}
