//! One run of a stylesheet: here if it is short, otherwise apart from the thread that serves.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use myelin_message::Body;
use myelin_xml::{Document, NodeId};
use myelin_xpath::Moment;
use myelin_xslt::{Error, Form, Limits, Message, Options, Outcome as Told, Parameter};

use super::Sheet;
use crate::exchange::{Exchange, Scene};
use crate::fault::{Fault, Outcome};
use crate::mediator::{Flow, Step};

/// What takes more instructions starts over apart: so long nobody else on this thread minds waiting.
const HERE_INSTRUCTIONS: u64 = 50_000;

/// A stylesheet about to run. It owns what it works on, so that it can do so on any thread.
pub(crate) struct Job {
    pub(crate) sheet: Arc<Sheet>,
    pub(crate) document: Document,
    pub(crate) owner: Owner,
    /// The document node, or the element that is seen as if it were alone.
    pub(crate) source: NodeId,
    pub(crate) form: Form,
    pub(crate) parameters: Vec<Parameter>,
    /// What the result is appended to.
    pub(crate) out: Vec<u8>,
}

/// Who gets the document back when the stylesheet has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The message, whose tree handed it out.
    Message,
    /// It is a copy.
    Nobody,
}

/// What a stylesheet gave.
pub(crate) struct Product {
    pub(crate) sheet: Arc<Sheet>,
    /// What stood in the job's `out`, and the result.
    pub(crate) out: Vec<u8>,
    pub(crate) told: Told,
}

/// What of the scene a run needs, fit for any thread.
struct Terms {
    limits: Limits,
    now: Option<Moment>,
    expired: Box<dyn Fn() -> bool + Send>,
}

impl Job {
    /// Runs it, and hands on the result; what the stylesheet says goes into the log.
    ///
    /// Errors: the bus's, with the place in the stylesheet at the start of the trail; the message is then as it was.
    pub(crate) fn run<'a>(
        mut self,
        exchange: &'a mut Exchange,
        scene: &'a Scene<'a>,
        then: impl FnOnce(&mut Exchange, Product) -> Outcome<()> + 'a,
    ) -> Step<'a> {
        let limits = scene.bus.settings.stylesheets;
        let since = scene.transport.now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i128::try_from(since.as_nanos()).ok().map(|nanos| Moment::at(nanos, Some(0)));
        let mut terms = Terms { limits: limits.work, now, expired: scene.transport.deadline(limits.time) };
        let bytes = self.document.source().len();
        if !self.sheet.takes_long(bytes) {
            terms.limits.instructions = limits.work.instructions.min(HERE_INSTRUCTIONS);
            let result = self.transform(&terms);
            let may_take_more = HERE_INSTRUCTIONS < limits.work.instructions;
            let takes_more = may_take_more && matches!(&result, Err(error) if error.code == "LIMIT");
            if !takes_more {
                let outcome = self.finish(result, exchange, scene, then);
                return Step::Done(exchange, outcome);
            }
            self.sheet.took_long(bytes);
            terms.limits.instructions = limits.work.instructions;
        }
        Step::Wait(Box::pin(async move {
            let owner = self.owner;
            let slot = Arc::new(Mutex::new(None));
            let theirs = Arc::clone(&slot);
            let work = move || {
                let result = self.transform(&terms);
                *theirs.lock().unwrap_or_else(PoisonError::into_inner) = Some((self, result));
            };
            scene.transport.work(Box::new(work)).await;
            let done = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            let outcome = match done {
                Some((job, result)) => job.finish(result, exchange, scene, then),
                None => Err(lost(owner, exchange)),
            };
            (exchange, outcome)
        }))
    }

    fn transform(&mut self, terms: &Terms) -> Result<Told, Box<Error>> {
        let Job { sheet, document, source, form, parameters, out, .. } = self;
        let options = Options {
            form: *form,
            parameters,
            resolver: &sheet.shelf,
            limits: terms.limits,
            now: terms.now,
            expired: Some(&*terms.expired),
            ..Options::default()
        };
        sheet.compiled.transform(document, *source, &options, out).map_err(Box::new)
    }

    fn finish(
        self,
        result: Result<Told, Box<Error>>,
        exchange: &mut Exchange,
        scene: &Scene<'_>,
        then: impl FnOnce(&mut Exchange, Product) -> Outcome<()>,
    ) -> Outcome<Flow> {
        let Job { sheet, document, owner, out, .. } = self;
        if owner == Owner::Message {
            exchange.tree_mut()?.take_back(document);
        }
        let messages = result.as_ref().map_or_else(|error| &error.messages, |told| &told.messages);
        for Message { place, text } in messages {
            let correlation = scene.arrival.correlation;
            tracing::info!(target: "myelin::xslt", "{place}: {text}, CORRELATION_ID = {correlation}");
        }
        let told = result.map_err(|error| fault(&error))?;
        then(exchange, Product { sheet, out, told })?;
        Ok(Flow::Next)
    }
}

/// A stylesheet that failed on a message.
fn fault(error: &Error) -> Box<Fault> {
    let mut fault = Fault::bus("The message could not be transformed").with_detail(error.to_string());
    if let Some(place) = &error.place {
        fault.trail.push(format!("stylesheet ({}:{})", place.file, place.line));
    }
    fault
}

/// A defect ended the work, and what it worked on is lost.
fn lost(owner: Owner, exchange: &mut Exchange) -> Box<Fault> {
    if owner == Owner::Message {
        exchange.message.body = Body::Gone;
    }
    Fault::bus("The bus failed while it transformed a message")
}
