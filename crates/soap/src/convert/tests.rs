//! What each version makes of the other's envelopes.

use myelin_xml::{Document, Options, WriteOptions, write};

use crate::{Envelope, Version};

const SOAP11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";

/// The envelope with this inside, converted; what stands inside afterwards.
fn converted(from: Version, inside: &str) -> String {
    let to = if from == Version::Soap11 { Version::Soap12 } else { Version::Soap11 };
    let text = format!("<s:Envelope xmlns:s=\"{}\">{inside}</s:Envelope>", from.namespace());
    let mut document = Document::parse(text.into_bytes(), &Options::default()).unwrap();
    Envelope::of(&document).unwrap().convert(&mut document, to).unwrap();
    let mut out = Vec::new();
    write(&document, document.document_node(), &WriteOptions::default(), &mut out);
    let out = String::from_utf8(out).unwrap();
    let again = Document::parse(out.clone().into_bytes(), &Options::default()).unwrap();
    assert_eq!(Envelope::of(&again).unwrap().version, to, "{out}");
    let start = format!("<s:Envelope xmlns:s=\"{}\">", to.namespace());
    let inside = out.strip_prefix(start.as_str()).and_then(|rest| rest.strip_suffix("</s:Envelope>"));
    inside.unwrap_or_else(|| panic!("{out}")).to_owned()
}

#[test]
fn header_blocks_say_the_same_in_the_other_version() {
    assert_eq!(
        converted(
            Version::Soap11,
            "<s:Header><h xmlns='' s:mustUnderstand='1' s:actor='urn:r'>1</h><i s:mustUnderstand='0' \
             s:actor='http://schemas.xmlsoap.org/soap/actor/next'/></s:Header><s:Body/>"
        ),
        "<s:Header><h xmlns='' s:role=\"urn:r\" s:mustUnderstand=\"true\">1</h><i \
         s:role=\"http://www.w3.org/2003/05/soap-envelope/role/next\" s:mustUnderstand=\"false\"/></s:Header><s:Body/>"
    );
    assert_eq!(
        converted(
            Version::Soap12,
            "<s:Header><h s:mustUnderstand='true' s:relay='true' \
             s:role='http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver'/></s:Header><s:Body/>"
        ),
        "<s:Header><h s:mustUnderstand=\"1\"/></s:Header><s:Body/>"
    );
}

#[test]
fn a_payload_keeps_what_it_says_of_either_version() {
    let payload = format!("<s:Body><p><e:Envelope xmlns:e=\"{SOAP11}\"/></p></s:Body>");
    assert_eq!(converted(Version::Soap11, &payload), payload);
    let payload = "<s:Body><p><s:Body/></p></s:Body>";
    assert_eq!(converted(Version::Soap11, payload), format!("<s:Body><p xmlns:s=\"{SOAP11}\"><s:Body/></p></s:Body>"));
}

#[test]
fn a_fault_of_soap11_becomes_one_of_soap12() {
    let fault = "<s:Body><s:Fault><faultcode>s:Client</faultcode><faultstring xml:lang='de'>a &lt; b</faultstring>\
                 <faultactor>urn:a</faultactor><detail><d/></detail></s:Fault></s:Body>";
    let expected = "<s:Code><s:Value xmlns:s=\"…\">s:Sender</s:Value></s:Code><s:Reason>\
                    <s:Text xml:lang=\"de\">a &lt; b</s:Text></s:Reason><s:Role>urn:a</s:Role>\
                    <s:Detail><d/></s:Detail>";
    let out = converted(Version::Soap11, fault).replace(SOAP12, "…");
    assert_eq!(out, format!("<s:Body><s:Fault>{expected}</s:Fault></s:Body>"));
}

#[test]
fn a_fault_of_soap12_becomes_one_of_soap11() {
    let fault = "<s:Body><s:Fault><s:Code><s:Value>s:Sender</s:Value></s:Code><s:Reason><s:Text xml:lang='en'>no</s:Text>\
                 </s:Reason><s:Node>urn:n</s:Node><s:Role>urn:r</s:Role><s:Detail><d/></s:Detail></s:Fault></s:Body>";
    let out = converted(Version::Soap12, fault).replace(SOAP11, "…");
    let expected = "<s:Body><s:Fault><faultcode xmlns:s=\"…\">s:Client</faultcode>\
                    <faultstring>no</faultstring><faultactor>urn:r</faultactor><detail><d/></detail></s:Fault></s:Body>";
    assert_eq!(out, expected);
}

#[test]
fn a_code_of_ones_own_is_a_subcode_there_and_a_code_here() {
    let eleven = "<s:Body><s:Fault><faultcode xmlns:o='urn:o'>o:Own</faultcode><faultstring/></s:Fault></s:Body>";
    let twelve = converted(Version::Soap11, eleven);
    assert!(twelve.contains(">s:Receiver<") && twelve.contains("xmlns:o=\"urn:o\">o:Own<"), "{twelve}");
    let back = converted(Version::Soap12, &twelve);
    assert!(back.contains("<faultcode xmlns:o=\"urn:o\">o:Own</faultcode>"), "{back}");
}

#[test]
fn a_fault_without_its_parts_is_still_one() {
    let out = converted(Version::Soap11, "<s:Body><s:Fault/></s:Body>");
    assert!(out.contains(">s:Receiver<"), "{out}");
    let out = converted(Version::Soap12, "<s:Body><s:Fault/></s:Body>");
    assert!(out.contains(">s:Server<") && out.contains("<faultstring/>"), "{out}");
}

#[test]
fn the_reason_of_a_fault_is_found_in_either_version() {
    let reason = |text: String| {
        let document = Document::parse(text.into_bytes(), &Options::default()).unwrap();
        Envelope::of(&document).unwrap().fault_reason(&document)
    };
    let fault = "<s:Fault><faultcode>s:Client</faultcode><faultstring>no</faultstring></s:Fault>";
    let text = format!("<s:Envelope xmlns:s=\"{SOAP11}\"><s:Body>{fault}</s:Body></s:Envelope>");
    assert_eq!(reason(text).as_deref(), Some("no"));
    let fault = "<s:Fault><s:Reason><s:Text>nein</s:Text></s:Reason></s:Fault>";
    let text = format!("<s:Envelope xmlns:s=\"{SOAP12}\"><s:Body>{fault}</s:Body></s:Envelope>");
    assert_eq!(reason(text).as_deref(), Some("nein"));
    assert_eq!(reason(format!("<s:Envelope xmlns:s=\"{SOAP12}\"><s:Body><x/></s:Body></s:Envelope>")), None);
}
