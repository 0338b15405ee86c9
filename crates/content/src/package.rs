//! XML in one part of several, `multipart/related`: MTOM, and SOAP with attachments.
//!
//! What the other parts hold passes as it came; only the part with the XML is written anew where that was changed.

mod reading;

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use myelin_java_text::percent::{Plus, decoded};
use myelin_xml::{Document, Kind, NodeId};

pub(crate) use reading::read;

use crate::convert::LIMIT_BYTES;
use crate::mime::{Part, parameter, parts, with_parameter};
use crate::unreadable::Unreadable;
use crate::wrapped::bytes_of;

/// The namespace of what stands for the content of another part.
const XOP: &str = "http://www.w3.org/2004/08/xop/include";

/// Where the parts of a package stand in the bytes that came.
#[derive(Clone, Debug)]
pub struct Package {
    boundary: String,
    parts: Vec<Part>,
    /// The number of the part with the XML.
    root: usize,
}

impl Package {
    /// Finds the parts, and the bytes of the XML.
    pub(super) fn find(bytes: &[u8], content_type: &str) -> Result<(Package, Vec<u8>), &'static str> {
        let boundary = parameter(content_type, "boundary").ok_or("its type names no boundary")?;
        let parts = parts(bytes, &boundary)?;
        let start = parameter(content_type, "start");
        let is_start = |part: &Part| {
            start.as_deref().is_some_and(|start| part.name(bytes).is_some_and(|name| name == bare(start)))
        };
        let root = parts.iter().position(is_start).unwrap_or(0);
        let part = parts.get(root).ok_or("it has no part")?;
        let content = &bytes[part.content.clone()];
        let encoding = part.header(bytes, "Content-Transfer-Encoding").unwrap_or_default().to_ascii_lowercase();
        let xml = match encoding.as_str() {
            "base64" => bytes_of(&String::from_utf8_lossy(content)).ok_or("its first part is no Base64")?,
            "quoted-printable" => return Err("its first part is quoted-printable, which is not offered"),
            _ => content.to_vec(),
        };
        Ok((Package { boundary, parts, root }, xml))
    }

    /// The package with other XML; `came` are the bytes in which its parts stand.
    pub(super) fn with(&self, xml: &[u8], came: &[u8]) -> Vec<u8> {
        let boundary = format!("--{}", self.boundary);
        let mut out = Vec::with_capacity(came.len() + xml.len());
        for (number, part) in self.parts.iter().enumerate() {
            out.extend_from_slice(boundary.as_bytes());
            out.extend_from_slice(b"\r\n");
            if number == self.root {
                write_head(&came[part.head.clone()], &mut out);
                out.extend_from_slice(b"\r\n");
                out.extend_from_slice(xml);
            } else {
                out.extend_from_slice(&came[part.head.clone()]);
                out.extend_from_slice(b"\r\n");
                out.extend_from_slice(&came[part.content.clone()]);
            }
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(boundary.as_bytes());
        out.extend_from_slice(b"--\r\n");
        out
    }

    /// The word between its parts, and how many these are.
    pub(super) fn boundary(&self) -> (&str, usize) {
        (&self.boundary, self.parts.len())
    }

    /// The same under another boundary.
    pub(super) fn with_boundary(&self, boundary: &str) -> Package {
        Package { boundary: boundary.to_owned(), ..self.clone() }
    }

    /// Puts what the other parts hold where the XML refers to it, in Base64, for a message that leaves alone.
    ///
    /// Errors: the sender's, for more than a body may become: many places may refer to one part.
    /// Source: XOP §3.2.
    pub(super) fn put_in(&self, document: &mut Document, came: &[u8]) -> Result<(), Unreadable> {
        let top = document.document_node();
        let is_inside = |&node: &NodeId| is_include(document, node) && document.parent(node) != Some(top);
        let includes: Vec<NodeId> = document.descendants(top).filter(is_inside).collect();
        // The first of two parts with one name counts.
        let parts: HashMap<String, &Part> =
            self.parts.iter().rev().filter_map(|part| Some((part.name(came)?, part))).collect();
        let of_include = |include: &NodeId| {
            let href = document.attribute(*include, "", "href")?;
            let id = decoded(href.strip_prefix("cid:")?, Plus::Itself).into_owned();
            Some((*include, came.get(parts.get(bare(&id))?.content.clone())?))
        };
        let contents: Vec<(NodeId, &[u8])> = includes.iter().filter_map(of_include).collect();
        if contents.iter().map(|(_, content)| content.len()).sum::<usize>() > LIMIT_BYTES {
            return Err(Unreadable::Multipart("its XML refers to parts so often that it would be too large with them"));
        }
        for (include, content) in contents {
            let text = document.create_text(&BASE64.encode(content))?;
            document.replace(include, text)?;
        }
        Ok(())
    }
}

fn is_include(document: &Document, node: NodeId) -> bool {
    if document.kind(node) != Kind::Element {
        return false;
    }
    let name = document.qname(node);
    (name.namespace, name.local) == (XOP, "Include")
}

impl Part {
    /// Its `Content-ID`, without brackets.
    fn name(&self, bytes: &[u8]) -> Option<String> {
        self.header(bytes, "Content-ID").map(|id| bare(&id).to_owned())
    }
}

/// A `Content-ID` without brackets.
fn bare(id: &str) -> &str {
    id.trim().trim_start_matches('<').trim_end_matches('>')
}

/// Writes the head of the part with the XML, which is in UTF-8 now and not encoded for any way.
fn write_head(head: &[u8], out: &mut Vec<u8>) {
    for line in head.split_inclusive(|&byte| byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        let Some((name, value)) = text.split_once(':') else {
            out.extend_from_slice(line);
            continue;
        };
        match name.trim().to_ascii_lowercase().as_str() {
            "content-transfer-encoding" => out.extend_from_slice(b"Content-Transfer-Encoding: binary\r\n"),
            "content-length" => {}
            "content-type" if parameter(value, "charset").is_some_and(|charset| !is_utf8(&charset)) => {
                let value = with_parameter(value.trim(), "charset", "UTF-8");
                out.extend_from_slice(format!("Content-Type: {value}\r\n").as_bytes());
            }
            _ => out.extend_from_slice(line),
        }
    }
}

fn is_utf8(charset: &str) -> bool {
    charset.eq_ignore_ascii_case("utf-8")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_of;

    const TYPE: &str = "multipart/related; boundary=\"b\"; type=\"application/xop+xml\"; start=\"<root>\"";

    fn body(head: &str, xml: &str) -> String {
        format!(
            "--b\r\nContent-ID: <one@x>\r\n\r\n\u{1}\u{2}\r\n--b\r\nContent-Type: {head}\r\nContent-ID: <root>\r\n\
             \r\n{xml}\r\n--b--\r\n"
        )
    }

    const XML: &str = "<a><xop:Include xmlns:xop=\"http://www.w3.org/2004/08/xop/include\" href=\"cid:one%40x\"/></a>";

    #[test]
    fn the_xml_is_that_of_the_part_that_is_the_start() {
        let came = body("application/xop+xml; type=\"text/xml\"", XML);
        let tree = read(came.clone().into_bytes(), TYPE).unwrap();
        let payload = tree.envelope().payload(tree.document()).unwrap();
        assert_eq!(tree.document().qname(payload).local, "a");
        assert_eq!(tree.into_sent().unwrap(), came.as_bytes());
    }

    #[test]
    fn what_was_changed_leaves_with_the_other_parts_as_they_came() {
        let came = body("text/xml; charset=ISO-8859-1", XML);
        let mut tree = read(came.into_bytes(), TYPE).unwrap();
        tree.change(|document, envelope| {
            let payload = envelope.payload(document).unwrap();
            document.rename(payload, "", "c", "")
        })
        .unwrap();
        let expected = body("text/xml; charset=\"UTF-8\"", &XML.replace("<a>", "<c>").replace("</a>", "</c>"));
        assert_eq!(String::from_utf8(tree.into_sent().unwrap()).unwrap(), expected);
    }

    #[test]
    fn what_leaves_alone_holds_what_it_referred_to() {
        let came = body("application/xop+xml", XML);
        let (package, xml) = Package::find(came.as_bytes(), TYPE).unwrap();
        let mut document = Document::parse(xml, &myelin_xml::Options::default()).unwrap();
        package.put_in(&mut document, came.as_bytes()).unwrap();
        assert_eq!(text_of(&document, document.document_node()), "<a>AQI=</a>");
    }

    #[test]
    fn one_part_that_many_places_refer_to_is_refused_once_it_is_too_much() {
        let content = "x".repeat(1 << 20);
        let include = XML.strip_prefix("<a>").unwrap().strip_suffix("</a>").unwrap();
        let put_in = |times: usize| {
            let came = body("application/xop+xml", &format!("<a>{}</a>", include.repeat(times)));
            let came = came.replace("\u{1}\u{2}", &content);
            let (package, xml) = Package::find(came.as_bytes(), TYPE).unwrap();
            let mut document = Document::parse(xml, &myelin_xml::Options::default()).unwrap();
            package.put_in(&mut document, came.as_bytes())
        };
        assert!(put_in(2).is_ok());
        assert!(matches!(put_in(65), Err(Unreadable::Multipart(_))));
    }

    #[test]
    fn what_is_no_package_is_told() {
        let check = |bytes: &str, content_type: &str, expected: &str| {
            let (error, bytes_again) = read(bytes.into(), content_type).unwrap_err();
            assert!(format!("{error:?}").contains(expected), "{error:?}");
            assert_eq!(bytes_again, bytes.as_bytes());
        };
        check("", "multipart/related", "boundary");
        check("", TYPE, "does not end");
        check("--b--", TYPE, "no part");
        check("--b\r\n\r\n<a>\r\n--b--", TYPE, "Xml");
        check("--b\r\nContent-Transfer-Encoding: base64\r\n\r\n%\r\n--b--", TYPE, "Base64");
    }
}
