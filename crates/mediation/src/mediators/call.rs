//! `<call>`: the current message goes to a backend, and the flow goes on with its response.

use crate::config::{Element, Loader};
use crate::content::Need;
use crate::effect::{Effect, Receiver};
use crate::endpoint::{self, EndpointRef};
use crate::engine;
use crate::exchange::{Exchange, Scene};
use crate::fault::Outcome;
use crate::mediator::{Built, Flow, Mediator, Spec, Step};

pub(super) const SPEC: Spec = Spec { element: "call", doc: DOC, build };

const DOC: &str = r#"
Sends the current message to an endpoint, inline or named by `key`, and goes on with the response.
Without an endpoint it goes to the absolute URI that `To` holds.

Properties of scope `default` are kept; those of scope `axis2` and the header lines are then the response's.
With `OUT_ONLY` the flow goes on with a message that was sent.

    <call>
        <endpoint key="quotes"/>
    </call>
"#;

struct Call {
    endpoint: Option<EndpointRef>,
}

fn build(element: &Element, loader: &mut Loader) -> Built {
    // Whether it blocks a thread is a matter of Synapse's threads; the flow waits in either case.
    for attribute in ["blocking", "initAxis2ClientOptions"] {
        element.attribute(attribute);
    }
    let mut endpoint = None;
    for child in &element.children {
        if !child.is("endpoint") || endpoint.is_some() {
            return Err(child.problem(format!("<call> holds at most one <endpoint>, not {}", child.tag())));
        }
        endpoint = Some(endpoint::endpoint_reference(child, loader)?);
    }
    Ok(Box::new(Call { endpoint }))
}

impl Call {
    async fn call(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
        let endpoint = match &self.endpoint {
            Some(endpoint) => Some(endpoint.find(scene.bus).ok_or_else(engine::missing)?),
            None => {
                Need::addressee().bring(exchange, scene).await?;
                None
            }
        };
        let departure = endpoint::depart(exchange, scene, endpoint, false)?;
        Box::new(departure).carry_out(exchange, scene).await?;
        Ok(Flow::Next)
    }
}

impl Mediator for Call {
    fn effect(&self) -> Effect<'_> {
        let receiver = self.endpoint.as_ref().map_or(Receiver::Addressee, Receiver::Endpoint);
        Effect { changes: true, ..Effect::sending(receiver) }
    }

    fn step<'a>(&'a self, exchange: &'a mut Exchange, scene: &'a Scene<'a>) -> Step<'a> {
        Step::Wait(Box::pin(async move {
            let outcome = self.call(exchange, scene).await;
            (exchange, outcome)
        }))
    }
}
