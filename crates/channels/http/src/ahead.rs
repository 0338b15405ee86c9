//! Looking into a body that stays where it is: in the connection's input, framing and all.
//!
//! Whoever routes by content reads ahead as far as it must and then relays the very bytes that came,
//! chunk framing and trailers included, because nothing was taken out of the input (docs/decisions/0005).

use crate::buffer::Charge;
use crate::h1::{Decoder, FramingError, Piece};

/// How far a body has been looked at, from the first unread byte of its connection's input on.
pub(crate) struct Ahead {
    /// Follows the framing in place of the connection's own decoder, which stays at the start.
    decoder: Decoder,
    /// Bytes of the input that this decoder has passed.
    passed: usize,
    data: Data,
    /// How much of the data was shown already.
    shown: Option<usize>,
    charge: Charge,
}

/// The decoded bytes.
enum Data {
    /// In one piece in the input: any body with a length, and the first chunk of others.
    InPlace { start: usize, end: usize },
    /// Copied together from several chunks.
    Copied(Vec<u8>),
}

impl Ahead {
    pub(crate) fn of(decoder: &Decoder) -> Ahead {
        let data = Data::InPlace { start: 0, end: 0 };
        Ahead { decoder: decoder.clone(), passed: 0, data, shown: None, charge: Charge::default() }
    }

    /// Steps over what has come since.
    ///
    /// Errors: the sender's.
    pub(crate) fn advance(&mut self, input: &[u8]) -> Result<(), FramingError> {
        while let Some(piece) = self.decoder.next(&input[self.passed..])? {
            let length = piece.length();
            let from = self.passed;
            self.passed += length;
            if let Piece::Data(_) = piece {
                match &mut self.data {
                    Data::InPlace { start, end } if start == end => (*start, *end) = (from, self.passed),
                    Data::InPlace { end, .. } if *end == from => *end = self.passed,
                    Data::InPlace { start, end } => {
                        let mut copy = input[*start..*end].to_vec();
                        copy.extend_from_slice(&input[from..self.passed]);
                        self.data = Data::Copied(copy);
                    }
                    Data::Copied(bytes) => bytes.extend_from_slice(&input[from..self.passed]),
                }
            }
        }
        if let Data::Copied(bytes) = &self.data {
            self.charge.set(bytes.capacity());
        }
        Ok(())
    }

    /// Shows the data if there is more of it than last time, or the body is complete; says whether that was enough.
    pub(crate) fn shows(&mut self, input: &[u8], look: &mut dyn FnMut(&[u8], bool) -> bool) -> bool {
        let complete = self.decoder.is_done();
        let data = match &self.data {
            Data::InPlace { start, end } => &input[*start..*end],
            Data::Copied(bytes) => bytes,
        };
        if !complete && self.shown.unwrap_or(0) == data.len() {
            return false;
        }
        self.shown = Some(data.len());
        look(data, complete) || complete
    }

    /// Decoded bytes so far.
    pub(crate) fn length(&self) -> usize {
        match &self.data {
            Data::InPlace { start, end } => end - start,
            Data::Copied(bytes) => bytes.len(),
        }
    }

    /// The connection ended: whether that ends the body, as [`Decoder::end_of_stream`].
    pub(crate) fn end_of_stream(&mut self) -> bool {
        self.decoder.end_of_stream()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::h1::Framing;

    #[test]
    fn data_is_shown_whole_whatever_the_framing_and_the_split() {
        let wire = b"3;x=y\r\nabc\r\n2\r\nde\r\n1\r\nf\r\n0\r\nX-Sum: 1\r\n\r\n";
        for split in 0..=wire.len() {
            let mut ahead = Ahead::of(&Decoder::new(Framing::Chunked));
            let mut seen = Vec::new();
            for input in [&wire[..split], &wire[..]] {
                ahead.advance(input).unwrap();
                ahead.shows(input, &mut |data, complete| {
                    assert!(data.starts_with(&seen));
                    seen = data.to_vec();
                    assert_eq!(complete, input.len() == wire.len());
                    false
                });
            }
            assert_eq!(seen, b"abcdef");
        }
    }

    #[test]
    fn nothing_is_copied_where_the_data_lies_in_one_piece() {
        let mut ahead = Ahead::of(&Decoder::new(Framing::Length(6)));
        for end in 0..=6 {
            ahead.advance(&b"abcdefNEXT"[..end]).unwrap();
            assert!(matches!(ahead.data, Data::InPlace { start: 0, .. }));
            assert_eq!(ahead.length(), end);
        }
        assert!(ahead.shows(b"abcdefNEXT", &mut |data, complete| data == b"abcdef" && complete));
    }

    #[test]
    fn the_same_bytes_are_not_shown_twice() {
        let mut ahead = Ahead::of(&Decoder::new(Framing::Length(6)));
        let mut times = 0;
        for _ in 0..3 {
            ahead.advance(b"abc").unwrap();
            ahead.shows(b"abc", &mut |_, _| {
                times += 1;
                false
            });
        }
        assert_eq!(times, 1);
    }
}
