//! Where a body ends: by length, by chunks, or with the connection (RFC 9112 §6, §7).
//!
//! The decoder looks at bytes as they pass and says which of them are data and where the message ends.
//! A relay copies framing and data alike, so chunk boundaries, extensions and trailers arrive unchanged.

use std::fmt;

/// How a message's body is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// There is no body.
    Empty,
    /// That many bytes follow.
    Length(u64),
    /// The chunked coding.
    Chunked,
    /// Everything up to the end of the connection; responses only.
    UntilClose,
}

/// What the bytes at hand are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// That many bytes are content.
    Data(usize),
    /// That many bytes are chunk sizes, extensions, line ends or trailers.
    Framing(usize),
}

/// Why a body cannot be followed to its end; the sender's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramingError {
    /// Broken chunked coding, and what would be right.
    Broken(&'static str),
    /// More data than allowed.
    TooLarge {
        /// The limit that was passed.
        limit_bytes: u64,
    },
}

impl fmt::Display for FramingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FramingError::Broken(reason) => f.write_str(reason),
            FramingError::TooLarge { limit_bytes } => write!(f, "the body is larger than {limit_bytes} bytes"),
        }
    }
}

impl From<FramingError> for myelin_message::BodyError {
    fn from(error: FramingError) -> myelin_message::BodyError {
        match error {
            FramingError::Broken(reason) => myelin_message::BodyError::Malformed(reason),
            FramingError::TooLarge { limit_bytes } => myelin_message::BodyError::TooLarge { limit_bytes },
        }
    }
}

/// Extensions of one chunk: more is an attack, not a protocol.
const EXTENSION_LIMIT: u16 = 1024;
/// What framing may exceed an allowance of 16 bytes a chunk and twice the data by:
/// one-byte chunks with long extensions would otherwise cost us far more than the sender.
const OVERHEAD_LIMIT: u64 = 64 * 1024;
/// The trailer section of a message.
const TRAILER_LIMIT: u16 = 16 * 1024;

/// Follows one body to its end.
#[derive(Clone, Debug)]
pub struct Decoder {
    state: State,
    /// Bytes of framing beyond what the data seen so far pays for.
    overhead: u64,
    /// The most data this body may have, and what is left of that.
    limit_bytes: u64,
    allowance: u64,
}

#[derive(Clone, Debug)]
enum State {
    Done,
    /// An error was found: nothing behind it can be trusted, and the message never ends.
    Broken,
    Length(u64),
    UntilClose,
    /// In the digits of a chunk size.
    Size {
        size: u64,
        digits: u8,
    },
    /// In blanks between size and `;`, which must come.
    BeforeExtension {
        size: u64,
        length: u16,
    },
    Extension {
        size: u64,
        length: u16,
        quoted: bool,
    },
    SizeLineFeed(u64),
    Data(u64),
    DataReturn,
    DataLineFeed,
    /// At the start of a trailer line, or of the empty line that ends the message.
    TrailerStart(u16),
    TrailerName {
        total: u16,
        name: TrailerName,
    },
    TrailerValue(u16),
    TrailerLineFeed(u16),
    LastLineFeed,
}

/// The first letters of a trailer's name, enough to know the few that must not come late.
#[derive(Clone, Debug, Default)]
struct TrailerName {
    letters: [u8; 17],
    length: u8,
}

impl TrailerName {
    fn push(&mut self, byte: u8) {
        if let Some(letter) = self.letters.get_mut(self.length as usize) {
            *letter = byte.to_ascii_lowercase();
        }
        self.length = self.length.saturating_add(1);
    }

    /// RFC 9110 §6.5.1: fields that frame or route a message cannot come behind it.
    fn is_forbidden(&self) -> bool {
        self.letters.get(..self.length as usize).is_some_and(|name| {
            [&b"content-length"[..], b"transfer-encoding", b"host", b"trailer", b"connection"].contains(&name)
        })
    }
}

impl Decoder {
    /// A decoder at the start of a body.
    pub fn new(framing: Framing) -> Decoder {
        let state = match framing {
            Framing::Empty | Framing::Length(0) => State::Done,
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::Size { size: 0, digits: 0 },
            Framing::UntilClose => State::UntilClose,
        };
        Decoder { state, overhead: 0, limit_bytes: u64::MAX, allowance: u64::MAX }
    }

    /// Refuses a body with more data than that.
    pub fn limit(mut self, limit_bytes: u64) -> Decoder {
        (self.limit_bytes, self.allowance) = (limit_bytes, limit_bytes);
        self
    }

    /// Whether the whole body has passed.
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Bytes still to come, where a length says so.
    pub fn remaining(&self) -> Option<u64> {
        match self.state {
            State::Done => Some(0),
            State::Length(remaining) => Some(remaining),
            _ => None,
        }
    }

    /// Steps over `length` bytes of a body with a known length that went another way.
    pub(crate) fn step_over(&mut self, length: u64) {
        if let State::Length(remaining) = &mut self.state {
            *remaining = remaining.saturating_sub(length);
            if *remaining == 0 {
                self.state = State::Done;
            }
        }
    }

    /// The connection ended: whether that ends the body (`true`) or breaks it off.
    pub fn end_of_stream(&mut self) -> bool {
        if let State::UntilClose = self.state {
            self.state = State::Done;
        }
        self.is_done()
    }

    /// Says what the first bytes of `input` are and steps over them; `None` when done or when more input is needed.
    ///
    /// Errors: [`FramingError`], the sender's.
    pub fn next(&mut self, input: &[u8]) -> Result<Option<Piece>, FramingError> {
        if input.is_empty() {
            return Ok(None);
        }
        let available = input.len() as u64;
        match &mut self.state {
            State::Done => Ok(None),
            State::Broken => Err(FramingError::Broken("the body was broken before")),
            State::UntilClose => Ok(Some(Piece::Data(input.len()))),
            State::Length(remaining) | State::Data(remaining) => {
                let taken = available.min(*remaining);
                let Some(allowance) = self.allowance.checked_sub(taken) else {
                    self.state = State::Broken;
                    return Err(FramingError::TooLarge { limit_bytes: self.limit_bytes });
                };
                self.allowance = allowance;
                *remaining -= taken;
                if *remaining == 0 {
                    self.state = if let State::Length(_) = self.state { State::Done } else { State::DataReturn };
                }
                self.overhead = self.overhead.saturating_sub(2 * taken);
                Ok(Some(Piece::Data(taken as usize)))
            }
            _ => self.framing(input).map(|length| Some(Piece::Framing(length))),
        }
    }

    /// Steps over all of `input` that belongs to this body and gives its length, framing included.
    ///
    /// Errors: as [`Decoder::next`].
    pub fn scan(&mut self, input: &[u8]) -> Result<usize, FramingError> {
        let mut scanned = 0;
        while let Some(Piece::Data(length) | Piece::Framing(length)) = self.next(&input[scanned..])? {
            scanned += length;
        }
        Ok(scanned)
    }

    /// Steps over framing bytes up to the next data, the end, or the end of `input`; gives how many.
    fn framing(&mut self, input: &[u8]) -> Result<usize, FramingError> {
        let mut position = 0;
        while let Some(&byte) = input.get(position) {
            if matches!(self.state, State::Data(_) | State::Done) {
                break;
            }
            self.step(byte)?;
            position += 1;
        }
        self.overhead += position as u64;
        if self.overhead > OVERHEAD_LIMIT {
            self.state = State::Broken;
            return Err(FramingError::Broken("far more chunk framing than data"));
        }
        Ok(position)
    }

    fn step(&mut self, byte: u8) -> Result<(), FramingError> {
        let error = |reason| Err(FramingError::Broken(reason));
        self.state = match std::mem::replace(&mut self.state, State::Broken) {
            State::Size { size, digits } => match byte {
                b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' => {
                    let digit = (byte as char).to_digit(16).map_or(0, u64::from);
                    // Fifteen digits of sixteen cannot overflow and are more than any body.
                    if digits == 15 {
                        return error("a chunk size has at most 15 digits");
                    }
                    State::Size { size: size << 4 | digit, digits: digits + 1 }
                }
                _ if digits == 0 => return error("a chunk starts with its size in hexadecimal digits"),
                b'\r' => State::SizeLineFeed(size),
                b';' => State::Extension { size, length: 0, quoted: false },
                b' ' | b'\t' => State::BeforeExtension { size, length: 0 },
                _ => return error("a chunk size is followed by CR LF or an extension"),
            },
            State::BeforeExtension { size, length } => match byte {
                b';' => State::Extension { size, length, quoted: false },
                b' ' | b'\t' if length < EXTENSION_LIMIT => State::BeforeExtension { size, length: length + 1 },
                _ => return error("a chunk size is followed by CR LF or an extension"),
            },
            State::Extension { size, length, quoted } => match byte {
                b'\r' if quoted => return error("a quoted string in a chunk extension is not closed"),
                b'\r' => State::SizeLineFeed(size),
                _ if length == EXTENSION_LIMIT => return error("a chunk extension is longer than 1024 bytes"),
                b'"' => State::Extension { size, length: length + 1, quoted: !quoted },
                b'\t' | b' '..=0x7e | 0x80.. => State::Extension { size, length: length + 1, quoted },
                _ => return error("a chunk extension holds no control characters"),
            },
            State::SizeLineFeed(size) => match (byte, size) {
                (b'\n', 0) => State::TrailerStart(0),
                (b'\n', _) => {
                    self.overhead = self.overhead.saturating_sub(16);
                    State::Data(size)
                }
                _ => return error("a chunk size line ends in CR LF"),
            },
            State::DataReturn if byte == b'\r' => State::DataLineFeed,
            State::DataLineFeed if byte == b'\n' => State::Size { size: 0, digits: 0 },
            State::DataReturn | State::DataLineFeed => return error("a chunk's data is followed by CR LF"),
            State::TrailerStart(total) => match byte {
                b'\r' => State::LastLineFeed,
                _ => {
                    let name = TrailerName::default();
                    return self.trailer_name(byte, total, name);
                }
            },
            State::TrailerName { total, name } => return self.trailer_name(byte, total, name),
            State::TrailerValue(total) => match byte {
                b'\r' => State::TrailerLineFeed(total),
                _ if total == TRAILER_LIMIT => return error("the trailers are longer than 16 KiB"),
                b'\t' | b' '..=0x7e | 0x80.. => State::TrailerValue(total + 1),
                _ => return error("a trailer's value holds no control characters"),
            },
            State::TrailerLineFeed(total) if byte == b'\n' => State::TrailerStart(total),
            State::LastLineFeed if byte == b'\n' => State::Done,
            State::TrailerLineFeed(_) | State::LastLineFeed => return error("a trailer line ends in CR LF"),
            state @ (State::Done | State::Broken | State::Length(_) | State::UntilClose | State::Data(_)) => state,
        };
        Ok(())
    }

    fn trailer_name(&mut self, byte: u8, total: u16, mut name: TrailerName) -> Result<(), FramingError> {
        if total == TRAILER_LIMIT {
            return Err(FramingError::Broken("the trailers are longer than 16 KiB"));
        }
        self.state = if byte == b':' && name.length > 0 {
            if name.is_forbidden() {
                return Err(FramingError::Broken("a trailer cannot frame or route the message it follows"));
            }
            State::TrailerValue(total + 1)
        } else if myelin_message::is_token(&[byte]) {
            name.push(byte);
            State::TrailerName { total: total + 1, name }
        } else {
            return Err(FramingError::Broken("a trailer is a name, a colon and a value"));
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The decoded data, the raw length, and whether the body is complete, from input in pieces.
    fn decode(framing: Framing, pieces: &[&[u8]]) -> Result<(Vec<u8>, usize, bool), FramingError> {
        let mut decoder = Decoder::new(framing);
        let (mut data, mut raw) = (Vec::new(), 0);
        for piece in pieces {
            let mut rest = *piece;
            while let Some(found) = decoder.next(rest)? {
                let (Piece::Data(length) | Piece::Framing(length)) = found;
                if let Piece::Data(_) = found {
                    data.extend_from_slice(&rest[..length]);
                }
                raw += length;
                rest = &rest[length..];
            }
        }
        Ok((data, raw, decoder.is_done()))
    }

    fn chunked(text: &str) -> Result<(String, usize, bool), &'static str> {
        let result = decode(Framing::Chunked, &[text.as_bytes()]);
        result.map(|(data, raw, done)| (String::from_utf8(data).unwrap(), raw, done)).map_err(|error| match error {
            FramingError::Broken(reason) => reason,
            FramingError::TooLarge { .. } => "too large",
        })
    }

    #[test]
    fn chunks_with_extensions_and_trailers_are_followed_to_their_end() {
        let text = "5;a=\"b;c\"\r\nhello\r\n6 ; x\r\n world\r\n0\r\nX-Sum: 1\r\nY:\r\n\r\nGET /";
        assert_eq!(chunked(text), Ok(("hello world".into(), text.len() - 5, true)));
        assert_eq!(chunked("0\r\n\r\n"), Ok((String::new(), 5, true)));
        assert_eq!(chunked("00000A\r\n0123456789\r\n"), Ok(("0123456789".into(), 20, false)));
    }

    #[test]
    fn broken_chunks_are_refused() {
        for text in [
            "\r\n",
            "g\r\n",
            "-1\r\n",
            "0x5\r\n",
            "5\nhello",
            "5 \r\nhello",
            "5\r\nhelloX",
            "5\r\nhello\n",
            "5\rhello",
            "5;a\nhello",
            "5;\x01\r\n",
            "5;a=\"b\r\n",
            "1000000000000000\r\n",
            "+5\r\nhello",
            " 5\r\nhello",
            "_5\r\n",
            "0\r\nContent-Length: 5\r\n\r\n",
            "0\r\ntransfer-encoding: chunked\r\n\r\n",
            "0\r\nHost: a\r\n\r\n",
            "0\r\nname \r\n",
            "0\r\n: x\r\n",
            "0\r\nX: \x01\r\n",
            "0\r\nX: 1\n",
            "0\r\n\rX",
            "0\r\n x\r\n",
        ] {
            assert!(chunked(text).is_err(), "{text:?}");
        }
        assert!(chunked(&format!("5;{}", "x".repeat(2000))).is_err());
        assert!(chunked(&format!("0\r\nX: {}", "x".repeat(20_000))).is_err());
        let wasteful = format!("1;{}\r\nx\r\n", "y".repeat(1000)).repeat(100);
        assert_eq!(chunked(&wasteful), Err("far more chunk framing than data"));
        assert!(chunked(&"1\r\nx\r\n".repeat(50_000)).is_ok());
    }

    #[test]
    fn a_broken_body_never_ends() {
        let mut decoder = Decoder::new(Framing::Chunked);
        assert!(decoder.scan(b"x\r\n").is_err());
        assert!(!decoder.is_done());
        assert!(decoder.scan(b"0\r\n\r\n").is_err());
        let mut decoder = Decoder::new(Framing::Length(5)).limit(4);
        assert_eq!(decoder.scan(b"hello"), Err(FramingError::TooLarge { limit_bytes: 4 }));
        assert!(!decoder.is_done());
    }

    #[test]
    fn a_length_ends_where_it_says() {
        assert_eq!(decode(Framing::Length(5), &[b"hel", b"", b"lo wo"]), Ok((b"hello".to_vec(), 5, true)));
        assert_eq!(decode(Framing::Length(5), &[b"hell"]), Ok((b"hell".to_vec(), 4, false)));
        let mut decoder = Decoder::new(Framing::UntilClose);
        assert_eq!(decoder.scan(b"abc"), Ok(3));
        assert!(decoder.end_of_stream());
        assert!(!Decoder::new(Framing::Length(1)).end_of_stream());
        assert!(!Decoder::new(Framing::Chunked).end_of_stream());
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same(
            chunks in proptest::collection::vec((proptest::collection::vec(any::<u8>(), 1..40), "(;[a-z]{0,5}=[a-z]{0,5})?"), 0..6),
            trailers in proptest::collection::vec("[A-Za-z-]{1,8}: ?[ -~]{0,10}", 0..3),
            mutation in proptest::option::of((0usize..300, any::<u8>())),
            cuts in proptest::collection::vec(0usize..400, 0..12),
        ) {
            let mut wire = Vec::new();
            for (data, extension) in &chunks {
                wire.extend_from_slice(format!("{:x}{extension}\r\n", data.len()).as_bytes());
                wire.extend_from_slice(data);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\n");
            for trailer in &trailers {
                wire.extend_from_slice(trailer.as_bytes());
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"\r\nnext");
            if let Some((at, byte)) = mutation {
                let at = at % wire.len();
                wire[at] = byte;
            }
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (wire.len() + 1)).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([wire.len()]) {
                pieces.push(&wire[from..cut]);
                from = cut;
            }
            let whole = decode(Framing::Chunked, &[&wire]);
            prop_assert_eq!(decode(Framing::Chunked, &pieces), whole.clone());
            if mutation.is_none() && !trailers.iter().any(|line| {
                let name = line.split(':').next().unwrap_or("").to_ascii_lowercase();
                ["host", "trailer"].contains(&name.as_str())
            }) {
                let (data, raw, done) = whole.unwrap();
                prop_assert_eq!(data, chunks.concat_data());
                prop_assert_eq!((raw, done), (wire.len() - 4, true));
            }
        }
    }

    trait ConcatData {
        fn concat_data(&self) -> Vec<u8>;
    }

    impl ConcatData for Vec<(Vec<u8>, String)> {
        fn concat_data(&self) -> Vec<u8> {
            self.iter().flat_map(|(data, _)| data.clone()).collect()
        }
    }
}
