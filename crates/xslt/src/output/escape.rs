//! Characters that cannot stand for themselves, by where they stand and which characters the encoding has.

use super::error::OutputError;

/// Where text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// In an element.
    Text,
    /// Between the quotes of an attribute.
    Attribute,
    /// In an element of HTML.
    HtmlText,
    /// Between the quotes of an attribute of HTML.
    HtmlAttribute,
}

/// Which characters an encoding has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repertoire {
    /// All.
    Unicode,
    /// Those below U+0100.
    Latin1,
    /// Those below U+0080.
    Ascii,
}

impl Repertoire {
    #[inline]
    pub(super) fn has(self, character: char) -> bool {
        match self {
            Repertoire::Unicode => true,
            Repertoire::Latin1 => u32::from(character) < 0x100,
            Repertoire::Ascii => character.is_ascii(),
        }
    }

    /// The first character that the encoding does not have, if there is one.
    pub(super) fn lacks(self, text: &str) -> Option<char> {
        match self {
            Repertoire::Unicode => None,
            _ if text.is_ascii() => None,
            _ => text.chars().find(|&character| !self.has(character)),
        }
    }
}

/// For each byte whether it has to be looked at.
type Table = [bool; 256];

static TABLES: [[Table; 3]; 4] =
    [tables(Context::Text), tables(Context::Attribute), tables(Context::HtmlText), tables(Context::HtmlAttribute)];

const fn tables(context: Context) -> [Table; 3] {
    [table(context, Repertoire::Unicode), table(context, Repertoire::Latin1), table(context, Repertoire::Ascii)]
}

const fn table(context: Context, repertoire: Repertoire) -> Table {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match (byte as u8, context) {
            (b'&', _) | (b'<' | b'>', Context::Text | Context::HtmlText) => true,
            (b'<' | b'>' | b'\t' | b'\n', Context::Attribute) => true,
            (b'"', Context::Attribute | Context::HtmlAttribute) => true,
            (b'\t' | b'\n', _) => false,
            (0..0x20 | 0x7F, _) => true,
            // They begin the controls and the hard space, the separator of lines, and what is no character.
            (0xC2 | 0xE2 | 0xEF, _) => true,
            (0x80.., _) => match repertoire {
                Repertoire::Unicode => false,
                Repertoire::Latin1 => byte >= 0xC4,
                Repertoire::Ascii => true,
            },
            _ => false,
        };
        byte += 1;
    }
    table
}

/// Appends `text` as it stands in XML in UTF-8, between tags or (in double quotes) as the value of an attribute.
///
/// Errors: a character that XML does not have.
#[inline]
pub(crate) fn escape_xml(text: &str, attribute: bool, out: &mut Vec<u8>) -> Result<(), OutputError> {
    let context = if attribute { Context::Attribute } else { Context::Text };
    escape(text, context, Repertoire::Unicode, out)
}

/// Appends text in UTF-8 that stands for itself between tags; false: some of it does not, and nothing is appended.
#[inline]
pub(crate) fn push_plain(text: &[u8], out: &mut Vec<u8>) -> bool {
    let is_plain = plain(text, &TABLES[Context::Text as usize][Repertoire::Unicode as usize]) == text.len();
    if is_plain {
        out.extend_from_slice(text);
    }
    is_plain
}

/// Appends `text` so that reading it in that place gives the same.
///
/// Errors: a character that XML does not have, or HTML.
/// Source: XSLT and XQuery Serialization 3.1 §5, §7; what is written by its number is so in decimal, as libxslt does.
#[inline]
pub(super) fn escape(
    text: &str,
    context: Context,
    repertoire: Repertoire,
    out: &mut Vec<u8>,
) -> Result<(), OutputError> {
    let table = &TABLES[context as usize][repertoire as usize];
    let bytes = text.as_bytes();
    let first = plain(bytes, table);
    out.extend_from_slice(&bytes[..first]);
    if first == bytes.len() { Ok(()) } else { rest(&text[first..], context, repertoire, out) }
}

/// As [`escape`], of what begins with a character that has to be looked at.
fn rest(mut text: &str, context: Context, repertoire: Repertoire, out: &mut Vec<u8>) -> Result<(), OutputError> {
    let table = &TABLES[context as usize][repertoire as usize];
    while let Some(character) = text.chars().next() {
        let (it, behind) = text.split_at(character.len_utf8());
        match replacement(character, behind, context, repertoire)? {
            Written::Itself => out.extend_from_slice(it.as_bytes()),
            Written::As(name) => out.extend_from_slice(name.as_bytes()),
            Written::Number => number(character, out),
        }
        let next = plain(behind.as_bytes(), table);
        out.extend_from_slice(&behind.as_bytes()[..next]);
        text = &behind[next..];
    }
    Ok(())
}

/// How a character is written.
enum Written {
    Itself,
    As(&'static str),
    Number,
}

fn replacement(
    character: char,
    behind: &str,
    context: Context,
    repertoire: Repertoire,
) -> Result<Written, OutputError> {
    let html = matches!(context, Context::HtmlText | Context::HtmlAttribute);
    Ok(Written::As(match character {
        // An entity of JavaScript in HTML 4 (appendix B.7.1) is left alone.
        '&' if context == Context::HtmlAttribute && behind.starts_with('{') => "&",
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\u{A0}' if html => "&nbsp;",
        '\t' | '\n' | '\r' => return Ok(Written::Number),
        '\u{0}'..'\u{20}' | '\u{FFFE}' | '\u{FFFF}' => return Err(OutputError::Character(u32::from(character))),
        '\u{7F}'..='\u{9F}' | '\u{2028}' => return Ok(Written::Number),
        _ if repertoire.has(character) => return Ok(Written::Itself),
        _ => return Ok(Written::Number),
    }))
}

/// Appends a reference to a character by its number.
pub(super) fn number(character: char, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("&#{};", u32::from(character)).as_bytes());
}

/// How many bytes stand before the first that has to be looked at.
#[inline]
fn plain(bytes: &[u8], table: &Table) -> usize {
    const WIDTH: usize = 16;
    let find = |part: &[u8]| part.iter().position(|&byte| table[usize::from(byte)]);
    let mut at = 0;
    while let Some(chunk) = bytes[at..].first_chunk::<WIDTH>() {
        // The compiler makes a few instructions of this for all of the chunk, and most chunks are plain.
        if is_odd(chunk)
            && let Some(found) = find(chunk)
        {
            return at + found;
        }
        at += WIDTH;
    }
    // The last bytes once more with some before them, so that they are looked at together, too.
    let last = match (bytes.last_chunk::<WIDTH>(), bytes.last_chunk::<8>(), bytes.first_chunk::<8>()) {
        (Some(last), ..) => is_odd(last),
        (None, Some(last), Some(first)) => is_odd(last) || is_odd(first),
        _ => true,
    };
    let found = if last { find(&bytes[at..]) } else { None };
    found.map_or(bytes.len(), |found| at + found)
}

/// Whether any of the bytes stands in one of the tables.
#[inline]
fn is_odd<const WIDTH: usize>(bytes: &[u8; WIDTH]) -> bool {
    let odd =
        |byte: u8| !(b' '..0x7F).contains(&byte) | (byte == b'&') | (byte == b'<') | (byte == b'>') | (byte == b'"');
    bytes.iter().fold(false, |any, &byte| any | odd(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, context: Context, repertoire: Repertoire, expected: Result<&str, OutputError>) {
        for before in ["", "0123456789 abcdef ghij", "sixteen bytes ..", "é"] {
            let mut out = Vec::new();
            let whole = format!("{before}{text}");
            let written = escape(&whole, context, repertoire, &mut out).map(|()| String::from_utf8(out).unwrap());
            let before =
                if repertoire == Repertoire::Ascii { before.replace('é', "&#233;") } else { before.to_owned() };
            assert_eq!(written, expected.map(|expected| before + expected), "{text:?} {context:?} {repertoire:?}");
        }
    }

    #[test]
    fn characters_are_escaped_where_they_must_be() {
        use {Context::*, Repertoire::*};
        check("", Text, Unicode, Ok(""));
        check("a<b>&\"'\t\n\r", Text, Unicode, Ok("a&lt;b&gt;&amp;\"'\t\n&#13;"));
        check("a<b>&\"'\t\n\r", Attribute, Unicode, Ok("a&lt;b&gt;&amp;&quot;'&#9;&#10;&#13;"));
        check("a<b>&\"'\t\n", HtmlText, Unicode, Ok("a&lt;b&gt;&amp;\"'\t\n"));
        check("a<b>&\"'\t\n&{x}&", HtmlAttribute, Unicode, Ok("a<b>&amp;&quot;'\t\n&{x}&amp;"));
        check("\u{A0}é\u{85}\u{2028}", Text, Unicode, Ok("\u{A0}é&#133;&#8232;"));
        check("\u{A0}é", HtmlText, Unicode, Ok("&nbsp;é"));
        check("\u{A0}", HtmlAttribute, Ascii, Ok("&nbsp;"));
    }

    #[test]
    fn what_the_encoding_lacks_is_written_by_its_number() {
        use {Context::*, Repertoire::*};
        check("é Ā €\u{1F600}", Text, Unicode, Ok("é Ā €\u{1F600}"));
        check("é Ā €\u{1F600}", Text, Latin1, Ok("é &#256; &#8364;&#128512;"));
        check("é Ā €\u{1F600}", Attribute, Ascii, Ok("&#233; &#256; &#8364;&#128512;"));
    }

    #[test]
    fn what_is_no_character_is_an_error() {
        use {Context::*, Repertoire::*};
        check("a\u{1}", Text, Unicode, Err(OutputError::Character(1)));
        check("a\u{FFFE}", Attribute, Unicode, Err(OutputError::Character(0xFFFE)));
        check("\u{FFFD}\u{FEFF}", Text, Unicode, Ok("\u{FFFD}\u{FEFF}"));
        check("a\u{80}", HtmlText, Unicode, Ok("a&#128;"));
    }
}
