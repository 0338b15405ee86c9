//! Functions that read documents and texts: nothing but what the resolver gives (XSLT 1.0 §12.1, Functions and
//! Operators §14.6 and §14.8).

use std::borrow::Cow;

use myelin_xml::doctype::{DoctypeOptions, ElementSpace, NoExternals};
use myelin_xml::{DeclaredEncoding, Document, Kind, NodeId, Options, XML_NAMESPACE, encoding, is_ncname};
use myelin_xpath::{Atomic, Error, Item, NodeRef, Value};

use super::call::node_set;
use super::uris::is_reference;
use super::{Call, Function};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::own("document", 1, 2, document),
    Function::own("doc", 1, 1, |call| match call.optional_text(0)? {
        Some(href) if href.starts_with(':') || href.contains('%') && !is_reference(&href) => {
            Err(Error::value("FODC0005", format!("doc(): {href:?} is no URI")))
        }
        Some(href) => load(call, &href, &call.scope.base).map(top),
        None => Ok(Value::EMPTY),
    }),
    Function::own("doc-available", 1, 1, |call| {
        let href = call.optional_text(0)?;
        Ok(Value::from(href.is_some_and(|href| load(call, &href, &call.scope.base).is_ok())))
    }),
    Function::own("unparsed-text", 1, 2, |call| match text(call, 2)? {
        Some(text) => call.built(text),
        None => Ok(Value::EMPTY),
    }),
    Function::own("unparsed-text-available", 1, 2, |call| match text(call, 2) {
        Err(error) if error.code() == Some("XPTY0004") => Err(error),
        found => Ok(Value::from(matches!(found, Ok(Some(_))))),
    }),
    Function::own("unparsed-text-lines", 1, 2, lines),
    Function::own("parse-xml", 1, 1, |call| parse(call, false)),
    Function::own("parse-xml-fragment", 1, 1, |call| parse(call, true)),
    Function::own("collection", 0, 1, |_| Err(Error::value("FODC0002", "collection(): there are no collections"))),
    Function::own("uri-collection", 0, 1, |_| {
        Err(Error::value("FODC0002", "uri-collection(): there are no collections"))
    }),
];

fn top(document: &Document) -> Value<'_> {
    Value::node(document, document.document_node())
}

/// A document by a reference, without the fragment behind it.
fn load<'a>(call: &Call<'_, 'a>, href: &str, base: &str) -> Result<&'a Document, Error> {
    let href = href.split('#').next().unwrap_or("");
    call.machine.load(href.trim(), base)
}

/// What a reference names in its document: the element whose `xml:id` is the fragment, or all of it where there is no
/// fragment; what is no name, such as an XPointer, is left out of account (XSLT 2.0 §16.1).
fn fragment<'a>(call: &Call<'_, 'a>, href: &str, document: &'a Document) -> Result<Option<NodeRef<'a>>, Error> {
    let all = NodeRef::new(document, document.document_node());
    let Some((_, name)) = href.split_once('#').filter(|(_, name)| is_ncname(name)) else { return Ok(Some(all)) };
    call.machine.step(document.node_count() as u64)?;
    let id = |node: &NodeId| document.attribute(*node, XML_NAMESPACE, "id").is_some_and(|id| id.trim() == name);
    let mut elements = document.descendants(document.document_node());
    let found = elements.find(|node| document.kind(*node) == Kind::Element && id(node));
    Ok(found.map(|element| NodeRef::new(document, element)))
}

/// By a text, or by the text of each node, seen from that node unless a second argument says from where.
fn document<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let base_of = |node: NodeRef<'a>| match call.machine.base_uri(node) {
        Some(base) => Cow::Owned(base),
        None => Cow::Borrowed(call.scope.base.as_str()),
    };
    let given = match call.count() {
        2 => match call.nodes(1)?.first() {
            Some(node) => Some(base_of(*node)),
            None if call.is_v1() => return Ok(Value::EMPTY),
            None => return Err(Error::value("XPTY0004", "document(): the second argument is empty")),
        },
        _ => None,
    };
    let mut found = Vec::new();
    for item in call.value(0).items() {
        let node = item.node();
        let base = match (&given, node) {
            (Some(base), _) => base.clone(),
            (None, Some(node)) => base_of(node),
            (None, None) => Cow::Borrowed(call.scope.base.as_str()),
        };
        let href = item.into_text(call.version());
        let document = load(call, &href, &base)?;
        found.extend(fragment(call, &href, document)?);
        // Of a value that is no node-set, 1.0 takes one text.
        if node.is_none() && call.is_v1() {
            break;
        }
    }
    match found.as_slice() {
        [one] => Ok(Value::from(*one)),
        _ => node_set(found),
    }
}

/// The text that the first argument names, in the encoding of the second if there are two for it; `None` where there
/// is no first.
pub(super) fn text(call: &Call<'_, '_>, arguments: usize) -> Result<Option<String>, Error> {
    let Some(href) = call.optional_text(0)? else { return Ok(None) };
    if href.contains('#') {
        return Err(Error::value("FOUT1170", format!("{href:?}: a text has no parts that a fragment could name")));
    }
    let charset = if call.count().min(arguments) == 2 { Some(call.text(1)?) } else { None };
    let resource = call.machine.read(&href, &call.scope.base)?;
    let refused = |what: String| Error::value("FOUT1190", format!("{}: {what}", resource.uri));
    let decoded = match encoding::decode(charset.as_deref(), &resource.bytes) {
        Ok((decoded, _)) => decoded.into_owned(),
        Err(error) => return Err(refused(error.to_string())),
    };
    call.machine.build(decoded.len())?;
    let text = String::from_utf8(decoded).map_err(|_| refused("its bytes are no text in its encoding".to_owned()))?;
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    let foreign = text.chars().find(|letter| is_foreign(*letter));
    match foreign {
        Some(letter) => Err(refused(format!("character U+{:04X} is not allowed in XML 1.0", u32::from(letter)))),
        None => Ok(Some(text)),
    }
}

/// Whether XML 1.0 has no such character (§2.2).
pub(super) fn is_foreign(letter: char) -> bool {
    matches!(letter, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// A line ends with `\n`, `\r` or both; what stands behind the last one is a line only if it is something.
fn lines<'a>(call: &Call<'_, 'a>) -> Result<Value<'a>, Error> {
    let Some(text) = text(call, 2)? else { return Ok(Value::EMPTY) };
    let mut rest = text.as_str();
    let mut lines = Vec::new();
    while !rest.is_empty() {
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        call.machine.build(end + size_of::<Item<'_>>())?;
        lines.push(Item::Atomic(Atomic::from(rest[..end].to_owned())));
        let ending = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
        rest = rest.get(end + ending..).unwrap_or("");
    }
    Ok(Value::from_items(lines))
}

/// What a document type may do in a text that becomes a document: nobody knows where the text came from.
const PARSED: DoctypeOptions = DoctypeOptions {
    expansion_bytes: 1 << 20,
    external_bytes: 0,
    declarations: 10_000,
    depth: 16,
    element_space: ElementSpace::Keep,
};

/// A document from its text; a fragment may have several elements and texts at its top.
fn parse<'a>(call: &Call<'_, 'a>, fragment: bool) -> Result<Value<'a>, Error> {
    let Some(text) = call.optional_text(0)? else { return Ok(Value::EMPTY) };
    let refused = |error: String| Error::value("FODC0006", format!("the text is no XML: {error}"));
    let options = Options { declared_encoding: DeclaredEncoding::Any, ..Options::default() };
    if !fragment {
        let base = &call.scope.base;
        let source = text.as_bytes().to_vec();
        let document = Document::parse_with_doctype(source, base, &options, &NoExternals, &PARSED)
            .map_err(|error| refused(error.to_string()))?;
        return call.machine.keep(document).map(top);
    }
    // An element around it makes it a document; a declaration at its beginning says nothing here.
    let inside = match text.strip_prefix("<?xml ") {
        Some(rest) => rest.split_once("?>").map_or("", |(_, behind)| behind),
        None => &text,
    };
    let wrapped = format!("<x>{inside}</x>").into_bytes();
    let parsed = Document::parse(wrapped, &options).map_err(|error| refused(error.to_string()))?;
    let mut document = Document::new();
    if let Some(wrapper) = parsed.root_element() {
        for child in parsed.children(wrapper) {
            let copy = document.import(&parsed, child).map_err(|refusal| refused(refusal.to_string()))?;
            let place = document.document_node();
            document.append(place, copy).map_err(|refusal| refused(refusal.to_string()))?;
        }
    }
    call.machine.keep(document).map(top)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, fails};

    #[test]
    fn documents_are_what_the_resolver_gives() {
        check("name(document('a.xml')/*)", "a");
        check("name(document('a.xml#one')/..)", "a");
        check("count(document('a.xml#none'))", "0");
        check("count(doc('test:/a.xml')/a)", "1");
        check("doc-available('a.xml') and not(doc-available('b.xml'))", "true");
        check("count(doc(()))", "0");
        fails("document('b.xml')", "FODC0002");
        fails("document('a.xml', ())", "XPTY0004");
    }

    #[test]
    fn texts_are_decoded_and_cut_into_lines() {
        check("string-length(unparsed-text('a.txt'))", "15");
        check("string-join(unparsed-text-lines('a.txt'), '|')", "one|two|three");
        check("unparsed-text('latin.txt', 'iso-8859-1')", "é");
        check("unparsed-text-available('a.txt') and not(unparsed-text-available('latin.txt'))", "true");
        fails("unparsed-text('latin.txt')", "FOUT1190");
        fails("unparsed-text('b.txt')", "FOUT1170");
        fails("unparsed-text('a.txt#x')", "FOUT1170");
    }

    #[test]
    fn texts_become_documents() {
        check("parse-xml('<a><b>x</b></a>')/a/b", "x");
        check("count(parse-xml-fragment('<?xml version=\"1.0\"?><a/>text<b/>')/node())", "3");
        fails("parse-xml('<a>')", "FODC0006");
        fails("parse-xml-fragment('</x><x>')", "FODC0006");
    }
}
