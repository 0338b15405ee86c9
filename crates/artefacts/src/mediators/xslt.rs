//! `<xslt>`: an element of the message becomes what a stylesheet makes of it.

mod goal;
mod place;

use std::sync::Arc;

use myelin_xslt::{Parameter, ParameterValue};

use crate::loader::Loader;
use crate::mediators::xslt::goal::Goal;
use crate::mediators::xslt::place::Place;
use crate::spec::{Built, Spec};
use crate::stylesheets::Named;
use crate::stylesheets::{Job, Sheet, StylesheetKey};
use crate::values::ConfiguredValue;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::{Expression, ResultType};
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow, Mediator, Step};
use myelin_flow::property::Slot;
pub(super) use place::nothing;

pub(super) const SPEC: Spec = Spec::new("xslt", DOC, build);

const DOC: &str = r#"
Replaces an element of the message by what a stylesheet makes of it; all else in the message stays as it came.

- `key` (required): the local entry or the file of the registry that holds the stylesheet, compiled when the bus
  starts; or an expression in braces whose text is the key of one that was found then.
- `source` (XPath): the element to start from and to replace, the first where there are several;
  without it, the first element in the SOAP body.
  Of `$body` and `$header` the content becomes that of the result's root; an envelope takes the place of an envelope.
- `target` (`target-property` in WSO2): the property that gets the result in place of the message.
- `property` elements with `name` and `value` or `expression`: parameters of the stylesheet, as texts;
  `{namespace}local` names a qualified one, and what is not set leaves the stylesheet's default.
- `resource` elements with `location` and `key`: what the stylesheet means by that location where it imports, includes
  or calls `document()`. Without one it may read local entries by their keys, and import from the registry.
- `feature`, `attribute` and `useCache` change nothing: stylesheets are compiled once, and nothing has to be chosen.

The stylesheet sees its source as the only element of a document.
The result is written into the message as XML in UTF-8, whatever `xsl:output` says, its first element alone;
with method `text` it stands in `<text xmlns="http://ws.apache.org/commons/ns/payload">`.
A source or a result without an element is a fault, and so is whatever goes wrong in the stylesheet;
the message is then as it was. What `xsl:message` says goes into the log.

    <xslt key="quote"/>

    <xslt key="{$ctx:stylesheet}" source="//o:order" xmlns:o="urn:orders"/>

    <xslt key="quote" target="result">
        <property name="symbol" expression="//*[local-name() = 'symbol']"/>
        <property name="currency" value="EUR"/>
        <resource location="common.xsl" key="quote"/>
    </xslt>
"#;

/// Features and attributes of Synapse itself: between which representations of a message the JVM's engine works.
const SYNAPSES_OWN: &str = "http://ws.apache.org/ns/synapse/transform/";

struct Xslt {
    key: StylesheetKey,
    /// `None`: the first element in the body.
    source: Option<Expression>,
    parameters: Vec<(String, ConfiguredValue)>,
    target: Option<Slot>,
    need: Need,
    /// The stylesheet, and what it needs of the body, where one pass over the message's bytes may be enough.
    pass: Option<(Arc<Sheet>, Need)>,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let mut named = Vec::new();
    let mut parameters = Vec::new();
    for child in element.children.iter().filter(|child| !child.is("description")) {
        match child.name.as_str() {
            "property" if child.is_synapse() => parameters.push(parameter(child, loader)?),
            "resource" if child.is_synapse() => named.push(resource(child)?),
            "feature" | "attribute" if child.is_synapse() => knob(child, loader)?,
            _ => {
                loader.no_effect(child, "<xslt>", &["property", "resource", "feature", "attribute"]);
            }
        }
    }
    element.attribute("useCache");
    let source = element.attribute("source").filter(|source| !source.value.trim().is_empty());
    let source = source.map(|source| Expression::compile(source, ResultType::Nodes, loader)).transpose()?;
    let target = element.attribute("target").or(element.attribute("target-property"));
    let target = target.filter(|target| !target.value.is_empty()).map(|target| loader.names().slot(target.value));
    let key = StylesheetKey::read(element, &named, loader)?;
    let expressions = parameters.iter().filter_map(|(_, setting)| setting.expression());
    let start = if source.is_none() { Need::tree() } else { Need::default() };
    let need = expressions.chain(&source).chain(key.expression()).fold(start, Need::and);
    let is_plain = source.is_none() && parameters.is_empty() && target.is_none();
    let pass =
        key.fixed().filter(|sheet| is_plain && sheet.is_one_pass()).map(|sheet| (Arc::clone(sheet), Need::read()));
    Ok(Box::new(Xslt { key, source, parameters, target, need, pass }))
}

fn parameter(element: &Element, loader: &mut Loader) -> Result<(String, ConfiguredValue), Problem> {
    let name = element.required("name")?.value.trim().to_owned();
    match ConfiguredValue::read(element, loader)? {
        Some(setting) => Ok((name, setting)),
        None => Err(element.lacks("<property> of <xslt> needs value or expression")),
    }
}

fn resource(element: &Element) -> Result<Named<'_>, Problem> {
    Ok((element.required("location")?, element.required("key")?))
}

/// Reads a feature or attribute, which could only be one of another engine.
fn knob(element: &Element, loader: &mut Loader) -> Result<(), Problem> {
    let name = element.required("name")?;
    let value = element.required("value")?;
    if element.name == "feature" && !matches!(value.value.trim(), "true" | "false") {
        return Err(value.problem(format!("feature {:?} is neither true nor false", value.value)));
    }
    if !name.value.starts_with(SYNAPSES_OWN) {
        loader.warning(name.problem(format!("{} {:?} has no effect here", element.name, name.value)));
    }
    Ok(())
}

impl Xslt {
    /// What is to be done for this message, and where the result goes.
    fn begin(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<(Job, Goal)> {
        let mut parameters = Vec::with_capacity(self.parameters.len());
        for (name, setting) in &self.parameters {
            if let Some(text) = setting.text(exchange, context)? {
                let value = ParameterValue::Text(text.into_owned());
                parameters.push(Parameter { name: name.clone(), value });
            }
        }
        let sheet = self.key.sheet(exchange, context)?;
        let place = Place::find(self.source.as_ref(), exchange, context)?;
        Goal::job(place, self.target, sheet, parameters, exchange)
    }

    /// Transforms on the tree.
    fn on_tree<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, context, |exchange| match self.begin(exchange, context) {
            Ok((job, goal)) => job.run(exchange, context, |exchange, outcome| {
                let outcome = outcome.and_then(|product| goal.reach(product.ok_or_else(Fault::missing)?, exchange));
                Step::Done(exchange, outcome.map(|()| Flow::Next))
            }),
            Err(fault) => Step::Done(exchange, Err(fault)),
        })
    }
}

impl Mediator for Xslt {
    fn effect(&self) -> Effect<'_> {
        let reads = self.pass.as_ref().map_or(&self.need, |(_, need)| need).reads();
        Effect { changes: self.target.is_none(), ..Effect::reading(reads) }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        let Some((sheet, read)) = &self.pass else { return self.on_tree(exchange, context) };
        when_ready(read, exchange, context, |exchange| match Goal::pass(sheet, exchange) {
            None => self.on_tree(exchange, context),
            Some(job) => job.run(exchange, context, |exchange, outcome| match outcome {
                Ok(Some(product)) => {
                    let outcome = Goal::Bytes(None).reach(product, exchange);
                    Step::Done(exchange, outcome.map(|()| Flow::Next))
                }
                Ok(None) => self.on_tree(exchange, context),
                Err(fault) => Step::Done(exchange, Err(fault)),
            }),
        })
    }
}

#[cfg(test)]
mod tests;
