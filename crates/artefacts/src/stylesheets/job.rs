//! One run of a stylesheet: here if it is short, otherwise apart from the thread that serves.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use myelin_message::Body;
use myelin_xml::{Document, NodeId, Start};
use myelin_xpath::Moment;
use myelin_xslt::{Error, Form, Limits, Memory, Message, Options, Outcome as Told, Parameter};

use crate::stylesheets::Sheet;
use crate::stylesheets::payload::FirstInBody;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::Step;
use myelin_flow::offload::offload;
use myelin_flow::position::inside_step;
use myelin_flow::tally::{self, Tally};

/// What takes more instructions starts over apart: so long nobody else on this thread minds waiting.
const HERE_INSTRUCTIONS: u64 = 50_000;

/// What was needed for a larger message is given back.
const KEPT_SOURCE_BYTES: usize = 1 << 20;

thread_local! {
    /// What passes over bytes can use again.
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// A stylesheet about to run. It owns what it works on, so that it can do so on any thread.
pub(crate) struct Job {
    pub sheet: Arc<Sheet>,
    pub input: Input,
    pub owner: Owner,
    pub form: Form,
    pub parameters: Vec<Parameter>,
}

/// What is transformed.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, and a box would cost each message an allocation"
)]
pub(crate) enum Input {
    /// A tree from its document node on, or from an element that is seen as if it were alone.
    Tree(Document, NodeId),
    /// The first element in the body of a message in UTF-8, in one pass over its bytes.
    Payload(Vec<u8>),
    /// A whole document in UTF-8.
    Whole(Vec<u8>),
}

/// Who gets the input back when the stylesheet has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The message: its tree handed the document out, or it is the message's bytes.
    Message,
    /// It is a copy.
    Nobody,
}

/// What a stylesheet gave.
pub(crate) struct Product {
    pub sheet: Arc<Sheet>,
    pub out: Vec<u8>,
    pub told: Told,
    /// Where the element stands that a pass found.
    pub place: Range<usize>,
}

/// What of the context a run needs, fit for any thread.
struct Terms {
    limits: Limits,
    now: Option<Moment>,
    expired: Box<dyn Fn() -> bool + Send>,
}

/// What a run gives: where its source stands, the result, and what it tells; `None` where one pass was not enough.
type Ran = Result<Option<(Range<usize>, Vec<u8>, Told)>, Box<Error>>;

impl Job {
    /// Runs it, and hands on the result; what the stylesheet says goes into the log.
    ///
    /// Shape: `None` where the message's bytes are not well-formed, or one pass over them is not enough.
    /// Errors: the bus's, with the place in the stylesheet at the start of the trail; the message is as it was.
    pub(crate) fn run<'a>(
        mut self,
        exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
        then: impl FnOnce(&'a mut Exchange, Outcome<Option<Product>>) -> Step<'a> + 'a,
    ) -> Step<'a> {
        let limits = context.definitions.settings.stylesheets;
        let since = context.transport.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i128::try_from(since.as_nanos()).ok().map(|nanos| Moment::at(nanos, Some(0)));
        let mut terms = Terms { limits: limits.work, now, expired: context.transport.deadline(limits.time) };
        let bytes = self.input.bytes();
        if !self.sheet.takes_long(bytes) {
            terms.limits.instructions = limits.work.instructions.min(HERE_INSTRUCTIONS);
            let ran = self.transform(&terms);
            let may_take_more = HERE_INSTRUCTIONS < limits.work.instructions;
            let takes_more = may_take_more && matches!(&ran, Err(error) if error.code == "LIMIT");
            if !takes_more {
                let outcome = self.finish(ran, exchange);
                return then(exchange, outcome);
            }
            self.sheet.took_long(bytes);
            terms.limits.instructions = limits.work.instructions;
        }
        Step::Wait(Box::pin(async move {
            let owner = self.owner;
            let done = offload(context, move || {
                let ran = self.transform(&terms);
                (self, ran)
            });
            let outcome = match done.await {
                Ok((job, ran)) => job.finish(ran, exchange),
                Err(fault) => {
                    // What it was to work on is lost with the work.
                    if owner == Owner::Message {
                        exchange.message.body = Body::Gone;
                    }
                    Err(fault)
                }
            };
            then(exchange, outcome).finish().await
        }))
    }

    fn transform(&mut self, terms: &Terms) -> Ran {
        let Job { sheet, input, form, parameters, .. } = self;
        let mut out = Vec::with_capacity(input.bytes());
        let options = Options {
            form: *form,
            parameters,
            resolver: &sheet.shelf,
            limits: terms.limits,
            now: terms.now,
            expired: Some(&*terms.expired),
            ..Options::default()
        };
        let whole = |told: Told| Some((0..0, told));
        let told = match input {
            Input::Tree(document, source) => sheet.compiled.transform(document, *source, &options, &mut out).map(whole),
            Input::Payload(bytes) => with_memory(bytes.len(), |memory| {
                let mut payload = FirstInBody::default();
                let mut is_source = |depth: usize, start: &Start<'_>| payload.is(depth, start);
                sheet.compiled.transform_element(bytes, &mut is_source, &options, memory, &mut out)
            }),
            Input::Whole(bytes) => with_memory(bytes.len(), |memory| {
                sheet.compiled.transform_bytes(bytes, &options, memory, &mut out).map(whole)
            }),
        };
        Ok(told?.map(|(place, told)| (place, out, told)))
    }

    fn finish(self, ran: Ran, exchange: &mut Exchange) -> Outcome<Option<Product>> {
        let Job { sheet, input, owner, .. } = self;
        match input {
            _ if owner == Owner::Nobody => {}
            Input::Tree(document, _) => exchange.tree_mut()?.take_back(document),
            Input::Payload(bytes) | Input::Whole(bytes) => exchange.message.body = Body::Bytes(bytes),
        }
        let messages = match &ran {
            Ok(Some((_, _, told))) => &told.messages,
            Ok(None) => return Ok(None),
            Err(error) => &error.messages,
        };
        for Message { place, text } in messages {
            inside_step(format_args!("stylesheet ({place})"), || tracing::info!(target: "myelin::xslt", "{text}"));
        }
        match ran {
            Ok(ran) => Ok(ran.map(|(place, out, told)| Product { sheet, out, told, place })),
            // Whoever builds a tree of the message tells what is wrong with it.
            Err(error) if owner == Owner::Message && error.code == "XML" && error.place.is_none() => Ok(None),
            Err(error) => Err(fault(&error)),
        }
    }
}

impl Input {
    /// How long its source is.
    fn bytes(&self) -> usize {
        match self {
            Input::Tree(document, _) => document.source().len(),
            Input::Payload(bytes) | Input::Whole(bytes) => bytes.len(),
        }
    }
}

/// Runs something with the memory of this thread.
fn with_memory<T>(source_bytes: usize, run: impl FnOnce(&mut Memory) -> T) -> T {
    let mut memory = MEMORY.take();
    let result = run(&mut memory);
    if source_bytes <= KEPT_SOURCE_BYTES {
        MEMORY.set(memory);
    }
    result
}

/// A stylesheet that failed on a message.
fn fault(error: &Error) -> Box<Fault> {
    if error.code == "LIMIT" {
        tally::count(Tally::StylesheetLimit);
    }
    let mut fault = Fault::bus("The message could not be transformed").with_detail(error.to_string());
    if let Some(place) = &error.place {
        fault.trail.push(format!("stylesheet ({}:{})", place.file, place.line));
    }
    fault
}
