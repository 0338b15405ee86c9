//! Guards of policies with the keys of WSS4J's side.

use std::sync::Arc;
use std::time::SystemTime;

use myelin_testkit::wss4j::Wss4j;
use myelin_wss::binary;
use myelin_wss::crypto::Secret;
use myelin_wss::guard::{Conversation, Departure, Guard, Keys, Secured, Settings, Side, Users, Uses};
use myelin_wss::keys::{Certificate, Identity, KeyKind, PrivateKey, Trust, TrustLimits};
use myelin_wss::policy::Policy;
use myelin_xml::{Document, Options};

/// Everybody's password is the one that WSS4J's side takes by default.
struct Secrets;

impl Users for Secrets {
    fn password(&self, _: &str) -> Option<Secret> {
        Some(Secret::from("secret"))
    }

    fn has_role(&self, _: &str, _: &str) -> bool {
        false
    }
}

/// The blocks of that label in a PEM file among the keys, in DER.
fn pem(wss4j: &Wss4j, file: &str, label: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(wss4j.keys().join(file)).expect("the program made the file");
    let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
    let blocks = text.split(&begin).skip(1).map(|rest| rest.split(&end).next().expect("a first piece"));
    blocks.map(|block| binary::decode_text(block, 1 << 16).expect("base64")).collect()
}

/// The certificates of somebody, beginning with the own one.
pub(crate) fn chain(wss4j: &Wss4j, name: &str) -> Vec<Arc<Certificate>> {
    let blocks = pem(wss4j, &format!("{name}.pem"), "CERTIFICATE");
    blocks.iter().map(|der| Arc::new(Certificate::from_der(der).expect("a certificate"))).collect()
}

fn identity(wss4j: &Wss4j, name: &str) -> Arc<Identity> {
    let der = pem(wss4j, &format!("{name}.key.pem"), "PRIVATE KEY").remove(0);
    let key = PrivateKey::from_der(&der).expect("a private key");
    Arc::new(Identity { alias: name.to_owned(), key, chain: chain(wss4j, name) })
}

/// A guard of one side: `signer` signs, and messages are encrypted for `receiver`, or for the request's signer.
pub(crate) fn guard(
    wss4j: &Wss4j,
    policy: &str,
    side: Side,
    (signer, receiver): (&str, Option<&str>),
    assertion: Option<String>,
) -> Guard {
    let (policy, _) = Policy::parse(policy.as_bytes()).unwrap_or_else(|problems| panic!("{problems:?}\n{policy}"));
    let signer = identity(wss4j, signer);
    let is_rsa = signer.key.public().kind() == KeyKind::Rsa;
    let limits = TrustLimits { rsa_bits_min: 1024, ..TrustLimits::default() };
    let keys = Keys {
        signature: Some(Arc::clone(&signer)),
        decryption: vec![signer],
        encryption: receiver.map(|name| chain(wss4j, name).remove(0)),
        trust: Arc::new(Trust::new(chain(wss4j, "ca"), Vec::new(), limits)),
        users: Arc::new(Secrets),
    };
    let settings = Settings { rsa_bits_min: 1024, assertion, ..Settings::new(Arc::new(Secrets)) };
    // A key on a curve signs, and nothing that comes back could be encrypted for it.
    let uses = if is_rsa { Uses::Both } else { Uses::Secure };
    let (guard, _) = Guard::new(policy, side, uses, keys, settings).unwrap_or_else(|problems| panic!("{problems:?}"));
    guard
}

pub(crate) fn secure(guard: &Guard, message: &str, conversation: Option<&Conversation>) -> Secured {
    let document = Document::parse(message.as_bytes().to_vec(), &Options::default()).expect("a message");
    let departure = Departure { now: SystemTime::now(), conversation };
    guard.secure(document, &departure).unwrap_or_else(|error| panic!("{error}"))
}

/// A policy of these assertions; `<p>` stands for a nested policy.
pub(crate) fn policy(content: &str) -> String {
    let content = content.replace("<p>", "<wsp:Policy>").replace("</p>", "</wsp:Policy>");
    format!(
        r#"<wsp:Policy xmlns:wsp="http://schemas.xmlsoap.org/ws/2004/09/policy"
            xmlns:sp="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702" xmlns:cxf="http://cxf.apache.org/custom/security-policy"
            xmlns:wsu="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"
            xmlns:ramp="http://ws.apache.org/rampart/policy" xmlns:t="urn:t">{content}</wsp:Policy>"#
    )
}

/// How often, where and by what a token is shown.
pub(crate) fn x509(inclusion: &str, more: &str) -> String {
    let uri = format!("http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702/IncludeToken/{inclusion}");
    format!(r#"<sp:X509Token sp:IncludeToken="{uri}"><p>{more}<sp:WssX509V3Token10/></p></sp:X509Token>"#)
}

/// An asymmetric binding with a timestamp.
pub(crate) fn asymmetric(suite: &str, initiator: &str, recipient: &str, more: &str) -> String {
    format!(
        "<sp:AsymmetricBinding><p>
            <sp:InitiatorToken><p>{initiator}</p></sp:InitiatorToken>
            <sp:RecipientToken><p>{recipient}</p></sp:RecipientToken>
            <sp:AlgorithmSuite><p>{suite}</p></sp:AlgorithmSuite><sp:IncludeTimestamp/>{more}
        </p></sp:AsymmetricBinding>"
    )
}

/// A symmetric binding with a timestamp.
pub(crate) fn symmetric(suite: &str, token: &str, more: &str) -> String {
    format!(
        "<sp:SymmetricBinding><p><sp:ProtectionToken><p>{token}</p></sp:ProtectionToken>
            <sp:AlgorithmSuite><p>{suite}</p></sp:AlgorithmSuite><sp:IncludeTimestamp/>{more}</p></sp:SymmetricBinding>"
    )
}

/// The body and every block of the namespace `urn:t` signed, the body encrypted.
pub(crate) const PARTS: &str = r#"<sp:SignedParts><sp:Body/><sp:Header Namespace="urn:t"/></sp:SignedParts>
    <sp:EncryptedParts><sp:Body/></sp:EncryptedParts>"#;

/// A message with two header blocks, in SOAP 1.1.
pub(crate) const MESSAGE: &str = r#"<?xml version="1.0"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <soapenv:Header><t:to xmlns:t="urn:t">you &amp; me</t:to><o:other xmlns:o="urn:o" soapenv:mustUnderstand="0">x</o:other></soapenv:Header>
  <soapenv:Body><m:order xmlns:m="urn:m" xsi:type="m:kind"><m:item price="1&lt;2">Wörter</m:item><!-- no --><![CDATA[<&>]]></m:order><m:second xmlns:m="urn:m"/></soapenv:Body>
</soapenv:Envelope>"#;
