//! Messages that come to the bus by a channel other than HTTP, whose connections serve themselves.

use std::fmt;
use std::rc::Rc;

use myelin_message::{Arrival, Message};

use crate::{LocalFuture, Runtime};

/// A place that messages come from, as the configuration says: a folder, a queue, the trigger of a task.
///
/// It belongs to a bus, which is shared between threads, and never changes.
pub trait Source: fmt::Debug + Send + Sync {
    /// How messages get here, for people: `files *.xml of /var/orders, every 5 s`.
    fn describe(&self) -> String;

    /// Begins to receive; called once on one thread for each bus that has the source.
    fn open(&self, runtime: Rc<dyn Runtime>) -> Box<dyn Receiver>;
}

/// What takes messages from a source, one after the other. Dropping it ends that; what was delivered goes on.
pub trait Receiver {
    /// Waits for the next message; `None` where there will be none any more.
    ///
    /// It may hold the next message back until an earlier one is acknowledged: that is how a source is sequential.
    fn next(&mut self) -> LocalFuture<'_, Option<Delivery>>;
}

/// A message that came, and who wants to hear what becomes of it.
pub struct Delivery {
    /// The message. What its protocol says about it (`FILE_NAME`) are header lines, as Synapse has them.
    pub message: Message,
    /// The transport it came by.
    pub arrival: Arrival<'static>,
    /// Hears how the exchange ended.
    pub acknowledge: Acknowledge,
}

/// Hears once how the exchange ended, and does what the source wants then: commits, rejects, moves a file. The engine
/// waits for it. Dropping it unheard, as a bus does that is stopped, must leave the message where it was.
pub type Acknowledge = Box<dyn FnOnce(Ending) -> LocalFuture<'static, ()>>;

/// How an exchange ended.
#[derive(Debug)]
pub enum Ending {
    /// With an answer, for sources that can send one back.
    Answered(Message),
    /// Without an answer, and without a fault.
    Accepted,
    /// A fault came all its way, or a fault sequence ended without saying otherwise.
    Faulted {
        /// Synapse's `ERROR_CODE`.
        code: String,
        /// A sentence for the log.
        message: String,
    },
    /// The configuration wants the message to come again (`SET_ROLLBACK_ONLY`).
    RolledBack,
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery").field("message", &self.message).finish_non_exhaustive()
    }
}
