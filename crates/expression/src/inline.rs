//! Texts with Synapse expressions in them: `Order ${payload.id} of ${headers.Host}`.

use std::borrow::Cow;

use myelin_config::element::Text;
use myelin_config::problem::Problem;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

use crate::{Compiler, Expression};

/// A text in which expressions may stand.
#[derive(Debug)]
pub struct InlineText {
    pieces: Vec<InlinePart>,
}

/// A part of such a text.
#[derive(Debug)]
pub enum InlinePart {
    /// What stands in the result as it is.
    Text(String),
    /// What is worked out.
    Hole(Expression),
}

/// The longest text that one may make.
const LIMIT_BYTES: usize = crate::text::LIMIT_BYTES;

impl InlineText {
    /// Compiles a text and the expressions in it.
    ///
    /// Errors: a [`Problem`] at the character where an expression is wrong.
    pub fn compile(text: Text<'_>, compiler: &mut Compiler) -> Result<InlineText, Problem> {
        let (mut pieces, mut done) = (Vec::new(), 0);
        while let Some(start) = text.value[done..].find("${").map(|at| done + at) {
            let (expression, end) = Expression::compile_at(text, start, compiler)?;
            if start > done {
                pieces.push(InlinePart::Text(text.value[done..start].to_owned()));
            }
            pieces.push(InlinePart::Hole(expression));
            done = end;
        }
        if done < text.value.len() || pieces.is_empty() {
            pieces.push(InlinePart::Text(text.value[done..].to_owned()));
        }
        Ok(InlineText { pieces })
    }

    /// The text and the expressions in their order, for whoever writes the values its own way.
    pub fn into_pieces(self) -> Vec<InlinePart> {
        self.pieces
    }

    /// The expressions in it.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.pieces.iter().filter_map(|piece| match piece {
            InlinePart::Text(_) => None,
            InlinePart::Hole(expression) => Some(expression),
        })
    }

    /// The text with the values in their places.
    ///
    /// Errors: as [`Expression::text`]; the bus's, where it would be longer than 16 MiB.
    pub fn text<'a>(&'a self, exchange: &'a Exchange, context: &'a RequestContext<'a>) -> Outcome<Cow<'a, str>> {
        let piece = |piece: &'a InlinePart| match piece {
            InlinePart::Text(text) => Ok(Cow::Borrowed(text.as_str())),
            InlinePart::Hole(expression) => Ok(expression.text(exchange, context)?.unwrap_or_default()),
        };
        if let [only] = self.pieces.as_slice() {
            return piece(only);
        }
        let mut text = String::new();
        for part in &self.pieces {
            text.push_str(&piece(part)?);
            if text.len() > LIMIT_BYTES {
                let detail = format!("it would be longer than {LIMIT_BYTES} bytes");
                return Err(Fault::bus("A text with expressions could not be made").with_detail(detail));
            }
        }
        Ok(Cow::Owned(text))
    }
}
