//! User names and passwords that an endpoint logs in with, and the header lines that carry them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::loader::Loader;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_expression::{Expression, ResultType};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;

/// A value of the configuration: text, a secret, or worked out for each message.
pub(in crate::endpoints) enum Value {
    Fixed(String),
    Computed(Expression),
}

impl Value {
    /// The text of a child element.
    pub(super) fn of_child(parent: &Element, name: &str, loader: &mut Loader) -> Result<Value, Problem> {
        match parent.child(name) {
            Some(child) if !child.text().value.trim().is_empty() => Value::of(child.text(), loader),
            _ => Err(parent.problem(format!("{} needs <{name}>", parent.tag()))),
        }
    }

    pub(super) fn of(text: Text<'_>, loader: &mut Loader) -> Result<Value, Problem> {
        let value = text.value.trim();
        if value.starts_with("${") {
            return Err(text.problem("Synapse expressions `${…}` are not offered yet"));
        }
        if let Some(inside) = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            let start = text.value.len() - text.value.trim_start().len() + 1;
            let expression = Expression::compile(text.part(start..start + inside.len()), ResultType::Text, loader)?;
            if expression.looks_at_body() {
                return Err(text.problem("what is said to an endpoint cannot be taken from the body of the message"));
            }
            return Ok(Value::Computed(expression));
        }
        loader.secret(value).map(Value::Fixed).map_err(|message| text.problem(message).latent())
    }

    /// The value for one message.
    pub(super) fn text(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<String> {
        match self {
            Value::Fixed(text) => Ok(text.clone()),
            Value::Computed(expression) => Ok(expression.text(exchange, context)?.unwrap_or_default().into_owned()),
        }
    }
}

/// The credentials of a user as a header line has them (RFC 7617 §2).
pub(super) fn basic(username: &str, password: &str) -> String {
    format!("Basic {}", BASE64.encode(format!("{username}:{password}")))
}
