//! The words of an expression (XPath 1.0 §3.7).

use super::Error;

/// Expressions longer than this are refused.
const LIMIT_BYTES: usize = 64 * 1024;

/// One word and where it starts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) offset: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Number(f64),
    Literal(String),
    /// A name, without its prefix.
    Name(String),
    /// `$prefix:name`
    Variable {
        prefix: Option<String>,
        name: String,
    },
    Open,
    Close,
    Comma,
    /// `or`, `and`, `=`, `*` … where an operator can stand.
    Operator(&'static str),
    /// Anything that only a path has: `/`, `..`, `@`, `[`, `|`, `*` as a name …
    Path(&'static str),
    End,
}

/// Splits an expression into words; the last is always [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Error> {
    if text.len() > LIMIT_BYTES {
        return Err(Error { offset: 0, message: format!("longer than {LIMIT_BYTES} bytes") });
    }
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let offset = at;
        let Some(first) = text[at..].chars().next() else {
            tokens.push(Token { kind: Kind::End, offset });
            return Ok(tokens);
        };
        let (kind, length) = word(&text[at..], first, expects_operator(&tokens), offset)?;
        tokens.push(Token { kind, offset });
        at += length;
    }
}

/// Whether `*` and names such as `and` are operators here: they are behind an operand (§3.7).
fn expects_operator(tokens: &[Token]) -> bool {
    match tokens.last().map(|token| &token.kind) {
        None | Some(Kind::Open | Kind::Comma | Kind::Operator(_) | Kind::End) => false,
        Some(Kind::Path(path)) => matches!(*path, "." | ".." | "]" | "*"),
        Some(_) => true,
    }
}

fn word(rest: &str, first: char, after_operand: bool, offset: usize) -> Result<(Kind, usize), Error> {
    let refuse = |message: String| Err(Error { offset, message });
    for operator in ["!=", "<=", ">=", "=", "<", ">", "+", "-"] {
        if rest.starts_with(operator) {
            return Ok((Kind::Operator(operator), operator.len()));
        }
    }
    if first == '*' && after_operand {
        return Ok((Kind::Operator("*"), 1));
    }
    if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|next: char| next.is_ascii_digit())) {
        let whole = rest.bytes().take_while(u8::is_ascii_digit).count();
        let fraction = match rest[whole..].strip_prefix('.') {
            Some(digits) => 1 + digits.bytes().take_while(u8::is_ascii_digit).count(),
            None => 0,
        };
        let number = rest[..whole + fraction].parse().unwrap_or(f64::NAN);
        return Ok((Kind::Number(number), whole + fraction));
    }
    if first == '"' || first == '\'' {
        let Some(end) = rest[1..].find(first) else { return refuse("the text literal does not end".to_owned()) };
        return Ok((Kind::Literal(rest[1..=end].to_owned()), end + 2));
    }
    if first == '$' {
        let (prefix, name, length) = qualified(&rest[1..]);
        if name.is_empty() {
            return refuse(if rest.starts_with("${") {
                "Synapse expressions `${…}` are not offered yet".to_owned()
            } else {
                "a variable needs a name".to_owned()
            });
        }
        return Ok((Kind::Variable { prefix: prefix.map(str::to_owned), name: name.to_owned() }, length + 1));
    }
    let simple = [("(", Kind::Open), (")", Kind::Close), (",", Kind::Comma)];
    if let Some((_, kind)) = simple.into_iter().find(|(text, _)| rest.starts_with(text)) {
        return Ok((kind, 1));
    }
    for path in ["//", "/", "..", ".", "::", "@", "[", "]", "|", "*"] {
        if rest.starts_with(path) {
            return Ok((Kind::Path(path), path.len()));
        }
    }
    let (_, name, length) = qualified(rest);
    if name.is_empty() {
        return refuse(format!("{first:?} has no meaning here"));
    }
    let operator = ["or", "and", "div", "mod"].into_iter().find(|operator| after_operand && *operator == name);
    Ok((operator.map_or_else(|| Kind::Name(name.to_owned()), Kind::Operator), length))
}

/// A name with or without a prefix: prefix, local name, length of both.
fn qualified(text: &str) -> (Option<&str>, &str, usize) {
    let first = &text[..name_length(text)];
    if let Some(behind) = text[first.len()..].strip_prefix(':') {
        let local = &behind[..local_length(behind)];
        if !first.is_empty() && !local.is_empty() {
            return (Some(first), local, first.len() + 1 + local.len());
        }
    }
    (None, first, first.len())
}

fn name_length(text: &str) -> usize {
    match text.chars().next() {
        Some(first) if first.is_alphabetic() || first == '_' => local_length(text),
        _ => 0,
    }
}

/// A local name; behind a prefix it may start with a digit, as header names can.
fn local_length(text: &str) -> usize {
    text.find(|letter: char| !letter.is_alphanumeric() && !"-_.".contains(letter)).unwrap_or(text.len())
}
