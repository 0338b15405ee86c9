//! `<callout>`: a backend is asked with a part of the message, and its answer is put somewhere.

use myelin_message::HeaderId;

use crate::calls::Payload;
use crate::calls::blocking::{self, AcceptedStatuses};
use crate::calls::{receiver, send};
use crate::endpoints::{self, EndpointRef};
use crate::loader::{Entry, Loader};
use crate::message_edits::{put_at, put_body};
use crate::spec::{Built, Spec};
use myelin_config::element::{Element, Text};
use myelin_config::problem::Problem;
use myelin_content::{Fragment, Json};
use myelin_expression::Need;
use myelin_expression::{Expression, ResultType};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow, Mediator, Reads, Step};
use myelin_flow::property::{Scope, Slot, Value, slot};

pub(super) const SPEC: Spec = Spec::new("callout", DOC, build).sends();

const DOC: &str = r#"
Asks a backend with a part of the message, puts the answer somewhere, and goes on.
A `call` does more and is what new configurations should have.

- where to: `serviceURL`, `endpointKey` (the name of an endpoint), an `endpoint` inside, or what `To` holds.
- `action`: the SOAP action.
- `source`: the element that is sent in the place of the payload: what `xpath` finds first, or what the property or local
  entry named by `key` holds. With `type="envelope"`, or without a source, the message is sent as it is, and so is JSON.
- `target`: the first node that `xpath` finds gives its place to the answer's payload, or the property named by `key`
  holds it. Without a target the answer is the message. An answer in JSON is the message in any case.
- `enableSec`: as in an endpoint, with `policy`, or `inboundPolicy` and `outboundPolicy`.
- `passHeaders="false"`: the header lines of the request are not sent along, save `SOAPAction`.

The answer's status becomes `HTTP_SC`; its header lines take the place of the request's where the property
`BLOCKING_SENDER_PRESERVE_REQ_HEADERS` is `false`.
A backend that fails is a fault with the code 401000, and so is an answer whose status is neither 2xx nor 400, 500 or
listed in `non.error.http.status.codes`.
`configuration`, `useServerConfig` and `initAxis2ClientOptions` have no effect: they set up a client of Axis2.

    <callout serviceURL="http://localhost:9000/services/SimpleStockQuoteService" action="urn:getQuote">
        <source xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xpath="s:Body/*[1]"/>
        <target key="quote"/>
    </callout>

    <callout endpointKey="quotes">
        <source key="greeting"/>
        <target xpath="$body/*[1]"/>
    </callout>

    <callout>
        <endpoint key="quotes"/>
    </callout>
"#;

/// The code of a callout that failed.
const CALLOUT_FAILED: u32 = 401_000;

struct Callout {
    endpoint: Option<EndpointRef>,
    action: Option<String>,
    pass_headers: bool,
    source: Source,
    target: Target,
    /// What source and target look at, and the whole body.
    need: Need,
}

enum Source {
    Envelope,
    Custom(Expression),
    Key(Slot, Option<Entry>),
}

enum Target {
    Message,
    Custom(Expression),
    Property(Slot),
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let (mut source, mut target) = (None, None);
    for child in &element.children {
        match child.name.as_str() {
            "source" if source.is_none() => source = Some(self::source(child, loader)?),
            "target" if target.is_none() => target = Some(self::target(child, loader)?),
            "endpoint" | "enableSec" | "description" => {}
            "configuration" => child.forgive(),
            _ => {
                let message = format!("<callout> holds one source and one target, not {}", child.tag());
                return Err(child.misnamed(message, &["source", "target", "endpoint", "configuration", "enableSec"]));
            }
        }
    }
    for attribute in ["useServerConfig", "initAxis2ClientOptions", "description"] {
        element.attribute(attribute);
    }
    let (source, target) = (source.unwrap_or(Source::Envelope), target.unwrap_or(Target::Message));
    let need = if let Source::Custom(expression) = &source { Need::read().and(expression) } else { Need::read() };
    Ok(Box::new(Callout {
        endpoint: endpoint(element, loader)?,
        action: element.attribute("action").map(|action| action.value.to_owned()).filter(|action| !action.is_empty()),
        pass_headers: element.attribute("passHeaders").is_none_or(|text| !text.value.eq_ignore_ascii_case("false")),
        source,
        target,
        need,
    }))
}

fn source(element: &Element, loader: &mut Loader) -> Result<Source, Problem> {
    if element.attribute("type").is_some_and(|kind| kind.value == "envelope") {
        return Ok(Source::Envelope);
    }
    match (element.attribute("xpath"), element.attribute("key")) {
        (Some(xpath), _) => Expression::compile(xpath, ResultType::Nodes, loader).map(Source::Custom),
        // Whether a property of that name is ever set, nobody knows before.
        (None, Some(key)) => Ok(Source::Key(loader.names().slot(key.value), loader.entry(key).ok())),
        (None, None) => Err(element.lacks("<source> needs xpath, key or type=\"envelope\"")),
    }
}

fn target(element: &Element, loader: &mut Loader) -> Result<Target, Problem> {
    match (element.attribute("xpath"), element.attribute("key")) {
        (Some(xpath), _) => Expression::compile(xpath, ResultType::Nodes, loader).map(Target::Custom),
        (None, Some(key)) => Ok(Target::Property(loader.names().slot(key.value))),
        (None, None) => Err(element.lacks("<target> needs xpath or key")),
    }
}

/// The endpoint: one that is named or stands inside, or one of the address and security that the callout says itself.
fn endpoint(element: &Element, loader: &mut Loader) -> Result<Option<EndpointRef>, Problem> {
    let given = |name: &str| element.attribute(name).filter(|text| !text.value.trim().is_empty());
    let (url, key, security) = (given("serviceURL"), given("endpointKey"), element.child("enableSec"));
    let inside = element.child("endpoint");
    if let (Some(security), true) = (security, key.is_some() || inside.is_some()) {
        return Err(security.problem("<enableSec> belongs into the endpoint, where the callout names one"));
    }
    match (url, key, inside) {
        (Some(url), _, _) => of_its_own(element, Some(url), security, loader).map(Some),
        (None, Some(key), _) => loader.endpoint_id(key).map(|id| Some(EndpointRef::Named(id))),
        (None, None, Some(inside)) => endpoints::endpoint_reference(inside, loader).map(Some),
        (None, None, None) if security.is_some() => of_its_own(element, None, security, loader).map(Some),
        (None, None, None) => Ok(None),
    }
}

/// Reads what the callout says as if it stood in an endpoint, on the callout's own line.
fn of_its_own(
    element: &Element,
    url: Option<Text<'_>>,
    security: Option<&Element>,
    loader: &mut Loader,
) -> Result<EndpointRef, Problem> {
    let inside = security.map(|security| security.standalone()).unwrap_or_default();
    security.into_iter().for_each(Element::forgive);
    let (kind, uri) = match url {
        Some(url) => ("address", format!(" uri=\"{}\"", myelin_soap::escaped(url.value.trim()))),
        None => ("default", String::new()),
    };
    let line = "\n".repeat(element.place.line as usize - 1);
    let text = format!("{line}<endpoint><{kind}{uri}>{}</{kind}></endpoint>", inside.trim());
    let endpoint = Element::parse(&element.place.file, text)?;
    endpoints::endpoint_reference(&endpoint, loader)
}

impl Mediator for Callout {
    fn effect(&self) -> Effect<'_> {
        let reads = if matches!(self.source, Source::Envelope) { Reads::Whole } else { Reads::Built };
        let changes = !matches!(self.target, Target::Property(_));
        Effect { reads, changes, ..Effect::sending(receiver(self.endpoint.as_ref())) }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        Step::Wait(Box::pin(async move {
            let outcome = self.ask(exchange, context).await.map(|()| Flow::Next);
            (exchange, outcome)
        }))
    }
}

impl Callout {
    async fn ask(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
        self.need.fulfil(exchange, context).await?;
        let payload = self.source.take(exchange, context)?;
        let mut aside = exchange.branch()?;
        if let Some(payload) = payload {
            Need::built().fulfil(&mut aside, context).await?;
            if aside.message.body.built::<Json>().is_none() {
                put_body(&mut aside, payload, context)?;
            }
        }
        if let Some(action) = &self.action {
            aside.properties.put(Scope::Addressing, slot::ACTION, Some(Value::Text(action.as_str().into())));
        }
        if !self.pass_headers {
            aside
                .message
                .head
                .remove_if(|id, name| id != HeaderId::ContentType && !name.eq_ignore_ascii_case("SOAPAction"));
        }
        let sound = AcceptedStatuses::of(&aside);
        let answered = send(&mut aside, self.endpoint.as_ref(), context).await;
        if !answered.map_err(|fault| fault.of_backend(CALLOUT_FAILED))? {
            return Ok(());
        }
        blocking::tell_status(&aside, exchange);
        sound.check(&aside, CALLOUT_FAILED)?;
        Need::built().fulfil(&mut aside, context).await.map_err(|fault| fault.of_backend(CALLOUT_FAILED))?;
        self.put(aside, exchange, context).await
    }

    /// Puts an answer where the target says.
    async fn put(&self, mut aside: Exchange, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
        let is_message = aside.message.body.built::<Json>().is_some() || matches!(self.target, Target::Message);
        let payload = if is_message { None } else { Payload::of_body(&aside)? };
        blocking::receive(exchange, &mut aside, is_message);
        match (&self.target, payload) {
            _ if is_message => exchange.set_body(aside.message.body.take()),
            (Target::Property(slot), payload) => {
                let value = payload.map(Payload::into_value);
                value.iter().try_for_each(|value| exchange.properties.check_room(value))?;
                exchange.properties.put(Scope::Default, *slot, value);
            }
            (Target::Custom(expression), Some(Payload::Xml(fragment))) => {
                Need::built().fulfil(exchange, context).await?;
                put_at(exchange, expression, fragment, context)?;
            }
            _ => tracing::warn!(target: "myelin::callout", "the answer has no element to be put at the target"),
        }
        Ok(())
    }
}

impl Source {
    /// The element that is sent; `None` where it is the whole message.
    fn take(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Option<Fragment>> {
        let found = match self {
            Source::Envelope => return Ok(None),
            Source::Custom(_) if exchange.message.body.built::<Json>().is_some() => return Ok(None),
            Source::Custom(expression) => expression.fragment(exchange, context)?,
            Source::Key(slot, entry) => match (Payload::of_property(*slot, exchange), entry) {
                (Some(Payload::Xml(fragment)), _) => Some(fragment),
                (None, Some(Entry::Xml(fragment))) => Some(fragment.clone()),
                _ => None,
            },
        };
        found.map(Some).ok_or_else(|| Fault::bus("The source of a callout is no element"))
    }
}

#[cfg(test)]
mod tests {
    use crate::mediators::tests::{check, check_missing};

    #[test]
    fn what_a_callout_says_is_checked_when_loading() {
        check("<callout serviceURL='http://h/'><source key='a'/><target xpath='//a'/></callout>", "");
        check("<callout><source type='envelope'/></callout>", "");
        check("<callout serviceURL=''/>", "");
        check("<callout serviceURL='jms:/queue'/>", "\"jms\"");
        check_missing("<callout endpointKey='nobody'/>", "there is no endpoint \"nobody\"");
        check("<callout><source/></callout>", "needs xpath, key");
        check("<callout><target type='envelope'/></callout>", "needs xpath or key");
        check("<callout><surprise/></callout>", "not <surprise>");
        check("<callout serviceURL='http://h/'><enableSec/></callout>", "enableSec");
        check("<callout><endpoint><default/></endpoint><enableSec policy='p'/></callout>", "belongs into the endpoint");
    }
}
