//! Values: what the host knows, and expressions over what was collected.

use super::super::plan::{COLLECTOR_SLOTS, Kind, Term};
use super::state::{Run, Scalar, Scene};
use crate::ast::Expr;
use crate::value::{Atomic, Item, Value};
use crate::{Context, Error, Host, Version, evaluate};

/// The host of a term: some of its variables are collectors.
struct Collected<'r> {
    run: &'r Run,
    scene: Scene<'r>,
}

impl<'a> Host<'a> for Collected<'_> {
    fn variable(&'a self, slot: u32) -> Result<Value<'a>, Error> {
        let Some(index) = slot.checked_sub(COLLECTOR_SLOTS) else { return self.scene.host.variable(slot) };
        let found = self.run.certain(self.scene, index as usize);
        Ok(match self.scene.plan.collectors[index as usize].kind {
            Kind::Count => Value::from(found.count as f64),
            _ => Value::from(found.text.as_str()),
        })
    }

    fn call(&'a self, slot: u32, arguments: &[Value<'a>], item: Option<&Item<'a>>) -> Result<Value<'a>, Error> {
        self.scene.host.call(slot, arguments, item)
    }
}

impl Run {
    /// Reads the operands that only the host knows.
    pub(super) fn read_constants(&mut self, scene: Scene<'_>) {
        for (index, expr) in scene.plan.constants.iter().enumerate() {
            self.read_constant(scene, index, expr);
        }
    }

    fn read_constant(&mut self, scene: Scene<'_>, index: usize, expr: &Expr) {
        let value = evaluate::evaluate(expr, Version::V1, &Context::new(scene.host));
        let constant = &mut self.constants[index];
        constant.text.clear();
        constant.value = match value {
            Ok(Value::Item(Item::Atomic(Atomic::Boolean(truth)))) => Scalar::Boolean(truth),
            Ok(Value::Item(Item::Atomic(Atomic::Double(number)))) => Scalar::Number(number),
            Ok(Value::Item(Item::Atomic(Atomic::Text(text, _)))) => {
                constant.text.push_str(&text);
                Scalar::Text
            }
            // Comparisons with several items or with what only later versions know are left to the tree.
            _ => Scalar::Unusable,
        };
    }

    /// A term as a condition; `None`: it has an error, which the tree will find again.
    pub(super) fn boolean(&self, scene: Scene<'_>, term: &Term) -> Option<bool> {
        let host = Collected { run: self, scene };
        evaluate::condition(&term.expr, Version::V1, &Context::new(&host)).ok()
    }

    /// A term as a number; `None`: as for a condition.
    pub(super) fn number(&self, scene: Scene<'_>, term: &Term) -> Option<f64> {
        let host = Collected { run: self, scene };
        let value = evaluate::evaluate(&term.expr, Version::V1, &Context::new(&host));
        value.ok().map(|value| value.number())
    }

    /// Appends a term as a text; whether that could be done: nodes of the host's are left to the tree.
    pub(super) fn write_text(&self, scene: Scene<'_>, term: &Term, text: &mut String) -> bool {
        let host = Collected { run: self, scene };
        match evaluate::evaluate(&term.expr, Version::V1, &Context::new(&host)) {
            Ok(value @ Value::Item(Item::Atomic(_))) => {
                text.push_str(&value.string());
                true
            }
            _ => false,
        }
    }
}
