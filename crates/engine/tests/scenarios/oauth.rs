//! Signed access tokens before an API: who passes, who does not, and what happens where the issuer is not there.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::OnceLock;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::common::{Reply, Scenario, Sent, request, response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use myelin_engine::transport::SendErrorKind;
use myelin_message::{Body, BodyError, Message, Source, Wire};
use myelin_wss::algorithm::{DigestMethod, SignatureMethod};
use myelin_wss::keys::PrivateKey;
use serde_json::{Value, json};

/// The time at which the scenarios begin, in seconds.
const NOW: u64 = 1_795_235_677;

/// Key pairs of the issuer, made once: RSA, P-256, and one that nobody trusts.
fn keys() -> &'static [PrivateKey; 3] {
    static KEYS: OnceLock<[PrivateKey; 3]> = OnceLock::new();
    KEYS.get_or_init(|| {
        let rsa = || rcgen::KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048).unwrap();
        let ec = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        [rsa(), ec, rsa()].map(|pair| PrivateKey::from_der(&pair.serialize_der()).unwrap())
    })
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The set of keys that the issuer publishes.
fn key_set() -> String {
    let [rsa, ec, _] = keys();
    let (modulus, exponent) = rsa.public().rsa().unwrap();
    let point = ec.public().ec_point().unwrap();
    json!({ "keys": [
        { "kty": "oct", "kid": "other", "k": "AAAA" },
        { "kty": "RSA", "kid": "rsa", "use": "sig", "n": encoded(modulus), "e": encoded(exponent) },
        { "kty": "EC", "kid": "ec", "crv": "P-256", "x": encoded(&point[1..33]), "y": encoded(&point[33..]) },
    ] })
    .to_string()
}

fn claims() -> Value {
    json!({
        "iss": "https://issuer.example", "sub": "ann", "aud": ["orders", "other"], "jti": "1",
        "iat": NOW - 10, "exp": NOW + 60,
    })
}

fn token(key: &PrivateKey, method: SignatureMethod, header: &Value, claims: &Value) -> String {
    let signed = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
    let signature = key.sign(method, signed.as_bytes()).unwrap();
    format!("{signed}.{}", encoded(signature))
}

const RS256: SignatureMethod = SignatureMethod::Rsa(DigestMethod::Sha256);

/// A token as it should be, with some claims changed.
fn token_with(changed: &Value) -> String {
    let mut claims = claims();
    for (name, value) in changed.as_object().unwrap() {
        claims[name] = value.clone();
    }
    token(&keys()[0], RS256, &json!({ "typ": "at+jwt", "alg": "RS256", "kid": "rsa" }), &claims)
}

fn scenario(properties: &str, issuer: impl Fn(usize) -> Result<Message, SendErrorKind> + 'static) -> Scenario {
    let artefacts = format!(
        "<api name='a' context='/a'><handlers>\
         <handler class='org.wso2.micro.integrator.security.handler.oauth.OAuth2AuthorizationHandler'>\
         <property name='jwksEndpoint' value='http://issuer/keys'/>\
         <property name='trustedIssuers' value='https://other.example, https://issuer.example'/>\
         <property name='audience' value='orders'/>{properties}</handler></handlers>\
         <resource><inSequence><send><endpoint><address uri='http://backend/'/></endpoint></send></inSequence></resource></api>"
    );
    let asked = RefCell::new(0);
    Scenario::with(&artefacts, move |_, sent: &Sent| {
        if sent.uri == "http://issuer/keys" {
            let mut asked = asked.borrow_mut();
            *asked += 1;
            issuer(*asked - 1)
        } else {
            Ok(response(200, &[], "served"))
        }
    })
}

fn published(_: usize) -> Result<Message, SendErrorKind> {
    Ok(response(200, &[("Content-Type", "application/json")], &key_set()))
}

fn ask(scenario: &Scenario, token: &str) -> Reply {
    scenario.serve(request("GET", "/a", &[("Authorization", &format!("Bearer {token}"))], ""))
}

#[test]
fn a_token_of_a_trusted_issuer_passes_and_stays_here() {
    let scenario = scenario("<property name='allowedAlgorithms' value='RS256,PS256,ES256'/>", published);
    let [rsa, ec, _] = keys();
    let signed = |key, method, alg: &str, id: &str| {
        token(key, method, &json!({ "typ": "application/at+jwt", "alg": alg, "kid": id }), &claims())
    };
    for token in [
        token_with(&json!({})),
        signed(rsa, SignatureMethod::RsaPss(DigestMethod::Sha256), "PS256", "rsa"),
        signed(ec, SignatureMethod::Ecdsa(DigestMethod::Sha256), "ES256", "ec"),
    ] {
        assert_eq!(ask(&scenario, &token).body, "served");
    }
    let sent = scenario.sent();
    let uris: Vec<&str> = sent.iter().map(|sent| sent.uri.as_str()).collect();
    assert_eq!(uris, ["http://issuer/keys", "http://backend/", "http://backend/", "http://backend/"]);
    assert_eq!(sent[1].header("Authorization"), None);
}

#[test]
fn a_token_that_is_not_as_it_should_be_is_refused() {
    let scenario = scenario("<property name='maxIssuedAtAgeSeconds' value='3600'/>", published);
    let check = |token: &str, status: u16, why: &str| {
        let reply = ask(&scenario, token);
        assert_eq!((reply.status, reply.body.as_str()), (status, ""), "{why}");
        assert_eq!(reply.header("WWW-Authenticate").is_some(), status == 401, "{why}");
    };
    let with = |changed: Value| token_with(&changed);
    check(&with(json!({ "iss": "https://evil.example" })), 401, "issuer");
    check(&with(json!({ "exp": NOW - 60 })), 401, "expired");
    check(&with(json!({ "exp": null })), 401, "no expiry");
    check(&with(json!({ "exp": "soon" })), 401, "an expiry that is no number");
    check(&with(json!({ "nbf": NOW + 60 })), 401, "not yet");
    check(&with(json!({ "iat": NOW + 60 })), 401, "issued tomorrow");
    check(&with(json!({ "iat": NOW - 7200 })), 401, "too old");
    check(&with(json!({ "jti": null })), 401, "no identifier");
    check(&with(json!({ "sub": "" })), 401, "nobody");
    check(&with(json!({ "aud": "else" })), 403, "for somebody else");
    check(&with(json!({ "cnf": { "x5t#S256": "x" } })), 401, "bound to a certificate");
    let good = json!({ "typ": "at+jwt", "alg": "RS256", "kid": "rsa" });
    let [rsa, ec, foreign] = keys();
    let header = |name: &str, value: Value| {
        let mut header = good.clone();
        header[name] = value;
        header
    };
    check(&token(rsa, RS256, &header("typ", json!("JWT")), &claims()), 401, "an identity token");
    check(&token(rsa, RS256, &header("crit", json!(["x"])), &claims()), 401, "an extension");
    check(&token(foreign, RS256, &good, &claims()), 401, "another key");
    let es256 = SignatureMethod::Ecdsa(DigestMethod::Sha256);
    check(&token(ec, es256, &header("alg", json!("ES256")), &claims()), 401, "an algorithm that is not usual");
    let none = format!("{}.{}.", encoded(header("alg", json!("none")).to_string()), encoded(claims().to_string()));
    check(&none, 401, "no signature");
    let good = token_with(&json!({}));
    let (signed, _) = good.rsplit_once('.').unwrap();
    let (_, signature) =
        token_with(&json!({ "sub": "bob" })).rsplit_once('.').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    check(&format!("{signed}.{signature}"), 401, "a signature of another token");
    check("a.b", 401, "two parts");
    check(&format!("{}.{}.x", encoded("[]"), encoded("[]")), 401, "no objects");
    check(&format!("{good}.x"), 401, "four parts");
    check(&"a".repeat(20_000), 401, "too long");
    assert_eq!(scenario.serve(request("GET", "/a", &[], "")).status, 401);
    assert!(scenario.sent().iter().all(|sent| sent.uri != "http://backend/"));
}

#[test]
fn a_name_that_no_key_has_makes_nobody_ask_for_keys_all_the_time() {
    let scenario = scenario("", published);
    let foreign =
        |id: &str| token(&keys()[2], RS256, &json!({ "typ": "at+jwt", "alg": "RS256", "kid": id }), &claims());
    (0..5).for_each(|n| assert_eq!(ask(&scenario, &foreign(&format!("{n}"))).status, 401));
    assert_eq!(scenario.sent().len(), 1);
}

#[test]
fn without_keys_the_answer_is_503_and_comes_in_time() {
    let down = scenario("", |_| Err(SendErrorKind::ConnectFailed));
    assert_eq!(ask(&down, &token_with(&json!({}))).status, 503);
    assert_eq!(ask(&down, &token_with(&json!({}))).status, 503);
    assert_eq!(down.sent().len(), 1, "nobody asks twice at once");
    let stalls = scenario("<property name='socketTimeout' value='500'/>", |_| {
        let mut message = response(200, &[], "");
        message.body = Body::Wire(Wire { source: Rc::new(Stalled), ticket: 1 });
        Ok(message)
    });
    assert_eq!(ask(&stalls, &token_with(&json!({}))).status, 503);
    assert_eq!(stalls.clock().now(), Duration::from_millis(500));
    for answer in ["", "{}", "[", "{\"keys\": 1}"] {
        let scenario = scenario("", move |_| Ok(response(200, &[], answer)));
        assert_eq!(ask(&scenario, &token_with(&json!({}))).status, 503, "{answer}");
    }
}

#[test]
fn settings_that_cannot_be_honoured_are_problems() {
    let check = |properties: &str, expected: &str| {
        let api = format!(
            "<api name='a' context='/a'><handlers><handler class='org.wso2.micro.integrator.security.handler.OAuth2AuthorizationHandler'>\
             {properties}</handler></handlers><resource/></api>"
        );
        let text = crate::common::report(&api).to_text();
        assert!(text.contains("problem") && text.contains(expected), "{text}");
    };
    let keys = "<property name='jwksEndpoint' value='http://h/k'/>";
    let both = format!("{keys}<property name='trustedIssuers' value='x'/>");
    check("", "jwksEndpoint is missing");
    check(keys, "trustedIssuers is missing");
    check("<property name='jwksEndpoint' value='keys'/>", "not an absolute http or https URI");
    check(&format!("{both}<property name='enableProxy' value='true'/>"), "proxy");
    check(&format!("{both}<property name='allowedAlgorithms' value='HS256'/>"), "\"HS256\" is not offered");
    check(&format!("{both}<property name='tokenRevocationHandler' value='a.B'/>"), "JVM class");
    check(&format!("{both}<property name='maxIssuedAtAgeSeconds' value='x'/>"), "no number");
}

/// A body that never comes.
struct Stalled;

impl Source for Stalled {
    fn remaining(&self, _: u64) -> Option<u64> {
        None
    }

    fn poll_piece(&self, _: u64, _: &mut Context<'_>, _: &mut Vec<u8>) -> Poll<Result<bool, BodyError>> {
        Poll::Pending
    }

    fn poll_look(
        &self,
        _: u64,
        _: &mut Context<'_>,
        _: u64,
        _: &mut dyn FnMut(&[u8], bool) -> bool,
    ) -> Poll<Result<(), BodyError>> {
        Poll::Pending
    }

    fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
}
