//! Which keys a policy asks of one side.

use crate::policy::{Alternative, Binding, Policy, TokenKind};
use crate::side::{Direction, Side, Uses};

/// Which keys a policy asks of one side: by the first alternative for what it sends, and by any for what it receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// A private key that signs, or whose certificate is shown.
    pub(super) signature: bool,
    /// The certificate of whom messages are encrypted for.
    pub(super) encryption: bool,
    /// A private key that decrypts.
    pub(super) decryption: bool,
    /// Certificates that others' are trusted by.
    pub(super) trust: bool,
    /// The name in a username token, and whether with its password.
    pub(super) user: Option<bool>,
    /// An assertion to show.
    pub(super) assertion: bool,
}

impl Needs {
    /// What the policy asks of the side, as far as its guard is used.
    pub(super) fn of(policy: &Policy, side: Side, uses: Uses) -> Needs {
        let mut needs = Needs::default();
        if uses.secures()
            && let Some(first) = policy.alternatives.first()
        {
            needs.add_securing(first, side.departing());
        }
        if uses.verifies() {
            policy.alternatives.iter().for_each(|alternative| needs.add_verifying(alternative, side.arriving()));
        }
        needs
    }

    fn add_securing(&mut self, alternative: &Alternative, direction: Direction) {
        let (signs, encrypts) = (alternative.signs(direction), alternative.encrypts(direction));
        match &alternative.binding {
            Binding::None | Binding::Transport { .. } => {}
            Binding::Asymmetric { .. } => {
                self.signature |= signs;
                self.encryption |= encrypts;
            }
            // The key of the response is the request's.
            Binding::Symmetric { .. } => self.encryption |= direction == Direction::Request && (signs || encrypts),
        }
        for token in alternative.supporting_in(direction).iter().flat_map(|tokens| &tokens.tokens) {
            match &token.kind {
                TokenKind::Username { password, .. } => self.user = Some(*password != crate::policy::Password::None),
                TokenKind::X509 { .. } | TokenKind::KeyValue => self.signature = true,
                TokenKind::Saml { .. } => self.assertion = true,
            }
        }
    }

    fn add_verifying(&mut self, alternative: &Alternative, direction: Direction) {
        let (signs, encrypts) = (alternative.signs(direction), alternative.encrypts(direction));
        match &alternative.binding {
            Binding::None | Binding::Transport { .. } => {}
            Binding::Asymmetric { .. } => {
                self.trust |= signs;
                self.decryption |= encrypts;
            }
            Binding::Symmetric { .. } => self.decryption |= direction == Direction::Request && (signs || encrypts),
        }
        let tokens = alternative.supporting_in(direction).iter().flat_map(|tokens| &tokens.tokens);
        self.trust |= tokens.into_iter().any(|token| !matches!(token.kind, TokenKind::Username { .. }));
    }
}
