//! Functions on nodes (XPath 1.0 §4.1 and §4.3, Functions and Operators §2 and §13).

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use myelin_xml::doctype::Declarations;
use myelin_xml::{Document, Kind, NodeId, XML_NAMESPACE};

use super::call::missing;
use crate::error::Error;
use crate::function::{Call, Function, Returns};
use crate::value::number::is_space;
use crate::value::{Atomic, Item, Node, NodeRef, QName, Value};

use Returns::{Any, Boolean, Nodes};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::text("name", 0, 1, name).or_context(),
    Function::text("local-name", 0, 1, local_name).or_context(),
    Function::address("namespace-uri", 0, 1, namespace_uri).or_context(),
    Function::new("node-name", 0, 1, Any, node_name).or_context(),
    Function::new("root", 0, 1, Nodes, root).or_context(),
    Function::new("path", 0, 1, Any, path).or_context(),
    Function::new("has-children", 0, 1, Boolean, has_children).or_context(),
    Function::new("lang", 1, 2, Boolean, lang).or_context(),
    Function::new("id", 1, 2, Nodes, id).or_context(),
    Function::new("element-with-id", 1, 2, Nodes, id).or_context(),
    Function::new("idref", 1, 2, Nodes, idref).or_context(),
    Function::new("base-uri", 0, 1, Any, base_uri).or_context(),
    Function::new("document-uri", 0, 1, Any, document_uri).or_context(),
    Function::new("nilled", 0, 1, Any, nilled).or_context(),
    Function::new("innermost", 1, 1, Nodes, |call| nested(call, true)),
    Function::new("outermost", 1, 1, Nodes, |call| nested(call, false)),
];

/// Prefix, local name and namespace; of a namespace node its prefix is the local name.
fn names(node: NodeRef<'_>) -> (&str, &str, &str) {
    match node.node {
        Node::Tree(tree) => {
            let name = node.document.qname(tree);
            (name.prefix, name.local, name.namespace)
        }
        Node::Namespace { .. } => ("", node.namespace().map_or("", |(prefix, _)| prefix), ""),
    }
}

/// The second of [`names`] alone.
fn local(node: NodeRef<'_>) -> &str {
    let names = node.document.names();
    match node.node.tree().and_then(|tree| node.document.name(tree)) {
        Some(name) => names.text(names.atoms(name).1),
        None => node.namespace().map_or("", |(prefix, _)| prefix),
    }
}

fn name<'a>(call: &Call<'_, 'a>) -> Result<Cow<'a, str>, Error> {
    match call.node(0)?.map(names) {
        None => Ok(Cow::Borrowed("")),
        Some(("", local, _)) => Ok(Cow::Borrowed(local)),
        Some((prefix, local, _)) => {
            let mut name = String::with_capacity(prefix.len() + 1 + local.len());
            name.extend([prefix, ":", local]);
            call.built(name)
        }
    }
}

fn local_name<'a>(call: &Call<'_, 'a>) -> Result<Cow<'a, str>, Error> {
    Ok(Cow::Borrowed(call.node(0)?.map_or("", local)))
}

fn namespace_uri<'a>(call: &Call<'_, 'a>) -> Result<Cow<'a, str>, Error> {
    Ok(Cow::Borrowed(call.node(0)?.map_or("", |node| names(node).2)))
}

fn node_name<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    Ok(match call.node(0)?.map(names) {
        None | Some((_, "", _)) => Value::EMPTY,
        Some((prefix, local, namespace)) => Value::from(Atomic::QName(Box::new(QName {
            prefix: prefix.to_owned(),
            namespace: namespace.to_owned(),
            local: local.to_owned(),
        }))),
    })
}

fn root<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    Ok(call.node(0)?.map_or(Value::EMPTY, |node| node.root().into()))
}

/// A path that leads to the node alone, with namespaces written out (Functions and Operators §14.9).
fn path<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let Some(node) = call.node(0)? else { return Ok(Value::EMPTY) };
    let mut steps = Vec::new();
    let mut at = node;
    while let Some(parent) = at.parent() {
        steps.push(path_step(call, at)?);
        at = parent;
    }
    let mut text = String::new();
    if at.kind() != Some(Kind::Document) {
        text.push_str("Q{http://www.w3.org/2005/xpath-functions}root()");
    } else if steps.is_empty() {
        text.push('/');
    }
    for step in steps.into_iter().rev() {
        text.push('/');
        text.push_str(&step);
    }
    call.built(text).map(Value::from)
}

fn path_step(call: &Call<'_, '_>, node: NodeRef<'_>) -> Result<String, Error> {
    let (_, local, namespace) = names(node);
    let Node::Tree(tree) = node.node else {
        return Ok(match local {
            "" => "namespace::*[Q{http://www.w3.org/2005/xpath-functions}local-name()=\"\"]".to_owned(),
            prefix => format!("namespace::{prefix}"),
        });
    };
    let document = node.document;
    let mut text = match document.kind(tree) {
        Kind::Attribute if namespace.is_empty() => return Ok(format!("@{local}")),
        Kind::Attribute => return Ok(format!("@Q{{{namespace}}}{local}")),
        Kind::Element => format!("Q{{{namespace}}}{local}"),
        Kind::Text => "text()".to_owned(),
        Kind::Comment => "comment()".to_owned(),
        Kind::Instruction => format!("processing-instruction({local})"),
        Kind::Document => return Ok(String::new()),
    };
    let mut position = 1;
    let mut at = tree;
    while let Some(before) = document.previous_sibling(at) {
        call.run.step(1)?;
        let same = document.kind(before) == document.kind(tree) && document.expanded(before) == document.expanded(tree);
        position += u32::from(same);
        at = before;
    }
    // Writing to a string cannot fail.
    let _ = write!(text, "[{position}]");
    Ok(text)
}

fn has_children<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let node = call.node(0)?;
    let child = node.and_then(|node| node.document.first_child(node.node.tree()?));
    Ok(Value::from(child.is_some()))
}

/// The value of an attribute of the nearest element around a node that has it.
fn inherited<'a>(call: &Call<'_, 'a>, node: NodeRef<'a>, local: &str) -> Result<Option<Cow<'a, str>>, Error> {
    let mut at = Some(node);
    while let Some(node) = at {
        call.run.step(1)?;
        if let Node::Tree(tree) = node.node
            && node.document.kind(tree) == Kind::Element
            && let Some(value) = node.document.attribute(tree, XML_NAMESPACE, local)
        {
            return Ok(Some(value));
        }
        at = node.parent();
    }
    Ok(None)
}

fn lang<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let wanted = call.text(0)?;
    let Some(node) = call.node(1)? else { return Ok(Value::from(false)) };
    let found = inherited(call, node, "lang")?.is_some_and(|found| {
        let behind = found.get(wanted.len()..);
        found.get(..wanted.len()).is_some_and(|start| start.eq_ignore_ascii_case(&wanted))
            && behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('-'))
    });
    Ok(Value::from(found))
}

/// The tokens of the first argument.
fn tokens(call: &Call<'_, '_>) -> Result<HashSet<String>, Error> {
    let mut wanted = HashSet::new();
    call.each_atomic(0, |atomic| {
        let text = atomic.into_text(call.run.version);
        call.run.build(text.len())?;
        wanted.extend(text.split(is_space).filter(|token| !token.is_empty()).map(str::to_owned));
        Ok(())
    })?;
    Ok(wanted)
}

/// The document node at the top of the tree of the second argument.
fn top_document<'a>(call: &Call<'_, 'a>, name: &str) -> Result<Option<(&'a Document, NodeId)>, Error> {
    let Some(node) = call.node(1)? else { return if call.is_v1() { Ok(None) } else { Err(missing()) } };
    let root = node.root();
    match root.node.tree() {
        Some(top) if root.kind() == Some(Kind::Document) => Ok(Some((node.document, top))),
        _ if call.is_v1() => Ok(None),
        _ => Err(Error::value("FODC0001", format!("{name}(): the tree of the node begins with no document node"))),
    }
}

/// Elements by their IDs: `xml:id`, and what a document type says that was read.
fn id<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let mut wanted = tokens(call)?;
    let Some((document, top)) = top_document(call, "id")? else { return Ok(Value::EMPTY) };
    let declares = document.doctype().is_some_and(Declarations::has_ids);
    let name = document.names().find(XML_NAMESPACE, "id");
    if name.is_none() && !declares {
        return Ok(Value::EMPTY);
    }
    let mut found = Vec::new();
    for element in document.descendants(top) {
        call.run.step(1)?;
        if document.kind(element) != Kind::Element || wanted.is_empty() {
            continue;
        }
        for attribute in document.attributes(element) {
            let is_id = document.expanded(attribute) == name && name.is_some() || declares && document.is_id(attribute);
            // Of two elements with one id only the first has it, so an id that was found is wanted no more.
            if is_id && wanted.remove(document.value(attribute).trim_matches(is_space)) {
                found.push(Node::Tree(element));
                break;
            }
        }
    }
    Ok(Value::nodes(document, found))
}

/// Attributes that refer to IDs, as a document type says that was read.
fn idref<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    // Each is one ID, and nothing else if it has spaces.
    let mut wanted = HashSet::new();
    call.each_atomic(0, |atomic| {
        let id = atomic.into_text(call.run.version).into_owned();
        call.run.build(id.len())?;
        wanted.insert(id);
        Ok(())
    })?;
    let Some((document, top)) = top_document(call, "idref")? else { return Ok(Value::EMPTY) };
    if !document.doctype().is_some_and(Declarations::has_references) {
        return Ok(Value::EMPTY);
    }
    let mut found = Vec::new();
    for element in document.descendants(top).filter(|node| document.kind(*node) == Kind::Element) {
        call.run.step(1)?;
        for attribute in document.attributes(element) {
            if document.is_id_reference(attribute)
                && document.value(attribute).split(is_space).any(|token| wanted.contains(token))
            {
                found.push(Node::Tree(attribute));
            }
        }
    }
    Ok(Value::nodes(document, found))
}

/// What the host knows; otherwise `xml:base` of the nearest element, as the library does not know where a document came
/// from.
fn base_uri<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let Some(node) = call.node(0)? else { return Ok(Value::EMPTY) };
    if let Some(known) = call.run.context.host.base_uri(node) {
        return Ok(address(known));
    }
    let base = inherited(call, node, "base")?;
    Ok(base.map_or(Value::EMPTY, |base| Value::from(Atomic::Text(base, crate::types::AtomicType::AnyUri))))
}

fn document_uri<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let document = call.node(0)?.filter(|node| node.kind() == Some(Kind::Document));
    Ok(address(document.and_then(|node| call.run.context.host.document_uri(node.document))))
}

fn address<'a>(uri: Option<String>) -> Value<'a> {
    let atomic = |uri| Value::from(Atomic::Text(Cow::Owned(uri), crate::types::AtomicType::AnyUri));
    uri.map_or(Value::EMPTY, atomic)
}

/// Only a schema makes an element nilled.
fn nilled<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let element = call.node(0)?.is_some_and(|node| node.kind() == Some(Kind::Element));
    Ok(if element { Value::from(false) } else { Value::EMPTY })
}

/// The nodes that have none of the others inside them, or around them.
fn nested<'a>(call: &Call<'_, 'a>, innermost: bool) -> Result<Value<'a>, Error> {
    let mut nodes = Vec::new();
    call.each(0, |item| {
        nodes.push(item.node().ok_or_else(|| Error::value("XPTY0004", "nodes are wanted here"))?);
        call.run.build(size_of::<NodeRef<'_>>())
    })?;
    nodes.sort_unstable_by(|one, other| one.order(*other));
    nodes.dedup();
    let mut kept: Vec<NodeRef<'a>> = Vec::new();
    for node in nodes {
        // In document order what is around a node comes before it, and only what was kept last can be around it.
        let mut around = node.parent();
        while let Some(ancestor) = around.filter(|ancestor| kept.last() != Some(ancestor)) {
            call.run.step(1)?;
            around = ancestor.parent();
        }
        match (around, innermost) {
            (Some(_), false) => continue,
            (Some(_), true) => drop(kept.pop()),
            (None, _) => {}
        }
        kept.push(node);
    }
    Ok(Value::from_items(kept.into_iter().map(Item::Node).collect()))
}

/// The prefix's meaning at an element.
pub(super) fn lookup<'a>(node: NodeRef<'a>, prefix: &str) -> Option<&'a str> {
    let element: NodeId = node.node.tree()?;
    node.document.lookup_namespace(element, prefix)
}
