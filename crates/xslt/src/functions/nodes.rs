//! Functions that find, name and copy nodes (XSLT 1.0 §12.2, §12.4; 3.0 §18).

use myelin_xml::doctype::UnparsedEntity;
use myelin_xml::{Document, Kind, NodeId, Refusal};
use myelin_xpath::types::AtomicType;
use myelin_xpath::{Atomic, Error, Item, Node, NodeRef, Value, Version};

use super::call::unmade;
use super::{Call, Function, resolve};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::own("key", 2, 3, key),
    Function::own("generate-id", 0, 1, generate_id),
    Function::own("copy-of", 0, 1, |call| each_node(call, deep_copy)),
    Function::own("snapshot", 0, 1, |call| each_node(call, snapshot)),
    Function::own("unparsed-entity-uri", 1, 2, |call| {
        let uri = unparsed(call)?.map(|entity| resolve(&entity.system, &entity.base)).unwrap_or_default();
        match call.is_v1() {
            true => Ok(Value::from(uri)),
            false => Ok(Value::from(Atomic::Text(uri.into(), AtomicType::AnyUri))),
        }
    }),
    Function::own("unparsed-entity-public-id", 1, 2, |call| {
        Ok(Value::from(unparsed(call)?.and_then(|entity| entity.public.as_deref()).unwrap_or_default()))
    }),
];

/// The entity that the first argument names, in the document of the second or of the context node; where no document
/// type was read, there are none.
fn unparsed<'a>(call: &Call<'_, 'a>) -> Result<Option<&'a UnparsedEntity>, Error> {
    let name = call.text(0)?;
    let node = match call.count() {
        2 => call.nodes(1)?.first().copied().ok_or(Error::NoContext)?,
        _ => call.context_node()?,
    };
    let top = node.root();
    let is_document = top.node.tree().is_some_and(|top| node.document.kind(top) == Kind::Document);
    if !is_document && !call.is_v1() {
        return Err(Error::value("XTDE1370", "the tree of the node begins with no document node"));
    }
    Ok(node.document.doctype().and_then(|doctype| doctype.unparsed(&name)))
}

fn key<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let written = call.text(0)?;
    let name = call.scope.expand(&written).ok_or_else(|| {
        Error::value("XTDE1260", format!("key(): {written:?} is no name, or its prefix stands for no namespace"))
    })?;
    let Some((key, composite)) = call.machine.key(&name) else {
        return Err(Error::value("XTDE1260", format!("key(): there is no xsl:key with the name {written}")));
    };
    let top = match call.count() {
        3 => call.nodes(2)?.first().copied().ok_or(Error::NoContext)?,
        _ => {
            let item = call.item.ok_or_else(|| Error::value("XTDE1270", "key(): there is no context item"))?;
            let node = item.node().ok_or_else(|| Error::value("XTDE1270", "key(): the context item is no node"))?;
            node.root()
        }
    };
    if top.root().kind() != Some(Kind::Document) && !call.is_v1() {
        return Err(Error::value("XTDE1270", "key(): the tree of the node begins with no document node"));
    }
    // Of a value that is no node-set, 1.0 takes one text.
    let most = if call.is_v1() && !call.value(1).is_nodes() { 1 } else { usize::MAX };
    if composite {
        let value = Atomic::from(composite_key(call.value(1)));
        return below(call.machine.keyed(key, &value, top)?, top);
    }
    let mut found = Vec::new();
    for item in call.value(1).items().take(most) {
        let value = if call.is_v1() { Atomic::from(item.into_text(call.version())) } else { item.atomize()? };
        found.push(call.machine.keyed(key, &value, top)?);
    }
    match <[Value<'a>; 1]>::try_from(found) {
        Ok([nodes]) => below(nodes, top),
        Err(several) => {
            let all = several.into_iter().flat_map(Value::into_items).collect();
            below(Value::from_items(all).in_document_order()?, top)
        }
    }
}

/// The values of a composite key as one text.
pub(crate) fn composite_key(values: &Value<'_>) -> String {
    let texts: Vec<String> = values.items().map(|item| item.into_text(Version::V3).into_owned()).collect();
    // No text of XML has this character in it.
    texts.join("\0")
}

/// The nodes that are `top` or below it; all of them where it is the top of the tree.
fn below<'a>(nodes: Value<'a>, top: NodeRef<'a>) -> Result<Value<'a>, Error> {
    if top.parent().is_none() {
        return Ok(nodes);
    }
    let inside = |item: &Item<'a>| {
        let mut up = std::iter::successors(item.node(), |node| node.parent());
        up.any(|node| node == top)
    };
    Ok(Value::from_items(nodes.into_items().filter(inside).collect()))
}

fn generate_id<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let node = match call.count() {
        0 => Some(call.context_node()?),
        _ => call.nodes(0)?.first().copied(),
    };
    let Some(NodeRef { document, node }) = node else { return Ok(Value::from("")) };
    let number = call.machine.document_number(document);
    call.built(match node {
        Node::Tree(node) => format!("d{number}n{}", node.index()),
        Node::Namespace { element, index } => format!("d{number}n{}s{index}", element.index()),
    })
}

/// The argument, or the context item, with each node replaced by what `copy` makes of it.
fn each_node<'a>(
    call: &Call<'_, 'a>,
    copy: fn(&Call<'_, 'a>, NodeRef<'a>) -> Result<Value<'a>, Error>,
) -> Result<Value<'a>, Error> {
    let items: Vec<Item<'a>> = match call.count() {
        0 => vec![call.item.cloned().ok_or(Error::NoContext)?],
        _ => call.value(0).items().collect(),
    };
    let mut copies = Vec::with_capacity(items.len());
    for item in items {
        match item.node() {
            Some(node) => copies.extend(copy(call, node)?.into_items()),
            None => copies.push(item),
        }
    }
    Ok(Value::from_items(copies))
}

/// A node with all below it, in a document of its own where nothing is above it.
fn deep_copy<'a>(call: &Call<'_, 'a>, original: NodeRef<'a>) -> Result<Value<'a>, Error> {
    let mut copy = Document::new();
    let Some(node) = original.node.tree() else { return Ok(Value::from(original)) };
    let top = import(&mut copy, original.document, node).map_err(unmade)?;
    Ok(Value::node(call.machine.keep(copy)?, top))
}

/// A node with all below it as a node of `copy`: of a document node all its children.
fn import(copy: &mut Document, from: &Document, node: NodeId) -> Result<NodeId, Refusal> {
    if from.kind(node) != Kind::Document {
        return copy.import(from, node);
    }
    let top = copy.document_node();
    for child in from.children(node) {
        let child = copy.import(from, child)?;
        copy.append(top, child)?;
    }
    Ok(top)
}

/// The same with what is above it, each with its attributes and no other children (XSLT 3.0 §18.4).
fn snapshot<'a>(call: &Call<'_, 'a>, original: NodeRef<'a>) -> Result<Value<'a>, Error> {
    let from = original.document;
    let Some(node) = original.node.tree() else { return Ok(Value::from(original)) };
    let ancestors: Vec<NodeId> = std::iter::successors(from.parent(node), |above| from.parent(*above)).collect();
    let mut copy = Document::new();
    let build = |copy: &mut Document| {
        let mut parent = None;
        for &ancestor in ancestors.iter().rev() {
            parent = Some(match from.kind(ancestor) {
                Kind::Document => copy.document_node(),
                _ => {
                    let element = shallow_copy(copy, from, ancestor)?;
                    if let Some(parent) = parent {
                        copy.append(parent, element)?;
                    }
                    element
                }
            });
        }
        if from.kind(node) == Kind::Attribute
            && let Some(owner) = parent
        {
            // Its element has been copied with all its attributes.
            let name = from.qname(node);
            return copy.attribute_node(owner, name.namespace, name.local).ok_or(Refusal::Place);
        }
        let own = import(copy, from, node)?;
        if let Some(parent) = parent {
            copy.append(parent, own)?;
        }
        Ok(own)
    };
    let own = build(&mut copy).map_err(unmade)?;
    Ok(Value::node(call.machine.keep(copy)?, own))
}

fn shallow_copy(copy: &mut Document, from: &Document, element: NodeId) -> Result<NodeId, Refusal> {
    let name = from.qname(element);
    let made = copy.create_element(name.prefix, name.local, name.namespace)?;
    for (prefix, namespace) in from.declarations(element) {
        copy.declare(made, prefix, namespace)?;
    }
    for attribute in from.attributes(element) {
        let name = from.qname(attribute);
        copy.set_attribute(made, name.prefix, name.local, name.namespace, &from.value(attribute))?;
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_in, fails};

    const XML: &str = "<a xmlns:p='u' x='1'><b y='2'>t<c/></b></a>";

    #[test]
    fn each_node_has_a_name_of_its_own() {
        check_in(XML, "generate-id(//b) = generate-id(/a/b)", "true");
        check_in(XML, "count(distinct-values((//node() | //@*)/generate-id()))", "6");
        check_in(XML, "generate-id(/none)", "");
        check_in(XML, "matches(generate-id(/a/namespace::p), '^[a-z][a-z0-9]+$')", "true");
    }

    #[test]
    fn copies_are_other_nodes() {
        check_in(XML, "deep-equal(copy-of(//b), //b) and not(copy-of(//b) is //b)", "true");
        check_in(XML, "count(copy-of(//b)/..)", "0");
        check_in(XML, "name(snapshot(//c)/../..)", "a");
        check_in(XML, "string-join(snapshot(//c)/ancestor::*/@*, '')", "12");
        check_in(XML, "count(snapshot(//c)/preceding-sibling::node())", "0");
        check_in(XML, "name(snapshot(//@y)/../..)", "a");
        check_in(XML, "copy-of(5)", "5");
    }

    #[test]
    fn a_key_must_be_declared() {
        fails("key('nothing', 'x')", "XTDE1260");
    }
}
