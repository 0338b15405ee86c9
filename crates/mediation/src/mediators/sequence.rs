//! `<sequence>` inside a sequence: a named one runs here, or one that stands here.

use crate::config::{Element, Loader};
use crate::engine;
use crate::exchange::{Exchange, Scene};
use crate::expression::Expression;
use crate::fault::Fault;
use crate::mediator::{Built, Mediator, Spec, Step};
use crate::sequence::{Sequence, SequenceId};

pub(super) const SPEC: Spec = Spec { element: "sequence", doc: DOC, build };

const DOC: &str = r#"
Runs another sequence, then goes on.

- `key`: the name of a sequence, or an expression in braces whose text is the name.
  A fixed name is resolved when the bus starts; a computed one that names no sound sequence is a fault.
- Without `key`, the mediators inside run; `onError` names the sequence that handles their faults.

    <sequence key="audit"/>

    <sequence key="{get-property('target')}"/>

    <sequence onError="audit">
        <log level="simple"/>
    </sequence>
"#;

enum Call {
    Named(SequenceId),
    Computed(Expression),
    Inline(Sequence),
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let Some(key) = element.attribute("key") else {
        element.attribute("name");
        return Ok(Box::new(Call::Inline(loader.sequence("sequence", element))));
    };
    if let Some(child) = element.children.iter().find(|child| !child.is("description")) {
        return Err(child.problem("<sequence key=…> refers to a sequence and holds none"));
    }
    let value = key.value;
    let start = value.len() - value.trim_start().len();
    let call = match value.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(inside) => {
            let from = start + 1;
            Call::Computed(Expression::parse(key.part(from..from + inside.len()), loader.names())?)
        }
        None => Call::Named(loader.sequence_id(key)?),
    };
    Ok(Box::new(call))
}

impl Mediator for Call {
    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        let sequence = match self {
            Call::Inline(sequence) => Ok(sequence),
            Call::Named(id) => scene.bus.sequence(*id).ok_or_else(engine::missing),
            Call::Computed(expression) => {
                let name = expression.text(exchange, scene).unwrap_or_default();
                let id = scene.bus.sequence_ids.get(name.trim());
                id.and_then(|&id| scene.bus.sequence(id)).ok_or_else(|| {
                    Fault::bus("A sequence that the configuration calls for does not exist")
                        .with_detail(format!("there is no sound sequence {name:?}"))
                })
            }
        };
        match sequence {
            Ok(sequence) => sequence.run(exchange, scene),
            Err(fault) => Step::Done(exchange, Err(fault)),
        }
    }
}
