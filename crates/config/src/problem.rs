//! What is wrong with a configuration, and where.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::excerpt::Excerpt;

/// A place in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file's path, as it was given.
    pub file: Arc<str>,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

impl Place {
    /// Where something is told of a file as a whole.
    pub fn start_of(file: &Arc<str>) -> Place {
        Place { file: Arc::clone(file), line: 1, column: 1 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Something in a configuration that keeps an artefact from running, or that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub place: Place,
    /// What is wrong and what would be right, without the place.
    pub message: String,
    /// Whether it shows only when a message reaches the step at its place: then the artefact runs, and that step fails.
    pub is_latent: bool,
    /// The name that was probably meant, where something is misspelt; the message says it, too.
    pub suggestion: Option<String>,
    /// The line around the place, without secrets; loading adds it.
    pub excerpt: Option<Excerpt>,
}

impl Problem {
    /// One that keeps its artefact from running, or a warning.
    pub fn new(place: Place, message: impl Into<String>) -> Problem {
        Problem { place, message: message.into(), is_latent: false, suggestion: None, excerpt: None }
    }

    /// The same at a range of bytes in the text of a file that is no XML, with the line around it.
    pub fn in_text(file: &Arc<str>, text: &str, range: Range<usize>, message: impl Into<String>) -> Problem {
        let before = text.get(..range.start).unwrap_or(text);
        let line = before.matches('\n').count() as u32 + 1;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) as u32 + 1;
        let place = Place { file: Arc::clone(file), line, column };
        Problem { excerpt: Excerpt::of(text, range), ..Problem::new(place, message) }
    }

    /// The same as one that shows only when a message reaches the step at its place: a reference to what is not there.
    ///
    /// Source: Synapse looks references up for each message.
    pub fn latent(self) -> Problem {
        Problem { is_latent: true, ..self }
    }

    /// The same of something misspelt: the message ends in the name that was meant, where one is close.
    pub fn suggesting(self, meant: Option<&str>) -> Problem {
        match meant {
            Some(meant) if self.suggestion.is_none() => {
                Problem { message: format!("{}; did you mean {meant}?", self.message), ..self }.meaning(meant)
            }
            _ => self,
        }
    }

    /// The same of something misspelt, where the message says already what was meant.
    pub fn meaning(self, meant: &str) -> Problem {
        Problem { suggestion: Some(meant.to_owned()), ..self }
    }

    /// The path of the file it is in.
    pub fn file(&self) -> &str {
        &self.place.file
    }

    /// The line, from 1.
    pub fn line(&self) -> u32 {
        self.place.line
    }

    /// The column in characters, from 1.
    pub fn column(&self) -> u32 {
        self.place.column
    }

    /// What is wrong, in one sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The name that was probably meant, where something is misspelt.
    pub fn suggestion(&self) -> Option<&str> {
        self.suggestion.as_deref()
    }

    /// The line around the place, without secrets.
    pub fn excerpt(&self) -> Option<&Excerpt> {
        self.excerpt.as_ref()
    }

    /// For programs: `{"file", "line", "column", "message", "suggestion", "excerpt": {"text", "column", "length"}}`; the
    /// last two are null where there is none.
    pub fn to_json(&self) -> Value {
        let excerpt =
            self.excerpt.as_ref().map(|it| json!({ "text": it.text, "column": it.column, "length": it.length }));
        json!({
            "file": self.file(),
            "line": self.line(),
            "column": self.column(),
            "message": self.message(),
            "suggestion": self.suggestion,
            "excerpt": excerpt,
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.place.file, self.place.line, self.place.column, self.message)
    }
}
