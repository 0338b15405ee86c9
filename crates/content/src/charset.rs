//! The character sets that messages are written in, and that functions of expressions encode texts in.

use std::borrow::Cow;
use std::fmt;

/// A character set that messages may leave in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8.
    Utf8,
    /// UTF-16 with a byte order mark, the higher byte first (RFC 2781 §4.3).
    Utf16,
    /// ISO-8859-1.
    Latin1,
    /// US-ASCII.
    UsAscii,
}

/// Why a document cannot be written in a character set: it has a letter that the set lacks, at a place where no
/// character reference may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unencodable(Charset);

impl fmt::Display for Unencodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} lacks a letter of the message, which stands where no character reference may stand",
            self.0.name()
        )
    }
}

impl Charset {
    /// The character set with that name of the IANA registry; `None` for one that is not offered.
    pub fn of(name: &str) -> Option<Charset> {
        let known = [
            ("UTF-8", Charset::Utf8),
            ("UTF8", Charset::Utf8),
            ("UTF-16", Charset::Utf16),
            ("ISO-8859-1", Charset::Latin1),
            ("latin1", Charset::Latin1),
            ("US-ASCII", Charset::UsAscii),
            ("ASCII", Charset::UsAscii),
        ];
        known.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim())).map(|(_, charset)| *charset)
    }

    /// Its preferred name.
    pub fn name(self) -> &'static str {
        match self {
            Charset::Utf8 => "UTF-8",
            Charset::Utf16 => "UTF-16",
            Charset::Latin1 => "ISO-8859-1",
            Charset::UsAscii => "US-ASCII",
        }
    }

    /// A text in this character set; a letter that it lacks becomes a question mark, as in Java.
    pub fn encode_text(self, text: &str) -> Cow<'_, [u8]> {
        let single = |last: char| text.chars().map(|letter| if letter <= last { letter as u8 } else { b'?' }).collect();
        match self {
            Charset::Utf8 => Cow::Borrowed(text.as_bytes()),
            Charset::Utf16 => {
                let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
                Cow::Owned(units.flat_map(u16::to_be_bytes).collect())
            }
            Charset::Latin1 => Cow::Owned(single('\u{ff}')),
            Charset::UsAscii => Cow::Owned(single('\u{7f}')),
        }
    }

    /// The text of bytes in this character set; bytes that it lacks become U+FFFD.
    pub fn decode_text(self, bytes: &[u8]) -> String {
        match self {
            Charset::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            Charset::Utf16 => {
                let is_little = bytes.starts_with(&[0xFF, 0xFE]);
                let has_mark = is_little || bytes.starts_with(&[0xFE, 0xFF]);
                let units = bytes[if has_mark { 2 } else { 0 }..].chunks_exact(2).map(|pair| match is_little {
                    true => u16::from_le_bytes([pair[0], pair[1]]),
                    false => u16::from_be_bytes([pair[0], pair[1]]),
                });
                char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
            }
            Charset::Latin1 => bytes.iter().map(|&byte| char::from(byte)).collect(),
            Charset::UsAscii => {
                let letter = |&byte: &u8| if byte.is_ascii() { char::from(byte) } else { char::REPLACEMENT_CHARACTER };
                bytes.iter().map(letter).collect()
            }
        }
    }

    /// Whether a message that names `said` as its character set is in this one; a message that names none is in UTF-8.
    pub fn is(self, said: Option<&str>) -> bool {
        Charset::of(said.unwrap_or("UTF-8")) == Some(self)
    }

    /// An XML document in this character set, which its declaration names.
    ///
    /// Shape: a letter that the set lacks becomes a character reference.
    /// Errors: [`Unencodable`], the configuration's, where a letter that the set lacks stands in a comment, a CDATA
    /// section, an instruction or a name.
    pub fn encode(self, xml: &str) -> Result<Vec<u8>, Unencodable> {
        self.write(xml).ok_or(Unencodable(self))
    }

    /// As [`Charset::encode`]; `None` where that fails.
    fn write(self, xml: &str) -> Option<Vec<u8>> {
        let content = match xml.strip_prefix("<?xml ").and_then(|rest| rest.split_once("?>")) {
            Some((_, content)) => content,
            None => xml,
        };
        let declaration = format!("<?xml version=\"1.0\" encoding=\"{}\"?>", self.name());
        match self {
            Charset::Utf8 => Some(format!("{declaration}{content}").into_bytes()),
            Charset::Utf16 => {
                let units = std::iter::once(0xFEFF).chain(declaration.encode_utf16()).chain(content.encode_utf16());
                Some(units.flat_map(u16::to_be_bytes).collect())
            }
            Charset::Latin1 => with_references(declaration, content, '\u{ff}'),
            Charset::UsAscii => with_references(declaration, content, '\u{7f}'),
        }
    }
}

fn with_references(declaration: String, content: &str, last: char) -> Option<Vec<u8>> {
    let mut out = declaration.into_bytes();
    let mut rest = content;
    while let Some(open) = rest.find('<') {
        let (text, markup) = rest.split_at(open);
        put(text, last, true, &mut out)?;
        let end = match markup {
            _ if markup.starts_with("<!--") => markup.find("-->")? + 3,
            _ if markup.starts_with("<![CDATA[") => markup.find("]]>")? + 3,
            _ if markup.starts_with("<?") => markup.find("?>")? + 2,
            _ => {
                rest = tag(markup, last, &mut out)?;
                continue;
            }
        };
        put(&markup[..end], last, false, &mut out)?;
        rest = &markup[end..];
    }
    put(rest, last, true, &mut out)?;
    Some(out)
}

/// Writes a tag, whose values may hold references while its names may not; gives the text behind it.
fn tag<'a>(markup: &'a str, last: char, out: &mut Vec<u8>) -> Option<&'a str> {
    let mut rest = markup;
    loop {
        let at = rest.find(['"', '\'', '>'])?;
        put(&rest[..=at], last, false, out)?;
        let found = rest[at..].chars().next()?;
        rest = &rest[at + 1..];
        if found == '>' {
            return Some(rest);
        }
        let end = rest.find(found)?;
        put(&rest[..end], last, true, out)?;
        put(&rest[end..=end], last, false, out)?;
        rest = &rest[end + 1..];
    }
}

/// Writes text, one byte for each letter; `None` where a letter is above `last` and no reference may stand for it.
fn put(text: &str, last: char, references: bool, out: &mut Vec<u8>) -> Option<()> {
    for letter in text.chars() {
        if letter <= last {
            out.push(letter as u8);
        } else if references {
            out.extend_from_slice(format!("&#{};", u32::from(letter)).as_bytes());
        } else {
            return None;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_the_encoding_has_not_are_references_where_those_can_stand() {
        let check = |charset: Charset, xml: &str, expected: Option<&str>| {
            let declaration = format!("<?xml version=\"1.0\" encoding=\"{}\"?>", charset.name());
            let written = charset.write(xml).map(|bytes| bytes.iter().map(|&byte| byte as char).collect::<String>());
            assert_eq!(written, expected.map(|expected| declaration + expected), "{xml}");
        };
        check(Charset::Latin1, "<?xml version='1.0'?><a>é€</a>", Some("<a>é&#8364;</a>"));
        check(Charset::UsAscii, "<a b='é>' c=\"1\">x</a>", Some("<a b='&#233;>' c=\"1\">x</a>"));
        check(
            Charset::UsAscii,
            "<a><!-- plain --><![CDATA[<]]><?t d?></a>",
            Some("<a><!-- plain --><![CDATA[<]]><?t d?></a>"),
        );
        check(Charset::UsAscii, "<é/>", None);
        check(Charset::UsAscii, "<a><!--é--></a>", None);
        check(Charset::UsAscii, "<a><![CDATA[é]]></a>", None);
    }

    #[test]
    fn a_text_is_encoded_and_decoded() {
        let check = |charset: Charset, text: &str, bytes: &[u8]| {
            assert_eq!(&*charset.encode_text(text), bytes, "{charset:?}");
            assert_eq!(charset.decode_text(bytes), text, "{charset:?}");
        };
        check(Charset::Utf8, "é", b"\xc3\xa9");
        check(Charset::Latin1, "é", b"\xe9");
        check(Charset::UsAscii, "e", b"e");
        check(Charset::Utf16, "é😀", b"\xfe\xff\0\xe9\xd8\x3d\xde\0");
        assert_eq!(&*Charset::Latin1.encode_text("€"), b"?");
        assert_eq!(Charset::Utf16.decode_text(b"\xff\xfee\0"), "e");
        assert_eq!(Charset::UsAscii.decode_text(b"\xe9"), "\u{fffd}");
    }

    #[test]
    fn utf_16_begins_with_its_mark() {
        let bytes = Charset::Utf16.write("<a/>").unwrap();
        assert_eq!(&bytes[..4], [0xFE, 0xFF, 0, b'<']);
        assert_eq!(&bytes[bytes.len() - 4..], [0, b'/', 0, b'>']);
    }

    #[test]
    fn a_message_that_says_no_encoding_is_in_utf_8() {
        assert!(Charset::Utf8.is(None) && Charset::Utf8.is(Some("utf-8")) && !Charset::Latin1.is(None));
        assert_eq!(Charset::of("KOI8-R"), None);
    }
}
