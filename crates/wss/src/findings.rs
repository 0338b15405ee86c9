//! What was found out about a message that was accepted.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::SystemTime;

use crate::keys::Certificate;
use crate::policy::SamlVersion;
use crate::time::{self, Precision};

/// What was found out about a message that was accepted: what is protected, and by whom.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Which alternative of the policy it fulfils, from 0.
    pub alternative: usize,
    /// What the message's signatures cover.
    pub signed: Vec<Part>,
    /// What was encrypted.
    pub encrypted: Vec<Part>,
    /// Who signed the message.
    pub signer: Option<Arc<Certificate>>,
    /// Who signed the message's signature besides.
    pub endorsers: Vec<Arc<Certificate>>,
    /// The username token.
    pub user: Option<User>,
    /// The assertion.
    pub saml: Option<Saml>,
    /// The timestamp.
    pub timestamp: Option<Timestamp>,
    /// The identifiers of the algorithms that were used, each once.
    pub algorithms: Vec<&'static str>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it stands.
    pub place: Place,
    /// Its namespace.
    pub namespace: Cow<'static, str>,
    /// Its local name.
    pub local: Cow<'static, str>,
    /// Whether not the element but its content is meant.
    pub content: bool,
}

/// Where a part stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is the body.
    Body,
    /// It is a header block.
    Header,
    /// It is a child of `Security`.
    Security,
    /// It is an element deeper in the envelope.
    Inside,
}

/// A username token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// Whether the password was right; a token without a password only says a name.
    pub authenticated: bool,
}

/// An assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saml {
    /// Its version.
    pub version: SamlVersion,
    /// Of whom it speaks.
    pub subject: String,
    /// Who says it.
    pub issuer: String,
}

/// A timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// When the message was made.
    pub created: SystemTime,
    /// How long it is good.
    pub expires: Option<SystemTime>,
}

impl Findings {
    /// What was found out, one finding a line, for people.
    pub fn explain(&self) -> String {
        let mut out = String::new();
        let mut line = |what: &str, value: &dyn fmt::Display| {
            let _ = writeln!(out, "{what:<13} {value}");
        };
        for part in &self.signed {
            line("signed", part);
        }
        for part in &self.encrypted {
            line("encrypted", part);
        }
        if let Some(signer) = &self.signer {
            line("signer", signer.subject());
        }
        for endorser in &self.endorsers {
            line("endorsed by", endorser.subject());
        }
        if let Some(user) = &self.user {
            let how = if user.authenticated { "password verified" } else { "without a password" };
            line("user", &format_args!("{} ({how})", user.name));
        }
        if let Some(saml) = &self.saml {
            line("assertion", &format_args!("{} says {}", saml.issuer, saml.subject));
        }
        if let Some(timestamp) = &self.timestamp {
            line("created", &time::written(timestamp.created, Precision::Seconds));
            if let Some(expires) = timestamp.expires {
                line("expires", &time::written(expires, Precision::Seconds));
            }
        }
        for algorithm in &self.algorithms {
            line("algorithm", algorithm);
        }
        out
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.place {
            Place::Body => "the body",
            Place::Header => "a header block",
            Place::Security => "in the Security header",
            Place::Inside => "an element",
        };
        let what = if self.content { "content of " } else { "" };
        write!(f, "{what}{{{}}}{} ({place})", self.namespace, self.local)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::keys::KeyKind;
    use crate::keys::testing::identity;

    #[test]
    fn what_was_found_out_is_told_a_line_each() {
        let body =
            |content: bool| Part { place: Place::Body, namespace: "urn:soap".into(), local: "Body".into(), content };
        let created = SystemTime::UNIX_EPOCH + Duration::from_secs(1_764_000_000);
        let findings = Findings {
            signed: vec![body(false)],
            encrypted: vec![body(true)],
            signer: Some(Arc::clone(identity("alice", KeyKind::Rsa).certificate())),
            user: Some(User { name: "bob".to_owned(), authenticated: false }),
            timestamp: Some(Timestamp { created, expires: None }),
            algorithms: vec!["urn:algorithm"],
            ..Findings::default()
        };
        let expected = "\
signed        {urn:soap}Body (the body)
encrypted     content of {urn:soap}Body (the body)
signer        CN=alice,O=Myelin
user          bob (without a password)
created       2025-11-24T16:00:00Z
algorithm     urn:algorithm
";
        assert_eq!(findings.explain(), expected);
    }
}
