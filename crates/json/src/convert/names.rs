//! Keys of JSON as names of XML, and back.
//!
//! A key that starts with a digit is a name behind `_JsonReader_PD_`, one that starts with `$` has `_JsonReader_PS_` in its place, and a character that cannot stand in a name is `_JsonReader_32_` with its number.
//! Synapse writes the last only on demand and what is no XML otherwise; here it is always done, as is reading it back.
//! A key without a character is `_JsonReader_`.

use std::borrow::Cow;
use std::str::from_utf8;

use myelin_xml::is_ncname;

const MARK: &str = "_JsonReader_";
const DIGIT: &str = "_JsonReader_PD_";
const DOLLAR: &str = "_JsonReader_PS_";

/// Which ASCII bytes may go on a name: bit 0; and begin it: bit 1.
const ASCII: [u8; 128] = {
    let mut table = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => 3,
            b'0'..=b'9' | b'-' | b'.' => 1,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// Writes the name for `key`.
///
/// Shape: whatever the key is, a name without a colon.
pub(super) fn encode(key: &str, out: &mut Vec<u8>) {
    if is_plain(key.as_bytes()) {
        out.extend_from_slice(key.as_bytes());
        return;
    }
    let mut rest = key;
    match key.chars().next() {
        None => out.extend_from_slice(MARK.as_bytes()),
        Some('0'..='9') => out.extend_from_slice(DIGIT.as_bytes()),
        Some('$') => {
            out.extend_from_slice(DOLLAR.as_bytes());
            rest = &key[1..];
        }
        Some(first) if !goes_on(first, true) => {
            write_number(first, out);
            rest = &key[first.len_utf8()..];
        }
        Some(_) => {}
    }
    rest.chars().for_each(|character| write_next(character, out));
}

/// The name of XML that stands for a key.
///
/// Shape: whatever the key is, a name without a colon.
pub fn name_of_key(key: &str) -> Cow<'_, str> {
    if is_plain(key.as_bytes()) {
        return Cow::Borrowed(key);
    }
    let mut name = Vec::with_capacity(key.len() + DIGIT.len());
    encode(key, &mut name);
    Cow::Owned(String::from_utf8(name).expect("a name is written character by character"))
}

fn write_next(character: char, out: &mut Vec<u8>) {
    if goes_on(character, false) {
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    } else {
        write_number(character, out);
    }
}

/// Writes a name for `key` whose first character is written as its number, whether it may begin a name or not.
pub(super) fn encode_first(key: &str, out: &mut Vec<u8>) {
    let mut characters = key.chars();
    if let Some(first) = characters.next() {
        write_number(first, out);
    }
    characters.for_each(|character| write_next(character, out));
}

/// The name as Synapse writes it in an instruction: with the digit or `$` that it starts with.
pub(super) fn without_mark(name: &[u8]) -> Cow<'_, [u8]> {
    match (name.strip_prefix(DIGIT.as_bytes()), name.strip_prefix(DOLLAR.as_bytes())) {
        (Some(rest), _) => Cow::Borrowed(rest),
        (_, Some(rest)) => Cow::Owned([b"$", rest].concat()),
        _ => Cow::Borrowed(name),
    }
}

/// Whether the key is a name as it is, and plain enough to be seen as one at a glance.
#[inline]
pub(super) fn is_plain(key: &[u8]) -> bool {
    let flags = |byte: u8| ASCII.get(usize::from(byte)).copied().unwrap_or(0);
    match key.split_first() {
        Some((&first, rest)) => flags(first) == 3 && rest.iter().all(|&byte| flags(byte) != 0),
        None => false,
    }
}

fn goes_on(character: char, first: bool) -> bool {
    let mut buffer = [b'a'; 5];
    let length = character.encode_utf8(&mut buffer[1..]).len();
    // Behind a letter anything may stand that may go on a name.
    from_utf8(&buffer[usize::from(first)..1 + length]).is_ok_and(is_ncname)
}

/// Writes the number of a character, or those of its two halves in UTF-16, as Java counts them.
fn write_number(character: char, out: &mut Vec<u8>) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        out.extend_from_slice(MARK.as_bytes());
        out.extend_from_slice(unit.to_string().as_bytes());
        out.push(b'_');
    }
}

/// The key that `name` stands for.
pub fn decode(name: &str) -> Cow<'_, str> {
    // Most names have no underscore at all, which shows sooner.
    if memchr::memchr(b'_', name.as_bytes()).is_none() || !name.contains(MARK) {
        return Cow::Borrowed(name);
    }
    if name == MARK {
        return Cow::Borrowed("");
    }
    let mut key = String::with_capacity(name.len());
    let mut rest = name;
    if let Some(behind) = name.strip_prefix(DIGIT) {
        rest = behind;
    } else if let Some(behind) = name.strip_prefix(DOLLAR) {
        key.push('$');
        rest = behind;
    }
    while let Some(at) = rest.find(MARK) {
        key.push_str(&rest[..at]);
        let marked = &rest[at..];
        let (character, length) = character_at(marked).unwrap_or(('_', 1));
        key.push(character);
        rest = &marked[length..];
    }
    key.push_str(rest);
    Cow::Owned(key)
}

/// The character that `marked` begins with the number of, and how many bytes say so.
fn character_at(marked: &str) -> Option<(char, usize)> {
    let (first, length) = unit_at(marked)?;
    if let Some(character) = char::from_u32(u32::from(first)) {
        return Some((character, length));
    }
    let (second, more) = unit_at(&marked[length..])?;
    let character = char::decode_utf16([first, second]).next()?.ok()?;
    Some((character, length + more))
}

fn unit_at(marked: &str) -> Option<(u16, usize)> {
    let (digits, _) = marked.strip_prefix(MARK)?.split_once('_')?;
    let unit = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??;
    Some((unit, MARK.len() + digits.len() + 1))
}
