//! The one way out of mediation: what a bus asks of whoever owns the sockets.

use myelin_message::Message;

pub use myelin_channel::{LocalFuture, Overloaded, Runtime, Sender, Sent, Work, within};
pub use myelin_message::{Address, Manner, Method, Outgoing, SendError, SendErrorKind};

/// Sends requests to backends, tells the time and runs what goes on beside; in tests, a script.
pub trait Transport: Sender + Runtime {}

impl<T: Sender + Runtime> Transport for T {}

/// Sends a request that asks for something.
///
/// Errors: as [`Sender::send`]; `Protocol` where the address knows no response.
pub async fn ask(transport: &dyn Transport, outgoing: Outgoing) -> Result<Message, SendError> {
    let address = outgoing.address.clone();
    match transport.send(outgoing).await? {
        Sent::Response(response) => Ok(response),
        Sent::Accepted => {
            Err(SendError { kind: SendErrorKind::Protocol, message: format!("{address}: it gives no response") })
        }
    }
}
