//! Responses to requests, and assertions.

use myelin_testkit::wss4j::Wss4j;
use myelin_wss::guard::{Guard, Side};

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
