//! `<drop>`: the flow ends, and nothing is sent.

use crate::config::{Element, Loader};
use crate::exchange::{Exchange, Scene};
use crate::fault::Outcome;
use crate::mediator::{Built, Flow, Immediate, Spec, at_once};

pub(super) const SPEC: Spec = Spec { element: "drop", doc: DOC, build };

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
    fn mediate(&self, _: &mut Exchange, _: &Scene<'_>) -> Outcome<Flow> {
        Ok(Flow::Drop)
    }
}
