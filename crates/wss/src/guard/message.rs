//! What is known of a message before it is verified or secured, and what comes of it.

use std::sync::Arc;
use std::time::SystemTime;

use myelin_xml::{Arena, Document};

use crate::crypto::Secret;
use crate::findings::Findings;
use crate::keys::Certificate;
use crate::replay::Replays;

/// What is known of a message that comes in, beside itself.
pub struct Arrival<'a> {
    /// The time.
    pub now: SystemTime,
    /// Whether it came through TLS.
    pub tls: bool,
    /// Whether the client showed a certificate in TLS, and it was accepted.
    pub client_certificate: bool,
    /// What was here before.
    pub replays: &'a Replays,
    /// On the initiator's side: what was said in the request that this answers.
    pub conversation: Option<&'a Conversation>,
    /// The limits of the message's XML, which decrypted content has to keep too.
    pub xml: &'a myelin_xml::Options,
}

/// What is known of a message that goes out, beside itself.
pub struct Departure<'a> {
    /// The time.
    pub now: SystemTime,
    /// On the recipient's side: what was said in the request that this answers.
    pub conversation: Option<&'a Conversation>,
}

/// A message that was accepted.
pub struct Verified {
    /// Decrypted, and without our `Security` header.
    pub document: Document,
    /// What is protected, and by whom.
    pub findings: Findings,
    /// What the response needs to know.
    pub conversation: Conversation,
}

/// A message that was secured.
pub struct Secured {
    /// The envelope, in UTF-8.
    pub bytes: Vec<u8>,
    /// What the response needs to know.
    pub conversation: Conversation,
    /// The memory of the tree, for the next.
    pub arena: Arena,
}

/// What was said in a request that matters for its response.
#[derive(Clone, Default)]
pub struct Conversation {
    /// The values of the request's signatures, in its order; the response confirms them.
    pub(crate) signature_values: Vec<Vec<u8>>,
    /// Who signed the request; the response is encrypted for it (`useReqSigCert`).
    pub(crate) signer: Option<Arc<Certificate>>,
    /// For whom the request was encrypted, where this side has sent it.
    pub(crate) encrypted_for: Option<Arc<Certificate>>,
    /// The keys that the request carried, which the response uses by reference (symmetric binding).
    pub(crate) shared_keys: Vec<SharedKey>,
}

/// A key that both sides know since the request.
#[derive(Clone)]
pub(crate) struct SharedKey {
    /// The SHA-1 of the encrypted key's cipher value, which responses refer to it by.
    pub(crate) sha1: [u8; 20],
    /// The key.
    pub(crate) key: Arc<Secret>,
}
