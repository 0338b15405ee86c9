//! A string as Java's `ObjectOutputStream` writes it, which is how WSO2's tools and their test server talk.
//!
//! Source: Java Object Serialization Specification, chapter 6: the header of a stream, then `TC_STRING` or `TC_LONGSTRING`.

use std::io::{self, ErrorKind, Read};

/// The magic number of a stream and the version of its protocol.
const HEADER: [u8; 4] = [0xac, 0xed, 0, 5];

/// A string whose length takes two bytes.
const SHORT: u8 = 0x74;

/// A string whose length takes eight bytes.
const LONG: u8 = 0x7c;

/// Reads one string of at most `limit_bytes` bytes.
///
/// Errors: what the stream has; `InvalidData` where the stream holds anything but a string, or a longer one.
pub(super) fn read(from: &mut impl Read, limit_bytes: u64) -> io::Result<String> {
    let invalid = |message: &str| io::Error::new(ErrorKind::InvalidData, message.to_owned());
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    if head[..4] != HEADER {
        return Err(invalid("this is no stream of Java objects"));
    }
    let length = match head[4] {
        SHORT => {
            let mut length = [0; 2];
            from.read_exact(&mut length)?;
            u64::from(u16::from_be_bytes(length))
        }
        LONG => {
            let mut length = [0; 8];
            from.read_exact(&mut length)?;
            u64::from_be_bytes(length)
        }
        _ => return Err(invalid("the stream holds a Java object that is no string")),
    };
    if length > limit_bytes {
        return Err(invalid(&format!("a unit test of {length} bytes is more than the {limit_bytes} that are taken")));
    }
    let mut bytes = Vec::new();
    // Memory follows what has come, not what was announced.
    let came = from.by_ref().take(length).read_to_end(&mut bytes)?;
    if u64::try_from(came).ok() != Some(length) {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    decode(&bytes).ok_or_else(|| invalid("the string is no UTF-8 as Java writes it"))
}

/// The stream that holds one string.
pub(super) fn written(text: &str) -> Vec<u8> {
    let bytes = encode(text);
    let mut out = HEADER.to_vec();
    match u16::try_from(bytes.len()) {
        Ok(length) => {
            out.push(SHORT);
            out.extend(length.to_be_bytes());
        }
        Err(_) => {
            out.push(LONG);
            out.extend((bytes.len() as u64).to_be_bytes());
        }
    }
    out.extend(bytes);
    out
}

/// Java's form of UTF-8: each unit of UTF-16 by itself in up to three bytes, and zero in two.
fn encode(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for unit in text.encode_utf16() {
        let [high, low] = unit.to_be_bytes();
        let last = 0x80 | (low & 0x3f);
        let middle = (high << 2 | low >> 6) & 0x3f;
        match unit {
            1..=0x7f => out.push(low),
            0 | 0x80..=0x7ff => out.extend([0xc0 | middle, last]),
            _ => out.extend([0xe0 | high >> 4, 0x80 | middle, last]),
        }
    }
    out
}

/// `None` where it is not of that form; halves of a pair that stand alone become U+FFFD.
fn decode(bytes: &[u8]) -> Option<String> {
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().copied();
    while let Some(first) = rest.next() {
        let mut more = || rest.next().filter(|byte| byte & 0xc0 == 0x80).map(|byte| u16::from(byte & 0x3f));
        units.push(match first {
            0..=0x7f => u16::from(first),
            0xc0..=0xdf => u16::from(first & 0x1f) << 6 | more()?,
            0xe0..=0xef => u16::from(first & 0x0f) << 12 | more()? << 6 | more()?,
            _ => return None,
        });
    }
    Some(String::from_utf16_lossy(&units))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, any, proptest};

    use super::*;

    #[test]
    fn a_string_is_written_as_java_writes_it() {
        // What `new ObjectOutputStream(out).writeObject("a\0é€😀")` of JDK 17 writes.
        let java = b"\xac\xed\0\x05t\0\x0ea\xc0\x80\xc3\xa9\xe2\x82\xac\xed\xa0\xbd\xed\xb8\x80";
        assert_eq!(written("a\0é€😀"), java);
        assert_eq!(read(&mut &java[..], 64).unwrap(), "a\0é€😀");
    }

    #[test]
    fn a_long_string_has_a_long_length() {
        let text = "x".repeat(70_000);
        let bytes = written(&text);
        assert_eq!(bytes[4], LONG);
        assert_eq!(read(&mut &bytes[..], 70_000).unwrap(), text);
        assert!(read(&mut &bytes[..], 69_999).unwrap_err().to_string().contains("more than the 69999"));
    }

    #[test]
    fn what_is_no_string_is_refused() {
        let check = |bytes: &[u8], expected: &str| {
            let error = read(&mut &bytes[..], 1 << 20).unwrap_err();
            assert!(error.to_string().contains(expected), "{bytes:?}: {error}");
        };
        check(b"GET / HTTP/1.1\r\n", "no stream of Java objects");
        check(b"\xac\xed\0\x05sr\0\x11java.util.HashMap", "a Java object that is no string");
        check(b"\xac\xed\0\x05t\0\x02a", "end of file");
        check(b"\xac\xed\0\x05|\xff\xff\xff\xff\xff\xff\xff\xff", "more than the 1048576");
        check(b"\xac\xed\0\x05t\0\x01\xff", "no UTF-8 as Java writes it");
        check(b"", "failed to fill");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

        #[test]
        fn what_is_written_is_read_again(text: String) {
            assert_eq!(read(&mut &written(&text)[..], u64::MAX).unwrap(), text);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let stream = [&HEADER[..], &[SHORT], &bytes].concat();
            let _ = read(&mut &stream[..], 1 << 16);
        }
    }
}
