//! The comparisons that a condition is made of, for whoever wants to know why it holds.

use crate::ast::{Expr, Written};
use crate::context::Context;
use crate::environment::Version;
use crate::error::Error;
use crate::evaluate;
use crate::expression::Expression;
use crate::value::Value;

/// A comparison in a condition.
#[derive(Clone, Copy, Debug)]
pub struct ConditionPart<'e> {
    whole: &'e Expr,
    sides: &'e [Expr; 2],
    written: Written,
    version: Version,
}

/// One of the two sides of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each says it")]
pub enum Side {
    Left,
    Right,
}

impl Expression {
    /// The comparisons that make it true or false, in the order written: itself, or those that `and`, `or`, `not()` and
    /// `boolean()` join. Those in predicates and arguments choose nodes, and are none of them.
    pub fn comparisons(&self) -> Vec<ConditionPart<'_>> {
        let mut found = Vec::new();
        collect(self.ast(), self.version(), &mut found);
        found
    }
}

/// How deep the parser nests bounds how deep this goes.
fn collect<'e>(expr: &'e Expr, version: Version, found: &mut Vec<ConditionPart<'e>>) {
    match expr {
        Expr::And(parts) | Expr::Or(parts) => parts.iter().for_each(|part| collect(part, version, found)),
        Expr::Call(function, arguments) if matches!(function.name, "not" | "boolean") => {
            arguments.iter().for_each(|argument| collect(argument, version, found));
        }
        Expr::General(_, sides, written) | Expr::Single(_, sides, written) => {
            found.push(ConditionPart { whole: expr, sides, written: *written, version });
        }
        _ => {}
    }
}

impl<'e> ConditionPart<'e> {
    /// Whether it is true.
    ///
    /// Errors: as [`Expression::evaluate`].
    pub fn holds(&self, context: &Context<'e>) -> Result<bool, Error> {
        evaluate::condition(self.whole, self.version, context)
    }

    /// The value of a side.
    ///
    /// Errors: as [`Expression::evaluate`].
    pub fn value(&self, side: Side, context: &Context<'e>) -> Result<Value<'e>, Error> {
        evaluate::evaluate(&self.sides[side as usize], self.version, context)
    }

    /// A side as `text` has it, the text of the expression.
    pub fn side<'t>(&self, side: Side, text: &'t str) -> &'t str {
        match side {
            Side::Left => part(text, self.written.left, self.written.operator),
            Side::Right => part(text, self.written.right, self.written.end),
        }
    }

    /// The operator as `text` has it, the text of the expression.
    pub fn operator<'t>(&self, text: &'t str) -> &'t str {
        part(text, self.written.operator, self.written.right)
    }
}

fn part(text: &str, start: u32, end: u32) -> &str {
    text.get(start as usize..end as usize).unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::NoHost;
    use crate::environment::{Declared, Environment};

    struct Plain;

    impl Environment for Plain {
        fn namespace(&self, _: &str) -> Option<String> {
            None
        }

        fn variable(&mut self, _: Option<&str>, _: &str) -> Result<u32, String> {
            Ok(0)
        }

        fn function(
            &mut self,
            _: &str,
            _: Option<&str>,
            _: &[crate::Argument<'_>],
        ) -> Result<Option<Declared>, String> {
            Ok(None)
        }
    }

    fn check(text: &str, expected: &[&str]) {
        let expression = Expression::compile(text, &mut Plain).unwrap();
        let found: Vec<String> = expression
            .comparisons()
            .iter()
            .map(|part| {
                let [left, right] = [Side::Left, Side::Right].map(|side| part.side(side, text));
                format!("{left}|{}|{right}", part.operator(text))
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn the_comparisons_of_a_condition_are_found_as_they_are_written() {
        check("//order[1]/symbol = 'IBM'", &["//order[1]/symbol|=|'IBM'"]);
        check("a = 1 and ( b  !=2 or not(c<3) )", &["a|=|1", "b|!=|2", "c|<|3"]);
        check("//order[@id = 7]", &[]);
        check("//order[@id = 7]/n >= count(//x[y = 2]) + 1", &["//order[@id = 7]/n|>=|count(//x[y = 2]) + 1"]);
        check("a = b = c", &["a = b|=|c"]);
        check("contains(a, 'b') and 1 < 2", &["1|<|2"]);
    }

    #[test]
    fn each_side_has_its_value() {
        let expression = Expression::compile("1 + 1 = 3 or 'a' = 'a'", &mut Plain).unwrap();
        let context = Context::new(&NoHost);
        let parts = expression.comparisons();
        assert_eq!(parts.iter().map(|part| part.holds(&context).unwrap()).collect::<Vec<_>>(), [false, true]);
        let left = parts[0].value(Side::Left, &context).unwrap();
        assert_eq!(left.into_items().next().unwrap().number(), 2.0);
    }
}
