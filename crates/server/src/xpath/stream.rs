//! Expressions that one pass over a document answers.

use std::path::PathBuf;

use myelin_xpath::ast::Expr;
use myelin_xpath::stream::{Answer, Plan, Progress, QueryId, Run, StartAt, Wanted};
use myelin_xpath::{Expression, Returns, Value};

use super::bindings::Bindings;
use crate::reading::{Complaint, Documents};

/// An expression as one pass asks it.
pub(super) struct Pass {
    plan: Plan,
    query: QueryId,
}

impl Pass {
    /// Errors: why one pass is not enough.
    pub(super) fn new(expression: &Expression) -> Result<Pass, &'static str> {
        let wanted = wanted(expression.ast()).ok_or("it gives nodes, and they need --tree")?;
        let (plan, queries) = Plan::compile(&[(expression, wanted)], &|_| None, StartAt::Document);
        match queries.into_iter().next() {
            Some(Ok(query)) => Ok(Pass { plan, query }),
            Some(Err(refusal)) => Err(refusal.reason),
            None => Err("it asks for nothing"),
        }
    }

    /// Reads a document as far as the answer needs; none where only a tree can tell.
    pub(super) fn run(
        &self,
        documents: &Documents,
        file: &PathBuf,
        bindings: &Bindings,
    ) -> Result<Option<Value<'static>>, Complaint> {
        let mut pieces = documents.pieces(file, &documents.files([file])?)?;
        let mut run = Run::new();
        run.start(&self.plan, bindings);
        loop {
            let text = &pieces.text;
            match run.drive(&self.plan, bindings, &mut pieces.parser, text, pieces.complete, self.query) {
                Ok(Progress::Settled) => break,
                Ok(Progress::More) => pieces.more()?,
                Err(error) => return Err(pieces.malformed(error)),
            }
        }
        Ok(match run.answer(self.query) {
            Some(Answer::Boolean(answer)) => Some(Value::from(answer)),
            Some(Answer::Number(answer)) => Some(Value::from(answer)),
            Some(Answer::Text(answer)) => Some(Value::from(answer.to_owned())),
            Some(Answer::NeedsTree) | None => None,
        })
    }
}

/// What an expression's value is in any document; none where it may be nodes.
fn wanted(expr: &Expr) -> Option<Wanted> {
    match expr {
        Expr::And(_) | Expr::Or(_) | Expr::General(..) | Expr::Some(..) | Expr::Every(..) => Some(Wanted::Boolean),
        Expr::Arithmetic(..) | Expr::Negate(_) | Expr::Plus(_) | Expr::Number(_) => Some(Wanted::Number),
        Expr::Text(_) | Expr::Variable(_) => Some(Wanted::String),
        Expr::Call(function, _) => match function.returns {
            Returns::Boolean => Some(Wanted::Boolean),
            Returns::Number => Some(Wanted::Number),
            Returns::Text => Some(Wanted::String),
            Returns::Nodes | Returns::Any => None,
        },
        Expr::If(parts) => wanted(&parts[1]).filter(|kind| wanted(&parts[2]).as_ref() == Some(kind)),
        _ => None,
    }
}
