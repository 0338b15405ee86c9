//! `<loopback>`: the current message goes through the out sequence, as if a backend had sent it.

use crate::loader::Loader;
use crate::spec::{Built, Spec, at_once};
use myelin_config::element::Element;
use myelin_expression::Immediate;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::Flow;
use myelin_flow::property::{Scope, slot};

pub(super) const SPEC: Spec = Spec::new("loopback", DOC, build).ends();

const DOC: &str = r#"
Ends the in sequence; the current message goes on in the out sequence, as if it were the response of a backend.
Without an out sequence it is the answer.
In the out sequence it only ends the flow, as in Synapse.

    <filter xpath="$url:dry = 'true'">
        <loopback/>
    </filter>
"#;

struct Loopback;

fn build(element: &Element, _: &mut Loader) -> Built {
    element.attribute("description");
    at_once(Loopback)
}

impl Immediate for Loopback {
    fn mediate(&self, exchange: &mut Exchange, _: &RequestContext<'_>) -> Outcome<Flow> {
        let is_answer = exchange.answering || exchange.properties.is_true(Scope::Default, slot::RESPONSE);
        Ok(if is_answer { Flow::Drop } else { Flow::Loopback })
    }
}
