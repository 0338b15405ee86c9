//! Rust source as words and punctuation: enough to find modules, imports and paths in it.

/// A piece of source; comments, literals and lifetimes are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A keyword or a name.
    Word(String),
    /// `::`
    PathSeparator,
    /// Any other character that is not white space.
    Mark(char),
}

impl Token {
    pub(super) fn is(&self, mark: char) -> bool {
        *self == Self::Mark(mark)
    }

    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// The tokens of `text` without items for tests, that is, those below `#[cfg(test)]`.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    without_tests(&all_tokens(text))
}

fn all_tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = rest.trim_start();
        } else if rest.starts_with("//") {
            rest = after(rest, "\n");
        } else if rest.starts_with("/*") {
            rest = after_block_comment(rest);
        } else if let Some(literal) = string_literal(rest) {
            rest = &rest[literal..];
        } else if first == '\'' {
            rest = after_quote(rest);
        } else if let Some(tail) = rest.strip_prefix("::") {
            tokens.push(Token::PathSeparator);
            rest = tail;
        } else if first.is_alphanumeric() || first == '_' {
            let word = rest.strip_prefix("r#").unwrap_or(rest);
            let end = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
            if !first.is_ascii_digit() {
                tokens.push(Token::Word(word[..end].to_owned()));
            }
            rest = &word[end..];
        } else {
            tokens.push(Token::Mark(first));
            rest = &rest[first.len_utf8()..];
        }
    }
    tokens
}

fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, tail)| tail)
}

/// Block comments nest.
fn after_block_comment(text: &str) -> &str {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        if text.as_bytes()[at..].starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if text.as_bytes()[at..].starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return &text[at..];
            }
        } else {
            at += 1;
        }
    }
    ""
}

/// The length of the string literal that `text` starts with.
fn string_literal(text: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""]
        .into_iter()
        .find(|prefix| text.strip_prefix(prefix).is_some_and(|tail| tail.trim_start_matches('#').starts_with('"')))?;
    let tail = &text[prefix.len()..];
    let hashes = tail.len() - tail.trim_start_matches('#').len();
    if prefix.ends_with('r') {
        let end = format!("\"{}", "#".repeat(hashes));
        let start = prefix.len() + hashes + 1;
        return Some(text[start..].find(&end).map_or(text.len(), |at| start + at + end.len()));
    }
    if hashes > 0 {
        return None;
    }
    let mut escaped = false;
    for (at, byte) in tail.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(prefix.len() + at + 1),
            _ => {}
        }
    }
    Some(text.len())
}

/// After a character literal or a lifetime.
fn after_quote(text: &str) -> &str {
    let tail = &text[1..];
    let mut characters = tail.char_indices();
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((escaped, _))) => {
            let end = tail[escaped + 1..].find('\'').map_or(tail.len(), |at| escaped + 1 + at + 1);
            &tail[end..]
        }
        (Some(_), Some((quote, '\''))) => &tail[quote + 1..],
        _ => tail.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'),
    }
}

fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let marker = all_tokens("#[cfg(test)]");
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].starts_with(&marker) {
            at = after_item(tokens, at + marker.len());
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// The index after the item, field or arm at `at`, with its other attributes.
fn after_item(tokens: &[Token], mut at: usize) -> usize {
    const ITEMS: [&str; 13] = [
        "pub",
        "fn",
        "mod",
        "use",
        "struct",
        "enum",
        "impl",
        "trait",
        "const",
        "static",
        "type",
        "async",
        "macro_rules",
    ];
    while tokens.get(at).is_some_and(|token| token.is('#')) {
        at = after_group(tokens, at + 1);
    }
    let is_item = tokens.get(at).and_then(Token::word).is_some_and(|word| ITEMS.contains(&word));
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Mark(';') => return at + 1,
            Token::Mark(',') if !is_item => return at + 1,
            Token::Mark('}') => return at,
            Token::Mark('{') => return after_group(tokens, at),
            Token::Mark('(' | '[') => at = after_group(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// The index after the bracket that closes the one at `at`.
pub(super) fn after_group(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown: Vec<String> = tokens(text)
            .into_iter()
            .map(|token| match token {
                Token::Word(word) => word,
                Token::PathSeparator => "::".to_owned(),
                Token::Mark(mark) => mark.to_string(),
            })
            .collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn literals_comments_and_lifetimes_are_left_out() {
        check("a // b\nc /* d /* e */ f */ g", "a c g");
        check(r##"f("a\"b", r#"c"d"#, b'\'', 'e', '\u{41}', br"g", h)"##, "f ( , , b , , , , h )");
        check(
            "fn f<'a>(x: &'a str, c: 'static) -> r#type::A { 0x1f }",
            "fn f < > ( x : & str , c : ) -  > type :: A { }".replace("  ", " ").as_str(),
        );
    }

    #[test]
    fn items_for_tests_are_left_out() {
        check("#[cfg(test)]\nmod tests { use a; fn b() {} }\nfn c() {}", "fn c ( ) { }");
        check("#[cfg(test)] #[path = \"x\"] mod tests; mod b;", "mod b ;");
        check("struct A { #[cfg(test)] b: C, d: E }", "struct A { d : E }");
        check("#[cfg(test)] fn a<B, C>(d: [u8; 3]) -> E { f } g", "g");
    }
}
