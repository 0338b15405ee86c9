//! `<sequence>` inside a sequence: a named one runs here, or one that stands here.

use super::setting::worked_out;
use crate::config::{Element, Loader};
use crate::content::{Need, when_ready};
use crate::effect::{Effect, Steps};
use crate::engine;
use crate::exchange::{Exchange, Scene};
use crate::expression::Expression;
use crate::fault::{Fault, Outcome};
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
    Computed(Expression, Need),
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
    let call = match worked_out(key, loader)? {
        Some(expression) => {
            let need = Need::of([&expression]);
            Call::Computed(expression, need)
        }
        None => Call::Named(loader.sequence_id(key)?),
    };
    Ok(Box::new(call))
}

impl Mediator for Call {
    fn effect(&self) -> Effect<'_> {
        match self {
            Call::Named(id) => Effect::default().with("", Steps::Named(*id)),
            Call::Inline(sequence) => Effect::default().with("", Steps::Sequence(sequence)),
            Call::Computed(_, need) => Effect::reading(need.reads()).with("", Steps::WorkedOut),
        }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        match self {
            Call::Inline(sequence) => sequence.run(exchange, scene),
            Call::Named(id) => match scene.bus.sequence(*id) {
                Some(sequence) => sequence.run(exchange, scene),
                None => Step::Done(exchange, Err(engine::missing())),
            },
            Call::Computed(expression, need) => {
                when_ready(need, exchange, scene, |exchange| match computed(expression, exchange, scene) {
                    Ok(sequence) => sequence.run(exchange, scene),
                    Err(fault) => Step::Done(exchange, Err(fault)),
                })
            }
        }
    }
}

/// The sequence that an expression names.
fn computed<'a>(expression: &Expression, exchange: &Exchange, scene: &Scene<'a>) -> Outcome<&'a Sequence> {
    named(&expression.text(exchange, scene)?.unwrap_or_default(), scene).map(|(_, sequence)| sequence)
}

/// The sequence with a name that came up while serving.
///
/// Errors: the bus's, where there is no sound one.
pub(crate) fn named<'a>(name: &str, scene: &Scene<'a>) -> Outcome<(SequenceId, &'a Sequence)> {
    let id = scene.bus.sequence_ids.get(name.trim()).copied();
    id.and_then(|id| Some((id, scene.bus.sequence(id)?))).ok_or_else(|| {
        Fault::bus("A sequence that the configuration calls for does not exist")
            .with_detail(format!("there is no sound sequence {name:?}"))
    })
}
