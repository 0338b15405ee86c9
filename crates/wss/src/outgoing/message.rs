//! A message on its way to be secured.

use std::rc::Rc;

use myelin_soap::Envelope;
use myelin_xml::{Document, NodeId};

use super::assertion::Assertion;
use super::header::{Ciphertext, Item};
use super::ids::Ids;
use super::session::{Encryption, SessionKey};
use crate::guard::Guard;
use crate::guard::{Conversation, Departure};
use crate::ids::Ids as Found;
use crate::policy::Alternative;
use crate::side::Direction;

/// A message on its way to be secured.
pub(super) struct Message<'a> {
    pub(super) guard: &'a Guard,
    pub(super) alternative: &'a Alternative,
    pub(super) departure: &'a Departure<'a>,
    pub(super) direction: Direction,
    pub(super) document: Document,
    pub(super) envelope: Envelope,
    /// The node that the `Security` header takes the place of.
    pub(super) place: NodeId,
    /// The ids of the document, where it was assembled and read back.
    pub(super) found: Found,
    pub(super) ids: Ids,
    pub(super) items: Vec<Item>,
    pub(super) ciphertexts: Vec<(NodeId, Ciphertext)>,
    pub(super) assertion: Option<Assertion>,
    pub(super) session: Option<Rc<SessionKey>>,
    pub(super) encryption: Option<Rc<Encryption>>,
    /// Whether what is signed is hashed in the assembled message.
    pub(super) on_tree: bool,
    pub(super) conversation: Conversation,
}
