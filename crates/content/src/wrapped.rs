//! What is no XML, as the XML that Synapse sees of it: text, bytes and forms; and how such XML is written again.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD as BASE64};
use myelin_java_text::percent::{self, Plus, decoded_bytes};
use myelin_json::convert::{key_of_name, name_of_key};
use myelin_soap::Envelope;
use myelin_xml::{Document, Kind, NodeId, Refusal};

use crate::charset::Charset;
use crate::text::text_of;

/// The namespace of the elements in which Synapse has text and bytes.
const PAYLOAD: &str = "http://ws.apache.org/commons/ns/payload";
/// The element of text, and that of bytes.
const TEXT: &str = "text";
const BINARY: &str = "binary";
/// The element in which the fields of a form are.
const FORM: &str = "xformValues";

/// Bytes written in Base64 by anybody: broken into lines, with or without padding.
const ANY_BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Text in the element that stands for text: `{http://ws.apache.org/commons/ns/payload}text`.
///
/// Errors: the document's, where it is full.
pub fn of_text(text: &str) -> Result<Document, Refusal> {
    let mut document = Document::new();
    let element = document.create_element("", TEXT, PAYLOAD)?;
    document.append(document.document_node(), element)?;
    put_text(&mut document, element, text)?;
    Ok(document)
}

/// Bytes in their element, in Base64.
pub(super) fn of_bytes(bytes: &[u8]) -> Result<Document, Refusal> {
    let mut document = Document::new();
    let element = document.create_element("", BINARY, PAYLOAD)?;
    document.append(document.document_node(), element)?;
    put_text(&mut document, element, &BASE64.encode(bytes))?;
    Ok(document)
}

/// The fields of a form, those of the query first, each in an element of its name.
///
/// Shape: `charset` is what the escapes of the form stand for letters in; those of a query are UTF-8.
/// Source: `XFormURLEncodedBuilder` of wso2-synapse; the fields keep their order, which a hash map loses there.
pub(super) fn of_form(query: &str, form: &str, charset: Charset) -> Result<Document, Refusal> {
    let mut document = Document::new();
    let top = document.create_element("", FORM, "")?;
    document.append(document.document_node(), top)?;
    // In a query, a word without a value is no field.
    let of_query = query.split('&').filter(|field| field.contains('=')).map(|field| (field, Charset::Utf8));
    let of_form = form.split(['&', '\n', '\r']).map(|field| (field, charset));
    for (field, charset) in of_query.chain(of_form).filter(|(field, _)| !field.is_empty()) {
        let decoded = |text: &str| match decoded_bytes(text, Plus::Blank) {
            // What has no escapes is text already.
            Cow::Borrowed(_) => text.to_owned(),
            Cow::Owned(bytes) => charset.decode_text(&bytes),
        };
        let (key, value) = field.split_once('=').unwrap_or((field, ""));
        let element = document.create_element("", &name_of_key(&decoded(key)), "")?;
        document.append(top, element)?;
        put_text(&mut document, element, &decoded(value))?;
    }
    Ok(document)
}

/// Puts text into an element; letters that XML cannot hold are replaced, where a form or text has them.
pub(super) fn put_text(document: &mut Document, element: NodeId, text: &str) -> Result<(), Refusal> {
    if text.is_empty() {
        return Ok(());
    }
    let text = document.create_text(&readable(text))?;
    document.append(element, text)
}

/// A text in which letters that XML cannot hold are replaced.
pub(super) fn readable(text: &str) -> Cow<'_, str> {
    let is_no_xml = |letter: char| matches!(letter, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    match text.contains(is_no_xml) {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.replace(is_no_xml, "\u{fffd}")),
    }
}

/// The bytes of a message as text: what is in the element of text or of bytes, else the payload as XML.
///
/// WSO2 writes nothing of any other payload.
pub(super) fn text(document: &Document, envelope: Envelope) -> Vec<u8> {
    bytes(document, envelope).unwrap_or_else(|| {
        let Some(payload) = envelope.payload(document) else { return Vec::new() };
        let has_elements = document.children(payload).any(|child| document.kind(child) == Kind::Element);
        match has_elements {
            true => text_of(document, payload).into_bytes(),
            false => document.string_value(payload).into_owned().into_bytes(),
        }
    })
}

/// What is in the element of text or of bytes, if that is the payload.
pub(super) fn bytes(document: &Document, envelope: Envelope) -> Option<Vec<u8>> {
    let payload = envelope.payload(document)?;
    let name = document.qname(payload);
    match (name.namespace, name.local) {
        (PAYLOAD, TEXT) => Some(document.string_value(payload).into_owned().into_bytes()),
        (PAYLOAD, BINARY) => bytes_of(&document.string_value(payload)),
        _ => None,
    }
}

/// What was written in Base64; `None` where it is none.
pub(super) fn bytes_of(base64: &str) -> Option<Vec<u8>> {
    let dense: Vec<u8> = base64.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    ANY_BASE64.decode(dense).ok()
}

/// A form of the elements in the payload: the text directly in each is a field of its name.
///
/// Source: `XFormURLEncodedFormatter` of wso2-synapse.
pub(super) fn form(document: &Document, envelope: Envelope) -> Vec<u8> {
    let mut out = String::new();
    let children = envelope.payload(document).into_iter().flat_map(|payload| document.children(payload));
    for element in children.filter(|&child| document.kind(child) == Kind::Element) {
        if !out.is_empty() {
            out.push('&');
        }
        escape(&key_of_name(document.qname(element).local), &mut out);
        out.push('=');
        for text in document.children(element).filter(|&child| document.kind(child) == Kind::Text) {
            escape(&document.value(text), &mut out);
        }
    }
    out.into_bytes()
}

/// Escapes what a form cannot hold as it is, in Java's manner: a blank is `%20`.
fn escape(text: &str, out: &mut String) {
    percent::push(text.as_bytes(), |byte| byte.is_ascii_alphanumeric() || b"-._*".contains(&byte), out);
}

#[cfg(test)]
mod tests {
    use myelin_soap::{Version, wrap};

    use super::*;

    fn payload(document: &Document) -> String {
        text_of(document, document.root_element().unwrap())
    }

    fn wrapped(mut document: Document) -> (Document, Envelope) {
        let envelope = wrap(&mut document, Version::Soap11).unwrap();
        (document, envelope)
    }

    #[test]
    fn text_and_bytes_stand_in_elements_of_their_own() {
        let text_element = "<text xmlns=\"http://ws.apache.org/commons/ns/payload\">a &lt; b</text>";
        assert_eq!(payload(&of_text("a < b").unwrap()), text_element);
        let binary = of_bytes(b"\xff\0").unwrap();
        assert_eq!(payload(&binary), "<binary xmlns=\"http://ws.apache.org/commons/ns/payload\">/wA=</binary>");
        let (document, envelope) = wrapped(binary);
        assert_eq!(text(&document, envelope), b"\xff\0");
    }

    #[test]
    fn letters_that_xml_has_not_are_replaced_in_what_is_seen_of_text() {
        let document = of_text("a\0b\u{ffff}").unwrap();
        assert_eq!(document.string_value(document.document_node()), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn a_form_is_an_element_for_each_field_and_back() {
        let check = |query: &str, form_text: &str, xml: &str, again: &str| {
            let document = of_form(query, form_text, Charset::Utf8).unwrap();
            assert_eq!(payload(&document), xml, "{form_text}");
            let (document, envelope) = wrapped(document);
            assert_eq!(String::from_utf8(form(&document, envelope)).unwrap(), again);
        };
        check("", "a=1&b=x+y%26", "<xformValues><a>1</a><b>x y&amp;</b></xformValues>", "a=1&b=x%20y%26");
        check("q=0&word", "a=", "<xformValues><q>0</q><a/></xformValues>", "q=0&a=");
        check("", "a=1&a=2&c", "<xformValues><a>1</a><a>2</a><c/></xformValues>", "a=1&a=2&c=");
        let digits = "<xformValues><_JsonReader_PD_2a>1</_JsonReader_PD_2a></xformValues>";
        check("", "2a=1", digits, "2a=1");
        check("", "", "<xformValues/>", "");
        let document = of_form("q=%C3%A9", "a=%E9+e", Charset::Latin1).unwrap();
        assert_eq!(payload(&document), "<xformValues><q>é</q><a>é e</a></xformValues>");
    }

    #[test]
    fn base64_may_be_broken_into_lines_and_lack_its_padding() {
        assert_eq!(bytes_of(" /w\n A ").unwrap(), b"\xff\0");
        assert_eq!(bytes_of("/wA=").unwrap(), b"\xff\0");
        assert_eq!(bytes_of("%"), None);
    }
}
