//! A guard: a policy with its keys, for one side of the conversation, compiled once and shared by all threads.

mod check;
mod load;
mod making;
mod message;
mod needs;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::SystemTime;

use crate::crypto::Secret;
use crate::keys::{Certificate, Certificates, Identity, Trust};
use crate::policy::{Crypto, Policy};
pub use crate::side::{Direction, Side, Uses};
use crate::{Limits, Problem};
pub(crate) use message::SharedKey;
pub use message::{Arrival, Conversation, Departure, Secured, Verified};

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

impl Guard {
    /// Those of its own certificates that are not valid at a time: worth a warning when a configuration is loaded.
    pub fn not_valid_at(&self, time: SystemTime) -> Vec<Problem> {
        let Keys { signature, decryption, encryption, .. } = &self.keys;
        let own = signature.iter().chain(decryption).map(|identity| identity.certificate());
        let mut certificates: Vec<&Arc<Certificate>> = own.chain(encryption).collect();
        certificates.dedup_by(|one, other| one.der() == other.der());
        let invalid = certificates.into_iter().filter_map(|certificate| certificate.invalid_at(time));
        invalid.map(|message| Problem::general(message).at(self.policy.rampart_place())).collect()
    }

    /// What way the messages have that this side receives.
    pub fn arriving(&self) -> Direction {
        self.side.arriving()
    }

    /// What way the messages have that this side sends.
    pub fn departing(&self) -> Direction {
        self.side.departing()
    }
}
