//! Where the parts of an envelope are in a tree.

use myelin_xml::{Document, Kind, NodeId, Refusal};

use crate::Version;

/// The parts of a SOAP envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Which SOAP it is.
    pub version: Version,
    /// The element `Envelope`.
    pub element: NodeId,
    /// The element `Header`, which may be missing.
    pub header: Option<NodeId>,
    /// The element `Body`, which a message that is read from outside may lack.
    pub body: Option<NodeId>,
}

impl Envelope {
    /// The envelope that a document is, if its root element is one.
    pub fn of(document: &Document) -> Option<Envelope> {
        let element = document.root_element()?;
        let name = document.qname(element);
        let version = Version::of_namespace(name.namespace).filter(|_| name.local == "Envelope")?;
        let part = |local: &str| {
            document.children(element).find(|&child| {
                let name = document.qname(child);
                name.local == local && name.namespace == version.namespace()
            })
        };
        Some(Envelope { version, element, header: part("Header"), body: part("Body") })
    }

    /// The element `Header`, made before the body where there is none.
    ///
    /// Errors: [`Refusal::Full`], where the document is as large as it can be.
    pub fn header_or_new(&mut self, document: &mut Document) -> Result<NodeId, Refusal> {
        if let Some(header) = self.header {
            return Ok(header);
        }
        let prefix = document.qname(self.element).prefix.to_owned();
        let header = document.create_element(&prefix, "Header", self.version.namespace())?;
        match self.body {
            Some(body) => document.insert_before(body, header)?,
            None => document.append(self.element, header)?,
        }
        self.header = Some(header);
        Ok(header)
    }

    /// The first element in the body.
    pub fn payload(&self, document: &Document) -> Option<NodeId> {
        document.children(self.body?).find(|&child| document.kind(child) == Kind::Element)
    }
}

/// Puts an envelope around a document that is none, as Synapse sees plain XML; an empty document gets an empty one.
///
/// Errors: [`Refusal::Full`], where the document is as large as it can be.
pub fn wrap(document: &mut Document, version: Version) -> Result<Envelope, Refusal> {
    let root = document.root_element();
    let namespace = version.namespace();
    let element = document.create_element("soapenv", "Envelope", namespace)?;
    let body = document.create_element("soapenv", "Body", namespace)?;
    document.append(element, body)?;
    if let Some(root) = root {
        document.detach(root);
        document.append(body, root)?;
    }
    document.append(document.document_node(), element)?;
    Ok(Envelope { version, element, header: None, body: Some(body) })
}
