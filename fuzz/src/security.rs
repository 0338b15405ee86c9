//! Secured messages, and what can be done to them.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use myelin_wss::guard::{Arrival, Departure, Keys, NoUsers, Settings, Side, Uses};
use myelin_wss::keys::{Certificate, Identity, PrivateKey, Trust, TrustLimits};
use myelin_wss::policy::Policy;
use myelin_wss::{Guard, Replays};
use myelin_xml::{Document, Kind, Options};
use rcgen::{CertificateParams, KeyPair, PKCS_RSA_SHA256, RsaKeySize};

const ENVELOPE: &str = r#"<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Header><h:Order xmlns:h="urn:h">4711</h:Order></e:Header><e:Body><o:symbol xmlns:o="urn:o">IBM</o:symbol></e:Body></e:Envelope>"#;

/// Signed; signed and encrypted; the same with a chained cipher and an encrypted signature; with one key for both.
const BINDINGS: [(&str, &str); 4] = [
    ("Asymmetric", "<sp:AlgorithmSuite><p><sp:Basic128GCMSha256/></p></sp:AlgorithmSuite>"),
    ("Asymmetric", "<sp:AlgorithmSuite><p><sp:Basic128GCMSha256/></p></sp:AlgorithmSuite><sp:ProtectTokens/>"),
    ("Asymmetric", "<sp:AlgorithmSuite><p><sp:Basic128Sha256/></p></sp:AlgorithmSuite><sp:EncryptSignature/>"),
    ("Symmetric", "<sp:AlgorithmSuite><p><sp:Basic128GCMSha256/></p></sp:AlgorithmSuite>"),
];

/// A service, and a message for it by each policy.
pub struct Exchange {
    services: Vec<(Guard, String, Vec<Range<usize>>)>,
    options: Options,
}

impl Exchange {
    /// Makes keys and messages once, and lends them out.
    pub fn with(use_it: impl FnOnce(&Exchange)) {
        thread_local!(static EXCHANGE: Exchange = Exchange::new());
        EXCHANGE.with(use_it);
    }

    fn new() -> Exchange {
        let identity = |name: &str| {
            let key = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).expect("a key");
            let mut parameters = CertificateParams::default();
            parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
            let certificate = parameters.self_signed(&key).expect("a certificate");
            let certificate = Arc::new(Certificate::from_der(certificate.der()).expect("a certificate"));
            let key = PrivateKey::from_der(&key.serialize_der()).expect("a key");
            Arc::new(Identity { alias: name.to_owned(), key, chain: vec![certificate] })
        };
        let (alice, bob) = (identity("alice"), identity("bob"));
        let services = BINDINGS.iter().enumerate().map(|(number, (binding, more))| {
            let policy = policy(binding, more, number > 0);
            let guard = |side, own: &Arc<Identity>, other: &Arc<Identity>| {
                let trusted = [own, other].map(|identity| Arc::clone(identity.certificate()));
                let keys = Keys {
                    signature: Some(Arc::clone(own)),
                    decryption: vec![Arc::clone(own)],
                    encryption: Some(Arc::clone(other.certificate())),
                    trust: Arc::new(Trust::new(trusted.to_vec(), Vec::new(), TrustLimits::default())),
                    users: Arc::new(NoUsers),
                };
                let settings = Settings::new(Arc::new(NoUsers));
                let policy = Policy::parse(policy.as_bytes()).expect("the policy is right").0;
                Guard::new(policy, side, Uses::Both, keys, settings).expect("the keys are right").0
            };
            let client = guard(Side::Initiator, &alice, &bob);
            let document = Document::parse(ENVELOPE.into(), &Options::default()).expect("it is well-formed");
            let secured =
                client.secure(document, &Departure { now: now(), conversation: None }).expect("it is secured");
            let message = String::from_utf8(secured.bytes).expect("it is UTF-8");
            let elements = elements(&message);
            (guard(Side::Recipient, &bob, &alice), message, elements)
        });
        Exchange { services: services.collect(), options: Options::default() }
    }

    /// Changes one of the messages as `data` says, and sees what becomes of it.
    pub fn attack(&self, data: &[u8]) {
        let Some((&choice, edits)) = data.split_first() else { return };
        let (service, message, elements) = &self.services[usize::from(choice) % self.services.len()];
        let changed = edited(message, elements, edits);
        let Ok(document) = Document::parse(changed, &self.options) else { return };
        let replays = Replays::in_memory(100, SystemTime::UNIX_EPOCH);
        let arrival = Arrival {
            now: now(),
            tls: false,
            client_certificate: false,
            replays: &replays,
            conversation: None,
            xml: &self.options,
        };
        let Ok(verified) = service.verify(document, &arrival) else { return };
        let document = &verified.document;
        let envelope = myelin_soap::Envelope::of(document).expect("what is accepted is an envelope");
        let body = envelope.body.expect("with a body");
        assert_eq!(document.string_value(body).trim(), "IBM", "the body says what was signed");
        for block in envelope.header.into_iter().flat_map(|header| document.children(header)) {
            if document.qname(block).local == "Order" && document.qname(block).namespace == "urn:h" {
                assert_eq!(document.string_value(block), "4711", "so does the header block");
            }
        }
        assert!(verified.findings.timestamp.is_some());
    }
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_764_000_000)
}

fn policy(binding: &str, more: &str, encrypts: bool) -> String {
    let token = "<p><sp:X509Token><p><sp:WssX509V3Token10/></p></sp:X509Token></p>";
    let tokens = match binding {
        "Symmetric" => format!("<sp:ProtectionToken>{token}</sp:ProtectionToken>"),
        _ => format!("<sp:InitiatorToken>{token}</sp:InitiatorToken><sp:RecipientToken>{token}</sp:RecipientToken>"),
    };
    let encrypted = if encrypts { "<sp:EncryptedParts><sp:Body/></sp:EncryptedParts>" } else { "" };
    format!(
        r#"<wsp:Policy xmlns:wsp="http://www.w3.org/ns/ws-policy"
            xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702">
            <sp:{binding}Binding><p>{tokens}{more}<sp:IncludeTimestamp/></p></sp:{binding}Binding>
            <sp:SignedParts><sp:Body/><sp:Header Namespace="urn:h"/></sp:SignedParts>{encrypted}
            <sp:Wss11><p/></sp:Wss11></wsp:Policy>"#
    )
    .replace("<p>", "<wsp:Policy>")
    .replace("</p>", "</wsp:Policy>")
    .replace("<p/>", "<wsp:Policy/>")
}

/// Where the elements of a message stand.
fn elements(message: &str) -> Vec<Range<usize>> {
    let document = Document::parse(message.into(), &Options::default()).expect("it is well-formed");
    let all = document.descendants(document.document_node());
    let elements = all.filter(|&node| document.kind(node) == Kind::Element);
    elements.filter_map(|element| document.range(element)).collect()
}

/// The message after some edits, each of four bytes and what they ask for: another element of the message, or bytes, is
/// put before an element, behind its start tag, or in its place; or an element is taken out.
fn edited(message: &str, elements: &[Range<usize>], mut edits: &[u8]) -> Vec<u8> {
    let mut replacements: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
    while let [how, place, what, length, rest @ ..] = edits {
        let length = usize::from(*length).min(rest.len());
        let (bytes, rest) = rest.split_at(length);
        edits = rest;
        let place = elements[usize::from(*place) % elements.len()].clone();
        let what = message[elements[usize::from(*what) % elements.len()].clone()].as_bytes();
        let inside = message[place.clone()].find('>').map_or(place.end, |at| place.start + at + 1);
        let wrapped = [&b"<w>"[..], what, b"</w>"].concat();
        let (range, new) = match how % 8 {
            0 => (place.start..place.start, what.to_vec()),
            1 => (inside..inside, what.to_vec()),
            2 => (place, what.to_vec()),
            3 => (place, Vec::new()),
            4 => (place, wrapped),
            5 => (place.start..place.start, bytes.to_vec()),
            6 => (inside..inside, bytes.to_vec()),
            _ => (place.start..(place.start + length).min(message.len()), bytes.to_vec()),
        };
        replacements.push((range, new));
    }
    replacements.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut changed, mut copied) = (Vec::new(), 0);
    for (range, new) in replacements {
        if range.start < copied {
            continue;
        }
        changed.extend_from_slice(&message.as_bytes()[copied..range.start]);
        changed.extend_from_slice(&new);
        copied = range.end;
    }
    changed.extend_from_slice(&message.as_bytes()[copied..]);
    changed
}
