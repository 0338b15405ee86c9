//! What a branch does: it runs a sequence, or goes to an endpoint.

use std::sync::Arc;

use super::split::called;
use crate::config::{Element, Loader, Problem};
use crate::content::take_form;
use crate::effect::{Effect, Reads, Receiver, Steps};
use crate::endpoint::{self, EndpointRef};
use crate::engine;
use crate::exchange::{Decision, Exchange, Scene};
use crate::fault::Outcome;
use crate::mediator::Flow;
use crate::property::{Scope, Value, slot};
use crate::sequence::{Sequence, SequenceId};

/// A `target` of `clone` or `iterate`.
pub(crate) struct Target {
    /// Where the message is addressed from then on.
    to: Option<Arc<str>>,
    action: Option<Arc<str>>,
    work: Work,
    /// The sequence for the response of an endpoint, where that is not the service's own.
    pub(super) receive: Option<SequenceId>,
    /// Whether the response of an endpoint takes the place of the message, and the flow goes on.
    pub(super) calls: bool,
}

enum Work {
    Inline(Box<Sequence>),
    Named(SequenceId),
    Endpoint(EndpointRef),
    Nothing,
}

impl Target {
    /// Reads a `target`: of a sequence inside, one that is named, an endpoint inside and one that is named the first
    /// counts, as in Synapse.
    pub(crate) fn read(element: &Element, loader: &mut Loader) -> Result<Target, Problem> {
        let text =
            |name| element.attribute(name).map(|text| Arc::from(text.value)).filter(|text: &Arc<str>| !text.is_empty());
        let (to, action) = (text("to"), text("soapAction"));
        if let Some(child) = element
            .children
            .iter()
            .find(|child| !(child.is("sequence") || child.is("endpoint") || child.is("description")))
        {
            return Err(child.problem(format!("<target> holds a sequence or an endpoint, not {}", child.tag())));
        }
        let work = match (element.child("sequence"), element.attribute("sequence"), element.child("endpoint")) {
            (Some(sequence), _, _) if sequence.attribute("key").is_none() => {
                Work::Inline(Box::new(loader.sequence("target", sequence)))
            }
            (Some(sequence), _, _) => Work::Named(loader.sequence_id(sequence.required("key")?)?),
            (None, Some(key), _) => Work::Named(loader.sequence_id(key)?),
            (None, None, Some(endpoint)) => Work::Endpoint(endpoint::endpoint_reference(endpoint, loader)?),
            (None, None, None) => match element.attribute("endpoint") {
                Some(key) => Work::Endpoint(EndpointRef::Named(loader.endpoint_id(key)?)),
                None => {
                    loader.warning(element.problem("<target> has neither a sequence nor an endpoint: it does nothing"));
                    Work::Nothing
                }
            },
        };
        Ok(Target { to, action, work, receive: None, calls: false })
    }

    /// One that sends its message to an endpoint.
    pub(crate) fn endpoint(endpoint: EndpointRef) -> Target {
        Target { to: None, action: None, work: Work::Endpoint(endpoint), receive: None, calls: false }
    }

    /// The target that a sequence inside of another element is.
    pub(crate) fn of_sequence(element: &Element, loader: &mut Loader) -> Target {
        Target::running(loader.sequence("sequence", element))
    }

    /// The target that runs a sequence.
    pub(crate) fn running(sequence: Sequence) -> Target {
        Target { to: None, action: None, work: Work::Inline(Box::new(sequence)), receive: None, calls: false }
    }

    /// What `clone` and `iterate` do with such targets.
    pub(crate) fn effect(targets: &[Target], reads: Reads) -> Effect<'_> {
        let mut effect = Effect::reading(reads);
        for (index, target) in targets.iter().enumerate() {
            let label = format!("target {}", index + 1);
            match &target.work {
                Work::Inline(sequence) => effect = effect.with(label, Steps::Sequence(sequence)),
                Work::Named(id) => effect = effect.with(label, Steps::Named(*id)),
                Work::Endpoint(endpoint) => effect.sends = Some(Receiver::Endpoint(endpoint)),
                Work::Nothing => {}
            }
        }
        effect
    }

    /// Runs it for a message; what it sends is decided then, and carried out by whoever carries on.
    pub(crate) async fn run(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
        for (slot, text) in [(slot::TO, &self.to), (slot::ACTION, &self.action)] {
            if let Some(text) = text {
                exchange.properties.put(Scope::Addressing, slot, Some(Value::Text(Arc::clone(text))));
            }
        }
        match &self.work {
            Work::Inline(sequence) => engine::run(Some(sequence), exchange, scene).await,
            Work::Named(id) => {
                let sequence = scene.bus.sequence(*id).ok_or_else(engine::missing)?;
                engine::run(Some(sequence), exchange, scene).await
            }
            Work::Endpoint(endpoint) => {
                let endpoint = endpoint.find(scene.bus).ok_or_else(engine::missing)?;
                take_form(exchange, scene).await?;
                if self.calls {
                    endpoint::depart(exchange, scene, Some(endpoint), false)?.carry_out(exchange, scene).await?;
                    return Ok(called(exchange));
                }
                let for_good = !exchange.guarded && exchange.handlers.is_empty();
                let mut departure = endpoint::depart(exchange, scene, Some(endpoint), for_good)?;
                departure.receive = self.receive;
                exchange.decision = Some(Decision::Forward(departure));
                Ok(Flow::Next)
            }
            Work::Nothing => Ok(Flow::Drop),
        }
    }
}
