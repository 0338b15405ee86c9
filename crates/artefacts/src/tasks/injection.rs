//! The message of a task.

use myelin_message::{Body, Head, Message};
use myelin_soap::Version;

use myelin_flow::property::Value;

/// The message that a task gives.
#[derive(Debug)]
pub struct Injection {
    /// What kind of message it is.
    pub kind: Kind,
    /// Its bytes, in UTF-8.
    pub body: Vec<u8>,
    /// The SOAP action, without quotes.
    pub soap_action: Option<String>,
    /// What the message is addressed to.
    pub to: Option<Value>,
}

/// What kind of message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An envelope of that version.
    Soap(Version),
    /// Plain XML.
    Plain {
        /// Whether it leaves as a GET.
        get: bool,
    },
    /// JSON.
    Json,
}

impl Kind {
    /// The kind that `format` names; `None` where it names none.
    ///
    /// Source: Synapse's `MessageInjector`, which makes SOAP 1.2 where nothing is said.
    pub fn of(format: &str) -> Option<Kind> {
        Some(match format.to_ascii_lowercase().as_str() {
            "soap11" => Kind::Soap(Version::Soap11),
            "soap12" | "" => Kind::Soap(Version::Soap12),
            "pox" => Kind::Plain { get: false },
            "get" => Kind::Plain { get: true },
            _ => return None,
        })
    }

    /// What is sent of an element; an envelope stays what it is.
    pub fn of_xml(self, element: &str, is_envelope: bool) -> Vec<u8> {
        match self {
            Kind::Soap(version) if !is_envelope => {
                let namespace = version.namespace();
                format!(
                    "<soapenv:Envelope xmlns:soapenv=\"{namespace}\"><soapenv:Body>{element}</soapenv:Body></soapenv:Envelope>"
                )
                .into_bytes()
            }
            _ => element.as_bytes().to_vec(),
        }
    }
}

impl Injection {
    /// A new message.
    pub fn message(&self) -> Message {
        let method = if self.kind == (Kind::Plain { get: true }) { "GET" } else { "POST" };
        let mut head = Head::request(method, "/");
        let content_type = match self.kind {
            Kind::Soap(version) => version.media_type(),
            Kind::Plain { .. } => "application/xml",
            Kind::Json => "application/json",
        };
        let mut content_type = format!("{content_type}; charset=UTF-8");
        match (&self.soap_action, self.kind) {
            (Some(action), Kind::Soap(Version::Soap12)) => content_type.push_str(&format!("; action=\"{action}\"")),
            (Some(action), _) => {
                // Loading has seen to it that it fits into a header line.
                let _ = head.set("SOAPAction", format!("\"{action}\"").as_bytes());
            }
            (None, _) => {}
        }
        let _ = head.set("Content-Type", content_type.as_bytes());
        Message::new(head, Body::Bytes(self.body.clone()))
    }
}
