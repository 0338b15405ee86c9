//! `<call>`: the current message goes to a backend, and the flow goes on with its response.

use myelin_message::{Head, HeaderId};

use super::payload::Payload;
use crate::config::{Element, Entry, Loader, Problem};
use crate::content::Need;
use crate::effect::{Effect, Reads, Receiver};
use crate::endpoint::{self, EndpointRef};
use crate::engine;
use crate::exchange::{Exchange, Scene};
use crate::expression::{Expression, Wanted};
use crate::fault::{Fault, Outcome};
use crate::mediator::{Built, Flow, Mediator, Spec, Step};
use crate::property::{Scope, Slot};

pub(super) const SPEC: Spec = Spec { element: "call", doc: DOC, build };

const DOC: &str = r#"
Sends the current message to an endpoint, inline or named by `key`, and goes on with the response.
Without an endpoint it goes to the absolute URI that `To` holds.

Properties of scope `default` are kept; those of scope `axis2` and the header lines are then the response's.
With `OUT_ONLY` the flow goes on with a message that was sent.

- `blocking="true"`: keeps the request's header lines beside the response's body, as Synapse's blocking sender does,
  unless the property `BLOCKING_SENDER_PRESERVE_REQ_HEADERS` is `false`; a failure has the code 401001.
  No thread waits in either case.
- `source`: what is sent in the place of the body. Its `type` is `inline` (the element or text inside), `property` (the
  text inside names one), `custom` (the text inside is an expression) or `body`; `contentType` says what it is sent as.
- `target` of type `property`: the response's body goes into the property that the text inside names, and the flow goes
  on with the message as it was.

`initAxis2ClientOptions`, `axis2xml` and `repository` have no effect: they set up a client of Axis2.

    <call>
        <endpoint key="quotes"/>
    </call>

    <call blocking="true">
        <endpoint key="quotes"/>
        <source type="inline" contentType="application/json">{"symbol": "IBM"}</source>
        <target type="property">quote</target>
    </call>

    <call>
        <source type="custom">$ctx:request</source>
        <endpoint key="quotes"/>
    </call>
"#;

/// The code of a blocking call that failed.
const BLOCKING_CALL_FAILED: u32 = 401_001;

struct Call {
    endpoint: Option<EndpointRef>,
    source: Option<Source>,
    /// The property for the response.
    target: Option<Slot>,
    blocking: Option<Blocking>,
}

/// What is sent in the place of the body.
struct Source {
    place: Place,
    content_type: Option<String>,
    need: Need,
}

enum Place {
    Inline(Entry),
    Property(Slot),
    Custom(Expression),
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let blocking = element.attribute("blocking").is_some_and(|text| text.value.eq_ignore_ascii_case("true"));
    for attribute in ["initAxis2ClientOptions", "axis2xml", "repository"] {
        element.attribute(attribute);
    }
    element.attribute("description");
    let mut call =
        Call { endpoint: None, source: None, target: None, blocking: blocking.then(|| Blocking::new(loader)) };
    for child in &element.children {
        match child.name.as_str() {
            "endpoint" if call.endpoint.is_none() => {
                call.endpoint = Some(endpoint::endpoint_reference(child, loader)?);
            }
            "source" if call.source.is_none() => call.source = source(child, loader)?,
            "target" if call.target.is_none() => call.target = target(child, loader)?,
            "description" => {}
            _ => {
                let message = format!("<call> holds one <endpoint>, <source> and <target>, not {}", child.tag());
                return Err(child.problem(message));
            }
        }
    }
    Ok(Box::new(call))
}

fn source(element: &Element, loader: &mut Loader) -> Result<Option<Source>, Problem> {
    let content_type = element.attribute("contentType").map(|text| text.value.trim()).filter(|text| !text.is_empty());
    if let Some(content_type) = content_type
        && !myelin_message::is_value(content_type.as_bytes())
    {
        return Err(element.problem(format!("{content_type:?} is no content type")));
    }
    let missing = || element.problem("<source> is empty");
    let place = match element.required("type")?.value {
        "body" if content_type.is_none() => return Ok(None),
        "body" => return Err(element.problem("<source type=\"body\"> is sent as it is, without a contentType")),
        "inline" => match element.children.first() {
            Some(child) => Place::Inline(Entry::Xml(child.fragment())),
            None if element.text().value.is_empty() => return Err(missing()),
            None => Place::Inline(Entry::Text(element.text().value.to_owned())),
        },
        "property" => Place::Property(slot(element, loader)?),
        "custom" if element.text().value.is_empty() => return Err(missing()),
        "custom" => Place::Custom(Expression::compile(element.text(), Wanted::Nodes, loader)?),
        other => return Err(element.problem(format!("<source>: type {other:?} is not offered"))),
    };
    let need = if let Place::Custom(expression) = &place { Need::of([expression]) } else { Need::default() };
    Ok(Some(Source { place, content_type: content_type.map(str::to_owned), need }))
}

fn target(element: &Element, loader: &mut Loader) -> Result<Option<Slot>, Problem> {
    match element.required("type")?.value {
        "body" => Ok(None),
        "property" => slot(element, loader).map(Some),
        "variable" => Err(element.problem("<target>: variables of <variable> are not offered yet")),
        other => Err(element.problem(format!("<target>: type {other:?} is unknown: body and property are known"))),
    }
}

/// The property that the text in an element names.
fn slot(element: &Element, loader: &mut Loader) -> Result<Slot, Problem> {
    match element.text().value {
        "" => Err(element.problem(format!("{} names no property", element.tag()))),
        name => Ok(loader.names().slot(name)),
    }
}

impl Mediator for Call {
    fn effect(&self) -> Effect<'_> {
        let reads = match (&self.source, self.target) {
            (Some(_), _) => Reads::Built,
            (None, Some(_)) => Reads::Whole,
            (None, None) => Reads::Nothing,
        };
        Effect { reads, changes: self.target.is_none(), ..Effect::sending(receiver(self.endpoint.as_ref())) }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        Step::Wait(Box::pin(async move {
            let outcome = self.call(exchange, scene).await;
            (exchange, outcome)
        }))
    }
}

impl Call {
    async fn call(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
        let payload = match &self.source {
            Some(source) => Some((source.take(exchange, scene).await?, source.content_type.as_deref())),
            None => None,
        };
        match self.target {
            None => self.send(exchange, payload, scene).await.map(drop)?,
            Some(slot) => {
                Need::read().bring(exchange, scene).await?;
                let mut aside = exchange.branch()?;
                if self.send(&mut aside, payload, scene).await? {
                    Need::built().bring(&mut aside, scene).await?;
                    let value = Payload::of_body(&aside)?.map(Payload::into_value);
                    value.iter().try_for_each(|value| exchange.properties.check_room(value))?;
                    exchange.properties.put(Scope::Default, slot, value);
                }
            }
        }
        Ok(Flow::Next)
    }

    /// Sends a message, and puts its response in its place; says whether there is one.
    async fn send(
        &self,
        exchange: &mut Exchange,
        payload: Option<(Payload, Option<&str>)>,
        scene: &Scene<'_>,
    ) -> Outcome<bool> {
        if let Some((payload, content_type)) = payload {
            Need::built().bring(exchange, scene).await?;
            payload.put(exchange, content_type, scene)?;
        }
        match &self.blocking {
            Some(blocking) => {
                let kept = blocking.keeps(exchange).then(|| exchange.message.head.clone());
                let answered = send(exchange, self.endpoint.as_ref(), scene).await;
                let answered = answered.map_err(|fault| fault.of_backend(BLOCKING_CALL_FAILED))?;
                if let Some(mut kept) = kept.filter(|_| answered) {
                    // These would be untrue of a response.
                    kept.remove_if(|id, _| matches!(id, HeaderId::Host | HeaderId::Expect | HeaderId::UserAgent));
                    exchange.message.head = described(kept, &exchange.message.head);
                }
                Ok(answered)
            }
            None => send(exchange, self.endpoint.as_ref(), scene).await,
        }
    }
}

impl Source {
    async fn take(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Payload> {
        self.need.bring(exchange, scene).await?;
        let payload = match &self.place {
            Place::Inline(entry) => Some(entry.clone().into()),
            Place::Property(slot) => Payload::of_property(*slot, exchange),
            Place::Custom(expression) => Payload::of_expression(expression, exchange, scene)?,
        };
        payload.ok_or_else(|| Fault::bus("There is nothing to be sent: the source of a call finds nothing"))
    }
}

/// Where a message goes, as others are told.
pub(super) fn receiver(endpoint: Option<&EndpointRef>) -> Receiver<'_> {
    endpoint.map_or(Receiver::Addressee, Receiver::Endpoint)
}

/// Sends a message to an endpoint, and puts the response in its place; says whether there is one.
pub(super) async fn send(exchange: &mut Exchange, endpoint: Option<&EndpointRef>, scene: &Scene<'_>) -> Outcome<bool> {
    let endpoint = match endpoint {
        Some(endpoint) => Some(endpoint.find(scene.bus).ok_or_else(engine::missing)?),
        None => {
            Need::addressee().bring(exchange, scene).await?;
            None
        }
    };
    let departure = endpoint::depart(exchange, scene, endpoint, false)?;
    let answered = departure.carry_out(exchange, scene).await?.is_some();
    match exchange.split.take() {
        Some(_) => {
            Err(Fault::bus("A list of recipients has more than one answer: a <send> can go there, a call cannot"))
        }
        None => Ok(answered),
    }
}

/// What Synapse's blocking sender does with header lines.
pub(super) struct Blocking {
    preserve: Slot,
}

impl Blocking {
    pub(super) fn new(loader: &mut Loader) -> Blocking {
        Blocking { preserve: loader.names().slot("BLOCKING_SENDER_PRESERVE_REQ_HEADERS") }
    }

    /// Whether the request's header lines stay when the response comes.
    fn keeps(&self, exchange: &Exchange) -> bool {
        exchange.properties.get(Scope::Default, self.preserve).is_none_or(|value| value.text() != "false")
    }

    /// Gives an exchange the header lines of a response that another one got; whose body it has is said beside.
    pub(super) fn receive(&self, exchange: &mut Exchange, aside: &mut Exchange, with_body: bool) {
        let response = std::mem::take(&mut aside.message.head);
        let own = std::mem::take(&mut exchange.message.head);
        exchange.message.head = match (self.keeps(exchange), with_body) {
            (true, true) => described(own, &response),
            (true, false) => own,
            (false, true) => response,
            (false, false) => described(response, &own),
        };
    }
}

/// The header lines of one message with those of another that say what the body is.
fn described(mut head: Head, body: &Head) -> Head {
    for name in ["Content-Type", "Content-Encoding"] {
        head.remove(name);
        if let Some(value) = body.first(name) {
            // What stood in one head can stand in another.
            let _ = head.set(name, value);
        }
    }
    head
}

#[cfg(test)]
mod tests {
    use crate::mediators::tests::check;

    #[test]
    fn what_a_call_says_is_checked_when_loading() {
        check("<call><source type='property'>p</source><target type='body'/></call>", "");
        check("<call blocking='true' initAxis2ClientOptions='false'/>", "");
        check("<call><source>p</source></call>", "\"type\" is missing");
        check("<call><source type='inline'/></call>", "is empty");
        check("<call><source type='custom'>1 +</source></call>", "expression");
        check("<call><source type='variable'>v</source></call>", "not offered");
        check("<call><source type='body' contentType='text/xml'/></call>", "as it is");
        check("<call><target type='property'/></call>", "names no property");
        check("<call><target type='variable'>v</target></call>", "not offered yet");
        check("<call><target type='header'>v</target></call>", "is unknown");
        check("<call><endpoint><default/></endpoint><endpoint><default/></endpoint></call>", "not <endpoint>");
    }
}
