//! What was found in a message: each kind of thing with its element, which moves when plaintexts are put in.

use std::sync::Arc;

use myelin_xml::NodeId;

use crate::algorithm::{BlockCipher, SignatureMethod};
use crate::crypto::Secret;
use crate::enc::EncryptedKey;
use crate::findings::Timestamp;
use crate::keys::{Certificate, PublicKey};
use crate::token::binary::BinaryToken;
use crate::token::saml::Assertion;
use crate::token::username::UsernameToken;

/// All that was found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) timestamp: Option<At<Timestamp>>,
    pub(super) usernames: Vec<At<UsernameToken>>,
    pub(super) binaries: Vec<At<BinaryToken>>,
    pub(super) keys: Vec<At<SharedKey>>,
    pub(super) assertions: Vec<At<Asserted>>,
    /// The values of `SignatureConfirmation`; none: there was nothing to confirm.
    pub(super) confirmations: Vec<At<Option<Vec<u8>>>>,
    pub(super) signatures: Vec<At<Signed>>,
    pub(super) decrypted: Vec<At<Decrypted>>,
    /// Whether a token stands behind what uses it.
    pub(super) token_behind_use: bool,
}

/// Something with its element.
pub(super) struct At<T> {
    /// None once it is not in the document any more.
    pub(super) node: Option<NodeId>,
    pub(super) what: T,
}

/// A key that both sides know.
pub(super) struct SharedKey {
    pub(super) kind: SharedKeyKind,
    /// Once somebody needed it.
    pub(super) secret: Option<Known>,
}

/// The bytes of a key that both sides know.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) secret: Arc<Secret>,
    pub(super) origin: Origin,
}

/// Where a key comes from in the end: whoever made that knows all keys of the same origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// We sent it in the request that this message answers.
    Request,
    /// Anybody who knows our certificate can have made it; its number among the keys that were found.
    Message(usize),
}

/// Where a key comes from that both sides know.
pub(super) enum SharedKeyKind {
    /// It stands in the message, encrypted.
    Encrypted {
        key: EncryptedKey,
        /// The SHA-1 of the ciphertext.
        sha1: [u8; 20],
        ciphertext: Vec<u8>,
    },
    /// It is made of another.
    Derived,
}

/// An assertion, and what was found out about it.
pub(super) struct Asserted {
    pub(super) assertion: Assertion,
    /// Whether somebody trusted signed it.
    pub(super) trusted: bool,
    /// The subject's keys.
    pub(super) keys: Vec<Arc<PublicKey>>,
}

/// A signature whose value and references are right.
pub(super) struct Signed {
    pub(super) method: SignatureMethod,
    pub(super) value: Vec<u8>,
    pub(super) signer: Signer,
    pub(super) covers: Vec<Cover>,
    /// How often plaintexts had been put in when its references were checked.
    pub(super) round: usize,
}

/// Whose key made a signature.
#[derive(Clone)]
pub(super) enum Signer {
    /// The owner of a certificate that is trusted.
    Certificate {
        certificate: Arc<Certificate>,
        /// The token that holds it, where it stands in the message.
        token: Option<NodeId>,
    },
    /// The owner of a key whose certificate is known and trusted; the message has the bare key.
    KeyValue(Arc<Certificate>),
    /// Whom an assertion gives a key to.
    Subject {
        /// The assertion; none once it is not in the document any more.
        assertion: Option<NodeId>,
    },
    /// Whoever knows a key that both sides know.
    Shared {
        /// The element that the key stands in, where it stands in the message.
        token: Option<NodeId>,
        origin: Origin,
    },
}

/// What a signature covers.
#[derive(Clone)]
pub(super) enum Cover {
    /// An element with all that is in it.
    Node(NodeId),
    /// A token that the message only refers to.
    Certificate(Arc<Certificate>),
}

/// Something that was encrypted.
#[derive(Clone, Copy)]
pub(super) struct Decrypted {
    pub(super) cipher: BlockCipher,
    pub(super) extent: Extent,
    /// In which round it was put in, from 1.
    pub(super) round: usize,
    /// Of the key.
    pub(super) origin: Origin,
}

/// How much of an element was encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The element itself.
    Element,
    /// All of its content.
    Content,
    /// Something in it, beside other content.
    Part,
}

impl Found {
    /// Gives each element its place in a new document; none where it is not there.
    pub(super) fn moved(&mut self, place: &dyn Fn(NodeId) -> Option<NodeId>) {
        fn all<T>(list: &mut [At<T>], place: &dyn Fn(NodeId) -> Option<NodeId>) {
            for at in list {
                at.node = at.node.and_then(place);
            }
        }
        if let Some(timestamp) = &mut self.timestamp {
            timestamp.node = timestamp.node.and_then(place);
        }
        all(&mut self.usernames, place);
        all(&mut self.binaries, place);
        all(&mut self.keys, place);
        all(&mut self.assertions, place);
        all(&mut self.confirmations, place);
        all(&mut self.signatures, place);
        all(&mut self.decrypted, place);
        for signature in &mut self.signatures {
            signature.what.moved(place);
        }
    }
}

impl Signer {
    /// The certificate of the key.
    pub(super) fn certificate(&self) -> Option<&Arc<Certificate>> {
        match self {
            Signer::Certificate { certificate, .. } | Signer::KeyValue(certificate) => Some(certificate),
            Signer::Subject { .. } | Signer::Shared { .. } => None,
        }
    }
}

impl Signed {
    fn moved(&mut self, place: &dyn Fn(NodeId) -> Option<NodeId>) {
        match &mut self.signer {
            Signer::Certificate { token, .. } | Signer::Shared { token, .. } => *token = token.and_then(place),
            Signer::Subject { assertion } => *assertion = assertion.and_then(place),
            Signer::KeyValue(_) => {}
        }
        self.covers.retain_mut(|cover| match cover {
            Cover::Node(node) => match place(*node) {
                Some(moved) => {
                    *node = moved;
                    true
                }
                None => false,
            },
            Cover::Certificate(_) => true,
        });
    }
}
