//! One client request until it is answered.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use http::StatusCode;
use myelin_message::{Body, Head, HeaderId, Message};
use myelin_soap::{Addressing, Headers};
use myelin_xml::encoding::{self, Encoding};

use crate::branch::{Kin, Room, Split, Stage};
use crate::bus::Bus;
use crate::content::{Answer, Json, Query, Scans, Tree};
use crate::description::Chosen;
use crate::endpoint::Departure;
use crate::engine::{self, Arrival, Counts, Engine};
use crate::fault::{Fault, Outcome};
use crate::function::{Argument, Frame};
use crate::identity;
use crate::property::{Found, Properties, Scope, Slot, Value, slot};
use crate::sequence::SequenceId;
use crate::service::Service;
use crate::transport::{Manner, Transport};

/// What stays the same while an exchange runs.
pub(crate) struct Scene<'a> {
    pub(crate) bus: &'a Bus,
    pub(crate) transport: &'a dyn Transport,
    pub(crate) arrival: Arrival<'a>,
    pub(crate) service: Service<'a>,
    /// What is under way on this thread.
    pub(crate) counts: &'a Counts,
    pub(crate) ground: Ground<'a>,
}

/// What the flows of a request stand on.
pub(crate) enum Ground<'a> {
    /// The first flow: a stage is made when another one begins.
    Engine(&'a Engine, &'a OnceCell<Rc<Stage>>),
    /// One that runs beside it.
    Stage(&'a Rc<Stage>),
}

impl<'a> Scene<'a> {
    /// Whether this thread has other exchanges under way, which would wait for long work done here.
    pub(crate) fn is_busy(&self) -> bool {
        self.counts.exchanges.get() > 1
    }

    /// What flows beside this one stand on; made when it is first asked for.
    pub(crate) fn stage(&self) -> &'a Rc<Stage> {
        match self.ground {
            Ground::Engine(engine, stage) => stage.get_or_init(|| engine.stage(self)),
            Ground::Stage(stage) => stage,
        }
    }
}

/// The state of one exchange.
pub(crate) struct Exchange {
    /// The current message: the request, then the backend's response.
    pub(crate) message: Message,
    /// Which of the two it is.
    pub(crate) direction: Direction,
    /// What the configuration set.
    pub(crate) properties: Properties,
    /// The language the request speaks, in which a fault is answered.
    pub(crate) format: Format,
    /// What the body of the current message is, as its sender said; header lines set since are for the next receiver.
    pub(crate) content: Content,
    /// The byte of the request target at which `REST_URL_POSTFIX` starts.
    pub(crate) postfix_start: usize,
    /// That a fault was made of the message, which is the answer then; and which way it counts as going.
    pub(crate) faulted: Option<Direction>,
    /// What `send` decided; carried out when the flow ends.
    pub(crate) decision: Option<Decision>,
    /// The parameters of the templates that are running, the innermost last.
    pub(crate) functions: Vec<Frame>,
    /// The `onError` sequences around the running mediator, the nearest last.
    pub(crate) handlers: Vec<SequenceId>,
    /// Whether the running mediator is the last of its flow, so that it may take the message for good.
    pub(crate) last: bool,
    /// Whether a fault sequence could run, which then wants to see the request's head.
    pub(crate) guarded: bool,
    /// Whether the configuration wants 202 for whatever comes of it (`FORCE_SC_ACCEPTED`).
    pub(crate) accepted: bool,
    /// Whether the flow is the one for responses.
    pub(crate) answering: bool,
    /// How many sequences and branches are nested around the running mediator.
    pub(crate) depth: u32,
    /// Whether a backend has answered since it began.
    pub(crate) called: bool,
    /// The branches that it goes on in, from the mediator that says so to the one who begins them.
    pub(crate) split: Option<Box<Split>>,
    /// The families of branches that it belongs to, from the outside in.
    pub(crate) kin: Vec<Kin>,
    /// The room that it has as a branch, until it has ended or met others: among all, and among its family.
    pub(crate) room: (Option<Room>, Option<Room>),
    /// What is known of the body that is still on the wire.
    pub(crate) scans: Scans,
    /// What is seen of a body that is neither XML nor JSON.
    nothing: OnceCell<Box<Tree>>,
    message_id: OnceCell<String>,
    /// The operation of the proxy's description that the request means.
    pub(crate) operation: Option<Chosen>,
}

/// What a `send` decided.
pub(crate) enum Decision {
    /// A request to a backend.
    Forward(Departure),
    /// The answer to the client.
    Answer(Message),
}

/// Which way the current message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Request,
    Response,
}

/// The language of a message, by its content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Soap11,
    Soap12,
    Pox,
    Json,
    /// No content type at all.
    None,
    Other,
}

/// What a body is, by the content type it came with.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) format: Format,
    charset: Option<Cow<'static, str>>,
}

impl Content {
    fn of(head: &Head) -> Content {
        Content { format: Format::of(head.known(HeaderId::ContentType)), charset: charset(head) }
    }

    /// The character set, where the content type names one.
    pub(crate) fn charset(&self) -> Option<&str> {
        self.charset.as_deref()
    }
}

impl Format {
    /// The format a content type stands for; parameters are ignored.
    pub(crate) fn of(content_type: Option<&[u8]>) -> Format {
        let Some(value) = content_type else { return Format::None };
        let essence = value.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        let is = |known: &str| essence.eq_ignore_ascii_case(known.as_bytes());
        // Structured syntax suffixes (RFC 6839).
        let is_some = |suffix: &str| {
            let tail = essence.len().checked_sub(suffix.len()).map(|at| &essence[at..]);
            tail.is_some_and(|tail| tail.eq_ignore_ascii_case(suffix.as_bytes()))
        };
        if is("text/xml") {
            Format::Soap11
        } else if is("application/soap+xml") {
            Format::Soap12
        } else if is("application/xml") || is_some("+xml") {
            Format::Pox
        } else if is("application/json") || is_some("+json") {
            Format::Json
        } else {
            Format::Other
        }
    }
}

impl Exchange {
    /// An exchange that starts with a client's request.
    pub(crate) fn new(request: Message) -> Exchange {
        Exchange {
            format: Format::of(request.head.known(HeaderId::ContentType)),
            content: Content::of(&request.head),
            message: request,
            direction: Direction::Request,
            properties: Properties::default(),
            postfix_start: usize::MAX,
            faulted: None,
            decision: None,
            functions: Vec::new(),
            handlers: Vec::new(),
            last: true,
            guarded: false,
            accepted: false,
            answering: false,
            depth: 0,
            called: false,
            split: None,
            kin: Vec::new(),
            room: (None, None),
            scans: Scans::default(),
            nothing: OnceCell::new(),
            message_id: OnceCell::new(),
            operation: None,
        }
    }

    /// A copy to be carried on beside this one: of message and properties, with nothing decided.
    ///
    /// Errors: the bus's, where the body was not read before, or is gone.
    pub(crate) fn branch(&mut self) -> Outcome<Exchange> {
        self.message.body.settle();
        match &self.message.body {
            Body::Empty => Ok(self.branch_with(Body::Empty)),
            Body::Bytes(bytes) => Ok(self.branch_with(Body::Bytes(bytes.clone()))),
            _ => Err(Fault::bus("The message's body was sent already and cannot be copied")),
        }
    }

    /// The same with another body, of the same content type.
    pub(crate) fn branch_with(&self, body: Body) -> Exchange {
        let Message { head, status, reason, .. } = &self.message;
        let message = Message { head: head.clone(), status: *status, reason: reason.clone(), body };
        Exchange {
            direction: self.direction,
            properties: self.properties.clone(),
            format: self.format,
            content: self.content.clone(),
            postfix_start: self.postfix_start,
            faulted: self.faulted,
            functions: self.functions.clone(),
            handlers: self.handlers.clone(),
            guarded: self.guarded,
            answering: self.answering,
            depth: self.depth,
            kin: self.kin.clone(),
            ..Exchange::new(message)
        }
    }

    /// The backend's response takes the place of what was sent.
    pub(crate) fn turn(&mut self, response: Message) {
        self.called = true;
        self.content = Content::of(&response.head);
        self.message = response;
        self.scans = Scans::default();
        self.direction = Direction::Response;
        self.faulted = None;
        self.properties.next_message();
        self.message_id = OnceCell::new();
        self.postfix_start = usize::MAX;
    }

    /// The request counts as a backend's response from here on, addressed to whoever asked.
    pub(crate) fn loop_back(&mut self) {
        self.direction = Direction::Response;
        self.properties.put(Scope::Addressing, slot::TO, None);
        to_response(&mut self.message);
    }

    /// What the running template was given for a parameter.
    pub(crate) fn argument(&self, slot: Slot) -> Option<&Argument> {
        let frame = self.functions.last()?;
        frame.iter().find(|(known, _)| *known == slot).map(|(_, argument)| argument)
    }

    /// Whether a parameter of the running template is an expression over the message.
    pub(crate) fn has_expressions(&self) -> bool {
        let is_one = |(_, argument): &(Slot, Argument)| matches!(argument, Argument::Later(_));
        self.functions.last().is_some_and(|frame| frame.iter().any(is_one))
    }

    /// The body as XML, where it was built as that; what is neither XML nor JSON holds nothing that could be found.
    ///
    /// Errors: the bus's, where it is JSON.
    pub(crate) fn tree(&self) -> Outcome<&Tree> {
        match self.message.body.built::<Tree>() {
            Some(tree) => Ok(tree),
            None if self.is_opaque() => Ok(self.nothing.get_or_init(|| Box::new(Tree::empty()))),
            None => Err(self.is_no("XML")),
        }
    }

    /// Whether the body is neither XML nor JSON: as in Synapse, nothing is found there, and it is no fault to look.
    pub(crate) fn is_opaque(&self) -> bool {
        matches!(self.content.format, Format::None | Format::Other)
            && !matches!(self.message.body, Body::Empty | Body::Built(_) | Body::Gone)
    }

    /// The same, to be changed.
    pub(crate) fn tree_mut(&mut self) -> Outcome<&mut Tree> {
        if self.message.body.built::<Tree>().is_none() {
            return Err(self.is_no("XML"));
        }
        self.message.body.built_mut::<Tree>().ok_or_else(engine::missing)
    }

    /// The body as JSON, where it was built as that; `None` where there is no body.
    ///
    /// Errors: the bus's, where it is something else.
    pub(crate) fn json(&self) -> Outcome<Option<&Json>> {
        match self.message.body.built::<Json>() {
            Some(json) => Ok(Some(json)),
            None if self.is_opaque() || self.message.body.built::<Tree>().is_some_and(Tree::is_empty) => Ok(None),
            None => Err(self.is_no("JSON")),
        }
    }

    /// The same, to be changed.
    pub(crate) fn json_mut(&mut self) -> Outcome<&mut Json> {
        if self.message.body.built::<Json>().is_none() {
            return Err(self.is_no("JSON"));
        }
        self.message.body.built_mut::<Json>().ok_or_else(engine::missing)
    }

    fn is_no(&self, wanted: &str) -> Box<Fault> {
        match self.message.body {
            Body::Gone => Fault::bus("The message's body was sent already and cannot be read again"),
            _ => Fault::bus(format!("The message's body is no {wanted}; converting it is not offered yet")),
        }
    }

    /// The answer to a query on a body that was not built.
    pub(crate) fn answer_of(&self, query: &Query) -> Option<Answer<'_>> {
        if let Body::Built(_) = self.message.body { None } else { self.scans.answer(query) }
    }

    /// Puts another body in the place of the message's, of the type that its content type says now.
    pub(crate) fn set_body(&mut self, body: Body) {
        self.content = Content::of(&self.message.head);
        self.message.body = body;
        self.scans = Scans::default();
    }

    /// The bytes of a body that was read as it came, if it is to be XML, and in UTF-8.
    pub(crate) fn utf8(&mut self) -> Option<&mut Vec<u8>> {
        if self.is_opaque() || self.content.format == Format::Json {
            return None;
        }
        let Body::Bytes(bytes) = &mut self.message.body else { return None };
        let detected = encoding::detect(self.content.charset.as_deref(), bytes, true).ok()??;
        (detected.encoding == Encoding::Utf8 && !bytes.is_empty()).then_some(bytes)
    }

    /// Puts other bytes in the place of a part of those that would be sent; the body is to be read again.
    ///
    /// Errors: the bus's, where the body is not there.
    pub(crate) fn splice(&mut self, part: Range<usize>, with: &[u8]) -> Outcome<()> {
        let mut bytes = match self.message.body.take() {
            Body::Bytes(bytes) => bytes,
            Body::Built(built) => built.into_bytes(),
            _ => return Err(engine::missing()),
        };
        let behind = bytes.split_off(part.end);
        bytes.truncate(part.start);
        bytes.extend_from_slice(with);
        bytes.extend_from_slice(&behind);
        self.set_bytes(bytes);
        Ok(())
    }

    /// Puts bytes in the place of a body of the same type that was built; the next message can use its memory.
    pub(crate) fn set_bytes(&mut self, bytes: Vec<u8>) {
        if let Body::Built(built) = std::mem::replace(&mut self.message.body, Body::Bytes(bytes)) {
            built.into_bytes();
        }
        self.scans = Scans::default();
    }

    /// Whether the message goes to the client: a response, or a request that was declared one or became a fault.
    pub(crate) fn is_response(&self) -> bool {
        self.direction == Direction::Response
            || self.faulted == Some(Direction::Response)
            || self.properties.is_true(Scope::Default, slot::RESPONSE)
    }

    /// The current message, to be sent: moved if nothing looks at it afterwards, else its head is copied.
    pub(crate) fn take_message(&mut self, for_good: bool) -> Message {
        self.settle_encoding();
        // Nobody asks about a body that has left, and while a backend is waited for the next message can use the memory.
        self.scans = Scans::default();
        let head = if for_good { std::mem::take(&mut self.message.head) } else { self.message.head.clone() };
        let reason = if for_good { self.message.reason.take() } else { self.message.reason.clone() };
        Message { head, status: self.message.status, reason, body: self.message.body.take() }
    }

    /// Takes the message out to be sent later; its head stays to be looked at.
    pub(crate) fn set_aside(&mut self) -> Message {
        self.take_message(false)
    }

    /// Brings back a message that was set aside, or a copy of one, with what its body is.
    pub(crate) fn put_back(&mut self, message: Message, content: Content) {
        self.message = message;
        self.content = content;
        self.scans = Scans::default();
    }

    /// Turns a built body into the bytes that are sent of it.
    pub(crate) fn settle(&mut self) {
        if self.message.body.built::<Tree>().is_some_and(Tree::is_recoded) {
            self.settle_encoding();
            self.content.charset = Some(Cow::Borrowed("UTF-8"));
        }
        self.message.body.settle();
        self.scans = Scans::default();
    }

    /// A changed body leaves in UTF-8: a content type that says another encoding says that then.
    fn settle_encoding(&mut self) {
        if self.message.body.built::<Tree>().is_some_and(Tree::is_recoded) {
            write_charset(&mut self.message.head, "UTF-8");
        }
    }

    /// The body is in that character set now.
    pub(crate) fn set_charset(&mut self, charset: &str) {
        if !self.content.charset().unwrap_or("UTF-8").eq_ignore_ascii_case(charset) {
            write_charset(&mut self.message.head, charset);
            self.content.charset = Some(Cow::Owned(charset.to_owned()));
        }
    }

    /// The current message as the client's answer, with what the properties say about status and body.
    pub(crate) fn answer(&mut self, for_good: bool) -> Outcome<Message> {
        // Settled first: a message that cannot be the answer is still there for the fault sequence.
        let own_status = self.own_status()?;
        let mut message = self.take_message(for_good);
        if self.direction == Direction::Request {
            to_response(&mut message);
        }
        if let Some(status) = own_status {
            message.status = status;
            message.reason = None;
        }
        let phrase = [slot::HTTP_SC_DESC, slot::HTTP_REASON_PHRASE]
            .into_iter()
            .find_map(|slot| self.properties.get(Scope::Axis2, slot));
        if let Some(phrase) = phrase {
            message.reason = Some(phrase.text().into_owned());
        }
        self.shape(&mut message)?;
        Ok(message)
    }

    /// The status that `HTTP_SC` asks for, or one of the switches that say one.
    fn own_status(&self) -> Outcome<Option<StatusCode>> {
        let Some(code) = self.properties.get(Scope::Axis2, slot::HTTP_SC) else {
            if self.is_fault() && self.properties.is_true(Scope::Axis2, slot::FAULTS_AS_HTTP_200) {
                return Ok(Some(StatusCode::OK));
            }
            let is_accepted = self.properties.is_true(Scope::Axis2, slot::SC_ACCEPTED);
            return Ok(is_accepted.then_some(StatusCode::ACCEPTED));
        };
        let text = code.text();
        let number = text.trim().parse::<u16>().ok().filter(|code| *code >= 200);
        match number.and_then(|code| StatusCode::from_u16(code).ok()) {
            Some(status) => Ok(Some(status)),
            None => Err(Fault::bus("HTTP_SC is no status code from 200 to 999").with_detail(format!("it is {text:?}"))),
        }
    }

    /// Whether the message is a fault: one that was made here, or SOAP with the status that SOAP 1.1 has for it (§6.2).
    fn is_fault(&self) -> bool {
        let is_soap = matches!(self.content.format, Format::Soap11 | Format::Soap12);
        let is_response = self.direction == Direction::Response;
        self.faulted.is_some() || (is_response && is_soap && self.message.status == StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// What the properties say about the header lines and the body of a message that leaves, either way.
    pub(crate) fn shape(&self, message: &mut Message) -> Outcome<()> {
        if let Some(content_type) = self.properties.get(Scope::Axis2, slot::CONTENT_TYPE) {
            message.head.set("Content-Type", content_type.text().as_bytes())?;
        }
        if self.properties.is_true(Scope::Axis2, slot::NO_ENTITY_BODY) {
            message.body = Body::Empty;
        }
        Ok(())
    }

    /// Whether the body is to be read before it leaves, so that its length can be told.
    pub(crate) fn wants_length(&self) -> bool {
        // HTTP/1.0 knows no other way to say where a body ends without ending the connection.
        [slot::DISABLE_CHUNKING, slot::FORCE_HTTP_CONTENT_LENGTH, slot::FORCE_HTTP_1_0]
            .into_iter()
            .any(|slot| self.properties.is_true(Scope::Axis2, slot))
    }

    /// What the properties say of how a request is sent.
    pub(crate) fn manner(&self) -> Manner {
        let is_set = |slot| self.properties.is_true(Scope::Axis2, slot);
        Manner {
            close: is_set(slot::NO_KEEPALIVE),
            http10: is_set(slot::FORCE_HTTP_1_0),
            absolute: is_set(slot::POST_TO_URI) || is_set(slot::FULL_URI),
        }
    }

    /// The rest of the request's path behind the service, with the query; set, or as it came.
    pub(crate) fn postfix(&self) -> Option<Cow<'_, str>> {
        match self.properties.find(Scope::Axis2, slot::REST_URL_POSTFIX) {
            Found::Set(value) => Some(value.text()),
            Found::Removed => None,
            Found::Untouched => {
                self.message.head.target().get(self.postfix_start..).filter(|rest| !rest.is_empty()).map(Cow::Borrowed)
            }
        }
    }

    /// Where the message is addressed: what `header name="To"` set, or the request target as it came.
    pub(crate) fn to(&self) -> Option<Cow<'_, str>> {
        match self.properties.find(Scope::Addressing, slot::TO) {
            Found::Set(value) => Some(value.text()),
            Found::Removed => None,
            Found::Untouched if self.direction == Direction::Response => Some(Cow::Borrowed(ANONYMOUS)),
            Found::Untouched => match self.header_part(slot::TO).filter(|to| !is_anonymous(to)) {
                Some(to) => Some(Cow::Owned(to)),
                None => Some(Cow::Borrowed(self.message.head.target())).filter(|target| !target.is_empty()),
            },
        }
    }

    /// Whether a part of WS-Addressing could stand in the header of a SOAP message that nobody has read.
    pub(crate) fn may_be_in_header(&self, part: Slot) -> bool {
        let is_unread = matches!(self.message.body, Body::Wire(_) | Body::Reading(..) | Body::Bytes(_));
        let is_soap = matches!(self.content.format, Format::Soap11 | Format::Soap12);
        is_unread
            && is_soap
            && self.properties.find(Scope::Addressing, part) == Found::Untouched
            && match part {
                slot::TO => !self.is_response(),
                // HTTP says it as well, and nobody reads a body for what its head tells.
                slot::ACTION => self.action().is_none_or(|action| action.is_empty()),
                _ => true,
            }
    }

    /// A part of WS-Addressing in the header of a message that was read.
    pub(crate) fn header_part(&self, part: Slot) -> Option<String> {
        let tree = self.message.body.built::<Tree>()?;
        let (_, headers) = Headers::read(tree.document(), &tree.envelope())?;
        match part {
            slot::TO => headers.to,
            slot::ACTION => headers.action,
            slot::MESSAGE_ID => headers.message_id,
            slot::REPLY_TO => headers.reply_to,
            slot::FAULT_TO => headers.fault_to,
            slot::FROM => headers.from,
            slot::RELATES_TO => headers.relates_to.into_iter().next().map(|relation| relation.message_id),
            _ => None,
        }
    }

    /// The message's action: what was set, else SOAP's own header line or parameter, else what its header says.
    pub(crate) fn action(&self) -> Option<Cow<'_, str>> {
        let action = action_of(&self.properties, &self.message.head);
        let is_said = action.as_ref().is_some_and(|action| !action.is_empty());
        if is_said || self.properties.find(Scope::Addressing, slot::ACTION) != Found::Untouched {
            return action;
        }
        self.header_part(slot::ACTION).map(Cow::Owned).or(action)
    }

    /// An identifier of the current message: its own, else one that is made when it is first asked for.
    pub(crate) fn message_id(&self, scene: &Scene<'_>) -> &str {
        self.message_id.get_or_init(|| {
            let own = self.header_part(slot::MESSAGE_ID).filter(|id| !id.is_empty());
            own.unwrap_or_else(|| format!("urn:uuid:{}", identity::new(scene.transport.now())))
        })
    }

    /// A property of the message that the transport knows without anybody having set it.
    pub(crate) fn transport_property(&self, slot: Slot, scene: &Scene<'_>) -> Option<Cow<'_, str>> {
        let is_request = self.direction == Direction::Request;
        match slot {
            slot::HTTP_METHOD if is_request => Some(Cow::Borrowed(self.message.head.method())),
            slot::TRANSPORT_IN_URL if is_request => Some(Cow::Borrowed(self.message.head.target())),
            slot::REST_URL_POSTFIX => self.postfix(),
            slot::REMOTE_ADDR | slot::REMOTE_HOST if is_request => {
                Some(Cow::Owned(scene.arrival.peer.ip().to_string()))
            }
            slot::HTTP_SC if !is_request => Some(Cow::Owned(self.message.status.as_str().to_owned())),
            slot::HTTP_SC_DESC if !is_request => {
                let reason = self.message.reason.as_deref().or(self.message.status.canonical_reason());
                reason.map(Cow::Borrowed)
            }
            slot::CONTENT_TYPE | slot::MESSAGE_TYPE => {
                let value = String::from_utf8_lossy(self.message.head.known(HeaderId::ContentType)?);
                if slot == slot::CONTENT_TYPE {
                    return Some(value);
                }
                // The message type is the content type without its parameters.
                Some(match value {
                    Cow::Borrowed(text) => Cow::Borrowed(text.split(';').next().unwrap_or_default().trim()),
                    Cow::Owned(text) => Cow::Owned(text.split(';').next().unwrap_or_default().trim().to_owned()),
                })
            }
            slot::SERVICE_PREFIX => {
                let scheme = if scene.arrival.secure { "https" } else { "http" };
                let end = self.postfix_start.min(self.message.head.target().len());
                let path = self.message.head.target().get(..end).unwrap_or_default();
                is_request.then(|| Cow::Owned(format!("{scheme}://{}{path}", scene.arrival.local)))
            }
            _ => None,
        }
    }

    /// Leaves in the properties what a fault sequence reads.
    pub(crate) fn describe(&mut self, fault: &Fault) {
        let text = |text: &str| Some(Value::Text(text.into()));
        let detail = fault.detail.as_deref().unwrap_or(&fault.message);
        self.properties.put(Scope::Default, slot::ERROR_CODE, Some(fault.error_code()));
        self.properties.put(Scope::Default, slot::ERROR_MESSAGE, text(&fault.message));
        self.properties.put(Scope::Default, slot::ERROR_DETAIL, text(detail));
        self.properties.put(Scope::Default, slot::ERROR_EXCEPTION, text(detail));
    }
}

/// The action of a message with that head: what was set, else SOAP's own header line or parameter.
pub(crate) fn action_of<'a>(properties: &'a Properties, head: &'a Head) -> Option<Cow<'a, str>> {
    match properties.find(Scope::Addressing, slot::ACTION) {
        Found::Set(value) => return Some(value.text()),
        Found::Removed => return None,
        Found::Untouched => {}
    }
    if let Some(action) = head.first("SOAPAction") {
        let action = String::from_utf8_lossy(action);
        return Some(match action {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim_matches('"')),
            Cow::Owned(text) => Cow::Owned(text.trim_matches('"').to_owned()),
        });
    }
    let content_type = std::str::from_utf8(head.known(HeaderId::ContentType)?).ok()?;
    let parameter = content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("action").then_some(value.trim().trim_matches('"'))
    });
    parameter.map(Cow::Borrowed)
}

/// Makes a response of a request.
///
/// Synapse answers with the request's own header lines; these four would be untrue or harmful there.
fn to_response(message: &mut Message) {
    let only_a_request_has = [HeaderId::Host, HeaderId::Expect, HeaderId::UserAgent, HeaderId::ProxyAuthorization];
    message.head.remove_if(|id, _| only_a_request_has.contains(&id));
    message.status = StatusCode::OK;
}

/// The character set, where the content type names one.
pub(crate) fn charset(head: &Head) -> Option<Cow<'static, str>> {
    let content_type = std::str::from_utf8(head.known(HeaderId::ContentType)?).ok()?;
    let parameter = content_type.split(';').skip(1).find(|part| is_charset(part))?;
    let name = parameter.split_once('=')?.1.trim().trim_matches('"');
    // The usual one is a constant: no message pays for saying it.
    Some(if name.eq_ignore_ascii_case("utf-8") { Cow::Borrowed("UTF-8") } else { Cow::Owned(name.to_owned()) })
}

/// Says another character set in the content type, if there is one.
pub(crate) fn write_charset(head: &mut Head, charset: &str) {
    let Some(value) = head.known(HeaderId::ContentType) else { return };
    let value = String::from_utf8_lossy(value).into_owned();
    let parameters = value.split(';').filter(|part| !is_charset(part));
    let value = format!("{}; charset={charset}", parameters.collect::<Vec<_>>().join(";"));
    // Parts of a valid value are valid, and so is what is added.
    let _ = head.set("Content-Type", value.as_bytes());
}

fn is_charset(parameter: &str) -> bool {
    parameter.split_once('=').is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
}

/// Whether an address says "back on the way this came".
fn is_anonymous(address: &str) -> bool {
    [Addressing::Final, Addressing::Submission].iter().any(|version| version.anonymous() == address)
}

/// What WS-Addressing says for "whoever asked"; a response is addressed so (WS-Addressing 1.0 SOAP Binding §5.1).
pub(crate) const ANONYMOUS: &str = "http://www.w3.org/2005/08/addressing/anonymous";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_type_tells_the_format() {
        let check = |value: &str, expected| assert_eq!(Format::of(Some(value.as_bytes())), expected, "{value}");
        check("text/xml; charset=UTF-8", Format::Soap11);
        check("Application/SOAP+XML;action=\"a\"", Format::Soap12);
        check("application/xml", Format::Pox);
        check("application/problem+json", Format::Json);
        check("text/plain", Format::Other);
        assert_eq!(Format::of(None), Format::None);
    }
}
