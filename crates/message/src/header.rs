//! The header names the bus itself acts on, recognised once when a head is parsed.

use crate::uuid::Uuid;

/// A header name the bus knows, or [`HeaderId::Other`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "each variant is the header of that name")]
pub enum HeaderId {
    Other,
    AcceptEncoding,
    ActivityId,
    Connection,
    ContentEncoding,
    ContentLength,
    ContentType,
    Date,
    Expect,
    Host,
    KeepAlive,
    ProxyAuthenticate,
    ProxyAuthorization,
    ProxyConnection,
    Server,
    Te,
    Trailer,
    TransferEncoding,
    Upgrade,
    UserAgent,
    Via,
    XForwardedFor,
    XForwardedHost,
    XForwardedProto,
}

impl HeaderId {
    /// Recognises a header name, whatever its case.
    #[inline]
    pub fn of(name: &[u8]) -> HeaderId {
        let Some(first) = name.first() else { return HeaderId::Other };
        // Length and first letter leave one name to compare with, or none.
        let (known, id): (&[u8], HeaderId) = match (name.len(), first.to_ascii_lowercase()) {
            (2, b't') => (b"te", HeaderId::Te),
            (3, b'v') => (b"via", HeaderId::Via),
            (4, b'd') => (b"date", HeaderId::Date),
            (4, b'h') => (b"host", HeaderId::Host),
            (6, b'e') => (b"expect", HeaderId::Expect),
            (6, b's') => (b"server", HeaderId::Server),
            (7, b't') => (b"trailer", HeaderId::Trailer),
            (7, b'u') => (b"upgrade", HeaderId::Upgrade),
            (10, b'a') => (b"activityid", HeaderId::ActivityId),
            (10, b'c') => (b"connection", HeaderId::Connection),
            (10, b'k') => (b"keep-alive", HeaderId::KeepAlive),
            (10, b'u') => (b"user-agent", HeaderId::UserAgent),
            (12, b'c') => (b"content-type", HeaderId::ContentType),
            (14, b'c') => (b"content-length", HeaderId::ContentLength),
            (15, b'a') => (b"accept-encoding", HeaderId::AcceptEncoding),
            (15, b'x') => (b"x-forwarded-for", HeaderId::XForwardedFor),
            (16, b'c') => (b"content-encoding", HeaderId::ContentEncoding),
            (16, b'p') => (b"proxy-connection", HeaderId::ProxyConnection),
            (16, b'x') => (b"x-forwarded-host", HeaderId::XForwardedHost),
            (17, b't') => (b"transfer-encoding", HeaderId::TransferEncoding),
            (17, b'x') => (b"x-forwarded-proto", HeaderId::XForwardedProto),
            (18, b'p') => (b"proxy-authenticate", HeaderId::ProxyAuthenticate),
            (19, b'p') => (b"proxy-authorization", HeaderId::ProxyAuthorization),
            _ => return HeaderId::Other,
        };
        if is_same(name, known) { id } else { HeaderId::Other }
    }

    /// A set with this name alone: one bit for each name.
    #[inline]
    pub(crate) fn bit(self) -> u32 {
        1 << self as u8
    }
}

/// Whether a name is one of small letters and hyphens, whatever its own case; both have one length, and at most 24 letters.
#[inline]
fn is_same(name: &[u8], known: &[u8]) -> bool {
    // Small letters differ from large ones in one bit, and from hyphens in the bit next to it.
    const CASE: u64 = u64::from_le_bytes([0x20; 8]);
    let is_word = |name: &[u8; 8], known: &[u8; 8]| {
        let (name, known) = (u64::from_le_bytes(*name), u64::from_le_bytes(*known));
        (name ^ known) & !(known >> 1 & CASE) == 0
    };
    let is_letter = |(name, known): (&u8, &u8)| (name ^ known) & !(known >> 1 & 0x20) == 0;
    match (name.first_chunk(), known.first_chunk(), name.last_chunk(), known.last_chunk()) {
        // The first and the last eight letters are all, or eight are between them.
        (Some(name_start), Some(known_start), Some(name_end), Some(known_end)) => {
            let middle = |text: &'_ [u8]| text.get(8..16).and_then(|middle| middle.first_chunk().copied());
            is_word(name_start, known_start)
                && is_word(name_end, known_end)
                && match (middle(name), middle(known)) {
                    (Some(name), Some(known)) => is_word(&name, &known),
                    _ => true,
                }
        }
        _ => name.iter().zip(known).all(is_letter),
    }
}

/// Header lines by which a client proves who it is: those of RFC 9110 §11 and RFC 6265, and the usual ones of API gateways.
const CREDENTIALS: [&str; 10] = [
    "Authorization",
    "Proxy-Authorization",
    "Cookie",
    "Cookie2",
    "ApiKey",
    "Api-Key",
    "X-API-Key",
    "X-Auth-Token",
    "X-JWT-Assertion",
    "Internal-Key",
];

/// Whether a header of that name holds what proves who a client is: a password, a session, a key.
pub fn is_credential(name: &str) -> bool {
    CREDENTIALS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether `name` is a field name (RFC 9110 §5.1: a token).
pub fn is_token(name: &[u8]) -> bool {
    !name.is_empty() && token_length(name) == name.len()
}

/// How many bytes at the start of `text` can stand in a token (RFC 9110 §5.6.2).
#[inline]
pub fn token_length(text: &[u8]) -> usize {
    text.iter().position(|&byte| !TOKEN_LETTERS[usize::from(byte)]).unwrap_or(text.len())
}

/// The letters of a token, by their codes.
static TOKEN_LETTERS: [bool; 256] = {
    let mut letters = [false; 256];
    let mut code = 0;
    while code < 128 {
        letters[code] = (code as u8).is_ascii_alphanumeric();
        code += 1;
    }
    let signs = b"!#$%&'*+-.^_`|~";
    let mut sign = 0;
    while sign < signs.len() {
        letters[signs[sign] as usize] = true;
        sign += 1;
    }
    letters
};

/// What can stand as the value of a field line (RFC 9110 §5.5), without blanks around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldValue<'a>(&'a [u8]);

impl<'a> FieldValue<'a> {
    /// These bytes, without blanks around them; `None` where they hold a control character but the tab.
    pub fn new(bytes: &'a [u8]) -> Option<FieldValue<'a>> {
        let value = bytes.trim_ascii();
        is_value(value).then_some(FieldValue(value))
    }

    /// Its bytes.
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }
}

impl<'a> From<&'a Uuid> for FieldValue<'a> {
    fn from(uuid: &'a Uuid) -> FieldValue<'a> {
        FieldValue(uuid.as_bytes())
    }
}

/// Whether `value` can stand in a field line (RFC 9110 §5.5: no control characters but the tab).
pub fn is_value(value: &[u8]) -> bool {
    let (words, rest) = value.as_chunks();
    let mut controls = words.iter().fold(0, |found, word| found | control_marks(*word));
    if !rest.is_empty() {
        // The last eight bytes hold the rest, and some that were looked at before.
        controls |= value.last_chunk().map_or(1, |word| control_marks(*word));
    }
    // Of the control characters the tab is allowed.
    controls == 0 || value_length(value) == value.len()
}

/// How many bytes at the start of `text` can stand in the value of a field line, blanks around it included.
#[inline]
pub fn value_length(text: &[u8]) -> usize {
    let mut length = printable_length(text);
    while text.get(length) == Some(&b'\t') {
        length += 1;
        length += printable_length(&text[length..]);
    }
    length
}

/// How many bytes at the start of `text` are no control characters: eight are looked at together.
#[inline]
fn printable_length(text: &[u8]) -> usize {
    let (words, rest) = text.as_chunks();
    for (index, word) in words.iter().enumerate() {
        let found = control_marks(*word);
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let is_control = |&byte: &u8| byte < b' ' || byte == 0x7f;
    words.len() * 8 + rest.iter().position(is_control).unwrap_or(rest.len())
}

/// Zero where none of eight bytes is a control character, the tab included; else the lowest bit that is set is the
/// highest of the first that is one.
#[inline]
fn control_marks(bytes: [u8; 8]) -> u64 {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    let word = u64::from_le_bytes(bytes);
    // Bytes behind the first may be marked wrongly.
    let is_low = word.wrapping_sub(EACH * 0x20) & !word;
    let other_than_delete = word ^ (EACH * 0x7f);
    let is_delete = other_than_delete.wrapping_sub(EACH) & !other_than_delete;
    (is_low | is_delete) & (EACH * 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_recognised_in_any_case() {
        assert_eq!(HeaderId::of(b"Content-LENGTH"), HeaderId::ContentLength);
        assert_eq!(HeaderId::of(b"TE"), HeaderId::Te);
        assert_eq!(HeaderId::of(b"X-Content-Length"), HeaderId::Other);
        assert_eq!(HeaderId::of(b""), HeaderId::Other);
        for name in ["te", "host", "expect", "trailer", "keep-alive", "content-type", "x-forwarded-proto"] {
            let id = HeaderId::of(name.as_bytes());
            assert!(id != HeaderId::Other && id == HeaderId::of(name.to_ascii_uppercase().as_bytes()));
            for place in 0..name.len() {
                for letter in 0..=u8::MAX {
                    let mut bytes = name.as_bytes().to_vec();
                    bytes[place] = letter;
                    let is_it = bytes.eq_ignore_ascii_case(name.as_bytes());
                    assert_eq!(HeaderId::of(&bytes) == id, is_it, "{name} with {letter:#x} at {place}");
                }
            }
        }
    }

    #[test]
    fn the_letters_of_tokens_and_values_are_those_of_the_standard() {
        for code in 0..=u8::MAX {
            let is_token_letter = code.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&code);
            assert_eq!(is_token(&[code]), is_token_letter, "{code:#x}");
            let is_value_letter = code == b'\t' || (code >= b' ' && code != 0x7f);
            for place in 0..24 {
                let mut text = [b'a'; 24];
                text[place] = code;
                let expected = if is_value_letter { 24 } else { place };
                assert_eq!(value_length(&text), expected, "{code:#x} at {place}");
            }
        }
        assert_eq!(value_length(b"\t\ta b\tc\r\nd"), 7);
        assert!(is_value(b"") && !is_token(b""));
    }
}
