//! What of a policy applies to a request and what to a response, and which algorithms it accepts.

use myelin_xml::c14n::Method;

use super::{AlgorithmSuite, Alternative, Binding, Common, Inclusion, SupportingTokens, Token};
use crate::algorithm::{AesKeyWrap, BlockCipher, DigestMethod, KeyTransport, SignatureMethod};
use crate::side::Direction;

impl Binding {
    /// What all bindings have; none without a binding.
    pub fn common(&self) -> Option<&Common> {
        match self {
            Binding::None => None,
            Binding::Transport { common, .. }
            | Binding::Asymmetric { common, .. }
            | Binding::Symmetric { common, .. } => Some(common),
        }
    }

    /// The token whose key signs messages of this direction; none where nothing but TLS protects them.
    pub fn signature_token(&self, direction: Direction) -> Option<&Token> {
        match (self, direction) {
            (Binding::None | Binding::Transport { .. }, _) => None,
            (Binding::Asymmetric { initiator_signature, .. }, Direction::Request) => Some(initiator_signature),
            (Binding::Asymmetric { recipient_signature, .. }, Direction::Response) => Some(recipient_signature),
            (Binding::Symmetric { signature, .. }, _) => Some(signature),
        }
    }

    /// The token whose key messages of this direction are encrypted for; none where nothing but TLS protects them.
    pub fn encryption_token(&self, direction: Direction) -> Option<&Token> {
        match (self, direction) {
            (Binding::None | Binding::Transport { .. }, _) => None,
            (Binding::Asymmetric { recipient_encryption, .. }, Direction::Request) => Some(recipient_encryption),
            (Binding::Asymmetric { initiator_encryption, .. }, Direction::Response) => Some(initiator_encryption),
            (Binding::Symmetric { encryption, .. }, _) => Some(encryption),
        }
    }
}

impl Alternative {
    /// The supporting tokens of messages of this direction: they are the initiator's, so that responses have none.
    ///
    /// Source: WS-SecurityPolicy §8 leaves responses open; Rampart and CXF put them into requests only.
    pub fn supporting_in(&self, direction: Direction) -> &[SupportingTokens] {
        match direction {
            Direction::Request => &self.supporting,
            Direction::Response => &[],
        }
    }

    /// Whether messages of this direction have a signature of the binding: there is something for it to cover.
    pub fn signs(&self, direction: Direction) -> bool {
        let Some(common) = self.binding.common() else { return false };
        let confirms = direction == Direction::Response && self.wss.signature_confirmation;
        let signed_tokens = self.supporting_in(direction).iter().any(|tokens| tokens.signed);
        let covers = common.timestamp || !self.signed.is_empty() || confirms || signed_tokens;
        covers && self.binding.signature_token(direction).is_some()
    }

    /// Whether something in messages of this direction is encrypted.
    pub fn encrypts(&self, direction: Direction) -> bool {
        let Some(common) = self.binding.common() else { return false };
        let tokens = self.supporting_in(direction);
        let supporting = tokens.iter().any(|tokens| tokens.encrypted || !tokens.encrypted_parts.is_empty());
        let encrypts = !self.encrypted.is_empty() || supporting || (common.encrypt_signature && self.signs(direction));
        encrypts && self.binding.encryption_token(direction).is_some()
    }
}

impl Inclusion {
    /// Whether the token itself stands in messages of this direction.
    pub fn is_in(self, direction: Direction) -> bool {
        match self {
            Inclusion::Never => false,
            Inclusion::Always => true,
            Inclusion::Once | Inclusion::AlwaysToRecipient => direction == Direction::Request,
            Inclusion::AlwaysToInitiator => direction == Direction::Response,
        }
    }
}

/// A suite says what is sent, and the least that is accepted: a stronger digest in the place of a weaker one is never
/// an attack, and is what keys on larger curves come with. All else is exactly as the suite says.
impl AlgorithmSuite {
    /// Whether a reference may be hashed so.
    pub fn accepts_digest(&self, method: DigestMethod) -> bool {
        method >= self.digest
    }

    /// Whether a message may be signed so.
    pub fn accepts_signature(&self, method: SignatureMethod) -> bool {
        match method {
            SignatureMethod::Hmac(digest) => digest >= self.symmetric_signature.digest(),
            _ => self.asymmetric_signatures.contains(&method),
        }
    }

    /// Whether a message may be signed so by the letter of the standard, which has signatures over SHA-1 in the suites
    /// that are named for SHA-256, too.
    ///
    /// Source: WS-SecurityPolicy 1.3 §6.1, `[Asym Sig]` and `[Sym Sig]`.
    pub fn signs_by_the_letter(&self, method: SignatureMethod) -> bool {
        let is_letter =
            matches!(method, SignatureMethod::Rsa(DigestMethod::Sha1) | SignatureMethod::Hmac(DigestMethod::Sha1));
        self.digest == DigestMethod::Sha256 && is_letter
    }

    /// Whether data may be encrypted so.
    pub fn accepts_cipher(&self, cipher: BlockCipher) -> bool {
        cipher == self.cipher
    }

    /// Whether a key may be encrypted so for the owner of a key pair.
    pub fn accepts_transport(&self, transport: KeyTransport) -> bool {
        self.key_transports.contains(&transport)
    }

    /// Whether a key may be encrypted so with a common key.
    pub fn accepts_wrap(&self, wrap: AesKeyWrap) -> bool {
        wrap == self.key_wrap
    }

    /// Whether what is signed may be made canonical so; the exclusive method is known to all.
    pub fn accepts_canonical(&self, method: Method) -> bool {
        method == Method::Exclusive || method == self.canonical
    }
}
