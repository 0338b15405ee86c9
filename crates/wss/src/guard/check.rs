//! Whether a policy can be honoured with the keys at hand; what cannot is told when the configuration is loaded.

use std::sync::Arc;

use super::Guard;
use super::needs::Needs;
use crate::Problem;
use crate::keys::{Certificate, Identity, KeyKind};
use crate::policy::{Alternative, Binding, EncryptionUser, HeaderPart, Password, TokenKind};
use crate::side::{Direction, Side, Uses};

/// What is found wrong, and what is worth a warning.
#[derive(Default)]
pub(super) struct Found {
    pub(super) errors: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
    /// Where the policy says what is being checked: line and column.
    pub(super) place: (u64, u64),
}

impl Found {
    fn wrong(&mut self, message: impl Into<String>) {
        self.errors.push(Problem::general(message).at(self.place));
    }

    fn warn(&mut self, message: impl Into<String>) {
        let problem = Problem::general(message).at(self.place);
        if !self.warnings.contains(&problem) {
            self.warnings.push(problem);
        }
    }
}

/// Leaves out of the keys that decrypt those that are too small, and those that are not of RSA and cannot.
pub(super) fn leave_out_small_keys(keys: &mut Vec<Arc<Identity>>, bits_min: usize, found: &mut Found) {
    keys.retain(|identity| {
        let key = identity.key.public();
        if key.kind() == KeyKind::Rsa && key.bits() < bits_min {
            let (alias, bits) = (&identity.alias, key.bits());
            found.warn(format!("the key {alias:?} does not decrypt: it has {bits} bits, expected {bits_min} or more"));
        }
        key.kind() == KeyKind::Rsa && key.bits() >= bits_min
    });
}

/// Checks a guard before it is used.
pub(super) fn check(guard: &Guard, uses: Uses, found: &mut Found) {
    for alternative in &guard.policy.alternatives {
        found.place = alternative.place;
        protection(alternative, found);
        passwords(alternative, found);
        if uses.verifies() && changes_unseen(alternative, guard.arriving()) {
            found.wrong("what CBC encrypts has to be signed, or nobody sees that it was changed: add it to SignedParts, or take a suite with GCM");
        }
    }
    found.place = guard.policy.rampart_place();
    keys(guard, &Needs::of(&guard.policy, guard.side, uses), found);
    if uses.secures() {
        sizes(guard, found);
    }
}

/// What is said to be protected has to have something that protects it.
fn protection(alternative: &Alternative, found: &mut Found) {
    let bound = !matches!(alternative.binding, Binding::None);
    let names_parts = !alternative.signed.is_empty() || !alternative.encrypted.is_empty();
    if names_parts && !bound {
        found.wrong("the policy says what is signed or encrypted, and no binding says with which keys");
    }
    for direction in [Direction::Request, Direction::Response] {
        let token = alternative.binding.encryption_token(direction).map(|token| &token.kind);
        if alternative.encrypts(direction) && !matches!(token, Some(TokenKind::X509 { .. })) {
            found.wrong("messages are encrypted for the owner of a certificate: name an X509Token for it");
        }
    }
    for tokens in &alternative.supporting {
        let parts = !tokens.signed_parts.is_empty() || !tokens.encrypted_parts.is_empty();
        if !bound && (tokens.signed || tokens.endorsing || tokens.encrypted || parts) {
            found.wrong("supporting tokens are signed, encrypted or endorsing, and no binding says with which keys");
        }
        if !tokens.endorsing && !tokens.signed_parts.is_empty() {
            found
                .wrong("supporting tokens that do not endorse sign nothing: say the parts beside them, in SignedParts");
        }
        let signs_timestamp = alternative.binding.common().is_some_and(|common| common.timestamp);
        if matches!(alternative.binding, Binding::Transport { .. }) && tokens.endorsing && !signs_timestamp {
            found.wrong("endorsing tokens sign the timestamp where TLS protects messages: add IncludeTimestamp");
        }
    }
}

/// Whether a message that fulfils the alternative has ciphertexts that nothing tells changes of, so that it is refused.
///
/// Expressions are not compared: elements are taken to be signed where anything is.
fn changes_unseen(alternative: &Alternative, direction: Direction) -> bool {
    let Alternative { binding, signed, encrypted, .. } = alternative;
    let is_chained = binding.common().is_some_and(|common| !common.suite.cipher.is_authenticated());
    if !is_chained || !alternative.encrypts(direction) {
        return false;
    }
    let is_signed = |header: &HeaderPart| {
        let covers =
            |one: &HeaderPart| one.namespace == header.namespace && (one.local.is_none() || one.local == header.local);
        signed.all_headers || signed.headers.iter().any(covers)
    };
    let body = encrypted.body && !signed.body;
    body || !encrypted.headers.iter().all(is_signed) || (!encrypted.elements.is_empty() && signed.is_empty())
}

/// Passwords that anybody on the way can read are worth a warning.
fn passwords(alternative: &Alternative, found: &mut Found) {
    if matches!(alternative.binding, Binding::Transport { .. }) {
        return;
    }
    for tokens in alternative.supporting.iter().filter(|tokens| !tokens.encrypted) {
        let shown = |kind: &TokenKind| matches!(kind, TokenKind::Username { password: Password::Text, .. });
        if tokens.tokens.iter().any(|token| shown(&token.kind)) {
            found.warn("the password stands in messages as it is: encrypt the token, or let TLS protect messages");
        }
    }
}

/// The keys that the policy asks for have to be there.
fn keys(guard: &Guard, needs: &Needs, found: &mut Found) {
    let keys = &guard.keys;
    if needs.signature && keys.signature.is_none() {
        found.wrong("the policy asks for a private key of this side, and there is none");
    }
    if needs.decryption && keys.decryption.is_empty() {
        let bits_min = guard.settings.rsa_bits_min;
        found.wrong(format!(
            "no private key of RSA with {bits_min} bits or more decrypts what is encrypted for this side"
        ));
    }
    if needs.encryption && keys.encryption.is_none() {
        match guard.side {
            Side::Initiator => found.wrong("no certificate says for whom requests are encrypted"),
            Side::Recipient => requests_have_signers(guard, found),
        }
    }
    let rampart = guard.policy.alternatives.first().map(|first| &first.rampart);
    if let Some(with_password) = needs.user {
        match rampart.and_then(|rampart| rampart.user.as_ref()) {
            None => found.wrong("a username token is sent, and RampartConfig names no user"),
            Some(user) if with_password && keys.users.password(user).is_none() => {
                found.wrong(format!("a username token is sent, and no password is known of the user {user:?}"));
            }
            Some(_) => {}
        }
    }
    if needs.assertion && guard.settings.assertion.is_none() {
        found.wrong("an assertion of SAML is sent, and the settings have none");
    }
    if guard.side == Side::Initiator
        && rampart.is_some_and(|rampart| rampart.encryption_user == Some(EncryptionUser::RequestSigner))
        && needs.encryption
    {
        found.wrong("useReqSigCert is for responses; requests are encrypted for the owner of a named certificate");
    }
}

/// Responses are encrypted for whoever signed the request, who has to be known by every alternative.
fn requests_have_signers(guard: &Guard, found: &mut Found) {
    let mut alternatives = guard.policy.alternatives.iter();
    if !alternatives.all(|alternative| alternative.signs(Direction::Request)) {
        found.wrong("responses are encrypted for the signer of the request, and requests may have none");
    }
}

/// The keys that are used for sending have to be of the kinds and sizes that the policy and the settings allow.
fn sizes(guard: &Guard, found: &mut Found) {
    let Some(common) = guard.policy.alternatives.first().and_then(|first| first.binding.common()) else { return };
    let (least, most) = common.suite.rsa_bits;
    let least = least.max(guard.settings.rsa_bits_min);
    let mut check = |certificate: &Certificate, what: &str| {
        let key = certificate.public_key();
        if key.kind() == KeyKind::Rsa && !(least..=most).contains(&key.bits()) {
            let (subject, bits) = (certificate.subject(), key.bits());
            found.wrong(format!("the key of {subject}, which {what}, has {bits} bits, expected {least} to {most}"));
        }
        key.kind()
    };
    if let Some(identity) = &guard.keys.signature {
        check(identity.certificate(), "signs");
    }
    if let Some(certificate) = &guard.keys.encryption
        && check(certificate, "messages are encrypted for") != KeyKind::Rsa
    {
        found.wrong(format!("messages cannot be encrypted for {}, whose key is not of RSA", certificate.subject()));
    }
}
