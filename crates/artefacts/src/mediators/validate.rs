//! `<validate>`: mediators that run where a message is not as a schema has it.

mod key;

use std::sync::Arc;
use std::time::Duration;

use crate::loader::Loader;
use crate::mediators::validate::key::Keys;
use crate::schemas::{Complaint, Schema, Schemas};
use crate::spec::{Built, Spec};
use crate::stylesheets::Named;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_content::Format;
use myelin_content::text_of;
use myelin_expression::{Expression, ResultType};
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow, Mediator, Step, Steps};
use myelin_flow::offload::offload;
use myelin_flow::property::{Scope, Value, slot};
use myelin_flow::recorder::StepDecision;
use myelin_flow::sequence::Block;
use myelin_flow::transport::within;

pub(super) const SPEC: Spec = Spec::new("validate", DOC, build);

const DOC: &str = r#"
Checks the message by a schema, and runs `on-fail` where it is not valid; then the flow goes on behind, unless something
in `on-fail` ended it. See [validation](validation.md).

- `schema` elements with `key`: local entries or files of the registry, compiled when the bus starts.
  XML is checked by all W3C XML Schemas among them together, JSON by the JSON Schema.
  A key `{…}` is worked out for each message, and means a local entry or a file that ends in `.xsd` or `.json`, which is
  compiled when it is asked for first.
- `source`: the element to be checked (XPath), or the part of JSON (`json-eval(…)`); without it the first element in the
  SOAP body, or the whole JSON. Where there is no such element, the message is not valid.
- `on-fail` (required): what runs then. `ERROR_MESSAGE` holds what is wrong, a line for each complaint, and
  `ERROR_DETAIL` where.
- `resource` elements with `location` and `key`: what schemas mean by that location where they include or import; other
  locations are looked for beside the schema in the registry. Nothing is fetched over the network.
- `feature` and `cache-schema` change nothing.

    <validate>
        <schema key="order-types"/>
        <on-fail>
            <log level="custom">
                <property name="wrong" expression="$ctx:ERROR_MESSAGE"/>
            </log>
            <drop/>
        </on-fail>
    </validate>

    <validate source="json-eval($.order)">
        <schema key="order-schema"/>
        <on-fail>
            <property name="HTTP_SC" value="400" scope="axis2"/>
            <respond/>
        </on-fail>
    </validate>
"#;

/// How long anybody waits for a check.
const TIME: Duration = Duration::from_secs(5);

struct Validate {
    source: Option<(Expression, String)>,
    need: Need,
    keys: Keys,
    on_fail: Block,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let mut schemas = Vec::new();
    let mut named: Vec<Named<'_>> = Vec::new();
    for child in element.children.iter().filter(|child| !child.is("description") && !child.is("on-fail")) {
        match child.name.as_str() {
            "schema" => schemas.push(child),
            "resource" => named.push((child.required("location")?, child.required("key")?)),
            "feature" | "property" => child.forgive(),
            _ => {
                let names = ["schema", "resource", "feature", "property", "on-fail"];
                return Err(child.misnamed(format!("{} has no place in <validate>", child.tag()), &names));
            }
        }
    }
    element.attribute("cache-schema");
    if schemas.is_empty() {
        return Err(element.problem("<validate> needs a <schema>"));
    }
    let on_fail = element.child("on-fail").filter(|on_fail| !on_fail.children.is_empty());
    let Some(on_fail) = on_fail else {
        return Err(element.problem("<validate> needs an <on-fail> with something in it"));
    };
    let keys = Keys::read(&schemas, &named, loader)?;
    let source = element.attribute("source").filter(|source| !source.value.trim().is_empty());
    let source = source.map(|source| -> Result<_, Problem> {
        Ok((Expression::compile(source, ResultType::Nodes, loader)?, source.value.to_owned()))
    });
    let source = source.transpose()?;
    let need = source.iter().map(|(expression, _)| expression).chain(keys.expressions());
    let need = need.fold(Need::built(), Need::and);
    Ok(Box::new(Validate { source, need, keys, on_fail: loader.block(on_fail) }))
}

impl Mediator for Validate {
    fn effect(&self) -> Effect<'_> {
        Effect::reading(self.need.reads()).with("on-fail", Steps::Block(&self.on_fail))
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, context, move |exchange| match &self.keys {
            Keys::Fixed(schemas) => self.check(schemas, exchange, context),
            Keys::WorkedOut(keys) => Step::Wait(Box::pin(async move {
                match keys.schemas(exchange, context).await {
                    Ok(schemas) => self.check(&schemas, exchange, context).finish().await,
                    Err(fault) => (exchange, Err(fault)),
                }
            })),
        })
    }
}

impl Validate {
    fn check<'a>(&'a self, schemas: &Schemas, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        let (schema, text) = match self.begin(schemas, exchange, context) {
            Ok(Some(begun)) => begun,
            Ok(None) => return self.fail(&[self.nothing()], exchange, context),
            Err(fault) => return Step::Done(exchange, Err(fault)),
        };
        if text.len() < schema.prompt_bytes() {
            let result = schema.check(&text);
            return self.finish(result, exchange, context);
        }
        let schema = Arc::clone(schema);
        Step::Wait(Box::pin(async move {
            let late = || Fault::bus("Checking a message by its schema takes too long");
            let work = offload(context, move || schema.check(&text));
            match within(context.transport, TIME, work).await.ok_or_else(late).flatten() {
                Ok(result) => self.finish(result, exchange, context).finish().await,
                Err(fault) => (exchange, Err(fault)),
            }
        }))
    }

    /// The schema for the message, and what is to be checked; `None` where the source leads to nothing.
    fn begin<'a>(
        &self,
        schemas: &'a Schemas,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Option<(&'a Arc<dyn Schema>, String)>> {
        let no_schema = |what: &str| {
            Fault::bus("Error while validating the message").with_detail(format!("<validate> has no schema for {what}"))
        };
        if exchange.content.format == Format::Json {
            let schema = schemas.json.as_ref().ok_or_else(|| no_schema("JSON"))?;
            let text = match &self.source {
                Some((source, _)) => source.text(exchange, context)?.unwrap_or_default().into_owned(),
                None => exchange.json()?.map(|json| json.text().into_owned()).unwrap_or_default(),
            };
            // As in WSO2, nothing counts as an object without members.
            return Ok(Some((schema, if text.is_empty() { "{}".to_owned() } else { text })));
        }
        let schema = schemas.xml.as_ref().ok_or_else(|| no_schema("XML"))?;
        let text = match &self.source {
            Some((source, _)) => {
                source.fragment(exchange, context)?.map(|fragment| text_of(&fragment.document, fragment.node))
            }
            None => exchange.tree()?.payload_text(),
        };
        Ok(text.map(|text| (schema, text)))
    }

    fn nothing(&self) -> Complaint {
        let source = self.source.as_ref().map_or("s11:Body/child::*[position()=1]", |(_, text)| text);
        let message = format!("Error occurred while accessing source element: {source}");
        let place = "The evaluation of the XPath expression did not result in an OMNode".to_owned();
        Complaint { message, place }
    }

    fn finish<'a>(
        &'a self,
        result: Result<Vec<Complaint>, String>,
        exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> Step<'a> {
        match result {
            Ok(complaints) if complaints.is_empty() => {
                context.watch.decided(|| StepDecision::chose("valid"));
                Step::Done(exchange, Ok(Flow::Next))
            }
            Ok(complaints) => self.fail(&complaints, exchange, context),
            Err(message) => {
                let fault = Fault::bus("Error while validating the message").with_detail(message);
                Step::Done(exchange, Err(fault))
            }
        }
    }

    /// Leaves what is wrong in the properties, and runs `on-fail`.
    fn fail<'a>(
        &'a self,
        complaints: &[Complaint],
        exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> Step<'a> {
        let line = |complaint: &Complaint| match complaint.place.as_str() {
            "" => complaint.message.clone(),
            place => format!("{}: {place}", complaint.message),
        };
        context.watch.decided(|| {
            let reasons: Vec<String> = complaints.iter().take(5).map(line).collect();
            StepDecision::chose("on-fail").because(reasons.join("; "))
        });
        let messages: Vec<&str> = complaints.iter().map(|complaint| complaint.message.as_str()).collect();
        let details: Vec<String> = complaints.iter().map(line).collect();
        let mut put = |slot, text: String| {
            exchange.properties.put(Scope::Default, slot, Some(Value::Text(text.into())));
        };
        put(slot::ERROR_MESSAGE, messages.join("\n"));
        put(slot::ERROR_EXCEPTION, messages.last().copied().unwrap_or_default().to_owned());
        put(slot::ERROR_DETAIL, details.join("\n"));
        self.on_fail.run(exchange, context)
    }
}

#[cfg(test)]
mod tests {
    use crate::mediators::tests::{check, check_missing};

    #[test]
    fn what_validate_cannot_be_is_told_at_its_place() {
        check("<validate><on-fail><drop/></on-fail></validate>", "needs a <schema>");
        check("<validate><schema key='none'/></validate>", "needs an <on-fail>");
        check("<validate><schema key='none'/><on-fail/></validate>", "needs an <on-fail>");
        check_missing("<validate><schema key='none'/><on-fail><drop/></on-fail></validate>", "none");
        check_missing("<validate><schema key='{$ctx:}'/><on-fail><drop/></on-fail></validate>", "$ctx:");
        check("<validate><schema key='a'/><wrong/><on-fail><drop/></on-fail></validate>", "no place");
    }
}
