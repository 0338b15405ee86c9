//! `<variable>`: sets or removes a variable of the exchange.

use crate::loader::Loader;
use crate::spec::{Built, Spec, once_ready};
use crate::values::ConfiguredValue;
use crate::values::ValueType;
use myelin_config::element::Element;
use myelin_expression::Immediate;
use myelin_expression::Need;
use myelin_expression::{Expression, ResultType};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::Flow;
use myelin_flow::property::{Scope, Slot, Value};

pub(super) const SPEC: Spec = Spec::new("variable", DOC, build);

const DOC: &str = r#"
Sets or removes a variable, which is kept for the whole exchange; it is read as `${vars.name}`, and as `$var:name` in
XPath.

- `name` (required).
- `value` or `expression`: what to set; an expression that finds nothing leaves the variable as it was.
- `type`: `STRING`, `BOOLEAN`, `INTEGER`, `LONG`, `DOUBLE`, `JSON` or `XML`; without it a value is a text, and a result
  keeps the type that a Synapse expression gives it.
  A value that is none of its type is found while loading, a result that is none ends the flow with a fault.
- `action`: `set` (default) or `remove`.

    <variable name="tenant" value="gold"/>
    <variable name="count" type="INTEGER" expression="count(//order)"/>
    <variable name="items" type="JSON" expression="${payload.order.items}"/>
    <variable name="limits" type="JSON" value='{"day": 100, "hour": 10}'/>
    <variable name="tenant" action="remove"/>
"#;

/// The words of the attribute `type`.
const KINDS: [(ValueType, &str); 7] = [
    (ValueType::Text, "STRING"),
    (ValueType::Boolean, "BOOLEAN"),
    (ValueType::Integer, "INTEGER"),
    (ValueType::Long, "LONG"),
    (ValueType::Double, "DOUBLE"),
    (ValueType::Json, "JSON"),
    (ValueType::Xml, "XML"),
];

struct Variable {
    slot: Slot,
    change: Change,
}

enum Change {
    Fixed(Value),
    /// Without a type it is what the expression gives.
    Computed(Expression, Option<ValueType>),
    Remove,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let name = element.required("name")?;
    let slot = loader.names().slot(name.value);
    let change = match element.attribute("action").map_or("set", |action| action.value) {
        "set" => {
            let kind = ValueType::read(element, &KINDS)?;
            let wanted = if kind == ValueType::Xml { ResultType::Nodes } else { ResultType::Text };
            match ConfiguredValue::read_as(element, wanted, loader)? {
                Some(ConfiguredValue::Fixed(text)) => Change::Fixed(kind.fixed(&text, element)?),
                Some(ConfiguredValue::Computed(expression)) => {
                    Change::Computed(expression, element.attribute("type").map(|_| kind))
                }
                None => return Err(element.lacks("<variable> needs value or expression")),
            }
        }
        "remove" => {
            element.forgive();
            Change::Remove
        }
        other => return Err(element.problem(format!("<variable>: action {other:?} is neither set nor remove"))),
    };
    let need = match &change {
        Change::Computed(expression, _) => Need::of([expression]),
        _ => Need::default(),
    };
    once_ready(need, Variable { slot, change })
}

impl Immediate for Variable {
    fn mediate(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        let value = match &self.change {
            Change::Fixed(value) => value.clone(),
            Change::Computed(expression, kind) => {
                let value = match kind {
                    Some(kind @ (ValueType::Text | ValueType::Xml)) => kind.of(expression, exchange, context)?,
                    Some(kind) => expression.typed(exchange, context)?.map(|value| kind.typed(value)).transpose()?,
                    None => expression.typed(exchange, context)?,
                };
                match value {
                    Some(value) => value,
                    None => return Ok(Flow::Next),
                }
            }
            Change::Remove => {
                exchange.properties.put(Scope::Variable, self.slot, None);
                return Ok(Flow::Next);
            }
        };
        exchange.properties.check_room(&value)?;
        exchange.properties.put(Scope::Variable, self.slot, Some(value));
        Ok(Flow::Next)
    }
}

#[cfg(test)]
mod tests {
    use crate::mediators::tests::check;

    #[test]
    fn what_cannot_be_set_is_a_problem_when_loading() {
        check("<variable name='v' value='1' type='INTEGER'/>", "");
        check("<variable name='v' action='remove' type='ANY'/>", "");
        check("<variable name='' value='1'/>", "is empty");
        check("<variable name='v'/>", "needs value or expression");
        check("<variable name='v' value='1' expression='2'/>", "exclude each other");
        check("<variable name='v' value='1.5' type='INTEGER'/>", "\"1.5\" is no INTEGER");
        check("<variable name='v' value='1' type='OM'/>", "unknown: STRING, BOOLEAN");
        check("<variable name='v' value='1' action='keep'/>", "neither set nor remove");
    }
}
