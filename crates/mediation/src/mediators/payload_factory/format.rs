//! Where the text with holes comes from.

use myelin_xml::{Document, Kind, NodeId};

use super::template::Template;
use crate::config::{Element, Entry, Loader, Problem, Text};
use crate::content::text_of;
use crate::exchange::{Exchange, Scene};
use crate::expression::Expression;
use crate::fault::{Fault, Outcome};
use crate::mediators::filling::Language;
use crate::mediators::setting::worked_out;
use crate::property::Fragment;

/// A format, read while the configuration is loaded, or the key of one.
pub(super) enum Format<T> {
    Fixed(T),
    /// The key of a local entry, worked out for each message.
    WorkedOut(Expression),
}

impl<T> Format<T> {
    /// Reads the format; what it holds is compiled by `compile`.
    ///
    /// Errors: those of `compile`, and a problem where nothing is there.
    pub(super) fn read(
        format: &Element,
        media: Language,
        loader: &mut Loader,
        compile: impl FnOnce(Text<'_>, &mut Loader) -> Result<T, Problem>,
    ) -> Result<Format<T>, Problem> {
        if let Some(key) = format.attribute("key") {
            if let Some(expression) = worked_out(key, loader)? {
                return Ok(Format::WorkedOut(expression));
            }
            let text = match loader.entry(key)? {
                Entry::Xml(fragment) => without_indentation(&fragment),
                Entry::Text(text) => text,
            };
            return compile(key.standing_for(&text), loader).map(Format::Fixed);
        }
        match (media, format.children.as_slice()) {
            (Language::Xml, [element]) => {
                let text = without_indentation(&element.fragment());
                compile(format.text().standing_for(&text), loader).map(Format::Fixed)
            }
            (_, []) if media != Language::Xml || !format.text().value.trim().is_empty() => {
                compile(format.text(), loader).map(Format::Fixed)
            }
            (Language::Xml, []) => Err(format.problem("the format of XML needs an element inside, or a key")),
            (Language::Xml, [_, second, ..]) => Err(second.problem("the format of XML holds one element")),
            (_, [element, ..]) => {
                Err(element.problem(format!("the format of JSON or text holds text, not {}", element.tag())))
            }
            (_, []) => Err(format.problem("the format is empty")),
        }
    }

    /// The expression that works out the key.
    pub(super) fn expression(&self) -> Option<&Expression> {
        match self {
            Format::Fixed(_) => None,
            Format::WorkedOut(expression) => Some(expression),
        }
    }
}

/// The local entry of a key that was worked out.
///
/// Errors: the bus's, where there is none.
pub(super) fn entry<'a>(key: &Expression, exchange: &Exchange, scene: &Scene<'a>) -> Outcome<&'a str> {
    let key = key.text(exchange, scene)?.unwrap_or_default();
    let slot = scene.bus.names.find(key.trim());
    let text = slot.and_then(|slot| scene.bus.entries.get(&slot)).map(String::as_str);
    text.ok_or_else(|| {
        Fault::bus("A format that <payloadFactory> calls for does not exist")
            .with_detail(format!("there is no local entry {:?}", key.trim()))
    })
}

/// Reads a format with holes, for so many arguments.
pub(super) fn read(
    format: &Element,
    media: Language,
    arguments: usize,
    loader: &mut Loader,
) -> Result<Format<Template>, Problem> {
    Format::read(format, media, loader, |text, loader| {
        let (template, missing) = Template::compile(text, arguments, media, loader)?;
        if let Some(missing) = missing {
            let message =
                format!("there is no argument for {missing}: from there on the format stays as it is written");
            loader.warning(format.problem(message));
        }
        Ok(template)
    })
}

/// An element as text, without the texts in it that are white space alone.
fn without_indentation(fragment: &Fragment) -> String {
    let mut document = Document::clone(&fragment.document);
    let is_blank = |node: &NodeId| document.kind(*node) == Kind::Text && document.value(*node).trim().is_empty();
    let blank: Vec<NodeId> = document.descendants(fragment.node).filter(is_blank).collect();
    blank.into_iter().for_each(|node| document.detach(node));
    text_of(&document, fragment.node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_alone_is_left_out() {
        let check = |text: &str, expected: &str| {
            assert_eq!(without_indentation(&Fragment::parse(text).unwrap()), expected);
        };
        check("<a>\n  <b> x </b>\n\t<c> </c>\n</a>", "<a><b> x </b><c></c></a>");
    }
}
