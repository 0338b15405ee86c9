//! Errors on their way out of the machine: they gather where they came through.

use std::borrow::Cow;

use crate::error::Error;
use crate::options::Message;
use crate::place::Place;
use crate::program::Program;
use crate::scope::At;

/// How many templates and functions a trail names.
const TRAIL: usize = 12;

/// Why a transformation stops.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Cow<'static, str>,
    pub(crate) message: String,
    /// Whether it comes from a global variable, so that `xsl:try` around its use cannot go on from there.
    pub(crate) is_global: bool,
    /// Whether the machine keeps a value that belongs to it, for `$err:value`.
    pub(crate) carries_value: bool,
    pub(crate) at: Option<At>,
    pub(crate) node: Option<String>,
    trail: Vec<String>,
    left_out: usize,
}

/// What most of the machine gives.
pub(crate) type Outcome<T> = Result<T, Box<Failure>>;

impl Failure {
    pub(crate) fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Box<Failure> {
        Box::new(Failure {
            code: code.into(),
            message: message.into(),
            is_global: false,
            carries_value: false,
            at: None,
            node: None,
            trail: Vec::new(),
            left_out: 0,
        })
    }

    /// A bound was reached.
    pub(crate) fn limit(message: impl Into<String>) -> Box<Failure> {
        Failure::new("LIMIT", message)
    }

    /// Whether a bound was reached: `xsl:try` cannot go on from there.
    pub(crate) fn is_limit(&self) -> bool {
        self.code == "LIMIT"
    }

    /// Whether it comes from the template that a transformation begins with itself.
    pub(crate) fn is_outermost(&self) -> bool {
        self.trail.len() == 1 && self.left_out == 0
    }

    /// Notes the instruction, unless one inside it is known.
    pub(crate) fn at(&mut self, at: At, node: impl FnOnce() -> Option<String>) {
        if self.at.is_none() {
            self.at = Some(at);
            self.node = node();
        }
    }

    /// Notes a template or function that led there.
    pub(crate) fn through(&mut self, what: impl FnOnce() -> String) {
        if self.trail.len() < TRAIL {
            self.trail.push(what());
        } else {
            self.left_out += 1;
        }
    }

    /// The same for the world outside.
    pub(crate) fn into_error(self, program: &Program, messages: Vec<Message>) -> Error {
        let mut trail = self.trail;
        if self.left_out > 0 {
            trail.push(format!("{} more", self.left_out));
        }
        let place = self.at.map(|at| place(program, at));
        Error { code: self.code.into_owned(), message: self.message, place, trail, node: self.node, messages }
    }
}

/// A place with the name of its file.
pub(crate) fn place(program: &Program, at: At) -> Place {
    let file = program.files.get(at.file as usize).cloned().unwrap_or_default();
    Place { file, line: u64::from(at.line), column: u64::from(at.column) }
}

impl From<myelin_xpath::Error> for Box<Failure> {
    fn from(error: myelin_xpath::Error) -> Box<Failure> {
        use myelin_xpath::Error as X;
        match &error {
            X::Steps(_) | X::Bytes(_) => Failure::limit(error.to_string()),
            X::Raised { namespace, local, message, carries_value } => {
                let code = match namespace.as_str() {
                    "http://www.w3.org/2005/xqt-errors" => local.clone(),
                    namespace => format!("Q{{{namespace}}}{local}"),
                };
                let mut failure = Failure::new(code, message.clone());
                failure.carries_value = *carries_value;
                failure
            }
            other => Failure::new(other.code().unwrap_or("XTDE0000"), other.to_string()),
        }
    }
}

impl From<crate::output::OutputError> for Box<Failure> {
    fn from(error: crate::output::OutputError) -> Box<Failure> {
        Failure::new(error.code(), error.to_string())
    }
}
