//! A body on its way: on the wire until somebody asks, then bytes, then gone.

use std::any::Any;
use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

/// Where the rest of a body comes from: a connection, whose task also relays it.
///
/// One source serves many messages one after the other; `ticket` says which one is meant,
/// so that a handle kept too long reads as [`Error::Gone`] and never as the next message's body.
pub trait Source: Any {
    /// Bytes still to come, where the sender said; `None` for chunked and close-delimited bodies.
    fn remaining(&self, ticket: u64) -> Option<u64>;

    /// Appends the next piece of the decoded body to `into`; `false` when the body is complete.
    ///
    /// Errors: `Incomplete` and `Malformed` are the sender's, `Gone` is ours.
    fn poll_piece(&self, ticket: u64, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<Result<bool, Error>>;

    /// The source itself, for the transport that made it and can relay without decoding.
    fn as_any(self: Rc<Self>) -> Rc<dyn Any>;
}

/// A body that is still on the wire.
pub struct Wire {
    /// Who delivers it.
    pub source: Rc<dyn Source>,
    /// Which of the source's messages this is.
    pub ticket: u64,
}

/// The body of a message.
///
/// It moves one way: [`Body::Wire`] → [`Body::Bytes`] → [`Body::Gone`].
#[derive(Debug)]
pub enum Body {
    /// There is none.
    Empty,
    /// Read, or made here.
    Bytes(Vec<u8>),
    /// Not read yet; relaying copies it from socket to socket.
    Wire(Wire),
    /// Sent, or lost half-way. Reading it is an error, never an empty body.
    Gone,
}

/// Why a body cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The sender stopped before the end. The sender's.
    Incomplete,
    /// The chunked coding is broken. The sender's.
    Malformed(&'static str),
    /// More bytes than the limit allows. The sender's.
    TooLarge {
        /// The limit that was passed.
        limit_bytes: u64,
    },
    /// The sender was too slow. The sender's.
    TimedOut,
    /// The memory budget for bodies is spent. The bus's.
    OverBudget,
    /// It was sent already. The bus's.
    Gone,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Incomplete => f.write_str("the sender closed the connection before the end of the body"),
            Error::Malformed(what) => write!(f, "the body's chunked coding is broken: {what}"),
            Error::TooLarge { limit_bytes } => write!(f, "the body is larger than the limit of {limit_bytes} bytes"),
            Error::TimedOut => f.write_str("the body came too slowly"),
            Error::OverBudget => f.write_str("the memory set aside for bodies is in use"),
            Error::Gone => f.write_str("the body was sent already"),
        }
    }
}

impl std::error::Error for Error {}

impl Body {
    /// Reads the whole body, once; later calls give the same bytes.
    ///
    /// Units: at most `limit_bytes` bytes.
    /// Errors: see [`Error`]; after any of them the body is [`Body::Gone`].
    pub async fn bytes(&mut self, limit_bytes: u64) -> Result<&[u8], Error> {
        if let Body::Wire(_) = self {
            let Body::Wire(wire) = std::mem::replace(self, Body::Gone) else { unreachable!("matched above") };
            *self = Body::Bytes(wire.collect(limit_bytes).await?);
        }
        match self {
            Body::Empty => Ok(&[]),
            Body::Bytes(bytes) => Ok(bytes),
            Body::Gone | Body::Wire(_) => Err(Error::Gone),
        }
    }

    /// The body, leaving [`Body::Gone`] behind: whoever takes it sends it.
    /// Where there is nothing to send, [`Body::Empty`] stays, and the message can be sent again.
    pub fn take(&mut self) -> Body {
        let rest = if self.length() == Some(0) { Body::Empty } else { Body::Gone };
        std::mem::replace(self, rest)
    }

    /// Its length in bytes, where it is known without reading.
    pub fn length(&self) -> Option<u64> {
        match self {
            Body::Empty => Some(0),
            Body::Bytes(bytes) => Some(bytes.len() as u64),
            Body::Wire(wire) => wire.source.remaining(wire.ticket),
            Body::Gone => None,
        }
    }
}

impl Wire {
    async fn collect(&self, limit_bytes: u64) -> Result<Vec<u8>, Error> {
        let too_large = Error::TooLarge { limit_bytes };
        let expected = self.source.remaining(self.ticket).unwrap_or(0);
        if expected > limit_bytes {
            return Err(too_large);
        }
        // What the sender announces is no reason to reserve memory for it: the buffer grows as bytes arrive.
        let mut bytes = Vec::with_capacity(expected.min(64 * 1024) as usize);
        while poll_fn(|cx| self.source.poll_piece(self.ticket, cx, &mut bytes)).await? {
            if bytes.len() as u64 > limit_bytes {
                return Err(too_large);
            }
        }
        if bytes.len() as u64 > limit_bytes { Err(too_large) } else { Ok(bytes) }
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}
