//! From words to the syntax tree, by operator precedence (XPath 1.0 §3, XPath 3.1 appendix A).

mod calls;
mod functions;
mod operators;
mod paths;
mod primary;
mod scope;
mod types;

use crate::ast::{Binding, Expr};
use crate::environment::{Environment, Version};
use crate::error::SyntaxError;
use crate::lexer::{Kind, Token, tokens};
use scope::Scope;

/// Expressions nested deeper than this are refused.
const DEPTH_LIMIT: usize = 64;

/// Expressions with more operators and steps than this are refused: a chain of them is a deep tree.
const OPERATOR_LIMIT: usize = 500;

/// What the parser found.
pub(crate) struct Parsed {
    pub(crate) root: Expr,
    /// How many exact names are numbered in it.
    pub(crate) names: u32,
    /// The host's slots in it, each once, ascending.
    pub(crate) variables: Vec<u32>,
    pub(crate) functions: Vec<u32>,
}

/// Parses a whole expression.
pub(crate) fn parse(text: &str, environment: &mut dyn Environment) -> Result<Parsed, SyntaxError> {
    let mut parser = Parser::new(text, environment)?;
    let root = parser.sequence()?;
    if *parser.peek() != Kind::End {
        return Err(parser.error(match parser.peek() {
            Kind::Symbol(symbol @ (")" | "]" | "}")) => format!("`{symbol}` closes what nothing has opened"),
            _ => "an operator is missing here".to_owned(),
        }));
    }
    let slots = |mut slots: Vec<u32>| {
        slots.sort_unstable();
        slots.dedup();
        slots
    };
    Ok(Parsed { root, names: parser.names, variables: slots(parser.variables), functions: slots(parser.functions) })
}

struct Parser<'t, 'e> {
    tokens: Vec<Token<'t>>,
    at: usize,
    depth: usize,
    operators: usize,
    names: u32,
    /// The variables that can be seen where the parser is: of the expression, of a function in it, of one in that.
    scopes: Vec<Scope<'t>>,
    variables: Vec<u32>,
    functions: Vec<u32>,
    version: Version,
    environment: &'e mut dyn Environment,
}

impl<'t, 'e> Parser<'t, 'e> {
    fn new(text: &'t str, environment: &'e mut dyn Environment) -> Result<Parser<'t, 'e>, SyntaxError> {
        let version = environment.version();
        Ok(Parser {
            tokens: tokens(text, version)?,
            at: 0,
            depth: 0,
            operators: 0,
            names: 0,
            scopes: vec![Scope::default()],
            variables: Vec::new(),
            functions: Vec::new(),
            version,
            environment,
        })
    }

    fn peek(&self) -> &Kind<'t> {
        &self.tokens[self.at].kind
    }

    /// The word `ahead` words behind the next one.
    fn ahead(&self, ahead: usize) -> &Kind<'t> {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].kind
    }

    fn next(&mut self) -> Kind<'t> {
        let kind = self.tokens[self.at].kind.clone();
        // The end is never passed: whatever asks again gets it again.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        kind
    }

    fn offset(&self) -> usize {
        self.tokens[self.at].offset
    }

    fn error(&self, message: impl Into<String>) -> SyntaxError {
        refuse(self.offset(), message)
    }

    fn take(&mut self, symbol: &'static str) -> bool {
        let there = *self.peek() == Kind::Symbol(symbol);
        if there {
            self.next();
        }
        there
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), SyntaxError> {
        if self.take(symbol) {
            return Ok(());
        }
        Err(self.error(format!("`{symbol}` is missing here")))
    }

    /// Whether the next words are these names, without a prefix.
    fn sees(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(index, word)| *self.ahead(index) == Kind::Name(None, word))
    }

    fn expect_word(&mut self, word: &'static str) -> Result<(), SyntaxError> {
        if self.sees(&[word]) {
            self.next();
            return Ok(());
        }
        Err(self.error(format!("`{word}` is missing here")))
    }

    /// Runs a part of the grammar one level deeper.
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T, SyntaxError>) -> Result<T, SyntaxError> {
        if self.depth == DEPTH_LIMIT {
            return Err(self.error(format!("the expression nests deeper than {DEPTH_LIMIT}")));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    fn count_operator(&mut self) -> Result<(), SyntaxError> {
        self.operators += 1;
        if self.operators > OPERATOR_LIMIT {
            return Err(self.error(format!("the expression has more than {OPERATOR_LIMIT} operators and steps")));
        }
        Ok(())
    }

    /// `Expr`: expressions with commas between them.
    fn sequence(&mut self) -> Result<Expr, SyntaxError> {
        self.nested(|parser| {
            let first = parser.single()?;
            if *parser.peek() != Kind::Symbol(",") {
                return Ok(first);
            }
            let mut items = vec![first];
            while parser.take(",") {
                items.push(parser.single()?);
            }
            Ok(Expr::Sequence(items))
        })
    }

    /// `ExprSingle`: no comma outside parentheses.
    fn single(&mut self) -> Result<Expr, SyntaxError> {
        let variable = |kind: &Kind| matches!(kind, Kind::Variable(..));
        match (self.peek(), self.ahead(1)) {
            (Kind::Name(None, "if"), Kind::Symbol("(")) => self.condition(),
            (Kind::Name(None, "for"), behind) if variable(behind) => self.bindings(Expr::For, "in", "return"),
            (Kind::Name(None, "let"), behind) if variable(behind) => self.bindings(Expr::Let, ":=", "return"),
            (Kind::Name(None, "some"), behind) if variable(behind) => self.bindings(Expr::Some, "in", "satisfies"),
            (Kind::Name(None, "every"), behind) if variable(behind) => self.bindings(Expr::Every, "in", "satisfies"),
            _ => self.expression(0),
        }
    }

    /// `ExprSingle` one level deeper: an argument, a branch, the value of a variable.
    fn inner(&mut self) -> Result<Expr, SyntaxError> {
        self.nested(Self::single)
    }

    fn condition(&mut self) -> Result<Expr, SyntaxError> {
        self.next();
        self.expect("(")?;
        let condition = self.sequence()?;
        self.expect(")")?;
        self.expect_word("then")?;
        let then = self.inner()?;
        self.expect_word("else")?;
        let otherwise = self.inner()?;
        Ok(Expr::If(Box::new([condition, then, otherwise])))
    }

    /// `for`, `let`, `some` and `every`, with all their variables.
    fn bindings(
        &mut self,
        wrap: fn(Box<Binding>, Box<Expr>) -> Expr,
        before_value: &'static str,
        before_body: &'static str,
    ) -> Result<Expr, SyntaxError> {
        self.next();
        let outside = self.scope().count();
        let mut bindings = Vec::new();
        loop {
            let offset = self.offset();
            let Kind::Variable(prefix, local) = self.next() else {
                return Err(refuse(offset, "a variable is missing here"));
            };
            self.count_operator()?;
            if before_value == ":=" {
                self.expect(":=")?;
            } else {
                self.expect_word(before_value)?;
            }
            let value = self.inner()?;
            let namespace = self.variable_namespace(prefix);
            bindings.push(Binding { local: self.scope().bind(namespace, local), value });
            if !self.take(",") {
                break;
            }
        }
        self.expect_word(before_body)?;
        let body = self.inner()?;
        self.scope().leave(outside);
        Ok(bindings.into_iter().rev().fold(body, |body, binding| wrap(Box::new(binding), Box::new(body))))
    }
}

fn refuse(offset: usize, message: impl Into<String>) -> SyntaxError {
    SyntaxError { offset, message: message.into(), code: "XPST0003" }
}

#[cfg(test)]
mod tests;
