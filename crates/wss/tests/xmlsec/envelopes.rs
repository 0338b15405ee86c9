//! Signatures of secured envelopes: xmlsec1 knows nothing of WS-Security, but ids it can be told.

use std::sync::Arc;
use std::time::SystemTime;

use myelin_wss::guard::{Departure, Guard, Keys, NoUsers, Settings, Side, Uses};
use myelin_wss::keys::{Certificate, Curve, Identity, KeyKind, PrivateKey, Trust, TrustLimits};
use myelin_wss::policy::Policy;

use crate::{Pair, Peer, read, text};

/// A client that signs the body and all headers, with the key of `pair`.
fn guard(pair: &Pair, canonical: &str) -> Guard {
    let token = "<wsp:Policy><sp:X509Token><wsp:Policy><sp:WssX509V3Token10/></wsp:Policy></sp:X509Token></wsp:Policy>";
    let policy = format!(
        r#"<wsp:Policy xmlns:wsp="http://schemas.xmlsoap.org/ws/2004/09/policy"
            xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702"><sp:AsymmetricBinding><wsp:Policy>
            <sp:InitiatorToken>{token}</sp:InitiatorToken><sp:RecipientToken>{token}</sp:RecipientToken>
            <sp:AlgorithmSuite><wsp:Policy><sp:Basic128Sha256/>{canonical}</wsp:Policy></sp:AlgorithmSuite>
            <sp:IncludeTimestamp/></wsp:Policy></sp:AsymmetricBinding><sp:SignedParts/></wsp:Policy>"#
    );
    let (policy, _) = Policy::parse(policy.as_bytes()).expect("a policy");
    let private = std::fs::read_to_string(&pair.private).expect("it was just written");
    let pem = rcgen::KeyPair::from_pem(&private).expect("a key");
    let certificate =
        rcgen::CertificateParams::new(Vec::new()).expect("parameters").self_signed(&pem).expect("a certificate");
    let certificate = Arc::new(Certificate::from_der(certificate.der()).expect("a certificate"));
    let key = PrivateKey::from_der(&pem.serialize_der()).expect("a key");
    let own = Arc::new(Identity { alias: "own".to_owned(), key, chain: vec![Arc::clone(&certificate)] });
    let trust = Arc::new(Trust::new(vec![certificate], Vec::new(), TrustLimits::default()));
    let keys = Keys {
        signature: Some(Arc::clone(&own)),
        decryption: vec![own],
        encryption: None,
        trust,
        users: Arc::new(NoUsers),
    };
    let settings = Settings::new(Arc::new(NoUsers));
    Guard::new(policy, Side::Initiator, Uses::Secure, keys, settings).expect("a guard").0
}

const MESSAGE: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:unused='urn:u' xml:lang='de'>\
    <s:Header><t:to xmlns:t='urn:t'>you &amp; me</t:to></s:Header>\
    <s:Body><order xmlns='urn:m' a='&#9;&lt;'>W\u{f6}rter<!-- gone --><![CDATA[<]]></order></s:Body></s:Envelope>";

#[test]
fn signatures_of_envelopes_are_verified() {
    let Some(peer) = Peer::new() else { return };
    let ids = [
        "http://schemas.xmlsoap.org/soap/envelope/:Body",
        "urn:t:to",
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd:Timestamp",
    ];
    for kind in [KeyKind::Rsa, KeyKind::Ec(Curve::P256)] {
        let pair = Pair::new(&peer, kind);
        for canonical in ["", "<sp:InclusiveC14N/>", "<sp:InclusiveC14N11/>"] {
            let departure = Departure { now: SystemTime::now(), conversation: None };
            let secured = guard(&pair, canonical).secure(read(MESSAGE.as_bytes()), &departure).expect("it is secured");
            let mut arguments = vec!["--verify", "--pubkey-pem", text(&pair.public)];
            arguments.extend(ids.iter().flat_map(|id| ["--id-attr:Id", id]));
            peer.run(&arguments, &secured.bytes).unwrap_or_else(|error| panic!("{kind:?} {canonical}: {error}"));
            let changed = String::from_utf8(secured.bytes).expect("UTF-8").replace("you &amp;", "you &lt;");
            peer.run(&arguments, changed.as_bytes()).expect_err("something else was signed");
        }
    }
}
