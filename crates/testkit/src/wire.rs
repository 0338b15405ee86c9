//! Where messages end on the wire, told apart with as little understanding as possible.
//!
//! The tests' view of framing must not be the one under test, so nothing of `transport` is used here.

/// How the end of a body is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// So many bytes.
    Length(u64),
    /// Chunked coding.
    Chunked,
    /// Neither was said.
    Unsaid,
}

/// The offset behind the empty line that ends a head.
pub(crate) fn head_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

/// The framing a head announces; the first header that says something is believed.
pub(crate) fn framing(head: &[u8]) -> Framing {
    for line in head.split(|&byte| byte == b'\n').skip(1) {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return Framing::Chunked;
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            return length.map_or(Framing::Unsaid, Framing::Length);
        }
    }
    Framing::Unsaid
}

/// A strict decoder of the chunked coding that takes its input in any pieces (RFC 9112 §7.1).
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    state: State,
    line: Vec<u8>,
    /// What was in the chunks.
    pub(crate) decoded: Vec<u8>,
    /// The trailer lines, without their line ends.
    pub(crate) trailers: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Size,
    Data(u64),
    DataEnd,
    Trailer,
    Done,
}

/// No size or trailer line of a test is longer.
const LINE_LIMIT_BYTES: usize = 64 * 1024;

impl Chunks {
    /// Takes what belongs to the body; gives how many bytes that were and whether the body is complete.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<(usize, bool), String> {
        let mut at = 0;
        while at < bytes.len() && !matches!(self.state, State::Done) {
            if let State::Data(left) = self.state {
                let taken = (bytes.len() - at).min(usize::try_from(left).unwrap_or(usize::MAX));
                self.decoded.extend_from_slice(&bytes[at..at + taken]);
                at += taken;
                let left = left - taken as u64;
                self.state = if left == 0 { State::DataEnd } else { State::Data(left) };
                continue;
            }
            let byte = bytes[at];
            at += 1;
            if byte != b'\n' {
                self.line.push(byte);
                if self.line.len() > LINE_LIMIT_BYTES {
                    return Err("a line of the chunked coding does not end".to_owned());
                }
                continue;
            }
            let mut line = std::mem::take(&mut self.line);
            if line.pop() != Some(b'\r') {
                return Err("a line of the chunked coding ends without CR".to_owned());
            }
            self.state = self.after_line(line)?;
        }
        Ok((at, matches!(self.state, State::Done)))
    }

    fn after_line(&mut self, line: Vec<u8>) -> Result<State, String> {
        match self.state {
            State::Size => {
                let digits = line.split(|&byte| byte == b';').next().unwrap_or_default();
                let text = String::from_utf8_lossy(digits);
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(format!("{text:?} is no chunk size"));
                }
                let size = u64::from_str_radix(&text, 16).map_err(|_| format!("{text:?} is no chunk size"))?;
                Ok(if size == 0 { State::Trailer } else { State::Data(size) })
            }
            State::DataEnd if line.is_empty() => Ok(State::Size),
            State::DataEnd => Err("a chunk is longer than it says".to_owned()),
            State::Trailer if line.is_empty() => Ok(State::Done),
            State::Trailer => {
                self.trailers.push(line);
                Ok(State::Trailer)
            }
            State::Data(_) | State::Done => Ok(self.state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_read_the_same_however_they_are_split() {
        let wire = b"3;name=\"x\"\r\nabc\r\n0a\r\n0123456789\r\n0\r\nDigest: x\r\n\r\nGET";
        for split in 0..wire.len() {
            let mut chunks = Chunks::default();
            let (first, done) = chunks.take(&wire[..split]).unwrap();
            let (second, done) = if done { (0, true) } else { chunks.take(&wire[split..]).unwrap() };
            assert!(done);
            assert_eq!(first + second, wire.len() - 3);
            assert_eq!(chunks.decoded, b"abc0123456789");
            assert_eq!(chunks.trailers, [b"Digest: x".to_vec()]);
        }
    }

    #[test]
    fn broken_chunks_are_refused() {
        for wire in ["x\r\n", "\n", "+3\r\nabc\r\n", "3\r\nabcd\r\n", "fffffffffffffffff\r\n"] {
            assert!(Chunks::default().take(wire.as_bytes()).is_err(), "{wire:?}");
        }
    }

    #[test]
    fn framing_is_read_from_the_head() {
        assert_eq!(framing(b"POST / HTTP/1.1\r\nContent-length:  12 \r\n\r\n"), Framing::Length(12));
        assert_eq!(framing(b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"), Framing::Chunked);
        assert_eq!(framing(b"GET / HTTP/1.1\r\n\r\n"), Framing::Unsaid);
    }
}
