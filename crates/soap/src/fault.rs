//! Faults: SOAP 1.1 §4.4, SOAP 1.2 part 1 §5.4.

use crate::Version;

/// Whose side a fault is, where nothing more precise is to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The message was wrong: `Client` in SOAP 1.1, `Sender` in 1.2.
    Sender,
    /// The message could not be processed: `Server` in SOAP 1.1, `Receiver` in 1.2.
    Receiver,
}

/// The name that says what kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code<'a> {
    /// Empty where the namespace is empty or the default one.
    pub prefix: &'a str,
    /// A name without a colon.
    pub local: &'a str,
    /// Empty: none.
    pub namespace: &'a str,
}

/// A fault to be written; every part but `header` and `detail` is plain text.
#[derive(Clone, Copy, Debug)]
pub struct Fault<'a> {
    /// Which SOAP it is said in.
    pub version: Version,
    /// What kind of fault.
    pub code: Code<'a>,
    /// A more precise name, of another standard; SOAP 1.1 has one place only, and then says this one.
    pub subcode: Option<Code<'a>>,
    /// A sentence for people.
    pub reason: &'a str,
    /// Who on the way failed; SOAP 1.1 has no place for it.
    pub node: Option<&'a str>,
    /// In which role it acted; `faultactor` in SOAP 1.1.
    pub role: Option<&'a str>,
    /// XML or escaped text.
    pub detail: Option<&'a str>,
    /// The XML of the header blocks; `None`: the envelope has no header.
    pub header: Option<&'a str>,
}

impl Code<'static> {
    /// The standard's own code.
    pub fn standard(version: Version, who: Who) -> Code<'static> {
        let local = match (version, who) {
            (Version::Soap11, Who::Sender) => "Client",
            (Version::Soap11, Who::Receiver) => "Server",
            (Version::Soap12, Who::Sender) => "Sender",
            (Version::Soap12, Who::Receiver) => "Receiver",
        };
        Code { prefix: PREFIX, local, namespace: version.namespace() }
    }
}

/// The prefix that envelopes made here bind.
const PREFIX: &str = "soapenv";

impl Fault<'_> {
    /// The whole envelope.
    pub fn write(&self) -> String {
        let namespace = self.version.namespace();
        let mut out = format!("<soapenv:Envelope xmlns:soapenv=\"{namespace}\">");
        match self.header {
            None => {}
            Some("") => out.push_str("<soapenv:Header/>"),
            Some(blocks) => part(&mut out, "soapenv:Header", blocks),
        }
        out.push_str("<soapenv:Body><soapenv:Fault>");
        match self.version {
            Version::Soap11 => self.write_soap11(&mut out),
            Version::Soap12 => self.write_soap12(&mut out),
        }
        out.push_str("</soapenv:Fault></soapenv:Body></soapenv:Envelope>");
        out
    }

    fn write_soap11(&self, out: &mut String) {
        self.subcode.unwrap_or(self.code).write(out, "faultcode", self.version);
        match self.reason {
            "" => out.push_str("<faultstring/>"),
            reason => part(out, "faultstring", &escaped(reason)),
        }
        if let Some(role) = self.role {
            part(out, "faultactor", &escaped(role));
        }
        if let Some(detail) = self.detail {
            part(out, "detail", detail);
        }
    }

    fn write_soap12(&self, out: &mut String) {
        out.push_str("<soapenv:Code>");
        self.code.write(out, "soapenv:Value", self.version);
        if let Some(subcode) = self.subcode {
            out.push_str("<soapenv:Subcode>");
            subcode.write(out, "soapenv:Value", self.version);
            out.push_str("</soapenv:Subcode>");
        }
        out.push_str("</soapenv:Code><soapenv:Reason><soapenv:Text xml:lang=\"en\">");
        out.push_str(&escaped(self.reason));
        out.push_str("</soapenv:Text></soapenv:Reason>");
        if let Some(node) = self.node {
            part(out, "soapenv:Node", &escaped(node));
        }
        if let Some(role) = self.role {
            part(out, "soapenv:Role", &escaped(role));
        }
        if let Some(detail) = self.detail {
            part(out, "soapenv:Detail", detail);
        }
    }
}

impl Code<'_> {
    fn write(&self, out: &mut String, element: &str, version: Version) {
        let Code { prefix, local, namespace } = *self;
        let is_known = prefix == PREFIX && namespace == version.namespace();
        let colon = if prefix.is_empty() { "" } else { ":" };
        let declaration = match (is_known || namespace.is_empty(), prefix) {
            (true, _) => String::new(),
            (false, "") => format!(" xmlns=\"{}\"", escaped(namespace)),
            (false, prefix) => format!(" xmlns:{prefix}=\"{}\"", escaped(namespace)),
        };
        out.push_str(&format!("<{element}{declaration}>{prefix}{colon}{local}</{element}>"));
    }
}

fn part(out: &mut String, element: &str, content: &str) {
    for piece in ["<", element, ">", content, "</", element, ">"] {
        out.push_str(piece);
    }
}

/// Text that can stand in an element or in an attribute.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#13;"),
            // No XML document may hold the other control characters, nor these two.
            '\0'..'\t' | '\u{b}' | '\u{c}' | '\u{e}'..' ' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(version: Version) -> String {
        let code = Code::standard(version, Who::Sender);
        let (node, role) = (Some("http://n"), Some("http://r"));
        Fault { version, code, subcode: None, reason: "a < b", node, role, detail: Some("<x/>"), header: None }.write()
    }

    #[test]
    fn each_version_has_its_own_names() {
        assert_eq!(
            written(Version::Soap11),
            "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\"><soapenv:Body>\
             <soapenv:Fault><faultcode>soapenv:Client</faultcode><faultstring>a &lt; b</faultstring>\
             <faultactor>http://r</faultactor><detail><x/></detail></soapenv:Fault></soapenv:Body></soapenv:Envelope>"
        );
        assert_eq!(
            written(Version::Soap12),
            "<soapenv:Envelope xmlns:soapenv=\"http://www.w3.org/2003/05/soap-envelope\"><soapenv:Body>\
             <soapenv:Fault><soapenv:Code><soapenv:Value>soapenv:Sender</soapenv:Value></soapenv:Code>\
             <soapenv:Reason><soapenv:Text xml:lang=\"en\">a &lt; b</soapenv:Text></soapenv:Reason>\
             <soapenv:Node>http://n</soapenv:Node><soapenv:Role>http://r</soapenv:Role>\
             <soapenv:Detail><x/></soapenv:Detail></soapenv:Fault></soapenv:Body></soapenv:Envelope>"
        );
    }

    #[test]
    fn a_code_of_ones_own_declares_its_prefix() {
        let code = Code { prefix: "o", local: "Own", namespace: "urn:o" };
        let fault = Fault {
            version: Version::Soap11,
            code,
            subcode: None,
            reason: "",
            node: None,
            role: None,
            detail: None,
            header: Some(""),
        };
        let text = fault.write();
        assert!(text.contains("<faultcode xmlns:o=\"urn:o\">o:Own</faultcode><faultstring/>"), "{text}");
        assert!(text.contains("<soapenv:Header/>"), "{text}");
    }

    #[test]
    fn a_more_precise_code_stands_beside_the_standards_own_where_there_is_room() {
        let subcode = Some(Code { prefix: "o", local: "Own", namespace: "urn:o" });
        let written = |version| {
            let code = Code::standard(version, Who::Sender);
            Fault { version, code, subcode, reason: "", node: None, role: None, detail: None, header: None }.write()
        };
        let text = written(Version::Soap11);
        assert!(text.contains("<faultcode xmlns:o=\"urn:o\">o:Own</faultcode>"), "{text}");
        let text = written(Version::Soap12);
        let expected = "<soapenv:Value>soapenv:Sender</soapenv:Value><soapenv:Subcode>\
                        <soapenv:Value xmlns:o=\"urn:o\">o:Own</soapenv:Value></soapenv:Subcode></soapenv:Code>";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn no_text_can_break_the_envelope() {
        assert_eq!(escaped("<&>\"\r\u{0}\u{b}\t\n"), "&lt;&amp;&gt;&quot;&#13;\u{fffd}\u{fffd}\t\n");
    }
}
