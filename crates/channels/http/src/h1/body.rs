//! Where a body ends: by length, by chunks, or with the connection (RFC 9112 §6, §7).
//!
//! The decoder looks at bytes as they pass and says which of them are data and where the message ends.
//! A relay copies framing and data alike, so chunk boundaries, extensions and trailers arrive unchanged; only trailers
//! that must not come so late are left out.

use std::fmt;

use myelin_message::{is_credential, is_token};

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
    /// That many bytes are of a trailer that must not go on: it has the name of a header that is read before the body.
    Dropped(usize),
}

impl Piece {
    /// How many bytes it is about.
    pub fn length(self) -> usize {
        match self {
            Piece::Data(length) | Piece::Framing(length) | Piece::Dropped(length) => length,
        }
    }
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
const TRAILERS_TOO_LONG: FramingError = FramingError::Broken("the trailers are longer than 16 KiB");

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
    TrailerValue {
        total: u16,
        is_dropped: bool,
    },
    TrailerLineFeed {
        total: u16,
        is_dropped: bool,
    },
    LastLineFeed,
}

/// Headers that a receiver frames, routes, authenticates or reads a message by, before it has the trailers.
const NEVER_LATE: [&str; 33] = [
    "activityid",
    "age",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-location",
    "content-range",
    "content-type",
    "date",
    "expect",
    "expires",
    "forwarded",
    "host",
    "keep-alive",
    "location",
    "max-forwards",
    "pragma",
    "proxy-authenticate",
    "proxy-connection",
    "range",
    "retry-after",
    "set-cookie",
    "soapaction",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "vary",
    "via",
    "www-authenticate",
    "x-http-method-override",
    "x-real-ip",
];

/// Whether a field of that name cannot be a trailer (RFC 9110 §6.5.1).
fn is_never_late(name: &str) -> bool {
    let begins = |start: &str| name.get(..start.len()).is_some_and(|letters| letters.eq_ignore_ascii_case(start));
    begins("x-forwarded-")
        || begins("if-")
        || is_credential(name)
        || NEVER_LATE.iter().any(|never| never.eq_ignore_ascii_case(name))
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

    /// How much data has passed; of a body with a known length, what went another way is not in it.
    pub(crate) fn data_bytes(&self) -> u64 {
        self.limit_bytes - self.allowance
    }

    /// Whether the whole body has passed.
    #[inline]
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Bytes still to come, where a length says so.
    #[inline]
    pub fn remaining(&self) -> Option<u64> {
        match self.state {
            State::Done => Some(0),
            State::Length(remaining) => Some(remaining),
            _ => None,
        }
    }

    /// The rest of a body with a known length, if all of it has come.
    #[inline]
    pub(crate) fn whole<'a>(&self, input: &'a [u8]) -> Option<&'a [u8]> {
        let length = self.remaining().filter(|&length| length <= self.allowance)?;
        input.get(..usize::try_from(length).ok()?)
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
            _ => self.framing(input),
        }
    }

    /// Steps over all of `input` that belongs to this body and gives its length, framing included.
    ///
    /// Errors: as [`Decoder::next`].
    pub fn scan(&mut self, input: &[u8]) -> Result<usize, FramingError> {
        let mut scanned = 0;
        while let Some(piece) = self.next(&input[scanned..])? {
            scanned += piece.length();
        }
        Ok(scanned)
    }

    /// Steps over framing bytes up to the next data, the next trailer, the end, or the end of `input`.
    fn framing(&mut self, input: &[u8]) -> Result<Option<Piece>, FramingError> {
        if let State::TrailerStart(total) = self.state
            && input.first() != Some(&b'\r')
            && !self.trailer_name(input, total)?
        {
            return Ok(None);
        }
        let is_dropped = self.drops();
        let mut position = 0;
        while let Some(&byte) = input.get(position) {
            // A trailer begins: its name has to be seen before it is known whether it goes on.
            let begins = matches!(self.state, State::TrailerStart(_)) && byte != b'\r';
            if matches!(self.state, State::Data(_) | State::Done) || (begins && position > 0) {
                break;
            }
            self.step(byte)?;
            position += 1;
            if is_dropped && !self.drops() {
                break;
            }
        }
        self.overhead += position as u64;
        if self.overhead > OVERHEAD_LIMIT {
            self.state = State::Broken;
            return Err(FramingError::Broken("far more chunk framing than data"));
        }
        Ok(Some(if is_dropped { Piece::Dropped(position) } else { Piece::Framing(position) }))
    }

    /// Whether the bytes at hand are of a trailer that must not go on.
    fn drops(&self) -> bool {
        matches!(
            self.state,
            State::TrailerValue { is_dropped: true, .. } | State::TrailerLineFeed { is_dropped: true, .. }
        )
    }

    /// Looks for the name of the trailer that `input` begins with; `false` where the rest of it has not come yet.
    fn trailer_name(&mut self, input: &[u8], total: u16) -> Result<bool, FramingError> {
        let most = usize::from(TRAILER_LIMIT - total);
        let end = input.iter().take(most).position(|&byte| !is_token(&[byte]));
        let Some(end) = end else {
            if input.len() >= most {
                self.state = State::Broken;
                return Err(TRAILERS_TOO_LONG);
            }
            return Ok(false);
        };
        if end == 0 || input[end] != b':' {
            self.state = State::Broken;
            return Err(FramingError::Broken("a trailer is a name, a colon and a value"));
        }
        // A token is ASCII.
        let is_dropped = std::str::from_utf8(&input[..end]).is_ok_and(is_never_late);
        self.state = State::TrailerValue { total, is_dropped };
        Ok(true)
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
            // Only the end of the trailers comes here; the name of one is looked for before.
            State::TrailerStart(_) if byte == b'\r' => State::LastLineFeed,
            State::TrailerValue { total, is_dropped } => match byte {
                b'\r' => State::TrailerLineFeed { total, is_dropped },
                _ if total == TRAILER_LIMIT => return Err(TRAILERS_TOO_LONG),
                b'\t' | b' '..=0x7e | 0x80.. => State::TrailerValue { total: total + 1, is_dropped },
                _ => return error("a trailer's value holds no control characters"),
            },
            State::TrailerLineFeed { total, .. } if byte == b'\n' => State::TrailerStart(total),
            State::LastLineFeed if byte == b'\n' => State::Done,
            State::TrailerStart(_) | State::TrailerLineFeed { .. } | State::LastLineFeed => {
                return error("a trailer line ends in CR LF");
            }
            state @ (State::Done | State::Broken | State::Length(_) | State::UntilClose | State::Data(_)) => state,
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
        let (mut data, mut raw, mut come) = (Vec::new(), 0, Vec::new());
        for piece in pieces {
            come.extend_from_slice(piece);
            while let Some(found) = decoder.next(&come[raw..])? {
                if let Piece::Data(length) = found {
                    data.extend_from_slice(&come[raw..raw + length]);
                }
                raw += found.length();
            }
        }
        Ok((data, raw, decoder.is_done()))
    }

    /// What goes on of chunks that come in pieces of that size.
    fn passed(text: &str, step: usize) -> String {
        let mut decoder = Decoder::new(Framing::Chunked);
        let (mut come, mut passed) = (Vec::new(), Vec::new());
        for piece in text.as_bytes().chunks(step) {
            come.extend_from_slice(piece);
            while let Some(piece) = decoder.next(&come).unwrap() {
                let rest = come.split_off(piece.length());
                let bytes = std::mem::replace(&mut come, rest);
                if !matches!(piece, Piece::Dropped(_)) {
                    passed.extend(bytes);
                }
            }
        }
        assert!(decoder.is_done());
        String::from_utf8(passed).unwrap()
    }

    #[test]
    fn trailers_that_come_too_late_are_dropped_and_all_others_pass() {
        for name in [
            "Host",
            "content-length",
            "Transfer-Encoding",
            "AUTHORIZATION",
            "Cookie",
            "X-Forwarded-For",
            "x-api-key",
            "X-Forwarded-Client-Cert",
            "Content-Type",
            "Content-Encoding",
            "SOAPAction",
            "Expect",
            "Connection",
            "TE",
            "Trailer",
            "If-Match",
            "Set-Cookie",
            "activityid",
        ] {
            let text = format!("3\r\nabc\r\n0\r\nX-A: 1\r\n{name}: 5\r\n{name}:\r\nContent-MD5: x\r\n\r\n");
            for step in 1..=text.len() {
                let expected = "3\r\nabc\r\n0\r\nX-A: 1\r\nContent-MD5: x\r\n\r\n";
                assert_eq!(passed(&text, step), expected, "{name} in pieces of {step}");
            }
        }
        let text = "0\r\nX-Host: 1\r\nHosts: 2\r\nIff: 3\r\n\r\n";
        assert_eq!(passed(text, 7), text);
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
        assert!(chunked(&format!("0\r\n{}", "x".repeat(20_000))).is_err());
        assert!(chunked(&format!("0\r\n{}\r\n", "Host: a\r\n".repeat(3_000))).is_err());
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
            if mutation.is_none() {
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
