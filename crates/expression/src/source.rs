//! Where a variable or property is read from; settled when the configuration is loaded.

use std::borrow::Cow;

use myelin_content::{Format, Fragment};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::{Direction, Exchange};
use myelin_flow::property::{ExternalSource, Lookup, Names, Scope, Slot, Value, slot};
use myelin_flow::reference::{ANY_OPERATION, Operation};
use myelin_flow::template::Argument;
use myelin_java_text::date;
use myelin_java_text::percent::{Plus, decoded};
use myelin_message::Body;
use myelin_xpath::{Atomic, Item, NodeRef, Value as XPathValue};

use crate::deferred::expression_of;

/// What was read.
#[derive(Debug)]
pub enum SourceValue<'a> {
    /// Nobody set it; behaves as an empty node-set.
    Nothing,
    Text(Cow<'a, str>),
    Boolean(bool),
    Xml(&'a Fragment),
    List(&'a [Fragment]),
}

/// The scope an expression names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceScope {
    /// Scope `default`.
    Default,
    /// Scope `axis2`.
    Axis2,
    /// Scope `axis2-client`.
    Axis2Client,
    /// Scope `operation`.
    Operation,
    /// The variables (`$var`, `vars`).
    Variable,
    /// Header lines: scope `transport`.
    Transport,
    /// The environment of the bus: scope `system`.
    System,
    /// The parameters of the running template.
    Function,
    /// Outside the message: the registry, `file.properties`.
    External(ExternalSource),
}

impl<'a> SourceValue<'a> {
    /// The text that Synapse stores and prints; `None` for what is not set.
    pub fn text(self) -> Option<Cow<'a, str>> {
        match self {
            SourceValue::Nothing => None,
            SourceValue::Text(text) => Some(text),
            SourceValue::Boolean(boolean) => Some(Cow::Borrowed(if boolean { "true" } else { "false" })),
            SourceValue::Xml(fragment) => Some(Cow::Owned(fragment.text())),
            SourceValue::List(list) => Some(Cow::Owned(list.iter().map(Fragment::text).collect())),
        }
    }

    /// The value as a condition.
    pub fn boolean(&self) -> bool {
        match self {
            SourceValue::Nothing => false,
            SourceValue::Text(text) => !text.is_empty(),
            SourceValue::Boolean(boolean) => *boolean,
            SourceValue::Xml(_) | SourceValue::List(_) => true,
        }
    }
}

/// A place to read a value from.
#[derive(Debug)]
pub enum Source {
    /// A transport header's first value.
    Header(String),
    /// A query parameter, decoded.
    Query(String),
    /// A property somebody sets, or that the bus works out.
    Property(Scope, Slot),
    /// `To`, `Action` …
    Addressing(Slot),
    /// The identifier of the message.
    MessageId,
    /// `soap11`, `soap12`, `pox`, `get`.
    MessageFormat,
    /// The date, in a format.
    SystemDate,
    /// The time in milliseconds since 1970.
    SystemTime,
    /// A parameter of the running template.
    Parameter(Slot),
    /// An environment variable; an empty text for one that is not there, as in Synapse.
    Environment(String),
    /// A secret or an injected value, as it was when the configuration was loaded.
    Loaded(String),
    /// What was there when the configuration was loaded; nothing where it was not, as in Synapse.
    External(ExternalSource, Slot),
}

impl Source {
    /// The source of a property with a fixed name.
    pub fn property(base: SourceScope, name: &str, names: &mut Names) -> Source {
        let slot = match base {
            SourceScope::External(source) => names.external(source, name),
            _ => names.slot(name),
        };
        Source::resolve(base, name, Some(slot)).unwrap_or(Source::Property(Scope::Default, slot))
    }

    /// The source of a property; `None` where no such property can exist.
    fn resolve(base: SourceScope, name: &str, slot: Option<Slot>) -> Option<Source> {
        Some(match (base, name) {
            (SourceScope::Variable, _) => Source::Property(Scope::Variable, slot?),
            // Synapse gives the time whatever the scope.
            (_, "SYSTEM_DATE") => Source::SystemDate,
            (_, "SYSTEM_TIME") => Source::SystemTime,
            (SourceScope::Transport, _) => Source::Header(name.to_owned()),
            // A JVM reads its own system properties here; a native program has its environment.
            (SourceScope::System, _) => Source::Environment(name.to_owned()),
            (SourceScope::Axis2, _) => Source::Property(Scope::Axis2, slot?),
            (SourceScope::Axis2Client, _) => Source::Property(Scope::Axis2Client, slot?),
            (SourceScope::Function, _) => Source::Parameter(slot?),
            (SourceScope::External(source), _) => Source::External(source, slot?),
            (SourceScope::Operation, _) => Source::Property(Scope::Operation, slot?),
            (SourceScope::Default, "To" | "From" | "Action" | "FaultTo" | "ReplyTo" | "RelatesTo") => {
                Source::Addressing(slot?)
            }
            (SourceScope::Default, "MessageID") => Source::MessageId,
            (SourceScope::Default, "MESSAGE_FORMAT") => Source::MessageFormat,
            (SourceScope::Default, _) => Source::Property(Scope::Default, slot?),
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
    pub fn read_named<'a>(
        base: SourceScope,
        name: &str,
        exchange: &'a Exchange,
        context: &'a RequestContext<'a>,
    ) -> SourceValue<'a> {
        if let SourceScope::External(source) = base {
            let found = context.definitions.external_texts.find(source, name);
            return found.map_or(SourceValue::Nothing, |text| SourceValue::Text(Cow::Borrowed(text)));
        }
        match Source::resolve(base, name, exchange.properties.slot(name, &context.definitions.names)) {
            // The source is gone when this returns; what was read from it must not borrow from it.
            Some(Source::Header(name)) => {
                let value = exchange.message.head.first(&name).map(String::from_utf8_lossy);
                value.map_or(SourceValue::Nothing, SourceValue::Text)
            }
            Some(Source::Property(scope, slot)) => property(scope, slot, exchange, context),
            Some(Source::Parameter(slot)) => parameter(slot, exchange, context),
            Some(source) => match source.read(exchange, context) {
                SourceValue::Text(text) => SourceValue::Text(Cow::Owned(text.into_owned())),
                _ => SourceValue::Nothing,
            },
            None => SourceValue::Nothing,
        }
    }

    /// Whether it is a parameter of a template.
    pub(super) fn is_parameter(&self) -> bool {
        matches!(self, Source::Parameter(_))
    }

    /// Reads the value.
    pub fn read<'a>(&'a self, exchange: &'a Exchange, context: &'a RequestContext<'a>) -> SourceValue<'a> {
        let text = |text: Option<Cow<'a, str>>| text.map_or(SourceValue::Nothing, SourceValue::Text);
        match self {
            Source::Header(name) => text(exchange.message.head.first(name).map(String::from_utf8_lossy)),
            // Synapse gives an empty text for a parameter that is not there, and for an address nobody set.
            Source::Query(name) => SourceValue::Text(query(exchange, name).unwrap_or_default()),
            Source::Property(scope, slot) => property(*scope, *slot, exchange, context),
            Source::Parameter(slot) => parameter(*slot, exchange, context),
            Source::Addressing(slot::TO) => SourceValue::Text(exchange.to().unwrap_or_default()),
            Source::Addressing(slot::ACTION) => SourceValue::Text(exchange.action().unwrap_or_default()),
            Source::Addressing(slot) => match exchange.properties.find(Scope::Addressing, *slot) {
                Lookup::Set(value) => value.into(),
                Lookup::Removed => SourceValue::Text(Cow::Borrowed("")),
                Lookup::Untouched => {
                    SourceValue::Text(exchange.header_part(*slot).map_or(Cow::Borrowed(""), Cow::Owned))
                }
            },
            Source::MessageId => text(Some(Cow::Borrowed(exchange.message_id()))),
            Source::MessageFormat => text(Some(Cow::Borrowed(message_format(exchange)))),
            Source::SystemDate => text(Some(Cow::Owned(date::format(context.transport.now(), date::SHORT)))),
            Source::SystemTime => {
                let now = context.transport.now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
                text(Some(Cow::Owned(now.as_millis().to_string())))
            }
            Source::Environment(name) => {
                let value = context.definitions.settings.environment.variable(name);
                SourceValue::Text(Cow::Borrowed(value.unwrap_or_default()))
            }
            Source::Loaded(value) => SourceValue::Text(Cow::Borrowed(value)),
            Source::External(source, slot) => {
                let found = context.definitions.external.get(&(*source, *slot));
                found.map_or(SourceValue::Nothing, |text| SourceValue::Text(Cow::Borrowed(text)))
            }
        }
    }
}

/// Reads a parameter; of one that is an expression the text, and nothing where that fails, as in Synapse.
fn parameter<'a>(slot: Slot, exchange: &'a Exchange, context: &'a RequestContext<'a>) -> SourceValue<'a> {
    match exchange.argument(slot) {
        Some(Argument::Value(value)) => value.into(),
        argument @ Some(Argument::Deferred(_)) => {
            match expression_of(argument).map_or(Ok(None), |it| it.text(exchange, context)) {
                Ok(text) => text.map_or(SourceValue::Nothing, SourceValue::Text),
                Err(fault) => {
                    tracing::warn!(target: "myelin::expression", "a parameter of a template has no value: {fault}");
                    SourceValue::Nothing
                }
            }
        }
        None => SourceValue::Nothing,
    }
}

/// Reads a property, or what the bus works out where nobody set it.
fn property<'a>(scope: Scope, slot: Slot, exchange: &'a Exchange, context: &'a RequestContext<'a>) -> SourceValue<'a> {
    let text = |text: Option<Cow<'a, str>>| text.map_or(SourceValue::Nothing, SourceValue::Text);
    match exchange.properties.find(scope, slot) {
        Lookup::Set(value) => value.into(),
        Lookup::Removed if scope == Scope::Default => text(entry(slot, context)),
        Lookup::Removed => SourceValue::Nothing,
        Lookup::Untouched if (scope, slot) == (Scope::Axis2, slot::NO_ENTITY_BODY) => match exchange.message.body {
            Body::Empty => SourceValue::Boolean(true),
            _ => SourceValue::Nothing,
        },
        // Axis2 looks among the options of its client, too.
        Lookup::Untouched if scope == Scope::Axis2 => match exchange.properties.get(Scope::Axis2Client, slot) {
            Some(value) => value.into(),
            None => text(exchange.transport_property(slot, context)),
        },
        Lookup::Untouched if scope == Scope::Default => text(given(slot, exchange, context)),
        Lookup::Untouched => SourceValue::Nothing,
    }
}

impl<'a> From<&'a Value> for SourceValue<'a> {
    fn from(value: &'a Value) -> SourceValue<'a> {
        match value {
            Value::Xml(fragment) => SourceValue::Xml(fragment),
            Value::List(list) => SourceValue::List(list),
            Value::Text(text) => SourceValue::Text(Cow::Borrowed(text)),
            Value::Boolean(boolean) => SourceValue::Boolean(*boolean),
            // An integer stays text as long as it is only printed: `7` must not become `7.0`.
            other => SourceValue::Text(other.text()),
        }
    }
}

/// As a value of XPath: what is not set is an empty node-set.
impl<'a> From<SourceValue<'a>> for XPathValue<'a> {
    fn from(read: SourceValue<'a>) -> XPathValue<'a> {
        let atomic = match read {
            SourceValue::Nothing => return XPathValue::EMPTY,
            SourceValue::Xml(fragment) => return XPathValue::node(&fragment.document, fragment.node),
            SourceValue::List(list) => {
                let nodes = list.iter().map(|fragment| Item::Node(NodeRef::new(&fragment.document, fragment.node)));
                return XPathValue::from_items(nodes.collect());
            }
            SourceValue::Text(Cow::Borrowed(text)) => Atomic::from(text),
            SourceValue::Text(Cow::Owned(text)) => Atomic::from(text),
            SourceValue::Boolean(boolean) => Atomic::Boolean(boolean),
        };
        XPathValue::Item(Item::Atomic(atomic))
    }
}

/// Default properties that exist without anybody setting them.
fn given<'a>(slot: Slot, exchange: &'a Exchange, context: &'a RequestContext<'a>) -> Option<Cow<'a, str>> {
    match slot {
        slot::PROXY_NAME => context.service.proxy_name().map(Cow::Borrowed),
        slot::SERVER_HOST => Some(Cow::Borrowed(context.definitions.settings.environment.host_name())),
        slot::TRANSPORT_IN_NAME => Some(Cow::Borrowed(context.arrival.transport)),
        slot::LAST_ENDPOINT => exchange.last_endpoint.as_ref().map(|endpoint| match endpoint.name() {
            "" => Cow::Borrowed("AnonymousEndpoint"),
            name => Cow::Borrowed(name),
        }),
        slot::ENDPOINT_PREFIX => exchange.last_endpoint.as_ref()?.prefix().map(Cow::Borrowed),
        slot::SERVER_IP => context.arrival.local.map(|local| Cow::Owned(local.ip().to_string())),
        slot::OPERATION_NAME => match exchange.extensions.get::<Operation>() {
            Some(operation) => Some(Cow::Borrowed(operation.name.as_str())),
            None => context.service.proxy_name().map(|_| Cow::Borrowed(ANY_OPERATION)),
        },
        slot::OPERATION_NAMESPACE => {
            exchange.extensions.get::<Operation>().map(|operation| Cow::Borrowed(operation.namespace.as_str()))
        }
        _ => entry(slot, context),
    }
}

/// The text of the local entry with that key.
fn entry<'a>(slot: Slot, context: &'a RequestContext<'a>) -> Option<Cow<'a, str>> {
    context.definitions.entries.get(&slot).map(|text| Cow::Borrowed(text.as_str()))
}

fn message_format(exchange: &Exchange) -> &'static str {
    use myelin_message::HeaderId;
    match Format::of(exchange.message.head.known(HeaderId::ContentType)) {
        Format::Soap11 => "soap11",
        Format::Soap12 => "soap12",
        Format::None if exchange.direction == Direction::Request && exchange.message.head.has_method("GET") => "get",
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
