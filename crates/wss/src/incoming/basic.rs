//! A user's name and password that HTTP carries, in the place of a username token.
//!
//! Source: WSO2's `POXSecurityHandler`, which makes a username token of HTTP Basic credentials where a policy asks for
//! nothing else.

use crate::Guard;
use crate::findings::{Findings, User};
use crate::policy::{Alternative, Binding, Password, TokenKind};
use crate::token::username::same;
use crate::{Refusal, Rule};

impl Guard {
    /// Whether a name and a password through TLS are all that the policy asks of a message.
    pub fn takes_basic(&self) -> bool {
        self.basic().is_some()
    }

    /// Lets a user in by name and password, where the policy asks for nothing else.
    ///
    /// Takes as long for a name that is not known as for a password that is wrong.
    /// Errors: `AuthenticationFailed` where either is wrong, `NotAuthorized` where the user has no role that may,
    /// `RequiredMissing` where the policy asks for more.
    pub fn authenticate(&self, user: &str, password: &str) -> Result<Findings, Refusal> {
        let Some(alternative) = self.basic() else {
            return Err(Refusal::new(Rule::RequiredMissing, "the policy asks for more than a user and a password"));
        };
        let known = self.keys.users.password(user);
        let expected = known.as_ref().map(|password| password.as_ref()).unwrap_or_default();
        let is_right = same(password.as_bytes(), expected) & known.is_some();
        if !is_right {
            return Err(Refusal::new(Rule::AuthenticationFailed, format!("user {user:?}")));
        }
        let user = User { name: user.to_owned(), authenticated: true };
        let findings = Findings { alternative, user: Some(user), ..Findings::default() };
        self.authorize(&findings)?;
        Ok(findings)
    }

    /// Which alternative is the first of that kind.
    fn basic(&self) -> Option<usize> {
        let is_so = |alternative: &Alternative| {
            let is_tls = matches!(alternative.binding, Binding::Transport { client_certificate: false, .. });
            let tokens = || alternative.supporting_in(self.arriving()).iter().flat_map(|group| &group.tokens);
            let is_plain =
                |kind: &TokenKind| matches!(kind, TokenKind::Username { password: Password::Text, nonce: false, .. });
            is_tls && tokens().count() == 1 && tokens().all(|token| is_plain(&token.kind))
        };
        self.policy.alternatives.iter().position(is_so)
    }
}
