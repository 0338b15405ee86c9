//! Classes of characters: `[a-z-[aeiou]]`, `\p{Lu}`, `\i`.

use std::fmt::Write as _;

use super::blocks;
use super::syntax::Parser;

/// The first and the later characters of names, for `\i` and `\c`.
const NAME_START: &str = r":A-Z_a-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}-\x{200D}\x{2070}-\x{218F}\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}";
const NAME_MORE: &str = r"\-.0-9\x{B7}\x{300}-\x{36F}\x{203F}-\x{2040}";

/// Classes taken away from each other deeper than this are refused.
const DEPTH_LIMIT: u32 = 20;

/// What stands behind a backslash.
pub(super) enum Escape {
    /// One character, itself.
    Letter(char),
    /// A class, as the `regex` crate writes it.
    Class(String),
}

/// Writes a character so that it means itself, inside and outside of classes.
pub(super) fn write_letter(letter: char, out: &mut String) {
    match letter {
        letter if letter.is_ascii_alphanumeric() || !letter.is_ascii() => out.push(letter),
        // Writing to a string cannot fail.
        other => drop(write!(out, "\\x{{{:x}}}", u32::from(other))),
    }
}

/// A class between brackets; the `[` has been read.
pub(super) fn group(parser: &mut Parser<'_>) -> Result<String, String> {
    nested(parser, 0)
}

fn nested(parser: &mut Parser<'_>, depth: u32) -> Result<String, String> {
    if depth > DEPTH_LIMIT {
        return Err(format!("classes are taken away from each other deeper than {DEPTH_LIMIT}"));
    }
    let mut class = String::from("[");
    if parser.rest.next_if_eq(&'^').is_some() {
        class.push('^');
    }
    let mut empty = true;
    let mut taken_away = None;
    loop {
        match parser.rest.next().ok_or("a `]` is missing")? {
            ']' if empty => return Err("`[]` takes no character".to_owned()),
            ']' => break,
            '[' => return Err("a `[` inside `[…]` is written `\\[`".to_owned()),
            '-' if parser.rest.next_if_eq(&'[').is_some() => {
                if empty {
                    return Err("there is nothing to take a class away from".to_owned());
                }
                taken_away = Some(nested(parser, depth + 1)?);
                if parser.rest.next_if_eq(&']').is_none() {
                    return Err("what is taken away from `[…]` stands at its end".to_owned());
                }
                break;
            }
            '\\' => match escape(parser)? {
                Escape::Letter(letter) => range(letter, parser, &mut class)?,
                Escape::Class(inner) => class.push_str(&inner),
            },
            // Behind a range it is a character like others (XML Schema 1.1 part 2, appendix G.4.2.2).
            '-' => write_letter('-', &mut class),
            letter => range(letter, parser, &mut class)?,
        }
        empty = false;
    }
    class.push(']');
    Ok(match taken_away {
        None => class,
        Some(other) => format!("[{class}--{other}]"),
    })
}

/// A character in a class, or a range that begins with it.
fn range(first: char, parser: &mut Parser<'_>, class: &mut String) -> Result<(), String> {
    write_letter(first, class);
    let mut ahead = parser.rest.clone();
    if ahead.next() != Some('-') || matches!(ahead.peek(), Some('[' | ']') | None) {
        return Ok(());
    }
    if ahead.next() == Some('-') && ahead.next() == Some('[') {
        return Ok(());
    }
    parser.rest.next();
    let last = match parser.rest.next() {
        Some('\\') => match escape(parser)? {
            Escape::Letter(letter) => letter,
            Escape::Class(_) => return Err("a range ends in one character".to_owned()),
        },
        Some('-') => return Err("a `-` inside `[…]` stands first or last, or is written `\\-`".to_owned()),
        Some(letter) => letter,
        None => return Err("a `]` is missing".to_owned()),
    };
    if last < first {
        return Err(format!("the range {first}-{last} runs backwards"));
    }
    class.push('-');
    write_letter(last, class);
    Ok(())
}

/// What stands behind a backslash that has been read; the same inside and outside of classes.
pub(super) fn escape(parser: &mut Parser<'_>) -> Result<Escape, String> {
    let class = |class: &str| Ok(Escape::Class(class.to_owned()));
    match parser.rest.next() {
        Some('n') => Ok(Escape::Letter('\n')),
        Some('r') => Ok(Escape::Letter('\r')),
        Some('t') => Ok(Escape::Letter('\t')),
        Some('s') => class(r"[ \t\n\r]"),
        Some('S') => class(r"[^ \t\n\r]"),
        Some('d') => class(r"\p{Nd}"),
        Some('D') => class(r"\P{Nd}"),
        Some('w') => class(r"[^\p{P}\p{Z}\p{C}]"),
        Some('W') => class(r"[\p{P}\p{Z}\p{C}]"),
        Some('i') => class(&format!("[{NAME_START}]")),
        Some('I') => class(&format!("[^{NAME_START}]")),
        Some('c') => class(&format!("[{NAME_START}{NAME_MORE}]")),
        Some('C') => class(&format!("[^{NAME_START}{NAME_MORE}]")),
        Some(letter @ ('p' | 'P')) => property(letter, parser).map(Escape::Class),
        Some(letter @ ('\\' | '|' | '.' | '?' | '*' | '+' | '(' | ')' | '{' | '}' | '-' | '[' | ']' | '^' | '$')) => {
            Ok(Escape::Letter(letter))
        }
        Some(other) => Err(format!("`\\{other}` means nothing")),
        None => Err("the `\\` at its end has nothing behind it".to_owned()),
    }
}

/// `\p{…}` or `\P{…}`: a category or a block.
fn property(letter: char, parser: &mut Parser<'_>) -> Result<String, String> {
    if parser.rest.next() != Some('{') {
        return Err(format!("behind `\\{letter}` stands a category: `\\{letter}{{Lu}}`"));
    }
    let mut name = String::new();
    loop {
        match parser.rest.next() {
            Some('}') => break,
            Some(' ' | '\t' | '\r' | '\n') if parser.flags.spaced => {}
            Some(letter) => name.push(letter),
            None => return Err("a `}` is missing".to_owned()),
        }
    }
    let negated = letter == 'P';
    if let Some(block) = name.strip_prefix("Is") {
        return match blocks::find(block) {
            Some((first, last)) => Ok(format!("[{}\\x{{{first:x}}}-\\x{{{last:x}}}]", if negated { "^" } else { "" })),
            None if blocks::is_of_surrogates(block) => Ok(if negated { r"[\s\S]" } else { r"[^\s\S]" }.to_owned()),
            None => Err(format!("{name:?} is no block")),
        };
    }
    let valid = (1..=2).contains(&name.len()) && name.chars().all(|letter| letter.is_ascii_alphabetic());
    if valid { Ok(format!("\\{letter}{{{name}}}")) } else { Err(format!("{name:?} is no category")) }
}
