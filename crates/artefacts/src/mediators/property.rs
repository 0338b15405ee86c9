//! `<property>`: sets or removes a property of the exchange, or an HTTP header.

mod value;

use std::borrow::Cow;

use crate::mediators::property::value::PropertyValue;
use myelin_message::HeaderId;

use crate::loader::Loader;
use crate::mediators::header::put_header;
use crate::spec::{Built, Spec, at_once, once_ready};
use crate::values::embedded_expression;
use crate::words::unknown_word;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_expression::Expression;
use myelin_expression::Immediate;
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::Flow;
use myelin_flow::property::{Scope, Slot, Value, remark, slot};

pub(super) const SPEC: Spec = Spec::new("property", DOC, build);

const DOC: &str = r#"
Sets or removes a property.

- `name` (required): an expression in braces is worked out.
- `value` or `expression`: what to set; an expression that finds nothing leaves the property as it was, and removes an
  HTTP header.
- `scope`: `default` (kept for the whole exchange), `operation` (the same, apart from the default ones),
  `axis2` and `axis2-client` (of the current message, gone when the response comes), `transport` (HTTP headers).
  `registry`, `env` and `file` can be read by `get-property` and not be written: a configuration never changes while it
  serves. `system`, `trace` and `analytics` have no effect.
- `type`: `STRING` (default), `BOOLEAN`, `INTEGER`, `LONG`, `SHORT`, `FLOAT`, `DOUBLE`;
  `OM`, a copy of the first element the expression finds, or text that is XML; `JSON`, text that is JSON.
  A word without quotes is a text in JSON, too, as in Synapse.
- an element inside instead of `value` and `expression`: the property holds that element.
- `pattern` and `group`: the group of the regular expression that matches the whole value; empty where it does not match.
- `action`: `set` (default) or `remove`.

Some properties steer the bus, and some it sets itself: see [properties.md](properties.md).
A header that a property sets, and what is set in scope `axis2`, belongs to the current message.

    <property name="symbol" expression="$url:symbol"/>
    <property name="HTTP_METHOD" value="GET" scope="axis2"/>
    <property name="X-Count" value="3" type="INTEGER" scope="transport"/>
    <property name="{concat('price-of-', $ctx:symbol)}" value="42.5" type="DOUBLE"/>
    <property name="number" expression="$trp:X-Order" pattern="order-([0-9]+)" group="1"/>
    <property name="TRANSPORT_HEADERS" scope="axis2" action="remove"/>

    <property name="order" expression="//*[local-name() = 'order'][1]" type="OM"/>
    <property name="price" expression="$ctx:order/price"/>
    <property name="empty">
        <order xmlns=""/>
    </property>
"#;

struct Property {
    target: Target,
    /// `None` removes it.
    setting: Option<PropertyValue>,
}

enum Target {
    Property(Scope, Slot),
    Header(String),
    /// A property in that scope, or without one a header, whose name is worked out.
    WorkedOut(Option<Scope>, Expression),
}

/// Where a scope keeps what is set.
enum Place {
    Properties(Scope),
    Headers,
    Nowhere,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let name = element.required("name")?;
    let place = place(element, loader)?;
    let worked_out = embedded_expression(name, loader)?;
    let setting = value::read(element, loader)?;
    let fixed = match &setting {
        Some(PropertyValue::Fixed(value)) => Some(value),
        _ => None,
    };
    if let (Place::Headers, Some(value)) = (&place, fixed)
        && !myelin_message::is_value(value.text().as_bytes())
    {
        return Err(element.problem(format!("no HTTP header can hold {:?}", value.text())));
    }
    let target = match (place, worked_out) {
        (Place::Nowhere, _) => return at_once(Nothing),
        (Place::Properties(scope), Some(expression)) => Target::WorkedOut(Some(scope), expression),
        (Place::Headers, Some(expression)) => Target::WorkedOut(None, expression),
        (Place::Properties(scope), None) => {
            let slot = loader.names().slot(name.value);
            if let (Some(_), Some(remark)) = (&setting, remark(name.value, scope.word())) {
                loader.warning(name.problem(remark));
            }
            if let (Some(value), Scope::Axis2) = (fixed, scope) {
                check_constant(slot, name, value)?;
            }
            Target::Property(scope, slot)
        }
        (Place::Headers, None) if myelin_message::is_token(name.value.as_bytes()) => {
            Target::Header(name.value.to_owned())
        }
        (Place::Headers, None) => {
            return Err(name.problem(format!("{:?} cannot be the name of an HTTP header", name.value)));
        }
    };
    let need = Need::of(setting.as_ref().and_then(PropertyValue::expression));
    let need = if let Target::WorkedOut(_, expression) = &target { need.and(expression) } else { need };
    once_ready(need, Property { target, setting })
}

fn place(element: &Element, loader: &mut Loader) -> Result<Place, Problem> {
    let Some(scope) = element.attribute("scope") else { return Ok(Place::Properties(Scope::Default)) };
    Ok(match scope.value {
        "default" | "synapse" | "" => Place::Properties(Scope::Default),
        "axis2" => Place::Properties(Scope::Axis2),
        "axis2-client" => Place::Properties(Scope::Axis2Client),
        "operation" => Place::Properties(Scope::Operation),
        "transport" => Place::Headers,
        word @ ("trace" | "analytics") => {
            loader.warning(scope.problem(format!("scope {word:?} has no effect: nobody reads it in this bus")));
            Place::Nowhere
        }
        // Synapse takes the word and does nothing.
        "system" => {
            loader.warning(scope.problem("scope \"system\" has no effect: it can be read and not be written"));
            Place::Nowhere
        }
        word @ ("registry" | "env" | "file") => {
            let message = "can be read and not be written: a configuration never changes while it serves";
            return Err(scope.problem(format!("<property>: scope {word:?} {message}")));
        }
        "func" => return Err(scope.problem("<property>: parameters of a template are set by <call-template>")),
        other => {
            let known = ["default", "operation", "axis2", "axis2-client", "transport"];
            return Err(scope.problem(format!("<property>: {}", unknown_word("scope", other, &known))));
        }
    })
}

/// Tells when loading what would be a fault each time.
fn check_constant(slot: Slot, name: Text<'_>, value: &Value) -> Result<(), Problem> {
    let text = value.text();
    let sound = match slot {
        slot::HTTP_SC => text.trim().parse::<u16>().is_ok_and(|code| (200..=999).contains(&code)),
        slot::HTTP_METHOD => myelin_message::is_token(text.as_bytes()),
        slot::MESSAGE_TYPE
        | slot::CONTENT_TYPE
        | slot::REQUEST_HOST_HEADER
        | slot::HTTP_SC_DESC
        | slot::HTTP_REASON_PHRASE => myelin_message::is_value(text.as_bytes()),
        _ => true,
    };
    if sound { Ok(()) } else { Err(name.problem(format!("{} cannot be {text:?}", name.value))) }
}

impl Immediate for Property {
    fn mediate(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        let value = match &self.setting {
            Some(setting) => setting.value(exchange, context)?,
            None => None,
        };
        match &self.target {
            Target::Header(name) => put_header(exchange, name, text(&value).as_deref())?,
            Target::Property(scope, slot) => self.put_property(exchange, *scope, *slot, value)?,
            Target::WorkedOut(scope, expression) => {
                let name = expression.text(exchange, context)?.unwrap_or_default().into_owned();
                match scope {
                    _ if name.is_empty() => tracing::warn!(target: "myelin::property", "a name worked out is empty"),
                    None => put_header(exchange, &name, text(&value).as_deref())?,
                    Some(scope) => {
                        let slot = exchange.properties.slot_to_set(&name, &context.definitions.names)?;
                        self.put_property(exchange, *scope, slot, value)?;
                    }
                }
            }
        }
        Ok(Flow::Next)
    }
}

impl Property {
    fn put_property(&self, exchange: &mut Exchange, scope: Scope, slot: Slot, value: Option<Value>) -> Outcome<()> {
        match value {
            Some(value) if (scope, slot) == (Scope::Axis2, slot::MESSAGE_TYPE) => exchange.set_message_type(value)?,
            Some(value) => {
                exchange.properties.check_room(&value)?;
                exchange.properties.put(scope, slot, Some(value));
            }
            // An expression that finds nothing changes nothing.
            None if self.setting.is_some() => {}
            None if (scope, slot) == (Scope::Axis2, slot::TRANSPORT_HEADERS) => {
                // The content type belongs to the body, which stays; Synapse writes it anew.
                exchange.message.head.remove_if(|id, _| id != HeaderId::ContentType);
            }
            None if (scope, slot) == (Scope::Axis2, slot::EXCESS_TRANSPORT_HEADERS) => {
                exchange.message.head.keep_first_lines();
            }
            None => exchange.properties.put(scope, slot, None),
        }
        Ok(())
    }
}

/// A value as a header holds it.
fn text(value: &Option<Value>) -> Option<Cow<'_, str>> {
    value.as_ref().map(Value::text)
}

/// What a property is that nobody reads.
struct Nothing;

impl Immediate for Nothing {
    fn mediate(&self, _: &mut Exchange, _: &RequestContext<'_>) -> Outcome<Flow> {
        Ok(Flow::Next)
    }
}
