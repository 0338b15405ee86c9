//! Ways into JSON: the steps behind `payload`, a variable and the like, as a path with holes.
//!
//! What an expression works out for such a way is filled in as a value, where Synapse puts it into the text of a path.

use std::sync::Arc;

use myelin_json::{Error, Path};

use crate::error::CompileError;
use crate::synapse::function::Function;
use crate::synapse::parse::Parser;
use crate::synapse::tree::{Node, Route};

/// A way that is being read: its text as a JSONPath, and what goes into its holes.
struct Written {
    path: String,
    holes: Vec<Node>,
}

impl Written {
    fn hole(&mut self, node: Node) {
        self.path.push_str(&format!("#{}", self.holes.len()));
        self.holes.push(node);
    }
}

impl Parser<'_, '_> {
    /// The steps that stand here, if any do.
    pub(super) fn route(&mut self) -> Result<Option<Route>, CompileError> {
        let start = self.at;
        let mut written = Written { path: "$".to_owned(), holes: Vec::new() };
        loop {
            match (self.peek(), self.byte(self.at + 1)) {
                (Some(b'.'), Some(b'.')) => {
                    self.at += 2;
                    written.path.push_str("..");
                    self.step(&mut written)?;
                }
                (Some(b'.'), Some(b'[')) => self.at += 1,
                (Some(b'.'), _) => {
                    self.at += 1;
                    written.path.push('.');
                    self.step(&mut written)?;
                }
                (Some(b'['), _) => self.bracket(&mut written)?,
                _ => break,
            }
        }
        if written.path.len() == 1 {
            return Ok(None);
        }
        let path = match written.holes.is_empty() {
            true => Path::compile(&written.path),
            false => Path::with_holes(&written.path),
        };
        let path = path.map_err(|error| {
            let message = match error {
                Error::Path { problem, .. } => problem,
                other => other.to_string(),
            };
            (start, format!("the path {:?}: {message}", &self.text.value[start..self.at]))
        })?;
        Ok(Some(Route { path: Arc::new(path), holes: written.holes }))
    }

    /// What stands behind one dot or two: a name, a function, `*`, or a bracket.
    fn step(&mut self, written: &mut Written) -> Result<(), CompileError> {
        if self.peek() == Some(b'*') {
            self.at += 1;
            written.path.push('*');
            return Ok(());
        }
        if self.peek() == Some(b'[') {
            return self.bracket(written);
        }
        let name = self.name();
        written.path.push_str(name);
        if name.is_empty() {
            return self.fail("expected a name, `*` or `[`");
        }
        if self.text.value[self.at..].starts_with("()") {
            self.at += 2;
            written.path.push_str("()");
        }
        Ok(())
    }

    /// `[…]`: a name, places, a slice, `*` or a filter.
    fn bracket(&mut self, written: &mut Written) -> Result<(), CompileError> {
        self.expect("[")?;
        written.path.push('[');
        if self.take("*") {
            written.path.push('*');
        } else if self.take("?") {
            self.expect("(")?;
            written.path.push_str("?(");
            self.nested(|parser| parser.filter(written))?;
            written.path.push(')');
        } else {
            self.nested(|parser| parser.places(written))?;
        }
        self.expect("]")?;
        written.path.push(']');
        Ok(())
    }

    fn places(&mut self, written: &mut Written) -> Result<(), CompileError> {
        loop {
            self.skip_blanks();
            if !matches!(self.peek(), Some(b':' | b']')) {
                match self.logic()? {
                    Node::Number(number) => written.path.push_str(&number),
                    node => written.hole(node),
                }
            }
            let between = [",", ":"].into_iter().find(|symbol| self.take(symbol));
            match between {
                Some(symbol) => written.path.push_str(symbol),
                None => return Ok(()),
            }
        }
    }

    /// What stands in the parentheses of a filter: what looks at the item is copied, what does not becomes a hole.
    fn filter(&mut self, written: &mut Written) -> Result<(), CompileError> {
        let mut open = 0_usize;
        loop {
            let start = self.at;
            match self.peek() {
                None => return self.fail("a filter is not closed"),
                Some(b')') if open == 0 => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'"' | b'\'') => {
                    self.string()?;
                }
                Some(b'@') => self.skip_item()?,
                Some(b'[' | b'{') => self.skip_json()?,
                Some(b'/') if written.path.trim_end().ends_with('~') => self.skip_pattern()?,
                Some(b'$') => {
                    let node = self.factor()?;
                    written.hole(node);
                    continue;
                }
                Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                    self.word(written)?;
                    continue;
                }
                Some(byte) => {
                    open = match byte {
                        b'(' => open + 1,
                        b')' => open - 1,
                        _ => open,
                    };
                    let length = self.text.value[self.at..].chars().next().map_or(1, char::len_utf8);
                    self.at += length;
                }
            }
            written.path.push_str(&self.text.value[start..self.at]);
        }
    }

    /// A word in a filter.
    fn word(&mut self, written: &mut Written) -> Result<(), CompileError> {
        let start = self.at;
        let word = self.name();
        let is_call = self.peek() == Some(b'(') && Function::named(word).is_some();
        let is_read = matches!(word, "payload" | "vars" | "headers" | "params" | "props" | "properties" | "configs");
        match word {
            _ if is_call || is_read || matches!(word, "xpath" | "registry") => {
                self.at = start;
                let node = self.factor()?;
                written.hole(node);
            }
            "and" => written.path.push_str("&&"),
            "or" => written.path.push_str("||"),
            "not" => written.path.push('!'),
            word => written.path.push_str(word),
        }
        Ok(())
    }

    /// Steps over `@` and the path behind it.
    fn skip_item(&mut self) -> Result<(), CompileError> {
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'.') => {
                    self.at += 1;
                    if self.peek() == Some(b'*') {
                        self.at += 1;
                    } else {
                        self.name();
                    }
                    if self.text.value[self.at..].starts_with("()") {
                        self.at += 2;
                    }
                }
                Some(b'[') => self.skip_json()?,
                _ => return Ok(()),
            }
        }
    }

    /// Steps over brackets and braces, up to the one that closes the first.
    fn skip_json(&mut self) -> Result<(), CompileError> {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                None => return self.fail("a bracket is not closed"),
                Some(b'"' | b'\'') => {
                    self.string()?;
                    continue;
                }
                Some(b'[' | b'{') => depth += 1,
                Some(b']' | b'}') => depth -= 1,
                Some(_) => {}
            }
            self.at += self.text.value[self.at..].chars().next().map_or(1, char::len_utf8);
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Steps over `/pattern/flags`.
    fn skip_pattern(&mut self) -> Result<(), CompileError> {
        // A pattern is closed as a text is.
        self.string()?;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            self.at += 1;
        }
        Ok(())
    }
}
