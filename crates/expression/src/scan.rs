//! One pass over the bytes of a message as they come, for the expressions of a [`Plan`]; it stops at the decision.

use std::cell::RefCell;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};

use myelin_content::coding::{Codings, Decoding};
use myelin_content::{Format, Unreadable};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::{Direction, Exchange};
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::passes::{Pass, Passes};
use myelin_json as json;
use myelin_message::budget::Reservation;
use myelin_message::{Body, BodyError};
use myelin_soap::Version;
use myelin_xml::encoding::{self, Decoder, Encoding};
use myelin_xml::{Event, Name, Options, Parser, Step};
use myelin_xpath::stream::{self, Run};

use crate::bindings::Bindings;
use crate::host::MessageHost;
use crate::plan::{Compiled, Plan, Query};

/// An answer that is final.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer<'a> {
    Boolean(bool),
    Number(f64),
    Text(&'a str),
}

/// One pass.
#[derive(Debug)]
pub(crate) struct Scan {
    plan: Option<Arc<Plan>>,
    /// The plan of the message before: what was learnt for it then is known already.
    last_plan: Weak<Plan>,
    xml: Xml,
    json: Option<json::Run>,
    /// The text that a path into JSON found.
    found: Option<String>,
    /// How much of the body was shown before.
    seen: usize,
    /// What is seen of a body that is coded.
    decoded: Option<Box<Decoded>>,
}

/// A coded body, decoded as far as it was looked at; it is passed on as it came.
#[derive(Debug)]
struct Decoded {
    decoding: Decoding,
    bytes: Vec<u8>,
    /// How much of the coded body was decoded.
    taken: usize,
    memory: Reservation,
}

/// The state of reading XML.
#[derive(Debug)]
struct Xml {
    parser: Parser,
    run: Run,
    stage: Stage,
    /// Whether comments or instructions came before the root element.
    preceded: bool,
    /// Which SOAP it is; plain XML stands in an envelope of SOAP 1.1.
    version: Version,
    beginnings: Beginnings,
    /// What is not UTF-8 is made so here, as far as it has come.
    decoder: Option<Decoder>,
    utf8: Vec<u8>,
    decoded: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The encoding is not known.
    Encoding,
    /// The root element has not been seen, and with it whether this is SOAP.
    Root,
    Inside,
}

/// How the messages of a plan begin, up to the first text or attribute: one that begins as another did is read on from
/// there.
#[derive(Debug, Default)]
struct Beginnings {
    /// How the pass stands behind the beginning that the parser has noted.
    known: Option<(Version, stream::Beginning)>,
    /// How many messages began otherwise.
    others: u32,
}

/// How long a beginning is noted.
const BEGINNING_BYTES: usize = 2 * 1024;
/// Of messages that begin otherwise, each first of so many is noted instead.
const BEGINNING_AGAIN: u32 = 16;

thread_local! {
    /// Passes that are over, for the next messages of this thread: their buffers have the right size already.
    #[expect(clippy::vec_box, reason = "a pass moves between here and an exchange as a pointer")]
    static SPARE: RefCell<Vec<Box<Scan>>> = const { RefCell::new(Vec::new()) };
}

/// How many passes a thread keeps: those of so many sequences find what they have learnt again.
const SPARE_SCANS: usize = 16;
/// A text that was not UTF-8 and took more than this gives its memory back.
const KEPT_TEXT_BYTES: usize = 64 * 1024;

/// How many bytes of the body the pass of a query has been shown; 0 where there is none.
pub(super) fn seen_bytes(exchange: &Exchange, query: &Query) -> usize {
    exchange.passes.iter::<Scan>().find(|scan| scan.is_of(&query.plan)).map_or(0, |scan| scan.seen)
}

/// The answer to a query on a body that was not built.
pub(crate) fn answer_of<'a>(exchange: &'a Exchange, query: &Query) -> Option<Answer<'a>> {
    if let Body::Built(_) = exchange.message.body {
        return None;
    }
    let scan = exchange.passes.iter::<Scan>().find(|scan| scan.is_of(&query.plan))?;
    if let Plan::Json(_) = &*query.plan {
        return scan.found.as_deref().map(Answer::Text);
    }
    scan.xml.answer(query)
}

/// What a property or header is now counts: passes that asked for the old ones are over.
pub(super) fn forget_volatile(passes: &mut Passes) {
    while let Some(scan) = passes.take(|scan: &Scan| scan.plan.as_ref().is_some_and(|plan| plan.is_volatile())) {
        scan.retire();
    }
}

impl Pass for Scan {
    /// Gives its memory to the next message.
    fn retire(mut self: Box<Scan>) {
        self.last_plan = self.plan.take().map_or_else(Weak::new, |plan| Arc::downgrade(&plan));
        self.found = None;
        self.decoded = None;
        if self.xml.utf8.capacity() > KEPT_TEXT_BYTES {
            self.xml.utf8 = Vec::new();
        }
        // The list may be gone at thread end.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() == SPARE_SCANS {
                spare.remove(0);
            }
            spare.push(self);
        });
    }
}

impl Default for Scan {
    fn default() -> Scan {
        let xml = Xml {
            parser: Parser::new(Options::default()),
            run: Run::new(),
            stage: Stage::Encoding,
            preceded: false,
            version: Version::Soap11,
            beginnings: Beginnings::default(),
            decoder: None,
            utf8: Vec::new(),
            decoded: 0,
        };
        Scan { plan: None, last_plan: Weak::new(), xml, json: None, found: None, seen: 0, decoded: None }
    }
}

/// Brings a query to its answer; `false` where only the built body can give one.
///
/// Errors: faults of whoever sent the body.
pub(super) fn poll_answered(
    exchange: &mut Exchange,
    context: &RequestContext<'_>,
    query: &Query,
    cx: &mut Context<'_>,
) -> Poll<Outcome<bool>> {
    let format = exchange.content.format;
    let fits = match &*query.plan {
        Plan::Json(_) => format == Format::Json,
        // What stands for XML is found in the built body alone.
        _ => (format.is_xml() || matches!(format, Format::None | Format::Other)) && query.id(Version::Soap11).is_some(),
    };
    // A body that is being read is one that needs its built form.
    if !fits || matches!(exchange.message.body, Body::Built(_) | Body::Reading(..)) {
        return Poll::Ready(Ok(false));
    }
    let mut scan = match exchange.passes.take(|scan: &Scan| scan.is_of(&query.plan)) {
        Some(scan) if scan.has_answered(query) => {
            exchange.passes.put(scan);
            return Poll::Ready(Ok(true));
        }
        begun => begun.unwrap_or_else(|| Scan::spare(&query.plan)),
    };
    // The body is looked at while properties and headers are: they are taken apart for that.
    let mut body = std::mem::replace(&mut exchange.message.body, Body::Gone);
    let mut unreadable = None;
    let seen = {
        let (limit_bytes, exchange) = (context.definitions.settings.body_limit_bytes, &*exchange);
        scan.begin(&query.plan);
        let mut read = |bytes: &[u8], complete| {
            let settled = match &exchange.content.codings {
                Some(codings) => scan.read_coded(bytes, complete, codings, query, exchange, context),
                None => {
                    scan.read(bytes, complete, query, exchange, context).map_err(|error| exchange.unreadable(error))
                }
            };
            settled.unwrap_or_else(|fault| {
                unreadable = Some(fault);
                true
            })
        };
        match format {
            // There is nothing to be found in what is neither XML nor JSON, so nobody needs to look.
            Format::None | Format::Other if !matches!(body, Body::Gone) => {
                read(&[], true);
                Poll::Ready(Ok(()))
            }
            _ => body.poll_look(cx, limit_bytes, &mut read),
        }
    };
    exchange.message.body = body;
    let answered = scan.has_answered(query);
    exchange.passes.put(scan);
    let is_response = exchange.direction == Direction::Response;
    if let Some(fault) = unreadable {
        return Poll::Ready(Err(fault));
    }
    Poll::Ready(match ready!(seen) {
        Ok(()) => Ok(answered),
        Err(error) => Err(Fault::body(&error, is_response)),
    })
}

impl Scan {
    /// One that served the same plan before, or else a new one; where enough are kept, the oldest is taken for it.
    fn spare(plan: &Arc<Plan>) -> Box<Scan> {
        SPARE.with_borrow_mut(|spare| {
            let same = spare.iter().rposition(|scan| Weak::as_ptr(&scan.last_plan) == Arc::as_ptr(plan));
            let oldest = (spare.len() >= SPARE_SCANS).then_some(0);
            same.or(oldest).map(|at| spare.remove(at)).unwrap_or_default()
        })
    }

    fn is_of(&self, plan: &Arc<Plan>) -> bool {
        self.plan.as_ref().is_some_and(|own| Arc::ptr_eq(own, plan))
    }

    /// Starts the pass, unless it has started.
    fn begin(&mut self, plan: &Arc<Plan>) {
        if self.is_of(plan) {
            return;
        }
        if Weak::as_ptr(&self.last_plan) != Arc::as_ptr(plan) {
            self.xml.beginnings = Beginnings::default();
        }
        self.plan = Some(Arc::clone(plan));
        self.seen = 0;
        self.decoded = None;
        match (&**plan, &mut self.json) {
            (Plan::Json(paths), Some(run)) => run.restart(Arc::clone(paths)),
            (Plan::Json(paths), none) => *none = Some(json::Run::new(Arc::clone(paths), json::Options::default())),
            _ => {
                self.xml.restart();
            }
        }
    }

    /// Reads on in what has come; says whether the query is settled.
    ///
    /// Errors: what of the body is not as its content type says.
    fn read(
        &mut self,
        bytes: &[u8],
        complete: bool,
        query: &Query,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Result<bool, Unreadable> {
        // Another look begins with less than the last one ended with where the body is shown in pieces again.
        if bytes.len() < self.seen {
            return Ok(false);
        }
        self.seen = bytes.len();
        if let Some(run) = &mut self.json
            && let Plan::Json(_) = &*query.plan
        {
            // As in Synapse, nothing is found where there is no body.
            if complete && bytes.is_empty() {
                self.found = Some(String::new());
            }
            if self.found.is_none() && run.next(bytes, complete)? == json::Progress::Decided {
                let text = run.answers()[0].text(bytes);
                self.found = Some(text.map(String::from).unwrap_or_else(|error| {
                    tracing::warn!(target: "myelin::expression", "json-eval() finds nothing: {error}");
                    String::new()
                }));
            }
            return Ok(self.found.is_some());
        }
        self.xml.read(bytes, complete, query, &host(&query.plan, exchange, context), exchange)
    }

    /// The same in a body that is coded.
    ///
    /// Errors: faults of whoever sent it.
    fn read_coded(
        &mut self,
        bytes: &[u8],
        complete: bool,
        codings: &Codings,
        query: &Query,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<bool> {
        let limit_bytes = context.definitions.settings.body_limit_bytes;
        let mut decoded = self.decoded.take().unwrap_or_else(|| Box::new(Decoded::new(codings, limit_bytes)));
        let read = decoded
            .read_to(bytes, complete)
            .map_err(|error| Fault::body(&error, exchange.direction == Direction::Response));
        let settled = read.and_then(|()| {
            let settled = self.read(&decoded.bytes, complete, query, exchange, context);
            settled.map_err(|error| exchange.unreadable(error))
        });
        self.decoded = Some(decoded);
        settled
    }

    fn has_answered(&self, query: &Query) -> bool {
        match &*query.plan {
            Plan::Json(_) => self.found.is_some(),
            _ => self.xml.answer(query).is_some(),
        }
    }
}

impl Decoded {
    fn new(codings: &Codings, limit_bytes: u64) -> Decoded {
        let decoding = Decoding::new(codings, limit_bytes);
        Decoded { decoding, bytes: Vec::new(), taken: 0, memory: Reservation::default() }
    }

    /// Decodes on in a body that is shown from its first byte on.
    fn read_to(&mut self, bytes: &[u8], complete: bool) -> Result<(), BodyError> {
        if let Some(more) = bytes.get(self.taken..) {
            self.decoding.push(more, &mut self.bytes)?;
            self.taken = bytes.len();
            self.memory.set(self.bytes.capacity().saturating_mul(2));
        }
        if complete { self.decoding.finish() } else { Ok(()) }
    }
}

/// Whom the expressions of a plan ask for what is not in the message.
fn host<'a>(plan: &'a Plan, exchange: &'a Exchange, context: &'a RequestContext<'a>) -> MessageHost<'a> {
    static NO_BINDINGS: Bindings = Bindings::NONE;
    let bindings = if let Plan::Alone(_, bindings) = plan { bindings } else { &NO_BINDINGS };
    MessageHost { bindings, exchange, context }
}

impl Xml {
    fn restart(&mut self) {
        self.parser.reset();
        (self.stage, self.preceded) = (Stage::Encoding, false);
        self.decoder = None;
        self.utf8.clear();
        self.decoded = 0;
    }

    /// The answer to a query; none as long as it is open, and where only a tree has it.
    fn answer(&self, query: &Query) -> Option<Answer<'_>> {
        if self.stage != Stage::Inside {
            return None;
        }
        match self.run.answer(query.id(self.version)?)? {
            stream::Answer::Boolean(boolean) => Some(Answer::Boolean(boolean)),
            stream::Answer::Number(number) => Some(Answer::Number(number)),
            stream::Answer::Text(text) => Some(Answer::Text(text)),
            stream::Answer::NeedsTree => None,
        }
    }

    fn read(
        &mut self,
        bytes: &[u8],
        complete: bool,
        query: &Query,
        host: &MessageHost<'_>,
        exchange: &Exchange,
    ) -> Result<bool, Unreadable> {
        let Some(compiled) = query.plan.compiled() else { return Ok(true) };
        if complete && bytes.is_empty() {
            // As in Synapse, there is an envelope where there is no body, and nothing in it.
            (self.stage, self.version) = (Stage::Inside, Version::Soap11);
            let plan = compiled.plan(self.version);
            self.run.start(plan, host);
            enter(&mut self.run, plan, host);
            self.run.finish(plan, host);
            return Ok(true);
        }
        if self.stage == Stage::Encoding {
            let Some(detected) = encoding::detect(exchange.content.charset(), bytes, complete)? else {
                return Ok(false);
            };
            self.parser.set_declared_encoding(detected.declared);
            self.decoder = (detected.encoding != Encoding::Utf8).then(|| Decoder::new(detected.encoding));
            self.stage = Stage::Root;
        }
        if let Some(decoder) = &mut self.decoder {
            decoder.push(&bytes[self.decoded..], &mut self.utf8);
            self.decoded = bytes.len();
            if complete {
                decoder.finish(&mut self.utf8);
            }
        }
        let utf8 = std::mem::take(&mut self.utf8);
        let input = if self.decoder.is_some() { &utf8 } else { bytes };
        let settled = self.read_utf8(input, complete, compiled, query, host);
        self.utf8 = utf8;
        settled
    }

    fn read_utf8(
        &mut self,
        input: &[u8],
        complete: bool,
        compiled: &Compiled,
        query: &Query,
        host: &MessageHost<'_>,
    ) -> Result<bool, Unreadable> {
        if self.stage == Stage::Root && !self.begin_behind(input, compiled, host) {
            if !self.read_root(input, complete, compiled, host)? {
                return Ok(false);
            }
            if self.is_to_be_noted(query) {
                self.note_beginning(input, complete, compiled, host)?;
            }
        }
        let Some(id) = query.id(self.version) else { return Ok(true) };
        let plan = compiled.plan(self.version);
        let progress = self.run.drive(plan, host, &mut self.parser, input, complete, id)?;
        Ok(progress == stream::Progress::Settled)
    }

    /// Reads up to the root element, which says what kind of message it is; whether it has come.
    fn read_root(
        &mut self,
        input: &[u8],
        complete: bool,
        compiled: &Compiled,
        host: &MessageHost<'_>,
    ) -> Result<bool, Unreadable> {
        loop {
            match self.parser.next(input, complete)? {
                Step::Event(Event::Comment(_) | Event::Instruction(_)) => self.preceded = true,
                Step::Event(event) => {
                    let Event::Start(start) = &event else { continue };
                    let name = start.names().get(start.name);
                    let version = Version::of_namespace(name.namespace).filter(|_| name.local == "Envelope");
                    self.stage = Stage::Inside;
                    self.version = version.unwrap_or(Version::Soap11);
                    let plan = compiled.plan(self.version);
                    self.run.start(plan, host);
                    if version.is_none() {
                        enter(&mut self.run, plan, host);
                    }
                    // What stands before an envelope belongs to the document, and comes before it.
                    if version.is_none() || !self.preceded {
                        self.run.event(plan, host, &event);
                        return Ok(true);
                    }
                    break;
                }
                // Without a root element there is no end either: the parser says so.
                Step::More | Step::End => return Ok(false),
            }
        }
        self.parser.reset();
        Ok(true)
    }

    /// Starts behind the beginning of the message, where others have begun with the same bytes.
    fn begin_behind(&mut self, input: &[u8], compiled: &Compiled, host: &MessageHost<'_>) -> bool {
        let Some((version, beginning)) = &self.beginnings.known else { return false };
        if !self.parser.begin_behind(input) {
            return false;
        }
        (self.stage, self.version) = (Stage::Inside, *version);
        self.run.start_behind(compiled.plan(*version), host, beginning);
        true
    }

    /// Whether the beginning of this message, whose root element was read, is to be noted: none is known that serves, no
    /// property decides what is found, and there is something to be found.
    fn is_to_be_noted(&mut self, query: &Query) -> bool {
        let is_due = self.beginnings.others.is_multiple_of(BEGINNING_AGAIN);
        self.beginnings.others = self.beginnings.others.wrapping_add(1);
        is_due && !query.plan.is_volatile() && !self.preceded && query.id(self.version).is_some()
    }

    /// Reads on as long as messages are likely to begin alike, and notes how far that is.
    fn note_beginning(
        &mut self,
        input: &[u8],
        complete: bool,
        compiled: &Compiled,
        host: &MessageHost<'_>,
    ) -> Result<(), Unreadable> {
        let plan = compiled.plan(self.version);
        while self.parser.position() <= BEGINNING_BYTES
            && let Some(run) = self.run.beginning(plan)
        {
            if self.parser.note_beginning(input) {
                self.beginnings.known = Some((self.version, run));
            }
            let Step::Event(event) = self.parser.next(input, complete)? else { break };
            self.run.event(plan, host, &event);
            let is_alike = match &event {
                Event::Start(start) => start.attributes().len() == 0,
                Event::Text(text) => text.bytes().iter().all(u8::is_ascii_whitespace),
                Event::End(_) => true,
                _ => false,
            };
            if !is_alike {
                break;
            }
        }
        Ok(())
    }
}

/// Puts plain XML into the body of an envelope that is not there.
fn enter(run: &mut Run, plan: &stream::Plan, host: &MessageHost<'_>) {
    for local in ["Envelope", "Body"] {
        run.enter(plan, host, Name { prefix: "soapenv", local, namespace: Version::Soap11.namespace() });
    }
}
