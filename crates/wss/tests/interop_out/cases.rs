//! One direction: requests of all kinds.

use myelin_testkit::wss4j::{Answer, Wss4j};
use myelin_wss::guard::Side;

use crate::world::{MESSAGE, PARTS, asymmetric, guard, policy, secure, symmetric, x509};

const ENGINES: [&str; 2] = ["dom", "stax"];
/// For what WSS4J's streams cannot do: see where it stands.
const TREES: &[&str] = &["dom"];
const BASIC: &str = "<sp:Basic128GCMSha256/>";

/// A request, and what WSS4J is asked to find in it.
struct Case<'a> {
    policy: String,
    message: &'a str,
    signer: &'a str,
    receiver: &'a str,
    assertion: Option<String>,
    actions: &'a str,
    settings: Vec<(&'a str, &'a str)>,
    engines: &'a [&'a str],
}

impl Default for Case<'_> {
    fn default() -> Self {
        Case {
            policy: String::new(),
            message: MESSAGE,
            signer: "alice",
            receiver: "bob",
            assertion: None,
            actions: "Timestamp Signature Encrypt",
            settings: Vec::new(),
            engines: &ENGINES,
        }
    }
}

/// What WSS4J did not accept.
#[derive(Default)]
struct Refused(Vec<String>);

impl Refused {
    /// Secures the message and lets all engines verify it.
    ///
    /// Shape: the answers of those that accept it.
    fn check(&mut self, wss4j: &Wss4j, name: &str, case: &Case<'_>) -> Vec<Answer> {
        let people = (case.signer, Some(case.receiver));
        let guard = guard(wss4j, &case.policy, Side::Initiator, people, case.assertion.clone());
        let secured = secure(&guard, case.message, None);
        let mut answers = Vec::new();
        for engine in case.engines {
            let mut settings = vec![("engine", *engine), ("action", case.actions)];
            settings.extend(&case.settings);
            match wss4j.verify(&secured.bytes, &settings) {
                Ok(answer) => answers.push(answer),
                Err(refusal) => self.0.push(format!(
                    "{name}, {engine}: {}\n{}",
                    refusal.reasons.last().map_or("no reason", String::as_str),
                    String::from_utf8_lossy(&secured.bytes)
                )),
            }
        }
        answers
    }
}

impl Drop for Refused {
    fn drop(&mut self) {
        assert!(self.0.is_empty() || std::thread::panicking(), "{}", self.0.join("\n\n"));
    }
}

fn both(suite: &str, more: &str) -> String {
    let parts = format!("{}{PARTS}", asymmetric(suite, &x509("AlwaysToRecipient", ""), &x509("Never", ""), more));
    policy(&parts)
}

#[test]
fn a_signed_and_encrypted_request_is_accepted_with_its_content_unchanged() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Refused::default();
    let answers = refused.check(wss4j, "plain", &Case { policy: both(BASIC, ""), ..Case::default() });
    for answer in answers {
        let message = String::from_utf8_lossy(&answer.message);
        assert!(message.contains("W\u{f6}rter") && message.contains("you &amp; me"), "{message}");
        assert!(answer.has("signed", "{http://schemas.xmlsoap.org/soap/envelope/}Body"), "{:?}", answer.facts);
        assert!(answer.has("signed", "{urn:t}to"), "{:?}", answer.facts);
    }
}

#[test]
fn every_algorithm_suite_is_accepted() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Refused::default();
    for cipher in ["Basic128", "Basic192", "Basic256", "TripleDes", "Basic128GCM", "Basic192GCM", "Basic256GCM"] {
        for rest in ["", "Rsa15", "Sha256", "Sha256Rsa15", "Sha256MgfSha256"] {
            let name = format!("{cipher}{rest}");
            let settings = vec![("allowRSA15KeyTransportAlgorithm", "true"), ("isBSPCompliant", "false")];
            refused.check(
                wss4j,
                &name,
                &Case { policy: both(&format!("<sp:{name}/>"), ""), settings, ..Case::default() },
            );
        }
    }
}

#[test]
fn every_layout_and_order_of_protection_is_accepted() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Refused::default();
    let orders = [
        "",
        "<sp:EncryptBeforeSigning/>",
        "<sp:EncryptSignature/>",
        "<sp:EncryptBeforeSigning/><sp:EncryptSignature/>",
    ];
    for layout in ["Strict", "Lax", "LaxTsFirst", "LaxTsLast"] {
        for order in orders {
            let more = format!("<sp:Layout><p><sp:{layout}/></p></sp:Layout>{order}");
            refused.check(wss4j, &more, &Case { policy: both(BASIC, &more), ..Case::default() });
        }
    }
}

#[test]
fn every_reference_to_a_certificate_is_accepted() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Refused::default();
    for (initiator, recipient) in [
        (x509("AlwaysToRecipient", ""), x509("AlwaysToRecipient", "")),
        (x509("Never", "<sp:RequireKeyIdentifierReference/>"), x509("Never", "<sp:RequireKeyIdentifierReference/>")),
        (x509("Never", "<sp:RequireIssuerSerialReference/>"), x509("Never", "<sp:RequireIssuerSerialReference/>")),
        (x509("Never", "<sp:RequireThumbprintReference/>"), x509("Never", "<sp:RequireThumbprintReference/>")),
        (x509("Never", ""), x509("Never", "")),
    ] {
        for more in ["", "<sp:ProtectTokens/>"] {
            let policy = policy(&format!("{}{PARTS}", asymmetric(BASIC, &initiator, &recipient, more)));
            // A token that stands nowhere is covered by the transform of references, which streams do not resolve.
            let engines = if more.is_empty() || initiator.contains("Always") { &ENGINES } else { TREES };
            refused.check(wss4j, &initiator, &Case { policy, engines, ..Case::default() });
        }
    }
}

#[test]
fn tokens_are_covered_directly_and_by_the_transform_of_references() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Refused::default();
    let suite = format!("{BASIC}<sp:STRTransform10/>");
    for (inclusion, reference) in [
        ("AlwaysToRecipient", ""),
        ("Never", "<sp:RequireThumbprintReference/>"),
        ("Never", "<sp:RequireIssuerSerialReference/>"),
        ("Never", "<sp:RequireKeyIdentifierReference/>"),
    ] {
        let token = x509(inclusion, reference);
        let binding = asymmetric(&suite, &token, &x509("Never", ""), "<sp:ProtectTokens/>");
        let policy = policy(&format!("{binding}{PARTS}"));
        for message in [MESSAGE, DEFAULTS] {
            refused.check(wss4j, &token, &Case { policy: policy.clone(), message, engines: TREES, ..Case::default() });
        }
    }
}

/// Everything in default namespaces, prefixes taken that we would like, ids that are there already, no header.
const DEFAULTS: &str = r#"<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/" xmlns:wsu="urn:mine" xmlns:wsse="urn:too" xmlns:ds="urn:ds" xmlns:xenc="urn:x"><Body xmlns:u="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd" u:Id="the-body"><order xmlns="" wsu:Id="x"><wsse:a ds:b="c"/><xenc:d/></order></Body></Envelope>"#;
const SOAP_12: &str = r#"<S:Envelope xmlns:S="http://www.w3.org/2003/05/soap-envelope"><S:Header><t:to xmlns:t="urn:t" S:mustUnderstand="true" S:role="urn:r">you</t:to></S:Header><S:Body><m:order xmlns:m="urn:m"/></S:Body></S:Envelope>"#;
const EMPTY: &str =
    r#"<S:Envelope xmlns:S="http://schemas.xmlsoap.org/soap/envelope/"><S:Header/><S:Body/></S:Envelope>"#;
const OTHER_ACTOR: &str = r#"<S:Envelope xmlns:S="http://schemas.xmlsoap.org/soap/envelope/"><S:Header><w:Security xmlns:w="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd" S:actor="urn:other"><w:UsernameToken><w:Username>u</w:Username></w:UsernameToken></w:Security><w:Security xmlns:w="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"><w:Old/></w:Security></S:Header><S:Body><m:order xmlns:m="urn:m"/></S:Body></S:Envelope>"#;

#[test]
fn envelopes_of_all_shapes_are_secured() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Refused::default();
    for message in [DEFAULTS, SOAP_12, EMPTY, OTHER_ACTOR] {
        for more in ["", "<sp:EncryptBeforeSigning/>"] {
            // On streams WSS4J sees nothing in an envelope with an empty body, of its own either, and reads plaintexts
            // with the prefixes that their ciphertexts declare.
            let engines = if message == EMPTY || message == DEFAULTS { TREES } else { &ENGINES };
            refused.check(wss4j, message, &Case { policy: both(BASIC, more), message, engines, ..Case::default() });
        }
    }
}

#[test]
fn headers_and_elements_are_encrypted_as_the_version_of_the_standard_has_it() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Refused::default();
    let parts = r#"<sp:SignedParts><sp:Body/><sp:Header Namespace="urn:t"/></sp:SignedParts>"#;
    for (encrypted, name) in [
        (r#"<sp:EncryptedParts><sp:Header Namespace="urn:t"/><sp:Body/></sp:EncryptedParts>"#, "{urn:t}to"),
        (
            r#"<sp:EncryptedElements xmlns:m="urn:m"><sp:XPath>//m:item</sp:XPath></sp:EncryptedElements>"#,
            "{urn:m}item",
        ),
        (
            r#"<sp:ContentEncryptedElements xmlns:m="urn:m"><sp:XPath>//m:item</sp:XPath></sp:ContentEncryptedElements>"#,
            "{urn:m}item",
        ),
    ] {
        for wss in ["", "<sp:Wss11><p/></sp:Wss11>".replace("<p/>", "<p></p>").as_str()] {
            for more in ["", "<sp:EncryptBeforeSigning/>"] {
                let binding = asymmetric(BASIC, &x509("AlwaysToRecipient", ""), &x509("Never", ""), more);
                let policy = policy(&format!("{binding}{parts}{encrypted}{wss}"));
                // Streams do not verify a header block's ciphertext, which WSS4J itself cannot sign.
                let engines = if more.is_empty() || !encrypted.contains("Header") { &ENGINES } else { TREES };
                let answers = refused.check(wss4j, encrypted, &Case { policy, engines, ..Case::default() });
                for answer in answers {
                    assert!(answer.has("encrypted", name), "{name} {:?}", answer.facts);
                }
            }
        }
    }
}

#[test]
fn inclusive_canonical_forms_are_those_of_the_assembled_message() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Refused::default();
    for method in ["InclusiveC14N", "InclusiveC14N11"] {
        for more in ["", "<sp:EncryptBeforeSigning/>", "<sp:EncryptSignature/>"] {
            let policy = both(&format!("{BASIC}<sp:{method}/>"), more);
            // On streams WSS4J makes another form of the second, and cannot verify its own either.
            for (message, engines) in [(MESSAGE, &ENGINES[..]), (DEFAULTS, TREES)] {
                let settings = vec![("isBSPCompliant", "false")];
                let case = Case { policy: policy.clone(), message, settings, engines, ..Case::default() };
                refused.check(wss4j, method, &case);
            }
        }
    }
}

#[test]
fn keys_on_curves_sign() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Refused::default();
    for signer in ["alice-p256", "alice-p384", "alice-p521"] {
        let settings = vec![("isBSPCompliant", "false")];
        refused.check(wss4j, signer, &Case { policy: both(BASIC, ""), signer, settings, ..Case::default() });
    }
}

#[test]
fn symmetric_bindings_share_one_key() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Refused::default();
    for suite in ["<sp:Basic128/>", "<sp:Basic256Sha256/>", BASIC] {
        for more in ["", "<sp:EncryptBeforeSigning/>", "<sp:EncryptSignature/>", "<sp:ProtectTokens/>"] {
            for token in [x509("Never", "<sp:RequireThumbprintReference/>"), x509("Never", "<sp:RequireDerivedKeys/>")]
            {
                let policy = policy(&format!("{}{PARTS}<sp:Wss11><p></p></sp:Wss11>", symmetric(suite, &token, more)));
                let name = format!("{suite} {more} {token}");
                refused.check(wss4j, &name, &Case { policy, ..Case::default() });
            }
        }
    }
}

#[test]
fn paths_of_certificates_lead_to_the_root() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Refused::default();
    let token = x509("AlwaysToRecipient", "").replace("<sp:WssX509V3Token10/>", "<sp:WssX509PkiPathV1Token10/>");
    for more in ["", "<sp:ProtectTokens/>"] {
        let policy = policy(&format!("{}{PARTS}", asymmetric(BASIC, &token, &x509("Never", ""), more)));
        let settings = vec![("signatureVerificationStore", "trust.jks")];
        refused.check(wss4j, &token, &Case { policy, signer: "carol", settings, ..Case::default() });
    }
}

/// A policy with a user's token, used in this way.
fn with_user(kind: &str, token: &str, more: &str) -> String {
    let inclusion = "http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702/IncludeToken/AlwaysToRecipient";
    let binding = asymmetric(BASIC, &x509("AlwaysToRecipient", ""), &x509("Never", ""), more);
    policy(&format!(
        r#"{binding}{PARTS}<sp:{kind}><p><sp:UsernameToken sp:IncludeToken="{inclusion}"><p>{token}</p></sp:UsernameToken></p></sp:{kind}>
        <ramp:RampartConfig><ramp:user>alice</ramp:user></ramp:RampartConfig>"#
    ))
}

#[test]
fn tokens_of_users_are_accepted_however_they_are_protected() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Refused::default();
    for kind in
        ["SupportingTokens", "SignedSupportingTokens", "EncryptedSupportingTokens", "SignedEncryptedSupportingTokens"]
    {
        for token in ["", "<sp:HashPassword/>", "<sp:NoPassword/>"] {
            for more in ["", "<sp:EncryptBeforeSigning/>"] {
                // The two engines have different names for a token without password.
                let has_password = !token.contains("No");
                let user = if has_password { " UsernameToken" } else { "" };
                let case = Case {
                    policy: with_user(kind, token, more),
                    actions: &format!("Timestamp Signature Encrypt{user}"),
                    settings: vec![("allowUsernameTokenNoPassword", "true")],
                    ..Case::default()
                };
                refused.check(wss4j, &format!("{kind} {token} {more}"), &case);
            }
        }
    }
}

#[test]
fn endorsing_signatures_cover_the_signature_or_the_timestamp() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Refused::default();
    let token = x509("AlwaysToRecipient", "");
    for kind in ["EndorsingSupportingTokens", "SignedEndorsingSupportingTokens"] {
        let endorsing = format!("<sp:{kind}><p>{token}</p></sp:{kind}>");
        for binding in [
            symmetric(BASIC, &x509("Never", ""), ""),
            symmetric(BASIC, &x509("Never", ""), "<sp:ProtectTokens/><sp:EncryptSignature/>"),
            asymmetric(BASIC, &token, &x509("Never", ""), "<sp:ProtectTokens/>"),
            asymmetric(BASIC, &token, &x509("Never", ""), "<sp:EncryptBeforeSigning/>"),
        ] {
            let policy = policy(&format!("{binding}{PARTS}{endorsing}<sp:Wss11><p></p></sp:Wss11>"));
            refused.check(
                wss4j,
                &policy,
                &Case { policy: policy.clone(), actions: "Timestamp Signature Signature Encrypt", ..Case::default() },
            );
        }
        let transport = format!(
            "<sp:TransportBinding><p><sp:TransportToken><p><sp:HttpsToken><p></p></sp:HttpsToken></p></sp:TransportToken>
                <sp:AlgorithmSuite><p>{BASIC}</p></sp:AlgorithmSuite><sp:IncludeTimestamp/></p></sp:TransportBinding>{endorsing}"
        );
        refused.check(
            wss4j,
            "transport",
            &Case { policy: policy(&transport), actions: "Timestamp Signature", ..Case::default() },
        );
    }
}

#[test]
fn expressions_find_what_stands_in_the_header() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut refused = Refused::default();
    let parts = r#"<sp:EncryptedElements xmlns:ds="http://www.w3.org/2000/09/xmldsig#"
        xmlns:wsse="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd">
        <sp:XPath>//wsse:Security/wsse:UsernameToken</sp:XPath><sp:XPath>//wsse:Security/ds:Signature</sp:XPath></sp:EncryptedElements>
        <sp:SignedElements xmlns:wsse="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd">
        <sp:XPath>//wsse:UsernameToken</sp:XPath></sp:SignedElements>"#;
    let policy = with_user("SupportingTokens", "", "")
        .replace("<sp:SupportingTokens>", &format!("{parts}<sp:SupportingTokens>"));
    let actions = "Timestamp Signature Encrypt UsernameToken";
    for answer in refused.check(wss4j, "expressions", &Case { policy, actions, ..Case::default() }) {
        assert!(answer.has("encrypted", "{http://www.w3.org/2000/09/xmldsig#}Signature"), "{:?}", answer.facts);
        let user = "{http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd}UsernameToken";
        assert!(answer.has("encrypted", user) && answer.has("signed", user), "{:?}", answer.facts);
    }
}
