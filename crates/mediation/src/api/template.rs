//! URI templates of resources, read backwards: `/orders/{id}` finds `id` in `/orders/42`.
//!
//! RFC 6570 only says how templates are expanded; how they match is Synapse's, quirks included:
//! a trailing slash is forgiven, a query is unless the template has one, and `*` takes the rest.

use std::borrow::Cow;

use crate::config::{Problem, Text};
use crate::percent::{Plus, decoded};
use crate::property::{Names, Slot};

/// Templates longer than this are refused: what matching costs grows with them.
const LIMIT_BYTES: usize = 4 * 1024;

/// A template, as pieces that are matched one after the other.
#[derive(Debug)]
pub(crate) struct Template {
    text: String,
    pieces: Vec<Piece>,
    /// Without a query of its own, a template matches whatever query a request has.
    has_query: bool,
}

#[derive(Debug)]
enum Piece {
    Literal(String),
    Expression { operator: Operator, variables: Vec<Variable> },
}

/// The sign at the start of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    /// `{x}`: up to the next reserved character.
    Simple,
    /// `{+x}`: reserved characters, too, up to what follows in the template.
    Reserved,
    /// `{.x}`
    Label,
    /// `{/x}`
    Segment,
}

#[derive(Debug)]
struct Variable {
    /// Of the property `uri.var.` and its name.
    slot: Slot,
    /// Exactly how many characters it has (`{x:3}`).
    length: Option<usize>,
}

/// The variables that a request has, by the slots of their properties, decoded; each comes up once.
pub(crate) type Found<'a> = Vec<(Slot, Cow<'a, str>)>;

impl Template {
    /// Reads a template.
    ///
    /// Errors: a [`Problem`] at the expression that cannot be matched.
    /// Source: RFC 6570 §2; of its operators those that can stand in a path.
    pub(crate) fn parse(text: Text<'_>, names: &mut Names) -> Result<Template, Problem> {
        if text.value.len() > LIMIT_BYTES {
            return Err(text.problem(format!("the template is longer than {LIMIT_BYTES} bytes")));
        }
        let value = match text.value.strip_suffix('/') {
            Some("") | None => text.value,
            Some(shorter) => shorter,
        };
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(open) = value[at..].find('{').map(|open| at + open) {
            if open > at {
                pieces.push(literal(text, value, at, open)?);
            }
            let refuse = |message: &str| Problem { place: text.place(open), message: message.to_owned() };
            let close = value[open..].find('}').map(|close| open + close);
            let close = close.ok_or_else(|| refuse("the brace is not closed"))?;
            pieces.push(expression(&value[open + 1..close], names).map_err(|message| refuse(&message))?);
            at = close + 1;
        }
        if at < value.len() {
            pieces.push(literal(text, value, at, value.len())?);
        }
        let has_query = pieces.iter().any(|piece| matches!(piece, Piece::Literal(text) if text.contains('?')));
        Ok(Template { text: value.to_owned(), pieces, has_query })
    }

    /// The template as it was written, without a slash at its end.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The variables of a path with its query, where the whole of it matches.
    ///
    /// Source: compare `URITemplate` of WSO2's Synapse.
    pub(crate) fn matches<'a>(&self, path: &'a str) -> Option<Found<'a>> {
        let mut found = Found::new();
        let mut rest = path;
        for (index, piece) in self.pieces.iter().enumerate() {
            let next = self.pieces.get(index + 1);
            let before = rest;
            rest = &rest[piece.matches(rest, next.and_then(Piece::first_byte), &mut found)?..];
            match next {
                Some(_) if !rest.is_empty() => {}
                // What the star would take may be nothing, its slash included.
                Some(Piece::Literal(literal)) if matches!(literal.as_str(), "*" | "/*") => return Some(found),
                // A parameter without a value: `?a=`.
                Some(Piece::Expression { .. }) if before.contains('=') => {}
                Some(_) => return None,
                None if rest.is_empty() || rest == "/" => return Some(found),
                None if !self.has_query && rest.starts_with('?') => return Some(found),
                None => return None,
            }
        }
        None
    }
}

/// A piece of text; a brace in it was never opened.
fn literal(text: Text<'_>, value: &str, start: usize, end: usize) -> Result<Piece, Problem> {
    let literal = &value[start..end];
    match literal.find('}') {
        Some(close) => {
            let message = "the brace was not opened".to_owned();
            Err(Problem { place: text.place(start + close), message })
        }
        None => Ok(Piece::Literal(literal.to_owned())),
    }
}

/// Reads what stands between braces.
fn expression(inside: &str, names: &mut Names) -> Result<Piece, String> {
    let (operator, list) = match inside.as_bytes().first() {
        Some(b'+') => (Operator::Reserved, &inside[1..]),
        Some(b'.') => (Operator::Label, &inside[1..]),
        Some(b'/') => (Operator::Segment, &inside[1..]),
        Some(b'#') => return Err(format!("{{{inside}}}: no request has a fragment, so that this would never match")),
        Some(b';' | b'?' | b'&') => {
            return Err(format!("{{{inside}}} is not offered: write parameters as `?name={{variable}}&…`"));
        }
        _ => (Operator::Simple, inside),
    };
    let variables = list.split(',').map(|name| variable(name, names).ok_or(name));
    let variables = variables.collect::<Result<_, _>>().map_err(|name| {
        format!("{name:?} is no variable: letters, digits, `.`, `-` and `_`, and perhaps `:` with a length behind it")
    })?;
    Ok(Piece::Expression { operator, variables })
}

fn variable(text: &str, names: &mut Names) -> Option<Variable> {
    let (name, length) = match text.split_once(':') {
        Some((name, length)) => (name, Some(length.parse().ok().filter(|&length| length > 0)?)),
        None => (text, None),
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    let is_sound = !name.is_empty() && name.bytes().all(is_name);
    is_sound.then(|| Variable { slot: names.slot(&format!("uri.var.{name}")), length })
}

impl Piece {
    /// What a simple expression before it stops at.
    fn first_byte(&self) -> Option<u8> {
        match self {
            Piece::Literal(text) => text.bytes().next(),
            Piece::Expression { operator, .. } => match operator {
                Operator::Label => Some(b'.'),
                Operator::Segment => Some(b'/'),
                Operator::Simple | Operator::Reserved => None,
            },
        }
    }

    /// How much of the start of `rest` it takes; `None` where it does not match.
    fn matches<'a>(&self, rest: &'a str, stop: Option<u8>, found: &mut Found<'a>) -> Option<usize> {
        match self {
            Piece::Literal(text) => match text.strip_suffix('*') {
                Some(start) => rest.starts_with(start).then_some(rest.len()),
                None => rest.starts_with(text.as_str()).then_some(text.len()),
            },
            Piece::Expression { operator, variables } => {
                let mark = match operator {
                    Operator::Label => '.',
                    Operator::Segment => '/',
                    Operator::Simple | Operator::Reserved => return operator.take(variables, rest, ',', stop, found),
                };
                // What such an expression stands for may be missing as a whole.
                let behind = rest.strip_prefix(mark);
                let taken = behind.and_then(|behind| operator.take(variables, behind, mark, stop, found));
                Some(taken.map_or(0, |length| length + 1))
            }
        }
    }
}

impl Operator {
    fn take<'a>(
        self,
        variables: &[Variable],
        rest: &'a str,
        separator: char,
        stop: Option<u8>,
        found: &mut Found<'a>,
    ) -> Option<usize> {
        if rest.is_empty() {
            return Some(0);
        }
        let is_separator = |byte: u8| variables.len() > 1 && char::from(byte) == separator;
        let ends = |byte: u8| (self != Operator::Reserved && is_reserved(byte)) || stop == Some(byte);
        let end = rest.bytes().position(|byte| ends(byte) && !is_separator(byte)).unwrap_or(rest.len());
        // A single variable that may hold everything may hold separators, too.
        let is_list = variables.len() > 1 || self != Operator::Reserved;
        let mut values = Values { rest: Some(&rest[..end]), separator, is_list };
        for variable in variables {
            let value = decoded(values.next().unwrap_or_default(), Plus::Itself);
            let fits = variable.length.is_none_or(|length| value.encode_utf16().count() == length);
            match found.iter().find(|(slot, _)| *slot == variable.slot) {
                _ if !fits => return None,
                Some((_, same)) if *same != value => return None,
                Some(_) => {}
                None => found.push((variable.slot, value)),
            }
        }
        values.next().is_none().then_some(end)
    }
}

/// The values of a list; empty ones at its end do not count.
struct Values<'a> {
    rest: Option<&'a str>,
    separator: char,
    is_list: bool,
}

impl<'a> Iterator for Values<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest.take()?;
        match rest.split_once(self.separator).filter(|_| self.is_list) {
            Some((first, behind)) => {
                self.rest = Some(behind).filter(|behind| behind.contains(|letter| letter != self.separator));
                Some(first)
            }
            None => Some(rest),
        }
    }
}

/// The reserved characters of RFC 3986 §2.2.
fn is_reserved(byte: u8) -> bool {
    b":/?#[]@!$&'()*+,;=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::config::Element;

    fn parse(template: &str, names: &mut Names) -> Result<Template, String> {
        let template = template.replace('&', "&amp;");
        let element = Element::parse(&"a.xml".into(), format!("<resource uri-template='{template}'/>")).unwrap();
        let parsed = Template::parse(element.attribute("uri-template").unwrap(), names);
        parsed.map_err(|problem| problem.to_string())
    }

    /// The variables found, as `name=value` joined by blanks; `None` without a match.
    fn matched(template: &str, path: &str) -> Option<String> {
        let mut names = Names::default();
        let template = parse(template, &mut names).unwrap();
        let known: HashMap<Slot, &str> = names.below("uri.var.").map(|(name, slot)| (slot, name)).collect();
        let found = template.matches(path)?;
        Some(found.iter().map(|(slot, value)| format!("{}={value}", known[slot])).collect::<Vec<_>>().join(" "))
    }

    #[track_caller]
    fn check(template: &str, path: &str, expected: &str) {
        assert_eq!(matched(template, path).as_deref(), Some(expected), "{template} on {path}");
    }

    #[track_caller]
    fn check_none(template: &str, path: &str) {
        assert_eq!(matched(template, path), None, "{template} on {path}");
    }

    #[test]
    fn a_variable_goes_up_to_the_next_reserved_character() {
        check("/admin/~{user}", "/admin/~ann", "user=ann");
        check("/admin/~{user}", "/admin/~an.n", "user=an.n");
        check_none("/admin/~{user}", "/admi/~ann");
        check_none("/admin/~{user}", "/admin/ann");
        check_none("/admin/~{user}", "/admin/~ann/foo");
        check("/d/foo-{user}-bar", "/d/foo-ann-bar", "user=ann");
        check("/d/foo-{user}-bar", "/d/foo--bar", "user=");
        check_none("/d/foo-{user}-bar", "/d/foo-bar");
        check("/alert/{id}.json", "/alert/foo.json", "id=foo");
        check("/a/{one},{two},{three}*", "/a/1,2,3/test", "one=1 two=2 three=3");
    }

    #[test]
    fn a_length_a_list_and_a_name_that_comes_up_twice_restrict_what_matches() {
        check("/d/{char:1}/{word}", "/d/c/cat", "char=c word=cat");
        check_none("/d/{char:1}/{word}", "/d/co/cat");
        check("/d/{char}/{word,count}", "/d/c/cat,5", "char=c word=cat count=5");
        check("/d/{char}/{word,count}", "/d/c/cat", "char=c word=cat count=");
        check("/d/{char}/{word,count}", "/d/c/,5", "char=c word= count=5");
        check("/d/{char,word}/{count}", "/d/c/5", "char=c word= count=5");
        check_none("/d/{char,word}/{count}", "/d/c,ca,cat/5");
        check("/d/{user}/test?a={user}", "/d/ann/test?a=ann", "user=ann");
        check_none("/d/{user}/test?a={user}", "/d/ann/test?a=bob");
    }

    #[test]
    fn values_are_decoded_and_a_plus_stays_one() {
        check("/d/{word}", "/d/hello%20world", "word=hello world");
        check("/d/{word}", "/d/%C3%A9", "word=é");
        check("/d/{word}", "/d/a%2Fb", "word=a/b");
        check("/d/{+word}", "/d/hello+world", "word=hello+world");
        check("/d/{+word}", "/d/hello%2Bworld", "word=hello+world");
        check("/d/{+word}", "/d/%FF", "word=\u{FFFD}");
        check("/d/{word}", "/d/100%", "word=100%");
    }

    #[test]
    fn a_reserved_variable_takes_what_is_left() {
        check("/admin/~{+user}", "/admin/~foo!bar", "user=foo!bar");
        check("/files/{+path}", "/files/a/b?c=d", "path=a/b?c=d");
        check("/words?{+query}", "/words?a=5", "query=a=5");
        check("/{symbol}/feed.rss{+rest}", "/IBM/feed.rss?max=30", "symbol=IBM rest=?max=30");
        check_none("/{symbol}/feed.rss{+rest}", "/IBM?max=30");
    }

    #[test]
    fn labels_and_segments_start_with_their_sign() {
        check("/admin{.action}", "/admin.do", "action=do");
        check_none("/admin{.action}", "/admin.do.bad");
        check("/admin{.action,sub}", "/admin.do.view", "action=do sub=view");
        check("/admin{/context}", "/admin/foo", "context=foo");
        check("/admin{/action,sub}", "/admin/do/view", "action=do sub=view");
        check_none("/admin{/context}", "/admin.do");
    }

    #[test]
    fn a_star_takes_the_rest_with_the_query() {
        check("/", "/", "");
        check("/*", "/", "");
        check("/*", "/a/b?c=d", "");
        check("/a/*", "/a/", "");
        check_none("/a/*", "/a");
        check("/a*", "/a", "");
        check("/a*", "/ab/c", "");
        check("/{x}/*", "/a", "x=a");
        check("/{x}/*", "/a/?t=1", "x=a");
        check("/t{format}*", "/t.json?test", "format=.json");
        check("/s/~{t}?*", "/s/~x?y", "t=x");
        check("/s/{name,id}/*", "/s/ann,190/test?y=1", "name=ann id=190");
        check("/{name,id}/*", "/s/ann,190,11", "name=s id=");
        check_none("/{name,id}/*", "/ann,190,11/test");
    }

    #[test]
    fn a_query_is_matched_where_the_template_has_one_and_forgiven_otherwise() {
        check("/view/{symbol}", "/view/IBM?x=1", "symbol=IBM");
        check("/view/{symbol}", "/view/IBM/", "symbol=IBM");
        check_none("/view/{symbol}", "/view/IBM/?x=1");
        check("/view", "/view?x=1/", "");
        check("/view/", "/view", "");
        check_none("/", "?x=1");
        check("/?q={q}", "/?q=a", "q=a");
        check_none("/?q={q}", "/?q=a&r=b");
        check("/p?a={a}&b={b}", "/p?a=1&b=2", "a=1 b=2");
        check("/p?a={a}&b={b}", "/p?a=&b=2", "a= b=2");
        check("/p?a={a}&b={b}", "/p?a=1&b=", "a=1");
        check_none("/p?a={a}&b={b}", "/p?b=2&a=1");
        check("/p?a={+a}&b={+b}", "/p?a=x/y&b=z", "a=x/y b=z");
    }

    #[test]
    fn what_cannot_be_matched_is_a_problem_at_its_place() {
        let check = |template: &str, expected: &str| {
            let problem = parse(template, &mut Names::default()).unwrap_err();
            assert!(problem.starts_with("a.xml:1:") && problem.contains(expected), "{template}: {problem}");
        };
        check("/a/{b", "the brace is not closed");
        check("/a/b}", "1:29: the brace was not opened");
        check("/a/{}", "is no variable");
        check("/a/{b{c}", "is no variable");
        check("/a/{b,}", "is no variable");
        check("/a/{b:0}", "is no variable");
        check("/a/{?b}", "is not offered");
        check("/a/{#b}", "no request has a fragment");
        check(&"x".repeat(5000), "longer than");
    }
}
