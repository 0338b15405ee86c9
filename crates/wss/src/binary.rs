//! Base64 as XML Schema has it: white space anywhere, and otherwise as strict as RFC 4648 allows.
//!
//! Padding has to be there and its spare bits have to be zero, so that one value has one spelling.
//!
//! Source: XML Schema part 2 §3.2.16, RFC 4648 §4.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::{memchr, memchr3};
use myelin_xml::{Document, NodeId};

use crate::error::{Refusal, Rule};
use crate::memory;
use crate::structure::pieces;

/// Decodes the text of an element.
///
/// Units: at most `limit_bytes` decoded bytes.
/// Errors: `Malformed` for what is no base64, `Limit` for what is too long; the sender's.
pub fn decode(document: &Document, element: NodeId, limit_bytes: usize) -> Result<Vec<u8>, Refusal> {
    let mut decoder = Decoder::new(limit_bytes);
    for piece in pieces(document, element) {
        decoder.push(&piece?)?;
    }
    decoder.finish()
}

/// Decodes a text.
///
/// Units and errors: as for [`decode`].
pub fn decode_text(text: &str, limit_bytes: usize) -> Result<Vec<u8>, Refusal> {
    let mut decoder = Decoder::new(limit_bytes);
    decoder.push(text)?;
    decoder.finish()
}

/// Writes bytes as base64, in one line.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len().div_ceil(3) * 4);
    base64_simd::STANDARD.encode_append(bytes, out);
}

/// Decodes runs of characters between white space; what is left of a group of four is carried to the next run.
struct Decoder {
    decoded: Vec<u8>,
    limit_bytes: usize,
    carry: [u8; 4],
    carried: usize,
    /// Whether there was padding, behind which nothing may come.
    ended: bool,
}

impl Decoder {
    fn new(limit_bytes: usize) -> Decoder {
        Decoder { decoded: Vec::new(), limit_bytes, carry: [0; 4], carried: 0, ended: false }
    }

    fn push(&mut self, text: &str) -> Result<(), Refusal> {
        // Each character adds three quarters of a byte; white space is at most a small part of what peers send.
        let room = text.len() / 4 * 3 + 3;
        let room = room.min(self.limit_bytes.saturating_sub(self.decoded.len()).saturating_add(3));
        if self.decoded.capacity() == 0 {
            self.decoded = memory::buffer(room);
        }
        self.decoded.reserve(room);
        let tabs = memchr(b'\t', text.as_bytes()).map(|_| text.replace('\t', " "));
        let mut rest = tabs.as_deref().unwrap_or(text).as_bytes();
        while let Some(space) = memchr3(b'\n', b'\r', b' ', rest) {
            self.run(&rest[..space])?;
            rest = &rest[space + 1..];
        }
        self.run(rest)
    }

    fn run(&mut self, mut run: &[u8]) -> Result<(), Refusal> {
        while self.carried > 0 && !run.is_empty() {
            self.carry[self.carried] = run[0];
            self.carried += 1;
            run = &run[1..];
            if self.carried == 4 {
                self.carried = 0;
                let carry = self.carry;
                self.groups(&carry)?;
            }
        }
        let (groups, rest) = run.split_at(run.len() / 4 * 4);
        self.groups(groups)?;
        self.carry[self.carried..self.carried + rest.len()].copy_from_slice(rest);
        self.carried += rest.len();
        Ok(())
    }

    /// Decodes groups of four characters.
    fn groups(&mut self, groups: &[u8]) -> Result<(), Refusal> {
        let Some(last) = groups.last() else { return Ok(()) };
        if self.ended {
            return Err(Refusal::new(Rule::Malformed, "base64 goes on behind its padding"));
        }
        self.ended = *last == b'=';
        if self.decoded.len() + groups.len() / 4 * 3 > self.limit_bytes.saturating_add(2) {
            return Err(Refusal::new(Rule::Limit, format!("base64 of more than {} bytes", self.limit_bytes)));
        }
        let none = |error: &dyn std::fmt::Display| Refusal::new(Rule::Malformed, format!("this is no base64: {error}"));
        // Padding, whose spare bits have to be zero, can only be in the last group.
        let (groups, last) = groups.split_at(groups.len() - 4);
        base64_simd::STANDARD_NO_PAD.decode_append(groups, &mut self.decoded).map_err(|error| none(&error))?;
        let mut bytes = [0; 3];
        let length = STANDARD.decode_slice_unchecked(last, &mut bytes).map_err(|error| none(&error))?;
        self.decoded.extend_from_slice(&bytes[..length]);
        Ok(())
    }

    fn finish(self) -> Result<Vec<u8>, Refusal> {
        if self.carried > 0 {
            return Err(Refusal::new(Rule::Malformed, "base64 ends within a group of four"));
        }
        if self.decoded.len() > self.limit_bytes {
            return Err(Refusal::new(Rule::Limit, format!("base64 of more than {} bytes", self.limit_bytes)));
        }
        Ok(self.decoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: Option<&[u8]>) {
        assert_eq!(decode_text(text, 100).ok().as_deref(), expected, "{text:?}");
    }

    #[test]
    fn white_space_may_stand_anywhere() {
        check("", Some(b""));
        check(" \n", Some(b""));
        check("TWFu", Some(b"Man"));
        check(" T\tW\r\nF u\nTQ\n=\n= ", Some(b"ManM"));
    }

    #[test]
    fn what_is_not_one_spelling_of_a_value_is_refused() {
        for text in [
            "T",
            "TW",
            "TWF",
            "TQ=",
            "TQ===",
            "TR==",
            "TWF=TWFu",
            "TQ==TQ==",
            "TQ== TQ==",
            "=",
            "====",
            "T-_u",
            "TWFu.",
        ] {
            check(text, None);
        }
        check("\u{a0}TWFu", None);
    }

    #[test]
    fn a_letter_of_another_alphabet_is_refused_wherever_it_stands() {
        let text = "TWFu".repeat(50);
        assert_eq!(decode_text(&text, 200).ok(), Some(b"Man".repeat(50)));
        for at in 0..text.len() {
            for other in ["=", "-", "_", ".", "\0", "\u{e9}"] {
                let wrong = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                assert!(decode_text(&wrong, 200).is_err(), "{wrong:?}");
            }
        }
    }

    #[test]
    fn a_bound_is_kept_to_the_byte() {
        assert_eq!(decode_text("TWFuTQ==", 4).expect("it has four bytes"), b"ManM");
        assert_eq!(decode_text("TWFuTQ==", 3).expect_err("it has four bytes").rule, Rule::Limit);
        assert_eq!(decode_text("TWFu", 2).expect_err("it has three bytes").rule, Rule::Limit);
    }

    proptest! {
        #[test]
        fn bytes_come_back_however_lines_are_broken(bytes: Vec<u8>, breaks in prop::collection::vec(0..200usize, 0..8)) {
            let mut encoded = Vec::new();
            encode(&bytes, &mut encoded);
            let mut text = String::from_utf8(encoded).expect("it is ASCII");
            for at in breaks {
                if at <= text.len() {
                    text.insert(at, ['\n', ' ', '\r', '\t'][at % 4]);
                }
            }
            prop_assert_eq!(decode_text(&text, bytes.len()).expect("it is base64"), bytes);
        }
    }
}
