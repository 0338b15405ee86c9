//! Where `enrich` takes from.

use std::ops::Range;

use myelin_json::{Error, Path};
use myelin_xml::{Document, Kind, NodeId};
use myelin_xpath::NodeRef;

use super::inline::Worked;
use super::target::Target;
use super::{Action, expression, json, kind, named, xml};
use crate::config::{Element, Entry, Loader, Problem, Text};
use crate::content::{Json, Need, Tree};
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, fixed_path};
use crate::fault::{Fault, Outcome};
use crate::property::{Fragment, Scope, Slot, Value};

/// A source with what it says.
pub(super) struct Source {
    pub(super) place: Place,
    /// Whether what is taken from the message leaves its place there.
    pub(super) moves: bool,
}

pub(super) enum Place {
    Custom(Expression),
    /// What is to be taken out of JSON.
    Paths(Vec<Path>),
    Body,
    Envelope,
    /// A property, or a variable.
    Property(Scope, Slot),
    Inline(Entry),
    /// What stands inside, with expressions in it.
    Worked(Worked),
}

/// What was found.
#[derive(Debug)]
pub(super) enum Content {
    /// Elements of the message's own tree.
    Own(Vec<NodeId>),
    Elements(Vec<Fragment>),
    /// Text, or JSON.
    Text(String),
}

impl Source {
    pub(super) fn read(element: &Element, action: Action, loader: &mut Loader) -> Result<Source, Problem> {
        let moves = match element.attribute("clone").map(|clone| (clone.value, clone)) {
            None | Some(("true" | "", _)) => false,
            Some(("false", _)) => true,
            Some((other, text)) => return Err(text.problem(format!("clone {other:?} is neither true nor false"))),
        };
        let place = match kind(element) {
            "custom" => match paths(element.required("xpath")?).filter(|_| action == Action::Remove) {
                Some(paths) => Place::Paths(paths?),
                None => Place::Custom(expression(element, loader)?),
            },
            "body" => Place::Body,
            "envelope" => Place::Envelope,
            "property" | "variable" => {
                let (scope, slot) = named(element, loader)?;
                Place::Property(scope, slot)
            }
            "inline" => match Worked::read(element, loader)? {
                Some(worked) => Place::Worked(worked),
                None => Place::Inline(inline(element, loader)?),
            },
            other => return Err(element.problem(format!("<source>: type {other:?} is unknown"))),
        };
        if action == Action::Remove && !matches!(place, Place::Custom(_) | Place::Paths(_)) {
            return Err(element.problem("<source>: what is to be removed is said by xpath"));
        }
        Ok(Source { place, moves })
    }

    /// What it needs of the body.
    pub(super) fn need(&self) -> Need {
        match &self.place {
            Place::Custom(expression) => Need::default().and(expression),
            Place::Body | Place::Envelope => Need::built(),
            Place::Worked(worked) => worked.need(),
            Place::Paths(_) | Place::Property(..) | Place::Inline(_) => Need::default(),
        }
    }

    /// What is there; `None` where nothing is.
    pub(super) fn take(&self, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Option<Content>> {
        match &self.place {
            Place::Custom(expression) => custom(expression, exchange, scene),
            Place::Body => match exchange.message.body.built::<Json>() {
                Some(json) => Ok(Some(Content::Text(json.text().into_owned()))),
                None => {
                    let tree = exchange.tree()?;
                    Ok(tree.envelope().payload(tree.document()).map(|payload| Content::Own(vec![payload])))
                }
            },
            Place::Envelope => Ok(Some(Content::Own(vec![exchange.tree()?.envelope().element]))),
            Place::Property(scope, slot) => Ok(match exchange.properties.get(*scope, *slot) {
                Some(Value::Xml(fragment)) => Some(Content::Elements(vec![fragment.clone()])),
                Some(Value::List(list)) => Some(Content::Elements(list.to_vec())),
                Some(other) => Some(Content::Text(other.text().into_owned())),
                None => None,
            }),
            Place::Inline(Entry::Xml(fragment)) => Ok(Some(Content::Elements(vec![fragment.clone()]))),
            Place::Inline(Entry::Text(text)) => Ok(Some(Content::Text(text.clone()))),
            Place::Worked(worked) => worked.content(exchange, scene).map(Some),
            // Only `remove` has paths, and that takes nothing.
            Place::Paths(_) => Ok(None),
        }
    }

    /// Takes what is found out of the target.
    pub(super) fn remove_from(&self, target: &Target, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<()> {
        match (&self.place, target) {
            (Place::Paths(paths), Target::Property(scope, slot)) => {
                let Some(held) = exchange.properties.get(*scope, *slot) else { return Ok(()) };
                let text = json::removed_from_text(&held.text(), paths, &scene.json_rules())?;
                let value = json::held_as(held, text);
                exchange.properties.put(*scope, *slot, Some(value));
                Ok(())
            }
            (Place::Paths(paths), _) => json::remove(exchange.json_mut()?.change(), paths, &scene.json_rules()),
            (Place::Custom(expression), _) => {
                let nodes = match expression.xpath() {
                    Some(xpath) => xpath.nodes(exchange, scene)?,
                    None => Vec::new(),
                };
                xml::remove(exchange, &nodes)
            }
            _ => Ok(()),
        }
    }
}

impl Content {
    /// The elements as pieces of their own; none of a text.
    pub(super) fn fragments(self, exchange: &Exchange) -> Outcome<Vec<Fragment>> {
        match self {
            Content::Own(nodes) => {
                let tree = exchange.tree()?;
                let fragment = |node| tree.fragment(node).map_err(|error| exchange.unreadable(error));
                Fragment::all(nodes.into_iter().map(fragment))
            }
            Content::Elements(fragments) => Ok(fragments),
            Content::Text(_) => Ok(Vec::new()),
        }
    }
}

/// What an expression finds: the elements among the nodes, or the text of all.
fn custom(expression: &Expression, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Option<Content>> {
    if let Some(path) = expression.json() {
        let Some(json) = exchange.json()? else { return Ok(None) };
        let rules = scene.json_rules();
        let found = json.outcome(path, &rules);
        return match found.and_then(|found| Ok(found.json(json.value(), &rules)?.into_owned())) {
            Ok(text) => Ok(Some(Content::Text(text))),
            Err(Error::NotFound | Error::Inapplicable(_)) => Ok(None),
            Err(error) => Err(Fault::bus("A JSONPath could not be evaluated").with_detail(error.to_string())),
        };
    }
    let Some(xpath) = expression.xpath() else {
        let held = expression.held(exchange, scene);
        return match held.is_empty() {
            true => Ok(expression.text(exchange, scene)?.map(|text| Content::Text(text.into_owned()))),
            false => Ok(Some(Content::Elements(held.to_vec()))),
        };
    };
    let own = exchange.tree().ok().map(Tree::document);
    match xpath.with_value(exchange, scene, |value| find(&value, own))? {
        Found::Nothing => Ok(None),
        Found::Elements(content) => Ok(Some(content)),
        Found::Other => Ok(expression.text(exchange, scene)?.map(|text| Content::Text(text.into_owned()))),
        Found::TooMuch => {
            Err(Fault::bus("The elements that enrich takes lie in each other, and are too large together"))
        }
    }
}

/// What the value of an expression holds.
enum Found {
    Nothing,
    Elements(Content),
    TooMuch,
    /// No element, but something that has a text.
    Other,
}

/// Copies of elements that lie in each other may have so many nodes more than what they are copied from.
const NODES_MORE: usize = 100_000;

fn find(value: &myelin_xpath::Value<'_>, own: Option<&Document>) -> Found {
    if value.is_empty() {
        return Found::Nothing;
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
    let Some((first, _)) = elements.first() else { return Found::Other };
    let mut left = first.node_count() + NODES_MORE;
    for (document, element) in &elements {
        let count = document.descendants(*element).take(left + 1).count() + 1;
        match left.checked_sub(count) {
            Some(rest) => left = rest,
            None => return Found::TooMuch,
        }
    }
    let is_own = own.is_some_and(|own| elements.iter().all(|(document, _)| std::ptr::eq(*document, own)));
    if is_own {
        return Found::Elements(Content::Own(elements.into_iter().map(|(_, element)| element).collect()));
    }
    let copies = elements.into_iter().map(|(document, node)| Ok(Fragment::copy(document, node)));
    Fragment::all(copies).map_or(Found::TooMuch, |copies| Found::Elements(Content::Elements(copies)))
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
