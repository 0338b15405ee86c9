//! `<respond>`: the current message is the answer.

use crate::loader::Loader;
use crate::spec::{Built, Spec, at_once};
use myelin_config::element::Element;
use myelin_expression::Immediate;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::{Effect, Flow, Receiver};

pub(super) const SPEC: Spec = Spec::new("respond", DOC, build).ends();

const DOC: &str = r#"
Ends the flow and answers the client with the current message.
A request is echoed with status 200 and its own header lines, save its credentials; `HTTP_SC` of scope `axis2` sets another status.

    <property name="HTTP_SC" value="404" scope="axis2"/>
    <respond/>
"#;

struct Respond;

fn build(element: &Element, _: &mut Loader) -> Built {
    element.attribute("description");
    at_once(Respond)
}

impl Immediate for Respond {
    fn effect(&self) -> Effect<'_> {
        Effect::sending(Receiver::Client)
    }

    fn mediate(&self, _: &mut Exchange, _: &RequestContext<'_>) -> Outcome<Flow> {
        Ok(Flow::Respond)
    }
}
