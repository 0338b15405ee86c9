//! A guard: a policy with its keys, for one side of the conversation, compiled once and shared by all threads.

mod check;
mod load;
mod needs;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::SystemTime;

use myelin_xml::Document;

use crate::crypto::Secret;
use crate::findings::Findings;
use crate::keys::{Certificate, Certificates, Identity, Trust};
use crate::policy::{Crypto, Policy};
use crate::replay::Replays;
use crate::{Error, Limits, Problem, Refusal, Rule, incoming, outgoing};
use needs::Needs;

/// A policy with its keys: verifies what comes in and secures what goes out.
pub struct Guard {
    /// What messages have to fulfil.
    pub(crate) policy: Policy,
    /// Which side of the conversation it stands on.
    pub(crate) side: Side,
    /// The keys of this side.
    pub(crate) keys: Keys,
    /// What holds whatever the policy says.
    pub(crate) settings: Settings,
    /// Certificates that messages carried before.
    pub(crate) certificates: Certificates,
}

/// A side of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Sends requests: what an endpoint's guard is.
    Initiator,
    /// Receives requests: what a proxy's guard is.
    Recipient,
}

/// What a guard is used for; only keys that this takes have to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Uses {
    /// Messages of both directions.
    Both,
    /// Messages that come in.
    Verify,
    /// Messages that go out.
    Secure,
}

/// The way of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the initiator to the recipient.
    Request,
    /// From the recipient to the initiator.
    Response,
}

impl Side {
    /// What way the messages have that this side receives.
    pub fn arriving(self) -> Direction {
        match self {
            Side::Initiator => Direction::Response,
            Side::Recipient => Direction::Request,
        }
    }

    /// What way the messages have that this side sends.
    pub fn departing(self) -> Direction {
        match self {
            Side::Initiator => Direction::Request,
            Side::Recipient => Direction::Response,
        }
    }
}

impl Uses {
    fn verifies(self) -> bool {
        self != Uses::Secure
    }

    fn secures(self) -> bool {
        self != Uses::Verify
    }
}

/// The keys of one side.
pub struct Keys {
    /// Signs.
    pub signature: Option<Arc<Identity>>,
    /// Decrypt; found by the reference in the message.
    pub decryption: Vec<Arc<Identity>>,
    /// For whom messages are encrypted; none where it is the request's signer.
    pub encryption: Option<Arc<Certificate>>,
    /// Whom to believe, and where certificates are looked up that a message only refers to.
    pub trust: Arc<Trust>,
    /// Whose passwords are known.
    pub users: Arc<dyn Users>,
}

/// Users and their passwords: what WSS4J asks a password callback for.
pub trait Users: Send + Sync {
    /// The password of a user.
    fn password(&self, user: &str) -> Option<Secret>;

    /// Whether the user has the role; asked where a policy says which roles may (WSO2's `allowedroles`).
    fn has_role(&self, user: &str, role: &str) -> bool;
}

/// No users at all.
pub struct NoUsers;

impl Users for NoUsers {
    fn password(&self, _: &str) -> Option<Secret> {
        None
    }

    fn has_role(&self, _: &str, _: &str) -> bool {
        false
    }
}

/// Where a policy's key stores and passwords are; nothing here opens a file itself.
pub trait KeyFiles {
    /// The content of a file, by the path that the policy says.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;

    /// The password behind a text of the policy, which is the password itself or a reference to it.
    fn secret(&self, text: &str) -> Result<Secret, String>;

    /// The password of a private key, by its alias, where the policy names none; it opens no key else, and is no user's.
    fn key_password(&self, alias: &str) -> Option<Secret>;

    /// The key store of the server itself, which WSO2's `ServerCrypto` names by its file only.
    fn server_store(&self, name: &str) -> Option<Crypto>;
}

/// What holds whatever the policy says.
#[derive(Clone)]
pub struct Settings {
    /// Bounds.
    pub limits: Limits,
    /// The least size of RSA keys, in bits.
    pub rsa_bits_min: usize,
    /// Whose passwords are known.
    pub users: Arc<dyn Users>,
    /// The assertion that the initiator shows where the policy asks for one, as XML.
    pub assertion: Option<String>,
    /// The names under which assertions may be made for this receiver.
    pub audiences: Vec<String>,
    /// Whether suites that are named for SHA-256 take signatures over SHA-1, as the letter of the standard has it.
    pub sha1_signatures: bool,
}

impl Settings {
    /// The defaults, with these users.
    pub fn new(users: Arc<dyn Users>) -> Settings {
        Settings {
            limits: Limits::default(),
            rsa_bits_min: 2048,
            users,
            assertion: None,
            audiences: Vec::new(),
            sha1_signatures: false,
        }
    }
}

/// What is known of a message that comes in, beside itself.
pub struct Arrival<'a> {
    /// The time.
    pub now: SystemTime,
    /// Whether it came through TLS.
    pub tls: bool,
    /// Whether the client showed a certificate in TLS, and it was accepted.
    pub client_certificate: bool,
    /// What was here before.
    pub replays: &'a Replays,
    /// On the initiator's side: what was said in the request that this answers.
    pub conversation: Option<&'a Conversation>,
    /// The limits of the message's XML, which decrypted content has to keep too.
    pub xml: &'a myelin_xml::Options,
}

/// What is known of a message that goes out, beside itself.
pub struct Departure<'a> {
    /// The time.
    pub now: SystemTime,
    /// On the recipient's side: what was said in the request that this answers.
    pub conversation: Option<&'a Conversation>,
}

/// A message that was accepted.
pub struct Verified {
    /// Decrypted, and without our `Security` header.
    pub document: Document,
    /// What is protected, and by whom.
    pub findings: Findings,
    /// What the response needs to know.
    pub conversation: Conversation,
}

/// A message that was secured.
pub struct Secured {
    /// The envelope, in UTF-8.
    pub bytes: Vec<u8>,
    /// What the response needs to know.
    pub conversation: Conversation,
}

/// What was said in a request that matters for its response.
#[derive(Clone, Default)]
pub struct Conversation {
    /// The values of the request's signatures, in its order; the response confirms them.
    pub(crate) signature_values: Vec<Vec<u8>>,
    /// Who signed the request; the response is encrypted for it (`useReqSigCert`).
    pub(crate) signer: Option<Arc<Certificate>>,
    /// The keys that the request carried, which the response uses by reference (symmetric binding).
    pub(crate) shared_keys: Vec<SharedKey>,
}

/// A key that both sides know since the request.
#[derive(Clone)]
pub(crate) struct SharedKey {
    /// The SHA-1 of the encrypted key's cipher value, which responses refer to it by.
    pub(crate) sha1: [u8; 20],
    /// The key.
    pub(crate) key: Arc<Secret>,
}

impl Guard {
    /// A guard with the keys that the policy's Rampart configuration names.
    ///
    /// The second of the pair are warnings.
    /// Errors: all that is missing, too weak or cannot be honoured: the configuration's.
    pub fn load(
        policy: Policy,
        side: Side,
        uses: Uses,
        files: &dyn KeyFiles,
        settings: &Settings,
    ) -> Result<(Guard, Vec<Problem>), Vec<Problem>> {
        let (keys, mut warnings) = load::keys(&policy, &Needs::of(&policy, side, uses), files, settings)?;
        let (guard, more) = Guard::new(policy, side, uses, keys, settings.clone())?;
        warnings.extend(more);
        Ok((guard, warnings))
    }

    /// A guard with keys that are given.
    ///
    /// The second of the pair are warnings.
    /// Errors: all that is missing, too weak or cannot be honoured: the configuration's.
    pub fn new(
        policy: Policy,
        side: Side,
        uses: Uses,
        mut keys: Keys,
        settings: Settings,
    ) -> Result<(Guard, Vec<Problem>), Vec<Problem>> {
        let mut found = check::Found::default();
        check::leave_out_small_keys(&mut keys.decryption, settings.rsa_bits_min, &mut found);
        let guard = Guard { policy, side, keys, settings, certificates: Certificates::default() };
        check::check(&guard, uses, &mut found);
        if found.errors.is_empty() { Ok((guard, found.warnings)) } else { Err(found.errors) }
    }

    /// Those of its own certificates that are not valid at a time: worth a warning when a configuration is loaded.
    pub fn not_valid_at(&self, time: SystemTime) -> Vec<Problem> {
        let Keys { signature, decryption, encryption, .. } = &self.keys;
        let own = signature.iter().chain(decryption).map(|identity| identity.certificate());
        let mut certificates: Vec<&Arc<Certificate>> = own.chain(encryption).collect();
        certificates.dedup_by(|one, other| one.der() == other.der());
        certificates.into_iter().filter_map(|certificate| certificate.invalid_at(time)).map(Problem::general).collect()
    }

    /// Verifies and decrypts a message that came in.
    ///
    /// Errors: [`Refusal`]: the sender's; only its fault code is for the sender's eyes.
    pub fn verify(&self, document: Document, arrival: &Arrival<'_>) -> Result<Verified, Refusal> {
        let verified = incoming::verify(self, document, arrival)?;
        self.authorize(&verified.findings)?;
        Ok(verified)
    }

    /// Signs and encrypts a message that goes out.
    ///
    /// Errors: [`Error`]: ours.
    pub fn secure(&self, document: Document, departure: &Departure<'_>) -> Result<Secured, Error> {
        outgoing::secure(self, document, departure)
    }

    /// What way the messages have that this side receives.
    pub fn arriving(&self) -> Direction {
        self.side.arriving()
    }

    /// What way the messages have that this side sends.
    pub fn departing(&self) -> Direction {
        self.side.departing()
    }

    /// Checks that the user of a request has a role that may, where the policy says which.
    fn authorize(&self, findings: &Findings) -> Result<(), Refusal> {
        let alternative = self.policy.alternatives.get(findings.alternative);
        let roles = alternative.map_or(&[][..], |alternative| &alternative.rampart.allowed_roles);
        if roles.is_empty() || self.side == Side::Initiator {
            return Ok(());
        }
        let Some(user) = findings.user.as_ref().filter(|user| user.authenticated) else {
            return Err(Refusal::new(Rule::NotAuthorized, "the message says no user whose password is right"));
        };
        if roles.iter().any(|role| self.keys.users.has_role(&user.name, role)) {
            return Ok(());
        }
        Err(Refusal::new(Rule::NotAuthorized, format!("{:?} has none of the roles {}", user.name, roles.join(", "))))
    }
}
