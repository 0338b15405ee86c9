//! Two sides of a conversation, with keys that are made when the tests run.

use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use myelin_wss::crypto::Secret;
use myelin_wss::guard::{Arrival, Conversation, Departure, Keys, Settings, Side, Users, Uses, Verified};
use myelin_wss::keys::{Certificate, Identity, PrivateKey, Trust, TrustLimits};
use myelin_wss::policy::Policy;
use myelin_wss::{FaultCode, Guard, Limits, Refusal, Replays, Rule};
use myelin_xml::encoding::decode;
use myelin_xml::{Document, Options};
use rcgen::{CertificateParams, DnType, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256, RsaKeySize};

/// When the messages of tests are made.
pub(crate) fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_764_000_000)
}

pub(crate) struct People {
    pub(crate) alice: Arc<Identity>,
    pub(crate) bob: Arc<Identity>,
    /// Whom everybody trusts, and nothing is encrypted for.
    pub(crate) carol: Arc<Identity>,
    /// Whom nobody trusts.
    pub(crate) mallory: Arc<Identity>,
    /// Whom nobody trusts either, and who has alice's name.
    pub(crate) false_alice: Arc<Identity>,
    pub(crate) alice_ec: Arc<Identity>,
}

pub(crate) static PEOPLE: LazyLock<People> = LazyLock::new(|| People {
    alice: identity("alice", &rsa()),
    bob: identity("bob", &rsa()),
    carol: identity("carol", &rsa()),
    mallory: identity("mallory", &rsa()),
    false_alice: identity("alice", &rsa()),
    alice_ec: identity("alice-ec", &KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("a key")),
});

fn rsa() -> KeyPair {
    KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).expect("a key")
}

fn identity(name: &str, key: &KeyPair) -> Arc<Identity> {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name.push(DnType::CommonName, name);
    let certificate = parameters.self_signed(key).expect("a certificate");
    let certificate = Certificate::from_der(certificate.der()).expect("a certificate");
    let key = PrivateKey::from_der(&key.serialize_der()).expect("a key");
    Arc::new(Identity { alias: name.to_owned(), key, chain: vec![Arc::new(certificate)] })
}

struct Passwords;

impl Users for Passwords {
    fn password(&self, user: &str) -> Option<Secret> {
        (user == "carol").then(|| Secret::from(b"wonderland".to_vec()))
    }

    fn has_role(&self, _: &str, _: &str) -> bool {
        false
    }
}

/// A client and a service with the same policy.
pub(crate) struct Peers {
    pub(crate) client: Guard,
    /// The client's guard for responses, where these have a policy of their own: it knows no key that secures.
    pub(crate) client_inbound: Guard,
    pub(crate) service: Guard,
    pub(crate) replays: Replays,
}

impl Peers {
    pub(crate) fn new(policy: &str) -> Peers {
        Peers::with(policy, &PEOPLE.alice, &Limits::default())
    }

    /// A client that signs with this key, and a service with these bounds.
    pub(crate) fn with(policy: &str, signer: &Arc<Identity>, limits: &Limits) -> Peers {
        // Where nothing is encrypted, no key either, nobody says for whom.
        let encrypts = policy.contains("EncryptedParts") || policy.contains("SymmetricBinding");
        let policy = || Policy::parse(policy.as_bytes()).expect("the policy is right").0;
        let People { alice, bob, carol, alice_ec, .. } = &*PEOPLE;
        let trusted = [alice, bob, carol, alice_ec].map(|identity| Arc::clone(identity.certificate()));
        let trust = || Arc::new(Trust::new(trusted.to_vec(), Vec::new(), TrustLimits::default()));
        let settings = || Settings {
            limits: limits.clone(),
            assertion: Some("<Assertion xmlns='urn:oasis:names:tc:SAML:2.0:assertion'/>".to_owned()),
            ..Settings::new(Arc::new(Passwords))
        };
        let keys = |own: &Arc<Identity>, other: Option<&Arc<Identity>>| Keys {
            signature: Some(Arc::clone(own)),
            decryption: vec![Arc::clone(own)],
            encryption: other.filter(|_| encrypts).map(|other| Arc::clone(other.certificate())),
            trust: trust(),
            users: Arc::new(Passwords),
        };
        let client = Guard::new(policy(), Side::Initiator, Uses::Both, keys(signer, Some(bob)), settings());
        let inbound = Keys { signature: None, ..keys(signer, None) };
        let client_inbound = Guard::new(policy(), Side::Initiator, Uses::Verify, inbound, settings());
        let service = Guard::new(policy(), Side::Recipient, Uses::Both, keys(bob, Some(alice)), settings());
        Peers {
            client: client.expect("the client's keys are right").0,
            client_inbound: client_inbound.expect("the client's keys are right").0,
            service: service.expect("the service's keys are right").0,
            replays: Replays::in_memory(10_000, SystemTime::UNIX_EPOCH),
        }
    }

    /// A request as the client sends it.
    pub(crate) fn request(&self, envelope: &str) -> String {
        self.request_with(envelope).0
    }

    pub(crate) fn request_with(&self, envelope: &str) -> (String, Conversation) {
        secure(&self.client, envelope, None)
    }

    pub(crate) fn response(&self, envelope: &str, of: &Conversation) -> String {
        secure(&self.service, envelope, Some(of)).0
    }

    /// A message for alice by somebody who knows no more of her than her certificate.
    pub(crate) fn request_to_alice(policy: &str, envelope: &str) -> String {
        secure(&stranger(policy, Side::Initiator, &PEOPLE.mallory), envelope, None).0
    }

    /// A response that somebody else signs.
    pub(crate) fn response_by(policy: &str, signer: &Arc<Identity>, envelope: &str, of: &Conversation) -> String {
        secure(&stranger(policy, Side::Recipient, signer), envelope, Some(of)).0
    }

    /// What the service makes of a request.
    pub(crate) fn accept(&self, message: impl Into<Vec<u8>>) -> Result<Verified, Refusal> {
        self.accept_at(message, now())
    }

    pub(crate) fn accept_at(&self, message: impl Into<Vec<u8>>, now: SystemTime) -> Result<Verified, Refusal> {
        verify(&self.service, &message.into(), &self.replays, None, now)
    }

    /// What the client makes of a response: the same with one policy for both ways and with one for each.
    pub(crate) fn accept_response(&self, message: &str, of: &Conversation) -> Result<Verified, Refusal> {
        let replays = Replays::in_memory(10, SystemTime::UNIX_EPOCH);
        let apart = verify(&self.client_inbound, message.as_bytes(), &replays, Some(of), now());
        let together = verify(&self.client, message.as_bytes(), &self.replays, Some(of), now());
        assert_eq!(apart.map(drop).err().map(|it| it.rule), together.as_ref().err().map(|it| it.rule));
        together
    }

    /// The rule by which the service refuses a request.
    pub(crate) fn refused(&self, message: impl Into<Vec<u8>>) -> (Rule, FaultCode) {
        match self.accept(message) {
            Ok(verified) => panic!("accepted:\n{}{}", verified.findings.explain(), verified.document.source()),
            Err(refusal) => (refusal.rule, refusal.fault_code()),
        }
    }
}

/// Somebody who signs, and encrypts for alice.
fn stranger(policy: &str, side: Side, signer: &Arc<Identity>) -> Guard {
    let policy = Policy::parse(policy.as_bytes()).expect("the policy is right").0;
    let keys = Keys {
        signature: Some(Arc::clone(signer)),
        decryption: vec![Arc::clone(signer)],
        encryption: Some(Arc::clone(PEOPLE.alice.certificate())),
        trust: Arc::new(Trust::new(Vec::new(), Vec::new(), TrustLimits::default())),
        users: Arc::new(Passwords),
    };
    let settings = Settings::new(Arc::new(Passwords));
    Guard::new(policy, side, Uses::Both, keys, settings).expect("the keys are right").0
}

fn secure(guard: &Guard, envelope: &str, of: Option<&Conversation>) -> (String, Conversation) {
    let document = Document::parse(envelope.as_bytes().to_vec(), &Options::default()).expect("it is well-formed");
    let secured = guard.secure(document, &Departure { now: now(), conversation: of }).expect("it can be secured");
    (String::from_utf8(secured.bytes).expect("it is UTF-8"), secured.conversation)
}

fn verify(
    guard: &Guard,
    message: &[u8],
    replays: &Replays,
    conversation: Option<&Conversation>,
    now: SystemTime,
) -> Result<Verified, Refusal> {
    let (text, declared_encoding) = decode(None, message).expect("it is text");
    let xml = Options { declared_encoding, ..Options::default() };
    let document = Document::parse(text.into_owned(), &xml).expect("it is well-formed");
    let arrival = Arrival { now, tls: false, client_certificate: false, replays, conversation, xml: &xml };
    guard.verify(document, &arrival)
}

/// The text of an element of the body, by its local name.
pub(crate) fn value(verified: &Verified, local: &str) -> String {
    let document = &verified.document;
    let mut all = document.descendants(document.document_node());
    let node = all.find(|&node| document.qname(node).local == local).expect("the element is there");
    document.string_value(node).into_owned()
}

/// The first piece of a message from `begin` to the end of `end`.
pub(crate) fn piece<'a>(message: &'a str, begin: &str, end: &str) -> &'a str {
    let start = message.find(begin).unwrap_or_else(|| panic!("no {begin} in {message}"));
    let inside = start + begin.len();
    let length = message[inside..].find(end).unwrap_or_else(|| panic!("no {end} in {message}"));
    &message[start..inside + length + end.len()]
}

/// What stands between two marks, for the first time.
pub(crate) fn between<'a>(message: &'a str, begin: &str, end: &str) -> &'a str {
    let piece = piece(message, begin, end);
    &piece[begin.len()..piece.len() - end.len()]
}

/// The message with one place changed, which has to be there.
pub(crate) fn changed(message: &str, from: &str, to: &str) -> String {
    assert!(message.contains(from), "no {from} in {message}");
    message.replacen(from, to, 1)
}
