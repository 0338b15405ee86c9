//! `<builder>`: the body is read and understood now.

use crate::loader::Loader;
use crate::spec::{Built, Spec, once_ready};
use myelin_config::element::Element;
use myelin_expression::Immediate;
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::Flow;

pub(super) const SPEC: Spec = Spec::new("builder", DOC, build);

const DOC: &str = r#"
Reads and understands the body at this place, as whoever looks into it does anyway.
What is not what its content type says is a fault here and not further on.

- `messageBuilder` inside: `contentType` and the Java `class` that Synapse builds it with.
  XML and JSON are built by this bus itself, and the class is not used.

    <builder/>
"#;

struct Builder;

fn build(element: &Element, loader: &mut Loader) -> Built {
    for child in &element.children {
        if !child.is("messageBuilder") {
            return Err(child.problem(format!("<builder> holds messageBuilder, not {}", child.tag())));
        }
        let content_type = child.required("contentType")?.value;
        for name in ["class", "formatterClass"] {
            if let Some(class) = child.attribute(name) {
                let message = format!("{} is not used: the bus itself builds {content_type}", class.value);
                loader.warning(class.problem(message));
            }
        }
    }
    element.attribute("description");
    once_ready(Need::built(), Builder)
}

impl Immediate for Builder {
    fn mediate(&self, _: &mut Exchange, _: &RequestContext<'_>) -> Outcome<Flow> {
        Ok(Flow::Next)
    }
}

#[cfg(test)]
mod tests {
    use crate::mediators::tests::check;

    #[test]
    fn builders_of_messages_name_a_content_type() {
        check("<builder><messageBuilder contentType='text/xml' class='a.B'/></builder>", "");
        check("<builder><messageBuilder class='a.B'/></builder>", "contentType");
        check("<builder><other/></builder>", "not <other>");
    }
}
