//! Forms in parts, `multipart/form-data`: the XML that Synapse sees of them, and how it is written again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use myelin_json::convert::{key_of_name, name_of_key};
use myelin_soap::Envelope;
use myelin_xml::{Document, Kind, NodeId, Refusal};

use crate::mime::{Part, parameter, parts};
use crate::text::text_of;
use crate::unreadable::Unreadable;
use crate::wrapped::{bytes_of, put_text, readable};

/// The element in which the parts are: Axis2 names it for the operation, which is called so in every proxy.
const TOP: &str = "mediate";
/// The namespace of an element `file` that is a file whatever it lacks.
const FILE: &str = "http://org.apache.axis2/xsd/form-data";

/// The parts of a form, each in an element of its name; of a file the content in Base64, with its name and type.
///
/// Errors: the sender's.
/// Source: Axis2's `MultipartFormDataBuilder` and `BuilderUtil`, as WSO2 has them.
pub(super) fn read(bytes: &[u8], content_type: &str) -> Result<Document, Unreadable> {
    let boundary = parameter(content_type, "boundary").ok_or(Unreadable::Multipart("its type names no boundary"))?;
    let mut document = Document::new();
    let top = document.create_element("", TOP, "")?;
    document.append(document.document_node(), top)?;
    for part in parts(bytes, &boundary).map_err(Unreadable::Multipart)? {
        let disposition = part.header(bytes, "Content-Disposition").unwrap_or_default().into_owned();
        let name = parameter(&disposition, "name").unwrap_or_default();
        let element = document.create_element("", &name_of_key(&name), "")?;
        document.append(top, element)?;
        put_content(&mut document, element, &part, &disposition, bytes)?;
    }
    Ok(document)
}

fn put_content(
    document: &mut Document,
    element: NodeId,
    part: &Part,
    disposition: &str,
    bytes: &[u8],
) -> Result<(), Refusal> {
    let content = &bytes[part.content.clone()];
    let Some(filename) = parameter(disposition, "filename") else {
        return put_text(document, element, &String::from_utf8_lossy(content));
    };
    let content_type = part.header(bytes, "Content-Type").unwrap_or("text/plain".into());
    document.set_attribute(element, "", "filename", "", &readable(&filename))?;
    document.set_attribute(element, "", "content-type", "", &readable(&content_type))?;
    put_text(document, element, &BASE64.encode(content))
}

/// A form of the elements in the payload.
///
/// Shape: an element with `filename`, or `{http://org.apache.axis2/xsd/form-data}file`, is a file, in Base64;
/// one with elements inside is XML; any other is text.
/// Source: Axis2's `MultipartFormDataFormatter`, as WSO2 has it.
pub(super) fn write(document: &Document, envelope: Envelope, boundary: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for element in parts_of(document, envelope) {
        out.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        write_part(document, element, &mut out);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    out
}

/// The elements that are parts.
pub(super) fn parts_of(document: &Document, envelope: Envelope) -> impl Iterator<Item = NodeId> {
    let children = envelope.payload(document).into_iter().flat_map(|payload| document.children(payload));
    children.filter(|&child| document.kind(child) == Kind::Element)
}

fn write_part(document: &Document, element: NodeId, out: &mut Vec<u8>) {
    let name = document.qname(element);
    let attribute = |name: &str| document.attribute(element, "", name);
    let filename = attribute("filename");
    let is_file = filename.is_some() || (name.namespace, name.local) == (FILE, "file");
    let has_elements = document.children(element).any(|child| document.kind(child) == Kind::Element);
    let field = attribute("name").filter(|_| is_file).unwrap_or_else(|| key_of_name(name.local));
    let mut head = format!("Content-Disposition: form-data; name=\"{}\"", quotable(&field));
    if is_file && !has_elements {
        let filename = filename.unwrap_or("esb-generated-file".into());
        let mut content_type = single_line(&attribute("content-type").unwrap_or("text/plain".into()));
        if let Some(charset) = attribute("charset").filter(|_| !content_type.contains("charset=")) {
            content_type = format!("{content_type}; charset={}", single_line(&charset));
        }
        head.push_str(&format!("; filename=\"{}\"\r\nContent-Type: {content_type}\r\n", quotable(&filename)));
        head.push_str("Content-Transfer-Encoding: binary\r\n\r\n");
        out.extend_from_slice(head.as_bytes());
        let text = document.string_value(element);
        // What is no Base64 was meant as it stands.
        out.extend_from_slice(&bytes_of(&text).unwrap_or_else(|| text.into_owned().into_bytes()));
    } else if has_elements {
        head.push_str("\r\nContent-Type: text/xml; charset=UTF-8\r\n\r\n");
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(text_of(document, element).as_bytes());
    } else {
        head.push_str("\r\nContent-Type: text/plain; charset=UTF-8\r\n\r\n");
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(document.string_value(element).as_bytes());
    }
}

/// A text that can stand in quotes of a header line.
fn quotable(text: &str) -> String {
    // As browsers do it (HTML, "multipart form data").
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

/// A text that can stand in a header line.
fn single_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

#[cfg(test)]
mod tests {
    use myelin_soap::{Version, wrap};

    use super::*;

    const BODY: &str = "--b\r\nContent-Disposition: form-data; name=\"symbol\"\r\n\r\nIBM & Co\r\n--b\r\n\
        Content-Disposition: form-data; name=\"order\"; filename=\"a.bin\"\r\n\
        Content-Type: application/octet-stream\r\n\r\n\x01\x02\r\n--b--\r\n";

    #[test]
    fn a_form_in_parts_is_an_element_for_each_part() {
        let document = read(BODY.as_bytes(), "multipart/form-data; boundary=b").unwrap();
        assert_eq!(
            text_of(&document, document.root_element().unwrap()),
            "<mediate><symbol>IBM &amp; Co</symbol>\
             <order filename=\"a.bin\" content-type=\"application/octet-stream\">AQI=</order></mediate>"
        );
    }

    #[test]
    fn letters_that_xml_has_not_are_replaced_in_the_name_of_a_file_too() {
        let body = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\u{1}b\"\r\n\
            Content-Type: a/\u{2}\r\n\r\n\r\n--b--";
        let document = read(body.as_bytes(), "multipart/form-data; boundary=b").unwrap();
        assert_eq!(
            text_of(&document, document.root_element().unwrap()),
            "<mediate><f filename=\"a\u{fffd}b\" content-type=\"a/\u{fffd}\"/></mediate>"
        );
    }

    #[test]
    fn elements_become_parts_by_what_they_hold() {
        let xml = "<root><a>1</a><b><c>2</c></b><f xmlns='http://org.apache.axis2/xsd/form-data'/>\
            <file xmlns='http://org.apache.axis2/xsd/form-data' name='file1' filename='x\".txt' \
            content-type='text/plain' charset='US-ASCII'>AQI=</file></root>";
        let mut document = Document::parse(xml.into(), &myelin_xml::Options::default()).unwrap();
        let envelope = wrap(&mut document, Version::Soap11).unwrap();
        let written = String::from_utf8(write(&document, envelope, "b")).unwrap();
        let part =
            |head: &str, content: &str| format!("--b\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n");
        let expected = [
            part("name=\"a\"\r\nContent-Type: text/plain; charset=UTF-8", "1"),
            part("name=\"b\"\r\nContent-Type: text/xml; charset=UTF-8", "<b><c>2</c></b>"),
            part("name=\"f\"\r\nContent-Type: text/plain; charset=UTF-8", ""),
            part(
                "name=\"file1\"; filename=\"x%22.txt\"\r\nContent-Type: text/plain; charset=US-ASCII\r\n\
                 Content-Transfer-Encoding: binary",
                "\x01\x02",
            ),
            "--b--\r\n".to_owned(),
        ];
        assert_eq!(written, expected.concat());
    }
}
