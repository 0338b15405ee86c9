//! SOAP 1.1 (W3C Note, May 2000) and SOAP 1.2 (second edition): the envelope as a view on a tree, faults, the way from
//! one version to the other, and WS-Addressing.
//!
//! Nothing here copies a message: [`Envelope`] says where its parts are in a [`myelin_xml::Document`].

mod addressing;
mod convert;
mod envelope;
mod fault;

pub use addressing::{Addressing, Headers, Relation};
pub use envelope::{Envelope, wrap};
pub use fault::{Code, Fault, Who, escaped};

/// Which SOAP a message speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// SOAP 1.1
    Soap11,
    /// SOAP 1.2
    Soap12,
}

impl Version {
    /// The namespace of the envelope and its parts.
    pub fn namespace(self) -> &'static str {
        match self {
            Version::Soap11 => "http://schemas.xmlsoap.org/soap/envelope/",
            Version::Soap12 => "http://www.w3.org/2003/05/soap-envelope",
        }
    }

    /// The version whose envelope has that namespace.
    pub fn of_namespace(namespace: &str) -> Option<Version> {
        [Version::Soap11, Version::Soap12].into_iter().find(|version| version.namespace() == namespace)
    }

    /// The media type of its messages over HTTP (SOAP 1.1 §6.1, RFC 3902).
    pub fn media_type(self) -> &'static str {
        match self {
            Version::Soap11 => "text/xml",
            Version::Soap12 => "application/soap+xml",
        }
    }
}
