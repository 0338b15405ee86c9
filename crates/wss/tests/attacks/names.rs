//! Names: who a message says that it is from, and what is read in it, is what was verified and nothing beside it.

use std::sync::Arc;

use myelin_wss::Rule;
use myelin_wss::dsig::Transform;
use myelin_wss::keys::Identity;
use myelin_wss::vocabulary::{DS, SAML_20};

use crate::ENVELOPE;
use crate::forge::{Key, TIMESTAMP, base64, certificate, envelope, sign, sign_with};
use crate::peers::{PEOPLE, Peers, changed, value};
use crate::policies;

const STRANGER: &str = "<wsse:UsernameToken><wsse:Username>admin</wsse:Username></wsse:UsernameToken>";

/// A message with something more at the front or at the end of its `Security`.
fn with_token(message: &str, token: &str) -> [String; 2] {
    let start = message.find("<wsse:Security ").expect("there is one");
    let inside = start + message[start..].find('>').expect("it ends") + 1;
    let front = format!("{}{token}{}", &message[..inside], &message[inside..]);
    [front, changed(message, "</wsse:Security>", &format!("{token}</wsse:Security>"))]
}

#[test]
fn a_name_that_nobody_vouches_for_is_not_the_user() {
    let peers = Peers::new(&policies::user());
    for message in with_token(&peers.request(ENVELOPE), STRANGER) {
        match peers.accept(message) {
            Ok(verified) => assert_eq!(verified.findings.user.expect("carol").name, "carol"),
            Err(refusal) => assert_eq!(refusal.rule, Rule::TokenNotAllowed),
        }
    }
}

#[test]
fn users_are_not_even_looked_up_where_no_policy_asks_for_them() {
    let peers = Peers::new(&policies::modern());
    for password in ["wonderland", "guessed"] {
        let token = STRANGER.replace("admin", "carol");
        let token =
            token.replace("</wsse:Username>", &format!("</wsse:Username><wsse:Password>{password}</wsse:Password>"));
        for message in with_token(&peers.request(ENVELOPE), &token) {
            assert_eq!(peers.refused(message).0, Rule::TokenNotAllowed);
        }
    }
}

#[test]
fn a_comment_does_not_cut_a_value_in_two() {
    let peers = Peers::new(&policies::signed());
    let message = changed(&peers.request(ENVELOPE), ">IBM<", ">I<!-- not signed -->BM<");
    let verified = peers.accept(message).expect("comments are no part of what is signed");
    assert_eq!(value(&verified, "symbol"), "IBM");
    let document = &verified.document;
    let symbol = document.descendants(document.document_node()).find(|&node| document.qname(node).local == "symbol");
    let texts: Vec<_> = document.children(symbol.expect("it is there")).map(|node| document.value(node)).collect();
    assert_eq!(texts, ["IBM"], "who reads the first text reads all of it");
}

/// An assertion by bob that whoever has this key is `subject`.
fn assertion(subject: &str, holder: &Arc<Identity>) -> String {
    let (modulus, exponent) = holder.key.public().rsa().expect("a key of RSA");
    let text = format!(
        "<a:Assertion xmlns:a='{SAML_20}' ID='A' Version='2.0' IssueInstant='2025-11-24T16:00:00Z'>\
         <a:Issuer>bob</a:Issuer><a:Subject><a:NameID>{subject}</a:NameID>\
         <a:SubjectConfirmation Method='urn:oasis:names:tc:SAML:2.0:cm:holder-of-key'><a:SubjectConfirmationData>\
         <ds:KeyInfo xmlns:ds='{DS}'><ds:KeyValue><ds:RSAKeyValue><ds:Modulus>{}</ds:Modulus>\
         <ds:Exponent>{}</ds:Exponent></ds:RSAKeyValue></ds:KeyValue></ds:KeyInfo></a:SubjectConfirmationData>\
         </a:SubjectConfirmation></a:Subject></a:Assertion>",
        base64(modulus),
        base64(exponent)
    );
    let key = Key::Private(&PEOPLE.bob);
    let signature = sign_with(&text, &["A"], &[Transform::Enveloped], &key, &certificate(&PEOPLE.bob));
    text.replace("</a:Issuer>", &format!("</a:Issuer>{signature}"))
}

/// The assertion of whom another signature is by, which was made for another message, belongs to that message.
#[test]
fn a_signature_of_another_message_confirms_nobody() {
    let token = "<sp:SignedSupportingTokens><wsp:Policy><sp:SamlToken
        sp:IncludeToken='http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702/IncludeToken/AlwaysToRecipient'>
        <wsp:Policy><sp:WssSamlV20Token11/></wsp:Policy></sp:SamlToken></wsp:Policy></sp:SignedSupportingTokens>";
    let policy = changed(&policies::signed(), "</sp:SignedParts>", &format!("</sp:SignedParts>{token}"));
    let peers = Peers::new(&policy);
    let assertion = assertion("carol", &PEOPLE.bob);
    let by = |message: &str, ids: &[&str], signer: &Arc<Identity>| {
        sign(message, ids, &Key::Private(signer), &certificate(signer))
    };
    // What the subject signed once, as a header block that nobody looks at.
    let old = "<old wsu:Id='OLD'>what was signed once</old>";
    let clear = envelope(old, &format!("{TIMESTAMP}{assertion}"), "<order xmlns='urn:o'/>");
    let stale = by(&clear, &["OLD"], &PEOPLE.bob);
    let main = by(&clear, &["TS", "B", "A"], &PEOPLE.alice);
    let attack = envelope(old, &format!("{TIMESTAMP}{assertion}{stale}{main}"), "<order xmlns='urn:o'/>");
    assert_eq!(peers.refused(attack).0, Rule::NotTrusted);
    // The subject itself, by the message's signature.
    let main = by(&clear, &["TS", "B", "A"], &PEOPLE.bob);
    let right = envelope(old, &format!("{TIMESTAMP}{assertion}{main}"), "<order xmlns='urn:o'/>");
    let verified = peers.accept(right).expect("it is right");
    assert_eq!(verified.findings.saml.map(|saml| saml.subject).as_deref(), Some("carol"));
}

#[test]
fn our_own_request_is_no_response() {
    let peers = Peers::new(&policies::signed());
    let (request, conversation) = peers.request_with(ENVELOPE);
    let (other, _) = peers.request_with(ENVELOPE);
    for reflected in [request, other] {
        let refused = peers.accept_response(&reflected, &conversation).map(|verified| verified.findings.explain());
        assert_eq!(refused.map_err(|refusal| refusal.rule), Err(Rule::WrongSigner));
    }
}
