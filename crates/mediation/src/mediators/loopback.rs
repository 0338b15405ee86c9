//! `<loopback>`: the current message goes through the out sequence, as if a backend had sent it.

use crate::config::{Element, Loader};
use crate::exchange::{Exchange, Scene};
use crate::fault::Outcome;
use crate::mediator::{Built, Flow, Immediate, Spec, at_once};
use crate::property::{Scope, slot};

pub(super) const SPEC: Spec = Spec { element: "loopback", doc: DOC, build };

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
    fn mediate(&self, exchange: &mut Exchange, _: &Scene<'_>) -> Outcome<Flow> {
        let is_answer = exchange.answering || exchange.properties.is_true(Scope::Default, slot::RESPONSE);
        Ok(if is_answer { Flow::Drop } else { Flow::Loopback })
    }
}
