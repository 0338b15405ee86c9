//! Keys of the binding: which one signs, which one encrypts, and what says so in the header.

use std::sync::Arc;

use super::errors::cryptography;
use super::header::{Item, Slot};
use super::message::Message;
use super::reference::{Pointer, key_value, pki_path, token_reference, value_type};
use super::session::{Origin, SessionKey};
use super::signing::{Covered, How, Signing, SigningKey};
use super::tokens::{NONCE_BYTES, binary_token};
use crate::algorithm::{DigestMethod, SignatureMethod};
use crate::crypto::{Secret, digest, fill, p_sha1, random};
use crate::enc::KeyMethod;
use crate::guard::SharedKey;
use crate::keys::{Certificate, KeyKind};
use crate::policy::{AlgorithmSuite, KeyReference, Token, TokenKind, X509Form};
use crate::side::Direction;
use crate::vocabulary::WSU;
use crate::writing::element;
use crate::{Error, binary};

/// How a certificate is shown: the reference, and the token that stands in the message for it.
struct Shown {
    key_info: Vec<u8>,
    /// What a signature covers that protects its token, the token itself first.
    tokens: Vec<Covered>,
}

/// How a signature would cover its token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Covering {
    /// There is no signature.
    Nothing,
    /// As it stands in the message.
    Token,
    /// Through the reference to it, wherever it stands (`STRTransform10`).
    Reference,
}

impl Message<'_> {
    /// A new key, encrypted for whoever this message is for.
    ///
    /// Errors: nobody is known whom it could be for.
    pub(super) fn session_key(&mut self, token: &Token, suite: &AlgorithmSuite) -> Result<SessionKey, Error> {
        let signer = || self.departure.conversation.and_then(|conversation| conversation.signer.clone());
        let certificate = self.guard.keys.encryption.clone().or_else(signer);
        let Some(certificate) = certificate else {
            return Err(Error::Missing("the certificate of whom the message is encrypted for".into()));
        };
        let transport = *suite.key_transports.first().ok_or(Error::Missing("a way to encrypt keys".into()))?;
        let secret = random(suite.cipher.key_bytes()).map_err(cryptography)?;
        let value = certificate.public_key().encrypt(transport, secret.as_ref()).map_err(cryptography)?;
        let shown = self.show(token, std::slice::from_ref(&certificate), Covering::Nothing)?;
        let id = self.ids.next("EK");
        let origin = Origin::Message { id, method: KeyMethod::Transport(transport), value, key_info: shown.key_info };
        Ok(SessionKey { secret: Arc::new(secret), origin })
    }

    /// The key that both sides use: a new one in requests, the request's in responses.
    ///
    /// Errors: a response to a request without one.
    pub(super) fn common_key(&mut self, token: &Token, suite: &AlgorithmSuite) -> Result<SessionKey, Error> {
        if self.direction == Direction::Response {
            let known = self.departure.conversation.and_then(|conversation| conversation.shared_keys.first());
            let SharedKey { sha1, key } = known.ok_or(Error::Missing("the request's key".into()))?.clone();
            return Ok(SessionKey { secret: key, origin: Origin::Request(sha1) });
        }
        let key = self.session_key(token, suite)?;
        if let (Origin::Message { value, .. }, Some((id, text))) = (&key.origin, key.element(&[])) {
            let sha1 = digest(DigestMethod::Sha1, value);
            let sha1 = sha1.as_ref().try_into().expect("a SHA-1 has twenty bytes");
            self.conversation.shared_keys.push(SharedKey { sha1, key: Arc::clone(&key.secret) });
            self.items.push(Item { slot: Slot::Keys, id, text });
        }
        Ok(key)
    }

    /// A key derived from another, so many bytes long.
    ///
    /// Shape: `namespace` is that of the WS-SecureConversation in which the `DerivedKeyToken` is written; the key comes
    /// with the reference to that token, and how it can be covered.
    /// Source: WS-SecureConversation 1.3 §7.
    pub(super) fn derive(
        &mut self,
        from: &SessionKey,
        bytes: usize,
        namespace: &'static str,
    ) -> Result<(Arc<Secret>, Vec<u8>, Covered), Error> {
        let mut nonce = [0; NONCE_BYTES];
        fill(&mut nonce).map_err(cryptography)?;
        // The label that both sides take where none is said, which is that of the initiator and of the recipient.
        const LABEL: &[u8] = b"WS-SecureConversationWS-SecureConversation";
        let derived = p_sha1(from.secret.as_ref().as_ref(), &[LABEL, &nonce], 0, bytes);
        let id = self.ids.next("DK");
        let mut text = Vec::with_capacity(1024);
        let attributes = [("xmlns:wsc", namespace), ("xmlns:wsu", WSU), ("wsu:Id", id.as_str())];
        element(&mut text, "wsc:DerivedKeyToken", &attributes, |out| {
            out.extend_from_slice(&from.reference());
            element(out, "wsc:Offset", &[], |out| out.push(b'0'));
            element(out, "wsc:Length", &[], |out| out.extend_from_slice(bytes.to_string().as_bytes()));
            element(out, "wsc:Nonce", &[], |out| binary::encode(&nonce, out));
        });
        let reference = token_reference("", &Pointer::DerivedKey(&id, namespace));
        self.items.push(Item { slot: Slot::Keys, id: id.clone(), text });
        Ok((Arc::new(derived), reference, Covered { id, how: How::Item }))
    }

    /// What signs with the private key of this side.
    ///
    /// Errors: there is none, or none of the suite's ways to sign does with it.
    pub(super) fn private_signing(&mut self, token: &Token, suite: &AlgorithmSuite) -> Result<Signing, Error> {
        let identity = self.guard.keys.signature.clone().ok_or(Error::Missing("the private key that signs".into()))?;
        let is_rsa = identity.key.public().kind() == KeyKind::Rsa;
        let fits = |method: &&SignatureMethod| match method {
            SignatureMethod::Rsa(_) | SignatureMethod::RsaPss(_) => is_rsa,
            SignatureMethod::Ecdsa(_) => !is_rsa,
            SignatureMethod::Hmac(_) => false,
        };
        let Some(&method) = suite.asymmetric_signatures.iter().find(fits) else {
            return Err(Error::Missing(format!("a way to sign of {} for this kind of key", suite.name).into()));
        };
        let (key_info, tokens) = match &token.kind {
            TokenKind::KeyValue => (key_value(identity.key.public()), Vec::new()),
            TokenKind::Saml { version } => {
                let id = self.assertion_id()?;
                (token_reference("", &Pointer::Assertion(&id, *version)), Vec::new())
            }
            _ => {
                let covering = if suite.str_transform { Covering::Reference } else { Covering::Token };
                let shown = self.show(token, &identity.chain, covering)?;
                (shown.key_info, shown.tokens)
            }
        };
        Ok(Signing { key: SigningKey::Private(identity), method, key_info, tokens })
    }

    /// Shows a certificate as its token says, and puts it into the header where it has to stand there.
    ///
    /// `chain` begins with it.
    fn show(&mut self, token: &Token, chain: &[Arc<Certificate>], covering: Covering) -> Result<Shown, Error> {
        let TokenKind::X509 { form, references } = &token.kind else {
            return Err(Error::Missing("a certificate's token where the policy has another".into()));
        };
        let certificate = &*chain[0];
        let wanted = references.first().copied();
        let included = token.inclusion.is_in(self.direction).then(|| {
            let id = self.ids.next("X509");
            let text = match form {
                X509Form::V3 => binary_token(Some(&id), &value_type(*form), certificate.der()),
                X509Form::PkiPath => binary_token(Some(&id), &value_type(*form), &pki_path(chain)),
            };
            (id, text)
        });
        let pointer = match (&included, wanted) {
            (Some((_, text)), Some(KeyReference::Embedded)) => Pointer::Embedded(text, *form),
            (Some((id, _)), None | Some(KeyReference::Direct)) => Pointer::Binary(id, *form),
            (_, wanted) => match wanted.or_else(|| self.supported_reference()) {
                Some(KeyReference::KeyIdentifier) => Pointer::KeyIdentifier(certificate),
                Some(KeyReference::Thumbprint) => Pointer::Thumbprint(certificate),
                _ => Pointer::IssuerSerial(certificate),
            },
        };
        let reference = self.ids.next("STR");
        let key_info = token_reference(&reference, &pointer);
        let (is_embedded, is_direct) =
            (matches!(pointer, Pointer::Embedded(..)), matches!(pointer, Pointer::Binary(..)));
        let mut tokens = Vec::new();
        if covering != Covering::Nothing {
            let dereferenced = match &included {
                Some((id, text)) if is_embedded || is_direct => {
                    (covering == Covering::Reference).then(|| (Some(id.clone()), text.clone()))
                }
                // What the reference leads to is the certificate, whatever else stands in the message.
                _ => Some((None, binary_token(None, &value_type(X509Form::V3), certificate.der()))),
            };
            if let (Some((id, text)), None) | (Some((id, text)), Some((None, _))) = (&included, &dereferenced) {
                let how = if is_embedded { How::Text(text.clone()) } else { How::Item };
                tokens.push(Covered { id: id.clone(), how });
            }
            tokens.extend(dereferenced.map(|(id, text)| Covered { id: reference, how: How::Token { id, text } }));
        }
        if let Some((id, text)) = included.filter(|_| !is_embedded) {
            self.items.push(Item { slot: Slot::Certificates, id, text });
        }
        Ok(Shown { key_info, tokens })
    }

    /// The first of the references to certificates that the receiver has to understand, as Rampart chooses it.
    fn supported_reference(&self) -> Option<KeyReference> {
        let supported = &self.alternative.wss.must_support;
        let chosen = [KeyReference::KeyIdentifier, KeyReference::IssuerSerial, KeyReference::Thumbprint];
        chosen.into_iter().find(|reference| supported.contains(reference))
    }
}
