//! `<header>`: sets or removes a header of the message.

use myelin_soap::Envelope;
use myelin_xml::{Document, Kind, NodeId, is_ncname};

use crate::loader::Loader;
use crate::spec::{Built, Spec, once_ready};
use crate::values::{ConfiguredValue, embedded_expression};
use crate::words::unknown_word;
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_content::Fragment;
use myelin_expression::Expression;
use myelin_expression::Immediate;
use myelin_expression::Need;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;
use myelin_flow::mediator::{Effect, Flow};
use myelin_flow::property::{Scope, Slot, Value, slot};

pub(super) const SPEC: Spec = Spec::new("header", DOC, build);

const DOC: &str = r#"
Sets or removes a header.

- `name` (required, save where elements stand inside): with `scope="transport"` an HTTP header, whose name an expression
  in braces works out;
  `To`, `Action`, `From`, `ReplyTo`, `FaultTo` or `RelatesTo`; or, with a prefix, a block of the SOAP header.
  `To` is where a `send` without an endpoint goes; `Action` leaves as `SOAPAction`, or as the `action` of SOAP 1.2's content type.
  The others can be read again by `get-property`.
- `value` or `expression`: what to set; an HTTP header is removed where the expression finds nothing.
- elements inside: the blocks themselves.
- `action`: `set` (default) or `remove`.

Setting a block puts it behind the others, as in Synapse: one of the same name stays; removing takes all of that name.
The header is made where there is none. Plain XML has none that is sent.

    <header name="X-Tenant" value="gold" scope="transport"/>
    <header name="Authorization" scope="transport" action="remove"/>
    <header name="{concat('X-', $ctx:kind)}" value="yes" scope="transport"/>

    <header xmlns:r="urn:routing" name="r:Route" action="remove"/>
    <header xmlns:r="urn:routing" name="r:Route" expression="$trp:routing"/>
    <header>
        <r:Hops xmlns:r="urn:routing" max="3"/>
    </header>

    <header name="To" action="remove"/>
    <property name="RESPONSE" value="true"/>
    <send/>
"#;

struct Header {
    target: Target,
    /// `None` removes it.
    setting: Option<ConfiguredValue>,
}

enum Target {
    Transport(String),
    /// An HTTP header whose name is worked out.
    WorkedOut(Expression),
    Addressing(Slot),
    Block(BlockName),
    /// Blocks that stand in the configuration.
    Elements(Vec<Fragment>),
}

struct BlockName {
    prefix: String,
    local: String,
    namespace: String,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    if element.attribute("name").is_none() {
        let inside = element.children.iter().filter(|child| !child.is("description"));
        let blocks: Vec<Fragment> = inside.map(Element::fragment).collect();
        if !blocks.is_empty() {
            is_transport(element)?;
            return once_ready(Need::tree(), Header { target: Target::Elements(blocks), setting: None });
        }
    }
    let name = element.required("name")?;
    let target = target(element, name, loader)?;
    if let Target::Addressing(slot) = target
        && !matches!(slot, slot::TO | slot::ACTION)
    {
        let message = format!("{} is not written to the message, as in Synapse; get-property reads it", name.value);
        loader.warning(name.problem(message));
    }
    let setting = match element.attribute("action").map_or("set", |action| action.value) {
        "set" => match ConfiguredValue::read(element, loader)? {
            Some(setting) => Some(setting),
            None => return Err(element.lacks("<header> with a name needs value or expression")),
        },
        "remove" => {
            element.forgive();
            None
        }
        other => return Err(element.problem(format!("<header>: action {other:?} is neither set nor remove"))),
    };
    let need = match &target {
        Target::Block(_) => Need::tree(),
        Target::WorkedOut(expression) => Need::of([expression]),
        _ => Need::default(),
    };
    let need = setting.as_ref().and_then(ConfiguredValue::expression).into_iter().fold(need, Need::and);
    once_ready(need, Header { target, setting })
}

/// Whether the scope is `transport`.
fn is_transport(element: &Element) -> Result<bool, Problem> {
    match element.attribute("scope").map_or("default", |scope| scope.value) {
        "transport" => Ok(true),
        "default" => Ok(false),
        other => Err(element.problem(format!("<header>: {}", unknown_word("scope", other, &["default", "transport"])))),
    }
}

/// What a name means in its scope.
fn target(element: &Element, name: Text<'_>, loader: &mut Loader) -> Result<Target, Problem> {
    if is_transport(element)? {
        return match embedded_expression(name, loader)? {
            Some(expression) => Ok(Target::WorkedOut(expression)),
            None if myelin_message::is_token(name.value.as_bytes()) => Ok(Target::Transport(name.value.to_owned())),
            None => Err(name.problem(format!("{:?} cannot be the name of an HTTP header", name.value))),
        };
    }
    let (prefix, local) = name.value.trim().split_once(':').unwrap_or(("", name.value.trim()));
    let slot = match name.value.trim() {
        "To" => slot::TO,
        "Action" => slot::ACTION,
        "From" => slot::FROM,
        "ReplyTo" => slot::REPLY_TO,
        "FaultTo" => slot::FAULT_TO,
        "RelatesTo" => slot::RELATES_TO,
        _ => {
            // As in Synapse, a name without a prefix is in the default namespace of the configuration.
            let namespace = name.namespace(prefix).unwrap_or_default();
            if namespace.is_empty() && !prefix.is_empty() {
                return Err(name.problem(format!("prefix {prefix:?} stands for no namespace here")));
            }
            if !is_ncname(local) {
                return Err(name.problem(format!("{:?} cannot be the name of an element", name.value)));
            }
            let (prefix, local, namespace) = (prefix.to_owned(), local.to_owned(), namespace.to_owned());
            return Ok(Target::Block(BlockName { prefix, local, namespace }));
        }
    };
    Ok(Target::Addressing(slot))
}

impl Immediate for Header {
    fn effect(&self) -> Effect<'_> {
        Effect { changes: matches!(self.target, Target::Block(_) | Target::Elements(_)), ..Effect::default() }
    }

    fn mediate(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        let text = match &self.setting {
            Some(setting) => setting.text(exchange, context)?.map(|text| text.into_owned()),
            None => None,
        };
        match (&self.target, text) {
            (Target::Transport(name), text) => put_header(exchange, name, text.as_deref())?,
            (Target::WorkedOut(expression), text) => {
                let name = expression.text(exchange, context)?.unwrap_or_default().into_owned();
                put_header(exchange, &name, text.as_deref())?;
            }
            (Target::Addressing(slot), Some(text)) => {
                exchange.properties.put(Scope::Addressing, *slot, Some(Value::Text(text.into())));
            }
            (Target::Addressing(slot), None) => exchange.properties.put(Scope::Addressing, *slot, None),
            (Target::Block(name), None) if self.setting.is_none() => {
                exchange.tree_mut()?.change_header(|document, envelope| {
                    name.remove_from(document, envelope);
                    Ok(())
                })?;
            }
            (Target::Block(name), text) => exchange.tree_mut()?.change_header(|document, envelope| {
                let block = document.create_element(&name.prefix, &name.local, &name.namespace)?;
                if let Some(text) = text.filter(|text| !text.is_empty()) {
                    let text = document.create_text(&text)?;
                    document.append(block, text)?;
                }
                let header = envelope.header_or_new(document)?;
                document.append(header, block)
            })?,
            (Target::Elements(blocks), _) => exchange.tree_mut()?.change_header(|document, envelope| {
                let header = envelope.header_or_new(document)?;
                blocks.iter().try_for_each(|fragment| {
                    let block = document.import(&fragment.document, fragment.node)?;
                    document.append(header, block)
                })
            })?,
        }
        Ok(Flow::Next)
    }
}

/// Sets a header to one value, or removes it.
///
/// Errors: the bus's, where name or value cannot stand in a head.
pub(super) fn put_header(exchange: &mut Exchange, name: &str, value: Option<&str>) -> Outcome<()> {
    match value {
        Some(value) => exchange.message.head.set(name, value.as_bytes())?,
        None => {
            exchange.message.head.remove(name);
        }
    }
    Ok(())
}

impl BlockName {
    fn remove_from(&self, document: &mut Document, envelope: &Envelope) {
        let Some(header) = envelope.header else { return };
        let is_meant = |document: &Document, node: NodeId| {
            let name = document.qname(node);
            document.kind(node) == Kind::Element && name.local == self.local && name.namespace == self.namespace
        };
        let blocks: Vec<NodeId> = document.children(header).filter(|&node| is_meant(document, node)).collect();
        blocks.into_iter().for_each(|block| document.detach(block));
    }
}
