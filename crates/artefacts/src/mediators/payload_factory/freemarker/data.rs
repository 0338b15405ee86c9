//! What a template sees of an exchange: the body, and the members of its variables that it names.

use std::borrow::Cow;
use std::sync::Arc;

use myelin_freemarker::{Decimal, Json, Template, Value, Xml};
use myelin_xml::{Document, NodeId};

use crate::loader::Loader;
use myelin_content as content;
use myelin_expression::{Source, SourceScope};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::property::{self, Scope, Slot};

/// Where the members of the variables are that are asked for by name.
const ROOTS: [(&str, SourceScope); 5] = [
    ("ctx", SourceScope::Default),
    ("axis2", SourceScope::Axis2),
    ("trp", SourceScope::Transport),
    ("vars", SourceScope::Variable),
    ("var", SourceScope::Variable),
];

/// How a text is known that is a body.
const TEXT: (&str, &str) = ("http://ws.apache.org/commons/ns/payload", "text");

/// One of the variables.
pub(super) struct Root {
    name: &'static str,
    members: Vec<(Arc<str>, Place)>,
}

/// Where a member is.
enum Place {
    Source(Source),
    Variable(Slot),
}

/// What a template sees, fit for any thread.
pub(super) struct Data<'a> {
    pub(super) payload: Payload<'a>,
    pub(super) arguments: Vec<String>,
    pub(super) variables: Vec<(&'static str, Members)>,
}

/// What is there of a variable, by name.
pub(super) type Members = Vec<(Arc<str>, property::Value)>;

pub(super) enum Payload<'a> {
    Nothing,
    Text(String),
    Json(Cow<'a, myelin_json::Value>),
    Xml(&'a Document, NodeId),
    OwnXml(Box<Document>, NodeId),
}

/// The variables that a template mentions, with the places of the members that it names.
pub(super) fn roots(template: &Template, loader: &mut Loader) -> Vec<Root> {
    let mut roots = Vec::new();
    for (name, base) in ROOTS.into_iter().filter(|(name, _)| template.mentions(name)) {
        let place = |member: &str| match base {
            SourceScope::Variable => Place::Variable(loader.names().slot(member)),
            base => Place::Source(Source::property(base, member, loader.names())),
        };
        let places: Vec<Place> = template.members().map(place).collect();
        roots.push(Root { name, members: template.members().map(Arc::from).zip(places).collect() });
    }
    roots
}

/// What is there of the variables; `reaches_all` says whether names may be asked for that nobody knew before.
pub(super) fn variables(
    template: &Template,
    roots: &[Root],
    reaches_all: bool,
    exchange: &Exchange,
    context: &RequestContext<'_>,
) -> Vec<(&'static str, Members)> {
    let mentioned = ROOTS.into_iter().filter(|(name, _)| template.mentions(name));
    let variable = |(name, base)| {
        let known = roots.iter().find(|root| root.name == name);
        let mut members = known.map_or_else(Vec::new, |root| root.read(exchange, context));
        if reaches_all {
            let all = all(base, exchange, context);
            members.extend(all.into_iter().filter(|(name, _)| known.is_none_or(|root| !root.knows(name))));
        }
        (name, members)
    };
    mentioned.map(variable).collect()
}

impl Root {
    fn knows(&self, name: &str) -> bool {
        self.members.iter().any(|(known, _)| **known == *name)
    }

    /// The members that are there.
    fn read(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Members {
        let value = |place: &Place| match place {
            Place::Variable(slot) => exchange.properties.get(Scope::Variable, *slot).cloned(),
            Place::Source(source) => {
                let text = source.read(exchange, context).text()?;
                // An address that nobody set is an empty text elsewhere, and missing to a template.
                let is_unset = matches!(source, Source::Addressing(_)) && text.is_empty();
                (!is_unset).then(|| property::Value::Text((*text).into()))
            }
        };
        self.members.iter().filter_map(|(name, place)| Some((Arc::clone(name), value(place)?))).collect()
    }
}

/// All that is set in a scope, for a template that asks for names which nobody knew before.
fn all(base: SourceScope, exchange: &Exchange, context: &RequestContext<'_>) -> Members {
    let text = |text: &str| property::Value::Text(text.into());
    let scope = match base {
        SourceScope::Transport => {
            let lines = exchange.message.head.iter();
            return lines.map(|(name, value)| (name.into(), text(&String::from_utf8_lossy(value)))).collect();
        }
        SourceScope::Axis2 => Scope::Axis2,
        SourceScope::Variable => Scope::Variable,
        _ => Scope::Default,
    };
    let named = exchange.properties.named(scope, &context.definitions.names);
    let shown = |value: &property::Value| if scope == Scope::Variable { value.clone() } else { text(&value.text()) };
    named.map(|(name, value)| (name.into(), shown(value))).collect()
}

impl<'a> Payload<'a> {
    /// The body as the template sees it: in the form that it has.
    pub(super) fn of(exchange: &'a Exchange) -> Outcome<Payload<'a>> {
        if let Some(json) = exchange.message.body.built::<content::Json>() {
            return Ok(Payload::Json(Cow::Borrowed(json.value())));
        }
        let tree = exchange.tree()?;
        let document = tree.document();
        Ok(match tree.envelope().payload(document) {
            None => Payload::Nothing,
            Some(payload) => match document.qname(payload) {
                name if (name.namespace, name.local) == TEXT => {
                    Payload::Text(document.string_value(payload).into_owned())
                }
                _ => Payload::Xml(document, payload),
            },
        })
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Payload::Nothing => 0,
            Payload::Text(text) => text.len(),
            Payload::Json(json) => json.source().len(),
            Payload::Xml(document, _) => document.source().len(),
            Payload::OwnXml(document, _) => document.source().len(),
        }
    }
}

impl Data<'_> {
    pub(super) fn into_owned(self) -> Data<'static> {
        let payload = match self.payload {
            Payload::Nothing => Payload::Nothing,
            Payload::Text(text) => Payload::Text(text),
            Payload::Json(json) => Payload::Json(Cow::Owned(json.into_owned())),
            Payload::Xml(document, node) => Payload::OwnXml(Box::new(document.clone()), node),
            Payload::OwnXml(document, node) => Payload::OwnXml(document, node),
        };
        Data { payload, ..self }
    }
}

/// A value as a template sees it.
pub(super) fn shown<'a>(value: &'a property::Value, prefixes: &[(String, String)]) -> Option<Value<'a>> {
    use property::Value as Held;
    Some(match value {
        Held::Json(json) => return Json::of(json),
        Held::Xml(fragment) => Xml::of(&fragment.document, fragment.node, prefixes),
        Held::List(fragments) => {
            Value::list(fragments.iter().map(|one| Some(Xml::of(&one.document, one.node, prefixes))).collect())
        }
        Held::Boolean(boolean) => Value::Boolean(*boolean),
        Held::Integer(number) => Value::Number(Decimal::from(*number)),
        Held::Text(text) => Value::text(&**text),
        Held::Float(_) | Held::Double(_) => {
            let text = value.text();
            Decimal::parse(&text).map_or_else(|| Value::text(text.into_owned()), Value::Number)
        }
    })
}
