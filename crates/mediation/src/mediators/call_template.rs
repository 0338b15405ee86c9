//! `<call-template>`: a sequence template runs with parameters.

use std::collections::HashSet;
use std::sync::Arc;

use super::setting::{Setting, worked_out};
use crate::config::{Element, Loader, Problem, Text};
use crate::content::{Need, when_ready};
use crate::effect::{Effect, Steps};
use crate::engine;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::fault::{Fault, Outcome};
use crate::function::{Argument, Function, FunctionId, Parameter};
use crate::mediator::{Built, Flow, Mediator, Spec, Step};
use crate::property::{Slot, Value};
use crate::sequence::SequenceId;

pub(super) const SPEC: Spec = Spec { element: "call-template", doc: DOC, build };

const DOC: &str = r#"
Runs a sequence template, then goes on.

- `target`: the name of a template, or an expression in braces whose text is the name.
- `onError`: the sequence that handles faults of the template.
- `with-param`: a parameter's `name` and `value`; `{…}` is worked out now, `{{…}}` is an expression over the message
  that is worked out each time the template reads the parameter, as in Synapse.

In the template the parameters are `$func:name` and `get-property('func', 'name')`; what is not given is its
`defaultValue`, and a fault where the template says `isMandatory="true"`.
A template sees its own parameters only, and may call others, or itself, 100 sequences deep.

    <call-template target="note" onError="audit">
        <with-param name="text" value="{concat('from ', $trp:X-Tenant)}"/>
        <with-param name="what" value="{{//symbol}}"/>
    </call-template>

    <call-template target="{get-property('template')}"/>
"#;

pub(super) struct CallTemplate {
    target: Target,
    arguments: Vec<(Slot, Given)>,
    on_error: Option<SequenceId>,
    need: Need,
}

enum Target {
    Named(FunctionId),
    Computed(Expression),
}

/// What a parameter is given.
enum Given {
    Now(Setting),
    Later(Arc<Expression>),
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let name = element.required("target")?;
    let on_error = match element.attribute("onError").filter(|key| !key.value.trim().is_empty()) {
        Some(key) => Some(loader.sequence_id(key)?),
        None => None,
    };
    element.attribute("description");
    let (target, declared) = match worked_out(name, loader)? {
        Some(expression) => (Target::Computed(expression), None),
        None => {
            let (id, parameters) = loader.function(name)?;
            (Target::Named(id), Some(parameters))
        }
    };
    let mut names = HashSet::new();
    let mut arguments = Vec::new();
    for child in element.children.iter().filter(|child| !child.is("description")) {
        if !child.is("with-param") {
            return Err(child.problem(format!("<call-template> holds <with-param>, not {}", child.tag())));
        }
        let parameter = child.required("name")?;
        if !names.insert(parameter.value) {
            return Err(parameter.problem(format!("{:?} is given twice", parameter.value)));
        }
        if let Some(declared) = &declared
            && !declared.iter().any(|known| known.name == parameter.value)
        {
            let message = format!("{:?} has no effect: the template has no such parameter", parameter.value);
            loader.warning(parameter.problem(message));
        }
        let value = child.attribute("value").ok_or_else(|| child.problem("<with-param> needs a value"))?;
        arguments.push((loader.names().slot(parameter.value), given(value, loader)?));
    }
    for parameter in declared.iter().flat_map(|declared| declared.iter()).filter(|parameter| parameter.is_required()) {
        if !names.contains(parameter.name.as_str()) {
            return Err(element.problem(format!("the template needs the parameter {:?}", parameter.name)));
        }
    }
    let expressions = arguments.iter().filter_map(|(_, given)| match given {
        Given::Now(setting) => setting.expression(),
        Given::Later(_) => None,
    });
    let named = if let Target::Computed(expression) = &target { Some(expression) } else { None };
    let need = Need::of(expressions.chain(named));
    Ok(Box::new(CallTemplate { target, arguments, on_error, need }))
}

/// The same for a template that is known already, with what it is given; whether it fits was looked at.
pub(super) fn calling(target: FunctionId, given: Vec<(Slot, Setting)>) -> CallTemplate {
    let need = Need::of(given.iter().filter_map(|(_, setting)| setting.expression()));
    let arguments = given.into_iter().map(|(slot, setting)| (slot, Given::Now(setting))).collect();
    CallTemplate { target: Target::Named(target), arguments, on_error: None, need }
}

fn given(value: Text<'_>, loader: &mut Loader) -> Result<Given, Problem> {
    let text = value.value;
    let start = text.len() - text.trim_start().len() + 2;
    let Some(inside) = text.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")) else {
        return Setting::of_value(value, loader).map(Given::Now);
    };
    let expression = Expression::compile(value.part(start..start + inside.len()), Wanted::Nodes, loader)?;
    if expression.asks_beyond_the_message() {
        return Err(value.problem("{{…}} looks at the message alone: what else it names, Synapse does not find either"));
    }
    Ok(Given::Later(Arc::new(expression)))
}

impl Parameter {
    fn is_required(&self) -> bool {
        self.is_mandatory && self.default.is_none()
    }
}

impl Mediator for CallTemplate {
    fn effect(&self) -> Effect<'_> {
        let target = match &self.target {
            Target::Named(id) => Steps::Template(*id),
            Target::Computed(_) => Steps::WorkedOut,
        };
        Effect::reading(self.need.reads()).with("", target)
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, scene, |exchange| match self.begin(exchange, scene) {
            Ok(function) => self.run(function, exchange, scene),
            Err(fault) => Step::Done(exchange, Err(fault)),
        })
    }
}

impl CallTemplate {
    /// Finds the template, and leaves its parameters in the exchange.
    fn begin<'a>(&self, exchange: &mut Exchange, scene: &Scene<'a>) -> Outcome<&'a Function> {
        let function = match &self.target {
            Target::Named(id) => scene.bus.function(*id).ok_or_else(engine::missing)?,
            Target::Computed(expression) => {
                let name = expression.text(exchange, scene)?.unwrap_or_default();
                let id = scene.bus.function_ids.get(name.trim());
                id.and_then(|&id| scene.bus.function(id)).ok_or_else(|| {
                    Fault::bus("A template that the configuration calls for does not exist")
                        .with_detail(format!("there is no sound template {name:?}"))
                })?
            }
        };
        let mut frame = Vec::with_capacity(function.parameters.len());
        for parameter in function.parameters.iter() {
            match self.argument(parameter, exchange, scene)? {
                Some(argument) => frame.push((parameter.slot, argument)),
                None if parameter.is_mandatory => {
                    let detail = format!("template {:?} needs {:?}", function.sequence.name, parameter.name);
                    return Err(Fault::bus("A template was called without a parameter it needs").with_detail(detail));
                }
                None => {}
            }
        }
        exchange.functions.push(frame.into());
        Ok(function)
    }

    fn argument(&self, parameter: &Parameter, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Option<Argument>> {
        let given = self.arguments.iter().find(|(slot, _)| *slot == parameter.slot);
        let argument = match given {
            Some((_, Given::Later(expression))) => Some(Argument::Later(Arc::clone(expression))),
            Some((_, Given::Now(setting))) => {
                setting.text(exchange, scene)?.map(|text| Argument::Value(Value::Text(text.as_ref().into())))
            }
            None => None,
        };
        Ok(argument.or_else(|| parameter.default.clone().map(Argument::Value)))
    }

    fn run<'a>(&self, function: &'a Function, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        let (frames, handlers) = (exchange.functions.len(), exchange.handlers.len());
        exchange.handlers.extend(self.on_error);
        match function.sequence.run(exchange, scene) {
            Step::Done(back, outcome) => {
                let outcome = leave(back, frames, handlers, outcome);
                Step::Done(back, outcome)
            }
            Step::Wait(future) => Step::Wait(Box::pin(async move {
                let (back, outcome) = future.await;
                let outcome = leave(back, frames, handlers, outcome);
                (back, outcome)
            })),
        }
    }
}

/// The parameters are gone behind the template; a fault keeps them, as in Synapse, for whoever handles it.
fn leave(exchange: &mut Exchange, frames: usize, handlers: usize, outcome: Outcome<Flow>) -> Outcome<Flow> {
    exchange.handlers.truncate(handlers);
    if outcome.is_ok() {
        exchange.functions.truncate(frames - 1);
    }
    outcome
}
