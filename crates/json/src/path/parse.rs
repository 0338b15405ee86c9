//! The grammar of a path.

mod filter;
mod literal;

use super::ast::{Argument, Function, Open, Origin, Path, Position, Token};
use crate::error::Error;

/// Bytes of a path.
const LIMIT_BYTES: usize = 64 << 10;
/// Steps of a path.
const LIMIT_STEPS: usize = 256;
/// Filters, parentheses and arguments within each other; what evaluates them recurses as deep.
const LIMIT_NESTING: usize = 16;

/// Compiles a whole path.
pub(super) fn compile(path: &str) -> Result<Path, Error> {
    compile_as(path, false)
}

/// The same, of a path with holes.
pub(super) fn compile_with_holes(path: &str) -> Result<Path, Error> {
    compile_as(path, true)
}

fn compile_as(path: &str, may_be_open: bool) -> Result<Path, Error> {
    let text = path.trim();
    let base = path.len() - path.trim_start().len();
    let mut parser = Parser { text, base, at: 0, nesting: 0, may_be_open };
    if text.len() > LIMIT_BYTES {
        return parser.fail(format!("a path has at most {LIMIT_BYTES} bytes"));
    }
    let compiled = parser.path(Surroundings::None)?;
    match parser.peek() {
        None => Ok(compiled),
        Some(_) => parser.fail("expected `.` or `[`, or the end"),
    }
}

/// What a path stands in, which decides where its names end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Surroundings {
    None,
    /// A filter or the arguments of a function.
    Expression,
}

struct Parser<'a> {
    text: &'a str,
    /// Bytes that were trimmed, for the offsets in errors.
    base: usize,
    at: usize,
    nesting: usize,
    /// Whether `#0` stands for a value to come.
    may_be_open: bool,
}

impl<'a> Parser<'a> {
    fn fail<T>(&self, problem: impl Into<String>) -> Result<T, Error> {
        Err(Error::Path { offset: self.base + self.at, problem: problem.into() })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Steps over `byte` if it stands here.
    fn take(&mut self, byte: u8) -> bool {
        let here = self.peek() == Some(byte);
        self.at += usize::from(here);
        here
    }

    fn expect(&mut self, byte: u8) -> Result<(), Error> {
        self.skip_blanks();
        if self.take(byte) { Ok(()) } else { self.fail(format!("expected `{}`", byte as char)) }
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// Runs `inner` one level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.nesting == LIMIT_NESTING {
            return self.fail(format!("nested deeper than {LIMIT_NESTING}"));
        }
        self.nesting += 1;
        let result = inner(self);
        self.nesting -= 1;
        result
    }

    fn path(&mut self, surroundings: Surroundings) -> Result<Path, Error> {
        let start = self.at;
        let mut tokens = Vec::new();
        let mut origin = Origin::Document;
        match self.peek() {
            Some(b'$') => self.at += 1,
            Some(b'@') => {
                self.at += 1;
                if surroundings == Surroundings::Expression {
                    origin = Origin::Item;
                }
            }
            Some(b'[') | None => {}
            // As if `$.` stood before it.
            Some(_) => tokens.push(self.name(surroundings)?),
        }
        if self.at == 0 && self.peek().is_none() {
            return self.fail("expected a path such as `$.a.b`");
        }
        loop {
            match self.peek() {
                Some(b'.') => {
                    self.at += 1;
                    if self.take(b'.') {
                        tokens.push(Token::Scan);
                    }
                    match self.peek() {
                        Some(b'[') => continue,
                        Some(b'*') => {
                            self.at += 1;
                            tokens.push(Token::Wildcard);
                        }
                        _ => tokens.push(self.name(surroundings)?),
                    }
                }
                Some(b'[') => {
                    tokens.push(self.bracket()?);
                    // Jayway takes a name that stands right behind a bracket for one with a dot before it.
                    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
                    if surroundings == Surroundings::None && self.peek().is_some_and(is_name) {
                        tokens.push(self.name(surroundings)?);
                    }
                }
                _ => break,
            }
            if tokens.len() > LIMIT_STEPS {
                return self.fail(format!("a path has at most {LIMIT_STEPS} steps"));
            }
        }
        self.check_functions(&tokens)?;
        Ok(Path { text: self.text[start..self.at].to_owned(), origin, tokens })
    }

    /// A function ends its path, and not all of them can take everything that a path which begins with `..` finds.
    fn check_functions(&self, tokens: &[Token]) -> Result<(), Error> {
        let Some(index) = tokens.iter().position(|token| matches!(token, Token::Function(_))) else { return Ok(()) };
        if index + 1 < tokens.len() {
            return self.fail("nothing may follow a function");
        }
        match &tokens[index] {
            Token::Function(function) if matches!(tokens[0], Token::Scan) && !function.gathers() => {
                self.fail("this function cannot take what `..` finds")
            }
            Token::Function(_) if index > 0 && matches!(tokens[index - 1], Token::Scan) => {
                self.fail("expected a name, `*` or `[` behind `..`")
            }
            _ => Ok(()),
        }
    }

    /// A name behind a dot, or a function.
    fn name(&mut self, surroundings: Surroundings) -> Result<Token, Error> {
        let ends = |byte: u8| {
            byte.is_ascii_whitespace()
                || b".[(".contains(&byte)
                || (surroundings == Surroundings::Expression && b")]=<>!~&|,".contains(&byte))
        };
        let rest = &self.text[self.at..];
        let length = rest.bytes().position(ends).unwrap_or(rest.len());
        if length == 0 {
            return self.fail("expected a name");
        }
        let name = &rest[..length];
        self.at += length;
        match self.peek() {
            Some(b'(') => Ok(Token::Function(self.nested(|parser| parser.function(name))?)),
            Some(byte) if byte.is_ascii_whitespace() && surroundings == Surroundings::None => {
                self.fail("a name with white space in it is written `['my name']`")
            }
            _ => Ok(Token::Names(vec![name.to_owned()])),
        }
    }

    fn function(&mut self, name: &str) -> Result<Function, Error> {
        self.expect(b'(')?;
        self.skip_blanks();
        let mut arguments = Vec::new();
        if self.peek() != Some(b')') {
            loop {
                self.skip_blanks();
                arguments.push(match self.peek() {
                    Some(b'$' | b'@') => Argument::Path(self.path(Surroundings::Expression)?),
                    _ => Argument::Json(self.json()?),
                });
                self.skip_blanks();
                if !self.take(b',') {
                    break;
                }
            }
        }
        self.expect(b')')?;
        Function::new(name, arguments).or_else(|problem| self.fail(problem))
    }

    fn bracket(&mut self) -> Result<Token, Error> {
        self.expect(b'[')?;
        self.skip_blanks();
        let token = match self.peek() {
            Some(b'\'' | b'"') => Token::Names(self.names()?),
            Some(b'*') => {
                self.at += 1;
                Token::Wildcard
            }
            Some(b'?') => {
                self.at += 1;
                self.expect(b'(')?;
                let expression = self.nested(Parser::expression)?;
                self.expect(b')')?;
                Token::Filter(expression)
            }
            Some(b'#') if self.may_be_open => self.positions()?,
            Some(b'-' | b':' | b'0'..=b'9') => self.positions()?,
            _ => return self.fail("expected a name in quotes, a number, `*` or `?(`"),
        };
        self.expect(b']')?;
        Ok(token)
    }

    fn names(&mut self) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(quote @ (b'\'' | b'"')) => names.push(self.quoted(quote)?),
                _ => return self.fail("expected a name in quotes"),
            }
            self.skip_blanks();
            if !self.take(b',') {
                return Ok(names);
            }
            if names.len() == LIMIT_STEPS {
                return self.fail(format!("at most {LIMIT_STEPS} names may stand together"));
            }
        }
    }

    /// Indexes or a slice.
    fn positions(&mut self) -> Result<Token, Error> {
        let first = self.position()?;
        self.skip_blanks();
        if self.take(b':') {
            let end = self.position()?;
            if first.is_none() && end.is_none() {
                return self.fail("expected a number before or behind `:`");
            }
            self.skip_blanks();
            if self.take(b':') {
                // Jayway reads a step and takes no notice of it.
                self.position()?;
            }
            return Ok(Open::Slice(first, end).into_token());
        }
        let mut places: Vec<Position> = first.into_iter().collect();
        while self.take(b',') {
            match self.position()? {
                Some(place) => places.push(place),
                None => return self.fail("expected an index"),
            }
            self.skip_blanks();
        }
        Ok(Open::Places(places).into_token())
    }

    fn position(&mut self) -> Result<Option<Position>, Error> {
        self.skip_blanks();
        if let Some(hole) = self.hole()? {
            return Ok(Some(Position::Hole(hole)));
        }
        let rest = &self.text[self.at..];
        let length = rest.bytes().position(|byte| byte != b'-' && !byte.is_ascii_digit()).unwrap_or(rest.len());
        if length == 0 {
            return Ok(None);
        }
        match rest[..length].parse() {
            Ok(number) => {
                self.at += length;
                Ok(Some(Position::Index(number)))
            }
            Err(_) => self.fail("expected a number of 32 bits"),
        }
    }

    /// The number of the hole that stands here.
    fn hole(&mut self) -> Result<Option<usize>, Error> {
        if !self.may_be_open || self.peek() != Some(b'#') {
            return Ok(None);
        }
        let digits: String = self.text[self.at + 1..].chars().take_while(char::is_ascii_digit).collect();
        let Ok(hole) = digits.parse() else { return self.fail("expected the number of a hole") };
        self.at += 1 + digits.len();
        Ok(Some(hole))
    }
}
