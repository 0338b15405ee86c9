//! `<jsontransform>`: the body becomes JSON as switches and a schema have it.

mod rule;

use std::sync::Arc;

use myelin_json::convert::{Switches, to_json};
use myelin_xml::Document;

use crate::dynamic_mediator::dynamic_mediator;
use crate::loader::Loader;
use crate::mediators::jsontransform::rule::Rule;
use crate::spec::{Built, Spec};
use crate::values::embedded_expression;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_content::Format;
use myelin_content::text_of;
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow, Mediator, Step};
use myelin_flow::offload::offload;
use myelin_java_text::pattern;

pub(super) const SPEC: Spec = Spec::new("jsontransform", DOC, build);

const DOC: &str = r#"
Makes JSON of the body, with switches of its own, and corrects its types by a schema.

- `schema`: the local entry or the file of the registry that holds a JSON Schema, compiled when the bus starts; `{…}` is
  worked out for each message, and means a local entry or a file that ends in `.json`, compiled when it is asked for first.
  A value of another type than the schema's becomes one where that can be: a text that is a number becomes the number,
  a number a text, and what stands alone an array of one. What cannot be corrected, or is against other words of the
  schema (`required`, `enum`, `minimum`, `pattern`, `additionalProperties` …), is a fault that says what is wrong, and
  the message is as it was.
- `property` elements with `name` and `value`: the switches of converting XML into JSON, as
  `synapse.commons.json.output.autoPrimitive`, for this conversion alone. JSON goes through XML then.

A number stays as it was written. Of a schema, `$ref`, `anyOf` and the like are not read, as in WSO2.

    <jsontransform schema="order-schema"/>

    <jsontransform>
        <property name="synapse.commons.json.output.autoPrimitive" value="false"/>
    </jsontransform>
"#;

/// With more to convert it is done apart.
const LONG_BYTES: usize = 128 * 1024;

struct JsonTransform {
    need: Need,
    work: Arc<Work>,
}

/// What is done to a body.
struct Work {
    rule: Option<Rule>,
    /// `None` leaves JSON as it is.
    switches: Option<Arc<Switches>>,
}

/// A body, apart from its message.
enum Source {
    Json(Vec<u8>),
    Xml(Vec<u8>, Arc<Switches>),
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let mut switches = None;
    for child in element.children.iter().filter(|child| !child.is("description")) {
        if !child.is("property") {
            return Err(child.problem(format!("{} has no place in <jsontransform>", child.tag())));
        }
        let (name, value) = (child.required("name")?, child.required("value")?);
        let switches: &mut Switches = switches.get_or_insert_default();
        let is_known =
            switches.set(name.value.trim(), value.value, pattern::translated).map_err(|e| value.problem(e))?;
        if !is_known {
            loader.warning(name.problem(format!("{:?} is no switch of converting into JSON", name.value)));
        }
    }
    let switches = switches.map(Arc::new);
    let made = |rule: Option<Rule>, switches: Option<Arc<Switches>>| JsonTransform {
        need: Need::built(),
        work: Arc::new(Work { rule, switches }),
    };
    match element.attribute("schema") {
        None if switches.is_none() => Err(element.problem("<jsontransform> needs a schema, or a property")),
        None => Ok(Box::new(made(None, switches))),
        Some(key) => match embedded_expression(key, loader)? {
            None => Ok(Box::new(made(Some(rule(key, loader)?), switches))),
            Some(expression) => dynamic_mediator(expression, "schema", &["json"], loader, move |_, text| {
                Ok(Box::new(made(Some(rule_of(text)?), switches.clone())))
            }),
        },
    }
}

fn rule(key: Text<'_>, loader: &Loader) -> Result<Rule, Problem> {
    let text = loader.entry(key)?.text();
    rule_of(&text).map_err(|message| key.problem(format!("schema {:?}: {message}", key.value.trim())).latent())
}

fn rule_of(schema: &str) -> Result<Rule, String> {
    let schema = myelin_json::Value::parse(schema.into(), &myelin_json::Options::default());
    Rule::compile(&schema.map_err(|error| error.to_string())?)
}

impl Mediator for JsonTransform {
    fn effect(&self) -> Effect<'_> {
        Effect::changing(self.need.reads())
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, context, move |exchange| {
            let limit_bytes = context.definitions.settings.body_limit_bytes as usize;
            let source = match Source::of(&self.work, exchange) {
                Ok(source) => source,
                Err(fault) => return Step::Done(exchange, Err(fault)),
            };
            if source.bytes() < LONG_BYTES {
                let outcome = finish(self.work.run(source, limit_bytes), exchange);
                return Step::Done(exchange, outcome);
            }
            Step::Wait(Box::pin(async move {
                let work = Arc::clone(&self.work);
                let result = offload(context, move || work.run(source, limit_bytes)).await;
                let outcome = result.and_then(|result| finish(result, exchange));
                (exchange, outcome)
            }))
        })
    }
}

fn finish(result: Result<Vec<u8>, String>, exchange: &mut Exchange) -> Outcome<Flow> {
    let json = result.map_err(Fault::bus)?;
    exchange.replace_body(json, "application/json")?;
    Ok(Flow::Next)
}

impl Source {
    fn of(work: &Work, exchange: &Exchange) -> Outcome<Source> {
        if work.switches.is_none()
            && exchange.content.format == Format::Json
            && let Some(json) = exchange.json()?
        {
            return Ok(Source::Json(json.text().into_owned().into()));
        }
        let tree = exchange.tree()?;
        let payload = tree.envelope().payload(tree.document());
        let payload = payload.ok_or_else(|| Fault::bus("There is no body that could become JSON"))?;
        let switches = work.switches.clone().unwrap_or_else(|| exchange.switches());
        Ok(Source::Xml(text_of(tree.document(), payload).into(), switches))
    }

    fn bytes(&self) -> usize {
        match self {
            Source::Json(bytes) | Source::Xml(bytes, _) => bytes.len(),
        }
    }
}

impl Work {
    /// Errors: a sentence, where the body cannot be what is asked for.
    fn run(&self, source: Source, limit_bytes: usize) -> Result<Vec<u8>, String> {
        let json = match source {
            Source::Json(json) => json,
            Source::Xml(xml, switches) => converted(xml, &switches, limit_bytes)?,
        };
        let Some(rule) = &self.rule else { return Ok(json) };
        let value =
            myelin_json::Value::parse(json, &myelin_json::Options::default()).map_err(|error| error.to_string())?;
        let mut out = Vec::with_capacity(value.source().len());
        rule.write(&value, value.root(), &mut out)?;
        Ok(out)
    }
}

fn converted(xml: Vec<u8>, switches: &Switches, limit_bytes: usize) -> Result<Vec<u8>, String> {
    let document = Document::parse(xml, &myelin_xml::Options::default()).map_err(|error| error.to_string())?;
    let Some(root) = document.root_element() else { return Ok(b"{}".to_vec()) };
    let mut json = Vec::with_capacity(document.source().len());
    to_json(&document, root, switches, limit_bytes, &mut json).map_err(|error| error.to_string())?;
    Ok(json)
}
