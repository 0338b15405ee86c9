//! `<propertyGroup>`: several properties at once.

use crate::loader::Loader;
use crate::spec::{Built, Spec};
use myelin_config::element::Element;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::mediator::{Effect, Mediator, Step, Steps};
use myelin_flow::sequence::Block;

pub(super) const SPEC: Spec = Spec::new("propertyGroup", DOC, build);

const DOC: &str = r#"
Sets and removes properties one after the other.

    <propertyGroup>
        <property name="a" value="1"/>
        <property name="b" action="remove"/>
    </propertyGroup>
"#;

struct PropertyGroup {
    block: Block,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    element.attribute("description");
    if let Some(child) = element.children.iter().find(|child| !child.is("property") && !child.is("description")) {
        return Err(child.problem(format!("<propertyGroup> holds properties, not {}", child.tag())));
    }
    Ok(Box::new(PropertyGroup { block: loader.block(element) }))
}

impl Mediator for PropertyGroup {
    fn effect(&self) -> Effect<'_> {
        Effect::default().with("", Steps::Block(&self.block))
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        self.block.run(exchange, context)
    }
}
