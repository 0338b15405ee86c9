//! What a script is told of the message.

use std::borrow::Cow;

use myelin_script::{Facts, Header, Known, Scope as Named, Value as Told};
use myelin_soap::Version;

use crate::mediators::script::Scripting;
use myelin_content::text_of;
use myelin_content::{Format, Fragment};
use myelin_expression::{Source, SourceScope};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::property::{Lookup, Scope, Value};

/// How much a script has to read.
pub(super) fn bytes(facts: &Facts) -> usize {
    [&facts.json, &facts.xml, &facts.envelope].into_iter().flatten().map(String::len).sum()
}

/// The scope of properties that a word of scripts means; `None` for headers.
pub(super) fn scope(named: Named) -> Option<Scope> {
    match named {
        Named::Default => Some(Scope::Default),
        Named::Axis2 => Some(Scope::Axis2),
        Named::Operation => Some(Scope::Operation),
        Named::Variable => Some(Scope::Variable),
        Named::Transport => None,
    }
}

impl Scripting {
    /// What the script may read of a message whose body is as it needs it.
    pub(super) fn facts(&self, asked: &[Known], exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Facts> {
        let script = &self.script;
        let mut facts = Facts { is_response: exchange.is_response(), ..Facts::default() };
        // As in WSO2, XML is no JSON to a script, and JSON is XML.
        if script.reads_json() && exchange.content.format == Format::Json {
            facts.json = exchange.json()?.map(|json| json.text().into_owned());
        }
        if script.reads_xml() || script.reads_envelope() || script.reads_headers() && exchange.content.format.is_xml() {
            let tree = exchange.tree()?;
            let (document, envelope) = (tree.document(), tree.envelope());
            let payload = envelope.payload(document).filter(|_| script.reads_xml());
            facts.xml = payload.map(|payload| text_of(document, payload));
            let whole = script.reads_envelope() && !tree.is_empty();
            facts.envelope = whole.then(|| text_of(document, envelope.element));
            facts.is_soap11 = envelope.version == Version::Soap11;
        }
        if script.reads_headers() {
            facts.headers = headers(exchange, context);
        }
        facts.properties = asked.iter().map(|known| (known.clone(), property(known, exchange, context))).collect();
        Ok(facts)
    }
}

fn headers(exchange: &Exchange, context: &RequestContext<'_>) -> Vec<(Header, String)> {
    let parts = [
        (Header::To, "To"),
        (Header::From, "From"),
        (Header::ReplyTo, "ReplyTo"),
        (Header::FaultTo, "FaultTo"),
        (Header::Action, "Action"),
        (Header::MessageId, "MessageID"),
    ];
    let read = |name| Source::read_named(SourceScope::Default, name, exchange, context).text().map(Cow::into_owned);
    parts.into_iter().filter_map(|(header, name)| Some((header, read(name)?))).collect()
}

/// The value of a property, with its type; `None` where it is not set.
fn property(known: &Known, exchange: &Exchange, context: &RequestContext<'_>) -> Option<Told> {
    let slot = exchange.properties.slot(&known.name, &context.definitions.names);
    if let (Some(scope), Some(slot)) = (scope(known.scope), slot)
        && let Lookup::Set(value) = exchange.properties.find(scope, slot)
    {
        return Some(told(value));
    }
    let base = match known.scope {
        Named::Default => SourceScope::Default,
        Named::Axis2 => SourceScope::Axis2,
        Named::Operation => SourceScope::Operation,
        Named::Transport => SourceScope::Transport,
        Named::Variable => return None,
    };
    let text = Source::read_named(base, &known.name, exchange, context).text()?;
    Some(Told::Text(text.into_owned()))
}

fn told(value: &Value) -> Told {
    match value {
        Value::Xml(fragment) => Told::Xml(text_of(&fragment.document, fragment.node)),
        Value::List(list) => match &**list {
            [one] => Told::Xml(text_of(&one.document, one.node)),
            several => Told::Text(several.iter().map(Fragment::text).collect()),
        },
        Value::Json(_) => Told::Json(value.text().into_owned()),
        Value::Text(text) => Told::Text(text.to_string()),
        Value::Boolean(boolean) => Told::Boolean(*boolean),
        Value::Integer(number) => Told::Integer(*number),
        Value::Float(number) => Told::Double(f64::from(*number)),
        Value::Double(number) => Told::Double(*number),
    }
}
