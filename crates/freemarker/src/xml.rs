//! XML as data, the way FreeMarker shows it: a document, its elements and attributes as hashes, sequences and texts.
//!
//! Source: FreeMarker's manual, "XML Processing Guide", and `freemarker.ext.dom`.

use std::rc::Rc;

use myelin_xml::{Document, Kind, NodeId, WriteOptions, is_ncname, write};

use crate::value::{Object, Text, Value};

/// A node, or several, of a document.
pub struct Xml<'m> {
    tree: Rc<Tree<'m>>,
    place: Place,
}

/// What is shown of a document.
struct Tree<'m> {
    document: &'m Document,
    root: NodeId,
    prefixes: Vec<(String, String)>,
}

#[derive(Clone)]
enum Place {
    Document,
    Node(NodeId),
    /// None or several: what a name stands for that is not there once.
    List(Rc<[NodeId]>),
}

impl<'m> Xml<'m> {
    /// An element as if it were the root of a document of its own, with what the template's header says of namespaces.
    pub fn of(document: &'m Document, root: NodeId, prefixes: &[(String, String)]) -> Value<'m> {
        let tree = Tree { document, root, prefixes: prefixes.to_vec() };
        Value::Object(Rc::new(Xml { tree: Rc::new(tree), place: Place::Document }))
    }

    fn value(&self, place: Place) -> Value<'m> {
        Value::Object(Rc::new(Xml { tree: Rc::clone(&self.tree), place }))
    }

    fn nodes(&self, mut nodes: Vec<NodeId>) -> Value<'m> {
        let only = if nodes.len() == 1 { nodes.pop() } else { None };
        self.value(only.map_or_else(|| Place::List(nodes.into()), Place::Node))
    }

    fn document(&self) -> &'m Document {
        self.tree.document
    }

    /// The children that count: elements and texts.
    fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + use<'m> {
        let document = self.tree.document;
        document.children(node).filter(move |&child| matches!(document.kind(child), Kind::Element | Kind::Text))
    }

    fn elements(&self, node: NodeId) -> impl Iterator<Item = NodeId> + use<'m> {
        let document = self.tree.document;
        document.children(node).filter(move |&child| document.kind(child) == Kind::Element)
    }

    /// Whether a name of the template means the name of this node.
    fn is_called(&self, node: NodeId, name: &str) -> bool {
        let called = self.document().qname(node);
        let declared = |prefix: &str| {
            let found = self.tree.prefixes.iter().find(|(known, _)| known == prefix);
            found.map(|(_, namespace)| namespace.as_str())
        };
        // Attributes without a prefix are in no namespace, whatever is declared.
        let default = declared("D").filter(|_| self.document().kind(node) == Kind::Element);
        match name.split_once(':') {
            Some(("N", local)) => called.namespace.is_empty() && called.local == local,
            Some((prefix, local)) => declared(prefix) == Some(called.namespace) && called.local == local,
            None => called.namespace == default.unwrap_or("") && called.local == name,
        }
    }

    /// What a node has under a name: nodes, or a text.
    fn of_node(&self, node: NodeId, name: &str) -> Result<Found<'m>, String> {
        let document = self.document();
        let is_element = document.kind(node) == Kind::Element;
        Ok(Found::Nodes(match name {
            "*" => self.elements(node).collect(),
            "**" => document.descendants(node).filter(|&below| document.kind(below) == Kind::Element).collect(),
            "@@" | "@*" if is_element => document.attributes(node).collect(),
            "@@text" => return Ok(Found::Text(document.string_value(node).into())),
            "@@local_name" => return Ok(Found::Text(Text::Borrowed(document.qname(node).local))),
            "@@namespace" => return Ok(Found::Text(Text::Borrowed(document.qname(node).namespace))),
            "@@qname" => return Ok(Found::Text(self.qname(node).into())),
            "@@markup" => return Ok(Found::Text(self.markup([node]))),
            "@@nested_markup" => return Ok(Found::Text(self.markup(self.children(node)))),
            name => match name.strip_prefix('@').filter(|name| is_name(name)) {
                Some(name) if is_element => {
                    document.attributes(node).filter(|&attribute| self.is_called(attribute, name)).collect()
                }
                None if is_name(name) => self.elements(node).filter(|&child| self.is_called(child, name)).collect(),
                _ => return Err(format!("{name:?} is not offered of XML: names, @names, *, ** and @@text are")),
            },
        }))
    }

    /// The name as the template would write it.
    fn qname(&self, node: NodeId) -> String {
        let called = self.document().qname(node);
        let declared = self.tree.prefixes.iter().find(|(_, namespace)| namespace == called.namespace);
        match declared.map(|(prefix, _)| prefix.as_str()) {
            Some("D") | None => called.local.to_owned(),
            Some(prefix) => format!("{prefix}:{}", called.local),
        }
    }

    fn markup(&self, nodes: impl IntoIterator<Item = NodeId>) -> Text<'m> {
        let mut out = Vec::new();
        for node in nodes {
            match self.document().kind(node) {
                Kind::Attribute => out.extend_from_slice(self.document().value(node).as_bytes()),
                _ => write(self.document(), node, &WriteOptions::default(), &mut out),
            }
        }
        // The writer copies from texts and writes nothing but UTF-8.
        Text::Shared(String::from_utf8(out).unwrap_or_default().into())
    }

    fn text_of(&self, node: NodeId) -> Result<Text<'m>, String> {
        let document = self.document();
        if document.kind(node) != Kind::Element {
            return Ok(document.value(node).into());
        }
        if let Some(child) = self.elements(node).next() {
            let (name, inner) = (document.qname(node).local, document.qname(child).local);
            return Err(format!("only an element without elements in it has a text, and <{name}> holds <{inner}>"));
        }
        Ok(document.string_value(node).into())
    }

    fn all(&self) -> &[NodeId] {
        match &self.place {
            Place::Document => std::slice::from_ref(&self.tree.root),
            Place::Node(node) => std::slice::from_ref(node),
            Place::List(nodes) => nodes,
        }
    }
}

/// What is under a name.
enum Found<'m> {
    Nodes(Vec<NodeId>),
    Text(Text<'m>),
}

/// Whether a text is a name, with or without a prefix.
fn is_name(text: &str) -> bool {
    match text.split_once(':') {
        Some((prefix, local)) => is_ncname(prefix) && is_ncname(local),
        None => is_ncname(text),
    }
}

impl<'m> Object<'m> for Xml<'m> {
    fn name(&self) -> String {
        match &self.place {
            Place::Document => "an XML document".to_owned(),
            Place::Node(_) => "a node of XML".to_owned(),
            Place::List(nodes) => format!("a list of {} nodes of XML", nodes.len()),
        }
    }

    fn text(&self) -> Result<Option<Text<'m>>, String> {
        match &self.place {
            Place::Node(node) => self.text_of(*node).map(Some),
            Place::List(nodes) if nodes.is_empty() => Err("there is no such node of XML, so it has no text".to_owned()),
            Place::Document | Place::List(_) => Ok(None),
        }
    }

    fn length(&self) -> Option<usize> {
        Some(self.all().len())
    }

    fn item(&self, index: usize) -> Option<Value<'m>> {
        match &self.place {
            Place::List(nodes) => nodes.get(index).map(|&node| self.value(Place::Node(node))),
            place => (index == 0).then(|| self.value(place.clone())),
        }
    }

    fn is_hash(&self) -> bool {
        true
    }

    fn member(&self, name: &str) -> Result<Option<Value<'m>>, String> {
        let root = self.tree.root;
        match &self.place {
            Place::Document => match name {
                "*" => return Ok(Some(self.value(Place::Node(root)))),
                "**" => {
                    let document = self.document();
                    let below = document.descendants(root).filter(|&node| document.kind(node) == Kind::Element);
                    return Ok(Some(self.nodes(std::iter::once(root).chain(below).collect())));
                }
                name if is_name(name) => {
                    let is_root = self.is_called(root, name);
                    return Ok(Some(self.nodes(if is_root { vec![root] } else { Vec::new() })));
                }
                _ => {}
            },
            Place::Node(_) | Place::List(_) => {}
        }
        let mut nodes = Vec::new();
        let mut texts: Option<String> = None;
        for &node in self.all() {
            match self.of_node(node, name)? {
                Found::Nodes(found) => nodes.extend(found),
                Found::Text(text) => texts.get_or_insert_default().push_str(&text),
            }
        }
        Ok(Some(texts.map_or_else(|| self.nodes(nodes), Value::from)))
    }

    fn node(&self, question: &str) -> Option<Option<Value<'m>>> {
        let node = match &self.place {
            Place::Node(node) => Some(*node),
            Place::Document => None,
            Place::List(_) => return None,
        };
        let document = self.document();
        let at = |node: NodeId| self.value(Place::Node(node));
        let kind = node.map(|node| document.kind(node));
        Some(match question {
            "root" => Some(self.value(Place::Document)),
            "parent" => node.and_then(|node| match node == self.tree.root {
                true => Some(self.value(Place::Document)),
                false => document.parent(node).map(at),
            }),
            "children" => Some(self.value(Place::List(match node {
                Some(node) => self.children(node).collect(),
                None => [self.tree.root].into(),
            }))),
            "next_sibling" => {
                node.filter(|&node| node != self.tree.root).and_then(|node| document.next_sibling(node)).map(at)
            }
            "previous_sibling" => {
                node.filter(|&node| node != self.tree.root).and_then(|node| document.previous_sibling(node)).map(at)
            }
            "node_namespace" => node.map(|node| Value::text(document.qname(node).namespace)),
            "node_name" => Some(match (node, kind) {
                (Some(_), Some(Kind::Text)) => Value::text("@text"),
                (Some(node), _) => Value::text(document.qname(node).local),
                (None, _) => Value::text("@document"),
            }),
            _ => Some(Value::text(match kind {
                Some(Kind::Element) => "element",
                Some(Kind::Attribute) => "attribute",
                Some(Kind::Text) => "text",
                Some(_) => "other",
                None => "document",
            })),
        })
    }

    fn cost(&self, name: &str) -> u64 {
        let below = |node: NodeId| match name {
            "**" | "@@text" | "@@markup" | "@@nested_markup" => self.document().descendants(node).count(),
            _ => self.document().children(node).count(),
        };
        self.all().iter().map(|&node| below(node) as u64 / 8 + 1).sum()
    }
}
