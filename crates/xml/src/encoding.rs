//! Which encoding a document is in, and from there to UTF-8.
//!
//! The parser reads UTF-8 and nothing else.
//! [`detect`] looks at the first bytes; where it says [`Encoding::Utf8`], the bytes go to the parser as they are,
//! otherwise a [`Decoder`] makes UTF-8 of them, piece by piece.

mod decoder;

use std::borrow::Cow;

use crate::error::{Error, ErrorKind};
use crate::options::DeclaredEncoding;

pub use decoder::{Decoder, Encoding, Table};

/// What the beginning of a document says about its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected {
    /// How to decode it.
    pub encoding: Encoding,
    /// What the parser is to think of the declared encoding: see
    /// [`Parser::set_declared_encoding`](crate::Parser::set_declared_encoding).
    pub declared: DeclaredEncoding,
}

/// How far an XML declaration is looked for its end: more is none that a person or program wrote.
const DECLARATION_BYTES: usize = 1_024;

/// Finds a document's encoding.
///
/// Shape: `charset` is that of the content type, if it has one; `begin` is the document as far as it has come,
/// `complete` whether that is all; none when more has to come first.
/// A byte order mark is stronger than the charset, the charset than the declaration; without any of them it is UTF-8.
/// Errors: an encoding that is not one of [`Encoding`], with its name; the sender's.
/// Source: RFC 7303 §3, XML 1.0 §4.3.3 and appendix F.
pub fn detect(charset: Option<&str>, begin: &[u8], complete: bool) -> Result<Option<Detected>, Error> {
    if begin.len() < 4 && !complete {
        return Ok(None);
    }
    let declared = |without_charset| if charset.is_some() { DeclaredEncoding::Any } else { without_charset };
    let found = |encoding, without_charset| Ok(Some(Detected { encoding, declared: declared(without_charset) }));
    match begin {
        [0xEF, 0xBB, 0xBF, ..] => return found(Encoding::Utf8, DeclaredEncoding::Utf8),
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => return unsupported("UTF-32"),
        [0xFF, 0xFE, ..] => return found(Encoding::Utf16Le, DeclaredEncoding::Utf16),
        [0xFE, 0xFF, ..] => return found(Encoding::Utf16Be, DeclaredEncoding::Utf16),
        _ => {}
    }
    let little = begin.starts_with(b"<\0");
    if let Some(charset) = charset {
        return match named(charset) {
            Some(Named::One(encoding)) => found(encoding, DeclaredEncoding::Any),
            Some(Named::Utf16) if little => found(Encoding::Utf16Le, DeclaredEncoding::Any),
            Some(Named::Utf16) => found(Encoding::Utf16Be, DeclaredEncoding::Any),
            None => unsupported(charset),
        };
    }
    match begin {
        [b'<', 0, 0, 0, ..] | [0, 0, 0, b'<', ..] => unsupported("UTF-32"),
        [0x4C, 0x6F, 0xA7, 0x94, ..] => unsupported("EBCDIC"),
        [b'<', 0, b'?', 0, ..] => found(Encoding::Utf16Le, DeclaredEncoding::Utf16),
        [0, b'<', 0, b'?', ..] => found(Encoding::Utf16Be, DeclaredEncoding::Utf16),
        [b'<', b'?', b'x', b'm', ..] => declaration(begin, complete),
        _ => found(Encoding::Utf8, DeclaredEncoding::Utf8),
    }
}

/// A whole document in UTF-8, borrowed where it is so already, and what the parser is to think of its declaration.
///
/// Errors: as [`detect`]; bytes that are no text are for the parser to complain of.
pub fn decode<'a>(charset: Option<&str>, document: &'a [u8]) -> Result<(Cow<'a, [u8]>, DeclaredEncoding), Error> {
    let detected = detect(charset, document, true)?;
    let Some(Detected { encoding, declared }) = detected else { unreachable!("a complete document needs no more") };
    if encoding == Encoding::Utf8 {
        return Ok((Cow::Borrowed(document), declared));
    }
    let mut utf8 = Vec::with_capacity(document.len());
    let mut decoder = Decoder::new(encoding);
    decoder.push(document, &mut utf8);
    decoder.finish(&mut utf8);
    Ok((Cow::Owned(utf8), declared))
}

enum Named {
    One(Encoding),
    /// The order of the bytes is to be seen from the bytes.
    Utf16,
}

/// The encoding with a name of the IANA registry.
fn named(name: &str) -> Option<Named> {
    // As most messages write it.
    if name == "UTF-8" {
        return Some(Named::One(Encoding::Utf8));
    }
    let one_of = |names: &[&str]| names.iter().any(|known| name.trim().eq_ignore_ascii_case(known));
    if one_of(&["UTF-8", "UTF8"]) {
        Some(Named::One(Encoding::Utf8))
    } else if one_of(&["UTF-16", "ISO-10646-UCS-2"]) {
        Some(Named::Utf16)
    } else if one_of(&["UTF-16LE"]) {
        Some(Named::One(Encoding::Utf16Le))
    } else if one_of(&["UTF-16BE"]) {
        Some(Named::One(Encoding::Utf16Be))
    } else if one_of(&["ISO-8859-1", "ISO_8859-1", "ISO8859-1", "latin1", "l1", "cp819"]) {
        Some(Named::One(Encoding::Latin1))
    } else if one_of(&["US-ASCII", "ASCII", "ANSI_X3.4-1968", "ISO646-US"]) {
        Some(Named::One(Encoding::UsAscii))
    } else {
        Table::named(name).map(|table| Named::One(Encoding::Other(table)))
    }
}

/// What the XML declaration of a document says whose bytes are ASCII so far.
fn declaration(begin: &[u8], complete: bool) -> Result<Option<Detected>, Error> {
    let window = &begin[..begin.len().min(DECLARATION_BYTES)];
    let Some(end) = window.iter().position(|&byte| byte == b'>') else {
        let more = window.len() == begin.len() && window.len() < DECLARATION_BYTES && !complete;
        // Without an end it is for the parser to complain of.
        return Ok((!more).then_some(Detected { encoding: Encoding::Utf8, declared: DeclaredEncoding::Utf8 }));
    };
    let (encoding, declared) = match declared_name(&window[..end]) {
        None => (Encoding::Utf8, DeclaredEncoding::Utf8),
        Some(name) => match named(name) {
            // A declaration that can be read byte by byte is not in UTF-16: the parser says so, with the place.
            Some(Named::One(Encoding::Utf8 | Encoding::Utf16Le | Encoding::Utf16Be) | Named::Utf16) => {
                (Encoding::Utf8, DeclaredEncoding::Utf8)
            }
            Some(Named::One(encoding)) => (encoding, DeclaredEncoding::Any),
            None => return unsupported(name),
        },
    };
    Ok(Some(Detected { encoding, declared }))
}

/// The encoding that a declaration names; what is wrong with the declaration is for the parser to find.
fn declared_name(declaration: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(declaration).ok()?;
    let value = text.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let name = value[1..].split_once(quote)?.0;
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(letters)).then_some(name)
}

fn unsupported<T>(name: &str) -> Result<T, Error> {
    Err(Error { kind: ErrorKind::UnsupportedEncoding(name.to_owned()), line: 1, column: 1, offset: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(charset: Option<&str>, begin: &[u8], expected: (Encoding, DeclaredEncoding)) {
        let (encoding, declared) = expected;
        assert_eq!(detect(charset, begin, true), Ok(Some(Detected { encoding, declared })), "{charset:?} {begin:?}");
    }

    #[test]
    fn a_mark_is_stronger_than_the_charset_and_the_charset_than_the_declaration() {
        use DeclaredEncoding as Declared;
        let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?>";
        check(None, b"<a/>", (Encoding::Utf8, Declared::Utf8));
        check(None, b"", (Encoding::Utf8, Declared::Utf8));
        check(None, latin, (Encoding::Latin1, Declared::Any));
        check(None, b"<?xml version='1.0' encoding = \"us-ascii\" ?>", (Encoding::UsAscii, Declared::Any));
        check(None, b"<?xml version='1.0' encoding='UTF-16'?>", (Encoding::Utf8, Declared::Utf8));
        check(Some("utf-8"), latin, (Encoding::Utf8, Declared::Any));
        check(Some("US-ASCII"), latin, (Encoding::UsAscii, Declared::Any));
        check(Some("utf-16"), b"\xFF\xFE<\0a\0", (Encoding::Utf16Le, Declared::Any));
        check(Some("utf-16"), b"\0<\0a", (Encoding::Utf16Be, Declared::Any));
        check(Some("utf-16"), b"<\0a\0", (Encoding::Utf16Le, Declared::Any));
        check(Some("iso-8859-1"), b"\xEF\xBB\xBF<a/>", (Encoding::Utf8, Declared::Any));
        check(None, b"\xFE\xFF\0<\0a", (Encoding::Utf16Be, Declared::Utf16));
        check(None, b"<\0?\0x\0", (Encoding::Utf16Le, Declared::Utf16));
        check(None, b"\0<\0?\0x", (Encoding::Utf16Be, Declared::Utf16));
    }

    #[test]
    fn other_encodings_are_refused_by_name() {
        for (charset, begin, name) in [
            (Some("cp037"), &b"<a/>"[..], "cp037"),
            (None, b"<?xml version='1.0' encoding='HZ-GB-2312'?>", "HZ-GB-2312"),
            (None, b"<?xml version='1.0' encoding='x-user-defined'?>", "x-user-defined"),
            (Some("UTF-7"), b"<a/>", "UTF-7"),
            (None, b"\xFF\xFE\0\0<\0\0\0", "UTF-32"),
            (None, b"\x4C\x6F\xA7\x94", "EBCDIC"),
        ] {
            let error = detect(charset, begin, true).unwrap_err();
            assert_eq!(error.kind, ErrorKind::UnsupportedEncoding(name.to_owned()));
        }
    }

    #[test]
    fn more_is_asked_for_until_the_declaration_ends_but_not_for_ever() {
        let document = b"<?xml version='1.0' encoding='ISO-8859-1'?><a/>";
        for length in 0..document.len() {
            let detected = detect(None, &document[..length], false).unwrap();
            assert_eq!(detected.is_some(), document[..length].ends_with(b">") || length > 43, "{length}");
        }
        let endless = [b"<?xml ".as_slice(), &[b' '; DECLARATION_BYTES]].concat();
        assert!(detect(None, &endless, false).unwrap().is_some());
    }
}
