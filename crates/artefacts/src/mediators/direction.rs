//! `<in>` and `<out>`: what is inside runs for requests only, or for responses only.

use crate::loader::Loader;
use crate::spec::{Built, Spec};
use myelin_config::element::Element;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::{Direction, Exchange};
use myelin_flow::mediator::{Effect, Flow, Mediator, Step, Steps};
use myelin_flow::sequence::Block;

pub(super) const IN: Spec =
    Spec::new("in", IN_DOC, |element, loader| build(element, loader, Direction::Request)).only(Direction::Request);

pub(super) const OUT: Spec =
    Spec::new("out", OUT_DOC, |element, loader| build(element, loader, Direction::Response)).only(Direction::Response);

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

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        // A request that was declared a response by the property `RESPONSE` counts as one, as in Synapse.
        if exchange.is_response() == (self.direction == Direction::Response) {
            self.block.run(exchange, context)
        } else {
            Step::Done(exchange, Ok(Flow::Next))
        }
    }
}
