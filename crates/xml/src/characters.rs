//! Which characters XML 1.0, fifth edition, allows where.

/// Whether `c` may stand in a document at all.
///
/// Source: XML 1.0 production 2.
pub(crate) fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..='\u{10FFFF}')
}

/// Whether a name may begin with `c`; the colon is one of them.
///
/// Source: XML 1.0 production 4.
pub(crate) fn is_name_start(c: char) -> bool {
    matches!(c,
        ':' | 'A'..='Z' | '_' | 'a'..='z'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}'
        | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// Whether a name may go on with `c`.
///
/// Source: XML 1.0 production 4a.
pub(crate) fn is_name_character(c: char) -> bool {
    is_name_start(c) || matches!(c, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// Whether `byte` is white space.
///
/// Source: XML 1.0 production 3.
#[inline]
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The place in `name` of the first character that a name cannot have there, if there is one.
pub(crate) fn name_error(name: &str) -> Option<usize> {
    let mut characters = name.char_indices();
    match characters.next() {
        Some((_, first)) if is_name_start(first) => characters.find(|&(_, c)| !is_name_character(c)).map(|(at, _)| at),
        _ => Some(0),
    }
}

/// Whether `name` is a name without a colon (Namespaces in XML 1.0, production 4).
pub fn is_ncname(name: &str) -> bool {
    name_error(name).is_none() && !name.contains(':')
}
