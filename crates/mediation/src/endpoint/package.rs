//! XML as the one part of a multipart message: MTOM, and SOAP with attachments that has none.

use myelin_message::{Body, HeaderId};

use crate::fault::Outcome;
use crate::transport::Outgoing;

/// What kind of package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Package {
    /// The W3C's MTOM: the part is XOP, whose content all stands in it.
    Mtom,
    /// SOAP messages with attachments (W3C note, December 2000).
    SwA,
}

impl Package {
    /// Puts the body of a message into a package.
    ///
    /// `boundary` is a word that the message does not hold.
    /// Shape: one part; binary content stays inside the XML as Base64, which both standards allow.
    /// Source: RFC 2387, MTOM §3.2, XOP §4.1.
    pub(crate) fn wrap(self, bytes: &[u8], boundary: &str, outgoing: &mut Outgoing) -> Outcome<()> {
        let came = outgoing.head.known(HeaderId::ContentType).map(String::from_utf8_lossy).unwrap_or_default();
        let media_type = came.split(';').next().unwrap_or_default().trim().to_owned();
        let (part_type, kind) = match self {
            Package::Mtom => {
                let parameters: String = came.split(';').skip(1).map(|parameter| format!(";{parameter}")).collect();
                let part = format!("application/xop+xml{parameters}; type=\"{media_type}\"");
                (part, format!("type=\"application/xop+xml\"; start-info=\"{media_type}\""))
            }
            Package::SwA => (came.clone().into_owned(), format!("type=\"{media_type}\"")),
        };
        let content_type = format!("multipart/related; boundary=\"{boundary}\"; {kind}; start=\"<{ROOT}>\"");
        let mut out = format!(
            "--{boundary}\r\nContent-Type: {part_type}\r\nContent-Transfer-Encoding: binary\r\n\
             Content-ID: <{ROOT}>\r\n\r\n"
        )
        .into_bytes();
        out.extend_from_slice(bytes);
        out.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        outgoing.head.set("Content-Type", content_type.as_bytes())?;
        outgoing.body = Body::Bytes(out);
        Ok(())
    }
}

/// How the one part is called.
const ROOT: &str = "root.message@myelin";

#[cfg(test)]
mod tests {
    use http::Uri;
    use myelin_message::Head;

    use super::*;
    use crate::transport::{Manner, Method};

    fn wrapped(package: Package) -> (String, String) {
        let mut head = Head::default();
        head.set("Content-Type", b"text/xml; charset=UTF-8").unwrap();
        let (method, uri) = (Method::AsCame, Uri::from_static("http://back/"));
        let mut outgoing =
            Outgoing { method, uri, head, body: Body::Empty, timeout: None, host: None, manner: Manner::default() };
        package.wrap(b"<a/>", "b", &mut outgoing).unwrap();
        let content_type = String::from_utf8_lossy(outgoing.head.first("Content-Type").unwrap()).into_owned();
        let Body::Bytes(body) = outgoing.body else { panic!("a package has a body") };
        (content_type, String::from_utf8(body).unwrap())
    }

    #[test]
    fn a_package_holds_the_message_as_its_one_part() {
        let (content_type, body) = wrapped(Package::Mtom);
        assert_eq!(
            content_type,
            "multipart/related; boundary=\"b\"; type=\"application/xop+xml\"; start-info=\"text/xml\"; \
             start=\"<root.message@myelin>\""
        );
        assert_eq!(
            body,
            "--b\r\nContent-Type: application/xop+xml; charset=UTF-8; type=\"text/xml\"\r\n\
             Content-Transfer-Encoding: binary\r\nContent-ID: <root.message@myelin>\r\n\r\n<a/>\r\n--b--\r\n"
        );
        let (content_type, body) = wrapped(Package::SwA);
        assert!(content_type.contains("; type=\"text/xml\"; start="), "{content_type}");
        assert!(body.starts_with("--b\r\nContent-Type: text/xml; charset=UTF-8\r\n"), "{body}");
    }
}
