//! Functions with regular expressions (Functions and Operators §5.6).

mod segments;
mod syntax;

use regex::{Regex, RegexBuilder};

use super::{Call, Function, Returns};
use crate::error::Error;
use crate::value::cast::collapse;
use crate::value::{Item, Value};
pub use segments::{Segment, Segments};

use Returns::{Any, Boolean, Text};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("matches", 2, 3, Boolean, matches),
    Function::new("replace", 3, 4, Text, replace),
    Function::new("tokenize", 1, 3, Any, tokenize),
];

/// A regular expression of XPath, ready to run in linear time.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// As it is written.
    pub source: String,
    regex: Regex,
    /// Whether the replacement, too, is meant as it is written (flag `q`).
    literal: bool,
}

/// Where the functions take a pattern and its flags: the arguments' indices.
pub(crate) fn pattern_arguments(function: &Function) -> Option<(usize, usize)> {
    match function.name {
        "matches" | "tokenize" => Some((1, 2)),
        "replace" => Some((1, 3)),
        _ => None,
    }
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// Errors: `FORX0001` for unknown flags, `FORX0002` for what is no regular expression, or one that needs
    /// back-references, which linear time does not allow.
    pub fn new(source: &str, flags: &str) -> Result<Pattern, Error> {
        let unknown = flags.chars().find(|flag| !"smixq".contains(*flag));
        if let Some(flag) = unknown {
            return Err(Error::value(
                "FORX0001",
                format!("{flag:?} is no flag of a regular expression: s, m, i, x and q are"),
            ));
        }
        let has = |flag: char| flags.contains(flag);
        let refused = |message: String| Error::value("FORX0002", format!("the pattern {source:?}: {message}"));
        let translated = match has('q') {
            true => regex::escape(source),
            false => syntax::translate(source, has('s'), has('x')).map_err(refused)?,
        };
        let regex = RegexBuilder::new(&translated)
            .case_insensitive(has('i'))
            .multi_line(has('m') && !has('q'))
            .build()
            .map_err(|error| refused(reason(&error)))?;
        Ok(Pattern { source: source.to_owned(), regex, literal: has('q') })
    }

    /// Whether the empty text is a match, which functions that go through a text refuse.
    pub fn matches_empty(&self) -> bool {
        self.regex.is_match("")
    }

    /// The matches in a text and what lies between them, in their order.
    ///
    /// Source: `xsl:analyze-string` of XSLT 2.0 §15.
    pub fn segments<'p, 't>(&'p self, text: &'t str) -> Segments<'p, 't> {
        Segments { pattern: self, text, done: 0, search: Some(0), found: None }
    }

    /// Later, `replace` and `tokenize` would not know where to stop (§5.6.4).
    fn refuse_empty(&self) -> Result<(), Error> {
        match self.matches_empty() {
            true => Err(Error::value("FORX0003", format!("the pattern {:?} matches the empty text", self.source))),
            false => Ok(()),
        }
    }
}

/// The last line of an error of the `regex` crate; the ones before draw the translated pattern, which nobody wrote.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or("it cannot be compiled");
    last.trim_start_matches("error: ").to_owned()
}

fn matches<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let text = call.text(0)?;
    Ok(Value::from(call.pattern(1, 2)?.regex.is_match(&text)))
}

/// A piece of a replacement.
enum Piece {
    Text(String),
    Group(usize),
}

/// Reads `$1`, `\$` and `\\`; of `$12` as many digits count as there are groups for.
fn pieces(replacement: &str, groups: usize) -> Result<Vec<Piece>, Error> {
    let refused = || {
        let message = format!("the replacement {replacement:?}: `$` stands before a digit, `\\` before `$` or `\\`");
        Error::value("FORX0004", message)
    };
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut letters = replacement.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.push(letters.next().filter(|next| matches!(next, '$' | '\\')).ok_or_else(refused)?),
            '$' => {
                let digit = |letters: &mut std::iter::Peekable<std::str::Chars<'_>>| {
                    letters.peek().and_then(|it| it.to_digit(10))
                };
                let mut group = digit(&mut letters).ok_or_else(refused)? as usize;
                letters.next();
                while let Some(next) =
                    digit(&mut letters).map(|next| group * 10 + next as usize).filter(|next| *next <= groups)
                {
                    group = next;
                    letters.next();
                }
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Group(group));
            }
            other => text.push(other),
        }
    }
    pieces.push(Piece::Text(text));
    Ok(pieces)
}

fn replace<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let text = call.text(0)?;
    let pattern = call.pattern(1, 3)?;
    let replacement = call.required_text(2)?;
    pattern.refuse_empty()?;
    let pieces = match pattern.literal {
        true => vec![Piece::Text(replacement.into_owned())],
        false => pieces(&replacement, pattern.regex.captures_len() - 1)?,
    };
    if !pattern.regex.is_match(&text) {
        return call.built(text);
    }
    let mut result = String::with_capacity(text.len());
    let mut end = 0;
    for captures in pattern.regex.captures_iter(&text) {
        let Some(whole) = captures.get(0) else { continue };
        let before = result.len();
        result.push_str(&text[end..whole.start()]);
        for piece in &pieces {
            result.push_str(match piece {
                Piece::Text(text) => text,
                Piece::Group(group) => captures.get(*group).map_or("", |group| group.as_str()),
            });
        }
        call.run.build(result.len() - before)?;
        end = whole.end();
    }
    call.run.build(text.len() - end)?;
    result.push_str(&text[end..]);
    Ok(Value::from(result))
}

fn tokenize<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let text = call.text(0)?;
    let mut tokens = Vec::new();
    let mut push = |token: &str| {
        call.run.build(token.len() + size_of::<Item<'_>>())?;
        tokens.push(Item::Atomic(token.to_owned().into()));
        Ok(())
    };
    if call.count() == 1 {
        // The words between white space, which never are empty (§5.6.5).
        collapse(&text).split(' ').filter(|word| !word.is_empty()).try_for_each(push)?;
        return Ok(Value::from_items(tokens));
    }
    let pattern = call.pattern(1, 2)?;
    pattern.refuse_empty()?;
    if !text.is_empty() {
        pattern.regex.split(&text).try_for_each(&mut push)?;
    }
    Ok(Value::from_items(tokens))
}
