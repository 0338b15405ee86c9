//! `<call-template>`: a sequence template runs with parameters.

use std::collections::HashSet;
use std::sync::Arc;

use crate::calls::response::Answer;
use crate::loader::Loader;
use crate::spec::{Built, Spec};
use crate::values::{ConfiguredValue, embedded_expression};
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_expression::{DeferredExpression, Expression, ResultType};
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow, Mediator, Reads, Step, Steps};
use myelin_flow::property::{Slot, Value};
use myelin_flow::sequence::SequenceId;
use myelin_flow::template::{Argument, Deferred, Parameter, SequenceTemplate, TemplateId};

pub(super) const SPEC: Spec = Spec::new("call-template", DOC, build);

const DOC: &str = r#"
Runs a sequence template, then goes on.

- `target`: the name of a template, or an expression in braces whose text is the name.
- `onError`: the sequence that handles faults of the template.
- `with-param`: a parameter's `name` and `value`; `{…}` is worked out now, `{{…}}` is an expression over the message
  that is worked out each time the template reads the parameter, as in Synapse.

In the template the parameters are `$func:name` and `get-property('func', 'name')`; what is not given is its
`defaultValue`, and a fault where the template says `isMandatory="true"`.
The parameter `responseVariable` names a variable that gets what the template made of the message: its `payload`, its
`headers` and, where a backend answered, `attributes.statusCode`; the message is then as it was before. With
`overwriteBody` set to `true` the message is what the template made, and the variable holds no payload. Both work with
every template, as in WSO2.

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
    /// What keeps the result of the template in a variable.
    response: Option<ResponseVariable>,
    need: Need,
}

/// The parameters that say where the result of a template goes.
struct ResponseVariable {
    /// The name of a variable; where it is empty, the result is the message.
    name: ConfiguredValue,
    overwrites: Option<ConfiguredValue>,
}

enum Target {
    Named(TemplateId),
    Computed(Expression),
}

/// What a parameter is given.
enum Given {
    Now(ConfiguredValue),
    Later(Arc<DeferredExpression>),
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let name = element.required("target")?;
    let on_error = match element.attribute("onError").filter(|key| !key.value.trim().is_empty()) {
        Some(key) => loader.handler_id(key)?,
        None => None,
    };
    element.attribute("description");
    let (target, declared) = match embedded_expression(name, loader)? {
        Some(expression) => (Target::Computed(expression), None),
        None => {
            let (id, parameters) = loader.template(name)?;
            (Target::Named(id), Some(parameters))
        }
    };
    let (mut response_variable, mut overwrites) = (None, None);
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
        let value = child.attribute("value").ok_or_else(|| child.lacks("<with-param> needs a value"))?;
        let says_where = match parameter.value {
            "responseVariable" => Some(&mut response_variable),
            "overwriteBody" => Some(&mut overwrites),
            _ => None,
        };
        if let Some(declared) = &declared
            && says_where.is_none()
            && !declared.iter().any(|known| known.name == parameter.value)
        {
            let message = format!("{:?} has no effect: the template has no such parameter", parameter.value);
            loader.warning(parameter.problem(message));
        }
        if let Some(says_where) = says_where {
            *says_where = Some(ConfiguredValue::of_value(value, loader)?);
        }
        arguments.push((loader.names().slot(parameter.value), given(value, loader)?));
    }
    for parameter in declared.iter().flat_map(|declared| declared.iter()).filter(|parameter| parameter.is_required()) {
        if !names.contains(parameter.name.as_str()) {
            return Err(element.problem(format!("the template needs the parameter {:?}", parameter.name)).latent());
        }
    }
    let response = response_variable.map(|name| ResponseVariable { name, overwrites });
    let settings = response.iter().flat_map(|response| std::iter::once(&response.name).chain(&response.overwrites));
    let expressions = settings.filter_map(ConfiguredValue::expression);
    let expressions = expressions.chain(arguments.iter().filter_map(|(_, given)| match given {
        Given::Now(setting) => setting.expression(),
        Given::Later(_) => None,
    }));
    let named = if let Target::Computed(expression) = &target { Some(expression) } else { None };
    let need = Need::of(expressions.chain(named));
    Ok(Box::new(CallTemplate { target, arguments, on_error, response, need }))
}

/// The same for a template that is known already, with what it is given; whether it fits was looked at.
pub(super) fn calling(target: TemplateId, given: Vec<(Slot, ConfiguredValue)>) -> CallTemplate {
    let need = Need::of(given.iter().filter_map(|(_, setting)| setting.expression()));
    let arguments = given.into_iter().map(|(slot, setting)| (slot, Given::Now(setting))).collect();
    CallTemplate { target: Target::Named(target), arguments, on_error: None, response: None, need }
}

fn given(value: Text<'_>, loader: &mut Loader) -> Result<Given, Problem> {
    let text = value.value;
    let start = text.len() - text.trim_start().len() + 2;
    let Some(inside) = text.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")) else {
        return ConfiguredValue::of_value(value, loader).map(Given::Now);
    };
    let expression = Expression::compile(value.part(start..start + inside.len()), ResultType::Nodes, loader)?;
    if expression.asks_beyond_the_message() {
        return Err(value.problem("{{…}} looks at the message alone: what else it names, Synapse does not find either"));
    }
    Ok(Given::Later(Arc::new(expression.into())))
}

impl Mediator for CallTemplate {
    fn effect(&self) -> Effect<'_> {
        let target = match &self.target {
            Target::Named(id) => Steps::Template(*id),
            Target::Computed(_) => Steps::WorkedOut,
        };
        let reads = if self.response.is_some() { Reads::Whole } else { self.need.reads() };
        Effect::reading(reads).with("", target)
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, context, move |exchange| {
            let answer = match self.response.as_ref().map(|response| response.answer(exchange, context)) {
                None | Some(Ok(Answer::Message)) => return self.begin_and_run(exchange, context),
                Some(Ok(answer)) => answer,
                Some(Err(fault)) => return Step::Done(exchange, Err(fault)),
            };
            Step::Wait(Box::pin(async move {
                let run = async |exchange: &mut Exchange| self.begin_and_run(exchange, context).finish().await.1;
                let outcome = answer.run(exchange, context, run).await;
                (exchange, outcome)
            }))
        })
    }
}

impl ResponseVariable {
    /// Where the result of the template goes this time.
    fn answer(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Answer> {
        let name = self.name.text(exchange, context)?.unwrap_or_default().trim().to_owned();
        if name.is_empty() {
            return Ok(Answer::Message);
        }
        let overwrites = match &self.overwrites {
            Some(overwrites) => overwrites.text(exchange, context)?.unwrap_or_default().eq_ignore_ascii_case("true"),
            None => false,
        };
        let slot = exchange.properties.slot_to_set(&name, &context.definitions.names)?;
        Ok(if overwrites { Answer::MessageAndVariable(slot) } else { Answer::Variable(slot) })
    }
}

impl CallTemplate {
    fn begin_and_run<'a>(&self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        match self.begin(exchange, context) {
            Ok(template) => self.run(template, exchange, context),
            Err(fault) => Step::Done(exchange, Err(fault)),
        }
    }

    /// Finds the template, and leaves its parameters in the exchange.
    fn begin<'a>(&self, exchange: &mut Exchange, context: &RequestContext<'a>) -> Outcome<&'a SequenceTemplate> {
        let template = match &self.target {
            Target::Named(id) => context.definitions.template(*id).ok_or_else(Fault::missing)?,
            Target::Computed(expression) => {
                let name = expression.text(exchange, context)?.unwrap_or_default();
                let id = context.definitions.template_ids.get(name.trim());
                id.and_then(|&id| context.definitions.template(id)).ok_or_else(|| {
                    Fault::bus("A template that the configuration calls for does not exist")
                        .with_detail(format!("there is no sound template {name:?}"))
                })?
            }
        };
        let mut frame = Vec::with_capacity(template.parameters.len());
        for parameter in template.parameters.iter() {
            match self.argument(parameter, exchange, context)? {
                Some(argument) => frame.push((parameter.slot, argument)),
                None if parameter.is_mandatory => {
                    let detail = format!("template {:?} needs {:?}", template.sequence.name, parameter.name);
                    return Err(Fault::bus("A template was called without a parameter it needs").with_detail(detail));
                }
                None => {}
            }
        }
        exchange.template_frames.push(frame.into());
        Ok(template)
    }

    fn argument(
        &self,
        parameter: &Parameter,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Option<Argument>> {
        let given = self.arguments.iter().find(|(slot, _)| *slot == parameter.slot);
        let argument = match given {
            Some((_, Given::Later(expression))) => {
                Some(Argument::Deferred(Arc::clone(expression) as Arc<dyn Deferred>))
            }
            Some((_, Given::Now(setting))) => {
                setting.text(exchange, context)?.map(|text| Argument::Value(Value::Text(text.as_ref().into())))
            }
            None => None,
        };
        Ok(argument.or_else(|| parameter.default.clone().map(Argument::Value)))
    }

    fn run<'a>(
        &self,
        template: &'a SequenceTemplate,
        exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> Step<'a> {
        let (frames, handlers) = (exchange.template_frames.len(), exchange.handlers.len());
        exchange.handlers.extend(self.on_error);
        match template.sequence.run(exchange, context) {
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
        exchange.template_frames.truncate(frames - 1);
    }
    outcome
}
