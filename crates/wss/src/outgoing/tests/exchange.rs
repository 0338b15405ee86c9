//! Whole exchanges with ourselves: what one side makes, the other accepts under the same policy, in both directions.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use myelin_xml::{Document, Options, WriteOptions, write};
use rcgen::{KeyPair, RsaKeySize};

use super::{Alice, SOAP, read};
use crate::Replays;
use crate::guard::{Arrival, Departure, Verified};
use crate::guard::{Guard, Keys, Settings};
use crate::keys::testing::{identity, now, parameters};
use crate::keys::{Certificate, Curve, Identity, KeyKind, PrivateKey, Trust, TrustLimits};
use crate::policy::Policy;
use crate::side::{Side, Uses};

/// The assertions of a policy in its XML; `<p>` stands for a nested policy.
fn written(content: &str) -> String {
    let content = content.replace("<p>", "<wsp:Policy>").replace("</p>", "</wsp:Policy>");
    format!(
        r#"<wsp:Policy xmlns:wsp="http://schemas.xmlsoap.org/ws/2004/09/policy" xmlns:ramp="http://ws.apache.org/rampart/policy"
            xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702">{content}</wsp:Policy>"#
    )
}

fn token(inclusion: &str, more: &str) -> String {
    let uri = format!("http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702/IncludeToken/{inclusion}");
    format!(r#"<p><sp:X509Token sp:IncludeToken="{uri}"><p>{more}<sp:WssX509V3Token10/></p></sp:X509Token></p>"#)
}

/// A side of a conversation between alice and bob, who know each other's certificates.
fn guard(policy: &str, side: Side, own: &Arc<Identity>, peer: &Arc<Identity>) -> Guard {
    let (policy, _) = Policy::parse(policy.as_bytes()).unwrap_or_else(|problems| panic!("{problems:?}"));
    let anchors = [own, peer].map(|identity| Arc::clone(identity.certificate())).to_vec();
    let encrypts = peer.certificate().public_key().kind() == KeyKind::Rsa;
    let keys = Keys {
        signature: Some(Arc::clone(own)),
        decryption: vec![Arc::clone(own)],
        encryption: encrypts.then(|| Arc::clone(peer.certificate())),
        trust: Arc::new(Trust::new(anchors, Vec::new(), TrustLimits::default())),
        users: Arc::new(Alice),
    };
    let settings = Settings::new(Arc::new(Alice));
    let made = Guard::new(policy, side, Uses::Both, keys, settings);
    made.unwrap_or_else(|problems| panic!("{problems:?}")).0
}

const MESSAGE: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header><t:to xmlns:t='urn:t'>you \
    &amp; me</t:to></s:Header><s:Body><m:order xmlns:m='urn:m'><m:item a='1'>W\u{f6}rter</m:item> <?p i?></m:order></s:Body></s:Envelope>";

/// The canonical content of header and body, without what signing left there.
fn content(document: &Document) -> String {
    let mut out = Vec::new();
    for local in ["to", "order"] {
        let all = document.descendants(document.document_node());
        let found: Vec<_> = all.filter(|&node| document.qname(node).local == local).collect();
        let [node] = found[..] else { panic!("one {local}") };
        let mut alone = Document::new();
        let copy = alone.import(document, node).expect("it can be copied");
        alone.remove_attribute(copy, crate::vocabulary::WSU, "Id");
        write(&alone, copy, &WriteOptions::default(), &mut out);
    }
    String::from_utf8(out).expect("UTF-8").replace(&format!(" xmlns:wsu=\"{}\"", crate::vocabulary::WSU), "")
}

/// Somebody with an own key of RSA, which [`identity`] gives to everybody.
fn other() -> Arc<Identity> {
    static OTHER: OnceLock<Arc<Identity>> = OnceLock::new();
    let made = OTHER.get_or_init(|| {
        let key = KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, RsaKeySize::_2048).expect("a key");
        let certificate = parameters("bob").self_signed(&key).expect("a certificate");
        let certificate = Certificate::from_der(certificate.der()).expect("a certificate");
        let key = PrivateKey::from_der(&key.serialize_der()).expect("a key");
        Arc::new(Identity { alias: "bob".to_owned(), key, chain: vec![Arc::new(certificate)] })
    });
    Arc::clone(made)
}

/// Lets alice ask and bob answer; what each found in the other's message.
fn exchange(policy: &str, kind: KeyKind) -> [Verified; 2] {
    let policy = written(policy);
    let bob = if kind == KeyKind::Rsa { other() } else { identity("bob", kind) };
    let alice = identity("alice", kind);
    let client = guard(&policy, Side::Initiator, &alice, &bob);
    let server = guard(&policy, Side::Recipient, &bob, &alice);
    let replays = Replays::in_memory(100, now() - Duration::from_secs(600));
    let xml = Options::default();
    let arrival =
        Arrival { now: now(), tls: false, client_certificate: false, replays: &replays, conversation: None, xml: &xml };
    let accept = |guard: &Guard, bytes: &[u8], arrival: &Arrival<'_>| {
        let document = Document::parse(bytes.to_vec(), &xml).expect("well-formed");
        let verified = guard.verify(document, arrival);
        let verified =
            verified.unwrap_or_else(|refusal| panic!("{refusal}\n{policy}\n{}", String::from_utf8_lossy(bytes)));
        assert_eq!(content(&verified.document), content(&read(MESSAGE)), "{}", String::from_utf8_lossy(bytes));
        verified
    };
    let failed = |error| panic!("{error}\n{policy}");
    let departure = Departure { now: now(), conversation: None };
    let request = client.secure(read(MESSAGE), &departure).unwrap_or_else(failed);
    let accepted = accept(&server, &request.bytes, &arrival);
    let departure = Departure { now: now(), conversation: Some(&accepted.conversation) };
    let response = server.secure(read(MESSAGE), &departure).unwrap_or_else(failed);
    let arrival = Arrival { conversation: Some(&request.conversation), ..arrival };
    let answered = accept(&client, &response.bytes, &arrival);
    [accepted, answered]
}

const PARTS: &str = "<sp:SignedParts><sp:Body/><sp:Header Namespace='urn:t'/></sp:SignedParts>\
    <sp:EncryptedParts><sp:Body/><sp:Header Namespace='urn:t'/></sp:EncryptedParts>";
const WSS11: &str = "<sp:Wss11><p><sp:RequireSignatureConfirmation/></p></sp:Wss11>";

fn asymmetric(suite: &str, (initiator, recipient): (&str, &str), more: &str) -> String {
    format!(
        "<sp:AsymmetricBinding><p><sp:InitiatorToken>{initiator}</sp:InitiatorToken><sp:RecipientToken>{recipient}\
         </sp:RecipientToken><sp:AlgorithmSuite><p>{suite}</p></sp:AlgorithmSuite><sp:IncludeTimestamp/>{more}</p></sp:AsymmetricBinding>"
    )
}

fn symmetric(suite: &str, token: &str, more: &str) -> String {
    format!(
        "<sp:SymmetricBinding><p><sp:ProtectionToken>{token}</sp:ProtectionToken><sp:AlgorithmSuite><p>{suite}</p>\
         </sp:AlgorithmSuite><sp:IncludeTimestamp/>{more}</p></sp:SymmetricBinding>"
    )
}

const ORDERS: [&str; 4] =
    ["", "<sp:EncryptBeforeSigning/>", "<sp:EncryptSignature/>", "<sp:EncryptBeforeSigning/><sp:EncryptSignature/>"];

#[test]
fn every_layout_and_order_of_protection_goes_both_ways() {
    let tokens = (token("AlwaysToRecipient", ""), token("AlwaysToInitiator", ""));
    for layout in ["Strict", "Lax", "LaxTsFirst", "LaxTsLast"] {
        for order in ORDERS {
            let more = format!("<sp:Layout><p><sp:{layout}/></p></sp:Layout>{order}");
            let binding = asymmetric("<sp:Basic128GCMSha256/>", (&tokens.0, &tokens.1), &more);
            for wss in ["", WSS11] {
                let [request, response] = exchange(&format!("{binding}{PARTS}{wss}"), KeyKind::Rsa);
                assert_eq!(
                    (request.findings.encrypted.len(), response.findings.encrypted.len() >= 2),
                    (2 + usize::from(order.contains("EncryptSignature")), true),
                    "{more}"
                );
            }
        }
    }
}

#[test]
fn every_reference_goes_both_ways_with_and_without_its_token_covered() {
    for reference in ["", "KeyIdentifier", "IssuerSerial", "Thumbprint", "EmbeddedToken"] {
        for inclusion in ["Never", "Always"] {
            if inclusion == "Never" && reference == "EmbeddedToken" {
                continue;
            }
            let required =
                if reference.is_empty() { String::new() } else { format!("<sp:Require{reference}Reference/>") };
            let token = token(inclusion, &required);
            for suite in ["", "<sp:STRTransform10/>"] {
                for more in ["", "<sp:ProtectTokens/>"] {
                    let suite = format!("<sp:Basic128GCMSha256/>{suite}");
                    exchange(&format!("{}{PARTS}", asymmetric(&suite, (&token, &token), more)), KeyKind::Rsa);
                }
            }
        }
    }
}

#[test]
fn symmetric_bindings_go_both_ways_with_one_key() {
    for more in ORDERS.into_iter().chain(["<sp:ProtectTokens/>"]) {
        for derived in ["", "<sp:RequireDerivedKeys/>"] {
            for suite in
                ["<sp:Basic128GCMSha256/>", "<sp:Basic256Sha256/>", "<sp:Basic128GCMSha256/><sp:InclusiveC14N/>"]
            {
                let binding = symmetric(suite, &token("Never", derived), more);
                exchange(&format!("{binding}{PARTS}{WSS11}"), KeyKind::Rsa);
            }
        }
    }
}

#[test]
fn canonical_forms_of_the_place_go_both_ways() {
    let tokens = (token("AlwaysToRecipient", ""), token("AlwaysToInitiator", ""));
    for method in ["InclusiveC14N", "InclusiveC14N11"] {
        for order in ORDERS {
            let suite = format!("<sp:Basic256Sha256/><sp:{method}/>");
            exchange(&format!("{}{PARTS}", asymmetric(&suite, (&tokens.0, &tokens.1), order)), KeyKind::Rsa);
        }
    }
}

#[test]
fn keys_on_curves_sign_both_ways() {
    let always = token("Always", "");
    let signed = "<sp:SignedParts><sp:Body/><sp:Header Namespace='urn:t'/></sp:SignedParts>";
    for curve in [Curve::P256, Curve::P384, Curve::P521] {
        let policy = asymmetric("<sp:Basic128GCMSha256/>", (&always, &always), "<sp:ProtectTokens/>");
        exchange(&format!("{policy}{signed}"), KeyKind::Ec(curve));
    }
}

#[test]
fn supporting_tokens_go_with_the_request() {
    let inclusion = "http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702/IncludeToken/AlwaysToRecipient";
    let user = |password: &str| {
        format!("<p><sp:UsernameToken sp:IncludeToken='{inclusion}'><p>{password}</p></sp:UsernameToken></p>")
    };
    let rampart = "<ramp:RampartConfig><ramp:user>alice</ramp:user></ramp:RampartConfig>";
    let tokens = (token("AlwaysToRecipient", ""), token("AlwaysToInitiator", ""));
    for order in ORDERS {
        let binding = asymmetric("<sp:Basic128GCMSha256/>", (&tokens.0, &tokens.1), order);
        for kind in [
            "SupportingTokens",
            "SignedSupportingTokens",
            "EncryptedSupportingTokens",
            "SignedEncryptedSupportingTokens",
        ] {
            for password in ["", "<sp:HashPassword/>"] {
                let supporting = format!("<sp:{kind}>{}</sp:{kind}>", user(password));
                let [request, response] = exchange(&format!("{binding}{PARTS}{supporting}{rampart}"), KeyKind::Rsa);
                assert!(request.findings.user.is_some_and(|user| user.name == "alice" && user.authenticated));
                assert!(response.findings.user.is_none());
            }
        }
        for kind in ["EndorsingSupportingTokens", "SignedEndorsingSupportingTokens"] {
            let endorsing = format!("<sp:{kind}>{}</sp:{kind}>", token("AlwaysToRecipient", ""));
            let symmetric = symmetric("<sp:Basic128GCMSha256/>", &token("Never", ""), order);
            for binding in [&binding, &symmetric] {
                let [request, _] = exchange(&format!("{binding}{PARTS}{endorsing}{WSS11}"), KeyKind::Rsa);
                assert_eq!(request.findings.endorsers.len(), 1, "{binding}");
            }
        }
    }
}

#[test]
fn a_response_is_encrypted_for_whoever_signed_the_request() {
    let tokens = (token("AlwaysToRecipient", ""), token("AlwaysToInitiator", ""));
    let binding = asymmetric("<sp:Basic128GCMSha256/>", (&tokens.0, &tokens.1), "");
    let policy = written(&format!("{binding}{PARTS}"));
    let (alice, bob) = (identity("alice", KeyKind::Rsa), identity("bob", KeyKind::Rsa));
    let mut server = guard(&policy, Side::Recipient, &bob, &alice);
    server.keys.encryption = None;
    let message = read(&format!("<s:Envelope xmlns:s='{SOAP}'><s:Body/></s:Envelope>"));
    let departure = Departure { now: now(), conversation: None };
    assert!(server.secure(message.clone(), &departure).is_err());
    let client = guard(&policy, Side::Initiator, &alice, &bob);
    let request = client.secure(message.clone(), &departure).expect("it is secured");
    let departure = Departure { now: now(), conversation: Some(&request.conversation) };
    let response = server.secure(message, &departure).expect("it is secured");
    let xml = Options::default();
    let replays = Replays::in_memory(100, now() - Duration::from_secs(600));
    let conversation = Some(&request.conversation);
    let arrival =
        Arrival { now: now(), tls: false, client_certificate: false, replays: &replays, conversation, xml: &xml };
    let document = Document::parse(response.bytes, &xml).expect("well-formed");
    client.verify(document, &arrival).unwrap_or_else(|refusal| panic!("{refusal}"));
}
