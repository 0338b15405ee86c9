//! Bytes written as digits: `xs:hexBinary` and `xs:base64Binary`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789ABCDEF"[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

pub(crate) fn from_hex(text: &str) -> Option<Box<[u8]>> {
    let half = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let bytes = text.as_bytes();
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    bytes.chunks_exact(2).map(|pair| Some(half(pair[0])? << 4 | half(pair[1])?)).collect()
}

pub(crate) fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Reads base 64 with white space anywhere.
pub(crate) fn from_base64(text: &str) -> Option<Box<[u8]>> {
    let letters: Vec<u8> = text.bytes().filter(|byte| !b" \t\r\n".contains(byte)).collect();
    STANDARD.decode(letters).ok().map(Vec::into_boxed_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_being_written() {
        for length in 0..20_u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37)).collect();
            assert_eq!(from_hex(&to_hex(&bytes)).as_deref(), Some(&bytes[..]));
            assert_eq!(from_base64(&to_base64(&bytes)).as_deref(), Some(&bytes[..]));
        }
        assert_eq!(to_hex(&[0x0a, 0xff]), "0AFF");
        assert_eq!(from_base64("Y W\n55").as_deref(), Some(&b"any"[..]));
    }

    #[test]
    fn what_is_no_byte_is_refused() {
        for text in ["A", "YW4", "YW5=", "YQ=", "Y===", "=YWQ", "YW?5"] {
            assert_eq!(from_base64(text), None, "{text}");
        }
        assert_eq!(from_hex("0"), None);
        assert_eq!(from_hex("0g"), None);
    }
}
