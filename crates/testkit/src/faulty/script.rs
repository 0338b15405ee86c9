//! What a faulty backend does on one connection, step by step.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The steps of one connection.
///
/// Behind the last step the connection is closed, as [`Step::Close`] does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script(pub Vec<Step>);

/// One thing a faulty backend does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Reads and records.
    Read(Until),
    /// Sends in as few pieces as the socket takes.
    Send(Vec<u8>),
    /// Sends byte by byte, each a segment of its own, with a pause between them.
    Drip(Vec<u8>, Duration),
    /// Sends the same bytes so many times over.
    Repeat(Vec<u8>, usize),
    /// Sends back the body that [`Until::Body`] read last, without framing of its own.
    Echo,
    /// Does nothing for so long; reads nothing either.
    Pause(Duration),
    /// Does nothing until the test opens the latch; reads nothing either.
    Hold(Latch),
    /// Does nothing until the peer closes or the backend is stopped; reads nothing.
    Stall,
    /// Sends FIN and goes on with the script: what the peer sends can still be read.
    HalfClose,
    /// Drops the connection with RST.
    Reset,
    /// Closes the socket; what was not read makes the kernel send RST, as with any server that gives up.
    Close,
    /// Begins again with the first step on the same connection.
    Again,
}

/// Holds a backend back until the test lets it go on, so that no test has to guess how long something takes.
#[derive(Clone, Debug, Default)]
pub struct Latch(Arc<AtomicBool>);

impl Latch {
    /// Lets everybody through who waits or comes later.
    pub fn open(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(super) fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl PartialEq for Latch {
    /// Whether both are the same latch.
    fn eq(&self, other: &Latch) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Latch {}

/// How far a read goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// To the empty line behind a head.
    Head,
    /// To the end of the body that the head read last announces.
    Body,
    /// So many bytes.
    Bytes(u64),
    /// Until the peer closes.
    Closed,
}

impl Script {
    /// A script of these steps.
    pub fn of(steps: impl Into<Vec<Step>>) -> Script {
        Script(steps.into())
    }

    /// Reads a request, sends `answer`, and begins again: the healthy backend.
    pub fn answering(answer: impl Into<Vec<u8>>) -> Script {
        Script::of([Step::Read(Until::Head), Step::Read(Until::Body), Step::Send(answer.into()), Step::Again])
    }
}

impl From<Script> for Vec<Script> {
    fn from(script: Script) -> Vec<Script> {
        vec![script]
    }
}
