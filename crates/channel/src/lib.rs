//! What a protocol offers so that the bus speaks it: the seam between the channels and the engine.
//!
//! A channel is a crate below `crates/channels` with one [`Spec`]; the table of all of them is what the bus knows of
//! protocols. A channel sends ([`Sender`]), or receives ([`Receiver`]), or does both. It has never heard of a mediator.

mod due;
mod parameters;
mod receive;
mod runtime;
mod spec;
mod tls;

pub use due::{CronExpression, Due};
pub use parameters::{Complaint, Parameters, Severity};
pub use receive::{Acknowledge, Delivery, Ending, Receiver, Source};
pub use runtime::{LocalFuture, Overloaded, Runtime, Work, within};
pub use spec::{BUILT_IN, HTTP, LOCAL, MakeSender, Receive, Spec, find_scheme, listed};
pub use tls::{ClientCertificates, PortTls};

use myelin_message::{Message, Outgoing, SendError};

/// The way out of the bus: sends messages to backends.
pub trait Sender {
    /// Sends a message; ready as soon as it was accepted, or as the response's head is there.
    ///
    /// Shape: the body of a response is still on the wire. Sending may begin before the future is polled.
    /// Errors: [`SendError`], all of them before any byte of a response was handed out.
    fn send<'a>(&'a self, outgoing: Outgoing) -> LocalFuture<'a, Result<Sent, SendError>>;
}

/// What came of a message that was sent.
#[derive(Debug)]
pub enum Sent {
    /// The backend's response.
    Response(Message),
    /// The backend has the message, and its protocol knows no response.
    Accepted,
}
