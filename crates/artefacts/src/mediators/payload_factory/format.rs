//! Where the text with holes comes from.

use myelin_xml::{Document, Kind, NodeId};

use crate::loader::{Entry, Loader};
use crate::mediators::payload_factory::template::Template;
use crate::mediators::payload_factory::{tell_spoilt, tell_spoilt_xml};
use crate::placeholders::TextFormat;
use crate::values::embedded_expression;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_content::Fragment;
use myelin_content::text_of;
use myelin_expression::Expression;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

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
        media: TextFormat,
        loader: &mut Loader,
        compile: impl FnOnce(Text<'_>, &mut Loader) -> Result<T, Problem>,
    ) -> Result<Format<T>, Problem> {
        if let Some(key) = format.attribute("key") {
            if let Some(expression) = embedded_expression(key, loader)? {
                return Ok(Format::WorkedOut(expression));
            }
            let text = match loader.entry(key)? {
                Entry::Xml(fragment) => without_indentation(&fragment),
                Entry::Text(text) => text,
            };
            return compile(key.standing_for(&text), loader).map(Format::Fixed);
        }
        match (media, format.children.as_slice()) {
            (TextFormat::Xml, [element]) => {
                let text = without_indentation(&element.fragment());
                compile(format.text().standing_for(&text), loader).map(Format::Fixed)
            }
            (_, []) if media != TextFormat::Xml || !format.text().value.trim().is_empty() => {
                compile(format.text(), loader).map(Format::Fixed)
            }
            (TextFormat::Xml, []) => Err(format.problem("the format of XML needs an element inside, or a key")),
            (TextFormat::Xml, [_, second, ..]) => Err(second.problem("the format of XML holds one element")),
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
pub(super) fn entry<'a>(key: &Expression, exchange: &Exchange, context: &RequestContext<'a>) -> Outcome<&'a str> {
    let key = key.text(exchange, context)?.unwrap_or_default();
    let slot = context.definitions.names.find(key.trim());
    let text = slot.and_then(|slot| context.definitions.entries.get(&slot)).map(String::as_str);
    text.ok_or_else(|| {
        Fault::bus("A format that <payloadFactory> calls for does not exist")
            .with_detail(format!("there is no local entry {:?}", key.trim()))
    })
}

/// Reads a format with holes, for so many arguments.
pub(super) fn read(
    format: &Element,
    media: TextFormat,
    arguments: usize,
    loader: &mut Loader,
) -> Result<Format<Template>, Problem> {
    Format::read(format, media, loader, |text, loader| {
        let (template, missing) = Template::compile(text, arguments, media, loader)?;
        let is_complete = missing.is_none();
        if let Some(missing) = missing {
            let message =
                format!("there is no argument for {missing}: from there on the format stays as it is written");
            loader.warning(format.problem(message));
        }
        if media == TextFormat::Json {
            tell_spoilt(&template, is_complete, text, loader);
        }
        if media == TextFormat::Xml && is_complete {
            tell_spoilt_xml(&template, text, loader);
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
