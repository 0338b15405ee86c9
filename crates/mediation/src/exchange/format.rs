//! What a body is, by its content type.

use std::borrow::Cow;

use myelin_message::{Head, HeaderId};

/// The language of a message, by its content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Soap11,
    Soap12,
    Pox,
    Json,
    /// No content type at all.
    None,
    Other,
}

/// What a body is, by the content type it came with.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) format: Format,
    pub(super) charset: Option<Cow<'static, str>>,
}

impl Content {
    pub(super) fn of(head: &Head) -> Content {
        Content { format: Format::of(head.known(HeaderId::ContentType)), charset: charset(head) }
    }

    /// The character set, where the content type names one.
    pub(crate) fn charset(&self) -> Option<&str> {
        self.charset.as_deref()
    }
}

impl Format {
    /// The format a content type stands for; parameters are ignored.
    pub(crate) fn of(content_type: Option<&[u8]>) -> Format {
        let Some(value) = content_type else { return Format::None };
        let essence = value.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        let is = |known: &str| essence.eq_ignore_ascii_case(known.as_bytes());
        // Structured syntax suffixes (RFC 6839).
        let is_some = |suffix: &str| {
            let tail = essence.len().checked_sub(suffix.len()).map(|at| &essence[at..]);
            tail.is_some_and(|tail| tail.eq_ignore_ascii_case(suffix.as_bytes()))
        };
        if is("text/xml") {
            Format::Soap11
        } else if is("application/soap+xml") {
            Format::Soap12
        } else if is("application/xml") || is_some("+xml") {
            Format::Pox
        } else if is("application/json") || is_some("+json") {
            Format::Json
        } else {
            Format::Other
        }
    }
}

/// The character set, where the content type names one.
pub(crate) fn charset(head: &Head) -> Option<Cow<'static, str>> {
    let content_type = std::str::from_utf8(head.known(HeaderId::ContentType)?).ok()?;
    let parameter = content_type.split(';').skip(1).find(|part| is_charset(part))?;
    let name = parameter.split_once('=')?.1.trim().trim_matches('"');
    // The usual one is a constant: no message pays for saying it.
    Some(if name.eq_ignore_ascii_case("utf-8") { Cow::Borrowed("UTF-8") } else { Cow::Owned(name.to_owned()) })
}

/// Says another character set in the content type, if there is one.
pub(crate) fn write_charset(head: &mut Head, charset: &str) {
    let Some(value) = head.known(HeaderId::ContentType) else { return };
    let value = String::from_utf8_lossy(value).into_owned();
    let parameters = value.split(';').filter(|part| !is_charset(part));
    let value = format!("{}; charset={charset}", parameters.collect::<Vec<_>>().join(";"));
    // Parts of a valid value are valid, and so is what is added.
    let _ = head.set("Content-Type", value.as_bytes());
}

/// Leaves the character set out of the content type.
pub(crate) fn remove_charset(head: &mut Head) {
    let Some(value) = head.known(HeaderId::ContentType) else { return };
    let value = String::from_utf8_lossy(value).into_owned();
    let kept: Vec<&str> = value.split(';').filter(|part| !is_charset(part)).collect();
    // Parts of a valid value are valid.
    let _ = head.set("Content-Type", kept.join(";").as_bytes());
}

fn is_charset(parameter: &str) -> bool {
    parameter.split_once('=').is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
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
        check("text/plain", Format::Other);
        assert_eq!(Format::of(None), Format::None);
    }
}
