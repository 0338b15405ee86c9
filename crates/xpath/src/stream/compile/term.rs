//! Values: expressions whose paths are replaced by variables, so that the evaluator of the tree can run them.

use super::super::plan::{COLLECTOR_SLOTS, Kind, Owner, Part, Term};
use super::{Compiler, NotStreamable, refuse};
use crate::ast::Expr;
use crate::function::Function;

/// Functions that make one value of each operand, so that of nodes only the first counts (XPath 1.0 §4.2).
const OF_VALUES: [&str; 20] = [
    "ceiling",
    "concat",
    "contains",
    "encode-for-uri",
    "ends-with",
    "floor",
    "lower-case",
    "matches",
    "normalize-space",
    "number",
    "replace",
    "round",
    "starts-with",
    "string",
    "string-length",
    "substring",
    "substring-after",
    "substring-before",
    "translate",
    "upper-case",
];

impl<'e> Compiler<'e, '_> {
    /// Compiles an expression of which the value is wanted: that of the first node, where it is nodes.
    pub(super) fn term(&mut self, expr: &'e Expr, owner: Owner) -> Result<Term, NotStreamable> {
        let mut collectors = Vec::new();
        let expr = self.replaced(expr, owner, &mut collectors)?;
        Ok(Term { expr, collectors })
    }

    fn replaced(&mut self, expr: &'e Expr, owner: Owner, collectors: &mut Vec<usize>) -> Result<Expr, NotStreamable> {
        if self.is_constant(expr) {
            return Ok(expr.clone());
        }
        if self.is_nodes(expr) {
            return self.variable(expr, Kind::First(Part::Value), owner, collectors);
        }
        match expr {
            Expr::Arithmetic(operator, sides) => Ok(Expr::Arithmetic(*operator, self.both(sides, owner, collectors)?)),
            Expr::General(_, sides, _) if sides.iter().any(|side| self.is_nodes(side)) => {
                refuse("nodes are compared with what is in the document, too")
            }
            Expr::General(comparison, sides, written) => {
                Ok(Expr::General(*comparison, self.both(sides, owner, collectors)?, *written))
            }
            Expr::Negate(inside) => Ok(Expr::Negate(Box::new(self.replaced(inside, owner, collectors)?))),
            Expr::Call(function, arguments) => self.call(function, arguments, owner, collectors),
            _ => refuse("an operator that needs more than the first node of an operand"),
        }
    }

    fn both(
        &mut self,
        sides: &'e [Expr; 2],
        owner: Owner,
        collectors: &mut Vec<usize>,
    ) -> Result<Box<[Expr; 2]>, NotStreamable> {
        let [left, right] = sides;
        Ok(Box::new([self.replaced(left, owner, collectors)?, self.replaced(right, owner, collectors)?]))
    }

    fn call(
        &mut self,
        function: &'static Function,
        arguments: &'e [Expr],
        owner: Owner,
        collectors: &mut Vec<usize>,
    ) -> Result<Expr, NotStreamable> {
        let kind = match function.name {
            "count" => Kind::Count,
            "name" => Kind::First(Part::Name),
            "local-name" => Kind::First(Part::LocalName),
            "namespace-uri" => Kind::First(Part::Namespace),
            name if OF_VALUES.contains(&name) => {
                let mut replaced = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    replaced.push(self.replaced(argument, owner, collectors)?);
                }
                return Ok(Expr::Call(function, replaced));
            }
            _ => return refuse("a function that needs more than the first node of an operand"),
        };
        match arguments {
            [nodes] if self.is_nodes(nodes) => self.variable(nodes, kind, owner, collectors),
            _ => refuse("nodes that are not in the document"),
        }
    }

    /// A path as the variable that stands for what is collected of it.
    fn variable(
        &mut self,
        nodes: &'e Expr,
        kind: Kind,
        owner: Owner,
        collectors: &mut Vec<usize>,
    ) -> Result<Expr, NotStreamable> {
        let collector = self.collect(nodes, kind, owner)?;
        collectors.push(collector);
        // There are at most 32 words of 63 steps, so the number is small.
        Ok(Expr::Variable(COLLECTOR_SLOTS + collector as u32))
    }
}
