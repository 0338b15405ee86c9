//! `<sequence>` inside a sequence: a named one runs here, or one that stands here.

use crate::loader::Loader;
use crate::spec::{Built, Spec};
use crate::values::embedded_expression;
use myelin_config::element::Element;
use myelin_expression::Expression;
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Mediator, Step, Steps};
use myelin_flow::sequence::named;
use myelin_flow::sequence::{Sequence, SequenceId};

pub(super) const SPEC: Spec = Spec::new("sequence", DOC, build);

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
    let call = match embedded_expression(key, loader)? {
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

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        match self {
            Call::Inline(sequence) => sequence.run(exchange, context),
            Call::Named(id) => match context.definitions.sequence(*id) {
                Some(sequence) => sequence.run(exchange, context),
                None => Step::Done(exchange, Err(Fault::missing())),
            },
            Call::Computed(expression, need) => {
                when_ready(need, exchange, context, |exchange| match computed(expression, exchange, context) {
                    Ok(sequence) => sequence.run(exchange, context),
                    Err(fault) => Step::Done(exchange, Err(fault)),
                })
            }
        }
    }
}

/// The sequence that an expression names.
fn computed<'a>(expression: &Expression, exchange: &Exchange, context: &RequestContext<'a>) -> Outcome<&'a Sequence> {
    named(&expression.text(exchange, context)?.unwrap_or_default(), context).map(|(_, sequence)| sequence)
}
