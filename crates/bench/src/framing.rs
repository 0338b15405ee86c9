//! Where an HTTP/1.1 body ends, seen one read at a time.
//!
//! Source: RFC 9112 §6 and §7.1.

/// Takes a body out of its framing; holds no bytes.
#[derive(Debug)]
pub(crate) enum Decoder {
    /// So many bytes are to come.
    Length(u64),
    /// Chunks, in this state.
    Chunked(Chunk),
    /// All until the peer closes.
    Close,
}

/// Where in the chunked coding the next byte stands.
#[derive(Debug)]
pub(crate) enum Chunk {
    Size { value: u64, digits: u8 },
    Extension { size: u64 },
    SizeEnd { size: u64 },
    Data { left: u64 },
    DataReturn,
    DataEnd,
    Trailer { line: u32, total: u32 },
    TrailerEnd { line: u32, total: u32 },
    Done,
}

/// What one call of [`Decoder::advance`] found.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    /// How many bytes of the input are used up.
    pub(crate) used: usize,
    /// The part of the body in them; empty for pure framing.
    pub(crate) data: &'a [u8],
    /// Whether the body is complete.
    pub(crate) done: bool,
}

/// The framing is not HTTP.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Trailers longer than this are refused, in bytes.
const TRAILER_LIMIT_BYTES: u32 = 16 * 1024;

impl Decoder {
    /// A decoder at the start of a chunked body.
    pub(crate) fn chunked() -> Decoder {
        Decoder::Chunked(Chunk::Size { value: 0, digits: 0 })
    }

    /// Whether the body is complete before anything was read.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Decoder::Length(0) | Decoder::Chunked(Chunk::Done))
    }

    /// Goes on to the next run of body bytes, or to the end of `input`.
    #[inline]
    pub(crate) fn advance<'a>(&mut self, input: &'a [u8]) -> Result<Step<'a>, Malformed> {
        match self {
            Decoder::Length(left) => {
                let take = (*left).min(input.len() as u64);
                *left -= take;
                Ok(Step { used: take as usize, data: &input[..take as usize], done: *left == 0 })
            }
            Decoder::Close => Ok(Step { used: input.len(), data: input, done: false }),
            Decoder::Chunked(chunk) => chunk.advance(input),
        }
    }
}

impl Chunk {
    fn advance<'a>(&mut self, input: &'a [u8]) -> Result<Step<'a>, Malformed> {
        let mut used = 0;
        while used < input.len() {
            if let Chunk::Data { left } = self {
                let take = (*left).min((input.len() - used) as u64) as usize;
                *left -= take as u64;
                if *left == 0 {
                    *self = Chunk::DataReturn;
                }
                return Ok(Step { used: used + take, data: &input[used..used + take], done: false });
            }
            *self = self.next(input[used])?;
            used += 1;
            if let Chunk::Done = self {
                return Ok(Step { used, data: &[], done: true });
            }
        }
        Ok(Step { used, data: &[], done: false })
    }

    /// The state after one byte of framing.
    fn next(&self, byte: u8) -> Result<Chunk, Malformed> {
        Ok(match (self, byte) {
            (Chunk::Size { value, digits }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') if *digits < 15 => {
                let digit = (byte as char).to_digit(16).ok_or(Malformed)?;
                Chunk::Size { value: value * 16 + u64::from(digit), digits: digits + 1 }
            }
            (Chunk::Size { digits: 0, .. }, _) => return Err(Malformed),
            (Chunk::Size { value, .. }, b'\r') => Chunk::SizeEnd { size: *value },
            (Chunk::Size { value, .. }, b';' | b' ' | b'\t') => Chunk::Extension { size: *value },
            (Chunk::Extension { size }, b'\r') => Chunk::SizeEnd { size: *size },
            (Chunk::Extension { size }, byte) if byte != b'\n' => Chunk::Extension { size: *size },
            (Chunk::SizeEnd { size: 0 }, b'\n') => Chunk::Trailer { line: 0, total: 0 },
            (Chunk::SizeEnd { size }, b'\n') => Chunk::Data { left: *size },
            (Chunk::DataReturn, b'\r') => Chunk::DataEnd,
            (Chunk::DataEnd, b'\n') => Chunk::Size { value: 0, digits: 0 },
            (Chunk::Trailer { line, total }, b'\r') => Chunk::TrailerEnd { line: *line, total: *total },
            (Chunk::Trailer { line, total }, byte) if byte != b'\n' && *total < TRAILER_LIMIT_BYTES => {
                Chunk::Trailer { line: line + 1, total: total + 1 }
            }
            (Chunk::TrailerEnd { line: 0, .. }, b'\n') => Chunk::Done,
            (Chunk::TrailerEnd { total, .. }, b'\n') => Chunk::Trailer { line: 0, total: *total },
            _ => return Err(Malformed),
        })
    }
}

/// The value of a `Content-Length` header.
pub(crate) fn content_length(value: &[u8]) -> Result<u64, Malformed> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(Malformed);
    }
    std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()).ok_or(Malformed)
}

/// What a `Connection` header says about keeping the connection; `None` where it says nothing.
pub(crate) fn keeps_alive(value: &[u8]) -> Option<bool> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).fold(None, |kept, option| {
        if option.eq_ignore_ascii_case(b"close") {
            Some(false)
        } else if option.eq_ignore_ascii_case(b"keep-alive") {
            kept.or(Some(true))
        } else {
            kept
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes `input` in reads of `step` bytes: the body, the unused rest, whether it was complete.
    fn decode(input: &[u8], step: usize) -> Result<(Vec<u8>, usize, bool), Malformed> {
        let mut decoder = Decoder::chunked();
        let (mut body, mut position) = (Vec::new(), 0);
        while position < input.len() {
            let end = (position + step).min(input.len());
            let found = decoder.advance(&input[position..end])?;
            body.extend_from_slice(found.data);
            position += found.used;
            if found.done {
                return Ok((body, input.len() - position, true));
            }
        }
        Ok((body, 0, false))
    }

    #[test]
    fn any_split_of_a_chunked_body_decodes_alike() {
        let input = b"3;a=b\r\nabc\r\n0000A \r\n0123456789\r\n0\r\nX: y\r\nZ:\r\n\r\nnext";
        for step in 1..input.len() {
            assert_eq!(decode(input, step), Ok((b"abc0123456789".to_vec(), 4, true)), "reads of {step}");
        }
        assert_eq!(decode(b"3\r\nab", 1), Ok((b"ab".to_vec(), 0, false)));
    }

    #[test]
    fn what_is_no_chunk_is_refused() {
        for input in [
            &b"\r\n"[..],
            b"g\r\n",
            b"-1\r\n",
            b"3\nabc",
            b"3\r\nabcd",
            b"1111111111111111\r\n",
            b"3\r\nabc\n",
            b"0\r\nx\n\r\n",
        ] {
            assert_eq!(decode(input, 1), Err(Malformed), "{}", String::from_utf8_lossy(input));
        }
        let endless = [b"0\r\n".to_vec(), vec![b'x'; 20_000]].concat();
        assert_eq!(decode(&endless, 4096), Err(Malformed));
    }

    #[test]
    fn headers_about_framing_are_read_strictly() {
        assert_eq!(content_length(b"12"), Ok(12));
        for wrong in [&b""[..], b"-1", b"+1", b"1, 1", b"99999999999999999999999"] {
            assert_eq!(content_length(wrong), Err(Malformed));
        }
        assert_eq!(keeps_alive(b"Keep-Alive, Close"), Some(false));
        assert_eq!(keeps_alive(b"x, keep-alive"), Some(true));
        assert_eq!(keeps_alive(b"upgrade"), None);
    }

    #[test]
    fn a_length_ends_where_it_says() {
        let mut decoder = Decoder::Length(3);
        let step = decoder.advance(b"ab").unwrap();
        assert_eq!((step.used, step.done), (2, false));
        let step = decoder.advance(b"cde").unwrap();
        assert_eq!((step.used, step.data, step.done), (1, &b"c"[..], true));
        assert!(decoder.is_done());
    }
}
