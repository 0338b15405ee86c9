//! WSDL 1.1 and 2.0: descriptions of services, read with what they import, and published for another service.
//!
//! [`Documents`] collects a description and everything it imports; who fetches, and how, is the caller's affair.
//! [`Description`] is what such documents say, whatever their version: operations, messages, ports.
//! [`publish()`] makes the pages that a service hands out: a description with its own name and ports, or the documents as
//! they came with other addresses in them; a [`Page`] has holes for the addresses, which differ by request.
//! Schemas are carried along and never interpreted. Nothing here knows of HTTP, of Synapse or of waiting.

mod described;
mod documents;
mod error;
mod fragment;
mod generate;
mod node;
mod options;
mod page;
mod piece;
mod policies;
mod prefixes;
mod publish;
mod qname;
mod read;
mod rpc;
mod wsdl11;
mod wsdl20;

pub use described::{Binding, Description, Operation, Port};
pub use documents::{Documents, Source, Wanted};
pub use error::{Error, ErrorKind};
pub use options::{Form, Links, Options};
pub use page::{Addresses, Page, Scheme};
pub use publish::{Published, publish};
pub use qname::QName;

/// The namespace of WSDL 1.1.
pub const WSDL11: &str = "http://schemas.xmlsoap.org/wsdl/";
/// The namespace of WSDL 2.0.
pub const WSDL20: &str = "http://www.w3.org/ns/wsdl";
const SCHEMA: &str = "http://www.w3.org/2001/XMLSchema";
const SOAP11_BINDING: &str = "http://schemas.xmlsoap.org/wsdl/soap/";
const SOAP12_BINDING: &str = "http://schemas.xmlsoap.org/wsdl/soap12/";
const HTTP_BINDING: &str = "http://schemas.xmlsoap.org/wsdl/http/";
const MIME_BINDING: &str = "http://schemas.xmlsoap.org/wsdl/mime/";
const SOAP20_BINDING: &str = "http://www.w3.org/ns/wsdl/soap";
const HTTP20_BINDING: &str = "http://www.w3.org/ns/wsdl/http";
/// The namespace of `Action` in WSDL, as Axis2 writes it (WS-Addressing 1.0 WSDL Binding, candidate).
const ACTION: &str = "http://www.w3.org/2006/05/addressing/wsdl";
/// The same in the recommendation (WS-Addressing 1.0 Metadata §4.4).
const ACTION_FINAL: &str = "http://www.w3.org/2007/05/addressing/metadata";
