//! Answers that do not come back on the connection of their request: WS-Addressing with two channels.
//!
//! A backend is told an address of this bus to answer to (`separateListener`); what comes there is brought to whoever
//! waits for it, by the identifier of the request.
//! A client tells the bus an address to answer to: its `ReplyTo` and `FaultTo`.

use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use http::{StatusCode, Uri};
use myelin_message::{Body, Head, Message};
use myelin_soap::{Addressing, Headers};

use crate::fault::{Fault, Outcome};

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

/// Where a client wants the answers to its request.
///
/// Source: WS-Addressing 1.0 core §3.4; compare Axis2's `AddressingHelper.isReplyRedirected`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyAddresses {
    /// The version in which the client says it, and is answered.
    pub version: Addressing,
    /// The identifier of the request.
    pub message_id: Option<String>,
    /// Where the answer goes.
    pub reply: ReplyAddress,
    /// Where a fault goes.
    pub fault: ReplyAddress,
}

/// Where one kind of answers goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyAddress {
    /// Back on the connection of the request.
    Connection,
    /// Nowhere: nobody wants it.
    Nowhere,
    /// To an `http` or `https` address, in a request of the bus's own.
    Uri(Uri),
}

impl ReplyAddresses {
    /// What the header blocks of a request say; `None` where all answers go back on the connection, as those do whose
    /// host is neither the client's own nor one of `hosts`: nobody makes the bus ask what only the bus can reach.
    ///
    /// Errors: the client's, where an address is no absolute URI of HTTP.
    pub fn of(
        version: Addressing,
        headers: &Headers,
        client: Option<IpAddr>,
        hosts: &[String],
    ) -> Outcome<Option<ReplyAddresses>> {
        let is_allowed = |uri: &Uri| is_own(uri, client) || hosts.iter().any(|host| host == "*" || is_of(uri, host));
        let reply = ReplyAddress::of(version, headers.reply_to.as_deref(), is_allowed)?;
        let fault = match &headers.fault_to {
            Some(address) => ReplyAddress::of(version, Some(address), is_allowed)?,
            None => reply.clone(),
        };
        if reply == ReplyAddress::Connection && fault == ReplyAddress::Connection {
            return Ok(None);
        }
        Ok(Some(ReplyAddresses { version, message_id: headers.message_id.clone(), reply, fault }))
    }
}

impl ReplyAddress {
    fn of(version: Addressing, address: Option<&str>, is_allowed: impl Fn(&Uri) -> bool) -> Outcome<ReplyAddress> {
        let Some(address) = address.filter(|&address| address != version.anonymous()) else {
            return Ok(ReplyAddress::Connection);
        };
        if version.none() == Some(address) {
            return Ok(ReplyAddress::Nowhere);
        }
        let is_http = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
        match address.parse::<Uri>().ok().filter(is_http) {
            Some(uri) if is_allowed(&uri) => Ok(ReplyAddress::Uri(uri)),
            Some(_) => Ok(ReplyAddress::Connection),
            None => Err(Fault::no_reply_address(address)),
        }
    }
}

/// Whether an address is on the machine that the client asks from.
fn is_own(uri: &Uri, client: Option<IpAddr>) -> bool {
    let (Some(host), Some(client)) = (uri.host(), client) else { return false };
    match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        Ok(address) => address == client,
        Err(_) => client.is_loopback() && host.eq_ignore_ascii_case("localhost"),
    }
}

/// Whether an address is on a host, at the port that is named with it, if one is.
fn is_of(uri: &Uri, host: &str) -> bool {
    uri.authority().is_some_and(|authority| authority.as_str().eq_ignore_ascii_case(host))
        || uri.host().is_some_and(|own| own.eq_ignore_ascii_case(host))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_go_where_the_request_says_and_faults_with_them_unless_it_says_otherwise() {
        let final_ = Addressing::Final;
        let check = |reply_to: Option<&str>, fault_to: Option<&str>, expected: &str| {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            let headers = Headers { reply_to: owned(reply_to), fault_to: owned(fault_to), ..Headers::default() };
            let said = match ReplyAddresses::of(final_, &headers, None, &["*".to_owned()]) {
                Ok(None) => "connection".to_owned(),
                Ok(Some(addresses)) => format!("{:?} {:?}", addresses.reply, addresses.fault),
                Err(fault) => fault.status.as_u16().to_string(),
            };
            assert_eq!(said, expected, "{reply_to:?} {fault_to:?}");
        };
        let (anonymous, none) = (final_.anonymous(), final_.none());
        check(None, None, "connection");
        check(Some(anonymous), None, "connection");
        check(Some("http://a/b"), None, "Uri(http://a/b) Uri(http://a/b)");
        check(Some("http://a/b"), Some(anonymous), "Uri(http://a/b) Connection");
        check(None, Some("https://c/"), "Connection Uri(https://c/)");
        check(none, Some("https://c/"), "Nowhere Uri(https://c/)");
        check(Some("mailto:a@b"), None, "400");
        check(Some("/path"), None, "400");
        check(Some("vfs:file:///etc/passwd"), None, "400");
    }

    #[test]
    fn answers_go_to_the_clients_own_host_and_to_those_that_the_operator_names() {
        let check = |address: &str, client: &str, hosts: &[&str], expected: bool| {
            let headers = Headers { reply_to: Some(address.to_owned()), ..Headers::default() };
            let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
            let client = client.parse().ok();
            let found = ReplyAddresses::of(Addressing::Final, &headers, client, &hosts).ok().flatten();
            assert_eq!(found.is_some(), expected, "{address} {client:?} {hosts:?}");
        };
        check("http://192.0.2.7:9200/x", "192.0.2.7", &[], true);
        check("http://192.0.2.8:9200/x", "192.0.2.7", &[], false);
        check("http://[2001:db8::1]:9200/x", "2001:db8::1", &[], true);
        check("http://localhost:9200/x", "127.0.0.1", &[], true);
        check("http://localhost:9200/x", "192.0.2.7", &[], false);
        check("http://127.0.0.1/x", "192.0.2.7", &[], false);
        check("http://partner.test/x", "192.0.2.7", &["Partner.test"], true);
        check("http://partner.test:81/x", "192.0.2.7", &["partner.test:80"], false);
        check("http://partner.test:81/x", "192.0.2.7", &["partner.test:81"], true);
    }
}
