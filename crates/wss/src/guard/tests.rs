//! Guards: which keys they ask for, and which policies they refuse.

use std::time::Duration;

use super::*;
use crate::findings::User;
use crate::keys::testing::{Authority, identity, now, parameters};
use crate::keys::{Curve, KeyKind, TrustLimits};
use crate::policy::testing::{SP, WSP, X509, asymmetric, binding_with, symmetric, transport, written};

/// One user, `alice`, whose password is `secret` and whose role is `clerk`.
struct Alice;

impl Users for Alice {
    fn password(&self, user: &str) -> Option<Secret> {
        (user == "alice").then(|| Secret::from("secret"))
    }

    fn has_role(&self, user: &str, role: &str) -> bool {
        (user, role) == ("alice", "clerk")
    }
}

fn settings() -> Settings {
    Settings { limits: Limits::default(), rsa_bits_min: 2048, users: Arc::new(Alice), assertion: None }
}

fn policy(content: &str) -> Policy {
    Policy::parse(written(WSP[0], SP[1], content).as_bytes()).expect("a policy that can be honoured").0
}

fn no_keys() -> Keys {
    let trust = Arc::new(Trust::new(Vec::new(), Vec::new(), TrustLimits::default()));
    Keys { signature: None, decryption: Vec::new(), encryption: None, trust, users: Arc::new(Alice) }
}

fn all_keys() -> Keys {
    let own = identity("us", KeyKind::Rsa);
    let encryption = Some(Arc::clone(own.certificate()));
    Keys { signature: Some(Arc::clone(&own)), decryption: vec![own], encryption, ..no_keys() }
}

/// What is wrong with a policy and keys, a line each; empty: nothing.
fn wrong(content: &str, side: Side, uses: Uses, keys: Keys) -> String {
    let problems = Guard::new(policy(content), side, uses, keys, settings()).err().unwrap_or_default();
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

fn both_protected() -> String {
    asymmetric("") + "<sp:SignedParts><sp:Body/></sp:SignedParts><sp:EncryptedParts><sp:Body/></sp:EncryptedParts>"
}

fn supporting(name: &str, token: &str) -> String {
    format!("<sp:{name}><p>{token}</p></sp:{name}>")
}

#[test]
fn each_side_needs_its_keys_and_only_for_what_it_does() {
    let (initiator, recipient) = (Side::Initiator, Side::Recipient);
    let signed = asymmetric("") + "<sp:SignedParts/>";
    let encrypted = asymmetric("") + "<sp:EncryptedParts/>";
    let common = symmetric(X509) + "<sp:SignedParts/>";
    let certificate = transport("<sp:HttpsToken/>") + &supporting("EndorsingSupportingTokens", X509);
    // The letters: a key that signs, a certificate to encrypt for, a key that decrypts, somebody to trust.
    for (content, side, uses, expected) in [
        (&signed, initiator, Uses::Both, "s--t"),
        (&signed, initiator, Uses::Secure, "s---"),
        (&signed, recipient, Uses::Verify, "---t"),
        (&encrypted, initiator, Uses::Both, "-ed-"),
        (&encrypted, recipient, Uses::Secure, "-e--"),
        (&common, initiator, Uses::Both, "-e--"),
        (&common, recipient, Uses::Both, "--d-"),
        (&certificate, initiator, Uses::Both, "s---"),
        (&certificate, recipient, Uses::Both, "---t"),
        (&asymmetric(""), initiator, Uses::Both, "----"),
        (&asymmetric("<sp:IncludeTimestamp/>"), initiator, Uses::Both, "s--t"),
    ] {
        let needs = Needs::of(&policy(content), side, uses);
        let flags = [(needs.signature, 's'), (needs.encryption, 'e'), (needs.decryption, 'd'), (needs.trust, 't')];
        let found: String = flags.iter().map(|(needed, letter)| if *needed { *letter } else { '-' }).collect();
        assert_eq!(found, expected, "{side:?} {uses:?} {content}");
    }
}

#[test]
fn a_key_that_is_missing_is_told_when_the_guard_is_made() {
    let initiator = wrong(&both_protected(), Side::Initiator, Uses::Both, no_keys());
    assert!(initiator.contains("asks for a private key of this side"), "{initiator}");
    assert!(initiator.contains("no private key to decrypt them"), "{initiator}");
    assert!(initiator.contains("no certificate says for whom requests are encrypted"), "{initiator}");
    assert_eq!(wrong(&both_protected(), Side::Initiator, Uses::Both, all_keys()), "");
    assert_eq!(wrong(&(asymmetric("") + "<sp:SignedParts/>"), Side::Recipient, Uses::Verify, no_keys()), "");
}

#[test]
fn responses_may_be_encrypted_for_the_signer_of_the_request_if_there_is_one() {
    let keys = || Keys { encryption: None, ..all_keys() };
    assert_eq!(wrong(&both_protected(), Side::Recipient, Uses::Both, keys()), "");
    let unsigned = binding_with("Basic128GCM", "") + "<sp:EncryptedParts/>";
    assert!(wrong(&unsigned, Side::Recipient, Uses::Both, keys()).contains("requests may have none"));
    let request_signer = both_protected()
        + "<ramp:RampartConfig><ramp:encryptionUser>useReqSigCert</ramp:encryptionUser></ramp:RampartConfig>";
    assert!(wrong(&request_signer, Side::Initiator, Uses::Both, all_keys()).contains("useReqSigCert is for responses"));
}

#[test]
fn what_is_protected_needs_a_binding_that_protects_it() {
    let parts = "<sp:SignedParts><sp:Body/></sp:SignedParts>";
    assert!(wrong(parts, Side::Recipient, Uses::Both, all_keys()).contains("no binding says with which keys"));
    let signed = supporting("SignedSupportingTokens", "<sp:UsernameToken/>");
    assert!(wrong(&signed, Side::Recipient, Uses::Both, all_keys()).contains("no binding says with which keys"));
    let plain = supporting("SupportingTokens", "<sp:UsernameToken/>");
    assert_eq!(wrong(&plain, Side::Recipient, Uses::Both, no_keys()), "");
    let endorsing = supporting("EndorsingSupportingTokens", X509);
    let bare = transport("<sp:HttpsToken/>").replace("<sp:IncludeTimestamp/>", "") + &endorsing;
    assert!(wrong(&bare, Side::Recipient, Uses::Both, all_keys()).contains("add IncludeTimestamp"));
}

#[test]
fn what_a_chained_cipher_encrypts_has_to_come_in_signed() {
    let with = |suite: &str, parts: &str, uses: Uses| {
        wrong(&(binding_with(suite, "<sp:IncludeTimestamp/>") + parts), Side::Recipient, uses, all_keys())
    };
    let bare = "<sp:EncryptedParts><sp:Body/></sp:EncryptedParts>";
    assert!(with("Basic256", bare, Uses::Verify).contains("what CBC encrypts has to be signed"));
    assert_eq!(with("Basic256", bare, Uses::Secure), "", "the receiver asked for it");
    assert_eq!(with("Basic256GCM", bare, Uses::Verify), "");
    let header = "<sp:EncryptedParts><sp:Header Name='a' Namespace='urn:a'/></sp:EncryptedParts>";
    assert!(with("Basic256", header, Uses::Verify).contains("has to be signed"));
    for signed in ["", "<sp:Header Namespace='urn:a'/>", "<sp:Header Name='a' Namespace='urn:a'/>"] {
        let parts = format!("{header}<sp:SignedParts>{signed}</sp:SignedParts>");
        assert_eq!(with("Basic256", &parts, Uses::Verify), "", "{signed}");
    }
    let other = format!("{header}<sp:SignedParts><sp:Header Name='b' Namespace='urn:a'/></sp:SignedParts>");
    assert!(with("Basic256", &other, Uses::Verify).contains("has to be signed"));
}

#[test]
fn a_sender_of_user_names_knows_name_and_password() {
    let token = supporting("SupportingTokens", "<sp:UsernameToken/>");
    let with = |user: &str| format!("{token}<ramp:RampartConfig><ramp:user>{user}</ramp:user></ramp:RampartConfig>");
    assert!(wrong(&token, Side::Initiator, Uses::Secure, no_keys()).contains("names no user"));
    assert!(wrong(&with("bob"), Side::Initiator, Uses::Secure, no_keys()).contains("no password is known"));
    assert_eq!(wrong(&with("alice"), Side::Initiator, Uses::Secure, no_keys()), "");
    let named =
        with("bob").replace("<sp:UsernameToken/>", "<sp:UsernameToken><p><sp:NoPassword/></p></sp:UsernameToken>");
    assert_eq!(wrong(&named, Side::Initiator, Uses::Secure, no_keys()), "", "a name alone needs no password");
    let saml = "<sp:SamlToken><p><sp:WssSamlV20Token11/></p></sp:SamlToken>";
    let saml = supporting("SupportingTokens", saml);
    assert!(wrong(&saml, Side::Initiator, Uses::Secure, no_keys()).contains("assertion of SAML"));
}

#[test]
fn a_password_that_everybody_can_read_is_worth_a_warning() {
    let warnings = |content: &str| {
        Guard::new(policy(content), Side::Recipient, Uses::Verify, all_keys(), settings()).map(|(_, warnings)| warnings)
    };
    let token = supporting("SupportingTokens", "<sp:UsernameToken/>");
    let open = warnings(&token).expect("a guard");
    assert!(open[0].message.contains("stands in messages as it is"));
    assert_eq!(warnings(&(transport("<sp:HttpsToken/>") + &token)).expect("a guard"), []);
    let encrypted = asymmetric("") + &token.replace("SupportingTokens", "SignedEncryptedSupportingTokens");
    assert_eq!(warnings(&encrypted).expect("a guard"), []);
}

#[test]
fn keys_have_the_size_and_kind_that_their_use_takes() {
    let settings = Settings { rsa_bits_min: 3072, ..settings() };
    let problems = Guard::new(policy(&both_protected()), Side::Initiator, Uses::Both, all_keys(), settings);
    let problems = problems.err().expect("a key of 2048 bits");
    assert!(problems[0].message.contains("which signs, has 2048 bits, expected 3072 to 4096"), "{problems:?}");
    let curve = identity("curve", KeyKind::Ec(Curve::P256));
    let keys = Keys { encryption: Some(Arc::clone(curve.certificate())), signature: Some(curve), ..all_keys() };
    let found = wrong(&both_protected(), Side::Initiator, Uses::Both, keys);
    assert_eq!(found.lines().count(), 1, "a key on a curve signs: {found}");
    assert!(found.contains("whose key is not of RSA"));
}

#[test]
fn certificates_out_of_their_time_are_told() {
    let authority = Authority::root("root");
    let mut short = parameters("short");
    short.not_after = rcgen::date_time_ymd(2021, 1, 1);
    let expired = authority.issue(&short, KeyKind::Rsa);
    let keys = Keys { encryption: Some(expired), ..all_keys() };
    let content = binding_with("Basic128GCM", "") + "<sp:EncryptedParts/>";
    let (guard, _) = Guard::new(policy(&content), Side::Initiator, Uses::Both, keys, settings()).expect("a guard");
    let problems = guard.not_valid_at(now());
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.contains("valid from 2020-01-01T00:00:00Z to 2021-01-01T00:00:00Z"), "{problems:?}");
    let year = Duration::from_secs(365 * 86_400);
    assert_eq!(guard.not_valid_at(now() + 50 * year).len(), 2, "each certificate once");
}

#[test]
fn roles_that_may_are_asked_for() {
    let content = supporting("SupportingTokens", "<sp:UsernameToken/>")
        + "<sec:CarbonSecConfig xmlns:sec='http://www.wso2.org/products/carbon/security'><sec:Authorization>
            <sec:property name='org.wso2.carbon.security.allowedroles'>admin,clerk</sec:property>
        </sec:Authorization></sec:CarbonSecConfig>";
    let (guard, _) =
        Guard::new(policy(&content), Side::Recipient, Uses::Verify, no_keys(), settings()).expect("a guard");
    let rule = |name: &str, authenticated: bool| {
        let user = Some(User { name: name.to_owned(), authenticated });
        guard.authorize(&Findings { user, ..Findings::default() }).err().map(|refusal| refusal.rule)
    };
    assert_eq!(rule("alice", true), None);
    assert_eq!(rule("alice", false), Some(Rule::NotAuthorized));
    assert_eq!(rule("bob", true), Some(Rule::NotAuthorized));
    let nobody = guard.authorize(&Findings::default());
    assert_eq!(nobody.err().map(|refusal| refusal.rule), Some(Rule::NotAuthorized));
}
