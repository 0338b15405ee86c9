//! One key for both sides, plain and derived; responses.

use myelin_testkit::wss4j::Wss4j;
use myelin_wss::guard::Side;

use crate::cases::{BASIC, ENGINES, Wrong, both, service, verify, with};
use crate::world::{MESSAGE, PARTS, guard, policy, secure, symmetric, x509};

const HMAC: (&str, &str) = ("signatureAlgorithm", "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256");

#[test]
fn one_key_signs_and_encrypts() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut wrong = Wrong::default();
    let policy = policy(&format!("{}{PARTS}<sp:Wss11><p></p></sp:Wss11>", symmetric(BASIC, &x509("Never", ""), "")));
    let service = service(wss4j, &policy, "bob");
    for reference in ["Thumbprint", "IssuerSerial", "SKIKeyIdentifier"] {
        let settings = with("dom", &[("symmetric", "EncryptedKey"), HMAC, ("encryptionKeyIdentifier", reference)]);
        wrong.check(wss4j, reference, &service, &settings);
    }
}

#[test]
fn keys_may_be_derived() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let mut wrong = Wrong::default();
    let token = x509("Never", "<sp:RequireDerivedKeys/>");
    let policy = policy(&format!("{}{PARTS}<sp:Wss11><p></p></sp:Wss11>", symmetric(BASIC, &token, "")));
    let service = service(wss4j, &policy, "bob");
    for engine in ENGINES {
        let settings = with(
            engine,
            &[
                ("action", "Timestamp SignatureDerived EncryptDerived"),
                ("derivedTokenReference", "EncryptedKey"),
                ("user", "bob"),
                HMAC,
                ("derivedTokenKeyIdentifier", "Thumbprint"),
                // On streams a number of bits, which by default are 32: such a key can be guessed.
                ("derivedSignatureKeyLength", "128"),
            ],
        );
        wrong.check(wss4j, engine, &service, &settings);
    }
}

#[test]
fn responses_of_wss4j_answer_our_requests() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let policy = policy(&format!("{}{PARTS}<sp:Wss11><p></p></sp:Wss11>", symmetric(BASIC, &x509("Never", ""), "")));
    let client = guard(wss4j, &policy, Side::Initiator, ("alice", Some("bob")), None);
    let request = secure(&client, MESSAGE, None);
    let seen = wss4j.verify(&request.bytes, &[]).unwrap_or_else(|refusal| panic!("{refusal}"));
    let known = |name| seen.fact(name).expect("trees tell the common key");
    let common = [
        ("symmetric", "EncryptedKeySHA1"),
        HMAC,
        ("secretKey", known("secretKey")),
        ("secretIdentifier", known("secretIdentifier")),
    ];
    let response =
        wss4j.secure(MESSAGE.as_bytes(), &with("dom", &common)).unwrap_or_else(|refusal| panic!("{refusal}"));
    verify(&client, &response.message, Some(&request.conversation)).unwrap_or_else(|refusal| {
        panic!("{refusal}\n{}", String::from_utf8_lossy(&response.message));
    });
    // Of another request the key is none.
    let other = secure(&client, MESSAGE, None);
    assert!(verify(&client, &response.message, Some(&other.conversation)).is_err());
}

#[test]
fn responses_confirm_the_signatures_of_their_requests() {
    let Some(wss4j) = Wss4j::shared() else { return };
    let policy = both(BASIC, "").replace(
        "</sp:SignedParts>",
        "</sp:SignedParts><sp:Wss11><p><sp:RequireSignatureConfirmation/></p></sp:Wss11>",
    );
    let policy = policy.replace("<p>", "<wsp:Policy>").replace("</p>", "</wsp:Policy>");
    let client = guard(wss4j, &policy, Side::Initiator, ("alice", Some("bob")), None);
    let request = secure(&client, MESSAGE, None);
    let session = [("session", "service"), ("enableSignatureConfirmation", "true")];
    wss4j.verify(&request.bytes, &session).unwrap_or_else(|refusal| panic!("{refusal}"));
    let mut settings = with("dom", &[("role", "response"), ("user", "bob"), ("encryptionUser", "alice")]);
    settings.extend(session);
    let confirmed =
        "{Element}{http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd}SignatureConfirmation";
    let signed = format!("{};{confirmed}", crate::cases::SIGNED);
    settings.retain(|(name, _)| *name != "signatureParts");
    settings.push(("signatureParts", &signed));
    let response = wss4j.secure(MESSAGE.as_bytes(), &settings).unwrap_or_else(|refusal| panic!("{refusal}"));
    verify(&client, &response.message, Some(&request.conversation)).unwrap_or_else(|refusal| {
        panic!("{refusal}\n{}", String::from_utf8_lossy(&response.message));
    });
    let other = secure(&client, MESSAGE, None);
    let refusal = verify(&client, &response.message, Some(&other.conversation)).map(drop).expect_err("of another");
    assert_eq!(refusal.rule, myelin_wss::Rule::ConfirmationWrong, "{refusal}");
}
