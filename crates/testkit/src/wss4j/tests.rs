use super::*;

const ENVELOPE: &str = concat!(
    r#"<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/">"#,
    r#"<s:Body><m:order xmlns:m="http://services.samples/xsd">IBM</m:order></s:Body></s:Envelope>"#
);
const BODY: &str = "{http://schemas.xmlsoap.org/soap/envelope/}Body";
const TIMESTAMP_AND_BODY: &str = concat!(
    "{Element}{http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd}Timestamp;",
    "{Element}{http://schemas.xmlsoap.org/soap/envelope/}Body"
);

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
        assert!(!String::from_utf8_lossy(&secured.message).contains("IBM"));
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
    let changed = String::from_utf8_lossy(&signed.message).replace("IBM", "SUN");
    for (engine, complaint) in [("dom", "signature or decryption was invalid"), ("stax", "Invalid digest")] {
        let refusal = wss4j.verify(changed.as_bytes(), &[("engine", engine)]).expect_err("it is refused");
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
    let Some(wss4j) = Wss4j::start() else { panic!("there is no setting signaturParts to be wrong without WSS4J") };
    let _ = wss4j.verify(ENVELOPE.as_bytes(), &[("signaturParts", "")]);
}
