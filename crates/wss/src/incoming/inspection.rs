//! A message while it is looked at: what is known of it so far.

use myelin_xml::{Document, Kind, NodeId, WriteOptions};

use super::envelope::Envelope;
use super::found::Found;
use super::uses::Use;
use crate::guard::Arrival;
use crate::guard::Guard;
use crate::ids::Ids;
use crate::policy::Rampart;
use crate::{Limits, Refusal, Rule};

/// A message while it is looked at.
pub(super) struct Inspection<'a> {
    pub(super) guard: &'a Guard,
    pub(super) arrival: &'a Arrival<'a>,
    pub(super) document: Document,
    pub(super) ids: Ids,
    pub(super) envelope: Envelope,
    pub(super) found: Found,
    /// The children of `Security` that were looked at.
    pub(super) done: Vec<NodeId>,
    /// The algorithms that were used.
    pub(super) uses: Vec<Use>,
    /// How often plaintexts were put in.
    pub(super) round: usize,
    /// Whether something was decrypted, or tried to be.
    pub(super) decrypts: bool,
    /// What went wrong in decrypting: told only when all else is done that would have been done without it.
    pub(super) broken: Option<Refusal>,
    /// How many values of signatures were checked with public keys.
    pub(super) public_operations: usize,
    /// How many bytes of the source references led to.
    pub(super) covered_bytes: usize,
    /// How many keys wait for one that they are made of.
    pub(super) waiting: usize,
}

impl<'a> Inspection<'a> {
    pub(super) fn new(
        guard: &'a Guard,
        document: Document,
        arrival: &'a Arrival<'a>,
    ) -> Result<Inspection<'a>, Refusal> {
        let document = as_read(document, arrival)?;
        let envelope = Envelope::of(&document, rampart(guard).actor.as_deref())?;
        let inspection = Inspection {
            guard,
            arrival,
            ids: Ids::of(&document, &guard.settings.limits)?,
            document,
            envelope,
            found: Found::default(),
            done: Vec::new(),
            uses: Vec::new(),
            round: 0,
            decrypts: false,
            broken: None,
            public_operations: 0,
            covered_bytes: 0,
            waiting: 0,
        };
        inspection.count()?;
        Ok(inspection)
    }

    pub(super) fn limits(&self) -> &'a Limits {
        &self.guard.settings.limits
    }

    pub(super) fn rampart(&self) -> &'a Rampart {
        rampart(self.guard)
    }

    /// Counts what the header holds, before any of it costs anything.
    pub(super) fn count(&self) -> Result<(), Refusal> {
        let Some(security) = self.envelope.security else { return Ok(()) };
        let limits = self.limits();
        let bytes = self.document.range(security).map_or(0, |range| range.len());
        let (mut children, mut signatures, mut keys, mut tokens) = (0, 0, 0, 0);
        for child in self.document.children(security).filter(|&child| self.document.kind(child) == Kind::Element) {
            children += 1;
            match self.document.qname(child).local {
                "Signature" => signatures += 1,
                "EncryptedKey" => keys += 1,
                "UsernameToken" | "BinarySecurityToken" | "Assertion" => tokens += 1,
                _ => {}
            }
        }
        for (what, count, bound) in [
            ("bytes of Security", bytes, limits.header_bytes),
            ("children of Security", children, limits.header_children),
            ("signatures", signatures, limits.signatures),
            ("encrypted keys", keys, limits.encrypted_keys),
            ("tokens", tokens, limits.tokens),
        ] {
            if count > bound {
                return Err(Refusal::new(Rule::Limit, format!("{count} {what}, at most {bound}")));
            }
        }
        Ok(())
    }

    pub(super) fn is(&self, node: NodeId, namespace: &str, local: &str) -> bool {
        crate::structure::is(&self.document, node, namespace, local)
    }

    /// Whether one node is the other or stands in it.
    pub(super) fn is_within(&self, node: NodeId, outer: NodeId) -> bool {
        std::iter::successors(Some(node), |&node| self.document.parent(node)).any(|node| node == outer)
    }
}

/// The times and names that all alternatives of a policy share; there is at least one.
fn rampart(guard: &Guard) -> &Rampart {
    &guard.policy.alternatives[0].rampart
}

/// The document as if it had come over the wire, since plaintexts take their places in its source.
fn as_read(document: Document, arrival: &Arrival<'_>) -> Result<Document, Refusal> {
    if document.is_as_read() { Ok(document) } else { read_again(&document, arrival) }
}

/// The document without its comments, which no signature covers: put into a value by whoever passed the message on,
/// they would cut it in two, and who reads its first text would read half of it.
pub(super) fn without_comments(mut document: Document, arrival: &Arrival<'_>) -> Result<Document, Refusal> {
    if memchr::memmem::find(document.source().as_bytes(), b"<!--").is_none() {
        return Ok(document);
    }
    let all = document.descendants(document.document_node());
    let comments: Vec<NodeId> = all.filter(|&node| document.kind(node) == Kind::Comment).collect();
    comments.into_iter().for_each(|comment| document.detach(comment));
    read_again(&document, arrival)
}

fn read_again(document: &Document, arrival: &Arrival<'_>) -> Result<Document, Refusal> {
    let mut source = Vec::new();
    myelin_xml::write(document, document.document_node(), &WriteOptions::default(), &mut source);
    Document::parse(source, arrival.xml).map_err(|error| Refusal::new(Rule::NotAnEnvelope, error.to_string()))
}
