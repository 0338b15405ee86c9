//! Operations of connectors that came in an archive: templates, which run with what the operation gives them.

use crate::calls::response::Answer;
use crate::loader::Loader;
use crate::mediators::call_template;
use crate::mediators::connector::operation::answer;
use crate::mediators::connector::parameter::{in_braces, setting};
use crate::spec::{Built, Spec};
use crate::values::ConfiguredValue;
use crate::vocabulary;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::mediator::{Effect, Mediator, Reads, Step, Steps};
use myelin_flow::position::StepPlace;
use myelin_flow::property::Slot;
use myelin_flow::sequence::{Block, Node};

/// What an operation of a connector is called in the trail of a fault, as all of them are.
const ELEMENT: &str = "connector operation";

pub(super) const OPERATION: Spec = Spec::new(ELEMENT, "See docs/connectors.md.", build).sends();

struct Operation {
    /// The template of the connection, if there is one, and that of the operation.
    block: Block,
    answer: Answer,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let Some(template) = loader.operation(element, &element.name)? else {
        return Err(vocabulary::mediator(
            element,
            loader.mediators.elements().chain(loader.mediators.operations_named()),
        ));
    };
    let mut nodes = Vec::new();
    if let Some(key) = element.attribute("configKey").filter(|key| !key.value.trim().is_empty()) {
        nodes.push(connect(key, element, loader)?);
    }
    nodes.push(calling(&template, element, element, loader)?);
    let answer = answer(element, loader)?;
    Ok(Box::new(Operation { block: nodes.into(), answer }))
}

/// What runs the template of the connection that a local entry holds.
fn connect(key: Text<'_>, element: &Element, loader: &mut Loader) -> Result<Node, Problem> {
    if in_braces(key.value).is_some() {
        return Err(key.problem("a connection is named while loading: it cannot be worked out for each message"));
    }
    let init = loader.entry_element(key)?;
    let connector = |name: &str| name.split('.').next().map(str::to_owned);
    if connector(&init.name) != connector(&element.name) {
        let message = format!("{:?} is no connection of this connector: it holds {}", key.value.trim(), init.tag());
        return Err(key.problem(message));
    }
    match loader.operation(element, &init.name)? {
        Some(template) => calling(&template, &init, element, loader),
        None => Err(key.problem(format!("there is no connector for {}", init.tag()))),
    }
}

/// What runs a template with the parameters that stand in an element.
fn calling(template: &str, given: &Element, element: &Element, loader: &mut Loader) -> Result<Node, Problem> {
    let (id, declared) = loader.template(element.standing(template))?;
    let mut arguments: Vec<(Slot, ConfiguredValue)> = Vec::new();
    for child in given.children.iter().filter(|child| !child.is("description")) {
        // WSO2's tools write the name and kind of a connection, whether its template asks for them or not.
        let is_of_tools = matches!(child.name.as_str(), "name" | "connectionType");
        if !declared.iter().any(|known| known.name == child.name) {
            if is_of_tools {
                continue;
            }
            let message = format!("{} has no effect in {}: it has no such parameter", child.tag(), given.tag());
            let names: Vec<&str> = declared.iter().map(|known| &*known.name).collect();
            loader.warning(child.misnamed(message, &names));
            continue;
        }
        if let Some(inside) = child.children.first() {
            let message = format!(
                "{}: elements in a parameter ({}) are for Java classes alone; a template gets text, which XML is in CDATA",
                child.tag(),
                inside.tag()
            );
            return Err(child.problem(message));
        }
        let slot = loader.names().slot(&child.name);
        if !child.text().value.is_empty() && !arguments.iter().any(|(known, _)| *known == slot) {
            arguments.push((slot, setting(child.text(), loader)?));
        }
    }
    let mediator = Box::new(call_template::calling(id, arguments));
    Ok(Node { step: StepPlace { element: ELEMENT, place: element.place.clone() }, expression: None, mediator })
}

impl Mediator for Operation {
    fn effect(&self) -> Effect<'_> {
        let reads = if matches!(self.answer, Answer::Variable(_)) { Reads::Whole } else { Reads::Nothing };
        Effect::reading(reads).with("", Steps::Block(&self.block))
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        if let Answer::Message = self.answer {
            return self.block.run(exchange, context);
        }
        Step::Wait(Box::pin(async move {
            let run = async |exchange: &mut Exchange| self.block.run(exchange, context).finish().await.1;
            let outcome = self.answer.run(exchange, context, run).await;
            (exchange, outcome)
        }))
    }
}
