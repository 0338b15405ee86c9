//! XML that is to stand in JSON, and JSON that is to stand in XML.

use myelin_json::convert::{to_document, to_json};
use myelin_xml::{Document, Error, Event, Kind, Options, Step, WriteOptions, write};

use myelin_content::memory;
use myelin_flow::context::RequestContext;
use myelin_flow::fault::{Fault, Outcome};

/// The elements, and texts between them, that a value is, without an XML declaration in front; `None` of any other text.
pub(crate) fn markup(value: &str) -> Option<&str> {
    let value = value.trim();
    if !value.starts_with('<') || !value.ends_with('>') {
        return None;
    }
    let inside = match value.strip_prefix("<?xml ") {
        Some(declaration) => declaration.split_once("?>")?.1.trim_start(),
        None => value,
    };
    has_elements(format!("<a>{inside}</a>").as_bytes()).ok()?.then_some(inside)
}

/// Whether there are elements in the root of a document, which is read to its end without making a tree of it.
fn has_elements(xml: &[u8]) -> Result<bool, Error> {
    memory::with_parser(|parser| {
        let mut elements = 0_usize;
        while let Step::Event(event) = parser.next(xml, true)? {
            elements += usize::from(matches!(event, Event::Start(_)));
        }
        Ok(elements > 1)
    })
}

/// Writes XML as the JSON object that it stands for.
///
/// Errors: the bus's, where it stands for none.
pub(crate) fn xml_as_json(markup: &str, context: &RequestContext<'_>, out: &mut Vec<u8>) -> Outcome<()> {
    let source = format!("<jsonObject>{markup}</jsonObject>").into_bytes();
    let document = Document::parse(source, &Options::default()).map_err(|error| refused("XML", "JSON", &error))?;
    let Some(root) = document.root_element() else { return Ok(()) };
    let limit = usize::try_from(context.definitions.settings.body_limit_bytes).unwrap_or(usize::MAX);
    to_json(&document, root, &context.definitions.settings.json, limit, out)
        .map_err(|error| refused("XML", "JSON", &error))
}

/// Writes JSON as the elements that it stands for, without the one around them.
///
/// Errors: the bus's, where it stands for none.
pub(crate) fn json_as_xml(json: &str, context: &RequestContext<'_>, out: &mut Vec<u8>) -> Outcome<()> {
    let limit = usize::try_from(context.definitions.settings.body_limit_bytes).unwrap_or(usize::MAX);
    let (options, xml_options) = (myelin_json::Options::default(), Options::default());
    let switches = &context.definitions.settings.json;
    let space = (Vec::with_capacity(json.len() * 2), memory::take(json.len()));
    let document = to_document(json.as_bytes(), switches, &options, &xml_options, limit, space)
        .map_err(|error| refused("JSON", "XML", &error))?;
    let children = document.root_element().into_iter().flat_map(|root| document.children(root));
    for child in children.filter(|&child| document.kind(child) == Kind::Element) {
        write(&document, child, &WriteOptions::default(), out);
    }
    memory::keep(document);
    Ok(())
}

fn refused(from: &str, to: &str, error: &impl std::fmt::Display) -> Box<Fault> {
    Fault::bus(format!("{from} that is to stand in {to} cannot be {to}")).with_detail(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_is_elements_and_nothing_that_is_no_xml() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(markup(text), expected, "{text}");
        check(" <a/> ", Some("<a/>"));
        check("<a/>t<b/>", Some("<a/>t<b/>"));
        check("<?xml version='1.0'?> <a/>", Some("<a/>"));
        check("t<a/>", None);
        check("<a>", None);
        check("<a></a></a><a><b/>", None);
        check("<b/></a><a><c/>", None);
        check("<p:a/>", None);
        check("<!-- a -->", None);
        check("<!DOCTYPE a><a/>", None);
        check("<?xml ><a/>", None);
        check("", None);
    }
}
