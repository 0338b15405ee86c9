//! XML as the one part of a multipart message: MTOM, and SOAP with attachments that has none.

/// What kind of package XML is enclosed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enclosure {
    /// The W3C's MTOM: the part is XOP, whose content all stands in it.
    Mtom,
    /// SOAP messages with attachments (W3C note, December 2000).
    SwA,
}

/// How the one part is called.
const ROOT: &str = "root.message@myelin";

impl Enclosure {
    /// The type of the whole, where `content_type` is that of the XML.
    ///
    /// Source: RFC 2387, MTOM §3.2.
    pub fn content_type(self, boundary: &str, content_type: &str) -> String {
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        let kind = match self {
            Enclosure::Mtom => format!("type=\"application/xop+xml\"; start-info=\"{media_type}\""),
            Enclosure::SwA => format!("type=\"{media_type}\""),
        };
        format!("multipart/related; boundary=\"{boundary}\"; {kind}; start=\"<{ROOT}>\"")
    }

    /// Encloses XML of that type.
    ///
    /// `boundary` is a word that it does not hold.
    /// Shape: one part; binary content stays inside the XML as Base64, which both standards allow.
    /// Source: RFC 2387, XOP §4.1.
    pub fn enclose(self, xml: &[u8], content_type: &str, boundary: &str) -> Vec<u8> {
        let part_type = match self {
            Enclosure::Mtom => {
                let (media_type, parameters) =
                    content_type.split_at(content_type.find(';').unwrap_or(content_type.len()));
                format!("application/xop+xml{parameters}; type=\"{}\"", media_type.trim())
            }
            Enclosure::SwA => content_type.to_owned(),
        };
        let head = format!(
            "--{boundary}\r\nContent-Type: {part_type}\r\nContent-Transfer-Encoding: binary\r\n\
             Content-ID: <{ROOT}>\r\n\r\n"
        );
        [head.as_bytes(), xml, format!("\r\n--{boundary}--\r\n").as_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_holds_the_message_as_its_one_part() {
        let came = "text/xml; charset=UTF-8";
        assert_eq!(
            Enclosure::Mtom.content_type("b", came),
            "multipart/related; boundary=\"b\"; type=\"application/xop+xml\"; start-info=\"text/xml\"; \
             start=\"<root.message@myelin>\""
        );
        assert_eq!(
            String::from_utf8(Enclosure::Mtom.enclose(b"<a/>", came, "b")).unwrap(),
            "--b\r\nContent-Type: application/xop+xml; charset=UTF-8; type=\"text/xml\"\r\n\
             Content-Transfer-Encoding: binary\r\nContent-ID: <root.message@myelin>\r\n\r\n<a/>\r\n--b--\r\n"
        );
        assert!(Enclosure::SwA.content_type("b", came).contains("; type=\"text/xml\"; start="));
        let body = String::from_utf8(Enclosure::SwA.enclose(b"<a/>", came, "b")).unwrap();
        assert!(body.starts_with("--b\r\nContent-Type: text/xml; charset=UTF-8\r\n"), "{body}");
    }
}
