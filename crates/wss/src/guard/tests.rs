//! Guards: which keys they ask for, and which policies they refuse.

use std::collections::HashMap;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::needs::Needs;
use super::*;
use crate::Rule;
use crate::findings::{Findings, User};
use crate::keys::testing::{Authority, identity, key, now, parameters};
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
    Settings::new(Arc::new(Alice))
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
    assert!(initiator.contains("no private key of RSA with 2048 bits or more decrypts"), "{initiator}");
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
    let problems = Guard::new(policy(&both_protected()), Side::Initiator, Uses::Secure, all_keys(), settings);
    let problems = problems.err().expect("a key of 2048 bits");
    assert!(problems[0].message.contains("which signs, has 2048 bits, expected 3072 to 4096"), "{problems:?}");
    let curve = identity("curve", KeyKind::Ec(Curve::P256));
    let keys = Keys { encryption: Some(Arc::clone(curve.certificate())), signature: Some(curve), ..all_keys() };
    let found = wrong(&both_protected(), Side::Initiator, Uses::Both, keys);
    assert_eq!(found.lines().count(), 1, "a key on a curve signs: {found}");
    assert!(found.contains("whose key is not of RSA"));
}

#[test]
fn keys_that_are_too_small_do_not_decrypt() {
    let content = asymmetric("") + "<sp:SignedParts/><sp:EncryptedParts/>";
    let settings = Settings { rsa_bits_min: 3072, ..settings() };
    let problems = Guard::new(policy(&content), Side::Recipient, Uses::Verify, all_keys(), settings).err();
    let problems = problems.expect("a key of 2048 bits");
    assert!(problems[0].message.contains("no private key of RSA with 3072 bits or more decrypts"), "{problems:?}");
}

#[test]
fn nothing_is_encrypted_for_a_bare_key() {
    let token = "<sp:InitiatorToken><p><sp:KeyValueToken/></p></sp:InitiatorToken>";
    let bare = asymmetric("").replace(&format!("<sp:InitiatorToken><p>{X509}</p></sp:InitiatorToken>"), token);
    assert!(bare.contains("KeyValueToken"));
    let signed = bare.clone() + "<sp:SignedParts/>";
    assert_eq!(wrong(&signed, Side::Recipient, Uses::Both, all_keys()), "");
    let encrypted = bare + "<sp:SignedParts/><sp:EncryptedParts/>";
    assert!(wrong(&encrypted, Side::Recipient, Uses::Both, all_keys()).contains("name an X509Token"));
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

/// Files by their path; the server itself has `server.pem`.
struct Files(HashMap<&'static str, String>);

impl Files {
    /// `us.pem` holds the key and certificate of `us`, `partner.pem` a certificate of `partner`, `both.pem` both.
    fn with_keys() -> Files {
        let own = identity("us", KeyKind::Rsa);
        let partner = identity("partner", KeyKind::Rsa);
        let certificate = pem("CERTIFICATE", own.certificate().der());
        let us = pem("PRIVATE KEY", key(KeyKind::Rsa)) + &certificate;
        let partner = pem("CERTIFICATE", partner.certificate().der());
        let curve = identity("curve", KeyKind::Ec(Curve::P256));
        let curve = pem("PRIVATE KEY", key(curve.key.public().kind())) + &pem("CERTIFICATE", curve.certificate().der());
        let both = format!("{us}{partner}");
        let (server, empty) = (us.clone(), String::new());
        let files = [("us.pem", us), ("partner.pem", partner), ("both.pem", both), ("curve.pem", curve)];
        Files(files.into_iter().chain([("server.pem", server), ("empty.pem", empty)]).collect())
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", BASE64_STANDARD.encode(der))
}

impl KeyFiles for Files {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.0.get(path).map(|content| content.clone().into_bytes()).ok_or_else(|| format!("{path}: no such file"))
    }

    fn secret(&self, text: &str) -> Result<Secret, String> {
        if text == "$secret{nothing}" { Err("no such secret".to_owned()) } else { Ok(Secret::from(text)) }
    }

    fn key_password(&self, _: &str) -> Option<Secret> {
        None
    }

    fn server_store(&self, name: &str) -> Option<Crypto> {
        (name == "server.jks").then(|| Crypto { file: Some("server.pem".to_owned()), ..Crypto::default() })
    }
}

/// A `RampartConfig` of these elements, in which `<k>FILE,TRUST</k>` is a `crypto` of Merlin.
fn rampart(content: &str) -> String {
    const MERLIN: &str = "org.apache.wss4j.crypto.merlin";
    let mut pieces = content.split("<k>");
    let mut config = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (files, rest) = piece.split_once("</k>").expect("a key store has an end");
        let (own, trust) = files.split_once(',').unwrap_or((files, ""));
        config += &format!(
            "<ramp:crypto provider='org.apache.wss4j.common.crypto.Merlin'>
                <ramp:property name='{MERLIN}.keystore.file'>{own}</ramp:property>
                <ramp:property name='{MERLIN}.keystore.type'>PEM</ramp:property>
                <ramp:property name='{MERLIN}.truststore.file'>{trust}</ramp:property>
            </ramp:crypto>{rest}"
        );
    }
    format!("<ramp:RampartConfig>{config}</ramp:RampartConfig>")
}

fn load(content: &str, side: Side, uses: Uses) -> Result<Guard, String> {
    let loaded = Guard::load(policy(content), side, uses, &Files::with_keys(), &settings());
    loaded.map(|(guard, _)| guard).map_err(|problems| problems.iter().map(|problem| format!("{problem}\n")).collect())
}

fn refused(content: &str, side: Side, uses: Uses) -> String {
    load(content, side, uses).err().expect("keys that are missing")
}

#[test]
fn the_keys_are_those_that_rampart_names() {
    let content = both_protected()
        + &rampart(
            "<ramp:user>us</ramp:user><ramp:encryptionUser>partner</ramp:encryptionUser>
            <ramp:signatureCrypto><k>us.pem,partner.pem</k></ramp:signatureCrypto>
            <ramp:encryptionCrypto><k>partner.pem</k></ramp:encryptionCrypto>",
        );
    let guard = load(&content, Side::Initiator, Uses::Both).expect("all keys are there");
    let Keys { signature, decryption, encryption, trust, .. } = &guard.keys;
    assert_eq!(signature.as_ref().map(|identity| &*identity.alias), Some("us"));
    assert_eq!(decryption.iter().map(|identity| &*identity.alias).collect::<Vec<_>>(), ["us"]);
    let partner = encryption.clone().expect("a certificate");
    assert_eq!(partner.subject().text(), "CN=partner,O=Myelin");
    let check = |certificate: &Arc<Certificate>| {
        trust.check(std::slice::from_ref(certificate), crate::keys::Purpose::Signature, now()).is_ok()
    };
    assert!(check(&partner));
    let own = signature.as_ref().expect("a key").certificate();
    assert!(!check(own), "beside a trust store the key store is not trusted");
}

#[test]
fn one_key_store_may_serve_for_all() {
    let content = both_protected()
        + &rampart(
            "<ramp:user>alice</ramp:user><ramp:userCertAlias>us</ramp:userCertAlias>
            <ramp:encryptionUser>partner</ramp:encryptionUser>
            <ramp:signatureCrypto><k>both.pem</k></ramp:signatureCrypto>",
        );
    let guard = load(&content, Side::Recipient, Uses::Both).expect("all keys are there");
    assert_eq!(guard.keys.encryption.as_ref().map(|one| one.subject().text()), Some("CN=partner,O=Myelin"));
    let wrong_alias = content.replace(">us<", ">them<");
    assert!(refused(&wrong_alias, Side::Recipient, Uses::Both).contains("no private key \"them\", expected one of us"));
}

#[test]
fn keys_that_are_not_needed_are_not_read() {
    let config = rampart(
        "<ramp:user>us</ramp:user><ramp:encryptionUser>partner</ramp:encryptionUser>
            <ramp:signatureCrypto><k>us.pem</k></ramp:signatureCrypto>
            <ramp:encryptionCrypto><k>nowhere.pem</k></ramp:encryptionCrypto>",
    );
    let content = both_protected() + &config;
    assert!(refused(&content, Side::Initiator, Uses::Both).contains("nowhere.pem: no such file"));
    assert!(load(&content, Side::Initiator, Uses::Verify).is_ok());
    assert!(load(&(transport("<sp:HttpsToken/>") + &config), Side::Recipient, Uses::Both).is_ok());
}

#[test]
fn what_a_key_store_lacks_is_told() {
    let with = |config: &str, uses: Uses| refused(&(both_protected() + &rampart(config)), Side::Initiator, uses);
    assert!(with("", Uses::Both).contains("RampartConfig names no key store: expected signatureCrypto"));
    assert!(with("", Uses::Secure).contains("nothing says for whom messages are encrypted"));
    let nobody =
        "<ramp:signatureCrypto><k>us.pem</k></ramp:signatureCrypto><ramp:encryptionUser>nobody</ramp:encryptionUser>";
    assert!(with(nobody, Uses::Secure).contains("no certificate \"nobody\" to encrypt for"));
    let public = "<ramp:signatureCrypto><k>partner.pem</k></ramp:signatureCrypto>";
    assert!(with(public, Uses::Verify).contains("no private key of RSA with 2048 bits or more decrypts"));
    let curve = "<ramp:signatureCrypto><k>curve.pem</k></ramp:signatureCrypto>";
    assert!(with(curve, Uses::Verify).contains("no private key of RSA with 2048 bits or more decrypts"));
    let empty = "<ramp:signatureCrypto><k>us.pem,empty.pem</k></ramp:signatureCrypto>";
    assert!(with(empty, Uses::Verify).contains("empty.pem: "));
}

#[test]
fn the_servers_own_key_store_is_asked_for_by_its_name() {
    let config = |name: &str| {
        asymmetric("<sp:IncludeTimestamp/>")
            + &format!(
                "<ramp:RampartConfig><ramp:signatureCrypto><ramp:crypto provider='a.ServerCrypto'>
                <ramp:property name='org.wso2.carbon.security.crypto.privatestore'>{name}</ramp:property>
                <ramp:property name='org.wso2.carbon.security.crypto.truststores'>{name}</ramp:property>
                <ramp:property name='org.wso2.carbon.security.crypto.alias'>us</ramp:property>
            </ramp:crypto></ramp:signatureCrypto></ramp:RampartConfig>"
            )
    };
    let guard = load(&config("server.jks"), Side::Recipient, Uses::Both).expect("the server has it");
    assert_eq!(guard.keys.signature.as_ref().map(|identity| &*identity.alias), Some("us"));
    assert!(
        refused(&config("other.jks"), Side::Recipient, Uses::Both).contains("no key store \"other.jks\" of its own")
    );
}

#[test]
fn alternatives_share_their_configuration() {
    let one = |user: &str| rampart(&format!("<ramp:user>{user}</ramp:user>"));
    let content = format!(
        "{}<wsp:ExactlyOne><wsp:All>{}</wsp:All><wsp:All>{}</wsp:All></wsp:ExactlyOne>",
        transport("<sp:HttpsToken/>"),
        one("a"),
        one("b")
    );
    assert!(refused(&content, Side::Recipient, Uses::Both).contains("different RampartConfigs"));
}

#[test]
fn parts_that_no_token_signs_are_not_said_to_be_signed() {
    let parts = format!("{X509}<sp:SignedParts><sp:Header Namespace='urn:h'/></sp:SignedParts>");
    for (name, expected) in [("EndorsingSupportingTokens", ""), ("SignedSupportingTokens", "sign nothing")] {
        let content = both_protected() + &supporting(name, "").replace("<p></p>", &format!("<p>{parts}</p>"));
        let wrong = wrong(&content, Side::Recipient, Uses::Both, all_keys());
        assert!(if expected.is_empty() { wrong.is_empty() } else { wrong.contains(expected) }, "{name}: {wrong}");
    }
}
