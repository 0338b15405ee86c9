//! A script, as it is compiled.

use std::sync::Arc;

use crate::error::Place;

/// A text of a script, and where it stands.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file that holds it.
    pub file: Arc<str>,
    /// The line of the file in which it starts, from 1.
    pub line: u32,
    /// The character of that line with which it starts, from 1.
    pub column: u32,
    /// The text.
    pub text: String,
}

/// What of a script is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// All of it; the value of its last statement is the result.
    Whole,
    /// A function of that name, which gets `mc`.
    Function(String),
}

/// A script that can run: on any thread, as often as you like.
#[derive(Debug)]
pub struct Script {
    /// Tells it apart from all others of this process.
    pub(crate) id: u64,
    pub(crate) code: Code,
    /// Whether it leaves alone what the language brings, so that it can run where others have run.
    pub(crate) is_tame: bool,
    pub(crate) sources: Vec<Source>,
    pub(crate) words: Vec<&'static str>,
}

/// What the engine is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// The text of a function of `mc`.
    Function(String),
    /// A text whose result only `eval` knows: that of a statement inside its last one, perhaps.
    Text(String),
}

impl Script {
    /// Whether it may ask for the body as JSON.
    pub fn reads_json(&self) -> bool {
        self.mentions(&["getPayloadJSON", "jsonObject", "getPayloadText"])
    }

    /// Whether it may ask for the first element of the body.
    pub fn reads_xml(&self) -> bool {
        self.mentions(&["getPayloadXML"])
    }

    /// Whether it may ask for the whole envelope.
    pub fn reads_envelope(&self) -> bool {
        self.mentions(&["getEnvelope", "getEnvelopeXML", "getMessageString", "getPayloadText"])
    }

    /// Whether it may ask where the message is addressed, or who it is.
    pub fn reads_headers(&self) -> bool {
        let methods = ["getTo", "getFrom", "getReplyTo", "getFaultTo", "getSoapAction", "getWSAAction", "getMessageID"];
        self.mentions(&methods) || self.mentions(&["getWSAMessageID", "isSOAP11"])
    }

    /// Whether it may put something into the body as it is.
    pub fn changes_part(&self) -> bool {
        self.mentions(&["setPayloadXML", "addHeader"])
    }

    /// Whether it may put another body in the place of the one that came.
    pub fn changes_whole(&self) -> bool {
        self.mentions(&["setPayloadJSON"])
    }

    fn mentions(&self, methods: &[&str]) -> bool {
        self.words.iter().any(|word| methods.contains(word))
    }

    /// Where a line and column of the code stand that the engine was given.
    pub(crate) fn place(&self, (line, column): Position) -> Option<Place> {
        let (Code::Function(code) | Code::Text(code)) = &self.code;
        let given = code.split('\n').nth(line as usize - 1).unwrap_or_default();
        let mut before = 0;
        for source in &self.sources {
            let lines = count(source.text.matches('\n').count() + 1);
            if line <= before + lines {
                let inside = line - before - 1;
                let written = source.text.split('\n').nth(inside as usize).unwrap_or_default();
                let column = as_written(given, written, column) + source.indent(inside);
                return Some(Place { file: Arc::clone(&source.file), line: source.line + inside, column });
            }
            before += lines;
        }
        None
    }
}

/// A line and a character of a text, from 1.
pub(crate) type Position = (u32, u32);

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The column that a column of a line has in the line as its author wrote it, to which something was added at one place.
fn as_written(given: &str, written: &str, column: u32) -> u32 {
    let same = given.chars().zip(written.chars()).take_while(|(one, other)| one == other).count();
    let length = written.chars().count();
    let added = given.chars().count().saturating_sub(length);
    let at = column.saturating_sub(1) as usize;
    let at = if at < same { at } else { at.saturating_sub(added).max(same) };
    count(at.min(length.saturating_sub(1))) + 1
}

impl Source {
    pub(crate) fn place(&self, offset: usize) -> Place {
        let before = &self.text[..offset];
        let line = count(before.matches('\n').count());
        let column = count(before.chars().rev().take_while(|&letter| letter != '\n').count()) + 1;
        Place { file: Arc::clone(&self.file), line: self.line + line, column: column + self.indent(line) }
    }

    /// How many characters of the file stand before a line of the text, counted from 0.
    fn indent(&self, line: u32) -> u32 {
        if line == 0 { self.column.saturating_sub(1) } else { 0 }
    }
}
