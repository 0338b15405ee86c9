//! The format of a body, by its content type.

use std::borrow::Cow;
use std::collections::HashMap;

use myelin_message::{Head, HeaderId};

use crate::coding::Codings;
use crate::mime::{is_parameter, split_parameters, without_parameter};

/// The parameter of a content type that names the character set.
const CHARSET: &str = "charset";

/// The format of a body, by its content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// SOAP 1.1: `text/xml`.
    Soap11,
    /// SOAP 1.2: `application/soap+xml`.
    Soap12,
    /// Plain XML: `application/xml`, and each type that ends in `+xml`.
    Pox,
    /// JSON: `application/json`, and each type that ends in `+json`.
    Json,
    /// A form: `application/x-www-form-urlencoded`.
    Form,
    /// A form in parts: `multipart/form-data`.
    FormData,
    /// XML with what belongs to it in other parts: MTOM, and SOAP with attachments.
    Related,
    /// Any other text: `text/…`.
    Text,
    /// Bytes without a form: `application/octet-stream`, images and the like.
    Binary,
    /// No content type at all.
    None,
    /// A type that is not known: the body passes as it came.
    Other,
}

/// The format of a body and the details of it, by the content type that the body came with.
#[derive(Clone, Debug)]
pub struct Content {
    /// The format.
    pub format: Format,
    /// Of a body in parts the whole content type; of any other body the name of its character set.
    pub detail: Option<Cow<'static, str>>,
    /// The codings in which its bytes are until somebody reads them (`Content-Encoding`).
    pub codings: Option<Codings>,
}

/// The content types that the operator adds: each is read and written like one that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentTypes(HashMap<String, Format>);

impl ContentTypes {
    /// Bodies of `content_type` are read and written like those of the type `like`.
    pub fn insert(&mut self, content_type: &str, like: &str) {
        self.0.insert(content_type.trim().to_ascii_lowercase(), Format::of(Some(like.as_bytes())));
    }

    /// Whether the operator added none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `essence` is a content type without its parameters.
    fn format_of(&self, essence: &[u8]) -> Option<Format> {
        let essence = std::str::from_utf8(essence).ok()?.to_ascii_lowercase();
        self.0.get(&essence).copied()
    }
}

impl Content {
    /// The content of a message with this head.
    pub fn of(head: &Head) -> Content {
        Content::with_types(head, None)
    }

    /// As [`Content::of`], with the types that the operator adds.
    pub fn with_types(head: &Head, types: Option<&ContentTypes>) -> Content {
        let codings = Codings::of(head);
        let Some(value) = head.known(HeaderId::ContentType) else {
            return Content { format: Format::None, detail: None, codings };
        };
        if types.is_none()
            && let Some((format, charset)) = usual(value)
        {
            return Content { format, detail: charset.map(Cow::Borrowed), codings };
        }
        let (essence, parameters) = split(value);
        let added = types.and_then(|types| types.format_of(essence));
        let format = added.unwrap_or_else(|| Format::of_essence(essence));
        let detail = match format {
            Format::FormData | Format::Related => Some(Cow::Owned(String::from_utf8_lossy(value).into_owned())),
            _ => parameters.and_then(charset_in),
        };
        Content { format, detail, codings }
    }

    /// The name of the character set, where the content type has one.
    pub fn charset(&self) -> Option<&str> {
        self.detail.as_deref().filter(|_| !self.format.is_multipart())
    }

    /// The whole content type of a body in parts, which holds the boundary; empty for any other body.
    pub fn whole_type(&self) -> &str {
        self.detail.as_deref().filter(|_| self.format.is_multipart()).unwrap_or_default()
    }
}

/// The types that most messages have.
const USUAL: [(&str, Format); 4] = [
    ("text/xml", Format::Soap11),
    ("application/soap+xml", Format::Soap12),
    ("application/xml", Format::Pox),
    ("application/json", Format::Json),
];
/// The same as most clients write them, with the character set that they name.
const AS_WRITTEN: [(&str, Format, Option<&str>); 9] = [
    ("text/xml", Format::Soap11, None),
    ("text/xml;charset=UTF-8", Format::Soap11, Some("UTF-8")),
    ("text/xml; charset=UTF-8", Format::Soap11, Some("UTF-8")),
    ("text/xml; charset=utf-8", Format::Soap11, Some("UTF-8")),
    ("application/xml", Format::Pox, None),
    ("application/json", Format::Json, None),
    ("application/json;charset=UTF-8", Format::Json, Some("UTF-8")),
    ("application/json; charset=UTF-8", Format::Json, Some("UTF-8")),
    ("application/json; charset=utf-8", Format::Json, Some("UTF-8")),
];
/// Further types of JSON.
const JSON: [&str; 3] = ["text/json", "text/javascript", "application/json/badgerfish"];
/// Types of bytes that nobody looks into, as WSO2 configures them or describes how to.
const BINARY: [&str; 5] =
    ["application/octet-stream", "application/binary", "application/pdf", "application/msword", "application/zip"];
/// How the types of such kinds begin.
const BINARY_KINDS: [&str; 4] = ["image/", "audio/", "video/", "application/vnd."];

impl Format {
    /// The format a content type stands for; parameters are ignored.
    pub fn of(content_type: Option<&[u8]>) -> Format {
        content_type.map_or(Format::None, |value| Format::of_essence(split(value).0))
    }

    fn of_essence(essence: &[u8]) -> Format {
        let is = |known: &str| essence.eq_ignore_ascii_case(known.as_bytes());
        if let Some((_, format)) = USUAL.iter().find(|(known, _)| is(known)) {
            return *format;
        }
        // Structured syntax suffixes (RFC 6839).
        let is_some = |suffix: &str| {
            let tail = essence.len().checked_sub(suffix.len()).map(|at| &essence[at..]);
            tail.is_some_and(|tail| tail.eq_ignore_ascii_case(suffix.as_bytes()))
        };
        let begins = |known: &str| {
            let start = essence.get(..known.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(known.as_bytes()))
        };
        if is_some("+xml") {
            Format::Pox
        } else if JSON.iter().any(|known| is(known)) || is_some("+json") {
            Format::Json
        } else if is("application/x-www-form-urlencoded") {
            Format::Form
        } else if is("multipart/form-data") {
            Format::FormData
        } else if is("multipart/related") {
            Format::Related
        } else if begins("text/") {
            Format::Text
        } else if BINARY.iter().any(|known| is(known)) || BINARY_KINDS.iter().any(|kind| begins(kind)) {
            Format::Binary
        } else {
            Format::Other
        }
    }

    /// Whether it is in parts.
    pub fn is_multipart(self) -> bool {
        matches!(self, Format::FormData | Format::Related)
    }

    /// As [`Format::of`], with the types that the operator adds.
    pub fn with_types(content_type: Option<&[u8]>, types: Option<&ContentTypes>) -> Format {
        let added = types.zip(content_type).and_then(|(types, value)| types.format_of(split(value).0));
        added.unwrap_or_else(|| Format::of(content_type))
    }

    /// Whether it is XML: SOAP, or plain.
    pub fn is_xml(self) -> bool {
        matches!(self, Format::Soap11 | Format::Soap12 | Format::Pox)
    }
}

/// The name of the character set, where the content type has one.
pub fn charset(head: &Head) -> Option<Cow<'static, str>> {
    charset_in(split(head.known(HeaderId::ContentType)?).1?)
}

/// Format and character set of a content type as most clients write it, which needs no taking apart.
fn usual(content_type: &[u8]) -> Option<(Format, Option<&'static str>)> {
    let (_, format, charset) = AS_WRITTEN.iter().find(|(known, ..)| known.as_bytes() == content_type)?;
    Some((*format, *charset))
}

/// What a content type is, and its parameters, behind the first `;`.
fn split(content_type: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(b';', content_type) {
        Some(end) => (content_type[..end].trim_ascii(), Some(&content_type[end + 1..])),
        None => (content_type.trim_ascii(), None),
    }
}

/// The name of the character set in the parameters of a content type.
fn charset_in(parameters: &[u8]) -> Option<Cow<'static, str>> {
    let parameters = std::str::from_utf8(parameters).ok()?;
    let parameter = split_parameters(parameters).find(|piece| is_parameter(piece, CHARSET))?;
    let name = parameter.split_once('=')?.1.trim().trim_matches('"');
    // The usual one is a constant: no message pays for saying it.
    Some(if name.eq_ignore_ascii_case("utf-8") { Cow::Borrowed("UTF-8") } else { Cow::Owned(name.to_owned()) })
}

/// Writes the name of a character set into the content type, if there is a content type.
pub fn write_charset(head: &mut Head, charset: &str) {
    let Some(value) = head.known(HeaderId::ContentType) else { return };
    let value = String::from_utf8_lossy(value).into_owned();
    let value = format!("{}; charset={charset}", without_parameter(&value, CHARSET));
    // Parts of a valid value are valid, and so is what is added.
    let _ = head.set("Content-Type", value.as_bytes());
}

/// Takes the name of the character set out of the content type.
pub fn remove_charset(head: &mut Head) {
    let Some(value) = head.known(HeaderId::ContentType) else { return };
    let value = String::from_utf8_lossy(value).into_owned();
    // Parts of a valid value are valid.
    let _ = head.set("Content-Type", without_parameter(&value, CHARSET).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_type_tells_the_format() {
        let check = |value: &str, expected| assert_eq!(Format::of(Some(value.as_bytes())), expected, "{value}");
        check("text/xml; charset=UTF-8", Format::Soap11);
        check("Application/SOAP+XML;action=\"a\"", Format::Soap12);
        check("application/xml", Format::Pox);
        check("application/problem+json", Format::Json);
        check("text/plain", Format::Text);
        check("application/x-www-form-urlencoded; charset=UTF-8", Format::Form);
        check("multipart/form-data; boundary=b", Format::FormData);
        check("Multipart/Related; boundary=b", Format::Related);
        check("image/png", Format::Binary);
        check("application/vnd.ms-excel", Format::Binary);
        check("application/vnd.api+json", Format::Json);
        check("application/x-hessian", Format::Other);
        assert_eq!(Format::of(None), Format::None);
    }

    #[test]
    fn what_stands_in_quotes_is_no_parameter() {
        let mut head = Head::default();
        head.append("Content-Type", b"application/soap+xml; action=\"urn:a;charset=x\"; charset=\"utf-8\"").unwrap();
        assert_eq!(charset(&head).as_deref(), Some("UTF-8"));
        write_charset(&mut head, "UTF-16");
        let expected = b"application/soap+xml; action=\"urn:a;charset=x\"; charset=UTF-16";
        assert_eq!(head.known(HeaderId::ContentType), Some(expected.as_slice()));
        remove_charset(&mut head);
        let expected = b"application/soap+xml; action=\"urn:a;charset=x\"";
        assert_eq!(head.known(HeaderId::ContentType), Some(expected.as_slice()));
    }
}
