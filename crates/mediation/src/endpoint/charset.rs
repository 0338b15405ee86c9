//! The encodings in which an endpoint may want its XML.

use crate::fault::{Fault, Outcome};

/// An encoding that messages may leave in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charset {
    Utf8,
    /// With a byte order mark, the higher byte first (RFC 2781 §4.3).
    Utf16,
    Latin1,
    UsAscii,
}

impl Charset {
    /// The encoding with a name of the IANA registry, where it is offered.
    pub(crate) fn of(name: &str) -> Option<Charset> {
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
    pub(crate) fn name(self) -> &'static str {
        match self {
            Charset::Utf8 => "UTF-8",
            Charset::Utf16 => "UTF-16",
            Charset::Latin1 => "ISO-8859-1",
            Charset::UsAscii => "US-ASCII",
        }
    }

    /// Whether a message says that it is in this encoding; one that says nothing is in UTF-8.
    pub(crate) fn is(self, said: Option<&str>) -> bool {
        Charset::of(said.unwrap_or("UTF-8")) == Some(self)
    }

    /// An XML document in this encoding, as [`Charset::write`].
    ///
    /// Errors: the bus's, where it cannot be written so.
    pub(crate) fn encode(self, xml: &str) -> Outcome<Vec<u8>> {
        self.write(xml).ok_or_else(|| {
            let detail = format!("a letter that {} has not stands where nothing can stand for it", self.name());
            Fault::bus("The message cannot be written in the encoding that is wanted").with_detail(detail)
        })
    }

    /// An XML document in this encoding, which its declaration names.
    ///
    /// Shape: a letter that the encoding has not is written as a reference; `None` where it stands in a comment, a
    /// CDATA section, an instruction or a name, where a reference means nothing.
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

/// Writes a tag, whose values may hold references while its names may not; what stands behind it.
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

/// Writes text one byte for each letter; `None` where one has none and no reference may stand for it.
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
