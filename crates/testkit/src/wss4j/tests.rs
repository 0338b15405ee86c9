use super::*;

const ENVELOPE: &str = concat!(
    r#"<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/">"#,
    r#"<s:Body><m:order xmlns:m="http://services.samples/xsd">IBM</m:order></s:Body></s:Envelope>"#
);
const BODY: &str = "{http://schemas.xmlsoap.org/soap/envelope/}Body";

#[test]
fn what_one_engine_secures_the_other_verifies() {
    let Some(wss4j) = Wss4j::shared() else { return };
    for (writer, reader) in [("dom", "stax"), ("stax", "dom")] {
        let settings = [
            ("engine", writer),
            ("action", "Timestamp Signature Encrypt"),
            ("signatureParts", TIMESTAMP_AND_BODY),
            ("signatureAlgorithm", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"),
            ("encryptionSymAlgorithm", "http://www.w3.org/2009/xmlenc11#aes128-gcm"),
        ];
        let secured = wss4j.secure(ENVELOPE.as_bytes(), &settings).expect("it can be secured");
        assert!(!String::from_utf8_lossy(&secured.message).contains(">IBM<"));
        let required = [("engine", reader), ("action", "Timestamp Signature Encrypt")];
        let verified = wss4j.verify(&secured.message, &required).expect("it is accepted");
        assert!(verified.has("signed", BODY) && verified.has("encrypted", BODY), "{:?}", verified.facts);
        assert!(verified.fact("certificate").is_some_and(|name| name.contains("CN=")));
        assert!(String::from_utf8_lossy(&verified.message).contains(">IBM</m:order>"));
    }
}

#[test]
fn what_was_changed_is_refused() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let signed = wss4j.secure(ENVELOPE.as_bytes(), &[("action", "Signature")]).expect("it can be signed");
    let changed = String::from_utf8_lossy(&signed.message).replace(">IBM<", ">SUN<");
    for (engine, complaint) in [("dom", "signature or decryption was invalid"), ("stax", "Invalid digest")] {
        let refusal = wss4j.verify(changed.as_bytes(), &[("engine", engine)]).expect_err("it is refused");
        assert!(refusal.to_string().contains(complaint), "{refusal}");
    }
}

#[test]
fn tokens_and_bindings_of_every_kind_go_from_each_engine_to_the_other() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let hmac = ("signatureAlgorithm", "http://www.w3.org/2000/09/xmldsig#hmac-sha1");
    let both = &["dom", "stax"][..];
    for (writers, finds, settings) in [
        (both, "UsernameToken", &[("action", "UsernameToken"), ("passwordType", "PasswordDigest")][..]),
        (both, "Signature", &[("action", "SAMLTokenSigned"), ("samlConfirmation", "holder-of-key")]),
        (
            both,
            "Signature",
            &[("action", "SAMLTokenSigned"), ("samlVersion", "1.1"), ("samlConfirmation", "holder-of-key")],
        ),
        (&["dom"], "Encrypt", &[("action", "Signature Encrypt"), ("symmetric", "EncryptedKey"), hmac]),
        (both, "Signature", &[("action", "SignatureDerived"), ("derivedTokenReference", "DirectReference"), hmac]),
    ] {
        for writer in writers {
            let settings = [settings, &[("engine", *writer)]].concat();
            let secured =
                wss4j.secure(ENVELOPE.as_bytes(), &settings).unwrap_or_else(|error| panic!("{settings:?}: {error}"));
            for reader in both {
                let verified = wss4j.verify(&secured.message, &[("engine", reader), ("action", finds)]);
                verified.unwrap_or_else(|error| panic!("{settings:?} by {reader}: {error}"));
            }
        }
    }
}

#[test]
fn a_response_confirms_the_signature_of_its_request() {
    let Some(wss4j) = Wss4j::shared() else { return };
    for engine in ["dom", "stax"] {
        let [client, server] = ["client", "server"].map(|side| format!("{engine}-{side}"));
        let confirm = [("engine", engine), ("enableSignatureConfirmation", "true")];
        let with = |session: &str, more: &[(&'static str, &'static str)], message: &[u8], verb: &str| {
            let settings = [&confirm[..], more, &[("session", session)]].concat();
            let answer =
                if verb == "secure" { wss4j.secure(message, &settings) } else { wss4j.verify(message, &settings) };
            answer.unwrap_or_else(|error| panic!("{verb} {settings:?}: {error}"))
        };
        let request = with(&client, &[("action", "Signature")], ENVELOPE.as_bytes(), "secure");
        with(&server, &[("action", "Signature")], &request.message, "verify");
        let respond = [("action", "Signature"), ("role", "response"), ("user", "bob")];
        let response = with(&server, &respond, ENVELOPE.as_bytes(), "secure");
        let verify = [("action", "Signature SignatureConfirmation"), ("role", "response")];
        with(&client, &verify, &response.message, "verify");
    }
}

#[test]
fn a_policy_refuses_what_does_not_follow_it() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/kits/rampart/policy.xml");
    let verify = |changes: &[(&'static str, &'static str)]| {
        // Of two settings of one name the later counts.
        let secured =
            wss4j.secure(ENVELOPE.as_bytes(), &[&AS_RAMPART[..], changes].concat()).expect("it can be secured");
        wss4j.verify(&secured.message, &[("policy", policy)])
    };
    verify(&[]).expect("it follows the policy");
    for (change, complaint) in [
        (("action", "Timestamp Signature"), "SOAP-Body must be encrypted"),
        (("action", "Timestamp Encrypt Signature"), "SignBeforeEncrypting"),
        (
            ("signatureAlgorithm", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"),
            "rsa-sha256 does not meet policy",
        ),
    ] {
        let refusal = verify(&[change]).expect_err(complaint);
        assert!(refusal.to_string().contains(complaint), "{refusal}");
    }
}

#[test]
fn strangers_are_not_trusted() {
    let Some(wss4j) = Wss4j::shared() else { return };
    for stranger in ["mallory", "expired", "carol"] {
        let settings = [("action", "Signature"), ("user", stranger), ("signatureKeyIdentifier", "DirectReference")];
        let signed = wss4j.secure(ENVELOPE.as_bytes(), &settings).expect("it can be signed");
        for engine in ["dom", "stax"] {
            let trust = [("engine", engine), ("isBSPCompliant", "false"), ("signatureVerificationStore", "trust.jks")];
            wss4j.verify(&signed.message, &trust).expect_err(stranger);
        }
    }
}

#[test]
fn a_process_takes_its_keys_with_it() {
    let Some(wss4j) = Wss4j::start() else { return };
    let keys = wss4j.keys().to_owned();
    assert!(keys.join("alice.p12").exists() && keys.join("ca.crl.pem").exists());
    drop(wss4j);
    assert!(!keys.exists(), "{} is still there", keys.display());
}

#[test]
#[should_panic(expected = "there is no setting signaturParts")]
fn a_misspelt_setting_is_the_tests_mistake() {
    let Some(wss4j) = Wss4j::shared() else { panic!("there is no setting signaturParts to be wrong without WSS4J") };
    let _ = wss4j.verify(ENVELOPE.as_bytes(), &[("signaturParts", "")]);
}
