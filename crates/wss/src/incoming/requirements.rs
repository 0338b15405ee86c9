//! What was found, held against the policy: one alternative has to be fulfilled in every point.

mod assertions;
mod parts;
mod signature;
mod supporting;

use myelin_xml::{Kind, NodeId};

use super::found::{At, Cover, Decrypted, Extent, Signed, Signer};
use super::inspection::Inspection;
use crate::findings::{Part, Place, Saml, User};
use crate::policy::{Alternative, Binding, Common, Layout, Password};
use crate::side::Side;
use crate::token::saml::Assertion;
use crate::token::username::UsernameToken;
use crate::vocabulary::WSU;
use crate::{Findings, Refusal, Rule};

/// Finds the alternative that the message fulfils.
///
/// Errors: why it does not fulfil the only one, or the one of several that comes closest: the last that it was held
/// against.
pub(super) fn check(inspection: &Inspection<'_>) -> Result<Findings, Refusal> {
    let mut refusal = Refusal::new(Rule::SecurityMissing, "the policy has no alternative");
    for (number, alternative) in inspection.guard.policy.alternatives.iter().enumerate() {
        match (Requirements { inspection, alternative }).check() {
            Ok(fulfilled) => return Ok(fulfilled.findings(inspection, number)),
            Err(found) => refusal = found,
        }
    }
    if inspection.envelope.security.is_none() {
        return Err(Refusal::new(Rule::SecurityMissing, "no Security header for this receiver"));
    }
    Err(refusal)
}

/// What fulfils an alternative: whatever else a message says of who sent it, nobody asked for and nobody believes.
#[derive(Default)]
struct Fulfilled<'a> {
    /// The message's signature.
    main: Option<&'a At<Signed>>,
    endorsers: Vec<&'a Signed>,
    user: Option<&'a UsernameToken>,
    assertion: Option<&'a Assertion>,
}

/// One alternative and the message that should fulfil it.
struct Requirements<'a> {
    inspection: &'a Inspection<'a>,
    alternative: &'a Alternative,
}

impl<'a> Requirements<'a> {
    /// Checks everything.
    fn check(&self) -> Result<Fulfilled<'a>, Refusal> {
        let Requirements { inspection, alternative } = self;
        inspection.check_uses(alternative)?;
        self.check_transport()?;
        let common = alternative.binding.common();
        if let Some(common) = common {
            self.check_timestamp(common)?;
            self.check_layout(common)?;
        }
        self.check_required()?;
        self.check_places()?;
        let main = self.main_signature()?;
        if let (Some(main), Some(common)) = (main, common) {
            self.check_order(&main.what, common)?;
        }
        self.check_encrypted(&alternative.encrypted)?;
        self.check_chained_ciphers()?;
        let mut fulfilled = Fulfilled { main, ..Fulfilled::default() };
        self.check_supporting(&mut fulfilled)?;
        self.check_assertions(main)?;
        self.check_confirmations(main)?;
        self.check_signer(main)?;
        if let Some(Signer::Subject { assertion: Some(node) }) = main.map(|main| &main.what.signer) {
            fulfilled.assertion = self.assertion(*node);
        }
        Ok(fulfilled)
    }

    fn check_transport(&self) -> Result<(), Refusal> {
        let Binding::Transport { client_certificate, .. } = self.alternative.binding else { return Ok(()) };
        let arrival = self.inspection.arrival;
        if !arrival.tls {
            return Err(Refusal::new(Rule::TransportInsecure, "the message did not come through TLS"));
        }
        // What a server sends back comes with no client's certificate.
        if client_certificate && !arrival.client_certificate && self.inspection.guard.side == Side::Recipient {
            return Err(Refusal::new(Rule::TransportInsecure, "the client showed no certificate"));
        }
        Ok(())
    }

    fn is_transport(&self) -> bool {
        matches!(self.alternative.binding, Binding::Transport { .. })
    }

    fn check_timestamp(&self, common: &Common) -> Result<(), Refusal> {
        if common.timestamp && self.timestamp().is_none() {
            return Err(Refusal::new(Rule::TimestampMissing, "no timestamp"));
        }
        Ok(())
    }

    fn timestamp(&self) -> Option<NodeId> {
        self.inspection.found.timestamp.as_ref().and_then(|timestamp| timestamp.node)
    }

    fn check_layout(&self, common: &Common) -> Result<(), Refusal> {
        let Inspection { document, envelope, found, .. } = self.inspection;
        let wrong = |detail| Err(Refusal::new(Rule::LayoutWrong, detail));
        let is_timestamp =
            |child: Option<NodeId>| child.is_some_and(|child| self.inspection.is(child, WSU, "Timestamp"));
        let elements = envelope.security.into_iter().flat_map(|security| document.children(security));
        let mut elements = elements.filter(|&child| document.kind(child) == Kind::Element);
        match common.layout {
            Layout::Strict if found.token_behind_use => wrong("a token stands behind what uses it"),
            Layout::LaxTimestampFirst if !is_timestamp(elements.next()) => wrong("the timestamp is not the first"),
            Layout::LaxTimestampLast if !is_timestamp(elements.last()) => wrong("the timestamp is not the last"),
            _ => Ok(()),
        }
    }

    /// Whether what was signed was signed before it was encrypted, or encrypted before, as the policy says.
    fn check_order(&self, main: &Signed, common: &Common) -> Result<(), Refusal> {
        let Inspection { envelope, found, .. } = self.inspection;
        for piece in &found.decrypted {
            let Some(node) = piece.node else { continue };
            if !self.inspection.covers(main, node) {
                continue;
            }
            let encrypted_first = main.round < piece.what.round;
            // Signatures and tokens may be encrypted after they were made, whatever the order.
            let in_header = envelope.security.is_some_and(|security| self.inspection.is_within(node, security));
            if encrypted_first != common.encrypt_before_signing && (encrypted_first || !in_header) {
                let detail = if encrypted_first { "encrypted, then signed" } else { "signed, then encrypted" };
                return Err(Refusal::new(Rule::ProtectionOrderWrong, detail));
            }
            if !may_be_of_same_author(main, piece.what) {
                return Err(Refusal::new(
                    Rule::WrongSigner,
                    "what is signed with a common key is encrypted with another",
                ));
            }
        }
        Ok(())
    }

    /// Nothing but a signature tells whether somebody changed what a chained cipher made: one of somebody who knew the
    /// plaintext, or who made the ciphertext.
    ///
    /// Whoever could have a foreign ciphertext decrypted, changed as he likes, and see whether the message is accepted,
    /// would read it bit by bit.
    fn check_chained_ciphers(&self) -> Result<(), Refusal> {
        let Inspection { found, .. } = self.inspection;
        let encrypt_first = self.common().is_some_and(|common| common.encrypt_before_signing);
        for piece in found.decrypted.iter().filter(|piece| !piece.what.cipher.is_authenticated()) {
            let vouches = |signature: &Signed, node: NodeId| {
                let in_order = encrypt_first || signature.round >= piece.what.round;
                in_order && may_be_of_same_author(signature, piece.what) && self.inspection.covers(signature, node)
            };
            let vouched = piece.node.is_some_and(|node| {
                found.signatures.iter().any(|signature| vouches(&signature.what, node))
                    || (piece.what.extent == Extent::Element && self.proves_itself(node))
            });
            if !vouched {
                return Err(Refusal::new(Rule::NotSigned, "what a chained cipher encrypted is not signed"));
            }
        }
        Ok(())
    }

    /// Whether an element of the header was found to be right by itself: a signature, a token with a password, or an
    /// assertion that somebody trusted signed.
    fn proves_itself(&self, node: NodeId) -> bool {
        let found = &self.inspection.found;
        let shows_password = |at: &At<UsernameToken>| at.node == Some(node) && at.what.password != Password::None;
        found.signatures.iter().any(|at| at.node == Some(node))
            || found.usernames.iter().any(shows_password)
            || found.assertions.iter().any(|at| at.node == Some(node) && at.what.trusted)
    }

    fn assertion(&self, node: NodeId) -> Option<&'a Assertion> {
        let mut assertions = self.inspection.found.assertions.iter();
        assertions.find(|at| at.node == Some(node)).map(|at| &at.what.assertion)
    }
}

/// Whether whoever signed can be who encrypted: a keyed hash has to be made with the key of what it covers.
///
/// Anybody can make one with a key of his own over a ciphertext that he cannot read, and over the plaintext too, whose
/// digest stands in the signature that he takes the place of. So it is where a policy has two tokens for the two.
fn may_be_of_same_author(signature: &Signed, piece: Decrypted) -> bool {
    match signature.signer {
        Signer::Shared { origin, .. } => origin == piece.origin,
        _ => true,
    }
}

impl Fulfilled<'_> {
    fn findings(&self, inspection: &Inspection<'_>, alternative: usize) -> Findings {
        let Inspection { found, .. } = inspection;
        let mut signed: Vec<Part> = Vec::new();
        for cover in found.signatures.iter().flat_map(|signature| &signature.what.covers) {
            if let Cover::Node(node) = cover {
                let part = part(inspection, *node, false);
                if !signed.contains(&part) {
                    signed.push(part);
                }
            }
        }
        let decrypted = found.decrypted.iter();
        let encrypted =
            decrypted.filter_map(|piece| Some(part(inspection, piece.node?, piece.what.extent != Extent::Element)));
        let mut signers = self.endorsers.iter().filter_map(|signature| signature.signer.certificate().cloned());
        // Where TLS protects messages there is no other signature than those that endorse.
        let signer = match self.main {
            Some(main) => main.what.signer.certificate().cloned(),
            None => signers.next(),
        };
        Findings {
            alternative,
            signed,
            encrypted: encrypted.collect(),
            signer,
            endorsers: signers.collect(),
            user: self
                .user
                .map(|token| User { name: token.user.clone(), authenticated: token.password != Password::None }),
            saml: self.assertion.map(|assertion| Saml {
                version: assertion.version,
                subject: assertion.subject.clone(),
                issuer: assertion.issuer.clone(),
            }),
            timestamp: found.timestamp.as_ref().map(|timestamp| timestamp.what),
            algorithms: inspection.used_uris(),
        }
    }
}

fn part(inspection: &Inspection<'_>, node: NodeId, content: bool) -> Part {
    let Inspection { document, envelope, .. } = inspection;
    let parent = document.parent(node);
    let place = if node == envelope.body {
        Place::Body
    } else if parent == envelope.header {
        Place::Header
    } else if parent == envelope.security {
        Place::Security
    } else {
        Place::Inside
    };
    let name = document.qname(node);
    Part { place, namespace: name.namespace.to_owned().into(), local: name.local.to_owned().into(), content }
}
