//! The message of a task.

use myelin_message::{Body, Head, Message};
use myelin_soap::Version;

use crate::property::Value;

/// The message that a task gives.
#[derive(Debug)]
pub(crate) struct Injection {
    pub(crate) kind: Kind,
    pub(crate) body: Vec<u8>,
    pub(crate) soap_action: Option<String>,
    /// What the message is addressed to.
    pub(crate) to: Option<Value>,
}

/// What kind of message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Soap(Version),
    /// Plain XML, and whether it leaves as a GET.
    Plain {
        get: bool,
    },
    Json,
}

impl Kind {
    /// The kind that `format` names; `None` where it names none.
    ///
    /// Source: Synapse's `MessageInjector`, which makes SOAP 1.2 where nothing is said.
    pub(crate) fn of(format: &str) -> Option<Kind> {
        Some(match format.to_ascii_lowercase().as_str() {
            "soap11" => Kind::Soap(Version::Soap11),
            "soap12" | "" => Kind::Soap(Version::Soap12),
            "pox" => Kind::Plain { get: false },
            "get" => Kind::Plain { get: true },
            _ => return None,
        })
    }

    /// What is sent of an element; an envelope stays what it is.
    pub(crate) fn of_xml(self, element: &str, is_envelope: bool) -> Vec<u8> {
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
    pub(crate) fn message(&self) -> Message {
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
