//! Where the text with holes comes from, and which of the holes stand in attributes.

use std::ops::Range;

use myelin_xml::{Document, Kind, NodeId, Options};

use super::Media;
use super::template::Template;
use crate::config::{Element, Entry, Loader, Problem};
use crate::content::text_of;
use crate::mediators::setting::later;
use crate::property::Fragment;

/// Reads the format, for so many arguments.
pub(super) fn read(format: &Element, media: Media, arguments: usize, loader: &mut Loader) -> Result<Template, Problem> {
    let text = text(format, media, loader)?;
    if text.contains("${") {
        return Err(later(format.text()));
    }
    let quoted = if media == Media::Xml { attribute_values(&text) } else { Some(Vec::new()) };
    let is_in_attribute = |at: usize| match &quoted {
        // Nobody knows before there is a message: what is right in an attribute is right in a text, too.
        None => true,
        Some(ranges) => {
            let behind = ranges.partition_point(|range| range.start <= at);
            behind.checked_sub(1).is_some_and(|index| ranges[index].contains(&at))
        }
    };
    let (template, missing) = Template::cut(&text, arguments, is_in_attribute);
    if let Some(missing) = missing {
        let message = format!("there is no argument for {missing}: from there on the format stays as it is written");
        loader.warning(format.problem(message));
    }
    Ok(template)
}

fn text(format: &Element, media: Media, loader: &Loader) -> Result<String, Problem> {
    if let Some(key) = format.attribute("key") {
        return Ok(match loader.entry(key)? {
            Entry::Xml(fragment) => without_indentation(&fragment),
            Entry::Text(text) => text,
        });
    }
    match (media, format.children.as_slice()) {
        (Media::Xml, [element]) => Ok(without_indentation(&element.fragment())),
        (Media::Xml, []) => Err(format.problem("the format of XML needs an element inside, or a key")),
        (Media::Xml, [_, second, ..]) => Err(second.problem("the format of XML holds one element")),
        (_, []) => Ok(format.text().value.to_owned()),
        (_, [element, ..]) => {
            Err(element.problem(format!("the format of JSON or text holds text, not {}", element.tag())))
        }
    }
}

/// An element as text, without the texts in it that are white space alone.
fn without_indentation(fragment: &Fragment) -> String {
    let mut document = Document::clone(&fragment.document);
    let is_blank = |node: &NodeId| document.kind(*node) == Kind::Text && document.value(*node).trim().is_empty();
    let blank: Vec<NodeId> = document.descendants(fragment.node).filter(is_blank).collect();
    blank.into_iter().for_each(|node| document.detach(node));
    text_of(&document, fragment.node)
}

/// Where the values of attributes stand in a text that is XML before its holes are filled; `None` of any other.
fn attribute_values(text: &str) -> Option<Vec<Range<usize>>> {
    let document = Document::parse(text.into(), &Options::default()).ok()?;
    let elements = document.descendants(document.document_node()).filter(|&node| document.kind(node) == Kind::Element);
    let attributes = elements.flat_map(|element| document.attributes(element));
    Some(attributes.filter_map(|attribute| document.value_range(attribute)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_attributes_are_found_where_they_stand() {
        let text = "<a b='$1' xmlns:p=\"urn:p\"><p:c p:d=\"é $2\">$3</p:c><!-- e='$4' --></a>";
        let found: Vec<&str> = attribute_values(text).unwrap().into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["$1", "é $2"]);
        assert!(attribute_values("$1<a/>").is_none());
    }

    #[test]
    fn white_space_alone_is_left_out() {
        let check = |text: &str, expected: &str| {
            assert_eq!(without_indentation(&Fragment::parse(text).unwrap()), expected);
        };
        check("<a>\n  <b> x </b>\n\t<c> </c>\n</a>", "<a><b> x </b><c></c></a>");
    }
}
