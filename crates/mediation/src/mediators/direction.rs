//! `<in>` and `<out>`: what is inside runs for requests only, or for responses only.

use crate::config::{Element, Loader};
use crate::effect::{Effect, Steps};
use crate::exchange::{Direction, Exchange, Scene};
use crate::mediator::{Built, Flow, Mediator, Spec, Step};
use crate::sequence::Block;

pub(super) const IN: Spec =
    Spec { element: "in", doc: IN_DOC, build: |element, loader| build(element, loader, Direction::Request) };

pub(super) const OUT: Spec =
    Spec { element: "out", doc: OUT_DOC, build: |element, loader| build(element, loader, Direction::Response) };

const IN_DOC: &str = r#"
Runs the mediators inside for requests only; `main` sees requests and responses alike.

    <in>
        <send>
            <endpoint key="quotes"/>
        </send>
    </in>
"#;

const OUT_DOC: &str = r"
Runs the mediators inside for responses only.

    <out>
        <send/>
    </out>
";

struct Directed {
    direction: Direction,
    block: Block,
}

fn build(element: &Element, loader: &mut Loader, direction: Direction) -> Built {
    element.attribute("description");
    Ok(Box::new(Directed { direction, block: loader.block(element) }))
}

impl Mediator for Directed {
    fn effect(&self) -> Effect<'_> {
        let label = if self.direction == Direction::Response { "for responses" } else { "for requests" };
        Effect::default().with(label, Steps::Block(&self.block))
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        // A request that was declared a response by the property `RESPONSE` counts as one, as in Synapse.
        if exchange.is_response() == (self.direction == Direction::Response) {
            self.block.run(exchange, scene)
        } else {
            Step::Done(exchange, Ok(Flow::Next))
        }
    }
}
