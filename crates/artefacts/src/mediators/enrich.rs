//! `<enrich>`: takes something from one place of an exchange and puts it into another.

mod attributes;
mod inline;
mod source;
mod target;

use crate::loader::Loader;
use crate::mediators::enrich::source::Source;
use crate::mediators::enrich::target::EnrichTarget;
use crate::message_edits::EditAction;
use crate::spec::{Built, Spec, once_ready};
use crate::words::unknown_word;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::Immediate;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::{Effect, Flow};
use myelin_flow::property::{Scope, slot};

pub(super) const SPEC: Spec = Spec::new("enrich", DOC, build);

const DOC: &str = r#"
Takes something from one place and puts it into another; all else in the message stays as it came.

`source`:

- `type`: `custom` (default, what `xpath` finds), `body` (the first element in the SOAP body, or the JSON),
  `envelope`, `property` (named by `property`), `variable` (named by `variable`), `inline` (the element or text inside,
  or the local entry named by `key`).
  In what stands inside, `{$ctx:x}` or `{json-eval($.x)}` is a hole for an expression, whose value gets quotes where it is
  neither JSON nor XML, and `${…}` one for a Synapse expression, whose value is written as in `payloadFactory`.
  In JSON and XML a value is escaped so that it stays in its place; in quotes it is a text.
- `clone`: `true` (default) copies; `false` moves what is taken from the message to another place in it.

`target`:

- `type`: `custom` (default, the first node that `xpath` finds), `body`, `envelope`, `property`, `variable`;
  `key` gives the members that a `json-eval` path finds the name that `source` holds.
- `action`: `replace` (default), `child` (behind what is inside the target), `sibling` (behind the target),
  `remove` (takes what `source` finds out of the target, which is the body, or JSON in a property).

A text in the place of an element becomes its content; it can take the place of an attribute's value, too.
A path of `json-eval` as the target is one for all it finds; a child of an array goes behind its last element,
the members of an object become those of an object; `child` does the same for JSON in a property or variable.
XML at a path of `json-eval` becomes JSON. JSON in a variable is JSON, in a property a text.
A source that finds nothing is said in the log and changes nothing, save that it empties a property;
a target that finds nothing is a fault.

    <enrich>
        <source type="body"/>
        <target type="property" property="request"/>
    </enrich>
    <enrich>
        <source type="inline"><query xmlns="urn:stock"><symbol/></query></source>
        <target type="body"/>
    </enrich>
    <enrich>
        <source xpath="$ctx:request/o:symbol/text()" xmlns:o="urn:orders"/>
        <target xpath="//s:symbol" xmlns:s="urn:stock"/>
    </enrich>

    <enrich>
        <source type="inline" key="greeting"/>
        <target action="child" xpath="$header"/>
    </enrich>

    <enrich>
        <source type="inline">{"paid": true}</source>
        <target action="child" xpath="json-eval($.orders[*])"/>
    </enrich>
    <enrich>
        <source type="inline">{"customer": {json-eval($.customer)}, "region": {$ctx:region}}</source>
        <target type="variable" variable="request"/>
    </enrich>
    <enrich>
        <source xpath="json-eval($.secret, $..password)"/>
        <target type="body" action="remove"/>
    </enrich>
"#;

struct Enrich {
    source: Source,
    target: EnrichTarget,
    action: EditAction,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let mut parts = [("source", None), ("target", None)];
    for child in element.children.iter().filter(|child| !child.is("description")) {
        match parts.iter_mut().find(|(name, part)| child.is(name) && part.is_none()) {
            Some((_, part)) => *part = Some(child),
            None => return Err(child.problem(format!("<enrich> holds one source and one target, not {}", child.tag()))),
        }
    }
    let [(_, Some(source)), (_, Some(target))] = parts else {
        return Err(element.problem("<enrich> needs a source and a target"));
    };
    let action = action(target)?;
    let source = Source::read(source, action, loader)?;
    let target = EnrichTarget::read(target, action, &source, loader)?;
    let need = target.need(source.need());
    once_ready(need, Enrich { source, target, action })
}

fn action(target: &Element) -> Result<EditAction, Problem> {
    let Some(action) = target.attribute("action") else { return Ok(EditAction::Replace) };
    match action.value {
        "replace" | "" => Ok(EditAction::Replace),
        "child" => Ok(EditAction::Child),
        "sibling" => Ok(EditAction::Sibling),
        "remove" => Ok(EditAction::Remove),
        other => Err(action.problem(unknown_word("action", other, &["replace", "child", "sibling", "remove"]))),
    }
}

impl Immediate for Enrich {
    fn effect(&self) -> Effect<'_> {
        Effect { changes: self.target.is_in_message(), ..Effect::default() }
    }

    fn mediate(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        if self.action == EditAction::Remove {
            self.source.remove_from(&self.target, exchange, context)?;
            return Ok(Flow::Next);
        }
        match self.source.take(exchange, context)? {
            Some(content) => self.target.put(content, &self.source, self.action, exchange, context)?,
            None => {
                tracing::warn!(target: "myelin::enrich", "the source of enrich finds nothing");
                self.target.without_source(&self.source, exchange)?;
            }
        }
        if matches!(self.target, EnrichTarget::Body | EnrichTarget::Envelope) {
            exchange.properties.put(Scope::Axis2, slot::NO_ENTITY_BODY, None);
        }
        Ok(Flow::Next)
    }
}

#[cfg(test)]
mod tests;
