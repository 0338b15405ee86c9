//! A format that is a FreeMarker template, with what it sees of an exchange.
//!
//! Source: wso2-synapse `FreeMarkerTemplateProcessor`.

mod data;

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use myelin_freemarker::{Error, ErrorKind, Hash, Json, Limits, Options, Template, Value, Xml};

use crate::loader::Loader;
use crate::mediators::payload_factory::argument::Argument;
use crate::mediators::payload_factory::format::{Format, entry};
use crate::mediators::payload_factory::freemarker::data::{Data, Payload, Root, roots, shown, variables};
use crate::mediators::payload_factory::value::{Given, write_given};
use crate::mediators::payload_factory::{Filler, put_made};
use crate::placeholders::PlaceholderContext;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_content::into_utf8;
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Mediator, Step};
use myelin_flow::offload::offload;
use myelin_flow::tally::{self, Tally};

/// What takes more steps starts over apart: so long nobody else on this thread minds waiting.
const HERE_STEPS: u64 = 20_000;

/// A longer body is worked on apart at once.
const HERE_BYTES: usize = 128 * 1024;

/// No template takes more steps than this, or longer than that.
const STEPS: u64 = 10_000_000;
const TIME: Duration = Duration::from_secs(10);

/// A `<payloadFactory>` with a template.
pub(super) struct FreeMarker {
    format: Format<Prepared>,
    filler: Filler,
    need: Need,
}

/// A template, with where the members are that it names.
struct Prepared {
    template: Arc<Template>,
    roots: Vec<Root>,
}

/// One run, fit for any thread.
struct Job<'a> {
    template: Arc<Template>,
    data: Data<'a>,
    limits: Limits,
    now: i64,
    expired: Box<dyn Fn() -> bool + Send>,
}

/// How a run goes on.
enum Begun {
    Made(String),
    Apart(Box<Job<'static>>),
}

impl FreeMarker {
    pub(super) fn read(format: &Element, filler: Filler, loader: &mut Loader) -> Result<FreeMarker, Problem> {
        let format = Format::read(format, filler.media, loader, |text, loader| {
            let template = Template::compile(text.value, filler.is_padded()).map_err(|error| {
                let at = offset(text.value, &error);
                Problem::new(text.place(at), format!("FreeMarker: {}", error.message))
            })?;
            Ok(Prepared { roots: roots(&template, loader), template: Arc::new(template) })
        })?;
        let reads_body = match &format {
            Format::Fixed(prepared) => prepared.template.mentions("payload"),
            Format::WorkedOut(_) => true,
        };
        let start = if reads_body { filler.need().with(Need::built()) } else { filler.need() };
        let need = format.expression().into_iter().fold(start, Need::and);
        Ok(FreeMarker { format, filler, need })
    }

    fn begin(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Begun> {
        let worked_out;
        let prepared = match &self.format {
            Format::Fixed(prepared) => prepared,
            Format::WorkedOut(key) => {
                let text = entry(key, exchange, context)?;
                let template = Template::compile(text, self.filler.is_padded()).map_err(|error| fault(&error))?;
                worked_out = Prepared { template: Arc::new(template), roots: Vec::new() };
                &worked_out
            }
        };
        let data = self.data(prepared, exchange, context)?;
        let is_long = data.payload.bytes() >= HERE_BYTES;
        let now = context.transport.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let bytes = usize::try_from(context.definitions.settings.body_limit_bytes).unwrap_or(usize::MAX);
        let mut job = Job {
            template: Arc::clone(&prepared.template),
            data,
            limits: Limits { steps: HERE_STEPS, bytes },
            now: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
            expired: context.transport.deadline(TIME),
        };
        if !is_long {
            match job.run() {
                Err(error) if error.kind == ErrorKind::Limit => {}
                made => return made.map(Begun::Made).map_err(|error| fault(&error)),
            }
        }
        job.limits.steps = STEPS;
        Ok(Begun::Apart(Box::new(Job { data: job.data.into_owned(), ..job })))
    }

    fn data<'a>(&self, prepared: &Prepared, exchange: &'a Exchange, context: &RequestContext<'_>) -> Outcome<Data<'a>> {
        let template = &prepared.template;
        let payload = if template.mentions("payload") { Payload::of(exchange)? } else { Payload::Nothing };
        let mut arguments = Vec::new();
        if template.mentions("args") {
            let manner = self.filler.manner(exchange);
            for argument in &self.filler.arguments {
                arguments.push(written(argument, exchange, context, |argument, out| {
                    write_given(argument, manner, PlaceholderContext::Content, context, out)
                })?);
            }
        }
        let reaches_all = template.reaches_all() || matches!(self.format, Format::WorkedOut(_));
        let variables = variables(template, &prepared.roots, reaches_all, exchange, context);
        Ok(Data { payload, arguments, variables })
    }

    fn run<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        let job = match self.begin(exchange, context) {
            Ok(Begun::Apart(job)) => job,
            Ok(Begun::Made(text)) => {
                let outcome = put_made(text.into_bytes(), self.filler.media, exchange, context);
                return Step::Done(exchange, outcome);
            }
            Err(fault) => return Step::Done(exchange, Err(fault)),
        };
        Step::Wait(Box::pin(async move {
            let made = offload(context, move || job.run()).await;
            let made = made.and_then(|made| made.map_err(|error| fault(&error)));
            let outcome = made.and_then(|text| put_made(text.into_bytes(), self.filler.media, exchange, context));
            (exchange, outcome)
        }))
    }
}

impl Mediator for FreeMarker {
    fn effect(&self) -> Effect<'_> {
        Effect { changes: true, ..Effect::reading(self.need.reads()) }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, context, |exchange| self.run(exchange, context))
    }
}

impl Job<'_> {
    fn run(&self) -> Result<String, Box<Error>> {
        let prefixes = self.template.prefixes();
        let payload = match &self.data.payload {
            Payload::Nothing => None,
            Payload::Text(text) => Some(Value::text(text.as_str())),
            Payload::Json(json) => Json::of(json),
            Payload::Xml(document, node) => Some(Xml::of(document, *node, prefixes)),
            Payload::OwnXml(document, node) => Some(Xml::of(document, *node, prefixes)),
        };
        let arguments = self.data.arguments.iter().enumerate();
        let arguments: Hash<'_> = arguments
            .map(|(index, text)| {
                (Cow::<str>::Owned(format!("arg{}", index + 1)).into(), Some(Value::text(text.as_str())))
            })
            .collect();
        let mut data: Vec<(&str, Value<'_>)> = vec![("args", Value::Hash(Rc::new(arguments)))];
        data.extend(payload.map(|payload| ("payload", payload)));
        for (name, members) in &self.data.variables {
            let members = members.iter().map(|(name, value)| (Cow::Borrowed(&**name).into(), shown(value, prefixes)));
            data.push((name, Value::Hash(Rc::new(members.collect()))));
        }
        let options = Options { limits: self.limits, now: self.now, expired: Some(&*self.expired) };
        self.template.run(&data, &options)
    }
}

/// An argument as the template sees it: a text that fits where it is printed.
fn written(
    argument: &Argument,
    exchange: &Exchange,
    context: &RequestContext<'_>,
    write: impl FnOnce(&Given<'_>, &mut Vec<u8>) -> Outcome<()>,
) -> Outcome<String> {
    let text = argument.text(exchange, context)?;
    let mut out = Vec::new();
    write(&argument.given(&text), &mut out)?;
    Ok(into_utf8(out))
}

/// Where a place of a template is in its text.
fn offset(text: &str, error: &Error) -> usize {
    let line = error.place.line as usize - 1;
    let start = if line == 0 { 0 } else { text.match_indices('\n').nth(line - 1).map_or(0, |(at, _)| at + 1) };
    let letter = text[start..].char_indices().nth(error.place.column as usize - 1);
    letter.map_or(text.len(), |(at, _)| start + at)
}

/// A template that failed on a message.
fn fault(error: &Error) -> Box<Fault> {
    if error.kind == ErrorKind::Limit {
        tally::count(Tally::TemplateLimit);
    }
    Fault::bus("The template of <payloadFactory> failed").with_detail(error.to_string())
}
