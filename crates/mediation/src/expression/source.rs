//! Where a variable or property is read from; settled when the configuration is loaded.

use std::borrow::Cow;

use myelin_message::Body;

use super::text::text_of_fragment;
use crate::date;
use crate::description::ANY_OPERATION;
use crate::endpoint::Target;
use crate::exchange::{Direction, Exchange, Format, Scene};
use crate::function::Argument;
use crate::identity;
use crate::percent::{Plus, decoded};
use crate::property::{Found, Fragment, Names, Outside, Scope, Slot, Value, slot};

/// What was read.
#[derive(Debug)]
pub(crate) enum Read<'a> {
    /// Nobody set it; behaves as an empty node-set.
    Nothing,
    Text(Cow<'a, str>),
    Boolean(bool),
    Xml(&'a Fragment),
    List(&'a [Fragment]),
}

/// The scope an expression names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Default,
    Axis2,
    Axis2Client,
    Operation,
    Variable,
    Transport,
    System,
    /// The parameters of the running template.
    Function,
    Outside(Outside),
}

impl<'a> Read<'a> {
    /// The text that Synapse stores and prints; `None` for what is not set.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Read::Nothing => None,
            Read::Text(text) => Some(text),
            Read::Boolean(boolean) => Some(Cow::Borrowed(if boolean { "true" } else { "false" })),
            Read::Xml(fragment) => Some(Cow::Owned(text_of_fragment(fragment))),
            Read::List(list) => Some(Cow::Owned(list.iter().map(text_of_fragment).collect())),
        }
    }

    /// The value as a condition.
    pub(crate) fn boolean(&self) -> bool {
        match self {
            Read::Nothing => false,
            Read::Text(text) => !text.is_empty(),
            Read::Boolean(boolean) => *boolean,
            Read::Xml(_) | Read::List(_) => true,
        }
    }
}

/// A place to read a value from.
#[derive(Debug)]
pub(crate) enum Source {
    /// A transport header's first value.
    Header(String),
    /// A query parameter, decoded.
    Query(String),
    /// A property somebody sets, or that the bus works out.
    Property(Scope, Slot),
    /// `To`, `Action` …
    Addressing(Slot),
    MessageId,
    MessageFormat,
    SystemDate,
    SystemTime,
    /// A parameter of the running template.
    Parameter(Slot),
    /// An environment variable or a secret, as it was when the configuration was loaded; an empty text for a variable
    /// that was not there, as in Synapse.
    Loaded(String),
    /// What was there when the configuration was loaded; nothing where it was not, as in Synapse.
    Outside(Outside, Slot),
}

impl Source {
    /// The source of a property with a fixed name.
    pub(crate) fn property(base: Base, name: &str, names: &mut Names) -> Source {
        let slot = match base {
            Base::Outside(outside) => names.outside(outside, name),
            _ => names.slot(name),
        };
        Source::resolve(base, name, Some(slot)).unwrap_or(Source::Property(Scope::Default, slot))
    }

    /// The source of a property; `None` where no such property can exist.
    fn resolve(base: Base, name: &str, slot: Option<Slot>) -> Option<Source> {
        Some(match (base, name) {
            (Base::Variable, _) => Source::Property(Scope::Variable, slot?),
            // Synapse gives the time whatever the scope.
            (_, "SYSTEM_DATE") => Source::SystemDate,
            (_, "SYSTEM_TIME") => Source::SystemTime,
            (Base::Transport, _) => Source::Header(name.to_owned()),
            // A JVM reads its own system properties here; a native program has its environment.
            (Base::System, _) => Source::Loaded(std::env::var(name).unwrap_or_default()),
            (Base::Axis2, _) => Source::Property(Scope::Axis2, slot?),
            (Base::Axis2Client, _) => Source::Property(Scope::Axis2Client, slot?),
            (Base::Function, _) => Source::Parameter(slot?),
            (Base::Outside(outside), _) => Source::Outside(outside, slot?),
            (Base::Operation, _) => Source::Property(Scope::Operation, slot?),
            (Base::Default, "To" | "From" | "Action" | "FaultTo" | "ReplyTo" | "RelatesTo") => {
                Source::Addressing(slot?)
            }
            (Base::Default, "MessageID") => Source::MessageId,
            (Base::Default, "MESSAGE_FORMAT") => Source::MessageFormat,
            (Base::Default, _) => Source::Property(Scope::Default, slot?),
        })
    }

    /// The part of WS-Addressing that it is, which may stand in the message's header.
    pub(super) fn addressed(&self) -> Option<Slot> {
        match self {
            Source::Addressing(slot) => Some(*slot),
            Source::MessageId => Some(slot::MESSAGE_ID),
            _ => None,
        }
    }

    /// Reads a property whose name came up while serving.
    pub(crate) fn read_named<'a>(base: Base, name: &str, exchange: &'a Exchange, scene: &'a Scene<'a>) -> Read<'a> {
        if let Base::Outside(outside) = base {
            let found = scene.bus.kept.find(outside, name);
            return found.map_or(Read::Nothing, |text| Read::Text(Cow::Borrowed(text)));
        }
        match Source::resolve(base, name, exchange.properties.slot(name, &scene.bus.names)) {
            // The source is gone when this returns; what was read from it must not borrow from it.
            Some(Source::Header(name)) => {
                let value = exchange.message.head.first(&name).map(String::from_utf8_lossy);
                value.map_or(Read::Nothing, Read::Text)
            }
            Some(Source::Loaded(value)) => Read::Text(value.into()),
            Some(Source::Property(scope, slot)) => property(scope, slot, exchange, scene),
            Some(Source::Parameter(slot)) => parameter(slot, exchange, scene),
            Some(source) => match source.read(exchange, scene) {
                Read::Text(text) => Read::Text(Cow::Owned(text.into_owned())),
                _ => Read::Nothing,
            },
            None => Read::Nothing,
        }
    }

    /// Whether it is a parameter of a template.
    pub(super) fn is_parameter(&self) -> bool {
        matches!(self, Source::Parameter(_))
    }

    /// Reads the value.
    pub(crate) fn read<'a>(&'a self, exchange: &'a Exchange, scene: &'a Scene<'a>) -> Read<'a> {
        let text = |text: Option<Cow<'a, str>>| text.map_or(Read::Nothing, Read::Text);
        match self {
            Source::Header(name) => text(exchange.message.head.first(name).map(String::from_utf8_lossy)),
            // Synapse gives an empty text for a parameter that is not there, and for an address nobody set.
            Source::Query(name) => Read::Text(query(exchange, name).unwrap_or_default()),
            Source::Property(scope, slot) => property(*scope, *slot, exchange, scene),
            Source::Parameter(slot) => parameter(*slot, exchange, scene),
            Source::Addressing(slot::TO) => Read::Text(exchange.to().unwrap_or_default()),
            Source::Addressing(slot::ACTION) => Read::Text(exchange.action().unwrap_or_default()),
            Source::Addressing(slot) => match exchange.properties.find(Scope::Addressing, *slot) {
                Found::Set(value) => value.into(),
                Found::Removed => Read::Text(Cow::Borrowed("")),
                Found::Untouched => Read::Text(exchange.header_part(*slot).map_or(Cow::Borrowed(""), Cow::Owned)),
            },
            Source::MessageId => text(Some(Cow::Borrowed(exchange.message_id(scene)))),
            Source::MessageFormat => text(Some(Cow::Borrowed(message_format(exchange)))),
            Source::SystemDate => text(Some(Cow::Owned(date::format(scene.transport.now(), date::SHORT)))),
            Source::SystemTime => {
                let now = scene.transport.now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
                text(Some(Cow::Owned(now.as_millis().to_string())))
            }
            Source::Loaded(value) => Read::Text(Cow::Borrowed(value)),
            Source::Outside(outside, slot) => {
                let found = scene.bus.outside.get(&(*outside, *slot));
                found.map_or(Read::Nothing, |text| Read::Text(Cow::Borrowed(text)))
            }
        }
    }
}

/// Reads a parameter; of one that is an expression the text, and nothing where that fails, as in Synapse.
fn parameter<'a>(slot: Slot, exchange: &'a Exchange, scene: &'a Scene<'a>) -> Read<'a> {
    match exchange.argument(slot) {
        Some(Argument::Value(value)) => value.into(),
        Some(Argument::Later(expression)) => match expression.text(exchange, scene) {
            Ok(text) => text.map_or(Read::Nothing, Read::Text),
            Err(fault) => {
                tracing::warn!(target: "myelin::expression", "a parameter of a template has no value: {fault}");
                Read::Nothing
            }
        },
        None => Read::Nothing,
    }
}

/// Reads a property, or what the bus works out where nobody set it.
fn property<'a>(scope: Scope, slot: Slot, exchange: &'a Exchange, scene: &'a Scene<'a>) -> Read<'a> {
    let text = |text: Option<Cow<'a, str>>| text.map_or(Read::Nothing, Read::Text);
    match exchange.properties.find(scope, slot) {
        Found::Set(value) => value.into(),
        Found::Removed if scope == Scope::Default => text(entry(slot, scene)),
        Found::Removed => Read::Nothing,
        Found::Untouched if (scope, slot) == (Scope::Axis2, slot::NO_ENTITY_BODY) => match exchange.message.body {
            Body::Empty => Read::Boolean(true),
            _ => Read::Nothing,
        },
        // Axis2 looks among the options of its client, too.
        Found::Untouched if scope == Scope::Axis2 => match exchange.properties.get(Scope::Axis2Client, slot) {
            Some(value) => value.into(),
            None => text(exchange.transport_property(slot, scene)),
        },
        Found::Untouched if scope == Scope::Default => text(given(slot, exchange, scene)),
        Found::Untouched => Read::Nothing,
    }
}

impl<'a> From<&'a Value> for Read<'a> {
    fn from(value: &'a Value) -> Read<'a> {
        match value {
            Value::Xml(fragment) => Read::Xml(fragment),
            Value::List(list) => Read::List(list),
            Value::Text(text) => Read::Text(Cow::Borrowed(text)),
            Value::Boolean(boolean) => Read::Boolean(*boolean),
            // An integer stays text as long as it is only printed: `7` must not become `7.0`.
            other => Read::Text(other.text()),
        }
    }
}

/// Default properties that exist without anybody setting them.
fn given<'a>(slot: Slot, exchange: &'a Exchange, scene: &'a Scene<'a>) -> Option<Cow<'a, str>> {
    match slot {
        slot::PROXY_NAME => scene.service.proxy_name().map(Cow::Borrowed),
        slot::SERVER_HOST => Some(Cow::Borrowed(identity::host())),
        slot::TRANSPORT_IN_NAME => Some(Cow::Borrowed(if scene.arrival.secure { "https" } else { "http" })),
        slot::LAST_ENDPOINT => exchange.last_endpoint.as_ref().map(|endpoint| match &*endpoint.name {
            "" => Cow::Borrowed("AnonymousEndpoint"),
            name => Cow::Borrowed(name),
        }),
        slot::ENDPOINT_PREFIX => match &exchange.last_endpoint.as_ref()?.target {
            Target::Address { text, .. } => Some(Cow::Borrowed(text.as_str())),
            _ => None,
        },
        slot::SERVER_IP => Some(Cow::Owned(scene.arrival.local.ip().to_string())),
        slot::OPERATION_NAME => match &exchange.operation {
            Some(operation) => Some(Cow::Borrowed(operation.name())),
            None => scene.service.proxy_name().map(|_| Cow::Borrowed(ANY_OPERATION)),
        },
        slot::OPERATION_NAMESPACE => exchange.operation.as_ref().map(|operation| Cow::Borrowed(operation.namespace())),
        _ => entry(slot, scene),
    }
}

/// The text of the local entry with that key.
fn entry<'a>(slot: Slot, scene: &'a Scene<'a>) -> Option<Cow<'a, str>> {
    scene.bus.entries.get(&slot).map(|text| Cow::Borrowed(text.as_str()))
}

fn message_format(exchange: &Exchange) -> &'static str {
    use myelin_message::HeaderId;
    match Format::of(exchange.message.head.known(HeaderId::ContentType)) {
        Format::Soap11 => "soap11",
        Format::Soap12 => "soap12",
        Format::None if exchange.direction == Direction::Request && exchange.message.head.method() == "GET" => "get",
        _ => "pox",
    }
}

/// The first query parameter of that name, percent signs and pluses decoded.
fn query<'a>(exchange: &'a Exchange, name: &str) -> Option<Cow<'a, str>> {
    let (_, query) = exchange.message.head.target().split_once('?')?;
    query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(key, Plus::Blank) == name).then(|| decoded(value, Plus::Blank))
    })
}
