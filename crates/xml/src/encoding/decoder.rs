//! From other encodings to UTF-8, piece by piece.

use std::fmt;

/// An encoding that documents may be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, the lower byte first.
    Utf16Le,
    /// UTF-16, the higher byte first.
    Utf16Be,
    /// ISO-8859-1: each byte is the character of that number.
    Latin1,
    /// US-ASCII: bytes from 0x80 on are errors.
    UsAscii,
    /// One of those that browsers read: windows-1252, ISO-8859-15, `Shift_JIS` and others.
    Other(Table),
}

/// How an encoding is read whose characters stand in a table: never one of the others of [`Encoding`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Table(&'static encoding_rs::Encoding);

impl Table {
    /// The encoding with a name of the IANA registry.
    pub(super) fn named(name: &str) -> Option<Table> {
        let encoding = encoding_rs::Encoding::for_label_no_replacement(name.as_bytes())?;
        let own = [
            encoding_rs::UTF_8,
            encoding_rs::UTF_16BE,
            encoding_rs::UTF_16LE,
            // No encoding of documents.
            encoding_rs::X_USER_DEFINED,
        ];
        (!own.contains(&encoding)).then_some(Table(encoding))
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

/// Makes UTF-8 of a document that comes in pieces.
///
/// What is no text in its encoding becomes the byte 0xFF, which UTF-8 does not have, and nothing follows it:
/// so the parser says where it stands, after whatever else is wrong before it.
/// Units: three bytes of UTF-8 at most for each two of UTF-16, two for each one of ISO-8859-1,
/// three for each one of another encoding of single bytes.
pub struct Decoder {
    encoding: Encoding,
    /// Reads one of the encodings with tables.
    table: Option<Box<encoding_rs::Decoder>>,
    /// The first byte of a code unit whose second has not come.
    half: Option<u8>,
    /// The first unit of a surrogate pair whose second has not come.
    high: Option<u16>,
    /// Something was no text.
    failed: bool,
}

const NO_TEXT: u8 = 0xFF;

/// How much text a table gives at once.
const CHUNK_BYTES: usize = 4_096;

impl Decoder {
    /// At the beginning of a document.
    pub fn new(encoding: Encoding) -> Decoder {
        let table = match encoding {
            Encoding::Other(Table(table)) => Some(Box::new(table.new_decoder_without_bom_handling())),
            _ => None,
        };
        Decoder { encoding, table, half: None, high: None, failed: false }
    }

    /// Appends to `utf8` what `piece` goes on with; a byte order mark stays, for the parser to skip.
    pub fn push(&mut self, piece: &[u8], utf8: &mut Vec<u8>) {
        if self.failed {
            return;
        }
        match self.encoding {
            Encoding::Utf8 => utf8.extend_from_slice(piece),
            Encoding::Latin1 => {
                for &byte in piece {
                    append(char::from(byte), utf8);
                }
            }
            Encoding::UsAscii => {
                let ascii = piece.iter().position(|byte| !byte.is_ascii()).unwrap_or(piece.len());
                utf8.extend_from_slice(&piece[..ascii]);
                if ascii < piece.len() {
                    self.fail(utf8);
                }
            }
            Encoding::Utf16Le => self.push_utf16(piece, u16::from_le_bytes, utf8),
            Encoding::Utf16Be => self.push_utf16(piece, u16::from_be_bytes, utf8),
            Encoding::Other(_) => self.push_table(piece, false, utf8),
        }
    }

    /// Says that nothing follows.
    pub fn finish(&mut self, utf8: &mut Vec<u8>) {
        if !self.failed && (self.half.is_some() || self.high.is_some()) {
            self.fail(utf8);
        }
        if !self.failed && self.table.is_some() {
            self.push_table(&[], true, utf8);
        }
    }

    fn push_table(&mut self, mut piece: &[u8], last: bool, utf8: &mut Vec<u8>) {
        let Some(table) = &mut self.table else { return };
        loop {
            let mut chunk = [0; CHUNK_BYTES];
            let (result, read, written) = table.decode_to_utf8_without_replacement(piece, &mut chunk, last);
            utf8.extend_from_slice(&chunk[..written]);
            piece = &piece[read..];
            match result {
                encoding_rs::DecoderResult::InputEmpty => return,
                encoding_rs::DecoderResult::OutputFull => {}
                encoding_rs::DecoderResult::Malformed(..) => return self.fail(utf8),
            }
        }
    }

    fn push_utf16(&mut self, mut piece: &[u8], unit: impl Fn([u8; 2]) -> u16, utf8: &mut Vec<u8>) {
        if let (Some(half), [first, rest @ ..]) = (self.half, piece) {
            self.half = None;
            self.unit(unit([half, *first]), utf8);
            piece = rest;
        }
        let (pairs, rest) = piece.as_chunks::<2>();
        for pair in pairs {
            self.unit(unit(*pair), utf8);
        }
        if let [half] = rest {
            self.half = Some(*half);
        }
    }

    fn unit(&mut self, unit: u16, utf8: &mut Vec<u8>) {
        if self.failed {
            return;
        }
        match (self.high.take(), unit) {
            (None, 0xD800..0xDC00) => self.high = Some(unit),
            (None, _) => match char::from_u32(u32::from(unit)) {
                Some(c) => append(c, utf8),
                None => self.fail(utf8),
            },
            (Some(high), low) => match char::decode_utf16([high, low]).next() {
                Some(Ok(c)) => append(c, utf8),
                _ => self.fail(utf8),
            },
        }
    }

    fn fail(&mut self, utf8: &mut Vec<u8>) {
        self.failed = true;
        utf8.push(NO_TEXT);
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("encoding", &self.encoding)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

fn append(c: char, utf8: &mut Vec<u8>) {
    utf8.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(encoding: Encoding, pieces: &[&[u8]]) -> Vec<u8> {
        let mut decoder = Decoder::new(encoding);
        let mut utf8 = Vec::new();
        for piece in pieces {
            decoder.push(piece, &mut utf8);
        }
        decoder.finish(&mut utf8);
        utf8
    }

    #[test]
    fn what_is_no_text_ends_in_a_byte_that_utf8_does_not_have() {
        for (encoding, bytes, expected) in [
            (Encoding::UsAscii, &b"a\x80b"[..], &b"a\xFF"[..]),
            (Encoding::Latin1, b"a\xE9\x80", "a\u{E9}\u{80}".as_bytes()),
            (Encoding::Utf16Le, b"a\0b", b"a\xFF"),
            (Encoding::Utf16Le, b"\0\xDCa\0", b"\xFF"),
            (Encoding::Utf16Le, b"\0\xD8a\0", b"\xFF"),
            (Encoding::Utf16Be, b"\xD8\0", b"\xFF"),
            (other("windows-1252"), b"\x80\xE9", "€é".as_bytes()),
            (other("ISO-8859-15"), b"\xA4", "€".as_bytes()),
            (other("ISO-2022-JP"), b"a\x1B$B\x46\x7C\x1B(Bb", "a日b".as_bytes()),
            (other("Shift_JIS"), b"\x93\xFA\x93", b"\xE6\x97\xA5\xFF"),
            (other("EUC-JP"), b"a\xFFb", b"a\xFF"),
        ] {
            assert_eq!(decoded(encoding, &[bytes]), expected, "{encoding:?} {bytes:?}");
        }
    }

    fn other(name: &str) -> Encoding {
        Encoding::Other(Table::named(name).expect("an encoding"))
    }

    proptest! {
        #[test]
        fn any_split_of_another_encoding_is_the_text(text in "[あ-んa-z<>]{0,40}", at: prop::sample::Index) {
            let Encoding::Other(Table(table)) = other("ISO-2022-JP") else { unreachable!("it has a table") };
            let bytes = table.encode(&text).0.into_owned();
            let (first, second) = bytes.split_at(at.index(bytes.len() + 1));
            prop_assert_eq!(decoded(other("ISO-2022-JP"), &[first, second]), text.as_bytes());
        }

        #[test]
        fn any_split_of_utf16_is_the_text(text: String, at: prop::sample::Index, then: prop::sample::Index) {
            let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            let first = at.index(bytes.len() + 1);
            let second = first + then.index(bytes.len() + 1 - first);
            let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
            prop_assert_eq!(decoded(Encoding::Utf16Be, &pieces), text.as_bytes());
        }
    }
}
