//! What comes in: its `Security` header is walked from front to back, one processor for each kind of element, and what
//! was found is then held against the policy.
//!
//! Nothing is believed because it is there. An element counts as signed where a signature that was verified covers
//! that very node, or one around it; ids only lead a signature to what it covers, and never anybody else to anything.
//! What is decrypted takes its place in the source, and all nodes that were seen before move to their new places.

mod algorithms;
mod ciphertexts;
mod envelope;
mod found;
mod key_info;
mod keys;
mod requirements;
mod shared;
mod signatures;
mod tokens;

use std::sync::Arc;

use myelin_xml::{Document, Kind, NodeId, WriteOptions};

use crate::guard::{Arrival, Conversation, Guard, SharedKey, Verified};
use crate::ids::Ids;
use crate::policy::Rampart;
use crate::token::derived::DerivedKey;
use crate::token::saml::Assertion;
use crate::vocabulary::{DS, WSSE, WSSE11, WSU, XENC};
use crate::{Findings, Limits, Refusal, Rule};
use algorithms::Use;
use envelope::Envelope;
use found::{Found, SharedKeyKind};

/// Verifies and decrypts a message; see [`Guard::verify`].
pub(crate) fn verify(guard: &Guard, document: Document, arrival: &Arrival<'_>) -> Result<Verified, Refusal> {
    let mut inspection = Inspection::new(guard, document, arrival)?;
    match inspection.run() {
        Ok(findings) => inspection.finish(findings),
        Err(refusal) if inspection.decrypts => Err(refusal.after_decryption()),
        Err(refusal) => Err(refusal),
    }
}

/// A message while it is looked at.
struct Inspection<'a> {
    guard: &'a Guard,
    arrival: &'a Arrival<'a>,
    document: Document,
    ids: Ids,
    envelope: Envelope,
    found: Found,
    /// The children of `Security` that were looked at.
    done: Vec<NodeId>,
    /// The algorithms that were used.
    uses: Vec<Use>,
    /// How often plaintexts were put in.
    round: usize,
    /// Whether something was decrypted, or tried to be.
    decrypts: bool,
    /// What went wrong in decrypting: told only when all else is done that would have been done without it.
    broken: Option<Refusal>,
    /// How many values of signatures were checked with public keys.
    public_operations: usize,
    /// How many bytes of the source references led to.
    covered_bytes: usize,
    /// How many keys wait for one that they are made of.
    waiting: usize,
}

impl<'a> Inspection<'a> {
    fn new(guard: &'a Guard, document: Document, arrival: &'a Arrival<'a>) -> Result<Inspection<'a>, Refusal> {
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

    fn limits(&self) -> &'a Limits {
        &self.guard.settings.limits
    }

    fn rampart(&self) -> &'a Rampart {
        rampart(self.guard)
    }

    fn run(&mut self) -> Result<Findings, Refusal> {
        let walked = self.walk();
        if let Some(broken) = self.broken.take() {
            self.even_out();
            return Err(broken);
        }
        walked?;
        let findings = requirements::check(self)?;
        self.remember()?;
        Ok(findings)
    }

    /// Counts what the header holds, before any of it costs anything.
    fn count(&self) -> Result<(), Refusal> {
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

    /// Looks at each child of `Security`; what is decrypted into it on the way, too.
    fn walk(&mut self) -> Result<(), Refusal> {
        while let Some(child) = self.next_child() {
            self.done.push(child);
            self.process(child)?;
        }
        // A piece whose key came with it, or before it, is no piece any more.
        let Some(security) = self.envelope.security else { return Ok(()) };
        let encrypted = |&child: &NodeId| self.is(child, XENC, "EncryptedData");
        if self.broken.is_none() && self.document.children(security).any(|child| encrypted(&child)) {
            return Err(Refusal::new(Rule::KeyUnknown, "a piece of the Security header that no key decrypts"));
        }
        Ok(())
    }

    fn next_child(&self) -> Option<NodeId> {
        let mut children = self.document.children(self.envelope.security?);
        children.find(|child| self.document.kind(*child) == Kind::Element && !self.done.contains(child))
    }

    fn process(&mut self, child: NodeId) -> Result<(), Refusal> {
        let name = self.document.qname(child);
        match (name.namespace, name.local) {
            (WSU, "Timestamp") => self.timestamp(child),
            (WSSE, "UsernameToken") => self.username_token(child),
            (WSSE, "BinarySecurityToken") => self.binary_token(child).map(drop),
            (WSSE11, "SignatureConfirmation") => self.confirmation(child),
            (XENC, "EncryptedKey") => self.encrypted_key_with_references(child),
            (XENC, "ReferenceList") => self.reference_list(child),
            (XENC, "EncryptedData") => self.encrypted_data(child),
            (DS, "Signature") => self.signature(child),
            // It says nothing by itself; signatures may refer to a token through it.
            (WSSE, "SecurityTokenReference") => Ok(()),
            (namespace, local) if DerivedKey::is(namespace, local) => self.derived_key(child).map(drop),
            (namespace, local) if Assertion::version(namespace, local).is_some() => self.assertion(child).map(drop),
            (namespace, local) if self.has_to_be_understood() => {
                Err(Refusal::new(Rule::UnknownElement, format!("{{{namespace}}}{local} in Security")))
            }
            _ => Ok(()),
        }
    }

    fn has_to_be_understood(&self) -> bool {
        self.envelope.security.is_some_and(|security| self.envelope.must_understand(&self.document, security))
    }

    fn is(&self, node: NodeId, namespace: &str, local: &str) -> bool {
        crate::structure::is(&self.document, node, namespace, local)
    }

    /// Whether one node is the other or stands in it.
    fn is_within(&self, node: NodeId, outer: NodeId) -> bool {
        std::iter::successors(Some(node), |&node| self.document.parent(node)).any(|node| node == outer)
    }

    /// Takes our header out, and says what the response needs to know.
    fn finish(self, findings: Findings) -> Result<Verified, Refusal> {
        let Inspection { mut document, envelope, found, arrival, .. } = self;
        if let Some(security) = envelope.security {
            document.detach(security);
        }
        document = without_comments(document, arrival)?;
        let shared_keys = found.keys.into_iter().filter_map(|key| match (key.what.kind, key.what.secret) {
            (SharedKeyKind::Encrypted { sha1, .. }, Some(key)) => Some(SharedKey { sha1, key: key.secret }),
            _ => None,
        });
        let conversation = Conversation {
            signature_values: found.signatures.into_iter().map(|signature| signature.what.value).collect(),
            signer: findings.signer.as_ref().map(Arc::clone),
            shared_keys: shared_keys.collect(),
        };
        Ok(Verified { document, findings, conversation })
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
fn without_comments(mut document: Document, arrival: &Arrival<'_>) -> Result<Document, Refusal> {
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
