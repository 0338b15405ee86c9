//! The words of a script: what stands in it outside of texts and comments, so far as it must be known to find what
//! another engine would offer.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    /// A number, a text, a template or a regular expression.
    Literal,
    /// Anything else; one character, save for `...`, `=>`, `<<`, `++`, `--` and what ends in `=`.
    Sign,
}

/// A piece of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    /// The byte where it starts.
    pub(crate) start: usize,
    /// Whether it is the first of its line.
    pub(crate) starts_line: bool,
    /// How many brackets of any kind are open around it.
    pub(crate) depth: usize,
    /// Whether an operand may stand here, and not an operator.
    pub(crate) is_operand: bool,
}

/// Words behind which an operand stands.
const BEFORE_OPERANDS: &[&str] = &[
    "await",
    "case",
    "delete",
    "do",
    "else",
    "in",
    "instanceof",
    "new",
    "of",
    "return",
    "throw",
    "typeof",
    "void",
    "yield",
];

/// Splits a script into tokens; of one that is not JavaScript, as far as it can be followed.
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { source, at: 0, starts_line: true, depth: 0, templates: Vec::new(), tokens: Vec::new() };
    while lexer.step() {}
    lexer.tokens
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    starts_line: bool,
    depth: usize,
    /// The depths at which a brace ends a hole of a template.
    templates: Vec<usize>,
    tokens: Vec<Token<'a>>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    /// Takes the next token, or what stands between tokens; `false` at the end.
    fn step(&mut self) -> bool {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return false };
        let is_operand = self.is_operand();
        if is_line_end(first) {
            self.starts_line = true;
            self.at += first.len_utf8();
        } else if first.is_whitespace() || first == '\u{feff}' {
            self.at += first.len_utf8();
        } else if rest.starts_with("//") {
            self.at += rest.find(is_line_end).unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
            self.starts_line |= rest[..end].contains(is_line_end);
            self.at += end;
        } else if is_word_start(first) {
            let end = rest.find(|next| !is_word_start(next) && !next.is_numeric()).unwrap_or(rest.len());
            self.push(Kind::Word, end, is_operand);
        } else if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|next: char| next.is_ascii_digit()))
        {
            self.push(Kind::Literal, number(rest), is_operand);
        } else if first == '"' || first == '\'' {
            self.push(Kind::Literal, quoted(rest, first), is_operand);
        } else if first == '`' {
            self.template(1, is_operand);
        } else if first == '}' && self.templates.last() == Some(&self.depth) {
            self.templates.pop();
            self.template(1, false);
        } else if first == '/' && is_operand {
            self.push(Kind::Literal, regular_expression(rest), is_operand);
        } else {
            self.sign(first, is_operand);
        }
        true
    }

    fn sign(&mut self, first: char, is_operand: bool) {
        const LONG: &[&str] = &["...", "=>", "<<=", "<<", "++", "--", "===", "!==", "==", "!=", "<=", ">="];
        let rest = self.rest();
        let length = LONG.iter().find(|sign| rest.starts_with(**sign)).map_or(first.len_utf8(), |sign| sign.len());
        if matches!(first, ')' | ']' | '}') {
            self.depth = self.depth.saturating_sub(1);
        }
        self.push(Kind::Sign, length, is_operand);
        if matches!(first, '(' | '[' | '{') {
            self.depth += 1;
        }
    }

    /// A template from its beginning or from the end of a hole, `skipped` bytes behind this one, to its end or its
    /// next hole.
    fn template(&mut self, skipped: usize, is_operand: bool) {
        let rest = self.rest();
        let mut bytes = rest.bytes().enumerate().skip(skipped);
        let mut end = rest.len();
        let mut opens = false;
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'\\' => drop(bytes.next()),
                b'`' => {
                    end = at + 1;
                    break;
                }
                b'$' if rest[at + 1..].starts_with('{') => {
                    end = at + 2;
                    opens = true;
                    break;
                }
                _ => {}
            }
        }
        self.push(Kind::Literal, end, is_operand);
        if opens {
            self.templates.push(self.depth);
        }
    }

    fn push(&mut self, kind: Kind, length: usize, is_operand: bool) {
        let (start, text) = (self.at, &self.rest()[..length]);
        let starts_line = std::mem::replace(&mut self.starts_line, false);
        self.tokens.push(Token { kind, text, start, starts_line, depth: self.depth, is_operand });
        self.at += length;
    }

    /// Whether an operand may stand here. Behind `)` and `}` it is taken for none, which is right for expressions.
    fn is_operand(&self) -> bool {
        match self.tokens.last() {
            None => true,
            Some(Token { kind: Kind::Word, text, .. }) => BEFORE_OPERANDS.contains(text),
            Some(Token { kind: Kind::Literal, text, .. }) => text.ends_with("${"),
            Some(Token { text, .. }) => !matches!(*text, ")" | "]" | "}" | "++" | "--"),
        }
    }
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn is_word_start(character: char) -> bool {
    character.is_alphabetic() || matches!(character, '_' | '$' | '\\')
}

fn number(rest: &str) -> usize {
    let mut before = ' ';
    let mut has_point = false;
    let is_hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
    rest.find(|next: char| {
        let is_exponent_sign = matches!(next, '+' | '-') && matches!(before, 'e' | 'E') && !is_hexadecimal;
        let is_point = next == '.' && !has_point;
        has_point |= is_point;
        before = next;
        !(next.is_ascii_alphanumeric() || next == '_' || is_point || is_exponent_sign)
    })
    .unwrap_or(rest.len())
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    let end = rest.char_indices().skip(1).find(|(_, next)| {
        let was_escaped = is_escaped;
        is_escaped = *next == '\\' && !was_escaped;
        !was_escaped && (*next == quote || *next == '\n')
    });
    end.map_or(rest.len(), |(at, next)| at + next.len_utf8())
}

fn regular_expression(rest: &str) -> usize {
    let (mut is_escaped, mut in_class) = (false, false);
    let end = rest.char_indices().skip(1).find(|(_, next)| {
        if is_escaped {
            is_escaped = false;
            return false;
        }
        match next {
            '[' => in_class = true,
            ']' => in_class = false,
            '\\' => is_escaped = true,
            _ => {}
        }
        (*next == '/' && !in_class) || is_line_end(*next)
    });
    end.map_or(rest.len(), |(at, next)| at + next.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &[&str]) {
        let texts: Vec<&str> = tokens(source).iter().map(|token| token.text).collect();
        assert_eq!(texts, expected, "{source}");
    }

    #[test]
    fn texts_comments_and_regular_expressions_hide_what_stands_in_them() {
        check("a // b\n/* c */ 'd\\'e' \"f\"", &["a", "'d\\'e'", "\"f\""]);
        check("x = /[/<]\\/y/g; a / b / c", &["x", "=", "/[/<]\\/y/", "g", ";", "a", "/", "b", "/", "c"]);
        check("return /a/.test(b)", &["return", "/a/", ".", "test", "(", "b", ")"]);
        check("1..x 1.5e-3 0x1F .5 1e+2", &["1.", ".", "x", "1.5e-3", "0x1F", ".5", "1e+2"]);
    }

    #[test]
    fn templates_are_texts_around_expressions() {
        check("`a${b + `c${d}`}e` + f", &["`a${", "b", "+", "`c${", "d", "}`", "}e`", "+", "f"]);
        check("`\\`${ {x: 1}.x }`", &["`\\`${", "{", "x", ":", "1", "}", ".", "x", "}`"]);
    }

    #[test]
    fn what_is_not_javascript_is_followed_without_a_panic() {
        for source in ["'", "`", "`${", "/", "/*", "\\", "}}}", "]", "é'ü", "1.2.3..4", "/[", "\"\\", "`\\"] {
            tokens(source);
        }
    }
}
