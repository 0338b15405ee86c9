//! Requests with a key pair on each side: algorithms, references, layouts.

use std::time::SystemTime;

use myelin_testkit::wss4j::Wss4j;
use myelin_wss::guard::{Arrival, Conversation, Guard, Side, Verified};
use myelin_wss::{Refusal, Replays};
use myelin_xml::{Document, Options};

use crate::world::{MESSAGE, PARTS, asymmetric, guard, policy, x509};

pub(crate) const ENGINES: [&str; 2] = ["dom", "stax"];
pub(crate) const BASIC: &str = "<sp:Basic128GCMSha256/>";
/// What WSS4J signs and encrypts when it does what the policies of these tests say.
pub(crate) const SIGNED: &str = "{Element}{http://schemas.xmlsoap.org/soap/envelope/}Body;{Element}{urn:t}to;\
     {Element}{http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd}Timestamp";
pub(crate) const ENCRYPTED: &str = "{Content}{http://schemas.xmlsoap.org/soap/envelope/}Body";
pub(crate) const ACTIONS: (&str, &str) = ("action", "Timestamp Signature Encrypt");

/// What WSS4J does for `Basic128GCMSha256`.
pub(crate) const SUITE: [(&str, &str); 6] = [
    ("signatureAlgorithm", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"),
    ("signatureDigestAlgorithm", "http://www.w3.org/2001/04/xmlenc#sha256"),
    ("encryptionSymAlgorithm", "http://www.w3.org/2009/xmlenc11#aes128-gcm"),
    ("encryptionKeyTransportAlgorithm", "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"),
    ("signatureParts", SIGNED),
    ("encryptionParts", ENCRYPTED),
];

/// What was not as it should have been.
#[derive(Default)]
pub(crate) struct Wrong(Vec<String>);

impl Wrong {
    /// Lets WSS4J secure the message, and verifies it; later settings stand for earlier ones of the same name.
    pub(crate) fn check(
        &mut self,
        wss4j: &Wss4j,
        name: &str,
        guard: &Guard,
        settings: &[(&str, &str)],
    ) -> Option<Verified> {
        let mut last: Vec<(&str, &str)> = Vec::new();
        for (setting, value) in settings {
            last.retain(|(known, _)| known != setting);
            last.push((setting, value));
        }
        let made = match wss4j.secure(MESSAGE.as_bytes(), &last) {
            Ok(made) => made.message,
            Err(refusal) => {
                self.0.push(format!("{name}: WSS4J makes no message: {refusal}"));
                return None;
            }
        };
        match verify(guard, &made, None) {
            Ok(verified) => {
                let text = value(&verified, "item");
                if text != "W\u{f6}rter" {
                    self.0.push(format!("{name}: read {text:?}"));
                }
                Some(verified)
            }
            Err(refusal) => {
                self.0.push(format!("{name}: {refusal}\n{}", String::from_utf8_lossy(&made)));
                None
            }
        }
    }
}

impl Drop for Wrong {
    fn drop(&mut self) {
        assert!(self.0.is_empty() || std::thread::panicking(), "{}", self.0.join("\n\n"));
    }
}

pub(crate) fn verify(guard: &Guard, message: &[u8], of: Option<&Conversation>) -> Result<Verified, Refusal> {
    let xml = Options::default();
    let document = Document::parse(message.to_vec(), &xml).expect("it is well-formed");
    let replays = Replays::in_memory(1_000, SystemTime::UNIX_EPOCH);
    let now = SystemTime::now();
    let arrival = Arrival { now, tls: true, client_certificate: false, replays: &replays, conversation: of, xml: &xml };
    guard.verify(document, &arrival)
}

/// The text of an element, by its local name.
pub(crate) fn value(verified: &Verified, local: &str) -> String {
    let document = &verified.document;
    let mut all = document.descendants(document.document_node());
    let node = all.find(|&node| document.qname(node).local == local).expect("the element is there");
    document.string_value(node).into_owned()
}

/// A policy with a key pair on each side.
pub(crate) fn both(suite: &str, more: &str) -> String {
    policy(&format!("{}{PARTS}", asymmetric(suite, &x509("AlwaysToRecipient", ""), &x509("Never", ""), more)))
}

/// Bob's guard.
pub(crate) fn service(wss4j: &Wss4j, policy: &str, receiver: &str) -> Guard {
    guard(wss4j, policy, Side::Recipient, (receiver, Some("alice")), None)
}

pub(crate) fn with<'a>(engine: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut settings = vec![ACTIONS, ("engine", engine)];
    settings.extend(SUITE);
    settings.extend(more);
    settings
}

#[test]
fn every_algorithm_suite_is_understood() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut wrong = Wrong::default();
    let ciphers = [
        ("Basic128", "http://www.w3.org/2001/04/xmlenc#aes128-cbc"),
        ("Basic192", "http://www.w3.org/2001/04/xmlenc#aes192-cbc"),
        ("Basic256", "http://www.w3.org/2001/04/xmlenc#aes256-cbc"),
        ("TripleDes", "http://www.w3.org/2001/04/xmlenc#tripledes-cbc"),
        ("Basic128GCM", "http://www.w3.org/2009/xmlenc11#aes128-gcm"),
        ("Basic192GCM", "http://www.w3.org/2009/xmlenc11#aes192-gcm"),
        ("Basic256GCM", "http://www.w3.org/2009/xmlenc11#aes256-gcm"),
    ];
    let (sha1, sha256) = ("http://www.w3.org/2000/09/xmldsig#sha1", "http://www.w3.org/2001/04/xmlenc#sha256");
    let (rsa_sha1, rsa_sha256) =
        ("http://www.w3.org/2000/09/xmldsig#rsa-sha1", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256");
    let (oaep, rsa_15) =
        ("http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p", "http://www.w3.org/2001/04/xmlenc#rsa-1_5");
    for (cipher, uri) in ciphers {
        for (rest, signature, digest, transport) in [
            ("", rsa_sha1, sha1, oaep),
            ("Rsa15", rsa_sha1, sha1, rsa_15),
            ("Sha256", rsa_sha256, sha256, oaep),
            ("Sha256Rsa15", rsa_sha256, sha256, rsa_15),
        ] {
            let suite = format!("{cipher}{rest}");
            let service = service(wss4j, &both(&format!("<sp:{suite}/>"), ""), "bob");
            for engine in ENGINES {
                let settings = with(
                    engine,
                    &[
                        ("encryptionSymAlgorithm", uri),
                        ("signatureAlgorithm", signature),
                        ("signatureDigestAlgorithm", digest),
                        ("encryptionKeyTransportAlgorithm", transport),
                        ("isBSPCompliant", "false"),
                    ],
                );
                wrong.check(wss4j, &format!("{suite}, {engine}"), &service, &settings);
            }
        }
    }
}

#[test]
fn every_kind_of_signature_is_understood() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut wrong = Wrong::default();
    let parts = both(BASIC, "").replace("<sp:EncryptedParts><sp:Body/></sp:EncryptedParts>", "");
    for (signer, algorithm) in [
        ("alice", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"),
        ("alice", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384"),
        ("alice", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512"),
        ("alice", "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1"),
        ("alice-p256", "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"),
        ("alice-p384", "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384"),
        ("alice-p521", "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512"),
        ("carol", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"),
    ] {
        let service = service(wss4j, &parts, "bob");
        for engine in ENGINES {
            let settings = with(
                engine,
                &[
                    ("action", "Timestamp Signature"),
                    ("user", signer),
                    ("signatureKeyIdentifier", "DirectReference"),
                    ("signatureAlgorithm", algorithm),
                    ("isBSPCompliant", "false"),
                    ("useSingleCertificate", if signer == "carol" { "false" } else { "true" }),
                ],
            );
            wrong.check(wss4j, &format!("{signer} {algorithm}, {engine}"), &service, &settings);
        }
    }
}

#[test]
fn every_reference_to_a_certificate_is_understood() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut wrong = Wrong::default();
    // The certificates themselves are known to the service, as to every service that is referred to them.
    let service = service(wss4j, &both(BASIC, ""), "bob");
    for engine in ENGINES {
        for reference in ["DirectReference", "IssuerSerial", "SKIKeyIdentifier", "Thumbprint", "X509KeyIdentifier"] {
            let settings =
                with(engine, &[("signatureKeyIdentifier", reference), ("encryptionKeyIdentifier", reference)]);
            wrong.check(wss4j, &format!("{reference}, {engine}"), &service, &settings);
        }
    }
}

#[test]
fn every_order_of_actions_is_understood() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut wrong = Wrong::default();
    let first = service(wss4j, &both(BASIC, ""), "bob");
    let last = service(wss4j, &both(BASIC, "<sp:EncryptBeforeSigning/>"), "bob");
    for engine in ENGINES {
        for (action, service) in [
            ("Timestamp Signature Encrypt", &first),
            ("Signature Timestamp Encrypt", &first),
            ("Timestamp Encrypt Signature", &last),
        ] {
            // Streams sign a timestamp only where it is made first.
            if engine == "stax" && !action.starts_with("Timestamp") {
                continue;
            }
            wrong.check(wss4j, &format!("{action}, {engine}"), service, &with(engine, &[("action", action)]));
        }
    }
}

#[test]
fn signatures_and_headers_may_be_encrypted() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut wrong = Wrong::default();
    let signature = "{Element}{http://www.w3.org/2000/09/xmldsig#}Signature";
    let header = "{Header}{urn:t}to";
    let encrypted = format!("{ENCRYPTED};{signature};{header}");
    let parts = r#"<sp:EncryptedParts><sp:Header Namespace="urn:t" Name="to"/></sp:EncryptedParts>"#;
    let policy =
        both(BASIC, "<sp:EncryptSignature/>").replace("</sp:SignedParts>", &format!("</sp:SignedParts>{parts}"));
    let service = service(wss4j, &policy, "bob");
    for engine in ENGINES {
        let settings = with(engine, &[("encryptionParts", &encrypted)]);
        if let Some(verified) = wrong.check(wss4j, engine, &service, &settings) {
            assert_eq!(value(&verified, "to"), "you & me");
        }
    }
}

#[test]
fn oaep_may_use_any_digest_that_the_suite_has() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut wrong = Wrong::default();
    let service = service(wss4j, &both("<sp:Basic256GCMSha256MgfSha256/>", ""), "bob");
    for engine in ENGINES {
        let settings = with(
            engine,
            &[
                ("encryptionSymAlgorithm", "http://www.w3.org/2009/xmlenc11#aes256-gcm"),
                ("encryptionKeyTransportAlgorithm", "http://www.w3.org/2009/xmlenc11#rsa-oaep"),
                ("encryptionDigestAlgorithm", "http://www.w3.org/2001/04/xmlenc#sha256"),
                ("encryptionMGFAlgorithm", "http://www.w3.org/2009/xmlenc11#mgf1sha256"),
            ],
        );
        wrong.check(wss4j, engine, &service, &settings);
    }
}

#[test]
fn canonical_forms_may_be_inclusive() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut wrong = Wrong::default();
    let service = service(wss4j, &both(&format!("{BASIC}<sp:InclusiveC14N/>"), ""), "bob");
    let inclusive = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315";
    let settings = with("dom", &[("signatureC14nAlgorithm", inclusive), ("isBSPCompliant", "false")]);
    wrong.check(wss4j, "dom", &service, &settings);
}

#[test]
fn whom_nobody_trusts_is_refused() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let service = service(wss4j, &both(BASIC, ""), "bob");
    for signer in ["mallory", "expired"] {
        let settings = with(
            "dom",
            &[("user", signer), ("signatureKeyIdentifier", "DirectReference"), ("isBSPCompliant", "false")],
        );
        let ec = ("signatureAlgorithm", "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256");
        let settings: Vec<_> = settings
            .into_iter()
            .map(|setting| if signer == "expired" && setting.0 == ec.0 { ec } else { setting })
            .collect();
        let made = wss4j.secure(MESSAGE.as_bytes(), &settings).expect("WSS4J signs with any key");
        let refusal = verify(&service, &made.message, None).map(|_| ()).expect_err("nobody trusts it");
        assert_eq!(refusal.rule, myelin_wss::Rule::NotTrusted, "{refusal}");
    }
}
