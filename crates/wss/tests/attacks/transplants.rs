//! Transplants: ciphertexts and keys of one message in another, by somebody who cannot read them.

use myelin_wss::algorithm::{BlockCipher, DigestMethod, KeyBits};
use myelin_wss::crypto::digest;
use myelin_wss::enc::{Form, reference_list};
use myelin_wss::vocabulary::{MESSAGE_SECURITY_11, WSC_2005, WSSE, WSU};
use myelin_wss::{Rule, binary};

use crate::ENVELOPE;
use crate::forge::{Key, TIMESTAMP, base64, encrypted, encrypted_key, envelope, reference, sign};
use crate::peers::{PEOPLE, Peers, between, piece};
use crate::policies;

const GCM: BlockCipher = BlockCipher::AesGcm(KeyBits::Bits128);
const CBC: BlockCipher = BlockCipher::AesCbc(KeyBits::Bits128);

/// What the attacker knows and what the victim knew.
const OWN: &[u8] = b"attacker's key!!";
const THEIRS: &[u8] = b"the victim's key";

fn bob(id: &str, secret: &[u8], references: &[&str]) -> String {
    encrypted_key(id, secret, PEOPLE.bob.key.public(), references)
}

/// A message of the symmetric binding in all points, that holds something more which the attacker could not read:
/// in the header and in `Security`; `signed` are ids of it that the attacker signs beside.
fn forged(cipher: BlockCipher, block: &str, more: &str, signed: &[&str]) -> String {
    let body = encrypted("D", Form::Content, cipher, OWN, "<order xmlns='urn:o'/>", Some("K"));
    let key = bob("K", OWN, &[]);
    let clear = envelope(block, &format!("{key}{TIMESTAMP}{more}"), "<order xmlns='urn:o'/>");
    let mut covered = vec!["TS", "B"];
    covered.extend(signed);
    let signature = sign(&clear, &covered, &Key::Secret(OWN), &reference("K"));
    envelope(block, &format!("{key}{TIMESTAMP}{more}{}{signature}", list("D")), &body)
}

fn list(id: &str) -> String {
    let mut text = Vec::new();
    reference_list(&[id], &mut text);
    String::from_utf8(text).expect("it is UTF-8")
}

fn chained() -> Peers {
    Peers::new(&policies::symmetric("").replace("Basic128GCMSha256", "Basic128Sha256"))
}

fn check(peers: &Peers, message: &str, rule: Rule) {
    let refused = peers.accept(message).map(|verified| verified.findings.explain());
    assert_eq!(refused.map_err(|refusal| refusal.rule), Err(rule), "{message}");
}

#[test]
fn forged_messages_are_right_but_for_the_attack() {
    let gcm = Peers::new(&policies::symmetric(""));
    assert!(gcm.accept(forged(GCM, "", "", &[])).map(drop).is_ok());
    assert!(chained().accept(forged(CBC, "", "", &[])).map(drop).is_ok());
}

/// If such a message were accepted or not by what its ciphertext decrypts to, anybody could decrypt it bit by bit.
#[test]
fn a_foreign_chained_ciphertext_beside_other_content_is_refused() {
    let data = encrypted("V", Form::Content, CBC, THEIRS, "secret", None);
    let key = bob("KV", THEIRS, &["V"]);
    check(&chained(), &forged(CBC, &format!("<x>beside{data}</x>"), &key, &[]), Rule::NotSigned);
    check(&chained(), &forged(CBC, &format!("<x>{data}</x>"), &key, &[]), Rule::NotSigned);
}

#[test]
fn a_foreign_chained_ciphertext_in_the_security_header_is_refused() {
    let key = bob("KV", THEIRS, &["V"]);
    for (form, plain) in [(Form::Content, "secret"), (Form::Element, "<wsse:SecurityTokenReference/>")] {
        let data = encrypted("V", form, CBC, THEIRS, plain, None);
        check(&chained(), &forged(CBC, "", &format!("{key}{data}"), &[]), Rule::NotSigned);
    }
}

#[test]
fn a_signature_of_the_ciphertext_by_somebody_else_does_not_vouch_for_the_plaintext() {
    let data = encrypted("V", Form::Element, CBC, THEIRS, "<x>secret</x>", Some("KV"));
    let (own, theirs) = (bob("K2", OWN, &[]), bob("KV", THEIRS, &[]));
    // A second signature, over the ciphertext, before it is decrypted.
    let clear = envelope(&data, &format!("{own}{theirs}{TIMESTAMP}"), "");
    let second = sign(&clear, &["V"], &Key::Secret(OWN), &reference("K2"));
    let more = format!("{own}{theirs}{second}{}", list("V"));
    check(&chained(), &forged(CBC, &data, &more, &[]), Rule::NotSigned);
}

#[test]
fn a_users_encrypted_token_is_of_no_use_in_another_message() {
    let user = "<sp:SignedEncryptedSupportingTokens><wsp:Policy><sp:UsernameToken
        sp:IncludeToken='http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702/IncludeToken/AlwaysToRecipient'>
        <wsp:Policy><sp:WssUsernameToken10/></wsp:Policy></sp:UsernameToken></wsp:Policy>
        </sp:SignedEncryptedSupportingTokens>";
    let token = format!(
        "<wsse:UsernameToken xmlns:wsse='{WSSE}' xmlns:wsu='{WSU}' wsu:Id='U'><wsse:Username>carol</wsse:Username>\
         <wsse:Password>wonderland</wsse:Password></wsse:UsernameToken>"
    );
    let token = encrypted("V", Form::Element, GCM, THEIRS, &token, Some("KV"));
    let keys = format!("{}{}{TIMESTAMP}", bob("K", OWN, &[]), bob("KV", THEIRS, &[]));
    let body = "<order xmlns='urn:o'/>";
    let secret = encrypted("D", Form::Content, GCM, OWN, body, Some("K"));
    for (order, signed_body) in [("", body), ("<sp:EncryptBeforeSigning/>", secret.as_str())] {
        let policy = policies::symmetric(order).replace("<sp:Wss11>", &format!("{user}<sp:Wss11>"));
        let peers = Peers::new(&policy);
        let verified = peers.accept(peers.request(ENVELOPE)).expect("it is right");
        assert_eq!(verified.findings.user.expect("it has one").name, "carol");
        // The token is signed as it stands there, the body as the policy says; the token is decrypted when it is come
        // to, as it names its key.
        let clear = envelope("", &format!("{keys}{token}"), signed_body);
        let signature = sign(&clear, &["TS", "B", "V"], &Key::Secret(OWN), &reference("K"));
        let data = list("D");
        let (before, behind) = if order.is_empty() { (data.as_str(), "") } else { ("", data.as_str()) };
        let attack = envelope("", &format!("{keys}{before}{signature}{behind}{token}"), &secret);
        let rule = if order.is_empty() { Rule::ProtectionOrderWrong } else { Rule::WrongSigner };
        check(&peers, &attack, rule);
    }
}

/// The digest of what somebody encrypted stands in his signature, so that it can be signed by who does not know it.
#[test]
fn what_is_signed_with_a_common_key_is_encrypted_with_the_same() {
    let peers = Peers::new(&policies::symmetric(""));
    let body = "<order xmlns='urn:o'/>";
    let data = encrypted("D", Form::Content, GCM, THEIRS, body, None);
    let (own, theirs) = (bob("K", OWN, &[]), bob("KV", THEIRS, &["D"]));
    let signature = sign(&envelope("", TIMESTAMP, body), &["TS", "B"], &Key::Secret(OWN), &reference("K"));
    check(&peers, &envelope("", &format!("{own}{theirs}{TIMESTAMP}{signature}"), &data), Rule::WrongSigner);
}

#[test]
fn a_response_is_made_with_the_requests_key_and_no_other() {
    let peers = Peers::new(&policies::symmetric(""));
    let (request, conversation) = peers.request_with(ENVELOPE);
    assert!(peers.accept(request).is_ok());
    let alice = encrypted_key("K", OWN, PEOPLE.alice.key.public(), &[]);
    let forged = forged(GCM, "", "", &[]);
    let forged = forged.replace(piece(&forged, "<xenc:EncryptedKey", "</xenc:EncryptedKey>"), &alice);
    let refused = peers.accept_response(&forged, &conversation).map(|verified| verified.findings.explain());
    assert_eq!(refused.map_err(|refusal| refusal.rule), Err(Rule::NotSigned));
}

#[test]
fn a_key_of_a_byte_derived_of_the_requests_signs_nothing() {
    let policy = policies::symmetric("").replace("<sp:EncryptedParts><sp:Body/></sp:EncryptedParts>", "");
    let peers = Peers::new(&policy);
    let (request, conversation) = peers.request_with(ENVELOPE);
    let key = piece(&request, "<xenc:EncryptedKey", "</xenc:EncryptedKey>");
    let ciphertext = binary::decode_text(between(key, "<xenc:CipherValue>", "<"), 1 << 10).expect("base64");
    let derived = format!(
        "<c:DerivedKeyToken xmlns:c='{WSC_2005}' wsu:Id='DK'><wsse:SecurityTokenReference>\
         <wsse:KeyIdentifier ValueType='{MESSAGE_SECURITY_11}#EncryptedKeySHA1'>{}</wsse:KeyIdentifier>\
         </wsse:SecurityTokenReference><c:Length>1</c:Length><c:Nonce>AAAA</c:Nonce></c:DerivedKeyToken>",
        base64(digest(DigestMethod::Sha1, &ciphertext).as_ref())
    );
    let security = format!("{TIMESTAMP}{derived}");
    for guess in 0..=255 {
        let signature = sign(&envelope("", &security, "<x/>"), &["TS", "B"], &Key::Secret(&[guess]), &reference("DK"));
        let forged = envelope("", &format!("{security}{signature}"), "<x/>");
        let refused = peers.accept_response(&forged, &conversation).map(|verified| verified.findings.explain());
        assert!(refused.is_err(), "{guess}: {refused:?}");
    }
}

#[test]
fn keys_are_derived_where_the_policy_asks_for_it() {
    let plain = Peers::new(&policies::symmetric(""));
    let token = "<wsp:Policy><sp:WssX509V3Token10/>";
    let derived = Peers::new(&policies::symmetric("").replace(token, &format!("{token}<sp:RequireDerivedKeys/>")));
    check(&derived, &plain.request(ENVELOPE), Rule::NotSigned);
    assert!(derived.accept(derived.request(ENVELOPE)).is_ok());
}

/// Whoever can make a key for us can make us hash: not more than messages are long.
#[test]
fn the_same_large_element_is_not_hashed_again_and_again() {
    let peers = Peers::new(&policies::symmetric("").replace("<sp:EncryptedParts><sp:Body/></sp:EncryptedParts>", ""));
    let body = "<item>some text</item>".repeat(20_000);
    let key = bob("K", OWN, &[]);
    let message = |ids: &[&str], signatures: usize| {
        let clear = envelope("", &format!("{key}{TIMESTAMP}"), &body);
        let signature = sign(&clear, ids, &Key::Secret(OWN), &reference("K"));
        envelope("", &format!("{key}{TIMESTAMP}{}", signature.repeat(signatures)), &body)
    };
    check(&peers, &message(&["TS", "B", "B", "B", "B", "B", "B", "B", "B"], 1), Rule::Limit);
    check(&peers, &message(&["TS", "B"], 8), Rule::Limit);
    assert!(peers.accept(message(&["TS", "B"], 1)).is_ok());
}
