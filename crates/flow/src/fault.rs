//! What went wrong in an exchange: a Synapse error code, whose side it is, and the way it took.

use std::fmt;
use std::sync::Arc;

use http::StatusCode;
use myelin_content::{CopyError, Oversized, Unencodable, UnknownForm, Unreadable};
use myelin_message::{Arrival, BodyError, Malformed};
use myelin_soap as soap;
use myelin_wss::{FaultCode, Refusal, Rule};

use crate::database::{DatabaseError, DatabaseErrorKind};
use crate::ids::SequenceId;
use crate::position::{in_exchange, inside_step};
use crate::property::Value;
use crate::tally::{self, Tally};
use crate::transport::{SendError, SendErrorKind};

/// What a step of mediation gives: faults are rare and large, so they are boxed.
pub type Outcome<T> = Result<T, Box<Fault>>;

/// Synapse's code for an answer that came and cannot be made use of.
const RESPONSE_PROCESSING_FAILURE: u32 = 101510;

/// Synapse's code for an answer that the configuration takes for a failure.
const ENDPOINT_CUSTOM_ERROR: u32 = 500_000;

/// Who has to act on a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The client sent what cannot be processed.
    Client,
    /// The backend did not answer, or not properly.
    Backend,
    /// The bus or its configuration.
    Bus,
}

/// The end of a flow that could not go on.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Synapse's `ERROR_CODE`; 0 where it has none.
    pub code: u32,
    /// What the configuration calls it in the place of a code, where that is a word (`throwError`).
    pub word: Option<Arc<str>>,
    /// Whose side it is.
    pub origin: Origin,
    /// The name that another standard has for it, which is told in SOAP.
    pub subcode: Option<soap::Code<'static>>,
    /// The status to answer with where no handler answers.
    pub status: StatusCode,
    /// A sentence that clients may read: no address, no path of ours.
    pub message: String,
    /// What the log gets on top.
    pub detail: Option<String>,
    /// The steps from the inside out, as `log (file:line)`.
    pub trail: Vec<String>,
    /// The `onError` sequences around the step, the nearest last; `None` as long as nobody has looked.
    pub handlers: Option<Vec<SequenceId>>,
    /// Whether no fault sequence is to run (`responseAction` `discard`).
    pub discard: bool,
}

impl Fault {
    /// A fault of the bus or its configuration, answered with 500.
    pub fn bus(message: impl Into<String>) -> Box<Fault> {
        Fault::new(0, Origin::Bus, StatusCode::INTERNAL_SERVER_ERROR, message)
    }

    /// A fault that the configuration makes by itself, answered with 500; `code` is a number or a word.
    pub fn thrown(code: &str, message: impl Into<String>) -> Box<Fault> {
        let mut fault = Fault::bus(message);
        match code.trim().parse() {
            Ok(number) => fault.code = number,
            Err(_) => fault.word = Some(code.into()),
        }
        fault
    }

    /// What handlers find as `ERROR_CODE` and clients are told.
    pub fn error_code(&self) -> Value {
        match &self.word {
            Some(word) => Value::Text(Arc::clone(word)),
            None => Value::Integer(self.code.into()),
        }
    }

    /// That no backend is to be tried at the moment, by one of Synapse's codes for that.
    pub fn not_ready(code: u32, detail: impl Into<String>) -> Box<Fault> {
        let message = "The backend is not available at the moment";
        Fault::new(code, Origin::Backend, StatusCode::SERVICE_UNAVAILABLE, message).with_detail(detail)
    }

    /// That a limit of the bus was reached, and that it is worth trying again.
    pub fn overloaded(detail: impl Into<String>) -> Box<Fault> {
        tally::count(Tally::Overload);
        let message = "The bus has reached a limit; try again later";
        Fault::new(303000, Origin::Bus, StatusCode::SERVICE_UNAVAILABLE, message).with_detail(detail)
    }

    /// That a request was for an artefact that is faulty, so that the bus does not serve it; `kind` is that of its element.
    pub fn left_out(kind: &str, name: &str) -> Box<Fault> {
        let message = format!("The {kind} {name} is faulty, so that the bus does not serve it");
        let detail = format!("{message}; `myelin check` and the log of the last load say what is wrong with it");
        Fault::new(0, Origin::Bus, StatusCode::SERVICE_UNAVAILABLE, message).with_detail(detail)
    }

    fn new(code: u32, origin: Origin, status: StatusCode, message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault {
            code,
            word: None,
            origin,
            subcode: None,
            status,
            message: message.into(),
            detail: None,
            trail: Vec::new(),
            handlers: None,
            discard: false,
        })
    }

    /// That a backend answered with a status that the flow does not go on with, under the code of who asked.
    pub fn status(code: u32, message: impl Into<String>) -> Box<Fault> {
        Fault::new(code, Origin::Backend, StatusCode::BAD_GATEWAY, message)
    }

    /// The same fault with a sentence for the log.
    pub fn with_detail(mut self: Box<Fault>, detail: impl Into<String>) -> Box<Fault> {
        self.detail = Some(detail.into());
        self
    }

    /// The same fault under another code, if it is the backend's.
    pub fn of_backend(mut self: Box<Fault>, code: u32) -> Box<Fault> {
        if self.origin == Origin::Backend {
            self.code = code;
        }
        self
    }

    /// Synapse's word for how far a request had come whose connection failed; `None` for any other fault.
    ///
    /// Source: `ProtocolState` of the pass-through transport.
    pub fn protocol_state(&self) -> Option<&'static str> {
        match self.code {
            101503 | 101508 => Some("REQUEST_READY"),
            101500 => Some("REQUEST_BODY"),
            101504 | 101505 => Some("REQUEST_DONE"),
            101501 | 101506 => Some("RESPONSE_HEAD"),
            _ => None,
        }
    }

    /// The word Synapse's log has for where in the exchange it happened.
    pub fn direction(&self) -> &'static str {
        match self.origin {
            Origin::Client => "REQUEST",
            Origin::Backend => "RESPONSE",
            Origin::Bus => "MEDIATION",
        }
    }
}

impl Fault {
    /// What is left when a reference that was checked when loading does not hold: never, and then it is ours.
    pub fn missing() -> Box<Fault> {
        Fault::bus("A reference of the configuration does not hold")
    }

    /// Tells the log, in one line, with the words that people search Synapse's logs for; the trail is its place.
    pub fn log(&self, arrival: &Arrival<'_>) {
        let trail = self.trail.iter().rev().map(String::as_str).collect::<Vec<_>>().join(" → ");
        let cause = self.detail.as_deref().unwrap_or(&self.message);
        let code = self.error_code();
        let client = arrival.peer.map_or_else(|| "-".to_owned(), |peer| peer.to_string());
        let line = format_args!(
            "ERROR_CODE = {}, ERROR_MESSAGE = {}, DIRECTION = {}, CAUSE_OF_ERROR = {cause}, CLIENT = {client}",
            code.text(),
            self.message,
            self.direction(),
        );
        let say = || match self.origin {
            Origin::Bus => tracing::error!(target: "myelin::fault", "{line}"),
            _ => tracing::warn!(target: "myelin::fault", "{line}"),
        };
        in_exchange(arrival.correlation, || if trail.is_empty() { say() } else { inside_step(trail, say) });
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<SendError> for Box<Fault> {
    fn from(error: SendError) -> Box<Fault> {
        let (code, status, message) = match error.kind {
            // An address that nobody can send to is as good as one where nobody listens.
            SendErrorKind::Address | SendErrorKind::ConnectFailed => {
                (101503, StatusCode::BAD_GATEWAY, "The connection to the backend failed")
            }
            SendErrorKind::ConnectTimeout => {
                (101508, StatusCode::GATEWAY_TIMEOUT, "The connection to the backend took too long")
            }
            SendErrorKind::ResponseTimeout => {
                (101504, StatusCode::GATEWAY_TIMEOUT, "The backend did not answer in time")
            }
            SendErrorKind::Closed => {
                (101505, StatusCode::BAD_GATEWAY, "The backend closed the connection before it answered")
            }
            SendErrorKind::Protocol => (101506, StatusCode::BAD_GATEWAY, "The backend's answer is not HTTP"),
            SendErrorKind::Sending => {
                (101500, StatusCode::BAD_GATEWAY, "The request could not be written to the backend")
            }
            SendErrorKind::Refused => {
                let message = "The message cannot be written as it is";
                return Fault::new(101500, Origin::Bus, StatusCode::BAD_GATEWAY, message).with_detail(error.message);
            }
            SendErrorKind::Request(body) => return Fault::body(&body, false).with_detail(error.message),
            SendErrorKind::Overloaded => return Fault::overloaded(error.message),
        };
        Fault::new(code, Origin::Backend, status, message).with_detail(error.message)
    }
}

impl Fault {
    /// A body that could not be read; whose it is depends on whose message it was.
    pub fn body(error: &BodyError, is_response: bool) -> Box<Fault> {
        let detail = error.to_string();
        let theirs = |code, status, message: &str| {
            if is_response {
                let message = "The backend's answer could not be read";
                Fault::new(101501, Origin::Backend, StatusCode::BAD_GATEWAY, message)
            } else {
                Fault::new(code, Origin::Client, status, message)
            }
        };
        let fault = match error {
            BodyError::Incomplete => theirs(101001, StatusCode::BAD_REQUEST, "The request's body broke off"),
            BodyError::Malformed(_) => theirs(101001, StatusCode::BAD_REQUEST, "The request's body is malformed"),
            BodyError::Undecodable { .. } => {
                theirs(101001, StatusCode::BAD_REQUEST, "The request's body is not in its content coding")
            }
            BodyError::UnknownCoding => theirs(
                101001,
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "The request's body has a content coding that cannot be decoded here",
            ),
            BodyError::TooLarge { .. } | BodyError::Inflated { .. } => {
                theirs(101001, StatusCode::PAYLOAD_TOO_LARGE, "The request's body is too large")
            }
            BodyError::TimedOut => theirs(101001, StatusCode::REQUEST_TIMEOUT, "The request's body came too slowly"),
            BodyError::OverBudget => return Fault::overloaded(detail),
            _ => Fault::bus("The message's body was sent already and cannot be read again"),
        };
        fault.with_detail(detail)
    }
}

impl Fault {
    /// A body that is not what its content type says; Synapse's 601000.
    pub fn unreadable(is_response: bool, detail: impl Into<String>) -> Box<Fault> {
        let fault = if is_response {
            Fault::new(601000, Origin::Backend, StatusCode::BAD_GATEWAY, "The backend's answer could not be understood")
        } else {
            Fault::new(601000, Origin::Client, StatusCode::BAD_REQUEST, "The request's body could not be understood")
        };
        fault.with_detail(detail)
    }
}

impl Fault {
    /// A body that is not what its content type says, or that cannot become what it is to be.
    pub fn of_content(error: Unreadable, is_response: bool) -> Box<Fault> {
        match error {
            Unreadable::Refused(refusal) => refusal.into(),
            error => Fault::unreadable(is_response, error.to_string()),
        }
    }
}

impl From<UnknownForm> for Box<Fault> {
    fn from(_: UnknownForm) -> Box<Fault> {
        Fault::missing()
    }
}

impl From<Oversized> for Box<Fault> {
    fn from(error: Oversized) -> Box<Fault> {
        Fault::bus("The elements that an expression leads to are too much together").with_detail(error.to_string())
    }
}

impl From<CopyError> for Box<Fault> {
    fn from(error: CopyError) -> Box<Fault> {
        match error {
            CopyError::Refused(refusal) => refusal.into(),
            CopyError::Oversized(error) => error.into(),
        }
    }
}

impl From<Unencodable> for Box<Fault> {
    fn from(error: Unencodable) -> Box<Fault> {
        Fault::bus("The message cannot be written in the encoding that is wanted").with_detail(error.to_string())
    }
}

impl Fault {
    /// A SOAP request that means no operation of the service's description; Axis2 answers with 500, too.
    pub fn no_operation(action: &str) -> Box<Fault> {
        let message = "The request means no operation of this service";
        let fault = Fault::new(0, Origin::Client, StatusCode::INTERNAL_SERVER_ERROR, message);
        fault
            .with_detail(format!("neither its action {action:?}, nor its path, nor its body is one of the description"))
    }
}

impl Fault {
    /// A request whose answer is to go to an address that is none of HTTP (WS-Addressing 1.0 SOAP binding §6.4.1.1).
    pub fn no_reply_address(address: &str) -> Box<Fault> {
        let message = "The request wants its answer at an address that is not an absolute http or https URI";
        Fault::new(0, Origin::Client, StatusCode::BAD_REQUEST, message)
            .with_detail(format!("the address is {address:?}"))
    }

    /// A request that its policy refuses: its sender learns a name and a sentence of the standard and nothing else.
    pub fn refused(refusal: &Refusal) -> Box<Fault> {
        let code = refusal.fault_code();
        let prefix = if code == FaultCode::MessageExpired { "wsu" } else { "wsse" };
        let origin = if refusal.rule == Rule::ReplayCacheFull { Origin::Bus } else { Origin::Client };
        let status = if origin == Origin::Bus { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::BAD_REQUEST };
        let mut fault = Fault::new(0, origin, status, code.reason());
        fault.subcode = Some(soap::Code { prefix, local: code.local(), namespace: code.namespace() });
        fault.with_detail(refusal.to_string())
    }

    /// A backend's answer that is a SOAP fault, where the configuration takes that for a failure.
    pub fn soap() -> Box<Fault> {
        let message = "The backend answered with a SOAP fault";
        Fault::new(ENDPOINT_CUSTOM_ERROR, Origin::Backend, StatusCode::BAD_GATEWAY, message)
    }

    /// A backend's answer that its policy refuses.
    pub fn refused_answer(detail: impl Into<String>) -> Box<Fault> {
        let message = "The backend's answer is not secured as it has to be";
        Fault::new(RESPONSE_PROCESSING_FAILURE, Origin::Backend, StatusCode::BAD_GATEWAY, message).with_detail(detail)
    }

    /// No branch of a split came in time to where its messages are aggregated. Synapse waits on, and has no code for it.
    pub fn gathered_nothing() -> Box<Fault> {
        Fault::new(0, Origin::Backend, StatusCode::GATEWAY_TIMEOUT, "No message came in time to be aggregated")
    }
}

impl Fault {
    /// A request that a throttle does not let pass; its sender's, for others may have passed.
    pub fn throttled(status: StatusCode, message: &str) -> Box<Fault> {
        tally::count(Tally::ThrottleRefusal);
        Fault::new(0, Origin::Client, status, message)
    }
}

impl Fault {
    /// A client that has to say who it is by HTTP Basic, and has not, or wrongly.
    pub fn unauthorized(detail: impl Into<String>) -> Box<Fault> {
        let message = "A user and a password are needed";
        Fault::new(0, Origin::Client, StatusCode::UNAUTHORIZED, message).with_detail(detail)
    }
}

impl Fault {
    /// The bus cannot say to a backend who it is: Synapse's 303003.
    pub fn authentication(status: StatusCode, detail: impl Into<String>) -> Box<Fault> {
        let message = "The bus could not authenticate itself to the backend";
        Fault::new(303003, Origin::Backend, status, message).with_detail(detail)
    }
}

impl Fault {
    /// A database gave no answer to a statement; Synapse has no code for that.
    pub fn database(error: &DatabaseError, name: &str, statement: &str) -> Box<Fault> {
        if matches!(error.kind, DatabaseErrorKind::Busy | DatabaseErrorKind::Late) {
            tally::count(Tally::SqlLimit);
        }
        let detail = format!("{}; the statement was {statement:?}, the database {name}", error.message);
        let (origin, status, message) = match error.kind {
            DatabaseErrorKind::Busy => return Fault::overloaded(detail),
            DatabaseErrorKind::Unreachable => {
                (Origin::Backend, StatusCode::BAD_GATEWAY, "The connection to the database failed")
            }
            DatabaseErrorKind::Late => {
                (Origin::Backend, StatusCode::GATEWAY_TIMEOUT, "The database did not answer in time")
            }
            DatabaseErrorKind::Refused => {
                (Origin::Bus, StatusCode::INTERNAL_SERVER_ERROR, "The database refused a statement")
            }
            DatabaseErrorKind::Unusable => {
                (Origin::Bus, StatusCode::INTERNAL_SERVER_ERROR, "The database's answer cannot be made use of")
            }
        };
        Fault::new(0, origin, status, message).with_detail(detail)
    }
}

impl From<myelin_xml::Refusal> for Box<Fault> {
    fn from(refusal: myelin_xml::Refusal) -> Box<Fault> {
        Fault::bus("A message was to hold what XML cannot hold").with_detail(refusal.to_string())
    }
}

impl From<Malformed> for Box<Fault> {
    fn from(error: Malformed) -> Box<Fault> {
        Fault::bus("A header was to be set to what no header can hold").with_detail(error.to_string())
    }
}
