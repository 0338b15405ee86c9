//! Texts with Synapse expressions in them: `Order ${payload.id} of ${headers.Host}`.

use std::borrow::Cow;

use super::Expression;
use crate::config::{Loader, Problem, Text};
use crate::exchange::{Exchange, Scene};
use crate::fault::{Fault, Outcome};

/// A text in which expressions may stand.
#[derive(Debug)]
pub(crate) struct Inline {
    pieces: Vec<Piece>,
}

/// A part of such a text.
#[derive(Debug)]
pub(crate) enum Piece {
    /// What stands in the result as it is.
    Text(String),
    /// What is worked out.
    Hole(Expression),
}

/// The longest text that one may make.
const LIMIT_BYTES: usize = super::text::LIMIT_BYTES;

impl Inline {
    /// Compiles a text and the expressions in it.
    ///
    /// Errors: a [`Problem`] at the character where an expression is wrong.
    pub(crate) fn compile(text: Text<'_>, loader: &mut Loader) -> Result<Inline, Problem> {
        let (mut pieces, mut done) = (Vec::new(), 0);
        while let Some(start) = text.value[done..].find("${").map(|at| done + at) {
            let (expression, end) = Expression::compile_at(text, start, loader)?;
            if start > done {
                pieces.push(Piece::Text(text.value[done..start].to_owned()));
            }
            pieces.push(Piece::Hole(expression));
            done = end;
        }
        if done < text.value.len() || pieces.is_empty() {
            pieces.push(Piece::Text(text.value[done..].to_owned()));
        }
        Ok(Inline { pieces })
    }

    /// The text and the expressions in their order, for whoever writes the values its own way.
    pub(crate) fn into_pieces(self) -> Vec<Piece> {
        self.pieces
    }

    /// The expressions in it.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Hole(expression) => Some(expression),
        })
    }

    /// The text with the values in their places.
    ///
    /// Errors: as [`Expression::text`]; the bus's, where it would be longer than 16 MiB.
    pub(crate) fn text<'a>(&'a self, exchange: &'a Exchange, scene: &'a Scene<'a>) -> Outcome<Cow<'a, str>> {
        let piece = |piece: &'a Piece| match piece {
            Piece::Text(text) => Ok(Cow::Borrowed(text.as_str())),
            Piece::Hole(expression) => Ok(expression.text(exchange, scene)?.unwrap_or_default()),
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
