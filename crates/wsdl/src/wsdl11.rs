//! What WSDL 1.1 says (W3C Note, March 2001).

use std::collections::HashMap;

use myelin_xml::{Document, NodeId};

use crate::described::{Binding, Content, Description, Header, Message, Operation, Part, Port, Use};
use crate::documents::{Documents, Member, schemas};
use crate::error::{Error, ErrorKind};
use crate::node::documentation;
use crate::node::{child, elements, is, named, owned, reference, text};
use crate::qname::QName;
use crate::{ACTION, ACTION_FINAL, HTTP_BINDING, SOAP11_BINDING, SOAP12_BINDING, WSDL11};

/// The definitions of all documents, by kind and name.
struct Definitions<'a> {
    documents: &'a Documents,
    found: HashMap<(&'a str, String, String), (usize, NodeId)>,
}

impl<'a> Definitions<'a> {
    fn of(documents: &'a Documents) -> Definitions<'a> {
        let mut found = HashMap::new();
        for (index, member) in documents.descriptions() {
            let namespace = namespace(member);
            for element in elements(&member.tree, member.element) {
                let kind = member.tree.qname(element);
                if kind.namespace == WSDL11 && matches!(kind.local, "message" | "portType" | "binding") {
                    let name = owned(&member.tree, element, "name");
                    found.entry((kind.local, namespace.clone(), name)).or_insert((index, element));
                }
            }
        }
        Definitions { documents, found }
    }

    /// The definition of that kind and name, as the element `at` refers to it.
    fn find(
        &self,
        kind: &'static str,
        name: &QName,
        at: (usize, NodeId),
    ) -> Result<(usize, &'a Document, NodeId), Error> {
        let wanted = (kind, name.namespace.clone(), name.local.clone());
        match self.found.get(&wanted) {
            Some(&(index, element)) => Ok((index, &self.documents.list[index].tree, element)),
            None => {
                let member = &self.documents.list[at.0];
                let (line, column) = member.tree.location(at.1).unwrap_or_default();
                let kind = ErrorKind::Missing(kind, name.local.clone());
                Err(Error { document: member.uri.clone(), line, column, kind })
            }
        }
    }

    fn message(&self, name: &QName, at: (usize, NodeId)) -> Result<Message, Error> {
        let (_, tree, element) = self.find("message", name, at)?;
        let parts = named(tree, element, WSDL11, "part").map(|part| Part {
            name: owned(tree, part, "name"),
            content: match (reference(tree, part, "element"), reference(tree, part, "type")) {
                (Some(name), _) => Content::Element(name),
                (None, Some(name)) => Content::Type(name),
                (None, None) => Content::Any,
            },
        });
        Ok(Message { name: name.local.clone(), parts: parts.collect() })
    }
}

/// The target namespace of a document.
fn namespace(member: &Member) -> String {
    owned(&member.tree, member.element, "targetNamespace")
}

pub(crate) fn read(documents: &Documents) -> Result<Description, Error> {
    let definitions = Definitions::of(documents);
    let root = documents.root();
    let binding = match best_port(documents) {
        Some((index, port)) => {
            let name = reference(&documents.list[index].tree, port, "binding").unwrap_or_default();
            let (document, _, element) = definitions.find("binding", &name, (index, port))?;
            Some((document, element))
        }
        None => first(documents, "binding"),
    };
    let (index, tree, interface) = match binding {
        Some((index, binding)) => {
            let name = reference(&documents.list[index].tree, binding, "type").unwrap_or_default();
            definitions.find("portType", &name, (index, binding))?
        }
        None => {
            let none = || Error::whole(&root.uri, ErrorKind::Empty);
            let (index, element) = first(documents, "portType").ok_or_else(none)?;
            (index, &documents.list[index].tree, element)
        }
    };
    let mut bound = HashMap::new();
    if let Some((index, binding)) = binding {
        let tree = &documents.list[index].tree;
        for element in named(tree, binding, WSDL11, "operation") {
            bound.entry(owned(tree, element, "name")).or_insert_with(|| Bound::of(tree, index, binding, element));
        }
    }
    let mut operations = Vec::new();
    for element in named(tree, interface, WSDL11, "operation") {
        operations.push(operation(&definitions, (index, element), bound.get(&owned(tree, element, "name")))?);
    }
    let in_types = documents.descriptions().flat_map(|(index, member)| {
        schemas(&member.tree, member.element).into_iter().map(move |schema| (index, schema))
    });
    Ok(Description {
        namespace: namespace(root),
        operations,
        ports: ports(documents),
        documentation: documentation(&root.tree, root.element, WSDL11),
        interface: QName { namespace: namespace(&documents.list[index]), local: owned(tree, interface, "name") },
        schemas: in_types.collect(),
        made_schemas: Vec::new(),
        binding,
    })
}

/// The ports of all services, in the order of the documents.
pub(crate) fn ports(documents: &Documents) -> Vec<Port> {
    let definitions = Definitions::of(documents);
    let ports = port_elements(documents).into_iter().map(|(index, service, port)| {
        let tree = &documents.list[index].tree;
        let address = elements(tree, port).find(|&element| tree.qname(element).local == "address");
        let spoken = address.map_or("", |address| tree.qname(address).namespace);
        Port {
            service: owned(tree, service, "name"),
            name: owned(tree, port, "name"),
            address: address.map(|address| owned(tree, address, "location")).unwrap_or_default(),
            binding: match spoken {
                SOAP11_BINDING => Binding::Soap11,
                SOAP12_BINDING => Binding::Soap12,
                HTTP_BINDING => {
                    let name = reference(tree, port, "binding").unwrap_or_default();
                    let binding = definitions.find("binding", &name, (index, port)).ok();
                    let verb = binding.and_then(|(_, tree, binding)| {
                        Some(owned(tree, child(tree, binding, HTTP_BINDING, "binding")?, "verb"))
                    });
                    Binding::Http(verb.filter(|verb| !verb.is_empty()).unwrap_or_else(|| "POST".to_owned()))
                }
                _ => Binding::Other,
            },
        }
    });
    ports.collect()
}

/// Each port: its document, its service, and itself.
fn port_elements(documents: &Documents) -> Vec<(usize, NodeId, NodeId)> {
    let mut found = Vec::new();
    for (index, Member { tree, element, .. }) in documents.descriptions() {
        for service in named(tree, *element, WSDL11, "service") {
            found.extend(named(tree, service, WSDL11, "port").map(|port| (index, service, port)));
        }
    }
    found
}

/// The port of the first service that Axis2 would take: of SOAP 1.2, else of SOAP 1.1, else the first.
fn best_port(documents: &Documents) -> Option<(usize, NodeId)> {
    let all = port_elements(documents);
    let &(_, first_service, first_port) = all.first()?;
    let document = all[0].0;
    let tree = &documents.list[document].tree;
    let of_first: Vec<NodeId> =
        all.iter().filter(|port| (port.0, port.1) == (document, first_service)).map(|port| port.2).collect();
    let speaks = |port: NodeId, namespace| child(tree, port, namespace, "address").is_some();
    let find = |namespace| of_first.iter().copied().find(|&port| speaks(port, namespace));
    Some((document, find(SOAP12_BINDING).or_else(|| find(SOAP11_BINDING)).unwrap_or(first_port)))
}

/// The first definition of a kind.
fn first(documents: &Documents, kind: &str) -> Option<(usize, NodeId)> {
    documents
        .descriptions()
        .find_map(|(index, member)| Some((index, child(&member.tree, member.element, WSDL11, kind)?)))
}

fn operation(
    definitions: &Definitions<'_>,
    at: (usize, NodeId),
    bound: Option<&Bound<'_>>,
) -> Result<Operation, Error> {
    let tree = &definitions.documents.list[at.0].tree;
    let mut operation = Operation {
        action: bound.map(|bound| bound.action.clone()).unwrap_or_default(),
        name: owned(tree, at.1, "name"),
        element: None,
        documentation: documentation(tree, at.1, WSDL11),
        input: None,
        output: None,
        faults: Vec::new(),
        rpc: None,
    };
    for element in elements(tree, at.1).filter(|&element| tree.qname(element).namespace == WSDL11) {
        let used = || -> Result<Use, Error> {
            let message = reference(tree, element, "message").unwrap_or_default();
            let explicit = [ACTION, ACTION_FINAL].into_iter().find_map(|name| tree.attribute(element, name, "Action"));
            let mut used = Use {
                name: owned(tree, element, "name"),
                action: explicit.map(|action| action.into_owned()),
                message: definitions.message(&message, (at.0, element))?,
                headers: Vec::new(),
                body_parts: None,
            };
            if let Some(bound) = bound {
                bound.complete(definitions, tree.qname(element).local, &mut used)?;
            }
            Ok(used)
        };
        match tree.qname(element).local {
            "input" => operation.input = Some(used()?),
            "output" => operation.output = Some(used()?),
            "fault" => operation.faults.push(used()?),
            _ => {}
        }
    }
    if let Some(bound) = bound.filter(|bound| bound.is_rpc) {
        let input = bound.body_namespace("input");
        operation.rpc = Some(input.unwrap_or_else(|| namespace(&definitions.documents.list[at.0])));
    }
    let parts = operation.input.iter().flat_map(|input| &input.message.parts);
    operation.element = parts.into_iter().find_map(|part| match &part.content {
        Content::Element(name) => Some(name.clone()),
        _ => None,
    });
    Ok(operation)
}

/// What a binding says of an operation.
struct Bound<'a> {
    tree: &'a Document,
    index: usize,
    element: NodeId,
    action: String,
    is_rpc: bool,
}

impl<'a> Bound<'a> {
    /// Shape: `element` is the operation of a binding, which stands in the document of that number.
    fn of(tree: &'a Document, index: usize, binding: NodeId, element: NodeId) -> Bound<'a> {
        let soap =
            |parent, local| [SOAP12_BINDING, SOAP11_BINDING].into_iter().find_map(|it| child(tree, parent, it, local));
        let own = soap(element, "operation");
        let style = own.and_then(|own| text(tree, own, "style"));
        let style = style.or_else(|| text(tree, soap(binding, "binding")?, "style"));
        Bound {
            tree,
            index,
            element,
            action: own.map(|own| owned(tree, own, "soapAction")).unwrap_or_default(),
            is_rpc: style.as_deref() == Some("rpc"),
        }
    }

    /// The elements of SOAP in the input, output or fault of this operation.
    fn soap(&self, direction: &'a str, local: &'static str) -> impl Iterator<Item = NodeId> + '_ {
        let within = child(self.tree, self.element, WSDL11, direction);
        let all = within.into_iter().flat_map(|within| elements(self.tree, within));
        all.filter(move |&element| {
            is(self.tree, element, SOAP11_BINDING, local) || is(self.tree, element, SOAP12_BINDING, local)
        })
    }

    fn body_namespace(&self, direction: &'a str) -> Option<String> {
        let body = self.soap(direction, "body").next()?;
        text(self.tree, body, "namespace")
            .filter(|namespace| !namespace.is_empty())
            .map(|namespace| namespace.into_owned())
    }

    /// Adds what the binding says of a message: its headers, and which parts make the body.
    fn complete(&self, definitions: &Definitions<'_>, direction: &str, used: &mut Use) -> Result<(), Error> {
        // Faults have neither.
        let direction = match direction {
            "input" => "input",
            "output" => "output",
            _ => return Ok(()),
        };
        for header in self.soap(direction, "header") {
            let name = reference(self.tree, header, "message").unwrap_or_default();
            let message = definitions.message(&name, (self.index, header))?;
            used.headers.push(Header { message, part: owned(self.tree, header, "part") });
        }
        let body = self.soap(direction, "body").next();
        used.body_parts = body.and_then(|body| text(self.tree, body, "parts")).map(|parts| parts.into_owned());
        Ok(())
    }
}
