//! Maps, arrays and functions as values: how they are made, looked into and called (XPath 3.1 §3.1.6, §3.11).

use super::{DEPTH_LIMIT, Parser, Scope, refuse};
use crate::ast::{Expr, InlineFunction};
use crate::error::SyntaxError;
use crate::lexer::Kind;
use crate::types::SequenceType;

impl<'t> Parser<'t, '_> {
    /// An operand with what stands behind it: predicates, arguments and lookups.
    pub(super) fn postfix(&mut self, mut operand: Expr) -> Result<Expr, SyntaxError> {
        let mut wrapped = 0;
        while let Kind::Symbol("[" | "(" | "?") = self.peek() {
            operand = self.wrapped(operand)?;
            wrapped += 1;
            if wrapped > DEPTH_LIMIT {
                return Err(self.error(format!("more than {DEPTH_LIMIT} calls and lookups in a chain")));
            }
        }
        Ok(operand)
    }

    fn wrapped(&mut self, operand: Expr) -> Result<Expr, SyntaxError> {
        let operand = Box::new(operand);
        match *self.peek() {
            Kind::Symbol("[") => self.predicates(false).map(|predicates| Expr::Filter(operand, predicates)),
            Kind::Symbol("(") => {
                self.count_operator()?;
                self.arguments(None).map(|arguments| Expr::Apply(operand, arguments))
            }
            _ => {
                self.count_operator()?;
                self.next();
                self.lookup_key().map(|key| Expr::Lookup(operand, key.map(Box::new)))
            }
        }
    }

    /// What stands behind a `?`; `None`: `*`.
    pub(super) fn lookup_key(&mut self) -> Result<Option<Expr>, SyntaxError> {
        if *self.peek() == Kind::Symbol("(") {
            return self.parenthesized().map(Some);
        }
        let offset = self.offset();
        match self.next() {
            Kind::Symbol("*") => Ok(None),
            Kind::Name(None, name) => Ok(Some(Expr::Text(name.to_owned()))),
            Kind::Integer(digits) => self.number(digits, offset).map(Some),
            _ => Err(refuse(offset, "behind `?` there is a name, a number, `*` or a key in parentheses")),
        }
    }

    /// Arguments between parentheses; `None` for one that is left open, `?`.
    pub(super) fn arguments(&mut self, first: Option<Expr>) -> Result<Vec<Option<Expr>>, SyntaxError> {
        let mut arguments: Vec<Option<Expr>> = first.into_iter().map(Some).collect();
        self.expect("(")?;
        if self.take(")") {
            return Ok(arguments);
        }
        loop {
            let open = *self.peek() == Kind::Symbol("?") && matches!(self.ahead(1), Kind::Symbol("," | ")"));
            if open {
                self.next();
            }
            arguments.push(if open { None } else { Some(self.inner()?) });
            if !self.take(",") {
                break;
            }
        }
        match self.take(")") {
            true => Ok(arguments),
            false => Err(self.error("`)` or `,` is missing here")),
        }
    }

    /// `map { key : value, … }`; the next words are its first.
    pub(super) fn map(&mut self) -> Result<Expr, SyntaxError> {
        self.at += 2;
        let mut entries = Vec::new();
        if self.take("}") {
            return Ok(Expr::MapOf(entries));
        }
        loop {
            let key = self.inner()?;
            self.expect(":")?;
            entries.push((key, self.inner()?));
            if !self.take(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(Expr::MapOf(entries))
    }

    /// `array { … }`; the next words are its first.
    pub(super) fn array(&mut self) -> Result<Expr, SyntaxError> {
        self.at += 1;
        Ok(Expr::ArrayOf(Box::new(self.enclosed()?)))
    }

    /// `[ member, … ]`; the `[` has been read.
    pub(super) fn members(&mut self) -> Result<Expr, SyntaxError> {
        let mut members = Vec::new();
        if self.take("]") {
            return Ok(Expr::Members(members));
        }
        loop {
            members.push(self.inner()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(Expr::Members(members))
    }

    /// An expression between braces, or nothing.
    fn enclosed(&mut self) -> Result<Expr, SyntaxError> {
        self.expect("{")?;
        if self.take("}") {
            return Ok(Expr::Sequence(Vec::new()));
        }
        let inside = self.sequence()?;
        self.expect("}")?;
        Ok(inside)
    }

    /// `function($x as …) as … { … }`; the next words are its first.
    pub(super) fn inline_function(&mut self) -> Result<Expr, SyntaxError> {
        self.at += 2;
        let mut scope = Scope::default();
        let mut names: Vec<(String, &'t str)> = Vec::new();
        let mut parameters = Vec::new();
        while !self.take(")") {
            let offset = self.offset();
            let Kind::Variable(prefix, local) = self.next() else {
                return Err(refuse(offset, "a parameter or `)` is missing here"));
            };
            let name = (self.variable_namespace(prefix), local);
            if names.contains(&name) {
                let message = format!("there are two parameters ${local}");
                return Err(SyntaxError { offset, message, code: "XQST0039" });
            }
            scope.bind(name.0.clone(), local);
            names.push(name);
            parameters.push(self.declared_type()?);
            if *self.peek() != Kind::Symbol(")") {
                self.expect(",")?;
            }
        }
        let result = self.declared_type()?;
        self.scopes.push(scope);
        self.environment.enters_function();
        let body = self.nested(Self::enclosed)?;
        self.environment.leaves_function();
        let captured = self.scopes.pop().map_or_else(Vec::new, Scope::into_captured);
        Ok(Expr::Inline(Box::new(InlineFunction { parameters, result, body, captured })))
    }

    /// `as …`, if it is there.
    fn declared_type(&mut self) -> Result<SequenceType, SyntaxError> {
        if !self.sees(&["as"]) {
            return Ok(SequenceType::ANY);
        }
        self.next();
        self.sequence_type()
    }
}
