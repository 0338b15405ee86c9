//! Operators and how tightly they bind.

use super::calls::FunctionName;
use super::{DEPTH_LIMIT, Parser, refuse};
use crate::ast::{Arithmetic, Comparison, Expr, NodeComparison, Written};
use crate::environment::Version;
use crate::error::SyntaxError;
use crate::functions;
use crate::lexer::Kind;

/// An operator between two operands.
#[derive(Clone, Copy, PartialEq)]
enum Operator {
    Or,
    And,
    General(Comparison),
    Single(Comparison),
    Nodes(NodeComparison),
    Concatenate,
    Range,
    Arithmetic(Arithmetic),
    Union,
    Intersect,
    Except,
    InstanceOf,
    TreatAs,
    CastableAs,
    CastAs,
    Arrow,
    Map,
}

/// How tightly the unary signs bind in XPath 1.0: looser than `|`; later versions put them behind `=>`.
const SIGN_V1: u8 = 10;
const SIGN_V2: u8 = 18;

impl Operator {
    /// Whether each of a chain has the one before inside it, so that running the chain is a recursion.
    fn wraps(self) -> bool {
        !matches!(
            self,
            Operator::Or | Operator::And | Operator::Union | Operator::Concatenate | Operator::Arithmetic(_)
        )
    }

    /// Larger binds tighter; true: it cannot be chained without parentheses.
    fn precedence(self, version: Version) -> (u8, bool) {
        let later = version >= Version::V2;
        match self {
            Operator::Or => (1, false),
            Operator::And => (2, false),
            // XPath 1.0 compares for order before it compares for equality, and chains both (§3.4).
            Operator::General(Comparison::Equal | Comparison::NotEqual) if !later => (3, false),
            Operator::General(_) | Operator::Single(_) | Operator::Nodes(_) => (4, later),
            Operator::Concatenate => (5, false),
            Operator::Range => (6, true),
            Operator::Arithmetic(Arithmetic::Add | Arithmetic::Subtract) => (7, false),
            Operator::Arithmetic(_) => (8, false),
            Operator::Union => (11, false),
            Operator::Intersect | Operator::Except => (12, false),
            Operator::InstanceOf => (13, true),
            Operator::TreatAs => (14, true),
            Operator::CastableAs => (15, true),
            Operator::CastAs => (16, true),
            Operator::Arrow => (17, false),
            Operator::Map => (19, false),
        }
    }
}

impl Parser<'_, '_> {
    /// An operand and all operators behind it that bind at least as tightly as `minimum`.
    pub(super) fn expression(&mut self, minimum: u8) -> Result<Expr, SyntaxError> {
        let start = self.offset();
        let mut left = self.signed()?;
        let mut ceiling = u8::MAX;
        let mut wrapped = 0;
        while let Some((operator, words)) = self.operator() {
            let (precedence, alone) = operator.precedence(self.version);
            if precedence < minimum {
                break;
            }
            if precedence >= ceiling {
                return Err(self.error("operators of this kind cannot be chained: parentheses are missing"));
            }
            if alone {
                ceiling = precedence;
            }
            self.count_operator()?;
            wrapped += usize::from(operator.wraps());
            if wrapped > DEPTH_LIMIT {
                return Err(self.error(format!("more than {DEPTH_LIMIT} operators of this kind in a chain")));
            }
            let between = self.offset();
            self.at += words;
            left = self.applied(operator, precedence, left, [start, between])?;
        }
        Ok(left)
    }

    /// An operator with its left side and what comes behind it; apart, so that operands alone nest on small frames.
    ///
    /// `offsets` are those of the left side and of the operator.
    fn applied(
        &mut self,
        operator: Operator,
        precedence: u8,
        left: Expr,
        offsets: [usize; 2],
    ) -> Result<Expr, SyntaxError> {
        Ok(match operator {
            Operator::General(comparison) => {
                let (sides, written) = self.sides(left, precedence, offsets)?;
                Expr::General(comparison, sides, written)
            }
            Operator::Single(comparison) => {
                let (sides, written) = self.sides(left, precedence, offsets)?;
                Expr::Single(comparison, sides, written)
            }
            Operator::InstanceOf => Expr::InstanceOf(Box::new(left), self.sequence_type()?),
            Operator::TreatAs => Expr::Treat(Box::new(left), self.sequence_type()?),
            Operator::CastableAs => {
                let (atomic, optional) = self.single_type()?;
                Expr::Castable(Box::new(left), atomic, optional)
            }
            Operator::CastAs => {
                let offset = self.offset();
                let (atomic, optional) = self.single_type()?;
                self.cast(left, atomic, optional, offset)?
            }
            Operator::Arrow => self.arrow(left)?,
            _ => combine(operator, left, self.expression(precedence + 1)?),
        })
    }

    /// What stands behind the operator of a comparison, together with the left side; `offsets` are those of the left side
    /// and of the operator.
    fn sides(
        &mut self,
        left: Expr,
        precedence: u8,
        offsets: [usize; 2],
    ) -> Result<(Box<[Expr; 2]>, Written), SyntaxError> {
        let behind = self.offset();
        let sides = Box::new([left, self.expression(precedence + 1)?]);
        // A text that is longer than that has no part there.
        let [left, operator, right, end] =
            [offsets[0], offsets[1], behind, self.offset()].map(|offset| u32::try_from(offset).unwrap_or(u32::MAX));
        Ok((sides, Written { left, operator, right, end }))
    }

    /// An operand with the signs before it.
    fn signed(&mut self) -> Result<Expr, SyntaxError> {
        let mut minus = None;
        while let Kind::Symbol(sign @ ("-" | "+")) = *self.peek() {
            self.count_operator()?;
            minus = Some(minus.unwrap_or(false) != (sign == "-"));
            self.next();
        }
        let Some(minus) = minus else { return self.path() };
        let operand = self.expression(if self.version == Version::V1 { SIGN_V1 } else { SIGN_V2 })?;
        Ok(if minus { Expr::Negate(Box::new(operand)) } else { Expr::Plus(Box::new(operand)) })
    }

    /// The operator that comes next, and of how many words it is.
    fn operator(&self) -> Option<(Operator, usize)> {
        let one = |operator| Some((operator, 1));
        match *self.peek() {
            Kind::Symbol(symbol) => one(match symbol {
                "=" => Operator::General(Comparison::Equal),
                "!=" => Operator::General(Comparison::NotEqual),
                "<" => Operator::General(Comparison::Less),
                "<=" => Operator::General(Comparison::LessOrEqual),
                ">" => Operator::General(Comparison::Greater),
                ">=" => Operator::General(Comparison::GreaterOrEqual),
                "<<" => Operator::Nodes(NodeComparison::Before),
                ">>" => Operator::Nodes(NodeComparison::After),
                "||" => Operator::Concatenate,
                "+" => Operator::Arithmetic(Arithmetic::Add),
                "-" => Operator::Arithmetic(Arithmetic::Subtract),
                "*" => Operator::Arithmetic(Arithmetic::Multiply),
                "|" => Operator::Union,
                "=>" => Operator::Arrow,
                "!" => Operator::Map,
                _ => return None,
            }),
            Kind::Name(None, word) => one(match word {
                "or" => Operator::Or,
                "and" => Operator::And,
                "eq" => Operator::Single(Comparison::Equal),
                "ne" => Operator::Single(Comparison::NotEqual),
                "lt" => Operator::Single(Comparison::Less),
                "le" => Operator::Single(Comparison::LessOrEqual),
                "gt" => Operator::Single(Comparison::Greater),
                "ge" => Operator::Single(Comparison::GreaterOrEqual),
                "is" => Operator::Nodes(NodeComparison::Same),
                "to" => Operator::Range,
                "div" => Operator::Arithmetic(Arithmetic::Divide),
                "idiv" => Operator::Arithmetic(Arithmetic::IntegerDivide),
                "mod" => Operator::Arithmetic(Arithmetic::Modulo),
                "union" => Operator::Union,
                "intersect" => Operator::Intersect,
                "except" => Operator::Except,
                "instance" if self.sees(&["instance", "of"]) => return Some((Operator::InstanceOf, 2)),
                "treat" if self.sees(&["treat", "as"]) => return Some((Operator::TreatAs, 2)),
                "castable" if self.sees(&["castable", "as"]) => return Some((Operator::CastableAs, 2)),
                "cast" if self.sees(&["cast", "as"]) => return Some((Operator::CastAs, 2)),
                _ => return None,
            }),
            _ => None,
        }
    }

    /// `left => name(arguments)`: a call with the left side as first argument.
    fn arrow(&mut self, left: Expr) -> Result<Expr, SyntaxError> {
        let offset = self.offset();
        let function = match (self.next(), self.peek()) {
            (Kind::Name(None, local), Kind::Symbol("(")) => {
                return self.call(FunctionName::Plain(local), Some(left), offset);
            }
            (Kind::Name(Some(prefix), local), Kind::Symbol("(")) => {
                return self.call(FunctionName::Prefixed(prefix, local), Some(left), offset);
            }
            (Kind::Braced(uri, local), Kind::Symbol("(")) => {
                return self.call(FunctionName::Braced(uri, local), Some(left), offset);
            }
            (Kind::Variable(prefix, local), Kind::Symbol("(")) => self.variable(prefix, local, offset)?,
            (Kind::Symbol("("), _) => {
                let function = self.sequence()?;
                self.expect(")")?;
                function
            }
            _ => return Err(refuse(offset, "behind `=>` there is a function with its arguments")),
        };
        let arguments = self.arguments(Some(left))?;
        Ok(Expr::Apply(Box::new(function), arguments))
    }
}

fn combine(operator: Operator, left: Expr, right: Expr) -> Expr {
    match (operator, left) {
        (Operator::Or, Expr::Or(mut operands)) => {
            operands.push(right);
            Expr::Or(operands)
        }
        (Operator::Or, left) => Expr::Or(vec![left, right]),
        (Operator::And, Expr::And(mut operands)) => {
            operands.push(right);
            Expr::And(operands)
        }
        (Operator::And, left) => Expr::And(vec![left, right]),
        (Operator::Union, Expr::Union(mut operands)) => {
            operands.push(right);
            Expr::Union(operands)
        }
        (Operator::Union, left) => Expr::Union(vec![left, right]),
        (Operator::Concatenate, Expr::Call(function, mut operands)) if function.name == functions::CONCAT.name => {
            operands.push(right);
            Expr::Call(function, operands)
        }
        (Operator::Concatenate, left) => Expr::Call(functions::CONCAT, vec![left, right]),
        (Operator::Nodes(comparison), left) => Expr::Nodes(comparison, Box::new([left, right])),
        (Operator::Arithmetic(arithmetic), left) => Expr::Arithmetic(arithmetic, Box::new([left, right])),
        (Operator::Range, left) => Expr::Range(Box::new([left, right])),
        (Operator::Intersect, left) => Expr::Intersect(Box::new([left, right])),
        (Operator::Except, left) => Expr::Except(Box::new([left, right])),
        (Operator::Map, left) => Expr::Map(Box::new([left, right])),
        // These have a type or a call on the right, or say where they stand, and the caller has made them.
        (
            Operator::General(_)
            | Operator::Single(_)
            | Operator::InstanceOf
            | Operator::TreatAs
            | Operator::CastableAs
            | Operator::CastAs
            | Operator::Arrow,
            left,
        ) => left,
    }
}
