//! `<respond>`: the current message is the answer.

use crate::config::{Element, Loader};
use crate::effect::{Effect, Receiver};
use crate::exchange::{Exchange, Scene};
use crate::fault::Outcome;
use crate::mediator::{Built, Flow, Immediate, Spec, at_once};

pub(super) const SPEC: Spec = Spec { element: "respond", doc: DOC, build };

const DOC: &str = r#"
Ends the flow and answers the client with the current message.
A request is echoed with status 200 and its own header lines; `HTTP_SC` of scope `axis2` sets another status.

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

    fn mediate(&self, _: &mut Exchange, _: &Scene<'_>) -> Outcome<Flow> {
        Ok(Flow::Respond)
    }
}
