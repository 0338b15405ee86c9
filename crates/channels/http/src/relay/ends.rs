//! What a relay stands between: the connections at its ends, or bytes that are all here.

use std::sync::Arc;

use myelin_message::Body;

use crate::connection::Connection;
use crate::stream::Stream;

/// The two ends of a relay, borrowed for one poll.
pub(crate) enum Ends<'a> {
    /// Everything to send is in the relay itself.
    Out(&'a mut Connection),
    Across {
        from: &'a mut Connection,
        to: &'a mut Connection,
    },
    /// A body goes back where it comes from: the echo idiom.
    Back(&'a mut Connection),
}

impl Ends<'_> {
    #[inline]
    pub(super) fn source(&mut self) -> Option<&mut Connection> {
        match self {
            Ends::Out(_) => None,
            Ends::Across { from, .. } | Ends::Back(from) => Some(from),
        }
    }

    #[inline]
    pub(super) fn target(&mut self) -> &mut Connection {
        match self {
            Ends::Out(to) | Ends::Across { to, .. } | Ends::Back(to) => to,
        }
    }

    /// The bytes of the source that can leave as they are, and the target's socket.
    pub(super) fn passed_and_stream(&mut self) -> (&[u8], &mut Stream) {
        match self {
            Ends::Out(to) => (&[], &mut to.stream),
            Ends::Across { from, to } => (&from.input.bytes()[..from.passed], &mut to.stream),
            Ends::Back(both) => (&both.input.bytes()[..both.passed], &mut both.stream),
        }
    }
}

/// The bytes of a body that was made or read here, or that somebody keeps for others as well.
#[derive(Debug)]
pub(crate) enum Bytes {
    Own(Vec<u8>),
    Shared(Arc<Vec<u8>>),
}

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes::Own(Vec::new())
    }
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Own(bytes) => bytes,
            Bytes::Shared(bytes) => bytes,
        }
    }
}

impl Bytes {
    /// Those of a body that is here; none of any other.
    pub(crate) fn of(body: Body) -> Bytes {
        match body {
            Body::Bytes(bytes) => Bytes::Own(bytes),
            Body::Shared(bytes) => Bytes::Shared(bytes),
            Body::Empty | Body::Built(_) | Body::Wire(_) | Body::Reading(..) | Body::Gone => Bytes::default(),
        }
    }

    /// How much memory they take that nobody else has.
    pub(super) fn charged(&self) -> usize {
        match self {
            Bytes::Own(bytes) => bytes.capacity(),
            Bytes::Shared(_) => 0,
        }
    }
}
