//! `<property>`: sets or removes a property of the exchange, or an HTTP header.

use std::sync::Arc;

use myelin_message::HeaderId;

use crate::config::{Element, Loader, Problem, Text};
use crate::content::Need;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::fault::{Fault, Outcome};
use crate::mediator::{Built, Flow, Immediate, Spec, once_ready};
use crate::pattern::Pattern;
use crate::property::{Fragment, Scope, Slot, Value, slot};

pub(super) const SPEC: Spec = Spec { element: "property", doc: DOC, build };

const DOC: &str = r#"
Sets or removes a property.

- `name` (required), `value` or `expression`: what to set; an expression that finds nothing leaves the property as it was,
  and removes an HTTP header.
- `scope`: `default` (kept for the whole exchange), `operation` (the same, apart from the default ones),
  `axis2` and `axis2-client` (of the current message, gone when the response comes), `transport` (HTTP headers).
- `type`: `STRING` (default), `BOOLEAN`, `INTEGER`, `LONG`, `SHORT`, `FLOAT`, `DOUBLE`;
  `OM`, a copy of the first element the expression finds, or text that is XML; `JSON`, text that is JSON.
- an element inside instead of `value` and `expression`: the property holds that element.
- `pattern` and `group`: the group of the regular expression that matches the whole value; empty where it does not match.
- `action`: `set` (default) or `remove`.

Some properties steer the bus.
Scope `axis2`: `HTTP_METHOD`, `HTTP_SC`, `HTTP_SC_DESC`, `HTTP_REASON_PHRASE`, `REST_URL_POSTFIX`, `NO_ENTITY_BODY`,
`FORCE_SC_ACCEPTED`, `REQUEST_HOST_HEADER`, `ContentType`, `DISABLE_CHUNKING`, `FORCE_HTTP_CONTENT_LENGTH`,
`TRANSPORT_HEADERS` (to be removed).
Scope `default`: `OUT_ONLY`, `RESPONSE`.
The bus itself sets `ERROR_CODE`, `ERROR_MESSAGE`, `ERROR_DETAIL` and `ERROR_EXCEPTION` before a fault sequence runs.

    <property name="symbol" expression="$url:symbol"/>
    <property name="HTTP_METHOD" value="GET" scope="axis2"/>
    <property name="X-Count" value="3" type="INTEGER" scope="transport"/>
    <property name="number" expression="$trp:X-Order" pattern="order-([0-9]+)" group="1"/>
    <property name="TRANSPORT_HEADERS" scope="axis2" action="remove"/>

    <property name="order" expression="//*[local-name() = 'order'][1]" type="OM"/>
    <property name="price" expression="$ctx:order/price"/>
    <property name="empty">
        <order xmlns=""/>
    </property>
"#;

/// Properties whose effect is known and not offered yet.
const EFFECT_LATER: &[&str] = &[
    "CHARACTER_SET_ENCODING",
    "DISCARD_ON_COMPLETE",
    "EXCESS_TRANSPORT_HEADERS",
    "FAULTS_AS_HTTP_200",
    "FORCE_ERROR_ON_SOAP_FAULT",
    "FORCE_HTTP_1.0",
    "FORCE_POST_PUT_NOBODY",
    "FORCE_SOAP_FAULT",
    "FULL_URI",
    "HTTP_ETAG",
    "IGNORE_SC_ACCEPTED",
    "NO_KEEPALIVE",
    "POST_TO_URI",
    "PRESERVE_WS_ADDRESSING",
    "RETRY_ON_SOAPFAULT",
    "SC_ACCEPTED",
    "enableMTOM",
    "enableSwA",
    "force.passthrough.builder",
    "non.error.http.status.codes",
    "preserveProcessedHeaders",
    "setCharacterEncoding",
];

struct Property {
    target: Target,
    /// `None` removes it.
    setting: Option<Setting>,
}

enum Target {
    Property(Scope, Slot),
    Header(String),
}

enum Setting {
    Fixed(Value),
    Computed { expression: Expression, kind: Kind, extract: Option<(Pattern, usize)> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Boolean,
    Integer,
    Long,
    Short,
    Float,
    Double,
    Xml,
    Json,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let name = element.required("name")?;
    if name.value.starts_with('{') {
        return Err(name.problem("a name that is worked out is not offered yet"));
    }
    let scope = match element.attribute("scope").map_or("default", |scope| scope.value) {
        "default" | "synapse" | "" => Scope::Default,
        "axis2" => Scope::Axis2,
        "axis2-client" => Scope::Axis2Client,
        "operation" => Scope::Operation,
        "transport" => return header(element, name, loader),
        other @ ("registry" | "func" | "system" | "env" | "file" | "trace" | "analytics") => {
            return Err(element.problem(format!("<property>: scope {other:?} is not offered yet")));
        }
        other => return Err(element.problem(format!("<property>: scope {other:?} is unknown"))),
    };
    let slot = loader.names().slot(name.value);
    let setting = setting(element, loader)?;
    let need = Need::of(setting.as_ref().and_then(Setting::expression));
    if setting.is_some() && scope == Scope::Axis2 && slot == slot::MESSAGE_TYPE {
        return Err(name.problem("messageType: converting messages is not offered yet"));
    }
    if setting.is_some() && EFFECT_LATER.contains(&name.value) {
        loader.warning(name.problem(format!("{} has no effect yet; it can be read again", name.value)));
    }
    if let (Some(Setting::Fixed(value)), Scope::Axis2) = (&setting, scope) {
        check_constant(slot, name, value)?;
    }
    once_ready(need, Property { target: Target::Property(scope, slot), setting })
}

/// Tells when loading what would be a fault each time.
fn check_constant(slot: Slot, name: Text<'_>, value: &Value) -> Result<(), Problem> {
    let text = value.text();
    let sound = match slot {
        slot::HTTP_SC => text.trim().parse::<u16>().is_ok_and(|code| (200..=999).contains(&code)),
        slot::HTTP_METHOD => myelin_message::is_token(text.as_bytes()),
        slot::CONTENT_TYPE | slot::REQUEST_HOST_HEADER | slot::HTTP_SC_DESC | slot::HTTP_REASON_PHRASE => {
            myelin_message::is_value(text.as_bytes())
        }
        _ => true,
    };
    if sound { Ok(()) } else { Err(name.problem(format!("{} cannot be {text:?}", name.value))) }
}

fn header(element: &Element, name: Text<'_>, loader: &mut Loader) -> Built {
    if !myelin_message::is_token(name.value.as_bytes()) {
        return Err(name.problem(format!("{:?} cannot be the name of an HTTP header", name.value)));
    }
    let setting = setting(element, loader)?;
    if let Some(Setting::Fixed(value)) = &setting
        && !myelin_message::is_value(value.text().as_bytes())
    {
        return Err(element.problem(format!("no HTTP header can hold {:?}", value.text())));
    }
    let need = Need::of(setting.as_ref().and_then(Setting::expression));
    once_ready(need, Property { target: Target::Header(name.value.to_owned()), setting })
}

/// What to set, or `None` to remove.
fn setting(element: &Element, loader: &mut Loader) -> Result<Option<Setting>, Problem> {
    match element.attribute("action").map_or("set", |action| action.value) {
        "set" => {}
        "remove" => {
            element.forgive();
            return Ok(None);
        }
        other => return Err(element.problem(format!("<property>: action {other:?} is neither set nor remove"))),
    }
    let kind = kind(element)?;
    let extract = extract(element)?;
    let wanted = if kind == Kind::Xml { Wanted::Nodes } else { Wanted::Text };
    match super::setting::Setting::read_as(element, wanted, loader)? {
        Some(super::setting::Setting::Fixed(text)) => {
            let text = match &extract {
                Some((pattern, group)) => pattern.group(&text, *group).unwrap_or_default().to_owned(),
                None => text,
            };
            let value = kind.value(&text).ok_or_else(|| element.problem(format!("{text:?} is no {}", kind.word())))?;
            Ok(Some(Setting::Fixed(value)))
        }
        Some(super::setting::Setting::Computed(expression)) => {
            Ok(Some(Setting::Computed { expression, kind, extract }))
        }
        None => match element.children.iter().find(|child| !child.is("description")) {
            Some(child) => Ok(Some(Setting::Fixed(Value::Xml(child.fragment())))),
            None => Err(element.problem("<property> needs value, expression or an element inside")),
        },
    }
}

fn extract(element: &Element) -> Result<Option<(Pattern, usize)>, Problem> {
    let group = element.attribute("group");
    let Some(pattern) = element.attribute("pattern") else { return Ok(None) };
    let compiled = Pattern::compile(pattern.value).map_err(|message| pattern.problem(message))?;
    let number = match group {
        Some(group) => group.value.trim().parse().map_err(|_| group.problem("group is no number"))?,
        None => 0,
    };
    if number > compiled.groups() {
        return Err(pattern.problem(format!("the pattern has {} groups, not {number}", compiled.groups())));
    }
    Ok(Some((compiled, number)))
}

/// The words of the attribute `type`.
const KINDS: [(Kind, &str); 9] = [
    (Kind::Text, "STRING"),
    (Kind::Boolean, "BOOLEAN"),
    (Kind::Integer, "INTEGER"),
    (Kind::Long, "LONG"),
    (Kind::Short, "SHORT"),
    (Kind::Float, "FLOAT"),
    (Kind::Double, "DOUBLE"),
    (Kind::Xml, "OM"),
    (Kind::Json, "JSON"),
];

fn kind(element: &Element) -> Result<Kind, Problem> {
    let Some(text) = element.attribute("type").filter(|text| !text.value.is_empty()) else { return Ok(Kind::Text) };
    let known = KINDS.iter().find(|(_, word)| *word == text.value);
    known.map(|(kind, _)| *kind).ok_or_else(|| text.problem(format!("type {:?} is unknown", text.value)))
}

impl Kind {
    fn word(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }

    /// The value a text stands for; `None` where it stands for none of this kind.
    fn value(self, text: &str) -> Option<Value> {
        let integer = |number: Option<i64>| number.map(Value::Integer);
        match self {
            Kind::Text => Some(Value::Text(Arc::from(text))),
            // What is not explicitly true is false.
            Kind::Boolean => {
                Some(Value::Boolean(["true", "yes", "1"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))))
            }
            Kind::Integer => integer(text.parse::<i32>().ok().map(i64::from)),
            Kind::Long => integer(text.parse().ok()),
            Kind::Short => integer(text.parse::<i16>().ok().map(i64::from)),
            Kind::Float => text.trim().parse().ok().map(Value::Float),
            Kind::Double => text.trim().parse().ok().map(Value::Double),
            Kind::Xml => Fragment::parse(text).map(Value::Xml),
            Kind::Json => {
                let value = myelin_json::Value::parse(text.into(), &myelin_json::Options::default());
                value.is_ok().then(|| Value::Text(Arc::from(text)))
            }
        }
    }
}

impl Setting {
    fn expression(&self) -> Option<&Expression> {
        match self {
            Setting::Fixed(_) => None,
            Setting::Computed { expression, .. } => Some(expression),
        }
    }

    /// The value, or `None` where the expression finds nothing that is set.
    fn value(&self, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Option<Value>> {
        let (expression, kind, extract) = match self {
            Setting::Fixed(value) => return Ok(Some(value.clone())),
            Setting::Computed { expression, kind, extract } => (expression, kind, extract),
        };
        if *kind == Kind::Xml
            && let Some(fragment) = expression.fragment(exchange, scene)?
        {
            return Ok(Some(Value::Xml(fragment)));
        }
        let Some(text) = expression.text(exchange, scene)? else { return Ok(None) };
        if *kind == Kind::Xml && text.is_empty() {
            return Ok(None);
        }
        let part = match extract {
            Some((pattern, group)) => pattern.group(&text, *group).unwrap_or_default(),
            None => &text,
        };
        match kind.value(part) {
            Some(value) => Ok(Some(value)),
            None => Err(Fault::bus(format!("A property of type {} got a value of another kind", kind.word()))
                .with_detail(format!("{part:?} is no {}", kind.word()))),
        }
    }
}

impl Immediate for Property {
    fn mediate(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
        let value = match &self.setting {
            Some(setting) => setting.value(exchange, scene)?,
            None => None,
        };
        match (&self.target, value) {
            (Target::Header(name), Some(value)) => {
                exchange.message.head.set(name, value.text().as_bytes())?;
            }
            (Target::Header(name), None) => {
                exchange.message.head.remove(name);
            }
            (Target::Property(scope, slot), Some(value)) => {
                exchange.properties.check_room(&value)?;
                exchange.properties.put(*scope, *slot, Some(value));
            }
            // An expression that finds nothing changes nothing.
            (Target::Property(..), None) if self.setting.is_some() => {}
            (Target::Property(Scope::Axis2, slot::TRANSPORT_HEADERS), None) => {
                // The content type belongs to the body, which stays; Synapse writes it anew.
                exchange.message.head.remove_if(|id, _| id != HeaderId::ContentType);
            }
            (Target::Property(scope, slot), None) => exchange.properties.put(*scope, *slot, None),
        }
        Ok(Flow::Next)
    }
}
