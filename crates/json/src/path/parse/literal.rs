//! Values that stand in a path: strings in either quotes, JSON, patterns.

use myelin_java_text::pattern::{Flags, compiled};
use regex::Regex;

use super::Parser;
use crate::error::Error;
use crate::reader::{Options, Reader, Step};
use crate::value::Value;

impl Parser<'_> {
    /// A string from its opening to its closing quote; a backslash takes the next character as it is, save for JSON's escapes.
    pub(super) fn quoted(&mut self, quote: u8) -> Result<String, Error> {
        let start = self.at;
        let end = self.closing(quote, "a string is not closed")?;
        let inside = &self.text[start + 1..end];
        self.at = end + 1;
        Ok(crate::text::unescape(inside.as_bytes()).into_owned())
    }

    /// Where the character that closes what starts here stands; a backslash hides one.
    fn closing(&self, close: u8, problem: &str) -> Result<usize, Error> {
        let bytes = self.text.as_bytes();
        let mut at = self.at + 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 2,
                _ if byte == close => return Ok(at),
                _ => at += 1,
            }
        }
        self.fail(problem)
    }

    /// A JSON value as it stands here.
    pub(super) fn json(&mut self) -> Result<Value, Error> {
        let rest = &self.text[self.at..];
        match first_value(rest.as_bytes()) {
            Ok((value, end)) => {
                self.at += end;
                Ok(value)
            }
            Err(error) => self.fail(format!("expected a path or a JSON value: {error}")),
        }
    }

    /// A JSON array or object in which strings may stand in single quotes.
    pub(super) fn relaxed_json(&mut self) -> Result<Value, Error> {
        let mut strict = String::new();
        let (start, mut depth) = (self.at, 0_usize);
        loop {
            match self.peek() {
                None => return self.fail("an array or object is not closed"),
                Some(quote @ (b'\'' | b'"')) => {
                    let mut written = Vec::new();
                    crate::text::write_string(&self.quoted(quote)?, &mut written);
                    strict.push_str(&crate::text::into_string(written));
                    continue;
                }
                Some(byte) => {
                    match byte {
                        b'[' | b'{' => depth += 1,
                        b']' | b'}' => depth -= 1,
                        _ => {}
                    }
                    let length = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                    strict.push_str(&self.text[self.at..self.at + length]);
                    self.at += length;
                }
            }
            if depth == 0 {
                break;
            }
        }
        Value::parse(strict.into_bytes(), &Options::default()).or_else(|error| {
            self.at = start;
            self.fail(format!("not JSON: {error}"))
        })
    }

    /// `/pattern/flags`, to be matched from end to end.
    pub(super) fn pattern(&mut self) -> Result<Regex, Error> {
        let start = self.at;
        let end = self.closing(b'/', "a pattern is not closed")?;
        let inside = &self.text[start + 1..end];
        self.at = end + 1;
        let mut flags = Flags { is_whole: true, ..Flags::default() };
        while let Some(flag) = self.peek() {
            match flag {
                b'i' => flags.caseless = true,
                b'x' => flags.comments = true,
                b'm' => flags.multi_line = true,
                b's' => flags.dot_all = true,
                // Only about line ends and about letters beyond ASCII.
                b'd' | b'u' | b'U' => {}
                _ => break,
            }
            self.at += 1;
        }
        compiled(inside, &flags).or_else(|message| {
            self.at = start;
            self.fail(format!("not a pattern that can be matched in linear time: {message}"))
        })
    }
}

/// The value that `text` starts with, and where it ends.
fn first_value(text: &[u8]) -> Result<(Value, usize), Error> {
    let mut reader = Reader::new(Options::default());
    loop {
        match reader.next(text, true)? {
            Step::Event(event) if reader.depth() == 0 => {
                let end = event.range().end;
                return Ok((Value::parse(text[..end].to_vec(), &Options::default())?, end));
            }
            Step::Event(_) | Step::More => {}
            Step::End => return Err(Error::NotFound),
        }
    }
}
