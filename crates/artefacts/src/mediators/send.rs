//! `<send>`: the current message goes to a backend, or to the client.

use crate::endpoints::{self, EndpointRef};
use crate::loader::Loader;
use crate::mediators::clone::beside;
use crate::spec::{Built, Spec};
use crate::values::embedded_expression;
use myelin_config::element::Element;
use myelin_expression::Expression;
use myelin_expression::{Need, when_ready};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::{Decision, Exchange};
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::forms::render_body;
use myelin_flow::mediator::{Effect, Flow, Mediator, Receiver, Step, Steps};
use myelin_flow::sequence::SequenceId;
use myelin_flow::sequence::named;

pub(super) const SPEC: Spec = Spec::new("send", DOC, build).sends().beside(beside);

const DOC: &str = r#"
Sends the current message.

- With an `endpoint` (inline, or named by `key`): to that endpoint; its response goes through the out sequence.
- `receive`: the name of the sequence that the response runs through instead, or an expression in braces.
- Without one: a response goes to the client; a request goes to the absolute URI that `To` holds,
  or the `To` of WS-Addressing in its header.
  A request with the property `RESPONSE` set to `true` counts as a response, which makes an echo, and so does a fault
  that `makefault` made of one.

Mediators behind it still run, but the body is gone: it is on its way.
A failure of theirs is logged and does not reach the client.
Where the flow sends the message again behind it (`send`, `call`, `callout`, `clone` or `iterate` in the same or an inner
place of the configuration), a copy is sent; each response goes its way, and the first answer is the client's.

    <send>
        <endpoint>
            <address uri="http://localhost:9000/services/SimpleStockQuoteService"/>
        </endpoint>
    </send>

    <send receive="audit">
        <endpoint key="quotes"/>
    </send>

    <send receive="{get-property('next')}">
        <endpoint key="quotes"/>
    </send>
"#;

struct Send {
    endpoint: Option<EndpointRef>,
    receive: Option<Receive>,
    need: Need,
}

/// The sequence for the response.
enum Receive {
    Named(SequenceId),
    Computed(Expression),
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    let receive = match element.attribute("receive") {
        Some(key) => Some(match embedded_expression(key, loader)? {
            Some(expression) => Receive::Computed(expression),
            None => Receive::Named(loader.sequence_id(key)?),
        }),
        None => None,
    };
    // It asks for the body to be read first, which changes nothing that anybody sees.
    element.attribute("buildmessage");
    let mut endpoint = None;
    for child in &element.children {
        if !child.is("endpoint") || endpoint.is_some() {
            return Err(child.problem(format!("<send> holds at most one <endpoint>, not {}", child.tag())));
        }
        endpoint = Some(endpoints::endpoint_reference(child, loader)?);
    }
    let need = if endpoint.is_none() { Need::addressee() } else { Need::default() };
    let need = match &receive {
        Some(Receive::Computed(expression)) => need.and(expression),
        _ => need,
    };
    Ok(Box::new(Send { endpoint, receive, need }))
}

impl Mediator for Send {
    fn step<'a>(&'a self, exchange: &'a mut Exchange, context: &'a RequestContext<'a>) -> Step<'a> {
        when_ready(&self.need, exchange, context, move |exchange| {
            let endpoint = self.endpoint.as_ref().and_then(|endpoint| endpoint.find(context.definitions));
            if endpoints::is_rendered_for(exchange, context, endpoint) {
                let outcome = self.send(exchange, context);
                return Step::Done(exchange, outcome);
            }
            Step::Wait(Box::pin(async move {
                let outcome = match render_body(exchange, context).await {
                    Ok(()) => self.send(exchange, context),
                    Err(fault) => Err(fault),
                };
                (exchange, outcome)
            }))
        })
    }

    fn effect(&self) -> Effect<'_> {
        let receiver = self.endpoint.as_ref().map_or(Receiver::Addressee, |endpoint| Receiver::Endpoint(endpoint));
        let effect = Effect { reads: self.need.reads(), ..Effect::sending(receiver) };
        match &self.receive {
            Some(Receive::Named(id)) => effect.with("response", Steps::Named(*id)),
            Some(Receive::Computed(_)) => effect.with("response", Steps::WorkedOut),
            None => effect,
        }
    }
}

impl Send {
    fn send(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Flow> {
        if exchange.decision.is_some() {
            return Err(Fault::bus("The message was sent already by another sequence"));
        }
        let decision = match &self.endpoint {
            None if exchange.is_response() || exchange.faulted.is_some() => {
                Decision::Answer(exchange.answer(exchange.last)?)
            }
            endpoint => {
                let receive = match &self.receive {
                    Some(receive) => Some(receive.find(exchange, context)?),
                    None => None,
                };
                let endpoint = match endpoint {
                    Some(endpoint) => Some(endpoint.find(context.definitions).ok_or_else(Fault::missing)?),
                    None => None,
                };
                // Whoever handles a failure wants to see the head of what failed.
                let for_good = exchange.last && !exchange.guarded && exchange.handlers.is_empty();
                let mut departure = endpoints::depart(exchange, context, endpoint, for_good)?;
                departure.receive = receive;
                Decision::Forward(departure)
            }
        };
        exchange.decision = Some(decision);
        Ok(Flow::Next)
    }
}

impl Receive {
    fn find(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<SequenceId> {
        match self {
            Receive::Named(id) => Ok(*id),
            Receive::Computed(expression) => {
                named(&expression.text(exchange, context)?.unwrap_or_default(), context).map(|(id, _)| id)
            }
        }
    }
}
