//! Expressions in words: names, numbers, texts and signs.

use crate::scan::end_of_string;

/// A word of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Number(String),
    /// A text, and whether `${…}` means something in it.
    Text(String, bool),
    Sign(&'static str),
    End,
}

/// Signs, the longer ones first; with how they are meant, for the ways around `<` and `&` in XML.
const SIGNS: &[(&str, &str)] = &[
    ("&amp;&amp;", "&&"),
    ("&lt;=", "<="),
    ("&gt;=", ">="),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("\\and", "&&"),
    ("...", "..."),
    ("..<", "..<"),
    ("..!", "..<"),
    ("..*", "..*"),
    ("..", ".."),
    ("->", "->"),
    ("==", "=="),
    ("!=", "!="),
    ("<=", "<="),
    (">=", ">="),
    ("&&", "&&"),
    ("||", "||"),
    ("??", "??"),
    ("++", "++"),
    ("--", "--"),
    ("+=", "+="),
    ("-=", "-="),
    ("*=", "*="),
    ("/=", "/="),
    ("%=", "%="),
    ("**", "**"),
    ("&", "&&"),
    ("|", "||"),
    ("=", "="),
    ("!", "!"),
    ("?", "?"),
    ("<", "<"),
    (">", ">"),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
    ("%", "%"),
    (".", "."),
    (",", ","),
    (":", ":"),
    (";", ";"),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    ("{", "{"),
    ("}", "}"),
];

/// Names of comparisons, which no variable can have.
const WORDS: &[(&str, &str)] = &[("lt", "<"), ("lte", "<="), ("gt", ">"), ("gte", ">=")];

/// Whether a name may begin with this letter.
fn begins_name(letter: char) -> bool {
    letter.is_alphabetic() || matches!(letter, '_' | '$' | '@')
}

/// The word at the start of a text without white space in front, and how long it is.
///
/// Errors: a sentence.
pub(super) fn token(text: &str) -> Result<(Token, usize), String> {
    let Some(first) = text.chars().next() else { return Ok((Token::End, 0)) };
    if let Some(raw) = text.strip_prefix('r').filter(|raw| raw.starts_with(['"', '\''])) {
        let end = end_of_string(text.as_bytes(), 1).ok_or("the text is not closed")?;
        return Ok((Token::Text(raw[1..end - 1].to_owned(), false), end + 1));
    }
    if matches!(first, '"' | '\'') {
        let end = end_of_string(text.as_bytes(), 0).ok_or("the text is not closed")?;
        return Ok((Token::Text(unescaped(&text[1..end])?, true), end + 1));
    }
    if first.is_ascii_digit() {
        let whole = text.bytes().take_while(u8::is_ascii_digit).count();
        let behind =
            text[whole..].strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
        let length = if behind > 0 { whole + 1 + behind } else { whole };
        return Ok((Token::Number(text[..length].to_owned()), length));
    }
    if begins_name(first) || is_escaped(text) {
        let (name, length) = name(text);
        return Ok(match WORDS.iter().find(|(word, _)| *word == name) {
            Some((_, sign)) => (Token::Sign(sign), length),
            None => (Token::Name(name), length),
        });
    }
    let sign = SIGNS.iter().find(|(written, _)| text.starts_with(written));
    let (written, meant) = sign.ok_or_else(|| format!("{first:?} means nothing in an expression"))?;
    Ok((Token::Sign(meant), written.len()))
}

/// Whether a letter stands here that is no letter of a name unless it is escaped.
fn is_escaped(text: &str) -> bool {
    text.strip_prefix('\\').is_some_and(|rest| rest.starts_with(['-', '.', ':', '#']))
}

fn name(text: &str) -> (String, usize) {
    let (mut name, mut at) = (String::new(), 0);
    while let Some(letter) = text[at..].chars().next() {
        if is_escaped(&text[at..]) {
            name.push_str(&text[at + 1..at + 2]);
            at += 2;
        } else if begins_name(letter) || letter.is_numeric() {
            name.push(letter);
            at += letter.len_utf8();
        } else {
            break;
        }
    }
    (name, at)
}

fn unescaped(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        let escaped = letters.next().ok_or("a backslash stands at the end of a text")?;
        out.push(match escaped {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\u{c}',
            'b' => '\u{8}',
            'g' => '>',
            'l' => '<',
            'a' => '&',
            '\\' | '"' | '\'' | '{' | '=' => escaped,
            'x' => {
                let mut number = 0;
                for _ in 0..4 {
                    let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(16)) else { break };
                    number = number * 16 + digit;
                    letters.next();
                }
                char::from_u32(number).ok_or("\\x in a text is followed by the number of a letter")?
            }
            other => return Err(format!("\\{other} means nothing in a text")),
        });
    }
    Ok(out)
}
