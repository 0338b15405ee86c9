//! A body on its way: on the wire until somebody asks, then bytes, then gone.

use std::any::Any;
use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

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

    /// Shows the decoded body from its first byte on, as far as it has come, and takes nothing of it:
    /// the body is afterwards as it was, and is relayed as the very bytes that came.
    ///
    /// `look` is called whenever there is more to see, with all that has come and whether that is all there is,
    /// until it says that it has seen enough (`true`) or there is no more.
    /// Units: at most `limit_bytes` bytes are kept waiting for that.
    /// Errors: as [`Body::bytes`].
    fn poll_look(
        &self,
        ticket: u64,
        cx: &mut Context<'_>,
        limit_bytes: u64,
        look: &mut dyn FnMut(&[u8], bool) -> bool,
    ) -> Poll<Result<(), Error>>;

    /// Whether the sender is known to have closed its side: most likely nobody waits for an answer any more.
    fn has_closed(&self, ticket: u64) -> bool {
        let _ = ticket;
        false
    }

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

/// A body in the form that a mediator works on: a tree, say. Whoever sends it asks for its bytes.
pub trait Built: Any + fmt::Debug {
    /// The bytes to send: the very ones that came, as long as nobody has changed anything.
    fn into_bytes(self: Box<Self>) -> Vec<u8>;
}

/// The body of a message.
///
/// It moves one way: [`Body::Wire`] → [`Body::Bytes`] → [`Body::Built`] → [`Body::Gone`], and may skip any of them;
/// [`Body::Shared`] stands beside [`Body::Bytes`].
#[derive(Debug)]
pub enum Body {
    /// There is none.
    Empty,
    /// Read, or made here.
    Bytes(Vec<u8>),
    /// Somebody keeps it for others as well: it is sent from there, and copied for who reads it.
    Shared(Arc<Vec<u8>>),
    /// Read and understood.
    Built(Box<dyn Built>),
    /// Not read yet; relaying copies it from socket to socket.
    Wire(Wire),
    /// Being read: what has come of it. Only [`Body::poll_bytes`] goes on with it; to all others it is gone.
    Reading(Wire, Vec<u8>),
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
    /// The body is not in the content coding that its head names (RFC 9110 §8.4). The sender's.
    Undecodable {
        /// The coding.
        coding: &'static str,
    },
    /// The body becomes larger by decoding than any honest one does. The sender's.
    Inflated {
        /// How many times its own size it may become.
        limit_ratio: u64,
    },
    /// The head names a content coding that the bus cannot decode. The sender's.
    UnknownCoding,
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
            Error::Undecodable { coding } => {
                write!(f, "the body is broken: its content coding {coding} cannot be undone")
            }
            Error::Inflated { limit_ratio } => {
                write!(f, "the body would grow to more than {limit_ratio} times its size by decoding")
            }
            Error::UnknownCoding => {
                f.write_str("the body has a content coding that cannot be decoded; gzip, deflate, br and zstd can")
            }
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
        poll_fn(|cx| self.poll_bytes(cx, limit_bytes).map_ok(|_| ())).await?;
        match self {
            Body::Bytes(bytes) => Ok(bytes),
            _ => Ok(&[]),
        }
    }

    /// [`Body::bytes`] for those who poll; what has come is kept from poll to poll.
    pub fn poll_bytes(&mut self, cx: &mut Context<'_>, limit_bytes: u64) -> Poll<Result<&[u8], Error>> {
        self.settle();
        if let Body::Shared(shared) = self {
            *self = Body::Bytes(Arc::unwrap_or_clone(std::mem::take(shared)));
        }
        if let Body::Wire(wire) = self {
            let expected = wire.source.remaining(wire.ticket).unwrap_or(0);
            let too_large = expected > limit_bytes;
            let Body::Wire(wire) = std::mem::replace(self, Body::Gone) else { unreachable!("matched above") };
            if too_large {
                return Poll::Ready(Err(Error::TooLarge { limit_bytes }));
            }
            // What the sender announces is no reason to reserve memory for it: the buffer grows as bytes arrive.
            *self = Body::Reading(wire, Vec::with_capacity(expected.min(64 * 1024) as usize));
        }
        if let Body::Reading(wire, bytes) = self {
            match ready!(wire.poll_rest(cx, limit_bytes, bytes)) {
                Ok(()) => *self = Body::Bytes(std::mem::take(bytes)),
                Err(error) => {
                    *self = Body::Gone;
                    return Poll::Ready(Err(error));
                }
            }
        }
        Poll::Ready(match self {
            Body::Empty => Ok(&[]),
            Body::Bytes(bytes) => Ok(bytes),
            Body::Gone | Body::Wire(_) | Body::Reading(..) | Body::Built(_) | Body::Shared(_) => Err(Error::Gone),
        })
    }

    /// Whether whoever sends it is known to have closed the connection; known only as long as it is not read.
    pub fn sender_has_closed(&self) -> bool {
        matches!(self, Body::Wire(wire) if wire.source.has_closed(wire.ticket))
    }

    /// Turns a built body into the bytes that are sent of it; any other stays as it is.
    pub fn settle(&mut self) {
        if let Body::Built(_) = self
            && let Body::Built(built) = std::mem::replace(self, Body::Gone)
        {
            let bytes = built.into_bytes();
            *self = if bytes.is_empty() { Body::Empty } else { Body::Bytes(bytes) };
        }
    }

    /// Lets bytes that were read be kept for others as well; any other body stays as it is.
    pub fn share(&mut self) {
        if let Body::Bytes(bytes) = self {
            *self = Body::Shared(Arc::new(std::mem::take(bytes)));
        }
    }

    /// The built form, if it is of that type.
    pub fn built<T: Built>(&self) -> Option<&T> {
        match self {
            Body::Built(built) => (&**built as &dyn Any).downcast_ref(),
            _ => None,
        }
    }

    /// The built form to work on, if it is of that type.
    pub fn built_mut<T: Built>(&mut self) -> Option<&mut T> {
        match self {
            Body::Built(built) => (&mut **built as &mut dyn Any).downcast_mut(),
            _ => None,
        }
    }

    /// Shows the body without taking anything of it, as [`Source::poll_look`] says.
    ///
    /// Errors: see [`Error`]; after any of them the body is [`Body::Gone`].
    pub fn poll_look(
        &mut self,
        cx: &mut Context<'_>,
        limit_bytes: u64,
        look: &mut dyn FnMut(&[u8], bool) -> bool,
    ) -> Poll<Result<(), Error>> {
        self.settle();
        let seen = match self {
            Body::Wire(wire) => wire.source.poll_look(wire.ticket, cx, limit_bytes, look),
            Body::Empty => {
                look(&[], true);
                return Poll::Ready(Ok(()));
            }
            Body::Bytes(bytes) => {
                look(bytes, true);
                return Poll::Ready(Ok(()));
            }
            Body::Shared(bytes) => {
                look(bytes, true);
                return Poll::Ready(Ok(()));
            }
            Body::Gone | Body::Reading(..) | Body::Built(_) => return Poll::Ready(Err(Error::Gone)),
        };
        if let Poll::Ready(Err(_)) = seen {
            *self = Body::Gone;
        }
        seen
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
            Body::Shared(bytes) => Some(bytes.len() as u64),
            Body::Wire(wire) => wire.source.remaining(wire.ticket),
            Body::Built(_) | Body::Reading(..) | Body::Gone => None,
        }
    }
}

impl Wire {
    fn poll_rest(&self, cx: &mut Context<'_>, limit_bytes: u64, into: &mut Vec<u8>) -> Poll<Result<(), Error>> {
        loop {
            let more = ready!(self.source.poll_piece(self.ticket, cx, into))?;
            if into.len() as u64 > limit_bytes {
                return Poll::Ready(Err(Error::TooLarge { limit_bytes }));
            }
            if !more {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}
