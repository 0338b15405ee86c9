//! The sides of a conversation, and the ways of its messages.

/// A side of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Sends requests: what an endpoint's guard is.
    Initiator,
    /// Receives requests: what a proxy's guard is.
    Recipient,
}

/// What a guard is used for; only keys that this takes have to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Uses {
    /// Messages of both directions.
    Both,
    /// Messages that come in.
    Verify,
    /// Messages that go out.
    Secure,
}

/// The way of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the initiator to the recipient.
    Request,
    /// From the recipient to the initiator.
    Response,
}

impl Side {
    /// What way the messages have that this side receives.
    pub fn arriving(self) -> Direction {
        match self {
            Side::Initiator => Direction::Response,
            Side::Recipient => Direction::Request,
        }
    }

    /// What way the messages have that this side sends.
    pub fn departing(self) -> Direction {
        match self {
            Side::Initiator => Direction::Request,
            Side::Recipient => Direction::Response,
        }
    }
}

impl Uses {
    pub(crate) fn verifies(self) -> bool {
        self != Uses::Secure
    }

    pub(crate) fn secures(self) -> bool {
        self != Uses::Verify
    }
}
