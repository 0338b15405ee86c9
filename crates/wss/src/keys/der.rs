//! DER, as far as keys, certificates and key stores need it.
//!
//! Own code, because the parsers to be had bring more than all of this crate; it borrows and never copies.
//!
//! Source: X.690 §8, §10.

use std::fmt;

pub(super) const BOOLEAN: u8 = 0x01;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const NULL: u8 = 0x05;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// The tag of a constructed element with a number of its context.
pub(super) const fn context(number: u8) -> u8 {
    0xa0 | number
}

/// The tag of a primitive element with a number of its context.
pub(super) const fn context_primitive(number: u8) -> u8 {
    0x80 | number
}

/// What is wrong with bytes that should be DER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damaged(pub(super) &'static str);

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// An element: its tag, what is in it, and all of its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    pub(super) tag: u8,
    pub(super) content: &'a [u8],
    pub(super) whole: &'a [u8],
}

/// Reads elements one behind the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tag of the next element.
    pub(super) fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The next element, whatever it is.
    pub(super) fn any(&mut self) -> Result<Element<'a>, Damaged> {
        const CUT: Damaged = Damaged("it ends too early");
        let [tag, first, rest @ ..] = self.0 else { return Err(CUT) };
        if tag & 0x1f == 0x1f {
            return Err(Damaged("it has a tag of several bytes"));
        }
        let (length, rest) = match *first {
            short @ 0..0x80 => (usize::from(short), rest),
            0x80 => return Err(Damaged("it has a length that is not said, which BER allows and DER does not")),
            long => {
                let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f)).ok_or(CUT)?;
                if digits.len() > 4 {
                    return Err(CUT);
                }
                (digits.iter().fold(0, |length, &digit| length << 8 | usize::from(digit)), rest)
            }
        };
        let (content, rest) = rest.split_at_checked(length).ok_or(CUT)?;
        let whole = &self.0[..self.0.len() - rest.len()];
        self.0 = rest;
        Ok(Element { tag: *tag, content, whole })
    }

    /// The content of the next element, which has to have this tag.
    pub(super) fn expect(&mut self, tag: u8) -> Result<&'a [u8], Damaged> {
        match self.any()? {
            element if element.tag == tag => Ok(element.content),
            _ => Err(Damaged("an element is of another kind than expected")),
        }
    }

    /// The content of the next element, if it has this tag.
    pub(super) fn optional(&mut self, tag: u8) -> Result<Option<&'a [u8]>, Damaged> {
        if self.peek() == Some(tag) { self.expect(tag).map(Some) } else { Ok(None) }
    }

    /// What is in the next element, which is a sequence.
    pub(super) fn sequence(&mut self) -> Result<Reader<'a>, Damaged> {
        self.expect(SEQUENCE).map(Reader)
    }

    /// A number that is not negative, without leading zeros.
    pub(super) fn unsigned(&mut self) -> Result<&'a [u8], Damaged> {
        let digits = self.expect(INTEGER)?;
        if digits.first().is_none_or(|first| first & 0x80 != 0) {
            return Err(Damaged("a number is negative"));
        }
        Ok(trim(digits))
    }

    /// A number that is small.
    pub(super) fn small(&mut self) -> Result<u32, Damaged> {
        let digits = self.unsigned()?;
        if digits.len() > 4 {
            return Err(Damaged("a number is too large"));
        }
        Ok(digits.iter().fold(0, |number, &digit| number << 8 | u32::from(digit)))
    }

    /// The bytes of a string of bits that fills whole bytes.
    pub(super) fn bytes_of_bits(&mut self) -> Result<&'a [u8], Damaged> {
        match self.expect(BIT_STRING)? {
            [0, bytes @ ..] => Ok(bytes),
            _ => Err(Damaged("a string of bits does not fill its bytes")),
        }
    }

    /// An algorithm: its identifier, and its parameters as they stand.
    pub(super) fn algorithm(&mut self) -> Result<(&'a [u8], Reader<'a>), Damaged> {
        let mut algorithm = self.sequence()?;
        Ok((algorithm.expect(OBJECT_IDENTIFIER)?, algorithm))
    }

    /// Makes sure that nothing follows.
    pub(super) fn finish(self) -> Result<(), Damaged> {
        if self.0.is_empty() { Ok(()) } else { Err(Damaged("something follows that does not belong there")) }
    }
}

/// A number without leading zeros.
pub(super) fn trim(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&digit| digit == 0).count();
    &digits[zeros..]
}

/// Writes an element around pieces of content.
pub(super) fn element(tag: u8, pieces: &[&[u8]]) -> Vec<u8> {
    let length: usize = pieces.iter().map(|piece| piece.len()).sum();
    let mut written = Vec::with_capacity(length + 6);
    written.push(tag);
    if length < 0x80 {
        written.push(length as u8);
    } else {
        let bytes = length.to_be_bytes();
        let digits = trim(&bytes);
        written.push(0x80 | digits.len() as u8);
        written.extend_from_slice(digits);
    }
    pieces.iter().for_each(|piece| written.extend_from_slice(piece));
    written
}

/// Writes a number that is not negative.
pub(super) fn unsigned(digits: &[u8]) -> Vec<u8> {
    let digits = trim(digits);
    // A first bit that is set would make it negative.
    let sign: &[u8] = if digits.first().is_none_or(|first| first & 0x80 != 0) { &[0] } else { &[] };
    element(INTEGER, &[sign, digits])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for length in [0, 1, 127, 128, 255, 256, 70_000] {
            let content = vec![7; length];
            let written = element(OCTET_STRING, &[&content]);
            let mut reader = Reader::new(&written);
            assert_eq!(reader.expect(OCTET_STRING), Ok(&content[..]));
            reader.finish().expect("nothing follows");
        }
        for digits in [&[][..], &[1], &[0x7f], &[0x80], &[1, 0, 0]] {
            assert_eq!(Reader::new(&unsigned(digits)).unsigned(), Ok(digits));
        }
    }

    #[test]
    fn lengths_beyond_the_end_are_refused() {
        for bytes in [&[4, 1][..], &[4], &[4, 0x84, 0xff, 0xff, 0xff, 0xff], &[4, 0x80], &[4, 0x88, 0, 0], &[0x1f, 0]] {
            assert!(Reader::new(bytes).any().is_err(), "{bytes:?}");
        }
    }
}
