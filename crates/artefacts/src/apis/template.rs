//! URI templates of resources, read backwards: `/orders/{id}` finds `id` in `/orders/42`.
//!
//! RFC 6570 only says how templates are expanded; how they match is Synapse's, quirks included:
//! a trailing slash is forgiven, a query is unless the template has one, and `*` takes the rest.

use std::borrow::Cow;

use myelin_config::element::Text;
use myelin_config::problem::Problem;
use myelin_flow::property::{Names, Slot};
use myelin_java_text::percent::{Plus, decoded};

/// Templates longer than this are refused: what matching costs grows with them.
const LIMIT_BYTES: usize = 4 * 1024;

/// A template, as pieces that are matched one after the other.
#[derive(Debug)]
pub struct Template {
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
pub type Found<'a> = Vec<(Slot, Cow<'a, str>)>;

impl Template {
    /// Reads a template.
    ///
    /// Errors: a [`Problem`] at the expression that cannot be matched.
    /// Source: RFC 6570 §2; of its operators those that can stand in a path.
    pub fn parse(text: Text<'_>, names: &mut Names) -> Result<Template, Problem> {
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
            let refuse = |message: &str| Problem::new(text.place(open), message);
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
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches every path that another template matches, as far as one can tell from how they are written.
    pub fn covers(&self, other: &Template) -> bool {
        if let [Piece::Literal(text)] = self.pieces.as_slice()
            && let Some(start) = text.strip_suffix('*').filter(|start| !start.contains('?'))
        {
            return matches!(other.pieces.first(), Some(Piece::Literal(first)) if first.starts_with(start));
        }
        self.pieces.len() == other.pieces.len()
            && self.pieces.iter().zip(&other.pieces).all(|(one, another)| one.is_like(another))
    }

    /// The variables of a path with its query, where the whole of it matches.
    ///
    /// Source: compare `URITemplate` of WSO2's Synapse.
    pub fn matches<'a>(&self, path: &'a str) -> Option<Found<'a>> {
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
            Err(Problem::new(text.place(start + close), message))
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
    /// Whether it matches the same, whatever its variables are called.
    fn is_like(&self, other: &Piece) -> bool {
        match (self, other) {
            (Piece::Literal(one), Piece::Literal(another)) => one == another,
            (Piece::Expression { operator, variables }, Piece::Expression { operator: another, variables: others }) => {
                let lengths = |all: &[Variable]| all.iter().map(|one| one.length).collect::<Vec<_>>();
                operator == another && lengths(variables) == lengths(others)
            }
            _ => false,
        }
    }

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
mod tests;
