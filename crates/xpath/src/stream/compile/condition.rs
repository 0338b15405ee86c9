//! Conditions: what can be decided while only a part of the nodes is known.

use super::super::names::NameFilter;
use super::super::plan::{Condition, Kind, Operand, Owner};
use super::path::name_filter_of;
use super::{Compiler, NotStreamable, refuse};
use crate::ast::{Axis, Comparison, Expr, NodeTest, Step};
use crate::compare::mirrored;

impl<'e> Compiler<'e, '_> {
    /// Compiles an expression of which only matters whether it is true.
    pub(super) fn condition(&mut self, expr: &'e Expr, owner: Owner) -> Result<Condition, NotStreamable> {
        if self.is_nodes(expr) {
            return self.any_branch(expr, &Kind::Exists, owner, Condition::Exists);
        }
        match expr {
            Expr::And(parts) => Ok(Condition::And(self.conditions(parts, owner)?)),
            Expr::Or(parts) => Ok(Condition::Or(self.conditions(parts, owner)?)),
            Expr::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                let mut compile = |part| self.condition(part, owner);
                Ok(Condition::If(Box::new([compile(condition)?, compile(then)?, compile(otherwise)?])))
            }
            Expr::Call(function, arguments) => match (function.name, arguments.as_slice()) {
                ("true", []) => Ok(Condition::Known(true)),
                ("false", []) => Ok(Condition::Known(false)),
                ("not", [argument]) => Ok(not(self.condition(argument, owner)?)),
                ("boolean", [argument]) => self.condition(argument, owner),
                ("exists", [argument]) if self.is_nodes(argument) => self.condition(argument, owner),
                ("empty", [argument]) if self.is_nodes(argument) => Ok(not(self.condition(argument, owner)?)),
                _ => Ok(Condition::Term(self.term(expr, owner)?)),
            },
            Expr::General(comparison, sides, _) => {
                let [left, right] = &**sides;
                match self.comparison(*comparison, left, right, owner)? {
                    Some(condition) => Ok(condition),
                    None => match self.comparison(mirrored(*comparison), right, left, owner)? {
                        Some(condition) => Ok(condition),
                        None => Ok(Condition::Term(self.term(expr, owner)?)),
                    },
                }
            }
            _ => Ok(Condition::Term(self.term(expr, owner)?)),
        }
    }

    fn conditions(&mut self, parts: &'e [Expr], owner: Owner) -> Result<Vec<Condition>, NotStreamable> {
        parts.iter().map(|part| self.condition(part, owner)).collect()
    }

    /// A comparison with nodes, or their number, on the left side.
    pub(super) fn comparison(
        &mut self,
        comparison: Comparison,
        left: &'e Expr,
        right: &'e Expr,
        owner: Owner,
    ) -> Result<Option<Condition>, NotStreamable> {
        match (left, right) {
            (left, Expr::Sequence(items)) if self.is_nodes(left) => {
                // What may be true or false is compared with all nodes at once, not with each.
                if !items.iter().all(|item| matches!(item, Expr::Text(_) | Expr::Number(_))) {
                    return refuse("a sequence of more than texts and numbers");
                }
                let mut any = Vec::with_capacity(items.len());
                for item in items {
                    any.extend(self.comparison(comparison, left, item, owner)?);
                }
                Ok(Some(Condition::Or(any)))
            }
            (left, right) if self.is_nodes(left) => {
                if !self.is_constant(right) {
                    return refuse("what nodes are compared with is in the document, too");
                }
                let kind = Kind::Compare(comparison, self.operand(right));
                self.any_branch(left, &kind, owner, Condition::Compare).map(Some)
            }
            (Expr::Call(function, arguments), Expr::Number(number)) if function.name == "count" => {
                let counted = self.collect(&arguments[0], Kind::Count, owner)?;
                Ok(Some(Condition::Count(counted, comparison, *number)))
            }
            _ => Ok(None),
        }
    }

    /// What holds if it holds for one of the paths that `|` joins.
    fn any_branch(
        &mut self,
        expr: &'e Expr,
        kind: &Kind,
        owner: Owner,
        condition: fn(usize) -> Condition,
    ) -> Result<Condition, NotStreamable> {
        match expr {
            Expr::Union(branches) => {
                // Compared with true or false, "one of all" is not "one of these or one of those".
                if let Kind::Compare(_, Operand::Boolean(_) | Operand::Host(_)) = kind {
                    return refuse("`|` is compared with what may be true or false");
                }
                let branches = branches.iter().map(|branch| self.any_branch(branch, kind, owner, condition));
                Ok(Condition::Or(branches.collect::<Result<_, _>>()?))
            }
            Expr::Root => match kind {
                Kind::Exists => Ok(Condition::Known(true)),
                _ => refuse("the text of the whole document"),
            },
            _ => Ok(condition(self.collect(expr, kind.clone(), owner)?)),
        }
    }

    fn operand(&mut self, expr: &Expr) -> Operand {
        match expr {
            Expr::Text(text) => Operand::Text(text.clone()),
            Expr::Number(number) => Operand::Number(*number),
            Expr::Call(function, _) if function.name == "true" => Operand::Boolean(true),
            Expr::Call(function, _) if function.name == "false" => Operand::Boolean(false),
            _ => {
                self.plan.constants.push(expr.clone());
                Operand::Host(self.plan.constants.len() - 1)
            }
        }
    }
}

fn not(condition: Condition) -> Condition {
    match condition {
        Condition::Known(truth) => Condition::Known(!truth),
        other => Condition::Not(Box::new(other)),
    }
}

/// The condition on a node's name that a predicate is, if it asks for nothing else; `element`: whether it is one.
pub(super) fn name_filter(expr: &Expr, element: bool) -> Option<NameFilter> {
    let all = |parts: &[Expr]| parts.iter().map(|part| name_filter(part, element)).collect::<Option<Vec<_>>>();
    match expr {
        Expr::And(parts) => Some(NameFilter::And(all(parts)?)),
        Expr::Or(parts) => Some(NameFilter::Or(all(parts)?)),
        Expr::Call(function, arguments) => match (function.name, arguments.as_slice()) {
            ("not", [argument]) => Some(NameFilter::Not(Box::new(name_filter(argument, element)?))),
            ("boolean", [argument]) => name_filter(argument, element),
            _ => None,
        },
        Expr::General(comparison, sides, _) => {
            let filter = match &**sides {
                [Expr::Call(function, arguments), Expr::Text(text)]
                | [Expr::Text(text), Expr::Call(function, arguments)]
                    if matches!(arguments.as_slice(), [Expr::Context]) =>
                {
                    match function.name {
                        "local-name" => NameFilter::Local(text.clone()),
                        "namespace-uri" => NameFilter::Namespace(text.clone()),
                        "name" => NameFilter::Written(text.clone()),
                        _ => return None,
                    }
                }
                _ => return None,
            };
            match comparison {
                Comparison::Equal => Some(filter),
                Comparison::NotEqual => Some(NameFilter::Not(Box::new(filter))),
                _ => None,
            }
        }
        // `self::order`
        Expr::Path(path) => match (&path.start, path.steps.as_slice()) {
            (Expr::Context, [Step::Axis(step)])
                if element && step.axis == Axis::Self_ && step.predicates.is_empty() =>
            {
                match &step.test {
                    NodeTest::Name(test) | NodeTest::Element(test) => Some(name_filter_of(test)),
                    _ => None,
                }
            }
            _ => None,
        },
        _ => None,
    }
}
