//! One client request until it is answered.

mod body;
mod facts;
mod leaving;
mod outgoing;

use std::cell::OnceCell;
use std::sync::Arc;

use myelin_content::{Content, ContentTypes, Format};
use myelin_json::convert::Switches;
use myelin_message::budget::Reservation;
use myelin_message::{Body, HeaderId, Message, StatusCode};

pub use facts::action_of;

use crate::branches::{BranchPermit, GroupMember};
use crate::extensions::Extensions;
use crate::fault::{Fault, Outcome};
use crate::ids::SequenceId;
use crate::passes::Passes;
use crate::property::{Properties, Scope, Slot, Value, slot};
use crate::reference::{EndpointIdentity, PendingSend};
use crate::replies::ReplyAddresses;
use crate::template::{Argument, Frame};

/// The state of one exchange.
pub struct Exchange {
    /// The current message: the request, then the backend's response.
    pub message: Message,
    /// Which of the two it is.
    pub direction: Direction,
    /// What the configuration set.
    pub properties: Properties,
    /// The language the request speaks, in which a fault is answered.
    pub format: Format,
    /// What the body of the current message is, as its sender said; header lines set since are for the next receiver.
    pub content: Content,
    /// The byte of the request target at which `REST_URL_POSTFIX` starts.
    pub postfix_start: usize,
    /// That a fault was made of the message, which is the answer then; and which way it counts as going.
    pub faulted: Option<Direction>,
    /// What `send` decided; carried out when the flow ends.
    pub decision: Option<Decision>,
    /// The parameters of the templates that are running, the innermost last.
    pub template_frames: Vec<Frame>,
    /// The `onError` sequences around the running mediator, the nearest last.
    pub handlers: Vec<SequenceId>,
    /// Whether the running mediator is the last of its flow, so that it may take the message for good.
    pub last: bool,
    /// Whether a fault sequence could run, which then wants to see the request's head.
    pub guarded: bool,
    /// Whether the configuration wants 202 for whatever comes of it (`FORCE_SC_ACCEPTED`).
    pub accepted: bool,
    /// Whether the flow is the one for responses.
    pub answering: bool,
    /// How many sequences and branches are nested around the running mediator.
    pub depth: u32,
    /// Whether a backend has answered since it began.
    pub called: bool,
    /// The groups of branches that it belongs to, from the outside in.
    pub members: Vec<GroupMember>,
    /// The room that it has as a branch, until it has ended or met others: among all, and among its group.
    pub permits: (Option<BranchPermit>, Option<BranchPermit>),
    /// The memory that the body has in the forms that were made of it.
    pub memory: Reservation,
    /// What layers above keep with it.
    pub extensions: Extensions,
    /// What expressions know of the body that is still on the wire.
    pub passes: Passes,
    /// What the operator says of content types; most say nothing.
    pub types: Option<Arc<ContentTypes>>,
    /// How JSON and XML stand for each other, once a body was built.
    pub switches: Option<Arc<Switches>>,
    /// Where the client wants its answers, if not on the connection: said by a request whose `ReplyTo` the bus replaced.
    pub reply_addresses: OnceCell<Box<ReplyAddresses>>,
    message_id: OnceCell<String>,
    /// Whether the body could not be read as what its content type says.
    pub not_understood: bool,
    /// The backend that the message, or the request that it answers, was sent to.
    pub last_endpoint: Option<Arc<dyn EndpointIdentity>>,
}

/// What a `send` decided.
pub enum Decision {
    /// A request to a backend.
    Forward(PendingSend),
    /// The answer to the client.
    Answer(Message),
}

/// Which way the current message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client to a backend.
    Request,
    /// From a backend, or from the bus, to the client.
    Response,
}

impl Exchange {
    /// An exchange that starts with a client's request.
    pub fn new(request: Message) -> Exchange {
        let content = Content::of(&request.head);
        Exchange {
            format: content.format,
            content,
            message: request,
            direction: Direction::Request,
            properties: Properties::default(),
            postfix_start: usize::MAX,
            faulted: None,
            decision: None,
            template_frames: Vec::new(),
            handlers: Vec::new(),
            last: true,
            guarded: false,
            accepted: false,
            answering: false,
            depth: 0,
            called: false,
            members: Vec::new(),
            permits: (None, None),
            memory: Reservation::default(),
            extensions: Extensions::default(),
            passes: Passes::default(),
            types: None,
            switches: None,
            reply_addresses: OnceCell::new(),
            message_id: OnceCell::new(),
            not_understood: false,
            last_endpoint: None,
        }
    }

    /// Content types are to be understood as an operator says.
    pub fn set_content_types(&mut self, types: &Arc<ContentTypes>) {
        self.types = Some(Arc::clone(types));
        self.content = Content::with_types(&self.message.head, self.types.as_deref());
        self.format = self.content.format;
    }

    /// A copy to be carried on beside this one: of message and properties, with nothing decided.
    ///
    /// Errors: the bus's, where the body was not read before, or is gone.
    pub fn branch(&mut self) -> Outcome<Exchange> {
        self.settle_for_copies();
        match &self.message.body {
            Body::Empty => Ok(self.branch_with(Body::Empty)),
            Body::Bytes(bytes) => Ok(self.branch_with(Body::Bytes(bytes.clone()))),
            Body::Shared(bytes) => Ok(self.branch_with(Body::Shared(Arc::clone(bytes)))),
            _ => Err(Fault::bus("The message's body was sent already and cannot be copied")),
        }
    }

    /// The same with another body, of the same content type.
    pub fn branch_with(&self, body: Body) -> Exchange {
        let Message { head, status, reason, .. } = &self.message;
        let message = Message { head: head.clone(), status: *status, reason: reason.clone(), body, close: false };
        let memory = Reservation::of(match &message.body {
            Body::Bytes(bytes) => bytes.len(),
            _ => 0,
        });
        Exchange {
            memory,
            direction: self.direction,
            properties: self.properties.clone(),
            format: self.format,
            content: self.content.clone(),
            postfix_start: self.postfix_start,
            faulted: self.faulted,
            template_frames: self.template_frames.clone(),
            handlers: self.handlers.clone(),
            guarded: self.guarded,
            answering: self.answering,
            depth: self.depth,
            members: self.members.clone(),
            extensions: self.extensions.for_copy(),
            last_endpoint: self.last_endpoint.clone(),
            types: self.types.clone(),
            switches: self.switches.clone(),
            ..Exchange::new(message)
        }
    }

    /// The backend's response takes the place of what was sent.
    pub fn set_response(&mut self, response: Message) {
        self.called = true;
        self.content = Content::with_types(&response.head, self.types.as_deref());
        self.message = response;
        self.memory.set(0);
        self.passes.clear();
        self.direction = Direction::Response;
        self.faulted = None;
        self.not_understood = false;
        self.properties.next_message();
        self.message_id = OnceCell::new();
        self.postfix_start = usize::MAX;
    }

    /// The request counts as a backend's response from here on, addressed to whoever asked.
    pub fn loop_back(&mut self) {
        self.direction = Direction::Response;
        self.properties.put(Scope::Addressing, slot::TO, None);
        to_response(&mut self.message);
    }

    /// What the running template was given for a parameter.
    pub fn argument(&self, slot: Slot) -> Option<&Argument> {
        let frame = self.template_frames.last()?;
        frame.iter().find(|(known, _)| *known == slot).map(|(_, argument)| argument)
    }

    /// Whether a parameter of the running template is an expression over the message.
    pub fn has_expressions(&self) -> bool {
        let is_one = |(_, argument): &(Slot, Argument)| matches!(argument, Argument::Deferred(_));
        self.template_frames.last().is_some_and(|frame| frame.iter().any(is_one))
    }

    /// Whether the message goes to the client: a response, or a request that was declared one or became a fault.
    pub fn is_response(&self) -> bool {
        self.direction == Direction::Response
            || self.faulted == Some(Direction::Response)
            || self.properties.is_true(Scope::Default, slot::RESPONSE)
    }

    /// Leaves in the properties what a fault sequence reads.
    pub fn describe(&mut self, fault: &Fault) {
        let text = |text: &str| Some(Value::Text(text.into()));
        let detail = fault.detail.as_deref().unwrap_or(&fault.message);
        self.properties.put(Scope::Default, slot::ERROR_CODE, Some(fault.error_code()));
        self.properties.put(Scope::Default, slot::ERROR_MESSAGE, text(&fault.message));
        self.properties.put(Scope::Default, slot::ERROR_DETAIL, text(detail));
        self.properties.put(Scope::Default, slot::ERROR_EXCEPTION, text(detail));
        if let Some(state) = fault.protocol_state() {
            self.properties.put(Scope::Default, slot::BASE_ERROR_CODE, Some(fault.error_code()));
            self.properties.put(Scope::Default, slot::PROTOCOL_STATE_ON_FAILURE, text(state));
        }
    }
}

/// Makes a response of a request.
///
/// Synapse answers with the request's own header lines; these four would be untrue or harmful there.
fn to_response(message: &mut Message) {
    let only_a_request_has = [HeaderId::Host, HeaderId::Expect, HeaderId::UserAgent, HeaderId::ProxyAuthorization];
    message.head.remove_if(|id, _| only_a_request_has.contains(&id));
    message.status = StatusCode::OK;
}
