//! Operands that are no steps: literals, variables, calls, parentheses (XPath 3.1 §3.1).
//!
//! Each way through here has a function of its own, so that none pays on the stack for the others.

use super::calls::FunctionName;
use super::{Parser, refuse};
use crate::ast::Expr;
use crate::environment::Version;
use crate::error::SyntaxError;
use crate::lexer::Kind;
use crate::types::AtomicType;
use crate::value::Decimal;

impl Parser<'_, '_> {
    /// An operand with what stands behind it.
    pub(super) fn primary(&mut self) -> Result<Expr, SyntaxError> {
        let operand = match self.peek() {
            Kind::Symbol("(") => self.parenthesized()?,
            Kind::Name(..) | Kind::Braced(..) => self.named()?,
            _ => self.plain()?,
        };
        self.postfix(operand)
    }

    pub(super) fn parenthesized(&mut self) -> Result<Expr, SyntaxError> {
        self.next();
        if self.take(")") {
            return Ok(Expr::Sequence(Vec::new()));
        }
        let inside = self.sequence()?;
        self.expect(")")?;
        Ok(inside)
    }

    /// What begins with a name: a call, a function, a map, an array.
    fn named(&mut self) -> Result<Expr, SyntaxError> {
        match (self.peek(), self.ahead(1)) {
            (Kind::Name(None, "map"), Kind::Symbol("{")) => return self.map(),
            (Kind::Name(None, "array"), Kind::Symbol("{")) => return self.array(),
            (Kind::Name(None, "function"), Kind::Symbol("(")) => return self.inline_function(),
            _ => {}
        }
        let offset = self.offset();
        let name = match self.next() {
            Kind::Name(None, local) => FunctionName::Plain(local),
            Kind::Name(Some(prefix), local) => FunctionName::Prefixed(prefix, local),
            Kind::Braced(uri, local) => FunctionName::Braced(uri, local),
            _ => return Err(refuse(offset, "a name is missing here")),
        };
        match self.peek() {
            Kind::Symbol("#") => self.reference_behind(name, offset),
            _ => self.call(name, None, offset),
        }
    }

    fn plain(&mut self) -> Result<Expr, SyntaxError> {
        let offset = self.offset();
        match self.next() {
            Kind::Text(text) => Ok(Expr::Text(text.into_owned())),
            Kind::Integer(digits) => self.number(digits, offset),
            Kind::Decimal(digits) if self.version == Version::V1 => Ok(double(digits)),
            Kind::Decimal(digits) => Ok(Expr::Decimal(digits.to_owned())),
            Kind::Double(digits) => Ok(double(digits)),
            Kind::Variable(prefix, local) => self.variable(prefix, local, offset),
            Kind::Symbol("[") => self.members(),
            Kind::Symbol("?") => self.lookup_key().map(|key| Expr::Lookup(Box::new(Expr::Context), key.map(Box::new))),
            Kind::Symbol(symbol) => Err(refuse(offset, format!("a value is missing before `{symbol}`"))),
            _ => Err(refuse(offset, "a value is missing here")),
        }
    }

    pub(super) fn number(&self, digits: &str, offset: usize) -> Result<Expr, SyntaxError> {
        if self.version == Version::V1 {
            return Ok(double(digits));
        }
        match digits.parse() {
            Ok(number) => Ok(Expr::Integer(number)),
            Err(_) if Decimal::parse(digits).is_some() => {
                Ok(Expr::Cast(Box::new(Expr::Text(digits.to_owned())), AtomicType::Integer, false))
            }
            Err(_) => Err(SyntaxError {
                offset,
                message: format!("{digits} has more digits than a number can have"),
                code: "FOAR0002",
            }),
        }
    }
}

fn double(digits: &str) -> Expr {
    // What the lexer calls a number, Rust reads as one.
    Expr::Number(digits.parse().unwrap_or(f64::NAN))
}
