//! Users, assertions, and tokens that are covered through references.

use myelin_testkit::wss4j::Wss4j;

use crate::cases::{BASIC, ENGINES, SIGNED, Wrong, both, service, with};
use crate::world::policy;

const INCLUSION: &str = "http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702/IncludeToken/AlwaysToRecipient";

/// A policy that asks for one more token.
fn with_token(kind: &str, token: &str) -> String {
    let tokens = format!("<sp:{kind}><wsp:Policy>{token}</wsp:Policy></sp:{kind}>");
    both(BASIC, "").replace("<sp:EncryptedParts>", &format!("{tokens}<sp:EncryptedParts>"))
}

#[test]
fn users_show_passwords_and_digests() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut wrong = Wrong::default();
    let element =
        "{Element}{http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd}UsernameToken";
    let signed = format!("{SIGNED};{element}");
    for (kind, password) in [("<sp:HashPassword/>", "PasswordDigest"), ("", "PasswordText")] {
        let token = format!(
            "<sp:UsernameToken sp:IncludeToken='{INCLUSION}'><wsp:Policy>{kind}<sp:WssUsernameToken10/></wsp:Policy>\
             </sp:UsernameToken>"
        );
        let service = service(wss4j, &with_token("SignedSupportingTokens", &token), "bob");
        for engine in ENGINES {
            let settings = with(
                engine,
                &[
                    ("action", "UsernameToken Timestamp Signature Encrypt"),
                    ("passwordType", password),
                    ("signatureParts", &signed),
                ],
            );
            if let Some(verified) = wrong.check(wss4j, &format!("{password}, {engine}"), &service, &settings) {
                assert_eq!(verified.findings.user.map(|user| user.name).as_deref(), Some("alice"));
            }
        }
    }
}

/// The issuer of WSS4J's assertions signs with SHA-1, which the suite has to name.
const LEGACY: [(&str, &str); 2] = [
    ("signatureAlgorithm", "http://www.w3.org/2000/09/xmldsig#rsa-sha1"),
    ("signatureDigestAlgorithm", "http://www.w3.org/2000/09/xmldsig#sha1"),
];
const VERSIONS: [(&str, &str); 2] = [("1.1", "WssSamlV11Token11"), ("2.0", "WssSamlV20Token11")];

fn saml(name: &str) -> String {
    format!(r#"<sp:SamlToken sp:IncludeToken="{INCLUSION}"><wsp:Policy><sp:{name}/></wsp:Policy></sp:SamlToken>"#)
}

#[test]
fn whoever_shows_an_assertion_is_believed_where_its_issuer_is() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut wrong = Wrong::default();
    for (version, name) in VERSIONS {
        let policy = with_token("SupportingTokens", &saml(name)).replace("Basic128GCMSha256", "Basic128GCM");
        let service = service(wss4j, &policy, "bob");
        for engine in ENGINES {
            let mut settings = with(engine, &LEGACY);
            settings.extend([
                ("action", "SAMLTokenUnsigned Timestamp Signature Encrypt"),
                ("samlVersion", version),
                ("samlConfirmation", "bearer"),
            ]);
            if let Some(verified) = wrong.check(wss4j, &format!("bearer {version}, {engine}"), &service, &settings) {
                let saml = verified.findings.saml.expect("an assertion");
                assert_eq!((saml.subject.as_str(), saml.issuer.as_str()), ("alice", "https://issuer.example"));
            }
        }
    }
}

#[test]
fn subjects_sign_with_the_keys_that_assertions_give_them() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut wrong = Wrong::default();
    for (version, name) in VERSIONS {
        let policy = policy(&format!(
            "<sp:TransportBinding><p><sp:TransportToken><p><sp:HttpsToken/></p></sp:TransportToken>
             <sp:AlgorithmSuite><p><sp:Basic128GCM/></p></sp:AlgorithmSuite><sp:IncludeTimestamp/>
             </p></sp:TransportBinding>
             <sp:EndorsingSupportingTokens><p>{}</p></sp:EndorsingSupportingTokens>",
            saml(name)
        ));
        let service = service(wss4j, &policy, "bob");
        for engine in ENGINES {
            for key in ["X509_CERT", "KEY_VALUE"] {
                let mut settings = with(engine, &LEGACY);
                settings.extend([
                    ("action", "Timestamp SAMLTokenSigned"),
                    ("samlVersion", version),
                    ("samlConfirmation", "holder-of-key"),
                    ("samlKeyInfo", key),
                    ("isBSPCompliant", "false"),
                ]);
                wrong.check(wss4j, &format!("holder {version} {key}, {engine}"), &service, &settings);
            }
        }
    }
}

#[test]
fn whoever_signs_a_message_vouches_for_the_assertion_in_it() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut wrong = Wrong::default();
    for (version, name) in VERSIONS {
        let policy = with_token("SignedSupportingTokens", &saml(name))
            .replace("Basic128GCMSha256", "Basic128GCM")
            .replace("<sp:EncryptedParts><sp:Body/></sp:EncryptedParts>", "");
        let service = service(wss4j, &policy, "bob");
        for engine in ENGINES {
            let mut settings = with(engine, &LEGACY);
            settings.extend([
                ("action", "Timestamp SAMLTokenSigned"),
                ("samlVersion", version),
                ("samlConfirmation", "sender-vouches"),
                ("samlSigned", "false"),
                ("signatureKeyIdentifier", "DirectReference"),
            ]);
            wrong.check(wss4j, &format!("sender {version}, {engine}"), &service, &settings);
        }
    }
}

#[test]
fn tokens_are_covered_through_references() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut wrong = Wrong::default();
    let service = service(wss4j, &both(BASIC, "<sp:ProtectTokens/>"), "bob");
    let signed = format!("{SIGNED};{{}}{{}}STRTransform");
    for reference in ["DirectReference", "IssuerSerial", "SKIKeyIdentifier", "Thumbprint"] {
        let settings = with("dom", &[("signatureParts", &signed), ("signatureKeyIdentifier", reference)]);
        wrong.check(wss4j, &format!("{reference}, dom"), &service, &settings);
    }
}
