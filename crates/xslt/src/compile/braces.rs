//! Values with expressions between braces (XSLT 1.0 §7.6.2, 3.0 §5.6).

use myelin_xpath::SyntaxError;

/// A part of such a value.
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'t> {
    Text(String),
    /// An expression, and where it begins.
    Expression(&'t str, usize),
}

/// Takes a value apart; texts and expressions alternate, and none of the texts is empty.
///
/// In later versions than 1.0, which `strict` stands for, braces with nothing between them give nothing.
/// Errors: a brace without its partner, and at which byte.
pub(super) fn split(value: &str, strict: bool) -> Result<Vec<Piece<'_>>, SyntaxError> {
    let refuse = |offset, code, message: &str| Err(SyntaxError { offset, code, message: message.to_owned() });
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut at = 0;
    while let Some(found) = value[at..].find(['{', '}']) {
        text.push_str(&value[at..at + found]);
        at += found;
        let brace = value.as_bytes()[at];
        if value.as_bytes().get(at + 1) == Some(&brace) {
            text.push(char::from(brace));
            at += 2;
            continue;
        }
        if brace == b'}' {
            return refuse(at, "XTSE0370", "`}` closes what nothing has opened: as itself it is written `}}`");
        }
        let Some(length) = expression_length(&value[at + 1..]) else {
            let message = "`{` begins an expression that does not end: `}` is missing; as itself `{` is written `{{`";
            return refuse(at, "XTSE0350", message);
        };
        let inside = &value[at + 1..at + 1 + length];
        if strict || !is_comment_only(inside) {
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            pieces.push(Piece::Expression(inside, at + 1));
        }
        at += length + 2;
    }
    text.push_str(&value[at..]);
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// Where the expression ends that a brace has begun: at the brace that closes it, which is not in a text or comment.
fn expression_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut braces, mut comments) = (0, 0_usize, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'(' if bytes.get(at + 1) == Some(&b':') => {
                comments += 1;
                at += 1;
            }
            b':' if comments > 0 && bytes.get(at + 1) == Some(&b')') => {
                comments -= 1;
                at += 1;
            }
            _ if comments > 0 => {}
            quote @ (b'"' | b'\'') => at += 1 + memchr::memchr(quote, &bytes[at + 1..])?,
            b'{' => braces += 1,
            b'}' if braces == 0 => return Some(at),
            b'}' => braces -= 1,
            _ => {}
        }
        at += 1;
    }
    None
}

fn is_comment_only(text: &str) -> bool {
    let mut rest = text.trim();
    while let Some(inside) = rest.strip_prefix("(:") {
        let mut open = 1;
        rest = inside;
        while open > 0 {
            let (Some(at), next) = (rest.find([':', '(']), rest) else { return false };
            rest = if next[at..].starts_with(":)") {
                open -= 1;
                &next[at + 2..]
            } else if next[at..].starts_with("(:") {
                open += 1;
                &next[at + 2..]
            } else {
                &next[at + 1..]
            };
        }
        rest = rest.trim_start();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_expressions_come_apart() {
        let text = |text: &str| Piece::Text(text.to_owned());
        let check =
            |value: &str, expected: &[Piece]| assert_eq!(split(value, false).expect(value), expected, "{value}");
        check("a{b}c{d}", &[text("a"), Piece::Expression("b", 2), text("c"), Piece::Expression("d", 6)]);
        check("{{a}}", &[text("{a}")]);
        check("a{ (: b :) }c", &[text("ac")]);
        check("a{ (: b (:c:) :) (::)}c", &[text("ac")]);
        check("", &[]);
        assert_eq!(split("{}", true).expect("for the parser"), [Piece::Expression("", 1)]);
        assert_eq!(split("a}", true).expect_err("no partner").offset, 1);
    }

    #[test]
    fn an_expression_ends_at_the_brace_that_closes_it() {
        let check = |text: &str, expected: Option<usize>| assert_eq!(expression_length(text), expected, "{text}");
        check("a}b", Some(1));
        check("'}'}", Some(3));
        check("map{'a':1}}", Some(10));
        check("a(: } (: ' :) :)}", Some(16));
        check("'a", None);
        check("a", None);
    }
}
