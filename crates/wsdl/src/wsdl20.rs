//! What WSDL 2.0 says (W3C Recommendation, June 2007).

use std::collections::HashSet;

use myelin_xml::{Document, NodeId};

use crate::described::{Binding, Content, Description, Message, Operation, Part, Port, Use};
use crate::documents::{Documents, schemas};
use crate::error::{Error, ErrorKind};
use crate::node::documentation;
use crate::node::{elements, named, owned, qualified, reference, text};
use crate::qname::QName;
use crate::{ACTION, ACTION_FINAL, HTTP20_BINDING, SOAP20_BINDING, WSDL20};

/// A component of the description that others refer to by name: its document and element.
fn find(documents: &Documents, kind: &str, name: &str) -> Option<(usize, NodeId)> {
    documents.descriptions().find_map(|(index, member)| {
        let mut all = named(&member.tree, member.element, WSDL20, kind);
        let found = all.find(|&element| text(&member.tree, element, "name").as_deref() == Some(name))?;
        Some((index, found))
    })
}

pub(crate) fn read(documents: &Documents) -> Result<Description, Error> {
    let root = documents.root();
    let missing = |kind, name: &str| Error::whole(&root.uri, ErrorKind::Missing(kind, name.to_owned()));
    let first = |kind| {
        documents
            .descriptions()
            .find_map(|(index, it)| Some((index, named(&it.tree, it.element, WSDL20, kind).next()?)))
    };
    let service = first("service");
    let interface =
        match service.and_then(|(index, element)| reference(&documents.list[index].tree, element, "interface")) {
            Some(name) => find(documents, "interface", &name.local).ok_or_else(|| missing("interface", &name.local))?,
            None => first("interface").ok_or_else(|| Error::whole(&root.uri, ErrorKind::Empty))?,
        };
    let name = owned(&documents.list[interface.0].tree, interface.1, "name");
    let binding = documents.descriptions().find_map(|(index, member)| {
        let mut all = named(&member.tree, member.element, WSDL20, "binding");
        let of_it =
            |element: &NodeId| reference(&member.tree, *element, "interface").is_some_and(|it| it.local == name);
        Some((index, all.find(of_it)?))
    });
    let mut operations = Vec::new();
    let mut pending = vec![interface];
    // Interfaces may extend each other in a circle, and one several ways.
    let mut seen = HashSet::new();
    let mut faults = Vec::new();
    while let Some((index, element)) = pending.pop() {
        if !seen.insert((index, element)) {
            continue;
        }
        let tree = &documents.list[index].tree;
        faults.extend(named(tree, element, WSDL20, "fault").map(|fault| (index, fault)));
        operations.extend(named(tree, element, WSDL20, "operation").map(|operation| (index, operation)));
        let extended = owned(tree, element, "extends");
        for name in extended.split_ascii_whitespace() {
            let name = qualified(tree, element, name);
            pending.push(find(documents, "interface", &name.local).ok_or_else(|| missing("interface", &name.local))?);
        }
    }
    let fault_element = |name: &str| {
        faults.iter().find_map(|&(index, fault)| {
            let tree = &documents.list[index].tree;
            (text(tree, fault, "name").as_deref() == Some(name)).then(|| message(tree, fault, name))
        })
    };
    let actions = binding.map(|(index, element)| (&documents.list[index].tree, element));
    let operations = operations
        .into_iter()
        .map(|(index, element)| operation(&documents.list[index].tree, element, actions, &fault_element));
    let operations = operations.collect::<Result<_, _>>().map_err(|name: String| missing("fault", &name))?;
    let in_types = documents.descriptions().flat_map(|(index, member)| {
        schemas(&member.tree, member.element).into_iter().map(move |schema| (index, schema))
    });
    let namespace = owned(&root.tree, root.element, "targetNamespace");
    Ok(Description {
        interface: QName { namespace: namespace.clone(), local: name },
        namespace,
        operations,
        ports: ports(documents),
        documentation: documentation(&root.tree, root.element, WSDL20),
        schemas: in_types.collect(),
        made_schemas: Vec::new(),
        binding,
    })
}

fn operation(
    tree: &Document,
    element: NodeId,
    binding: Option<(&Document, NodeId)>,
    fault: &dyn Fn(&str) -> Option<Message>,
) -> Result<Operation, String> {
    let name = owned(tree, element, "name");
    let bound = binding.and_then(|(tree, binding)| {
        let mut all = named(tree, binding, WSDL20, "operation");
        let found = all.find(|&it| reference(tree, it, "ref").is_some_and(|it| it.local == name))?;
        Some((tree, found))
    });
    let action = bound.and_then(|(tree, bound)| tree.attribute(bound, SOAP20_BINDING, "action"));
    let mut operation = Operation {
        action: action.map(|action| action.into_owned()).unwrap_or_default(),
        documentation: documentation(tree, element, WSDL20),
        element: None,
        input: None,
        output: None,
        faults: Vec::new(),
        rpc: None,
        name,
    };
    for used in elements(tree, element).filter(|&used| tree.qname(used).namespace == WSDL20) {
        let explicit = [ACTION, ACTION_FINAL].into_iter().find_map(|name| tree.attribute(used, name, "Action"));
        let made = |name: String, message| Use {
            name,
            action: explicit.as_ref().map(|action| action.clone().into_owned()),
            message,
            headers: Vec::new(),
            body_parts: None,
        };
        match tree.qname(used).local {
            "input" => {
                let message = message(tree, used, &format!("{}Request", operation.name));
                operation.input = Some(made(owned(tree, used, "messageLabel"), message));
            }
            "output" => {
                let message = message(tree, used, &format!("{}Response", operation.name));
                operation.output = Some(made(owned(tree, used, "messageLabel"), message));
            }
            "outfault" | "infault" => {
                let name = reference(tree, used, "ref").unwrap_or_default().local;
                let message = fault(&name).ok_or_else(|| name.clone())?;
                operation.faults.push(made(name, message));
            }
            _ => {}
        }
    }
    let first = operation.input.as_ref().and_then(|input| input.message.parts.first());
    operation.element = first.and_then(|part| match &part.content {
        Content::Element(name) => Some(name.clone()),
        _ => None,
    });
    Ok(operation)
}

/// The message that an `element` attribute says.
fn message(tree: &Document, element: NodeId, name: &str) -> Message {
    let content = match text(tree, element, "element").as_deref() {
        None | Some("#none") => None,
        Some("#any" | "#other") => Some(Content::Any),
        Some(name) => Some(Content::Element(qualified(tree, element, name))),
    };
    let part = |content| Part { name: "parameters".to_owned(), content };
    Message { name: name.to_owned(), parts: content.map(part).into_iter().collect() }
}

/// The endpoints of all services, in the order of the documents.
pub(crate) fn ports(documents: &Documents) -> Vec<Port> {
    let mut found = Vec::new();
    for (_, member) in documents.descriptions() {
        let tree = &member.tree;
        for service in named(tree, member.element, WSDL20, "service") {
            for endpoint in named(tree, service, WSDL20, "endpoint") {
                let binding = reference(tree, endpoint, "binding").unwrap_or_default();
                let binding = find(documents, "binding", &binding.local);
                found.push(Port {
                    service: owned(tree, service, "name"),
                    name: owned(tree, endpoint, "name"),
                    address: owned(tree, endpoint, "address"),
                    binding: binding.map_or(Binding::Other, |(index, it)| spoken(&documents.list[index].tree, it)),
                });
            }
        }
    }
    found
}

/// What a binding speaks (WSDL 2.0 Adjuncts §5.10.4, §6.3).
fn spoken(tree: &Document, binding: NodeId) -> Binding {
    match text(tree, binding, "type").as_deref() {
        // SOAP 1.2 unless it says otherwise.
        Some(SOAP20_BINDING) => match tree.attribute(binding, SOAP20_BINDING, "version").as_deref() {
            Some("1.1") => Binding::Soap11,
            _ => Binding::Soap12,
        },
        Some(HTTP20_BINDING) => {
            let method = tree.attribute(binding, HTTP20_BINDING, "methodDefault");
            Binding::Http(method.map_or_else(|| "POST".to_owned(), |method| method.into_owned()))
        }
        _ => Binding::Other,
    }
}
