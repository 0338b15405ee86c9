//! `<throwError>`: the flow fails here, with a code and a sentence of the configuration.

use std::sync::Arc;

use crate::loader::Loader;
use crate::spec::{Built, Spec, once_ready};
use crate::values::ConfiguredValue;
use myelin_config::element::Element;
use myelin_expression::Immediate;
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::Flow;

pub(super) const SPEC: Spec = Spec::new("throwError", DOC, build).ends();

const DOC: &str = r#"
Ends the flow with a fault: the nearest handler runs (`onError`, the fault sequence), as after any other failure.

- `type` (required): what the handler finds as `ERROR_CODE`, a number or a word.
- `errorMessage` (required): what it finds as `ERROR_MESSAGE`; an expression in braces is worked out.

Where no handler answers, the client gets 500 with both.

    <throwError type="VALIDATION" errorMessage="The order has no symbol"/>

    <throwError type="40001" errorMessage="{concat('There is no quote for ', get-property('symbol'))}"/>
"#;

struct ThrowError {
    kind: Arc<str>,
    message: ConfiguredValue,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let kind = element.required("type")?.value.into();
    let message = ConfiguredValue::of_value(element.required("errorMessage")?, loader)?;
    element.attribute("description");
    once_ready(Need::of(message.expression()), ThrowError { kind, message })
}

impl Immediate for ThrowError {
    fn mediate(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        let message = self.message.text(exchange, context)?.unwrap_or_default();
        Err(Fault::thrown(&self.kind, message))
    }
}

#[cfg(test)]
mod tests {
    use crate::mediators::tests::check;

    #[test]
    fn both_attributes_are_asked_for() {
        check("<throwError type='A' errorMessage='b'/>", "");
        check("<throwError errorMessage='b'/>", "\"type\" is missing");
        check("<throwError type='A'/>", "\"errorMessage\" is missing");
        check("<throwError type='A' errorMessage='{1 +}'/>", "expression");
    }
}
