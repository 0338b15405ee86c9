//! The words of an expression (XPath 1.0 §3.7, XPath 3.1 appendix A.2).
//!
//! Whether `*` multiplies and `and` joins is not decided here: the parser knows whether it waits for an operand
//! or for an operator, and that is all the rule of §3.7 asks.

use std::borrow::Cow;

use crate::environment::Version;
use crate::error::SyntaxError;

/// Expressions longer than this are refused.
const LIMIT_BYTES: usize = 64 * 1024;

/// One word and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind<'t>,
    pub(crate) offset: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind<'t> {
    /// Digits only.
    Integer(&'t str),
    /// Digits with a point.
    Decimal(&'t str),
    /// Digits with an exponent.
    Double(&'t str),
    Text(Cow<'t, str>),
    /// `local` or `prefix:local`
    Name(Option<&'t str>, &'t str),
    /// `Q{uri}local`
    Braced(&'t str, &'t str),
    /// `prefix:*`
    InPrefix(&'t str),
    /// `*:local`
    InAny(&'t str),
    /// `Q{uri}*`
    InBraced(&'t str),
    /// `$local` or `$prefix:local`; of `$Q{uri}local` the prefix is `Q{uri}`.
    Variable(Option<&'t str>, &'t str),
    Symbol(&'static str),
    End,
}

/// Longer ones first, so that the first that fits is the right one.
const SYMBOLS: [&str; 32] = [
    "//", "..", "::", ":=", "||", "!=", "<=", ">=", "<<", ">>", "=>", "/", ".", "(", ")", "[", "]", ",", "@", "|", "+",
    "-", "=", "<", ">", "*", "!", "?", "{", "}", ":", "#",
];

/// Splits an expression into words; the last is always [`Kind::End`].
pub(crate) fn tokens(text: &str, version: Version) -> Result<Vec<Token<'_>>, SyntaxError> {
    if text.len() > LIMIT_BYTES {
        return Err(refuse(0, format!("the expression is longer than {LIMIT_BYTES} bytes")));
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        at = behind_space(text, at)?;
        let Some(first) = text[at..].chars().next() else {
            tokens.push(Token { kind: Kind::End, offset: at });
            return Ok(tokens);
        };
        let (kind, length) = word(&text[at..], first, at, version)?;
        tokens.push(Token { kind, offset: at });
        at += length;
    }
}

fn refuse(offset: usize, message: impl Into<String>) -> SyntaxError {
    SyntaxError { offset, message: message.into(), code: "XPST0003" }
}

/// Where the next word begins, behind white space and `(: comments :)`, which may nest.
fn behind_space(text: &str, mut at: usize) -> Result<usize, SyntaxError> {
    loop {
        at += text[at..].bytes().take_while(|byte| b" \t\r\n".contains(byte)).count();
        if !text[at..].starts_with("(:") {
            return Ok(at);
        }
        let start = at;
        let mut depth = 0_usize;
        loop {
            let rest = &text.as_bytes()[at..];
            if rest.starts_with(b"(:") {
                depth += 1;
                at += 2;
            } else if rest.starts_with(b":)") {
                depth -= 1;
                at += 2;
            } else if rest.is_empty() {
                return Err(refuse(start, "the comment does not end: `:)` is missing"));
            } else {
                at += 1;
            }
            if depth == 0 {
                break;
            }
        }
    }
}

fn word(rest: &str, first: char, offset: usize, version: Version) -> Result<(Kind<'_>, usize), SyntaxError> {
    if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|next: char| next.is_ascii_digit())) {
        return number(rest, offset, version);
    }
    if first == '"' || first == '\'' {
        return literal(rest, first, offset);
    }
    if first == '$' {
        return variable(rest, offset);
    }
    if rest.starts_with("Q{") {
        let Some(end) = rest.find('}') else { return Err(refuse(offset, "`Q{` needs a closing `}`")) };
        let (uri, behind) = (rest[2..end].trim(), &rest[end + 1..]);
        let local = &behind[..name_length(behind)];
        return match local {
            "" if behind.starts_with('*') => Ok((Kind::InBraced(uri), end + 2)),
            "" => Err(refuse(offset, "a name is missing behind `Q{…}`")),
            _ => Ok((Kind::Braced(uri, local), end + 1 + local.len())),
        };
    }
    if let Some(behind) = rest.strip_prefix("*:") {
        let length = name_length(behind);
        if length > 0 {
            return Ok((Kind::InAny(&behind[..length]), 2 + length));
        }
    }
    let length = name_length(rest);
    if length > 0 {
        let (name, behind) = rest.split_at(length);
        if behind.starts_with(":*") {
            return Ok((Kind::InPrefix(name), length + 2));
        }
        let local = behind.strip_prefix(':').map_or(0, name_length);
        return Ok(match local {
            0 => (Kind::Name(None, name), length),
            _ => (Kind::Name(Some(name), &behind[1..=local]), length + 1 + local),
        });
    }
    match SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
        Some(symbol) => Ok((Kind::Symbol(symbol), symbol.len())),
        None => Err(refuse(offset, format!("{first:?} has no meaning here"))),
    }
}

fn number(rest: &str, offset: usize, version: Version) -> Result<(Kind<'_>, usize), SyntaxError> {
    let digits = |from: usize| rest[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(0);
    let point = rest[length..].starts_with('.');
    if point {
        length += 1 + digits(length + 1);
    }
    if rest[length..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[length + 1..].starts_with(['+', '-']));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
            ends(rest, length, offset, version)?;
            return Ok((Kind::Double(&rest[..length]), length));
        }
    }
    ends(rest, length, offset, version)?;
    Ok((if point { Kind::Decimal(&rest[..length]) } else { Kind::Integer(&rest[..length]) }, length))
}

/// Refuses `10div 2` as later versions do; XPath 1.0 splits it.
fn ends(rest: &str, length: usize, offset: usize, version: Version) -> Result<(), SyntaxError> {
    if version >= Version::V2 && name_length(&rest[length..]) > 0 {
        return Err(refuse(offset + length, "a space is missing between the number and the name behind it"));
    }
    Ok(())
}

/// A text between quotes; the quote itself is written twice.
fn literal(rest: &str, quote: char, offset: usize) -> Result<(Kind<'_>, usize), SyntaxError> {
    let mut end = 1;
    let mut doubled = false;
    loop {
        match rest[end..].find(quote) {
            None => return Err(refuse(offset, format!("the text does not end: {quote} is missing"))),
            Some(found) if rest[end + found + 1..].starts_with(quote) => {
                doubled = true;
                end += found + 2;
            }
            Some(found) => {
                let inside = &rest[1..end + found];
                let twice = [quote, quote].iter().collect::<String>();
                let text = match doubled {
                    true => Cow::Owned(inside.replace(&twice, quote.encode_utf8(&mut [0; 4]))),
                    false => Cow::Borrowed(inside),
                };
                return Ok((Kind::Text(text), end + found + 1));
            }
        }
    }
}

fn variable(rest: &str, offset: usize) -> Result<(Kind<'_>, usize), SyntaxError> {
    let start = behind_space(rest, 1)?;
    let name = &rest[start..];
    if name.starts_with("Q{")
        && let Some(end) = name.find('}')
    {
        let local = name_length(&name[end + 1..]);
        let behind = end + 1 + local;
        return match local {
            0 => Err(refuse(offset, "a name is missing behind `Q{…}`")),
            _ => Ok((Kind::Variable(Some(&name[..=end]), &name[end + 1..behind]), start + behind)),
        };
    }
    let first = name_length(name);
    if first == 0 {
        return Err(refuse(
            offset,
            match rest.starts_with("${") {
                true => "Synapse expressions `${…}` are not offered yet",
                false => "a variable needs a name behind `$`",
            },
        ));
    }
    // Behind a prefix the name may start with a digit: a header or a property may be called so.
    let local = name[first..].strip_prefix(':').map_or(0, run_length);
    Ok(match local {
        0 => (Kind::Variable(None, &name[..first]), start + first),
        _ => (Kind::Variable(Some(&name[..first]), &name[first + 1..first + 1 + local]), start + first + 1 + local),
    })
}

/// The length of the NCName at the start of a text; 0 where there is none.
pub(crate) fn name_length(text: &str) -> usize {
    match text.chars().next() {
        Some(first) if starts_name(first) => run_length(text),
        _ => 0,
    }
}

fn run_length(text: &str) -> usize {
    text.find(|letter: char| !continues_name(letter)).unwrap_or(text.len())
}

/// NameStartChar of XML 1.0 (fifth edition) §2.3, without the colon.
fn starts_name(letter: char) -> bool {
    match letter {
        'a'..='z' | 'A'..='Z' | '_' => true,
        '\0'..='\u{bf}' | '\u{d7}' | '\u{f7}' | '\u{300}'..='\u{36f}' | '\u{37e}' => false,
        '\u{c0}'..='\u{1fff}' | '\u{200c}' | '\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' => true,
        '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}' => true,
        _ => false,
    }
}

fn continues_name(letter: char) -> bool {
    starts_name(letter)
        || matches!(letter, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}' | '\u{2040}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind<'_>> {
        tokens(text, Version::V2).expect("words").into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn names_numbers_and_symbols_come_apart() {
        use Kind::{Decimal, Double, End, InAny, InPrefix, Integer, Name, Symbol, Text, Variable};
        let check = |text: &str, expected: &[Kind]| assert_eq!(kinds(text), expected, "{text}");
        check("a-b", &[Name(None, "a-b"), End]);
        check("a -b", &[Name(None, "a"), Symbol("-"), Name(None, "b"), End]);
        check("a::b", &[Name(None, "a"), Symbol("::"), Name(None, "b"), End]);
        check("p:b", &[Name(Some("p"), "b"), End]);
        check("p:*", &[InPrefix("p"), End]);
        check("*:b", &[InAny("b"), End]);
        check("$trp:1-X", &[Variable(Some("trp"), "1-X"), End]);
        check(".5 5. 5.5 5e1", &[Decimal(".5"), Decimal("5."), Decimal("5.5"), Double("5e1"), End]);
        check("1(: a (: b :) :)2", &[Integer("1"), Integer("2"), End]);
        check("'it''s'", &[Text("it's".into()), End]);
        check("Q{u}a", &[Kind::Braced("u", "a"), End]);
        check("$Q{u}a", &[Variable(Some("Q{u}"), "a"), End]);
        check(".. .", &[Symbol(".."), Symbol("."), End]);
    }

    #[test]
    fn what_is_no_word_is_refused_where_it_stands() {
        let check =
            |text: &str, offset: usize| assert_eq!(tokens(text, Version::V2).expect_err(text).offset, offset, "{text}");
        check("a 'b", 2);
        check("a & b", 2);
        check("(: a", 0);
        check("1a", 1);
        check("a + $", 4);
        check("a + ${b}", 4);
    }
}
