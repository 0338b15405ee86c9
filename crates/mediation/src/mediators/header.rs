//! `<header>`: sets or removes a header of the message.

use super::setting::Setting;
use crate::config::{Element, Loader};
use crate::exchange::{Exchange, Scene};
use crate::fault::Outcome;
use crate::mediator::{Built, Flow, Immediate, Spec, at_once};
use crate::property::{Scope, Slot, Value, slot};

pub(super) const SPEC: Spec = Spec { element: "header", doc: DOC, build };

const DOC: &str = r#"
Sets or removes a header.

- `name` (required); with `scope="transport"` an HTTP header, else `To`, `Action`, `From`, `ReplyTo`, `FaultTo` or `RelatesTo`.
  `To` is where a `send` without an endpoint goes; `Action` leaves as `SOAPAction`, or as the `action` of SOAP 1.2's content type.
  The others can be read again by `get-property`.
- `value` or `expression`: what to set; an HTTP header is removed where the expression finds nothing.
- `action`: `set` (default) or `remove`.

Headers of the SOAP envelope need the body and are not offered yet.

    <header name="X-Tenant" value="gold" scope="transport"/>
    <header name="Authorization" scope="transport" action="remove"/>

    <header name="To" action="remove"/>
    <property name="RESPONSE" value="true"/>
    <send/>
"#;

struct Header {
    target: Target,
    /// `None` removes it.
    setting: Option<Setting>,
}

enum Target {
    Transport(String),
    Addressing(Slot),
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    if let Some(child) = element.children.first() {
        return Err(child.problem("<header> with an element inside needs the body: not offered yet"));
    }
    let name = element.required("name")?;
    let scope = element.attribute("scope");
    let target = match scope.map_or("default", |scope| scope.value) {
        "transport" => {
            if !myelin_message::is_token(name.value.as_bytes()) {
                return Err(name.problem(format!("{:?} cannot be the name of an HTTP header", name.value)));
            }
            Target::Transport(name.value.to_owned())
        }
        "default" => Target::Addressing(match name.value {
            "To" => slot::TO,
            "Action" => slot::ACTION,
            "From" => slot::FROM,
            "ReplyTo" => slot::REPLY_TO,
            "FaultTo" => slot::FAULT_TO,
            "RelatesTo" => slot::RELATES_TO,
            other => return Err(name.problem(format!("SOAP header {other:?} needs the body: not offered yet"))),
        }),
        other => return Err(element.problem(format!("<header>: scope {other:?} is neither default nor transport"))),
    };
    if let Target::Addressing(slot) = target
        && !matches!(slot, slot::TO | slot::ACTION)
    {
        let message = format!("{} is not written to the message: WS-Addressing is not offered yet", name.value);
        loader.warning(name.problem(message));
    }
    let setting = match element.attribute("action").map_or("set", |action| action.value) {
        "set" => match Setting::read(element, loader)? {
            Some(setting) => Some(setting),
            None => return Err(element.problem("<header> needs value or expression")),
        },
        "remove" => {
            element.forgive();
            None
        }
        other => return Err(element.problem(format!("<header>: action {other:?} is neither set nor remove"))),
    };
    at_once(Header { target, setting })
}

impl Immediate for Header {
    fn mediate(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
        let text = match &self.setting {
            Some(Setting::Fixed(text)) => Some(std::borrow::Cow::Borrowed(text.as_str())),
            Some(setting) => setting.text(exchange, scene).map(|text| text.into_owned().into()),
            None => None,
        };
        match (&self.target, text) {
            (Target::Transport(name), Some(text)) => exchange.message.head.set(name, text.as_bytes())?,
            (Target::Transport(name), None) => {
                exchange.message.head.remove(name);
            }
            (Target::Addressing(slot), Some(text)) => {
                exchange.properties.put(Scope::Addressing, *slot, Some(Value::Text(text.as_ref().into())));
            }
            (Target::Addressing(slot), None) => exchange.properties.put(Scope::Addressing, *slot, None),
        }
        Ok(Flow::Next)
    }
}
