//! What a description says, whatever its version.

use myelin_xml::NodeId;

use crate::qname::QName;

/// What a set of documents describes: the interface of one service, and the ports of all.
#[derive(Clone, Debug)]
pub struct Description {
    /// The target namespace.
    pub namespace: String,
    /// The operations of the interface, in the order of the documents.
    pub operations: Vec<Operation>,
    /// The ports of all services.
    pub ports: Vec<Port>,
    /// What the documentation element of the description says, as text.
    pub documentation: Option<String>,
    pub(crate) interface: QName,
    /// The schemas in the `types` of the documents: document and element.
    pub(crate) schemas: Vec<(usize, NodeId)>,
    /// Schemas that were made up for messages of the RPC style, as text.
    pub(crate) made_schemas: Vec<String>,
    /// The binding whose actions, headers and policies count: its document and element.
    pub(crate) binding: Option<(usize, NodeId)>,
}

/// One operation of an interface.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// The action that its binding gives it (`SOAPAction`); empty where it gives none.
    pub action: String,
    /// The element that a request's body begins with, where that is known.
    pub element: Option<QName>,
    pub(crate) documentation: Option<String>,
    pub(crate) input: Option<Use>,
    pub(crate) output: Option<Use>,
    pub(crate) faults: Vec<Use>,
    /// The namespace of the body's element in the RPC style; `None` in the document style.
    pub(crate) rpc: Option<String>,
}

/// A message in an operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Use {
    /// The name it has in the operation; empty where it has none.
    pub(crate) name: String,
    /// The WS-Addressing action that is written at it.
    pub(crate) action: Option<String>,
    pub(crate) message: Message,
    /// The SOAP headers that its binding declares.
    pub(crate) headers: Vec<Header>,
    /// The parts that make the body, where its binding names them.
    pub(crate) body_parts: Option<String>,
}

/// A message.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Message {
    pub(crate) name: String,
    pub(crate) parts: Vec<Part>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) content: Content,
}

/// What a part holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    Element(QName),
    Type(QName),
    /// Any one element.
    Any,
}

/// A SOAP header that a message carries.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) message: Message,
    pub(crate) part: String,
}

/// A port of a service: where it is, and what is spoken there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The name of its service.
    pub service: String,
    /// Its own name.
    pub name: String,
    /// Its address as the document says it; empty where it says none.
    pub address: String,
    /// What is spoken there.
    pub binding: Binding,
}

/// What is spoken at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// SOAP 1.1
    Soap11,
    /// SOAP 1.2
    Soap12,
    /// HTTP without SOAP, with that method.
    Http(String),
    /// Something else.
    Other,
}

impl Description {
    /// The description of a service of which nothing is known: one operation that takes and gives anything.
    ///
    /// Source: what Axis2 publishes for a proxy without WSDL.
    pub fn unknown(operation: &str) -> Description {
        let message =
            |name: &str| Use { message: Message { name: name.to_owned(), parts: Vec::new() }, ..Use::default() };
        Description {
            namespace: "http://ws.apache.org/axis2".to_owned(),
            operations: vec![Operation {
                name: operation.to_owned(),
                action: format!("urn:{operation}"),
                element: None,
                documentation: None,
                input: Some(message("in")),
                output: Some(Use { action: Some(format!("urn:{operation}Response")), ..message("out") }),
                faults: Vec::new(),
                rpc: None,
            }],
            ports: Vec::new(),
            documentation: None,
            interface: QName::default(),
            schemas: Vec::new(),
            made_schemas: Vec::new(),
            binding: None,
        }
    }

    /// The operation that a request means: by its action, or else by the element its body begins with.
    ///
    /// Shape: `element` is namespace and local name.
    pub fn operation(&self, action: &str, element: Option<(&str, &str)>) -> Option<&Operation> {
        let by_action = || self.operations.iter().find(|operation| !action.is_empty() && operation.action == action);
        let by_element = || {
            let (namespace, local) = element?;
            let is_it = |name: &QName| name.local == local && name.namespace == namespace;
            self.operations.iter().find(|operation| operation.element.as_ref().is_some_and(is_it))
        };
        by_action().or_else(by_element)
    }
}
