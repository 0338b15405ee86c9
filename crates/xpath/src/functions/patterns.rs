//! Functions with regular expressions (Functions and Operators §5.6).

mod backtrack;
mod blocks;
mod cache;
mod classes;
mod segments;
mod syntax;

use regex::{CaptureLocations, Regex, RegexBuilder};

use super::{Call, Function, Returns};
use crate::error::Error;
use crate::value::cast::collapse;
use crate::value::{Item, Value};
use backtrack::Program;
pub(crate) use cache::PatternCache;
use segments::Matches;
pub use segments::{Segment, Segments};
use syntax::Flags;

use Returns::{Any, Boolean, Text};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("matches", 2, 3, Boolean, matches),
    Function::new("replace", 3, 4, Text, replace),
    Function::new("tokenize", 1, 3, Any, tokenize),
];

/// Counts the steps of a search that tries one way after the other.
type Pay<'p> = &'p mut dyn FnMut(u64) -> Result<(), Error>;

/// A regular expression of XPath, ready to run: in linear time, unless it has back-references.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// As it is written.
    pub source: String,
    engine: Engine,
    /// Whether the replacement, too, is meant as it is written (flag `q`).
    literal: bool,
}

#[derive(Clone, Debug)]
enum Engine {
    Linear(Regex),
    Backtracking(Box<Program>),
}

/// Where the groups of a match are.
enum Places {
    Linear(CaptureLocations),
    Backtracking(Vec<Option<usize>>),
}

impl Places {
    fn get(&self, group: usize) -> Option<(usize, usize)> {
        match self {
            Places::Linear(locations) => locations.get(group),
            Places::Backtracking(places) => (*places.get(2 * group)?).zip(*places.get(2 * group + 1)?),
        }
    }
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
    /// Errors: `FORX0001` for unknown flags, `FORX0002` for what is no regular expression.
    /// Source: Functions and Operators §5.6.
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
        let (literal, multi_line) = (has('q'), has('m') && !has('q'));
        let mut translated = String::with_capacity(source.len() + 16);
        if literal {
            translated.push_str(&regex::escape(source));
        } else {
            let flags = Flags { dot_all: has('s'), spaced: has('x'), caseless: has('i') };
            let parsed = syntax::parse(source, flags).map_err(refused)?;
            if parsed.refers_back {
                let program = Program::new(&parsed.root, parsed.groups, flags, multi_line).map_err(refused)?;
                let engine = Engine::Backtracking(Box::new(program));
                return Ok(Pattern { source: source.to_owned(), engine, literal });
            }
            syntax::write(&parsed.root, &mut translated);
        }
        let regex = RegexBuilder::new(&translated).case_insensitive(has('i')).multi_line(multi_line).build();
        let engine = Engine::Linear(regex.map_err(|error| refused(reason(&error)))?);
        Ok(Pattern { source: source.to_owned(), engine, literal })
    }

    /// Whether the empty text is a match, which functions that go through a text refuse.
    pub fn matches_empty(&self) -> bool {
        self.is_match("", &mut |_| Ok(())).unwrap_or(false)
    }

    /// The matches in a text and what lies between them, in their order.
    ///
    /// Source: `xsl:analyze-string` of XSLT 2.0 §15.
    pub fn segments<'p, 't>(&'p self, text: &'t str) -> Segments<'p, 't> {
        Segments::new(self, text)
    }

    /// How many groups count, the whole match among them.
    fn groups(&self) -> usize {
        match &self.engine {
            Engine::Linear(regex) => regex.captures_len(),
            Engine::Backtracking(program) => program.groups,
        }
    }

    fn places(&self) -> Places {
        match &self.engine {
            Engine::Linear(regex) => Places::Linear(regex.capture_locations()),
            Engine::Backtracking(_) => Places::Backtracking(Vec::new()),
        }
    }

    fn is_match(&self, text: &str, pay: Pay<'_>) -> Result<bool, Error> {
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.is_match(text)),
            Engine::Backtracking(program) => Ok(program.find(text, 0, pay)?.is_some()),
        }
    }

    /// Begin and end of the first match that begins at `start` or behind it.
    fn find(
        &self,
        text: &str,
        start: usize,
        places: &mut Places,
        pay: Pay<'_>,
    ) -> Result<Option<(usize, usize)>, Error> {
        match (&self.engine, &mut *places) {
            (Engine::Linear(regex), Places::Linear(locations)) => {
                Ok(regex.captures_read_at(locations, text, start).map(|found| (found.start(), found.end())))
            }
            (Engine::Backtracking(program), _) => {
                let Some(found) = program.find(text, start, pay)? else { return Ok(None) };
                *places = Places::Backtracking(found);
                Ok(places.get(0))
            }
            (Engine::Linear(_), Places::Backtracking(_)) => Ok(None),
        }
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
    call.pattern(1, 2)?.is_match(&text, &mut |steps| call.run.step(steps)).map(Value::from)
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
        false => pieces(&replacement, pattern.groups() - 1)?,
    };
    let mut pay = |steps| call.run.step(steps);
    let mut matches = Matches::new(&pattern, &text);
    let Some(mut found) = matches.next(&mut pay)? else {
        drop(matches);
        return call.built(text);
    };
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    loop {
        let (begin, end) = found;
        let before = result.len();
        result.push_str(&text[done..begin]);
        for piece in &pieces {
            result.push_str(match piece {
                Piece::Text(text) => text,
                Piece::Group(group) => matches.group(*group),
            });
        }
        call.run.build(result.len() - before)?;
        done = end;
        match matches.next(&mut pay)? {
            Some(next) => found = next,
            None => break,
        }
    }
    call.run.build(text.len() - done)?;
    result.push_str(&text[done..]);
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
        let (mut matches, mut done) = (Matches::new(&pattern, &text), 0);
        while let Some((begin, end)) = matches.next(&mut |steps| call.run.step(steps))? {
            push(&text[done..begin])?;
            done = end;
        }
        push(&text[done..])?;
    }
    Ok(Value::from_items(tokens))
}

#[cfg(test)]
mod tests;
