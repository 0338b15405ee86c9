//! Whether a filter accepts an item.

use std::cmp::Ordering;

use myelin_java_text::decimal;

use super::ast::{Expression, Operand, Operator};
use super::evaluate::Evaluator;
use super::found::Match;
use super::terms::{self, Term};
use crate::error::Error;
use crate::value::NodeId;

impl<'a> Evaluator<'a> {
    /// Whether a filter takes `item`.
    ///
    /// A comparison that cannot be made, such as `in` of what is no list, makes the whole filter say no, even under `!`.
    pub(super) fn accepts(&mut self, expression: &Expression, item: NodeId) -> Result<bool, Error> {
        match self.holds(expression, item) {
            Err(Error::Inapplicable(_)) => Ok(false),
            answer => answer,
        }
    }

    fn holds(&mut self, expression: &Expression, item: NodeId) -> Result<bool, Error> {
        self.visit(1)?;
        match expression {
            Expression::Or(parts) => parts.iter().try_fold(false, |any, part| Ok(any || self.holds(part, item)?)),
            Expression::And(parts) => parts.iter().try_fold(true, |all, part| Ok(all && self.holds(part, item)?)),
            Expression::Not(inner) => Ok(!self.holds(inner, item)?),
            Expression::Exists(path) => self.exists(path, item),
            Expression::Compare(left, operator, right) => {
                let left = self.term(left, item)?;
                let right = self.term(right, item)?;
                self.compare(&left, *operator, &right)
            }
        }
    }

    fn term<'t>(&mut self, operand: &'t Operand, item: NodeId) -> Result<Term<'t>, Error>
    where
        'a: 't,
    {
        Ok(match operand {
            Operand::Path(path) => match self.run(path, item) {
                Ok(found) if path.is_definite() => match found.into_iter().next() {
                    Some(found) => self.term_of(found)?,
                    None => Term::Undefined,
                },
                Ok(found) => Term::List(found.into_iter().map(|found| self.term_of(found)).collect::<Result<_, _>>()?),
                Err(Error::NotFound) => Term::Undefined,
                Err(error) => return Err(error),
            },
            Operand::Text(text) => Term::Text(text.as_str().into()),
            Operand::Number(number) => Term::Number(number.as_str().into()),
            Operand::Boolean(value) => Term::Boolean(*value),
            Operand::Null => Term::Null,
            Operand::Json(value) => Term::of(value, value.root()),
            Operand::Pattern(pattern) => Term::Pattern(pattern),
            Operand::Hole(_) => Term::Undefined,
        })
    }

    fn term_of<'t>(&mut self, found: Match) -> Result<Term<'t>, Error>
    where
        'a: 't,
    {
        Ok(match found {
            Match::Node(node) => {
                self.visit_text(self.value, node)?;
                Term::of(self.value, node)
            }
            Match::Made(json) => Term::made(json),
        })
    }

    fn compare(&mut self, left: &Term<'_>, operator: Operator, right: &Term<'_>) -> Result<bool, Error> {
        let ordered = |accept: fn(Ordering) -> bool| terms::order(left, right).is_some_and(accept);
        match operator {
            Operator::Equal => self.equal(left, right),
            Operator::Unequal => Ok(!self.equal(left, right)?),
            Operator::Same => Ok(left.same_type(right) && self.equal(left, right)?),
            Operator::NotSame => Ok(!(left.same_type(right) && self.equal(left, right)?)),
            Operator::Less => Ok(ordered(Ordering::is_lt)),
            Operator::LessOrEqual => Ok(ordered(Ordering::is_le)),
            Operator::Greater => Ok(ordered(Ordering::is_gt)),
            Operator::GreaterOrEqual => Ok(ordered(Ordering::is_ge)),
            Operator::Match => match (left, right) {
                (Term::Pattern(_), Term::Pattern(_)) => Ok(false),
                (Term::Pattern(pattern), text) | (text, Term::Pattern(pattern)) => self.matches(pattern, text),
                _ => Ok(false),
            },
            Operator::In => self.within(left, right),
            Operator::NotIn => Ok(!self.within(left, right)?),
            Operator::SubsetOf => Ok(self.shared(left, right)?.is_some_and(|(shared, all)| shared == all)),
            Operator::AnyOf => Ok(self.shared(left, right)?.is_some_and(|(shared, _)| shared > 0)),
            Operator::NoneOf => Ok(self.shared(left, right)?.is_some_and(|(shared, _)| shared == 0)),
            Operator::Contains => match (left, right) {
                (Term::Text(text), Term::Text(part)) => Ok(text.contains(part.as_ref())),
                (Term::List(_) | Term::Tree(..), _) => self.within(right, left),
                _ => Ok(false),
            },
            Operator::Size => {
                let Term::Number(size) = right else { return Ok(false) };
                let Some(length) = self.length(left)? else { return Ok(false) };
                Ok(decimal::compare(&length.to_string(), size) == Some(Ordering::Equal))
            }
            Operator::Empty => match (self.length(left)?, right) {
                (Some(length), Term::Boolean(empty)) => Ok((length == 0) == *empty),
                (Some(_), _) => Err(Error::Inapplicable("`empty` wants `true` or `false`")),
                (None, _) => Ok(false),
            },
        }
    }
}
