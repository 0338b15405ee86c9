//! Where `enrich` puts what it took.

use std::sync::Arc;

use myelin_json::Path;
use myelin_json::convert::to_json;
use myelin_message::{Body, HeaderId};
use myelin_soap::{Envelope, Version};

use super::json::{self, Piece};
use super::source::{Content, Place, Source};
use super::{Action, expression, kind, named, xml};
use crate::config::{Element, Entry, Loader, Problem};
use crate::content::{Json, Need, Tree, into_utf8, text_of};
use crate::exchange::{Exchange, Format, Scene};
use crate::expression::Expression;
use crate::fault::{Fault, Outcome};
use crate::property::{Fragment, Scope, Slot, Value};

pub(super) enum Target {
    Custom(Expression),
    /// `$header`, which a message may lack.
    Header,
    Path(Arc<Path>),
    Key(Arc<Path>),
    Body,
    Envelope,
    /// A property, or a variable.
    Property(Scope, Slot),
}

impl Target {
    /// Whether the message is another one afterwards.
    pub(super) fn is_in_message(&self) -> bool {
        !matches!(self, Target::Property(..) | Target::Key(_))
    }

    pub(super) fn read(
        element: &Element,
        action: Action,
        source: &Source,
        loader: &mut Loader,
    ) -> Result<Target, Problem> {
        let target = match kind(element) {
            "custom" => {
                let text = element.required("xpath")?;
                let expression = expression(element, loader)?;
                match expression.json() {
                    Some(path) => {
                        if action == Action::Sibling {
                            loader.warning(text.problem("action sibling has no effect on JSON"));
                        }
                        Target::Path(Arc::clone(path))
                    }
                    None if text.value.trim() == "$header" && action == Action::Child => Target::Header,
                    None => Target::Custom(expression),
                }
            }
            "key" => {
                let path = expression(element, loader)?.json().cloned();
                Target::Key(path.ok_or_else(|| element.problem("<target>: type key needs a json-eval path"))?)
            }
            "body" => Target::Body,
            "envelope" => Target::Envelope,
            "property" | "variable" => {
                let (scope, slot) = named(element, loader)?;
                Target::Property(scope, slot)
            }
            other => return Err(element.problem(format!("<target>: type {other:?} is unknown"))),
        };
        let fits = match (&source.place, &target) {
            (Place::Paths(_), Target::Body | Target::Property(..)) | (Place::Custom(_), Target::Body) => true,
            _ => action != Action::Remove,
        };
        if !fits {
            return Err(element.problem("<target>: what is removed is removed from the body, or JSON from a property"));
        }
        Ok(target)
    }

    /// What it needs of the body, and what the source needs.
    pub(super) fn need(&self, source: Need) -> Need {
        match self {
            Target::Custom(expression) => source.and(expression),
            Target::Property(..) => source,
            Target::Header | Target::Path(_) | Target::Key(_) | Target::Body | Target::Envelope => Need::built(),
        }
    }

    /// Puts what was taken there.
    pub(super) fn put(
        &self,
        content: Content,
        source: &Source,
        action: Action,
        exchange: &mut Exchange,
        scene: &Scene<'_>,
    ) -> Outcome<()> {
        let is_envelope = matches!(source.place, Place::Envelope);
        if is_envelope && !matches!(self, Target::Envelope | Target::Property(..)) {
            return Err(Fault::bus("A whole envelope can only be put in a property or in the place of the envelope"));
        }
        match (self, content) {
            (Target::Property(scope, slot), content) => {
                into_property(exchange, (*scope, *slot), content, action, scene)
            }
            (Target::Envelope, content) => into_envelope(exchange, content),
            (Target::Body, content) => into_body(exchange, content, source, action, scene),
            (Target::Path(path), Content::Text(text)) => {
                json::change(exchange.json_mut()?.change(), path, action, &Piece::of(&text), &scene.json_rules())
            }
            (Target::Key(path), Content::Text(text)) => {
                json::rename(exchange.json_mut()?.change(), path, text.trim(), &scene.json_rules())
            }
            (Target::Path(path), content) => {
                let text = json_of(&content.fragments(exchange)?, scene)?;
                json::change(exchange.json_mut()?.change(), path, action, &Piece::of(&text), &scene.json_rules())
            }
            (Target::Key(_), _) => Err(no_conversion("XML", "the name of a member")),
            (Target::Header, content) => xml::add_blocks(exchange, content, source.moves),
            (Target::Custom(expression), content) => {
                into_node(exchange, expression, content, action, source.moves, scene)
            }
        }
    }

    /// What becomes of the target where there is nothing to put there.
    pub(super) fn without_source(&self, source: &Source, exchange: &mut Exchange) -> Outcome<()> {
        match (self, &source.place) {
            (Target::Property(scope, slot), Place::Custom(_)) => {
                exchange.properties.put(*scope, *slot, Some(Value::Text("".into())));
                Ok(())
            }
            (Target::Envelope, _) => Err(no_envelope()),
            _ => Ok(()),
        }
    }
}

fn no_envelope() -> Box<Fault> {
    Fault::bus("Only a SOAP envelope can take the place of one")
}

fn no_conversion(from: &str, to: &str) -> Box<Fault> {
    Fault::bus(format!("{from} cannot be put into {to}"))
}

fn into_node(
    exchange: &mut Exchange,
    expression: &Expression,
    content: Content,
    action: Action,
    moves: bool,
    scene: &Scene<'_>,
) -> Outcome<()> {
    let (document, at) = expression.first_node(exchange, scene)?.ok_or_else(xml::nowhere)?;
    match exchange.tree() {
        Ok(tree) if std::ptr::eq(tree.document(), document) => xml::put(exchange, at, content, action, moves),
        _ => xml::put_into_fragment(exchange, document, at, content, action),
    }
}

/// Puts an element in the place of the first node that an expression leads to.
///
/// Errors: the bus's, where it leads to none.
pub(in crate::mediators) fn put_at(
    exchange: &mut Exchange,
    expression: &Expression,
    element: Fragment,
    scene: &Scene<'_>,
) -> Outcome<()> {
    into_node(exchange, expression, Content::Elements(vec![element]), Action::Replace, false, scene)
}

/// Puts an element in the place of a message's payload; it is the whole of a message that is none of XML.
///
/// Errors: the bus's, where the body is not built.
pub(in crate::mediators) fn put_body(exchange: &mut Exchange, element: Fragment, scene: &Scene<'_>) -> Outcome<()> {
    let source = Source { place: Place::Body, moves: false };
    into_body(exchange, Content::Elements(vec![element]), &source, Action::Replace, scene)
}

fn into_property(
    exchange: &mut Exchange,
    (scope, slot): (Scope, Slot),
    content: Content,
    action: Action,
    scene: &Scene<'_>,
) -> Outcome<()> {
    let value = match (action, exchange.properties.get(scope, slot), content) {
        (Action::Child, Some(Value::Xml(held)), content) => {
            let (document, at) = (Arc::as_ptr(&held.document), held.node);
            return xml::put_into_fragment(exchange, document, at, content, action);
        }
        // A child of JSON in a property goes where it goes in a body of JSON.
        (Action::Child, Some(held), Content::Text(text)) => {
            let changed = json::with_child(&held.text(), &text, &scene.json_rules())?;
            json::held_as(held, changed)
        }
        (Action::Child, ..) => return Err(xml::nowhere()),
        (_, _, Content::Text(text)) if scope == Scope::Variable && Piece::of(&text).is_whole() => {
            Value::json(&text).unwrap_or_else(|| Value::Text(text.into()))
        }
        (_, _, Content::Text(text)) => Value::Text(text.into()),
        (_, _, elements) => match <[Fragment; 1]>::try_from(elements.fragments(exchange)?) {
            Ok([one]) => Value::Xml(one),
            Err(several) => Value::List(several.into()),
        },
    };
    exchange.properties.check_room(&value)?;
    exchange.properties.put(scope, slot, Some(value));
    Ok(())
}

/// What elements are as JSON: an object, or several in an array.
fn json_of(fragments: &[Fragment], scene: &Scene<'_>) -> Outcome<String> {
    let limit = usize::try_from(scene.bus.settings.body_limit_bytes).unwrap_or(usize::MAX);
    let mut out = Vec::new();
    let several = fragments.len() != 1;
    out.extend(several.then_some(b'['));
    for (index, fragment) in fragments.iter().enumerate() {
        out.extend((index > 0).then_some(b','));
        to_json(&fragment.document, fragment.node, &scene.bus.settings.json, limit, &mut out)
            .map_err(|error| no_conversion("XML", "JSON").with_detail(error.to_string()))?;
    }
    out.extend(several.then_some(b']'));
    Ok(into_utf8(out))
}

fn into_envelope(exchange: &mut Exchange, content: Content) -> Outcome<()> {
    let mut fragments = content.fragments(exchange)?;
    let Some(fragment) = fragments.pop().filter(|_| fragments.is_empty()) else { return Err(no_envelope()) };
    let Some(envelope) = Envelope::of(&fragment.document) else { return Err(no_envelope()) };
    match exchange.message.body.built::<Tree>().filter(|tree| !tree.is_empty()) {
        None => whole(exchange, &fragment),
        // Plain XML has no envelope that is sent: what stands in the other one's body takes its place.
        Some(tree) if tree.is_plain() => {
            let Some(payload) = envelope.payload(&fragment.document) else { return Err(no_envelope()) };
            let Some(at) = tree.envelope().payload(tree.document()) else { return Err(xml::nowhere()) };
            let content = Content::Elements(vec![Fragment::copy(&fragment.document, payload)]);
            xml::put(exchange, at, content, Action::Replace, false)
        }
        Some(_) => put_envelope(exchange, &fragment),
    }
}

/// Puts an envelope in the place of the message's, with the content type of its version.
///
/// Errors: the bus's, where the piece of XML is no envelope.
pub(in crate::mediators) fn put_envelope(exchange: &mut Exchange, fragment: &Fragment) -> Outcome<()> {
    let Some(envelope) = Envelope::of(&fragment.document) else { return Err(no_envelope()) };
    xml::put_envelope(exchange, fragment)?;
    set_type(exchange, envelope.version.media_type())
}

fn into_body(
    exchange: &mut Exchange,
    content: Content,
    source: &Source,
    action: Action,
    scene: &Scene<'_>,
) -> Outcome<()> {
    let body = &mut exchange.message.body;
    let is_whole_json = |text: &str| {
        let is_given = matches!(source.place, Place::Property(..) | Place::Inline(Entry::Text(_)) | Place::Worked(_));
        is_given && action == Action::Replace && Piece::of(text).is_whole()
    };
    match content {
        Content::Text(text) if body.built::<Json>().is_some() => {
            let value = exchange.json_mut()?.change();
            let root = Path::compile("$").expect("the path to all is one");
            json::change(value, &root, action, &Piece::of(&text), &scene.json_rules())
        }
        // JSON in the place of XML is never meant as the text of an element.
        Content::Text(text) if is_whole_json(&text) => {
            set_type(exchange, "application/json")?;
            exchange.set_body(Body::Bytes(text.into_bytes()));
            Ok(())
        }
        content => {
            // An element is no text, and no bytes.
            let is_whole = matches!(exchange.content.format, Format::Text | Format::Binary);
            let is_xml = !is_whole && body.built::<Tree>().is_some_and(|tree| !tree.is_empty());
            if !is_xml && action == Action::Replace && !matches!(content, Content::Text(_)) {
                let mut fragments = content.fragments(exchange)?;
                let one = fragments.pop().filter(|_| fragments.is_empty());
                return whole(exchange, &one.ok_or_else(|| no_conversion("Several elements", "one body"))?);
            }
            let tree = exchange.tree()?;
            match (tree.envelope().payload(tree.document()), content) {
                (Some(payload), content) => xml::put(exchange, payload, content, action, source.moves),
                (None, Content::Text(_)) => {
                    tracing::warn!(target: "myelin::enrich", "a body without an element can hold no text");
                    Ok(())
                }
                (None, content) => xml::fill(exchange, content, source.moves),
            }
        }
    }
}

/// Makes an element the whole of a message that was none of XML.
fn whole(exchange: &mut Exchange, fragment: &Fragment) -> Outcome<()> {
    let name = fragment.document.qname(fragment.node);
    let soap = Version::of_namespace(name.namespace).filter(|_| name.local == "Envelope");
    set_type(exchange, soap.map_or("application/xml", Version::media_type))?;
    exchange.set_body(Body::Bytes(text_of(&fragment.document, fragment.node).into_bytes()));
    Ok(())
}

/// Sets the content type, unless it stands for the same already.
fn set_type(exchange: &mut Exchange, media_type: &str) -> Outcome<()> {
    let present = Format::of(exchange.message.head.known(HeaderId::ContentType));
    if present != Format::of(Some(media_type.as_bytes())) {
        let charset = if media_type == "application/json" { "" } else { "; charset=UTF-8" };
        exchange.message.head.set("Content-Type", format!("{media_type}{charset}").as_bytes())?;
    }
    Ok(())
}
