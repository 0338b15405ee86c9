//! Answers that do not come back on the connection of their request: `separateListener` of WS-Addressing.
//!
//! A backend is told an address of this bus to answer to; what comes there is brought to whoever waits for it, by the
//! identifier of the request.

use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use http::StatusCode;
use myelin_message::{Body, Head, Message};

/// The name of the service to which answers come; Synapse's, which Axis2 gave it.
pub const SERVICE: &str = "__ADDR_ONLY__";

/// Who waits for answers, on all threads; it outlives the bus that asked.
#[derive(Clone, Default)]
pub struct Replies {
    waiting: Arc<Mutex<HashMap<String, Slot>>>,
}

#[derive(Default)]
struct Slot {
    reply: Option<Reply>,
    waker: Option<Waker>,
}

/// What came for somebody.
pub struct Reply {
    /// The status that stands for it.
    pub status: StatusCode,
    /// Its header lines.
    pub head: Head,
    /// Its body, whole.
    pub body: Vec<u8>,
}

/// One who waits; dropping it ends the wait.
pub struct PendingReply {
    replies: Replies,
    id: String,
}

impl fmt::Debug for Replies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replies({} waiting)", self.waiting().len())
    }
}

impl Replies {
    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Slot>> {
        // Nothing is left half-way by those who hold it.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to wait for the answer to the message with that identifier, which nobody can guess.
    pub fn wait(&self, id: String) -> PendingReply {
        self.waiting().insert(id.clone(), Slot::default());
        PendingReply { replies: self.clone(), id }
    }

    /// Whether somebody waits for the answer to the message with that identifier.
    pub fn are_waited_for(&self, id: &str) -> bool {
        self.waiting().contains_key(id)
    }

    /// Brings an answer to who waits for it; whether there was anybody.
    pub fn deliver(&self, id: &str, reply: Reply) -> bool {
        let mut waiting = self.waiting();
        let Some(slot) = waiting.get_mut(id).filter(|slot| slot.reply.is_none()) else { return false };
        slot.reply = Some(reply);
        let waker = slot.waker.take();
        drop(waiting);
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }
}

impl PendingReply {
    /// The answer, when it has come.
    pub async fn received(&self) -> Message {
        let reply = poll_fn(|cx| {
            let mut waiting = self.replies.waiting();
            let Some(slot) = waiting.get_mut(&self.id) else { return Poll::Pending };
            match slot.reply.take() {
                Some(reply) => Poll::Ready(reply),
                None => {
                    slot.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        });
        let Reply { status, head, body } = reply.await;
        let mut message = Message::answer(status, Body::Bytes(body));
        message.head = head;
        message
    }
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        self.replies.waiting().remove(&self.id);
    }
}
