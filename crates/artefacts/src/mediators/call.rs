//! `<call>`: the current message goes to a backend, and the flow goes on with its response.

use crate::calls::blocking::{self, AcceptedStatuses};
use crate::calls::{ONE_ANSWER_NEEDED, Payload, receiver, send, send_or_split};
use crate::endpoints::{self, EndpointRef};
use crate::loader::{Entry, Loader};
use crate::spec::{Built, Spec};
use crate::words::unknown_word;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::Need;
use myelin_expression::{Expression, ResultType};
use myelin_flow::branches;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow, Mediator, Reads, Step};
use myelin_flow::property::{Scope, Slot, Value, slot};
use myelin_message::Body;

pub(super) const SPEC: Spec = Spec::new("call", DOC, build).sends();

const DOC: &str = r#"
Sends the current message to an endpoint, inline or named by `key`, and goes on with the response.
Without an endpoint it goes to the absolute URI that `To` holds.
From a list of recipients each response goes on by itself, as the copies of a `clone` do; an `aggregate` behind makes one
message of them.

Properties of scope `default` are kept; those of scope `axis2` and the header lines are then the response's.
With `OUT_ONLY`, and from a file (`vfs:`), nobody answers, and the flow goes on with the message as it was; the body of one that is longer than a
body may be to be read is gone then.

- `blocking="true"`: keeps the request's header lines beside the response's body, as Synapse's blocking sender does,
  unless the property `BLOCKING_SENDER_PRESERVE_REQ_HEADERS` is `false`; a failure has the code 401001, and so has a
  response whose status is neither 2xx nor 400, 500 or listed in `non.error.http.status.codes`.
  `blocking.sender.error` tells afterwards whether it failed. No thread waits in either case.
- `source`: what is sent in the place of the body. Its `type` is `inline` (the element or text inside), `property` (the
  text inside names one), `custom` (the text inside is an expression) or `body`; `contentType` says what it is sent as.
- `target` of type `property` or `variable`: the response's body goes into the one that the text inside names, and the
  flow goes on with the message as it was.

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
    /// The property or variable for the response.
    target: Option<(Scope, Slot)>,
    is_blocking: bool,
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
    let is_blocking = element.attribute("blocking").is_some_and(|text| text.value.eq_ignore_ascii_case("true"));
    for attribute in ["initAxis2ClientOptions", "axis2xml", "repository"] {
        element.attribute(attribute);
    }
    element.attribute("description");
    let mut call = Call { endpoint: None, source: None, target: None, is_blocking };
    for child in &element.children {
        match child.name.as_str() {
            "endpoint" if call.endpoint.is_none() => {
                call.endpoint = Some(endpoints::endpoint_reference(child, loader)?);
            }
            "source" if call.source.is_none() => call.source = source(child, loader)?,
            "target" if call.target.is_none() => call.target = target(child, loader)?,
            "description" => {}
            _ => {
                let message = format!("<call> holds one <endpoint>, <source> and <target>, not {}", child.tag());
                return Err(child.misnamed(message, &["endpoint", "source", "target"]));
            }
        }
    }
    let is_simple = call.target.is_none() && !call.is_blocking;
    if let (false, Some(endpoint)) = (is_simple, &call.endpoint)
        && endpoint.is_known_list()
    {
        return Err(element.problem(ONE_ANSWER_NEEDED));
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
        "property" => Place::Property(named_in(element, loader)?),
        "custom" if element.text().value.is_empty() => return Err(missing()),
        "custom" => Place::Custom(Expression::compile(element.text(), ResultType::Nodes, loader)?),
        other => return Err(element.problem(format!("<source>: type {other:?} is not offered"))),
    };
    let need = if let Place::Custom(expression) = &place { Need::of([expression]) } else { Need::default() };
    Ok(Some(Source { place, content_type: content_type.map(str::to_owned), need }))
}

fn target(element: &Element, loader: &mut Loader) -> Result<Option<(Scope, Slot)>, Problem> {
    let scope = match element.required("type")?.value {
        "body" => return Ok(None),
        "property" => Scope::Default,
        "variable" => Scope::Variable,
        other => {
            let message = unknown_word("type", other, &["body", "property", "variable"]);
            return Err(element.problem(format!("<target>: {message}")));
        }
    };
    named_in(element, loader).map(|slot| Some((scope, slot)))
}

/// The property or variable that the text in an element names.
fn named_in(element: &Element, loader: &mut Loader) -> Result<Slot, Problem> {
    match element.text().value {
        "" => Err(element.problem(format!("{} names nothing", element.tag()))),
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

    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        Step::Wait(Box::pin(async move {
            let outcome = self.call(exchange, context).await;
            (exchange, outcome)
        }))
    }
}

impl Call {
    async fn call(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        if !self.is_blocking {
            exchange.note_forced_accept();
        }
        let outcome = self.ask(exchange, context).await;
        if self.is_blocking {
            let failed = Value::Text(if outcome.is_err() { "true" } else { "false" }.into());
            exchange.properties.put(Scope::Default, slot::BLOCKING_SENDER_ERROR, Some(failed));
        }
        outcome.map(|()| branches::called(exchange))
    }

    /// Sends the message, and puts the response where it belongs.
    async fn ask(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
        let payload = match &self.source {
            Some(source) => Some((source.take(exchange, context).await?, source.content_type.as_deref())),
            None => None,
        };
        match self.target {
            None if self.keeps_message(exchange, context) => {
                Need::read().fulfil(exchange, context).await?;
                let mut aside = exchange.branch()?;
                let answered = self.send(&mut aside, payload, context).await;
                exchange.last_endpoint = aside.last_endpoint.take();
                if answered? {
                    *exchange = aside;
                }
                Ok(())
            }
            None => self.send(exchange, payload, context).await.map(drop),
            Some((scope, slot)) => {
                Need::read().fulfil(exchange, context).await?;
                let mut aside = exchange.branch()?;
                let answered = self.send(&mut aside, payload, context).await;
                if answered.is_err() && aside.called {
                    blocking::tell_status(&aside, exchange);
                }
                if answered? {
                    Need::built().fulfil(&mut aside, context).await?;
                    let value = Payload::of_body(&aside)?.map(Payload::into_value);
                    value.iter().try_for_each(|value| exchange.properties.check_room(value))?;
                    exchange.properties.put(scope, slot, value);
                }
                Ok(())
            }
        }
    }

    /// Whether the flow goes on with the message, as nobody answers it, and all of it fits.
    fn keeps_message(&self, exchange: &Exchange, context: &RequestContext<'_>) -> bool {
        let limit_bytes = context.definitions.settings.body_limit_bytes;
        let body = &exchange.message.body;
        let one_way = |endpoint: &EndpointRef| endpoint.find(context.definitions).is_some_and(|it| it.is_one_way());
        !exchange.last
            && (exchange.properties.is_true(Scope::Default, slot::OUT_ONLY)
                || self.endpoint.as_ref().is_some_and(one_way))
            && !matches!(body, Body::Gone)
            && body.length().is_none_or(|length| length <= limit_bytes)
            && !self.endpoint.as_ref().is_some_and(EndpointRef::is_known_list)
    }

    /// Sends a message, and puts its response in its place; says whether there is one.
    async fn send(
        &self,
        exchange: &mut Exchange,
        payload: Option<(Payload, Option<&str>)>,
        context: &RequestContext<'_>,
    ) -> Outcome<bool> {
        if let Some((payload, content_type)) = payload {
            Need::built().fulfil(exchange, context).await?;
            payload.put(exchange, content_type, context)?;
        }
        if !self.is_blocking {
            return match self.target {
                None => send_or_split(exchange, self.endpoint.as_ref(), context).await,
                Some(_) => send(exchange, self.endpoint.as_ref(), context).await,
            };
        }
        let kept = blocking::keeps_headers(exchange).then(|| exchange.message.head.clone());
        let sound = AcceptedStatuses::of(exchange);
        let answered = send(exchange, self.endpoint.as_ref(), context).await;
        let answered = answered.map_err(|fault| fault.of_backend(BLOCKING_CALL_FAILED))?;
        if answered {
            sound.check(exchange, BLOCKING_CALL_FAILED)?;
            if let Some(kept) = kept {
                exchange.message.head = blocking::kept(kept, &exchange.message.head);
            }
        }
        Ok(answered)
    }
}

impl Source {
    async fn take(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Payload> {
        self.need.fulfil(exchange, context).await?;
        let payload = match &self.place {
            Place::Inline(entry) => Some(entry.clone().into()),
            Place::Property(slot) => Payload::of_property(*slot, exchange),
            Place::Custom(expression) => Payload::of_expression(expression, exchange, context)?,
        };
        payload.ok_or_else(|| Fault::bus("There is nothing to be sent: the source of a call finds nothing"))
    }
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
        check("<call><target type='property'/></call>", "names nothing");
        check("<call><target type='variable'>v</target></call>", "");
        check("<call><target type='header'>v</target></call>", "is unknown");
        check("<call><endpoint><default/></endpoint><endpoint><default/></endpoint></call>", "not <endpoint>");
        let list = "<endpoint><recipientlist><endpoints value='{//to}' max-cache='2'/></recipientlist></endpoint>";
        check(&format!("<call>{list}</call>"), "");
        check(&format!("<call blocking='true'>{list}</call>"), "more than one answer");
        check(&format!("<call>{list}<target type='property'>p</target></call>"), "more than one answer");
    }
}
