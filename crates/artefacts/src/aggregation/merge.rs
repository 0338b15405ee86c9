//! What `aggregate` takes of each message, and the message that it makes of all.

use std::collections::HashMap;

use myelin_json::{Error, Options, Path, Rules, Type, Value};
use myelin_message::{Body, HeaderId};
use myelin_xml::{Document, Kind, NodeId, Refusal};

use myelin_content::Format;
use myelin_content::Fragment;
use myelin_content::{Elements, Json, Tree, into_utf8};
use myelin_expression::Expression;
use myelin_flow::branches::{Contribution, too_large};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

/// What becomes of the pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MergeMode {
    /// As they are: elements one behind the other, JSON in an array.
    Root,
    /// What is in them: the children of elements, the members of objects in one object.
    Child,
}

/// What an expression finds in a message that is built; the content of the body, without an expression.
///
/// Errors: the bus's, where the expression fails, or finds too much.
pub(crate) fn extract(
    expression: Option<&Expression>,
    mode: MergeMode,
    exchange: &Exchange,
    context: &RequestContext<'_>,
) -> Outcome<Contribution> {
    found(expression, mode, exchange, context)?.copied(exchange)
}

/// The same of a message that ends here: a tree of which most is wanted goes along, and nothing is copied.
///
/// Errors: as [`extract`].
pub(crate) fn extract_last(
    expression: Option<&Expression>,
    mode: MergeMode,
    exchange: &mut Exchange,
    context: &RequestContext<'_>,
) -> Outcome<Contribution> {
    match found(expression, mode, exchange, context)? {
        Found::Elements(nodes) if exchange.message.body.built::<Tree>().is_some_and(|tree| is_most(tree, &nodes)) => {
            let tree = exchange.take_built::<Tree>()?;
            Ok(Contribution::Xml(Elements::within(tree.into_document(), nodes)))
        }
        Found::Json => {
            let json = exchange.take_built::<Json>()?;
            Ok(Contribution::Json(into_utf8(json.into_json())))
        }
        found => found.copied(exchange),
    }
}

/// Whether elements are half of what a document was read from, or more.
fn is_most(tree: &Tree, nodes: &[NodeId]) -> bool {
    let document = tree.document();
    let bytes: usize = nodes.iter().filter_map(|&node| document.range(node)).map(|range| range.len()).sum();
    bytes * 2 >= document.source().len()
}

/// What a message holds of what is to be gathered.
enum Found {
    /// Elements of its tree.
    Elements(Vec<NodeId>),
    /// All of its JSON.
    Json,
    /// What does not hang on it.
    Contribution(Contribution),
}

impl Found {
    fn copied(self, exchange: &Exchange) -> Outcome<Contribution> {
        match self {
            Found::Contribution(piece) => Ok(piece),
            Found::Json => {
                Ok(Contribution::Json(exchange.json()?.map(|json| json.text().into_owned()).unwrap_or_default()))
            }
            Found::Elements(nodes) => {
                let document = exchange.tree()?.document();
                let elements = nodes.into_iter().map(|node| (document, node));
                Ok(Contribution::Xml(Elements::copied(elements)?))
            }
        }
    }
}

fn found(
    expression: Option<&Expression>,
    mode: MergeMode,
    exchange: &Exchange,
    context: &RequestContext<'_>,
) -> Outcome<Found> {
    let null = || Ok(Found::Contribution(Contribution::Json("null".to_owned())));
    let Some(expression) = expression else {
        if exchange.message.body.built::<Json>().is_some() {
            return Ok(Found::Json);
        }
        let tree = exchange.tree()?;
        let payload = tree.envelope().payload(tree.document());
        return Ok(Found::Elements(elements(tree.document(), payload, mode)));
    };
    let expression = expression.resolved(exchange);
    if let Some(path) = expression.json() {
        let Some(json) = exchange.json()? else { return null() };
        return match json_of(path, json.value(), &context.json_rules()) {
            Ok(text) => Ok(Found::Contribution(Contribution::Json(text))),
            Err(Error::NotFound | Error::Inapplicable(_)) => null(),
            Err(error) => Err(Fault::bus("A JSONPath could not be evaluated").with_detail(error.to_string())),
        };
    }
    let Some(xpath) = expression.xpath() else {
        let held = expression.fragments(exchange, context).iter().map(|fragment| (&*fragment.document, fragment.node));
        return Ok(Found::Contribution(Contribution::Xml(Elements::copied(held)?)));
    };
    let nodes = xpath.nodes(exchange, context)?;
    Ok(Found::Elements(elements(exchange.tree()?.document(), nodes, mode)))
}

/// The elements among these nodes, or the elements in them.
fn elements(document: &Document, nodes: impl IntoIterator<Item = NodeId>, mode: MergeMode) -> Vec<NodeId> {
    let is_element = |&node: &NodeId| document.kind(node) == Kind::Element;
    let elements = nodes.into_iter().filter(is_element);
    match mode {
        MergeMode::Root => elements.collect(),
        MergeMode::Child => elements.flat_map(|element| document.children(element)).filter(is_element).collect(),
    }
}

/// One thing as it is, several as an array; nothing is `null`, as in Micro Integrator.
fn json_of(path: &Path, value: &Value, rules: &Rules) -> Result<String, Error> {
    match path.find(value, rules)?.as_slice() {
        [] => Ok("null".to_owned()),
        [only] => Ok(only.json(value, rules)?.into_owned()),
        _ => path.json(value, rules),
    }
}

/// Makes one message of all pieces, in the place of a message's own content.
///
/// Errors: the bus's, where the pieces do not go together, or are more than so many bytes.
pub(crate) fn merge(
    pieces: Vec<Contribution>,
    mode: MergeMode,
    enclosing: Option<&Fragment>,
    limit_bytes: usize,
    exchange: &mut Exchange,
) -> Outcome<()> {
    let is_json = matches!(pieces.first(), Some(Contribution::Json(_)));
    let (mut texts, mut elements) = (Vec::new(), Vec::new());
    for piece in pieces {
        match piece {
            Contribution::Json(text) => texts.push(text),
            Contribution::Xml(found) if found.is_empty() => {}
            Contribution::Xml(found) => elements.push(found),
        }
    }
    if !elements.is_empty() && !texts.is_empty() {
        return Err(Fault::bus("JSON and XML cannot be aggregated into one message"));
    }
    if !is_json {
        return merge_xml(elements, enclosing, limit_bytes, exchange);
    }
    let name = enclosing.map(|enclosing| enclosing.document.qname(enclosing.node).local);
    let text = merged_json(&texts, mode, name)?;
    put(exchange, Body::Bytes(text), "application/json")
}

/// Puts another body in the place of the message's; a content type that does not fit it goes.
fn put(exchange: &mut Exchange, body: Body, content_type: &str) -> Outcome<()> {
    let came = match Format::of(exchange.message.head.known(HeaderId::ContentType)) {
        Format::Json => "application/json",
        Format::Soap11 | Format::Soap12 | Format::Pox => "application/xml",
        _ => "",
    };
    if came != content_type {
        exchange.message.head.set("Content-Type", content_type.as_bytes())?;
    }
    exchange.set_body(body);
    Ok(())
}

/// Puts elements into the body of an envelope, or makes plain XML of them.
fn merge_xml(
    elements: Vec<Elements>,
    enclosing: Option<&Fragment>,
    limit_bytes: usize,
    exchange: &mut Exchange,
) -> Outcome<()> {
    // What has no envelope, or is no XML, becomes plain XML.
    if exchange.message.body.built::<Tree>().is_none_or(Tree::is_plain) {
        put(exchange, Body::Built(Box::new(Tree::empty())), "application/xml")?;
    }
    let is_within = exchange.tree_mut()?.change(|document, envelope| {
        let body = envelope.body.ok_or(Refusal::Place)?;
        let content: Vec<NodeId> = document.children(body).collect();
        content.into_iter().for_each(|node| document.detach(node));
        let parent = match enclosing {
            None => body,
            Some(enclosing) => {
                let around = enclosing.graft(document, Some(body))?;
                document.append(body, around)?;
                around
            }
        };
        for elements in elements {
            if !elements.append_to(document, parent, limit_bytes)? {
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    if is_within { Ok(()) } else { Err(too_large(limit_bytes)) }
}

/// The JSON of all texts, as the only member of an object where it has a name.
pub(crate) fn merged_json(texts: &[String], mode: MergeMode, name: Option<&str>) -> Outcome<Vec<u8>> {
    let mut out = Vec::with_capacity(texts.iter().map(|text| text.len() + 1).sum::<usize>() + 2);
    if let Some(name) = name {
        out.push(b'{');
        myelin_json::text::write_string(name, &mut out);
        out.push(b':');
    }
    match mode {
        MergeMode::Root => {
            out.push(b'[');
            for (index, text) in texts.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(text.as_bytes());
            }
            out.push(b']');
        }
        MergeMode::Child => write_members(texts, &mut out)?,
    }
    if name.is_some() {
        out.push(b'}');
    }
    Ok(out)
}

/// Writes one object with the members of all; of those with the same name the last one's value counts.
fn write_members(texts: &[String], out: &mut Vec<u8>) -> Outcome<()> {
    let no_object = || Fault::bus("Only the members of JSON objects can be aggregated into one object");
    let mut members: Vec<(String, Vec<u8>)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for text in texts {
        let value = Value::parse(text.as_bytes().to_vec(), &Options::default()).map_err(|_| no_object())?;
        if value.kind(value.root()) != Type::Object {
            return Err(no_object());
        }
        for member in value.children(value.root()) {
            let key = value.key(member).unwrap_or_default().into_owned();
            let mut text = Vec::new();
            value.write_compact(member, &mut text);
            match known.get(&key) {
                Some(&index) => members[index].1 = text,
                None => {
                    known.insert(key.clone(), members.len());
                    members.push((key, text));
                }
            }
        }
    }
    out.push(b'{');
    for (index, (key, text)) in members.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        myelin_json::text::write_string(key, out);
        out.push(b':');
        out.extend_from_slice(text);
    }
    out.push(b'}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_becomes_an_array_or_one_object() {
        let check = |texts: &[&str], mode, name, expected: &str| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            let merged = merged_json(&texts, mode, name).map(|text| String::from_utf8(text).unwrap());
            assert_eq!(merged.map_err(|fault| fault.message).unwrap_or_else(|message| message), expected);
        };
        check(&[r#"{"a":1}"#, "null", "[2]"], MergeMode::Root, None, r#"[{"a":1},null,[2]]"#);
        check(&["1"], MergeMode::Root, Some("a\"b"), r#"{"a\"b":[1]}"#);
        check(&[r#"{"a":1,"b":{"c":2}}"#, r#"{"a":3}"#], MergeMode::Child, None, r#"{"a":3,"b":{"c":2}}"#);
        check(
            &["{}", "[1]"],
            MergeMode::Child,
            None,
            "Only the members of JSON objects can be aggregated into one object",
        );
        check(&[], MergeMode::Root, None, "[]");
    }
}
