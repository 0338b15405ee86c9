//! Where `enrich` takes from.

use std::ops::Range;

use myelin_json::{Error, Path};
use myelin_xml::{Document, Kind, NodeId};
use myelin_xpath::NodeRef;

use crate::loader::{Entry, Loader};
use crate::mediators::enrich::attributes::{expression, kind, named};
use crate::mediators::enrich::inline::InlineSource;
use crate::mediators::enrich::target::EnrichTarget;
use crate::message_edits::{Content, EditAction, json, xml};
use crate::words::unknown_word;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_content::Fragment;
use myelin_content::{Json, Tree};
use myelin_expression::Need;
use myelin_expression::{Expression, fixed_path};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::property::{Scope, Slot, Value};

/// A source with what it says.
pub(super) struct Source {
    pub(super) kind: SourceKind,
    /// Whether what is taken from the message leaves its place there.
    pub(super) moves: bool,
}

pub(super) enum SourceKind {
    Custom(Expression),
    /// What is to be taken out of JSON.
    Paths(Vec<Path>),
    Body,
    Envelope,
    /// A property, or a variable.
    Property(Scope, Slot),
    Inline(Entry),
    /// What stands inside, with expressions in it.
    Computed(InlineSource),
}

impl Source {
    pub(super) fn read(element: &Element, action: EditAction, loader: &mut Loader) -> Result<Source, Problem> {
        let moves = match element.attribute("clone").map(|clone| (clone.value, clone)) {
            None | Some(("true" | "", _)) => false,
            Some(("false", _)) => true,
            Some((other, text)) => return Err(text.problem(format!("clone {other:?} is neither true nor false"))),
        };
        let what = match kind(element) {
            "custom" => match paths(element.required("xpath")?).filter(|_| action == EditAction::Remove) {
                Some(paths) => SourceKind::Paths(paths?),
                None => SourceKind::Custom(expression(element, loader)?),
            },
            "body" => SourceKind::Body,
            "envelope" => SourceKind::Envelope,
            "property" | "variable" => {
                let (scope, slot) = named(element, loader)?;
                SourceKind::Property(scope, slot)
            }
            "inline" => match InlineSource::read(element, loader)? {
                Some(worked) => SourceKind::Computed(worked),
                None => SourceKind::Inline(inline(element, loader)?),
            },
            other => {
                let known = ["custom", "body", "envelope", "property", "variable", "inline"];
                return Err(element.problem(format!("<source>: {}", unknown_word("type", other, &known))));
            }
        };
        if action == EditAction::Remove && !matches!(what, SourceKind::Custom(_) | SourceKind::Paths(_)) {
            return Err(element.problem("<source>: what is to be removed is said by xpath"));
        }
        Ok(Source { kind: what, moves })
    }

    /// What it needs of the body.
    pub(super) fn need(&self) -> Need {
        match &self.kind {
            SourceKind::Custom(expression) => Need::default().and(expression),
            SourceKind::Body | SourceKind::Envelope => Need::built(),
            SourceKind::Computed(worked) => worked.need(),
            SourceKind::Paths(_) | SourceKind::Property(..) | SourceKind::Inline(_) => Need::default(),
        }
    }

    /// Whether what it gives is a text of the configuration, a property or a variable.
    pub(super) fn gives_text(&self) -> bool {
        matches!(self.kind, SourceKind::Property(..) | SourceKind::Inline(Entry::Text(_)) | SourceKind::Computed(_))
    }

    /// What is there; `None` where nothing is.
    pub(super) fn take(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Option<Content>> {
        match &self.kind {
            SourceKind::Custom(expression) => custom(expression, exchange, context),
            SourceKind::Body => match exchange.message.body.built::<Json>() {
                Some(json) => Ok(Some(Content::Text(json.text().into_owned()))),
                None => {
                    let tree = exchange.tree()?;
                    Ok(tree.envelope().payload(tree.document()).map(|payload| Content::Own(vec![payload])))
                }
            },
            SourceKind::Envelope => Ok(Some(Content::Own(vec![exchange.tree()?.envelope().element]))),
            SourceKind::Property(scope, slot) => Ok(match exchange.properties.get(*scope, *slot) {
                Some(Value::Xml(fragment)) => Some(Content::Elements(vec![fragment.clone()])),
                Some(Value::List(list)) => Some(Content::Elements(list.to_vec())),
                Some(other) => Some(Content::Text(other.text().into_owned())),
                None => None,
            }),
            SourceKind::Inline(Entry::Xml(fragment)) => Ok(Some(Content::Elements(vec![fragment.clone()]))),
            SourceKind::Inline(Entry::Text(text)) => Ok(Some(Content::Text(text.clone()))),
            SourceKind::Computed(worked) => worked.content(exchange, context).map(Some),
            // Only `remove` has paths, and that takes nothing.
            SourceKind::Paths(_) => Ok(None),
        }
    }

    /// Takes what is found out of the target.
    pub(super) fn remove_from(
        &self,
        target: &EnrichTarget,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<()> {
        match (&self.kind, target) {
            (SourceKind::Paths(paths), EnrichTarget::Property(scope, slot)) => {
                let Some(held) = exchange.properties.get(*scope, *slot) else { return Ok(()) };
                let text = json::removed_from_text(&held.text(), paths, &context.json_rules())?;
                let value = json::held_as(held, text);
                exchange.properties.put(*scope, *slot, Some(value));
                Ok(())
            }
            (SourceKind::Paths(paths), _) => json::remove(exchange.json_mut()?.change(), paths, &context.json_rules()),
            (SourceKind::Custom(expression), _) => {
                let nodes = match expression.xpath() {
                    Some(xpath) => xpath.nodes(exchange, context)?,
                    None => Vec::new(),
                };
                xml::remove(exchange, &nodes)
            }
            _ => Ok(()),
        }
    }
}

/// What an expression finds: the elements among the nodes, or the text of all.
fn custom(expression: &Expression, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Option<Content>> {
    if let Some(path) = expression.json() {
        let Some(json) = exchange.json()? else { return Ok(None) };
        let rules = context.json_rules();
        let found = json.outcome(path, &rules);
        return match found.and_then(|found| Ok(found.json(json.value(), &rules)?.into_owned())) {
            Ok(text) => Ok(Some(Content::Text(text))),
            Err(Error::NotFound | Error::Inapplicable(_)) => Ok(None),
            Err(error) => Err(Fault::bus("A JSONPath could not be evaluated").with_detail(error.to_string())),
        };
    }
    let Some(xpath) = expression.xpath() else {
        let held = expression.fragments(exchange, context);
        return match held.is_empty() {
            true => Ok(expression.text(exchange, context)?.map(|text| Content::Text(text.into_owned()))),
            false => Ok(Some(Content::Elements(held.to_vec()))),
        };
    };
    let own = exchange.tree().ok().map(Tree::document);
    match xpath.with_value(exchange, context, |value| find(&value, own))? {
        ExpressionValue::Nothing => Ok(None),
        ExpressionValue::Elements(content) => Ok(Some(content)),
        ExpressionValue::Other => Ok(expression.text(exchange, context)?.map(|text| Content::Text(text.into_owned()))),
        ExpressionValue::TooMuch => {
            Err(Fault::bus("The elements that enrich takes lie in each other, and are too large together"))
        }
    }
}

/// What the value of an expression holds.
enum ExpressionValue {
    Nothing,
    Elements(Content),
    TooMuch,
    /// No element, but something that has a text.
    Other,
}

/// Copies of elements that lie in each other may have so many nodes more than what they are copied from.
const NODES_MORE: usize = 100_000;

fn find(value: &myelin_xpath::Value<'_>, own: Option<&Document>) -> ExpressionValue {
    if value.is_empty() {
        return ExpressionValue::Nothing;
    }
    let elements = value.as_nodes().unwrap_or_default().into_iter().filter_map(|NodeRef { document, node }| {
        let node = node.tree()?;
        match document.kind(node) {
            Kind::Document => Some((document, document.root_element()?)),
            Kind::Element => Some((document, node)),
            _ => None,
        }
    });
    let elements: Vec<(&Document, NodeId)> = elements.collect();
    let Some((first, _)) = elements.first() else { return ExpressionValue::Other };
    let mut left = first.node_count() + NODES_MORE;
    for (document, element) in &elements {
        let count = document.descendants(*element).take(left + 1).count() + 1;
        match left.checked_sub(count) {
            Some(rest) => left = rest,
            None => return ExpressionValue::TooMuch,
        }
    }
    let is_own = own.is_some_and(|own| elements.iter().all(|(document, _)| std::ptr::eq(*document, own)));
    if is_own {
        return ExpressionValue::Elements(Content::Own(elements.into_iter().map(|(_, element)| element).collect()));
    }
    let copies = elements.into_iter().map(|(document, node)| Outcome::Ok(Fragment::copy(document, node)));
    Fragment::all(copies)
        .map_or(ExpressionValue::TooMuch, |copies| ExpressionValue::Elements(Content::Elements(copies)))
}

fn inline(element: &Element, loader: &Loader) -> Result<Entry, Problem> {
    if let Some(key) = element.attribute("key") {
        return loader.entry(key);
    }
    match element.children.first() {
        Some(child) => Ok(Entry::Xml(child.fragment())),
        None if element.text().value.is_empty() => Err(element.problem("<source> needs an element, a text or a key")),
        None => Ok(Entry::Text(element.text().value.to_owned())),
    }
}

/// The paths in `json-eval(…, …)`; `None` for any other expression.
fn paths(text: Text<'_>) -> Option<Result<Vec<Path>, Problem>> {
    let start = text.value.find("json-eval(").filter(|&at| text.value[..at].trim().is_empty())? + "json-eval(".len();
    let end = text.value.trim_end().strip_suffix(')')?.len();
    let inside = text.value.get(start..end)?;
    let compile = |range: Range<usize>| {
        let part = text.part(start + range.start..start + range.end);
        fixed_path(part.value).map_err(|(_, message)| part.problem(format!("json-eval: {message}")))
    };
    Some(json::split(inside).into_iter().map(compile).collect())
}
