//! `<script>`: JavaScript that reads and changes the message.

mod begin;
mod finish;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use myelin_script::{Call, Error, Known, Outcome as Told, Script, Source, Terms};

use crate::dynamic_mediator::dynamic_mediator;
use crate::loader::Loader;
use crate::spec::{Built, Spec};
use crate::values::embedded_expression;
use myelin_config::element::{Element, Text};
use myelin_config::problem::{Place, Problem};
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Mediator, Step};
use myelin_flow::offload::offload;
use myelin_flow::tally::{self, Tally};
use myelin_flow::transport::within;

pub(super) const SPEC: Spec = Spec::new("script", DOC, build);

const DOC: &str = r#"
Runs a script in JavaScript, which reads and changes the message through the object `mc`; see [scripts](scripts.md).

- `language` (required): `js`, `graalJs`, `nashornJs` or `rhinoJs`, which are all the same here.
  `groovy`, `rb` and `py` need a JVM.
- the text inside: the script. The flow ends where its last statement gives `false`.
- `key` instead: the local entry or the file of the registry that holds the script; `{…}` is worked out for each message,
  and means a local entry or a file that ends in `.js`, which is compiled when it is asked for first. `function`: which of its
  functions gets `mc` (default `mediate`); `include` elements with `key` name what stands behind it.

E4X (XML as a part of JavaScript), classes of Java and methods that `mc` does not have are problems while loading.
A script that throws, or takes longer or more than `[myelin.scripts]` allows, is a fault, and the message is as it was.

    <script language="js"><![CDATA[
        var order = mc.getPayloadJSON();
        order.total = order.items.length;
        mc.setPayloadJSON(order);
        mc.setProperty("big", order.total > 10);
    ]]></script>

    <script language="js" key="totals" function="add"/>
"#;

/// A script that is looked at more often goes on apart: so long nobody else on this thread minds waiting. It is looked
/// at every ten thousand calls and turns of loops, which are about a millisecond.
const HERE_POLLS: u32 = 1;

/// With more to read it runs apart at once.
const LONG_BYTES: usize = 128 * 1024;

/// How many properties are learnt that a script asks for.
const LEARNT: usize = 64;

/// How often a script is begun anew because it asks for more properties.
const ROUNDS: usize = 8;

/// How much later than at the end of its time nobody waits for it any more: an operation of the engine may not end.
const GRACE: Duration = Duration::from_secs(1);

/// The words for JavaScript.
const LANGUAGES: [&str; 4] = ["js", "graalJs", "nashornJs", "rhinoJs"];

struct Scripting {
    script: Arc<Script>,
    /// What Synapse says of it where it fails.
    failure: String,
    need: Need,
    /// What it was seen to ask for, so that it has it from the start.
    asked: Mutex<Arc<Vec<Known>>>,
    /// With so much to read it takes long.
    long_bytes: AtomicUsize,
    /// Whether a text that is XML stays a text as the value of a property, as with Rhino.
    keeps_texts: bool,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let language = element.required("language")?;
    let word = language.value.trim();
    if !LANGUAGES.contains(&word) {
        return Err(language.problem(match word {
            "groovy" | "rb" | "py" | "jh" => format!("{word:?} runs on a JVM only; JavaScript (\"js\") runs here"),
            _ => format!("{word:?} is no language of scripts; JavaScript (\"js\") is"),
        }));
    }
    let keeps_texts = word == "rhinoJs";
    let Some(key) = element.attribute("key") else {
        let script = inline(element)?;
        return Ok(Box::new(Scripting::new(script, &format!("inlined {word} script function mediate"), keeps_texts)));
    };
    let name = element.attribute("function").map_or("mediate", |name| name.value.trim()).to_owned();
    let call = Call::Function(name.clone());
    let included = included(element, loader)?;
    let failure = move |key: &str, word: &str| format!("external {word} script : {key} function {name}");
    if let Some(expression) = embedded_expression(key, loader)? {
        let word = word.to_owned();
        return dynamic_mediator(expression, "script", &["js"], loader, move |key, text| {
            let own = Source { file: key.into(), line: 1, column: 1, text: text.to_owned() };
            let script =
                Script::compile([&[own], &*included].concat(), &call).map_err(|problem| problem.to_string())?;
            Ok(Box::new(Scripting::new(script, &failure(key, &word), keeps_texts)))
        });
    }
    let sources = [&[source(key, loader)?], &*included].concat();
    let script = Script::compile(sources, &call).map_err(|problem| key.problem(problem.to_string()).latent())?;
    Ok(Box::new(Scripting::new(script, &failure(key.value, word), keeps_texts)))
}

/// What a script asks of the body.
fn need_of(script: &Script) -> Need {
    if script.changes_part() || script.reads_json() || script.reads_xml() || script.reads_envelope() {
        Need::built()
    } else if script.changes_whole() {
        Need::read()
    } else if script.reads_headers() {
        Need::addressee()
    } else {
        Need::default()
    }
}

fn inline(element: &Element) -> Result<Script, Problem> {
    if let Some(name) = element.attribute("function") {
        return Err(name.problem("function without key: a script that stands here runs whole"));
    }
    if let Some(child) = element.children.first() {
        let message = format!("{} in a script: E4X is not offered; mc.setPayloadXML takes XML as text", child.tag());
        return Err(child.problem(message));
    }
    let text = element.text();
    let place = element.text_place();
    let Place { file, line, column } = &place;
    let source = Source { file: Arc::clone(file), line: *line, column: *column, text: text.value.to_owned() };
    Script::compile(vec![source], &Call::Whole).map_err(|problem| match problem.place {
        Some(at) => Problem::new(Place { line: at.line, column: at.column, ..place }, problem.message),
        None => Problem::new(place, problem.message),
    })
}

/// What stands behind an external script.
fn included(element: &Element, loader: &Loader) -> Result<Vec<Source>, Problem> {
    let include = |child: &Element| match child.is("include") {
        true => source(child.required("key")?, loader),
        false => Err(child.problem(format!("{} has no place in <script> with key", child.tag()))),
    };
    element.children.iter().filter(|child| !child.is("description")).map(include).collect()
}

fn source(key: Text<'_>, loader: &Loader) -> Result<Source, Problem> {
    Ok(Source { file: key.value.trim().into(), line: 1, column: 1, text: loader.entry(key)?.text() })
}

impl Mediator for Scripting {
    fn effect(&self) -> Effect<'_> {
        let changes = self.script.changes_part() || self.script.changes_whole();
        Effect { changes, ..Effect::reading(self.need.reads()) }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, context, move |exchange| {
            let outcome = match self.here(exchange, context) {
                Ok(Some(told)) => self.finish(told, exchange, context),
                Ok(None) => return self.elsewhere(exchange, context),
                Err(fault) => Err(fault),
            };
            match outcome {
                Ok((flow, Duration::ZERO)) => Step::Done(exchange, Ok(flow)),
                Ok((flow, pause)) => Step::Wait(Box::pin(async move {
                    context.transport.sleep(pause).await;
                    (exchange, Ok(flow))
                })),
                Err(fault) => Step::Done(exchange, Err(fault)),
            }
        })
    }
}

impl Scripting {
    fn new(script: Script, what: &str, keeps_texts: bool) -> Scripting {
        Scripting {
            need: need_of(&script),
            script: Arc::new(script),
            failure: format!("The script engine returned an error executing the {what}"),
            asked: Mutex::default(),
            long_bytes: AtomicUsize::new(LONG_BYTES),
            keeps_texts,
        }
    }

    /// Runs on this thread; `None` where it would take long.
    fn here(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Option<Told>> {
        let mut asked = Vec::clone(&self.asked());
        for _ in 0..ROUNDS {
            let facts = self.facts(&asked, exchange, context)?;
            let bytes = begin::bytes(&facts);
            if bytes >= self.long_bytes.load(Ordering::Relaxed) {
                return Ok(None);
            }
            match myelin_script::run(&self.script, &facts, self.terms(context, Some(HERE_POLLS))) {
                Ok(told) if told.unknown.is_empty() => return Ok(Some(told)),
                Ok(told) => self.learn(told.unknown, &mut asked),
                Err(Error::Long) => {
                    self.long_bytes.fetch_min(bytes, Ordering::Relaxed);
                    return Ok(None);
                }
                Err(error) => return Err(self.fault(error)),
            }
        }
        Err(self.asks_without_end())
    }

    /// Runs on another thread.
    fn elsewhere<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        Step::Wait(Box::pin(async move {
            let told = self.run_apart(exchange, context).await;
            match told.and_then(|told| self.finish(told, exchange, context)) {
                Ok((flow, pause)) => {
                    if !pause.is_zero() {
                        context.transport.sleep(pause).await;
                    }
                    (exchange, Ok(flow))
                }
                Err(fault) => (exchange, Err(fault)),
            }
        }))
    }

    async fn run_apart(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Told> {
        let mut asked = Vec::clone(&self.asked());
        for _ in 0..ROUNDS {
            let facts = self.facts(&asked, exchange, context)?;
            let (script, terms) = (Arc::clone(&self.script), self.terms(context, None));
            let work = offload(context, move || myelin_script::run(&script, &facts, terms));
            let time = context.definitions.settings.scripts.time + GRACE;
            match within(context.transport, time, work).await.unwrap_or(Ok(Err(Error::Time)))? {
                Ok(told) if told.unknown.is_empty() => return Ok(told),
                Ok(told) => self.learn(told.unknown, &mut asked),
                Err(error) => return Err(self.fault(error)),
            }
        }
        Err(self.asks_without_end())
    }

    fn asked(&self) -> Arc<Vec<Known>> {
        Arc::clone(&self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds what a script asked for and did not have; the next message has it from the start.
    fn learn(&self, unknown: Vec<Known>, asked: &mut Vec<Known>) {
        for known in unknown {
            if !asked.contains(&known) {
                asked.push(known);
            }
        }
        if asked.len() <= LEARNT {
            *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(asked.clone());
        }
    }

    fn terms(&self, context: &RequestContext<'_>, polls: Option<u32>) -> Terms {
        let limits = context.definitions.settings.scripts;
        Terms { limits: limits.work, polls, expired: context.transport.deadline(limits.time) }
    }

    fn fault(&self, error: Error) -> Box<Fault> {
        if matches!(error, Error::Time) {
            tally::count(Tally::ScriptLimit);
        }
        let mut fault = Fault::bus(self.failure.as_str()).with_detail(error.to_string());
        if let Error::Thrown { place: Some(place), .. } = error {
            fault.trail.push(format!("script ({place})"));
        }
        fault
    }

    fn asks_without_end(&self) -> Box<Fault> {
        Fault::bus(self.failure.as_str()).with_detail("it asks for other properties each time")
    }
}

#[cfg(test)]
mod tests;
