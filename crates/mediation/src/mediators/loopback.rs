//! `<loopback>`: the current message goes through the out sequence, as if a backend had sent it.

use crate::config::{Element, Loader};
use crate::exchange::{Exchange, Scene};
use crate::fault::Outcome;
use crate::mediator::{Built, Flow, Immediate, Spec, at_once};

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
        Ok(if exchange.is_response() { Flow::Drop } else { Flow::Loopback })
    }
}
