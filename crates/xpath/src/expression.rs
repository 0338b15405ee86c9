//! A compiled expression.

use std::borrow::Cow;

use crate::ast::Expr;
use crate::context::{Context, SharedContext, Start};
use crate::environment::{Environment, Version};
use crate::error::{Error, SyntaxError};
use crate::value::Value;
use crate::{analysis, evaluate, parser};

/// An expression, compiled: run as often as you like, on any thread.
#[derive(Clone, Debug)]
pub struct Expression {
    root: Expr,
    names: u32,
    variables: Vec<u32>,
    functions: Vec<u32>,
    needs_context: bool,
    version: Version,
}

impl Expression {
    /// Compiles an expression; all names in it are resolved now.
    ///
    /// Errors: what is wrong and at which byte of `text`: the author's.
    /// Source: XPath 1.0 §3, XPath 3.1 appendix A.
    pub fn compile(text: &str, environment: &mut dyn Environment) -> Result<Expression, SyntaxError> {
        let version = environment.version();
        let parsed = parser::parse(text, environment)?;
        Ok(Expression {
            needs_context: analysis::needs_context(&parsed.root),
            root: parsed.root,
            names: parsed.names,
            variables: parsed.variables,
            functions: parsed.functions,
            version,
        })
    }

    /// A part of a compiled expression as one of its own: the predicate of a pattern.
    ///
    /// What it binds itself must stand in it; its slots are not listed.
    pub fn from_ast(root: Expr, version: Version) -> Expression {
        let needs_context = analysis::needs_context(&root);
        Expression { root, names: 0, variables: Vec::new(), functions: Vec::new(), needs_context, version }
    }

    /// The value of the expression.
    ///
    /// Errors: [`Error`]: by the data, the limits, or the host.
    pub fn evaluate<'a>(&'a self, context: &Context<'a>) -> Result<Value<'a>, Error> {
        evaluate::evaluate(&self.root, self.version, context)
    }

    /// The same for whoever evaluates many expressions with much in common.
    ///
    /// Errors: as [`evaluate`](Expression::evaluate).
    #[inline]
    pub fn evaluate_from<'a>(&'a self, shared: &SharedContext<'a>, start: Start<'_, 'a>) -> Result<Value<'a>, Error> {
        evaluate::evaluate_from(&self.root, self.version, shared, start)
    }

    /// The value as a condition, found without looking at more of the document than it takes.
    ///
    /// Errors: as [`evaluate`](Expression::evaluate).
    pub fn condition<'a>(&'a self, context: &Context<'a>) -> Result<bool, Error> {
        evaluate::condition(&self.root, self.version, context)
    }

    /// The same for whoever evaluates many expressions with much in common.
    ///
    /// Errors: as [`evaluate`](Expression::evaluate).
    #[inline]
    pub fn condition_from<'a>(&'a self, shared: &SharedContext<'a>, start: Start<'_, 'a>) -> Result<bool, Error> {
        evaluate::condition_from(&self.root, self.version, shared, start)
    }

    /// The value as a text, found without looking at more of the document than it takes.
    ///
    /// Errors: as [`evaluate`](Expression::evaluate).
    pub fn text<'a>(&'a self, context: &Context<'a>) -> Result<Cow<'a, str>, Error> {
        evaluate::text(&self.root, self.version, context)
    }

    /// The same for whoever evaluates many expressions with much in common.
    ///
    /// Errors: as [`evaluate`](Expression::evaluate).
    #[inline]
    pub fn text_from<'a>(&'a self, shared: &SharedContext<'a>, start: Start<'_, 'a>) -> Result<Cow<'a, str>, Error> {
        evaluate::text_from(&self.root, self.version, shared, start)
    }

    /// The syntax tree.
    pub fn ast(&self) -> &Expr {
        &self.root
    }

    /// By which rules it runs.
    #[inline]
    pub fn version(&self) -> Version {
        self.version
    }

    /// How many exact names are numbered in it (see [`NameTest`](crate::ast::NameTest)).
    pub fn names(&self) -> u32 {
        self.names
    }

    /// Whether it looks at the context node; if not, literals, variables and functions of the host are all it asks.
    pub fn needs_context(&self) -> bool {
        self.needs_context
    }

    /// Whether it asks for the size of the context it is run with: a `last()` that is not in a predicate.
    pub fn asks_for_last(&self) -> bool {
        analysis::asks(&self.root, "last")
    }

    /// The host's slots of the variables in it, each once, ascending.
    pub fn variables(&self) -> &[u32] {
        &self.variables
    }

    /// The host's slots of its functions in it, each once, ascending.
    pub fn functions(&self) -> &[u32] {
        &self.functions
    }

    /// The text, where the whole expression is a text between quotes.
    pub fn as_text(&self) -> Option<&str> {
        match &self.root {
            Expr::Text(text) => Some(text),
            _ => None,
        }
    }
}
