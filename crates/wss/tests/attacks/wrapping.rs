//! Signature wrapping: what is signed is moved to where nobody reads it, and something else takes its place.

use myelin_wss::vocabulary::WSU;
use myelin_wss::{FaultCode, Rule};

use crate::ENVELOPE;
use crate::peers::{Peers, changed, piece};
use crate::policies;

/// Where the part that is signed is put.
const PLACES: [(&str, &str); 9] = [
    // As a header block of its own.
    ("</soapenv:Header>", "<w:Wrapper xmlns:w='urn:w'>PART</w:Wrapper></soapenv:Header>"),
    // As a header block for somebody else.
    ("</soapenv:Header>", "<w:W xmlns:w='urn:w' soapenv:actor='urn:other'>PART</w:W></soapenv:Header>"),
    // In the header of security for somebody else.
    (
        "</soapenv:Header>",
        "<w:Security xmlns:w='http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd' \
         soapenv:actor='urn:other'>PART</w:Security></soapenv:Header>",
    ),
    // In ours, wrapped and bare.
    ("</wsse:Security>", "<w:Wrapper xmlns:w='urn:w'>PART</w:Wrapper></wsse:Security>"),
    ("</wsse:Security>", "PART</wsse:Security>"),
    // In the signature.
    ("</ds:Signature>", "<ds:Object>PART</ds:Object></ds:Signature>"),
    // As a sibling of the body, before and behind.
    ("</soapenv:Header>", "</soapenv:Header><w:Wrapper xmlns:w='urn:w'>PART</w:Wrapper>"),
    ("</soapenv:Envelope>", "<w:Wrapper xmlns:w='urn:w'>PART</w:Wrapper></soapenv:Envelope>"),
    ("</soapenv:Envelope>", "PART</soapenv:Envelope>"),
];

/// Moves a part to each place, and puts a forged one where it was: with the same, another and no id.
fn check(begin: &str, end: &str, truth: &str, lie: &str) {
    let peers = Peers::new(&policies::signed());
    let message = peers.request(ENVELOPE);
    let part = piece(&message, begin, end).to_owned();
    let forged = changed(&part, truth, lie);
    let id = piece(&forged, " wsu:Id=\"", "\">").trim_end_matches('>').to_owned();
    for forged in [forged.clone(), forged.replace(&id, " wsu:Id=\"other\""), forged.replace(&id, "")] {
        let mut attacks: Vec<String> = PLACES
            .iter()
            .map(|(place, wrapper)| {
                let attacked = changed(&message, &part, "HOLE");
                changed(&changed(&attacked, place, &wrapper.replace("PART", &part)), "HOLE", &forged)
            })
            .collect();
        // In the forged one, and around it; before and behind it.
        attacks.push(changed(&message, &part, &changed(&forged, end, &format!("{part}{end}"))));
        attacks.push(changed(&message, &part, &changed(&part, end, &format!("{forged}{end}"))));
        attacks.push(changed(&message, &part, &format!("{part}{forged}")));
        attacks.push(changed(&message, &part, &format!("{forged}{part}")));
        // The header need not say that it has to be understood.
        let unmarked: Vec<String> =
            attacks.iter().map(|attack| attack.replace("soap:mustUnderstand=\"1\"", "")).collect();
        for attack in attacks.into_iter().chain(unmarked) {
            peers.refused(attack);
        }
    }
    assert!(peers.accept(message).is_ok(), "the message that nobody touched");
}

#[test]
fn a_body_cannot_be_exchanged() {
    check("<soapenv:Body", "</soapenv:Body>", "IBM", "MSFT");
}

#[test]
fn a_timestamp_cannot_be_exchanged() {
    check("<wsu:Timestamp", "</wsu:Timestamp>", "16:05:00Z", "16:09:00Z");
}

#[test]
fn a_header_block_cannot_be_exchanged() {
    check("<h:Order", "</h:Order>", "4711", "4712");
}

#[test]
fn a_signed_header_block_cannot_be_hidden() {
    let peers = Peers::new(&policies::signed());
    let message = peers.request(ENVELOPE);
    let block = piece(&message, "<h:Order", "</h:Order>").to_owned();
    for (place, wrapper) in PLACES {
        let attacked = changed(&message, &block, "");
        let attacked = changed(&attacked, place, &wrapper.replace("PART", &block));
        peers.refused(attacked.as_str());
        peers.refused(attacked.replace("soap:mustUnderstand=\"1\"", ""));
    }
    let hidden = changed(&changed(&message, &block, ""), "hello", &format!("hello{block}"));
    assert_eq!(peers.refused(hidden).0, Rule::NotSigned);
}

#[test]
fn an_encrypted_body_cannot_be_exchanged() {
    let peers = Peers::new(&policies::modern());
    let message = peers.request(ENVELOPE);
    let body = piece(&message, "<soapenv:Body", "</soapenv:Body>").to_owned();
    let forged = "<soapenv:Body><order xmlns=\"urn:o\"><symbol>MSFT</symbol></order></soapenv:Body>";
    for (place, wrapper) in PLACES {
        let attacked = changed(&message, &body, "HOLE");
        let attacked = changed(&changed(&attacked, place, &wrapper.replace("PART", &body)), "HOLE", forged);
        peers.refused(attacked);
    }
    // A ciphertext that decrypts beside the one that is signed.
    let data = piece(&message, "<xenc:EncryptedData", "</xenc:EncryptedData>");
    let doubled = changed(&message, data, &format!("{data}<order xmlns=\"urn:o\"/>"));
    assert_eq!(peers.refused(doubled).1, FaultCode::FailedCheck);
}

#[test]
fn two_elements_with_the_same_id_are_refused_wherever_they_stand() {
    let peers = Peers::new(&policies::signed());
    let message = peers.request(ENVELOPE);
    let id = piece(&message, "<soapenv:Body", "\">").split("wsu:Id=\"").nth(1).expect("an id").trim_end_matches("\">");
    let doubled = changed(&message, "<h:Note ", &format!("<h:Note xmlns:u='{WSU}' u:Id='{id}' "));
    assert_eq!(peers.refused(doubled).0, Rule::DuplicateId);
}
