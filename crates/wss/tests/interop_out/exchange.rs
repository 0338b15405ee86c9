//! Responses to requests, and assertions.

use std::io::Write as _;
use std::time::SystemTime;

use myelin_testkit::wss4j::Wss4j;
use myelin_wss::Replays;
use myelin_wss::guard::{Arrival, Conversation, Guard, Side};
use myelin_xml::{Document, Options};

use crate::world::{MESSAGE, PARTS, asymmetric, guard, policy, secure, symmetric, x509};

const SUITE: &str = "<sp:Basic128GCMSha256/>";

/// The two sides of a policy: alice's and bob's.
fn sides(wss4j: &Wss4j, policy: &str, response_for: Option<&str>) -> (Guard, Guard) {
    let client = guard(wss4j, policy, Side::Initiator, ("alice", Some("bob")), None);
    let server = guard(wss4j, policy, Side::Recipient, ("bob", response_for), None);
    (client, server)
}

/// What WSS4J's client says of our response to our own request.
fn answered(wss4j: &Wss4j, policy: &str, response_for: Option<&str>, engine: &str) {
    let (client, server) = sides(wss4j, policy, response_for);
    let request = secure(&client, MESSAGE, None);
    // Only on trees WSS4J tells the common key.
    let accepted = wss4j.verify(&request.bytes, &[]).unwrap_or_else(|refusal| panic!("{refusal}"));
    let response = secure(&server, MESSAGE, Some(&request.conversation));
    let mut settings = vec![("engine", engine), ("action", "Timestamp Signature Encrypt")];
    // The common key, where there is one.
    for name in ["secretKey", "secretIdentifier"] {
        settings.extend(accepted.fact(name).map(|value| (name, value)));
    }
    let answer = wss4j.verify(&response.bytes, &settings);
    let text = String::from_utf8_lossy(&response.bytes);
    let answer = answer.unwrap_or_else(|refusal| panic!("{engine}: {refusal}\n{text}"));
    assert!(answer.has("signed", "{http://schemas.xmlsoap.org/soap/envelope/}Body"), "{:?}", answer.facts);
    assert!(answer.has("encrypted", "{http://schemas.xmlsoap.org/soap/envelope/}Body"), "{:?}", answer.facts);
}

#[test]
fn responses_are_encrypted_for_a_name_or_for_the_signer_of_the_request() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let policy = policy(&format!(
        "{}{PARTS}",
        asymmetric(SUITE, &x509("AlwaysToRecipient", ""), &x509("AlwaysToInitiator", ""), "")
    ));
    for engine in ["dom", "stax"] {
        answered(wss4j, &policy, Some("alice"), engine);
        answered(wss4j, &policy, None, engine);
    }
}

#[test]
fn responses_use_the_key_of_the_request() {
    let Some(wss4j) = Wss4j::shared() else { return };
    for token in [x509("Never", ""), x509("Never", "<sp:RequireDerivedKeys/>")] {
        for more in ["", "<sp:EncryptBeforeSigning/>", "<sp:EncryptSignature/>"] {
            let policy = policy(&format!("{}{PARTS}<sp:Wss11><p></p></sp:Wss11>", symmetric(SUITE, &token, more)));
            for engine in ["dom", "stax"] {
                answered(wss4j, &policy, None, engine);
            }
        }
    }
}

/// A policy of a binding whose requests show an assertion, used in this way.
fn with_assertion(kind: &str, version: &str) -> String {
    let inclusion = "http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702/IncludeToken/AlwaysToRecipient";
    let token = format!(r#"<sp:SamlToken sp:IncludeToken="{inclusion}"><p><sp:{version}/></p></sp:SamlToken>"#);
    let binding = asymmetric(SUITE, &x509("AlwaysToRecipient", ""), &x509("Never", ""), "");
    policy(&format!("{binding}{PARTS}<sp:{kind}><p>{token}</p></sp:{kind}>"))
}

/// An assertion of WSS4J's making, in an envelope that declares nothing which it could rely on.
fn assertion(wss4j: &Wss4j, version: &str, confirmation: &str) -> String {
    let settings = [("action", "SAMLTokenUnsigned"), ("samlVersion", version), ("samlConfirmation", confirmation)];
    const BARE: &[u8] = b"<S:Envelope xmlns:S='http://schemas.xmlsoap.org/soap/envelope/'><S:Body/></S:Envelope>";
    let made = wss4j.secure(BARE, &settings).unwrap_or_else(|refusal| panic!("{refusal}"));
    let text = String::from_utf8(made.message).expect("a message");
    let start = text.find("<saml").expect("an assertion");
    let end = text.rfind(":Assertion>").expect("its end") + ":Assertion>".len();
    text[start..end].to_owned()
}

#[test]
fn assertions_are_shown_and_covered() {
    let Some(wss4j) = Wss4j::shared() else { return };
    for (version, token) in [("1.1", "WssSamlV11Token11"), ("2.0", "WssSamlV20Token11")] {
        for (kind, confirmation) in [
            ("SupportingTokens", "bearer"),
            ("EncryptedSupportingTokens", "bearer"),
            ("SignedSupportingTokens", "sender-vouches"),
            ("EndorsingSupportingTokens", "holder-of-key"),
        ] {
            let policy = with_assertion(kind, token);
            let assertion = assertion(wss4j, version, confirmation);
            let guard = guard(wss4j, &policy, Side::Initiator, ("alice", Some("bob")), Some(assertion));
            let secured = secure(&guard, MESSAGE, None);
            // Streams do not resolve the transform of references, by which assertions are covered.
            let engines: &[&str] = if confirmation == "sender-vouches" { &["dom"] } else { &["dom", "stax"] };
            for engine in engines {
                let answer = wss4j.verify(&secured.bytes, &[("engine", engine)]);
                let text = String::from_utf8_lossy(&secured.bytes);
                let answer = answer.unwrap_or_else(|refusal| panic!("{kind} {version} {engine}: {refusal}\n{text}"));
                assert!(answer.fact("saml").is_some(), "{kind} {version} {engine}: {:?}", answer.facts);
            }
        }
    }
}

#[test]
fn responses_confirm_the_signatures_of_requests() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let tokens = (x509("AlwaysToRecipient", ""), x509("AlwaysToInitiator", ""));
    for engine in ["dom", "stax"] {
        let binding = asymmetric("<sp:Basic128Sha256/>", &tokens.0, &tokens.1, "");
        let confirmed = "<sp:Wss11><p><sp:RequireSignatureConfirmation/></p></sp:Wss11>";
        let signed = r#"<sp:SignedParts><sp:Body/></sp:SignedParts>"#;
        let policy = policy(&format!("{binding}{signed}{confirmed}"));
        let server = guard(wss4j, &policy, Side::Recipient, ("bob", Some("alice")), None);
        let all = [("engine", engine), ("session", engine), ("enableSignatureConfirmation", "true")];
        let mut making = all.to_vec();
        let parts = "{Element}{http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd}Timestamp;\
            {Element}{http://schemas.xmlsoap.org/soap/envelope/}Body";
        making.extend([
            ("action", "Timestamp Signature"),
            ("signatureParts", parts),
            ("signatureKeyIdentifier", "DirectReference"),
        ]);
        making.extend([
            ("signatureAlgorithm", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"),
            ("signatureDigestAlgorithm", "http://www.w3.org/2001/04/xmlenc#sha256"),
        ]);
        let request = wss4j.secure(MESSAGE.as_bytes(), &making).unwrap_or_else(|refusal| panic!("{refusal}"));
        let conversation = accept(&server, &request.message);
        let mut reading = all.to_vec();
        reading.push(("role", "response"));
        // One that confirms nothing is not accepted; this comes first, as WSS4J forgets what was confirmed.
        let other = secure(&server, MESSAGE, None);
        wss4j.verify(&other.bytes, &reading).expect_err("the signature is not confirmed");
        let response = secure(&server, MESSAGE, Some(&conversation));
        let text = String::from_utf8_lossy(&response.bytes);
        let answer = wss4j.verify(&response.bytes, &reading);
        answer.unwrap_or_else(|refusal| panic!("{engine}: {refusal}\n{text}"));
    }
}

/// What bob's side knows of a request of WSS4J's.
fn accept(server: &Guard, request: &[u8]) -> Conversation {
    let xml = Options::default();
    let document = Document::parse(request.to_vec(), &xml).expect("well-formed");
    let replays = Replays::in_memory(1_000, SystemTime::UNIX_EPOCH);
    let now = SystemTime::now();
    let arrival =
        Arrival { now, tls: false, client_certificate: false, replays: &replays, conversation: None, xml: &xml };
    server.verify(document, &arrival).unwrap_or_else(|refusal| panic!("{refusal}")).conversation
}

/// A file that WSS4J can read, and that goes when the test ends.
fn file(policy: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(policy.as_bytes()).expect("it can be written");
    file
}

#[test]
fn requests_and_responses_follow_the_policy_as_wss4j_reads_it() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Vec::new();
    let (always, never) = (x509("Always", ""), x509("Never", "<sp:RequireIssuerSerialReference/>"));
    // Of the suites named for SHA-256, WSS4J takes the digest only, and has SHA-1 in signatures.
    let suite = "<sp:Basic128/>";
    let layouts = ["Strict", "Lax", "LaxTsFirst", "LaxTsLast"];
    let orders = ["<sp:EncryptBeforeSigning/>", "<sp:EncryptSignature/>", "<sp:ProtectTokens/>"];
    for (layout, order) in layouts.map(|layout| (layout, "")).into_iter().chain(orders.map(|order| ("Strict", order))) {
        let more = format!("<sp:Layout><p><sp:{layout}/></p></sp:Layout>{order}");
        for binding in [asymmetric(suite, &always, &always, &more), symmetric(suite, &never, &more)] {
            let policy = policy(&format!("{binding}{PARTS}<sp:Wss11><p></p></sp:Wss11>"));
            let (client, server) = sides(wss4j, &policy, Some("alice"));
            let request = secure(&client, MESSAGE, None);
            let response = secure(&server, MESSAGE, Some(&request.conversation));
            let known = wss4j.verify(&request.bytes, &[]).unwrap_or_else(|refusal| panic!("{refusal}"));
            let file = file(&policy);
            let path = file.path().to_str().expect("a path");
            for (role, message) in [("request", &request.bytes), ("response", &response.bytes)] {
                let mut settings = vec![("policy", path), ("role", role)];
                for name in ["secretKey", "secretIdentifier"] {
                    settings.extend(known.fact(name).map(|value| (name, value)));
                }
                if let Err(refusal) = wss4j.verify(message, &settings) {
                    let text = String::from_utf8_lossy(message);
                    refused.push(format!("{role} {more} {binding}: {refusal}\n{text}"));
                }
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
