//! Substitution: another algorithm, another key, another certificate.

use myelin_wss::{Limits, Rule, binary};

use crate::ENVELOPE;
use crate::peers::{PEOPLE, Peers, between, changed, piece};
use crate::policies;

fn base64(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    binary::encode(bytes, &mut text);
    String::from_utf8(text).expect("base64 is ASCII")
}

#[test]
fn algorithms_that_the_policy_does_not_name_are_refused_before_any_key_is_used() {
    let peers = Peers::new(&policies::modern());
    let message = peers.request(ENVELOPE);
    let more = "http://www.w3.org/2001/04/xmldsig-more#";
    for (from, to, rule) in [
        (format!("{more}rsa-sha256"), "http://www.w3.org/2000/09/xmldsig#rsa-sha1", Rule::AlgorithmNotAllowed),
        (format!("{more}rsa-sha256"), "http://www.w3.org/2000/09/xmldsig#hmac-sha1", Rule::AlgorithmNotAllowed),
        (format!("{more}rsa-sha256"), "http://www.w3.org/2001/04/xmldsig-more#rsa-md5", Rule::UnknownAlgorithm),
        (format!("{more}rsa-sha256"), "http://www.w3.org/2000/09/xmldsig#dsa-sha1", Rule::UnknownAlgorithm),
        ("xmlenc11#aes128-gcm".to_owned(), "xmlenc11#aes256-gcm", Rule::AlgorithmNotAllowed),
        (
            "http://www.w3.org/2009/xmlenc11#aes128-gcm".to_owned(),
            "http://www.w3.org/2001/04/xmlenc#aes128-cbc",
            Rule::AlgorithmNotAllowed,
        ),
        (
            "http://www.w3.org/2009/xmlenc11#aes128-gcm".to_owned(),
            "http://www.w3.org/2001/04/xmlenc#tripledes-cbc",
            Rule::AlgorithmNotAllowed,
        ),
    ] {
        assert_eq!(peers.refused(changed(&message, &from, to)).0, rule, "{to}");
    }
    let method = piece(&message, "<xenc:EncryptionMethod", "</xenc:EncryptionMethod>");
    let rsa_15 = "<xenc:EncryptionMethod Algorithm=\"http://www.w3.org/2001/04/xmlenc#rsa-1_5\"/>";
    assert_eq!(peers.refused(changed(&message, method, rsa_15)).0, Rule::AlgorithmNotAllowed);
}

#[test]
fn digests_canonical_forms_and_transforms_are_those_of_the_policy() {
    let peers = Peers::new(&policies::signed());
    let message = peers.request(ENVELOPE);
    let digest = "http://www.w3.org/2001/04/xmlenc#sha256";
    let transform = "<ds:Transform Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\">";
    for (from, to, rule) in [
        (digest, "http://www.w3.org/2001/04/xmldsig-more#md5", Rule::UnknownAlgorithm),
        (
            "<ds:CanonicalizationMethod Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\">",
            "<ds:CanonicalizationMethod Algorithm=\"http://www.w3.org/TR/2001/REC-xml-c14n-20010315\">",
            Rule::AlgorithmNotAllowed,
        ),
        (
            "<ds:CanonicalizationMethod Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\">",
            "<ds:CanonicalizationMethod Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#WithComments\">",
            Rule::AlgorithmNotAllowed,
        ),
        (transform, "<ds:Transform Algorithm=\"http://www.w3.org/TR/1999/REC-xslt-19991116\">", Rule::UnknownTransform),
        (
            transform,
            "<ds:Transform Algorithm=\"http://www.w3.org/TR/1999/REC-xpath-19991116\">",
            Rule::UnknownTransform,
        ),
        (transform, "<ds:Transform Algorithm=\"http://www.w3.org/2002/06/xmldsig-filter2\">", Rule::UnknownTransform),
        (transform, "<ds:Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#base64\">", Rule::UnknownTransform),
        (
            transform,
            "<ds:Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#enveloped-signature\">",
            Rule::UnknownTransform,
        ),
    ] {
        assert_eq!(peers.refused(changed(&message, from, to)).0, rule, "{to}");
    }
    let weak = changed(&message, digest, "http://www.w3.org/2000/09/xmldsig#sha1");
    let value = between(&weak, "<ds:DigestValue>", "<");
    assert_eq!(peers.refused(changed(&weak, value, &base64(&[7; 20]))).0, Rule::AlgorithmNotAllowed);
}

#[test]
fn whom_nobody_trusts_signs_nothing() {
    let mallory = Peers::with(&policies::modern(), &PEOPLE.mallory, &Limits::default());
    assert_eq!(mallory.refused(mallory.request(ENVELOPE)).0, Rule::NotTrusted);
    // Somebody else who calls himself alice.
    let alice = Peers::with(&policies::modern(), &PEOPLE.false_alice, &Limits::default());
    assert_eq!(alice.refused(alice.request(ENVELOPE)).0, Rule::NotTrusted);
}

#[test]
fn a_key_in_the_message_proves_nothing() {
    let mallory = Peers::with(&policies::signed(), &PEOPLE.mallory, &Limits::default());
    let message = mallory.request(ENVELOPE);
    let key_info = piece(&message, "<ds:KeyInfo>", "</ds:KeyInfo>");
    let (modulus, exponent) = PEOPLE.mallory.key.public().rsa().expect("a key of RSA");
    let value = format!(
        "<ds:KeyInfo><ds:KeyValue><ds:RSAKeyValue><ds:Modulus>{}</ds:Modulus><ds:Exponent>{}</ds:Exponent>\
         </ds:RSAKeyValue></ds:KeyValue></ds:KeyInfo>",
        base64(modulus),
        base64(exponent)
    );
    assert_eq!(mallory.refused(changed(&message, key_info, &value)).0, Rule::NotTrusted);
    let data = |certificate: &[u8]| {
        let certificate = base64(certificate);
        format!(
            "<ds:KeyInfo><ds:X509Data><ds:X509Certificate>{certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>"
        )
    };
    let own = PEOPLE.mallory.certificate().der();
    assert_eq!(mallory.refused(changed(&message, key_info, &data(own))).0, Rule::NotTrusted);
    // A certificate that is trusted, with a signature of another key.
    let alice = PEOPLE.alice.certificate().der();
    assert_eq!(mallory.refused(changed(&message, key_info, &data(alice))).0, Rule::SignatureInvalid);
    // Both, in either order: only the first is meant, and it has to fit.
    let both = |one: &[u8], other: &[u8]| {
        data(one).replace(
            "</ds:X509Data>",
            &format!("<ds:X509Certificate>{}</ds:X509Certificate></ds:X509Data>", base64(other)),
        )
    };
    assert_eq!(mallory.refused(changed(&message, key_info, &both(alice, own))).0, Rule::SignatureInvalid);
    assert_eq!(mallory.refused(changed(&message, key_info, &both(own, alice))).0, Rule::NotTrusted);
    let two = value.replace("</ds:KeyInfo>", "<ds:KeyName>CN=alice</ds:KeyName></ds:KeyInfo>");
    assert_eq!(mallory.refused(changed(&message, key_info, &two)).0, Rule::UnknownElement);
}

#[test]
fn a_trusted_key_in_the_message_is_as_good_as_its_certificate() {
    let peers = Peers::new(&policies::signed());
    let message = peers.request(ENVELOPE);
    let key_info = piece(&message, "<ds:KeyInfo>", "</ds:KeyInfo>");
    let name = "<ds:KeyInfo><ds:KeyName>CN=alice</ds:KeyName></ds:KeyInfo>";
    assert!(peers.accept(changed(&message, key_info, name)).is_ok());
}

#[test]
fn another_token_in_the_place_of_the_signers_is_noticed() {
    let peers = Peers::new(&policies::modern());
    let message = peers.request(ENVELOPE);
    let token = between(&message, "#X509v3\" wsu:Id=\"", "</wsse:BinarySecurityToken>");
    let own = token.split('>').nth(1).expect("a certificate");
    for (other, rule) in [(&PEOPLE.bob, Rule::SignatureInvalid), (&PEOPLE.mallory, Rule::NotTrusted)] {
        let attacked = changed(&message, own, &base64(other.certificate().der()));
        assert_eq!(peers.refused(attacked).0, rule);
    }
}

#[test]
fn a_keyed_hash_is_neither_cut_nor_made_with_a_public_key() {
    let peers = Peers::new(&policies::symmetric(""));
    let message = peers.request(ENVELOPE);
    let method = piece(&message, "<ds:SignatureMethod", "</ds:SignatureMethod>");
    let cut = changed(method, "></ds", "><ds:HMACOutputLength>8</ds:HMACOutputLength></ds");
    assert_eq!(peers.refused(changed(&message, method, &cut)).0, Rule::TruncatedHmac);
    let value = between(&message, "<ds:SignatureValue>", "</ds:SignatureValue>");
    for short in ["", "AA==", &value[..value.len() - 4]] {
        let attacked = changed(&message, &format!(">{value}<"), &format!(">{short}<"));
        assert_eq!(peers.refused(attacked).0, Rule::SignatureInvalid);
    }
    // Keyed hashes are no signatures of a key pair, whatever the key.
    let signed = Peers::new(&policies::signed());
    let message = signed.request(ENVELOPE);
    let keyed = changed(
        &message,
        "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
        "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256",
    );
    assert_eq!(signed.refused(keyed).0, Rule::AlgorithmNotAllowed);
}

#[test]
fn who_can_encrypt_for_us_cannot_sign_for_others() {
    // A message of the symmetric binding, which anybody can make, is none of the asymmetric one.
    let (symmetric, asymmetric) = (Peers::new(&policies::symmetric("")), Peers::new(&policies::modern()));
    assert_eq!(asymmetric.refused(symmetric.request(ENVELOPE)).0, Rule::AlgorithmNotAllowed);
    assert_eq!(symmetric.refused(asymmetric.request(ENVELOPE)).0, Rule::NotSigned);
    // The ciphertext of one message in another.
    let (one, other) = (asymmetric.request(ENVELOPE), asymmetric.request(&ENVELOPE.replace("IBM", "MSFT")));
    let value = |message: &str| between(message, "</ds:KeyInfo><xenc:CipherData><xenc:CipherValue>", "<").to_owned();
    let data = |message: &str| {
        let data = piece(message, "<xenc:EncryptedData", "</xenc:EncryptedData>");
        between(data, "<xenc:CipherValue>", "<").to_owned()
    };
    let moved = changed(&changed(&one, &value(&one), &value(&other)), &data(&one), &data(&other));
    assert_eq!(asymmetric.refused(moved).0, Rule::SignatureInvalid);
}

#[test]
fn a_response_of_whom_nobody_trusts_is_refused() {
    let peers = Peers::new(&policies::modern());
    let (request, conversation) = peers.request_with(ENVELOPE);
    let verified = peers.accept(request.as_str()).expect("it is right");
    // The request was encrypted for bob. Who may sign its response is the trust store's to say, as in WSS4J.
    let response = |signer| {
        let response = Peers::response_by(&policies::modern(), signer, ENVELOPE, &verified.conversation);
        peers.accept_response(&response, &conversation).map(drop).map_err(|refusal| refusal.rule)
    };
    assert_eq!(response(&PEOPLE.bob), Ok(()));
    assert_eq!(response(&PEOPLE.carol), Ok(()));
    assert_eq!(response(&PEOPLE.mallory), Err(Rule::KeyUnknown));
    // Alice has sent the request, and decrypts what she gets.
    assert_eq!(response(&PEOPLE.alice), Err(Rule::WrongSigner));
}

#[test]
fn a_response_is_made_with_the_key_of_its_request() {
    let policy = policies::symmetric("");
    let peers = Peers::new(&policy);
    let (request, conversation) = peers.request_with(ENVELOPE);
    let verified = peers.accept(request.as_str()).expect("it is right");
    // Whoever knows alice's certificate can encrypt a key for her, and sign with it.
    let forged = Peers::request_to_alice(&policy, ENVELOPE);
    let refusal = peers.accept_response(&forged, &conversation).map(drop).expect_err("anybody could have made it");
    assert_eq!(refusal.rule, Rule::NotSigned);
    let response = peers.response(ENVELOPE, &verified.conversation);
    assert!(peers.accept_response(&response, &conversation).is_ok());
}

#[test]
fn nobody_is_named_whom_the_policy_does_not_ask_for() {
    let peers = Peers::new(&policies::modern());
    let message = peers.request(ENVELOPE);
    let user = "<wsse:UsernameToken><wsse:Username>admin</wsse:Username></wsse:UsernameToken></wsse:Security>";
    assert_eq!(peers.refused(changed(&message, "</wsse:Security>", user)).0, Rule::TokenNotAllowed);
    let peers = Peers::new(&policies::user());
    let message = peers.request(ENVELOPE);
    assert_eq!(peers.refused(changed(&message, "</wsse:Security>", user)).0, Rule::TokenNotAllowed);
}

#[test]
fn users_have_to_know_their_passwords() {
    let peers = Peers::new(&policies::user());
    let message = peers.request(ENVELOPE);
    let password = piece(&message, "<wsse:Password", "</wsse:Password>");
    let shown = password.split('>').nth(1).expect("a digest").trim_end_matches("</wsse:Password");
    assert_eq!(peers.refused(changed(&message, shown, &base64(&[7; 20]))).0, Rule::AuthenticationFailed);
    assert_eq!(peers.refused(changed(&message, ">carol<", ">dave<")).0, Rule::AuthenticationFailed);
    assert_eq!(peers.refused(changed(&message, password, "")).0, Rule::SignatureInvalid);
    let verified = peers.accept(message).expect("carol knows hers");
    assert_eq!(verified.findings.user.map(|user| (user.name, user.authenticated)), Some(("carol".to_owned(), true)));
}
