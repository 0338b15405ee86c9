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
use myelin_message::{Body, Built as _, Head, HeaderId, Message};
use myelin_soap::Headers;

use crate::answer;
use crate::bus::Bus;
use crate::content::Tree;
use crate::exchange::{Format, charset};
use crate::fault::Fault;

/// The name of the service to which answers come; Synapse's, which Axis2 gave it.
pub(crate) const SERVICE: &str = "__ADDR_ONLY__";

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
struct Reply {
    status: StatusCode,
    head: Head,
    body: Vec<u8>,
}

/// One who waits; dropping it ends the wait.
pub(crate) struct Awaited {
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
    pub(crate) fn wait(&self, id: String) -> Awaited {
        self.waiting().insert(id.clone(), Slot::default());
        Awaited { replies: self.clone(), id }
    }

    /// Brings an answer to who waits for it; whether there was anybody.
    fn deliver(&self, id: &str, reply: Reply) -> bool {
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

impl Awaited {
    /// The answer, when it has come.
    pub(crate) async fn landed(&self) -> Message {
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

impl Drop for Awaited {
    fn drop(&mut self) {
        self.replies.waiting().remove(&self.id);
    }
}

/// Takes in a message that a backend sends to the address that it was told; what it is answered with.
pub(crate) async fn receive(mut request: Message, bus: &Bus) -> Message {
    let format = Format::of(request.head.known(HeaderId::ContentType));
    let read = request.body.bytes(bus.settings.body_limit_bytes).await.map(<[u8]>::to_vec);
    let tree = match read {
        Ok(bytes) => Tree::read(bytes, charset(&request.head).as_deref()),
        Err(error) => return answer::from_fault(&Fault::body(&error, false), format),
    };
    let tree = match tree {
        Ok(tree) => tree,
        Err((error, _)) => {
            let fault = Fault::unreadable(false, format!("not well-formed XML: {error}"));
            return answer::from_fault(&fault, format);
        }
    };
    let related = Headers::read(tree.document(), &tree.envelope()).map(|(_, headers)| headers.relates_to);
    let is_fault = tree.envelope().fault_reason(tree.document()).is_some();
    let status = if is_fault { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::OK };
    let mut head = Head::default();
    for (name, value) in request.head.iter().filter(|(name, _)| !is_of_requests(name)) {
        // What was a header line once can be one again.
        let _ = head.append(name, value);
    }
    let id = related.into_iter().flatten().map(|relation| relation.message_id);
    let id = id.into_iter().find(|id| bus.settings.replies.waiting().contains_key(id));
    let reply = Reply { status, head, body: Box::new(tree).into_bytes() };
    match id {
        Some(id) if bus.settings.replies.deliver(&id, reply) => answer::accepted(),
        _ => answer::plain(StatusCode::NOT_FOUND, "Nobody waits for this answer"),
    }
}

/// Whether a header line concerns the request that brought an answer, and its connection, not the answer.
fn is_of_requests(name: &str) -> bool {
    const OF_REQUESTS: [&str; 8] = [
        "Host",
        "Expect",
        "User-Agent",
        "SOAPAction",
        "Authorization",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
    ];
    OF_REQUESTS.iter().any(|known| known.eq_ignore_ascii_case(name))
}
