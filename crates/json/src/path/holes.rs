//! Paths with holes: places and values that are known only when the path is about to run.
//!
//! What is filled in becomes a part of the compiled path, never of its text, so that no value can change what a path means.

use super::ast::{Expression, Open, Operand, Path, Position, Token};
use crate::error::Error;
use crate::value::{Type, Value};

impl Open {
    /// The step that it is, with its holes where it has some.
    pub(super) fn into_token(self) -> Token {
        let known = |position: Position| match position {
            Position::Index(index) => Some(index),
            Position::Hole(_) => None,
        };
        let closed = match &self {
            Open::Places(places) => places.iter().copied().map(known).collect::<Option<_>>().map(Token::Indexes),
            Open::Slice(from, to) => match (from.map(known), to.map(known)) {
                (Some(None), _) | (_, Some(None)) => None,
                (from, to) => Some(Token::Slice(from.flatten(), to.flatten())),
            },
        };
        closed.unwrap_or(Token::Open(self))
    }

    /// The step with values in its holes: numbers are indexes, texts are names.
    fn filled(&self, values: &[Value]) -> Result<Token, Error> {
        match self {
            Open::Places(places) if places.iter().all(|place| is_name(*place, values)) => {
                places.iter().map(|place| name(*place, values)).collect::<Result<_, _>>().map(Token::Names)
            }
            Open::Places(places) => {
                places.iter().map(|place| index(*place, values)).collect::<Result<_, _>>().map(Token::Indexes)
            }
            Open::Slice(from, to) => {
                let end = |end: &Option<Position>| end.map(|end| index(end, values)).transpose();
                Ok(Token::Slice(end(from)?, end(to)?))
            }
        }
    }
}

const NO_PLACE: Error = Error::Inapplicable("a place in brackets is neither a name nor a whole number");

fn is_name(position: Position, values: &[Value]) -> bool {
    matches!(position, Position::Hole(hole) if value(hole, values).is_ok_and(|value| value.kind(value.root()) == Type::String))
}

fn name(position: Position, values: &[Value]) -> Result<String, Error> {
    let Position::Hole(hole) = position else { return Err(NO_PLACE) };
    let value = value(hole, values)?;
    value.scalar(value.root()).map(|name| name.into_owned()).ok_or(NO_PLACE)
}

fn index(position: Position, values: &[Value]) -> Result<i32, Error> {
    match position {
        Position::Index(index) => Ok(index),
        Position::Hole(hole) => {
            let value = value(hole, values)?;
            let number = value.scalar(value.root()).filter(|_| value.kind(value.root()) == Type::Number);
            number.and_then(|number| number.parse().ok()).ok_or(NO_PLACE)
        }
    }
}

fn value(hole: usize, values: &[Value]) -> Result<&Value, Error> {
    values.get(hole).ok_or(Error::Inapplicable("a hole of a path has no value"))
}

impl Path {
    /// The path with the values in its holes, in their order; a text in brackets is a name, a number an index.
    ///
    /// Errors: `Inapplicable` where something in brackets is neither: whoever made the value.
    pub fn filled(&self, values: &[Value]) -> Result<Path, Error> {
        let tokens = self.tokens.iter().map(|token| match token {
            Token::Open(open) => open.filled(values),
            Token::Filter(expression) => filled(expression, values).map(Token::Filter),
            other => Ok(other.clone()),
        });
        Ok(Path { text: self.text.clone(), origin: self.origin, tokens: tokens.collect::<Result<_, _>>()? })
    }
}

// Filters are nested no deeper than the parser lets them.
fn filled(expression: &Expression, values: &[Value]) -> Result<Expression, Error> {
    let all = |parts: &[Expression]| parts.iter().map(|part| filled(part, values)).collect::<Result<Vec<_>, _>>();
    Ok(match expression {
        Expression::Or(parts) => Expression::Or(all(parts)?),
        Expression::And(parts) => Expression::And(all(parts)?),
        Expression::Not(inner) => Expression::Not(Box::new(filled(inner, values)?)),
        Expression::Exists(path) => Expression::Exists(Box::new(path.filled(values)?)),
        Expression::Compare(left, operator, right) => {
            Expression::Compare(operand(left, values)?, *operator, operand(right, values)?)
        }
    })
}

fn operand(operand: &Operand, values: &[Value]) -> Result<Operand, Error> {
    Ok(match operand {
        Operand::Path(path) => Operand::Path(Box::new(path.filled(values)?)),
        Operand::Hole(hole) => Operand::Json(Box::new(value(*hole, values)?.clone())),
        other => other.clone(),
    })
}
