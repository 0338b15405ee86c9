//! A sequence tried alone, as a unit test does: what it makes of a message, and of its properties.

use myelin_message::{Body, Message};

use crate::branch::FirstBranchContext;
use crate::engine::flow::carry_on;
use crate::engine::{Arrival, Engine, EngineContext};
use crate::service::Service;
use myelin_content::Fragment;
use myelin_content::{Tree, text_of};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::{Decision, Exchange};
use myelin_flow::fault::Outcome;
use myelin_flow::forms::build_body;
use myelin_flow::mediator::Flow;
use myelin_flow::observer::Watch;
use myelin_flow::property::{Scope, Value};

/// What a sequence is tried with, and what is asked afterwards.
#[derive(Clone, Copy, Debug)]
pub struct SequenceTest<'a> {
    /// The sequence's name.
    pub sequence: &'a str,
    /// Properties that are set before it runs.
    pub given: &'a [TestInput],
    /// `$body`, `$ctx:name`, `$axis2:name` or `$trp:name`.
    pub asked: &'a [&'a str],
}

/// A property to set before a sequence runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestInput {
    /// `default`, `axis2` or `transport`.
    pub scope: String,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// What became of a trial.
#[derive(Clone, Debug, Default)]
pub struct TestOutcome {
    /// For each thing asked, its text; `None` where it is not there.
    pub answers: Vec<Option<String>>,
    /// The fault that ended the sequence.
    pub fault: Option<String>,
}

impl Engine {
    /// Runs a sequence on a message, and says what is there then.
    ///
    /// What it sends is sent, and the response is what is asked about.
    /// Errors: a sentence, where there is no sound sequence of that name, or something is asked that does not exist.
    pub async fn test_sequence(
        &self,
        trial: &SequenceTest<'_>,
        message: Message,
        arrival: Arrival<'_>,
    ) -> Result<TestOutcome, String> {
        let bus = self.bus();
        let id = bus.definitions.sequence_ids.get(trial.sequence);
        let sequence = id.and_then(|&id| bus.sequence(id));
        let sequence = sequence.ok_or_else(|| format!("there is no sound sequence {:?}", trial.sequence))?;
        let asked = trial.asked.iter().map(|asked| Asked::of(asked)).collect::<Result<Vec<_>, _>>()?;
        let (branch_context, watch) = (FirstBranchContext::default(), Watch::default());
        let engine = self.context(Service::Main, arrival, (&branch_context, &watch));
        let context = &engine.context;
        let mut exchange = Exchange::new(message);
        for TestInput { scope, name, value } in trial.given {
            set(&mut exchange, context, scope, name, value)?;
        }
        let (_, outcome) = sequence.run(&mut exchange, context).finish().await;
        let outcome = match outcome {
            Ok(flow) => settle(&mut exchange, &engine, flow).await,
            Err(fault) => Err(fault),
        };
        let mut tried = TestOutcome::default();
        if let Err(fault) = outcome {
            let detail = fault.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
            tried.fault = Some(format!("{}{detail}", fault.message));
        }
        for asked in asked {
            tried.answers.push(asked.answer(&mut exchange, context).await);
        }
        Ok(tried)
    }
}

/// Sends what the sequence decided to send, and leaves the response, or the answer, as the exchange's message.
async fn settle(exchange: &mut Exchange, engine: &EngineContext<'_>, flow: Flow) -> Outcome<()> {
    match exchange.decision.take() {
        Some(Decision::Answer(answer)) => exchange.message.body = answer.body,
        Some(forward) => {
            exchange.decision = Some(forward);
            if let Some(answer) = carry_on(exchange, engine, flow, false).await? {
                exchange.set_response(answer);
            }
        }
        None => {}
    }
    Ok(())
}

fn set(
    exchange: &mut Exchange,
    context: &RequestContext<'_>,
    scope: &str,
    name: &str,
    value: &str,
) -> Result<(), String> {
    let scope = match scope {
        "default" | "synapse" => Scope::Default,
        "axis2" => Scope::Axis2,
        "transport" => {
            let set = exchange.message.head.set(name, value.as_bytes());
            return set.map_err(|error| format!("the header {name:?}: {error}"));
        }
        other => {
            return Err(format!("a unit test sets properties of scope default, axis2 and transport, not {other:?}"));
        }
    };
    // A name that nothing in the configuration says is read by nobody.
    if let Some(slot) = context.definitions.names.find(name) {
        exchange.properties.put(scope, slot, Some(Value::Text(value.into())));
    }
    Ok(())
}

enum Asked<'a> {
    Body,
    Property(Scope, &'a str),
    Header(&'a str),
}

impl<'a> Asked<'a> {
    fn of(text: &'a str) -> Result<Asked<'a>, String> {
        let text = text.trim();
        match text.split_once(':') {
            None if text == "$body" => Ok(Asked::Body),
            Some(("$ctx", name)) => Ok(Asked::Property(Scope::Default, name)),
            Some(("$axis2", name)) => Ok(Asked::Property(Scope::Axis2, name)),
            Some(("$trp", name)) => Ok(Asked::Header(name)),
            _ => Err(format!("{text:?} cannot be asked for: $body, $ctx:…, $axis2:… and $trp:… can")),
        }
    }

    async fn answer(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Option<String> {
        match self {
            Asked::Body => body(exchange, context).await,
            Asked::Property(scope, name) => {
                let slot = context.definitions.names.find(name)?;
                let set = exchange.properties.get(*scope, slot).map(|value| value.text().into_owned());
                set.or_else(|| exchange.transport_property(slot, context).map(|value| value.into_owned()))
            }
            Asked::Header(name) => {
                exchange.message.head.first(name).map(|value| String::from_utf8_lossy(value).into_owned())
            }
        }
    }
}

/// The body as a unit test sees it: the first element of an envelope's body, plain XML, or the text.
async fn body(exchange: &mut Exchange, context: &RequestContext<'_>) -> Option<String> {
    // What cannot be understood is told as it is.
    let _ = build_body(exchange, context).await;
    if let Some(tree) = exchange.message.body.built::<Tree>().filter(|_| exchange.content.format.is_xml()) {
        let document = tree.document();
        let payload = tree.envelope().payload(document)?;
        let alone = Fragment::copy(document, payload);
        return Some(text_of(&alone.document, alone.node));
    }
    let limit = context.definitions.settings.body_limit_bytes;
    exchange.message.body.settle();
    match &mut exchange.message.body {
        Body::Empty | Body::Gone => None,
        body => body.bytes(limit).await.ok().map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
    }
}
