//! `<drop>`: the flow ends, and nothing is sent.

use crate::loader::Loader;
use crate::spec::{Built, Spec, at_once};
use myelin_config::element::Element;
use myelin_expression::Immediate;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::Flow;

pub(super) const SPEC: Spec = Spec::new("drop", DOC, build).ends();

const DOC: &str = r"
Ends the flow.
A client whose message is dropped gets 202 with an empty body.
What was sent before stays sent.

    <drop/>
";

struct Drop;

fn build(element: &Element, _: &mut Loader) -> Built {
    element.attribute("description");
    at_once(Drop)
}

impl Immediate for Drop {
    fn mediate(&self, _: &mut Exchange, _: &RequestContext<'_>) -> Outcome<Flow> {
        Ok(Flow::Drop)
    }
}
