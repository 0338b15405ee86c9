//! The names of subjects and issuers: as they are encoded, as they are written, and whether two are the same.
//!
//! Source: RFC 2253, RFC 4514, RFC 5280 §7.1.

use std::fmt;

use super::super::der::{self, Damaged, Element, Reader};

/// The name of a subject or an issuer. Two are the same however their letters and spaces are spelled.
#[derive(Clone)]
pub struct Name {
    text: String,
    /// In the order of the encoding, which is the reverse of the text's.
    relative: Vec<Relative>,
}

/// A relative name: one attribute, seldom more, in an order of our own.
type Relative = Vec<Attribute>;

/// An attribute: the bytes of its type's identifier, and its value in the form in which values are compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Attribute {
    kind: Vec<u8>,
    value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Value {
    /// In small letters, with single spaces.
    Text(String),
    /// What is no text, with its tag.
    Encoded(Vec<u8>),
}

/// More attributes in one name are nobody's.
const ATTRIBUTES_MAX: usize = 64;

/// What attribute types are called, in capitals, with the bytes of their identifiers. Those before [`WRITTEN`] are the
/// ones of RFC 2253; the others are what .NET, OpenSSL and Java's `toString` write.
const KEYWORDS: [(&str, &[u8]); 31] = [
    ("CN", COMMON_NAME),
    ("C", &[0x55, 0x04, 0x06]),
    ("L", &[0x55, 0x04, 0x07]),
    ("ST", &[0x55, 0x04, 0x08]),
    ("STREET", &[0x55, 0x04, 0x09]),
    ("O", &[0x55, 0x04, 0x0a]),
    ("OU", &[0x55, 0x04, 0x0b]),
    ("DC", &[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 0x01, 0x19]),
    ("UID", &[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 0x01, 0x01]),
    ("S", &[0x55, 0x04, 0x08]),
    ("SN", &[0x55, 0x04, 0x04]),
    ("SURNAME", &[0x55, 0x04, 0x04]),
    ("SERIALNUMBER", &[0x55, 0x04, 0x05]),
    ("T", &[0x55, 0x04, 0x0c]),
    ("TITLE", &[0x55, 0x04, 0x0c]),
    ("DESCRIPTION", &[0x55, 0x04, 0x0d]),
    ("POSTALCODE", &[0x55, 0x04, 0x11]),
    ("NAME", &[0x55, 0x04, 0x29]),
    ("G", &[0x55, 0x04, 0x2a]),
    ("GN", &[0x55, 0x04, 0x2a]),
    ("GIVENNAME", &[0x55, 0x04, 0x2a]),
    ("I", &[0x55, 0x04, 0x2b]),
    ("INITIALS", &[0x55, 0x04, 0x2b]),
    ("GENERATION", &[0x55, 0x04, 0x2c]),
    ("GENERATIONQUALIFIER", &[0x55, 0x04, 0x2c]),
    ("DNQ", &[0x55, 0x04, 0x2e]),
    ("DNQUALIFIER", &[0x55, 0x04, 0x2e]),
    ("ORGANIZATIONIDENTIFIER", &[0x55, 0x04, 0x61]),
    ("E", MAIL),
    ("EMAIL", MAIL),
    ("EMAILADDRESS", MAIL),
];
const WRITTEN: usize = 9;

/// The identifier of a common name, 2.5.4.3.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];

/// The identifier of an address of mail, 1.2.840.113549.1.9.1.
const MAIL: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x01];

impl Name {
    /// Reads a name in DER.
    pub(in crate::keys) fn read(der: &[u8]) -> Result<Name, Damaged> {
        let mut outside = Reader::new(der);
        let mut sequence = outside.sequence()?;
        outside.finish()?;
        let (mut relative, mut texts, mut attributes) = (Vec::new(), Vec::new(), 0);
        while !sequence.is_empty() {
            let mut set = Reader::new(sequence.expect(der::SET)?);
            let (mut one, mut text) = (Relative::new(), String::new());
            while !set.is_empty() {
                attributes += 1;
                if attributes > ATTRIBUTES_MAX {
                    return Err(Damaged("a name has too many parts"));
                }
                let mut attribute = set.sequence()?;
                let kind = attribute.expect(der::OBJECT_IDENTIFIER)?;
                let value = attribute.any()?;
                attribute.finish()?;
                let is_known = KEYWORDS.iter().any(|(_, known)| *known == kind);
                // One that is cut or has zeros in front would be written as another.
                if !is_known && undotted(&dotted(kind)).as_deref() != Some(kind) {
                    return Err(Damaged("a name has a part whose kind is no object identifier"));
                }
                if !text.is_empty() {
                    text.push('+');
                }
                write_attribute(kind, value, &mut text);
                one.push(Attribute { kind: kind.to_vec(), value: Value::of(value) });
            }
            one.sort();
            relative.push(one);
            texts.push(text);
        }
        texts.reverse();
        Ok(Name { text: texts.join(","), relative })
    }

    /// The name as RFC 2253 writes it, as Java does: `CN=Alice,O=Example,C=DE`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads a written name, however it is spelled: spaces, case, escapes, names of attribute types; `None` for what is
    /// none. It is the same as the one in a certificate if they only differ in these.
    ///
    /// Source: RFC 2253, RFC 1779 and what .NET and Java write.
    pub fn parse(written: &str) -> Option<Name> {
        parse(written).map(|relative| Name { text: written.to_owned(), relative })
    }

    /// The last common name in it, in small letters.
    pub(in crate::keys) fn common_name(&self) -> Option<&str> {
        let mut attributes = self.relative.iter().rev().flatten();
        attributes.find(|attribute| attribute.kind == COMMON_NAME).and_then(|attribute| match &attribute.value {
            Value::Text(text) => Some(text.as_str()),
            Value::Encoded(_) => None,
        })
    }

    /// Whether an address of mail is part of it.
    pub(in crate::keys) fn has_mail(&self) -> bool {
        self.relative.iter().flatten().any(|attribute| attribute.kind == MAIL)
    }

    /// Whether it begins with the parts of another.
    pub(super) fn lies_in(&self, subtree: &Name) -> bool {
        self.relative.starts_with(&subtree.relative)
    }

    /// Whether it has no parts at all, as the subject of a certificate whose other names say whose it is.
    pub(in crate::keys) fn is_empty(&self) -> bool {
        self.relative.is_empty()
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.relative == other.relative
    }
}

impl Eq for Name {}

impl std::hash::Hash for Name {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.relative.hash(state);
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({})", self.text)
    }
}

impl Value {
    fn of(value: Element<'_>) -> Value {
        match text(value) {
            Some(text) => Value::of_text(&text),
            None => Value::Encoded(value.whole.to_vec()),
        }
    }

    fn of_text(text: &str) -> Value {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        Value::Text(words.join(" "))
    }
}

/// The text of a value; `None` for one that is no text.
pub(in crate::keys) fn text(value: Element<'_>) -> Option<String> {
    let bytes = value.content;
    match value.tag {
        // UTF8String, NumericString, PrintableString, IA5String, VisibleString
        0x0c | 0x12 | 0x13 | 0x16 | 0x1a => std::str::from_utf8(bytes).ok().map(str::to_owned),
        // TeletexString, which everybody means as Latin-1.
        0x14 => Some(bytes.iter().copied().map(char::from).collect()),
        // BMPString
        0x1e if bytes.len().is_multiple_of(2) => {
            char::decode_utf16(bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])))
                .collect::<Result<_, _>>()
                .ok()
        }
        // UniversalString
        0x1c if bytes.len().is_multiple_of(4) => bytes
            .chunks_exact(4)
            .map(|four| char::from_u32(u32::from_be_bytes([four[0], four[1], four[2], four[3]])))
            .collect(),
        _ => None,
    }
}

fn write_attribute(kind: &[u8], value: Element<'_>, out: &mut String) {
    let keyword = KEYWORDS[..WRITTEN].iter().find(|(_, known)| *known == kind);
    match (keyword, text(value)) {
        (Some((keyword, _)), Some(text)) => {
            out.push_str(keyword);
            out.push('=');
            write_escaped(&text, out);
        }
        _ => {
            out.push_str(&dotted(kind));
            out.push_str("=#");
            value.whole.iter().for_each(|byte| out.push_str(&format!("{byte:02x}")));
        }
    }
}

/// Escapes what Java escapes, which is what WSS4J's peers compare with.
fn write_escaped(text: &str, out: &mut String) {
    let inner = text.trim_matches(' ');
    let start = text.len() - text.trim_start_matches(' ').len();
    for (at, character) in text.char_indices() {
        let is_outer_space = character == ' ' && (at < start || at >= start + inner.len());
        if is_outer_space || matches!(character, ',' | '=' | '+' | '<' | '>' | '#' | ';' | '"' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
}

/// An object identifier as people write it.
pub(in crate::keys) fn dotted(identifier: &[u8]) -> String {
    let mut text = String::new();
    let mut number = 0u128;
    for byte in identifier {
        number = number.wrapping_shl(7) | u128::from(byte & 0x7f);
        if byte & 0x80 != 0 {
            continue;
        }
        if text.is_empty() {
            // The first two numbers are encoded as one.
            let first = (number / 40).min(2);
            text = format!("{first}.{}", number - first * 40);
        } else {
            text += &format!(".{number}");
        }
        number = 0;
    }
    text
}

/// The bytes of an object identifier that is written with dots.
fn undotted(text: &str) -> Option<Vec<u8>> {
    let mut numbers = text.split('.').map(|number| number.parse::<u64>().ok());
    let (first, second) = (numbers.next()??, numbers.next()??);
    if first > 2 || second > u64::MAX - 80 {
        return None;
    }
    let mut bytes = Vec::new();
    for number in std::iter::once(Some(first * 40 + second)).chain(numbers) {
        let number = number?;
        let groups = (64 - number.leading_zeros()).div_ceil(7).max(1);
        for group in (0..groups).rev() {
            let more = if group == 0 { 0 } else { 0x80 };
            bytes.push((number >> (group * 7)) as u8 & 0x7f | more);
        }
    }
    Some(bytes)
}

/// Reads a written name; `None` for what is none.
fn parse(written: &str) -> Option<Vec<Relative>> {
    let mut rest = written.trim();
    let (mut relative, mut one, mut attributes) = (Vec::new(), Relative::new(), 0);
    if rest.is_empty() {
        return Some(relative);
    }
    loop {
        attributes += 1;
        if attributes > ATTRIBUTES_MAX {
            return None;
        }
        let (kind, after) = rest.split_once('=')?;
        let (value, after) = parse_value(after.trim_start())?;
        one.push(Attribute { kind: parse_kind(kind.trim())?, value });
        let mut characters = after.trim_start().chars();
        let separator = characters.next();
        if separator != Some('+') {
            one.sort();
            relative.push(std::mem::take(&mut one));
        }
        match separator {
            None => break,
            Some('+' | ',' | ';') => rest = characters.as_str(),
            Some(_) => return None,
        }
    }
    relative.reverse();
    Some(relative)
}

fn parse_kind(kind: &str) -> Option<Vec<u8>> {
    let upper = kind.to_ascii_uppercase();
    match KEYWORDS.iter().find(|(known, _)| *known == upper) {
        Some((_, identifier)) => Some(identifier.to_vec()),
        None => undotted(upper.strip_prefix("OID.").unwrap_or(&upper)),
    }
}

/// A value and what follows it.
fn parse_value(text: &str) -> Option<(Value, &str)> {
    if let Some(digits) = text.strip_prefix('#') {
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        let bytes: Option<Vec<u8>> = digits.as_bytes()[..end].chunks(2).map(hex_byte).collect();
        let bytes = bytes?;
        return Some((Value::of(Reader::new(&bytes).any().ok()?), &digits[end..]));
    }
    let (quoted, start) = match text.strip_prefix('"') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut value = Vec::new();
    let mut characters = start.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' if quoted => return Some((finish(value)?, &start[at + 1..])),
            ',' | ';' | '+' if !quoted => return Some((finish(value)?, &start[at..])),
            '\\' => {
                let (_, escaped) = characters.next()?;
                if escaped.is_ascii_hexdigit() {
                    let (_, second) = characters.next()?;
                    value.push((escaped.to_digit(16)? << 4 | second.to_digit(16)?) as u8);
                } else {
                    value.extend_from_slice(escaped.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            _ => value.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    if quoted { None } else { Some((finish(value)?, "")) }
}

fn finish(value: Vec<u8>) -> Option<Value> {
    String::from_utf8(value).ok().map(|text| Value::of_text(&text))
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok().filter(|digits| digits.len() == 2)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const UTF8: u8 = 0x0c;
    const MAIL_TEXT: u8 = 0x16;

    /// A name of parts, each an attribute of `2.5.4.x` or mail.
    fn name(parts: &[(&[u8], u8, &str)]) -> Name {
        let parts: Vec<Vec<u8>> = parts
            .iter()
            .map(|(kind, tag, value)| {
                let pair = [der::element(der::OBJECT_IDENTIFIER, &[kind]), der::element(*tag, &[value.as_bytes()])];
                der::element(der::SET, &[&der::element(der::SEQUENCE, &[&pair[0], &pair[1]])])
            })
            .collect();
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        Name::read(&der::element(der::SEQUENCE, &parts)).expect("a name")
    }

    const COUNTRY: &[u8] = &[0x55, 4, 6];
    const STATE: &[u8] = &[0x55, 4, 8];
    const ORGANIZATION: &[u8] = &[0x55, 4, 10];

    #[test]
    fn names_are_written_as_java_writes_them() {
        let written = name(&[
            (COUNTRY, UTF8, "DE"),
            (ORGANIZATION, UTF8, " Müller, Söhne + Co = \"#1\" "),
            (MAIL, MAIL_TEXT, "a@b"),
            (&[0x55, 4, 0x61], UTF8, "X"),
        ]);
        assert_eq!(
            written.text(),
            "2.5.4.97=#0c0158,1.2.840.113549.1.9.1=#1603614062,\
             O=\\ Müller\\, Söhne \\+ Co \\= \\\"\\#1\\\"\\ ,C=DE"
        );
        assert_eq!(Name::parse(written.text()), Some(written));
    }

    #[test]
    fn a_name_is_the_same_however_it_is_spelled() {
        let encoded = name(&[
            (COUNTRY, UTF8, "DE"),
            (STATE, UTF8, "Sachsen"),
            (MAIL, MAIL_TEXT, "A@b"),
            (COMMON_NAME, UTF8, "Big  Bob"),
        ]);
        for written in [
            "CN=Big Bob,1.2.840.113549.1.9.1=#1603614062,ST=Sachsen,C=DE",
            "CN=Big Bob, E=A@b, S=Sachsen, C=DE",
            "cn = big bob ; emailAddress=a@B ; OID.2.5.4.8=SACHSEN;c=de",
            "CN=\"Big Bob\", EMAIL=a@b, ST=#0c0753616368736556, C=\\44\\45",
        ] {
            let same = Name::parse(&written.replace("6556", "656e"));
            assert_eq!(same.as_ref(), Some(&encoded), "{written}");
        }
        for other in [
            "",
            "CN=Big Bob",
            "C=DE,ST=Sachsen,E=a@b,CN=Big Bob",
            "CN=BigBob,E=a@b,ST=Sachsen,C=DE",
            "CN=Big Bob+E=a@b,ST=Sachsen,C=DE",
            "CN=Big Bob,E=a@b,ST=Sachsen,C=DE,",
        ] {
            assert_ne!(Name::parse(other).as_ref(), Some(&encoded), "{other}");
        }
    }

    #[test]
    fn parts_of_no_kind_are_refused() {
        for kind in [&[0x55, 4, 0x8a][..], &[0x55, 4, 0x80, 1], &[0x80], &[]] {
            let attribute = der::element(der::SEQUENCE, &[&der::element(6, &[kind]), &der::element(UTF8, &[b"a"])]);
            let name = der::element(der::SEQUENCE, &[&der::element(der::SET, &[&attribute])]);
            assert!(Name::read(&name).is_err(), "{kind:?}");
        }
    }

    #[test]
    fn what_is_no_name_is_none() {
        for written in
            ["CN", "=", "CN=a,", "XX=a", "1=a", "9.1=a", "CN=\"a", "CN=\"a\"b", "CN=a\\", "CN=#0", "CN=#zz", "1.2.x=a"]
        {
            assert_eq!(Name::parse(written), None, "{written}");
        }
        assert_eq!(Name::parse(&"CN=a,".repeat(100)), None);
    }

    #[test]
    fn object_identifiers_are_written_with_dots() {
        for text in ["1.2.840.113549.1.9.1", "2.5.4.97", "0.9.2342", "2.999.3"] {
            assert_eq!(dotted(&undotted(text).expect("an identifier")), text);
        }
        assert_eq!(dotted(&[0x80; 1000]), "");
    }
}
