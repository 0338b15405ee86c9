//! From syntax trees to a plan: what of each expression can be answered from events, and what collects it.

mod condition;
mod layout;
mod path;
mod term;

use std::fmt;

use super::plan::{Body, Collector, Kind, Owner, Plan, PlanId, Query, QueryId, Wanted};
use crate::ast::{Expr, Step};
use crate::function::Returns;
use crate::{Expression, Version};

/// Why an expression cannot be answered from events; the tree answers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotStreamable {
    /// What in it needs the tree.
    pub reason: &'static str,
}

impl fmt::Display for NotStreamable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "needs the tree: {}", self.reason)
    }
}

impl std::error::Error for NotStreamable {}

fn refuse<T>(reason: &'static str) -> Result<T, NotStreamable> {
    Err(NotStreamable { reason })
}

/// Where relative paths start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartAt {
    /// At the document node.
    Document,
    /// At the root element, which is the SOAP envelope in the bus.
    Root,
}

impl Plan {
    /// Compiles expressions together.
    ///
    /// `anchors` gives for a variable of the host the path it stands for, if it is a place in the document: `$body`.
    /// Shape: for each expression its number, or why it needs the tree; the others are compiled all the same.
    pub fn compile<'e>(
        expressions: &[(&'e Expression, Wanted)],
        anchors: &dyn Fn(u32) -> Option<&'e Expression>,
        start: StartAt,
    ) -> (Plan, Vec<Result<QueryId, NotStreamable>>) {
        let mut compiler = Compiler { plan: Plan::default(), anchors, start, anchored: 0 };
        let compile = |&(expression, wanted): &(&'e Expression, Wanted)| {
            let before = compiler.plan.clone();
            let compiled = compiler.query(expression, wanted);
            if compiled.is_err() {
                compiler.plan = before;
            }
            compiled
        };
        let compiled = expressions.iter().map(compile).collect();
        (compiler.finish(), compiled)
    }
}

struct Compiler<'e, 'a> {
    plan: Plan,
    anchors: &'a dyn Fn(u32) -> Option<&'e Expression>,
    start: StartAt,
    /// How many anchors are being replaced: one that stands for itself has no end.
    anchored: usize,
}

impl<'e> Compiler<'e, '_> {
    fn query(&mut self, expression: &'e Expression, wanted: Wanted) -> Result<QueryId, NotStreamable> {
        if expression.version() != Version::V1 {
            return refuse("it runs by the rules of XPath 2.0");
        }
        let (expr, owner) = (expression.ast(), Owner::Query(self.plan.queries.len()));
        let body = match wanted {
            Wanted::Boolean => Body::Condition(self.condition(expr, owner)?),
            _ if is_boolean(expr) => Body::Condition(self.condition(expr, owner)?),
            Wanted::Number => Body::Number(self.term(expr, owner)?),
            Wanted::Text if self.is_nodes(expr) => Body::Texts(self.collect(expr, Kind::Texts, owner)?),
            Wanted::Text | Wanted::String => Body::Text(self.term(expr, owner)?),
        };
        let id = QueryId(u32::try_from(self.plan.queries.len()).map_err(|_| NotStreamable { reason: "too many" })?);
        self.plan.queries.push(Query { body, wanted, steps: Vec::new() });
        Ok(id)
    }

    /// Brings everything to the same number of words, and notes which steps are whose.
    fn finish(mut self) -> Plan {
        let words = self.plan.masks.len();
        self.plan.tests.iter_mut().for_each(|test| test.steps.resize(words, 0));
        self.plan.queries.iter_mut().for_each(|query| query.steps.resize(words, 0));
        for Collector { query, word, mask, .. } in &self.plan.collectors {
            if *mask != 0 {
                self.plan.queries[*query].steps[*word] |= mask;
            }
        }
        self.plan.takes_text = self.plan.masks.iter().any(|masks| masks.text != 0);
        self.plan.id = PlanId::next();
        self.plan
    }

    /// Collects the nodes of an expression that is one path.
    fn collect(&mut self, expr: &'e Expr, kind: Kind, owner: Owner) -> Result<usize, NotStreamable> {
        let steps = self.steps(expr, owner)?;
        self.add(&steps, kind, owner)
    }

    /// Whether an expression's value are nodes of the document.
    fn is_nodes(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Context | Expr::Root | Expr::Union(_) => true,
            Expr::Variable(slot) => (self.anchors)(*slot).is_some(),
            Expr::Path(path) => matches!(path.steps.last(), Some(Step::Axis(_))) && !self.is_constant(&path.start),
            Expr::Filter(inside, _) => self.is_nodes(inside),
            _ => false,
        }
    }

    /// Whether an expression has the same value for the whole pass.
    fn is_constant(&self, expr: &Expr) -> bool {
        let all = |parts: &[Expr]| parts.iter().all(|part| self.is_constant(part));
        match expr {
            Expr::Text(_) | Expr::Number(_) | Expr::Integer(_) | Expr::Decimal(_) => true,
            Expr::Variable(slot) => (self.anchors)(*slot).is_none(),
            Expr::Call(function, _) if matches!(function.name, "position" | "last") => false,
            Expr::Call(_, parts) | Expr::HostCall(_, parts) | Expr::Or(parts) | Expr::And(parts) => all(parts),
            Expr::General(_, sides, _) | Expr::Arithmetic(_, sides) => all(&**sides),
            Expr::Negate(inside) | Expr::Plus(inside) | Expr::Cast(inside, ..) => self.is_constant(inside),
            Expr::If(parts) => all(&**parts),
            _ => false,
        }
    }
}

/// Whether an expression's value is true or false in any case.
fn is_boolean(expr: &Expr) -> bool {
    match expr {
        Expr::And(_) | Expr::Or(_) | Expr::General(..) => true,
        Expr::Call(function, _) => function.returns == Returns::Boolean,
        Expr::If(parts) => parts[1..].iter().all(is_boolean),
        _ => false,
    }
}
