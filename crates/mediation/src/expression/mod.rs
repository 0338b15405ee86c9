//! Expressions: XPath 1.0 with Synapse's variables and functions, over what the transport knows.
//!
//! What touches the body (paths, `$body`, `count()` …) is refused when loading, with its column;
//! the syntax tree has room for it.

mod evaluate;
mod functions;
mod lexer;
mod parser;
mod source;
mod value;

use std::borrow::Cow;
use std::fmt;

use crate::config::{Problem, Text};
use crate::exchange::{Exchange, Scene};
use crate::number;
use crate::property::Names;

use functions::Function;
pub(crate) use source::{Base, Source};
pub(crate) use value::Value;

/// An expression, parsed.
#[derive(Debug)]
pub(crate) struct Expression {
    root: Expr,
}

/// A node of the syntax tree.
#[derive(Debug)]
enum Expr {
    Text(String),
    Number(f64),
    /// A variable or property whose name stands in the configuration.
    Source(Source),
    /// A property whose name is worked out while serving.
    Property(Base, Box<Expr>),
    /// The date, by a pattern that is worked out while serving.
    Date(Box<Expr>),
    Call(Function, Vec<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    Negate(Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// Why an expression is refused, and at which byte of its text.
#[derive(Debug)]
pub(crate) struct Error {
    offset: usize,
    message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Expression {
    /// Parses an expression and resolves the names in it.
    ///
    /// Errors: a [`Problem`] at the character where it is wrong, or needs what is not offered.
    pub(crate) fn parse(text: Text<'_>, names: &mut Names) -> Result<Expression, Problem> {
        parser::parse(text.value, names).map(|root| Expression { root }).map_err(|error| Problem {
            place: text.place(error.offset),
            message: format!("expression {:?}: {}", shortened(text.value), error.message),
        })
    }

    /// The value, by XPath's own rules.
    pub(crate) fn value<'a>(&'a self, exchange: &'a Exchange, scene: &'a Scene<'a>) -> Value<'a> {
        evaluate::evaluate(&self.root, exchange, scene)
    }

    /// The value as Synapse stores and prints it: numbers in Java's manner, `None` for what is not set.
    pub(crate) fn text<'a>(&'a self, exchange: &'a Exchange, scene: &'a Scene<'a>) -> Option<Cow<'a, str>> {
        match self.value(exchange, scene) {
            Value::Nothing => None,
            Value::Text(text) => Some(text),
            Value::Number(number) => Some(Cow::Owned(number::java(number))),
            Value::Boolean(boolean) => Some(Cow::Borrowed(if boolean { "true" } else { "false" })),
        }
    }

    /// The value as a condition.
    pub(crate) fn boolean(&self, exchange: &Exchange, scene: &Scene<'_>) -> bool {
        self.value(exchange, scene).boolean()
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
