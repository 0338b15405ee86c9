//! What `clone`, `iterate` and others let each branch of a flow do: it runs a sequence, or goes to an endpoint.

use std::sync::Arc;

use crate::endpoints::{self, EndpointRef};
use crate::loader::Loader;
use crate::splitting::Splitter;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_expression::Need;
use myelin_flow::branches::{BranchProperties, BranchResponse, BranchTargets};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::mediator::{Effect, Flow, Reads, Receiver, Steps};
use myelin_flow::property::{Scope, Value, slot};
use myelin_flow::recorder::BranchStart;
use myelin_flow::sequence::{self, Sequence, SequenceId};
use myelin_flow::transport::LocalFuture;

/// A `target` of `clone` or `iterate`.
pub(crate) struct BranchTarget {
    /// Where the message is addressed from then on.
    to: Option<Arc<str>>,
    action: Option<Arc<str>>,
    work: Work,
}

/// The targets of one mediator.
pub(crate) struct BranchTargetList(Vec<BranchTarget>);

impl BranchTargetList {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The effect of a mediator that splits its message among them.
    pub(crate) fn effect(&self, reads: Reads) -> Effect<'_> {
        BranchTarget::effect(&self.0, reads)
    }
}

impl BranchTargets for BranchTargetList {
    fn run<'a>(
        &'a self,
        number: usize,
        response: BranchResponse,
        exchange: &'a mut Exchange,
        context: &'a RequestContext<'a>,
    ) -> LocalFuture<'a, Outcome<Flow>> {
        Box::pin(async move {
            match self.0.get(number).or(self.0.last()) {
                Some(target) => target.run(response, exchange, context).await,
                None => Ok(Flow::Drop),
            }
        })
    }
}

/// Reads what `clone` or `iterate` say of the branches that a flow goes on in.
pub(crate) fn splitter(element: &Element, loader: &mut Loader) -> Result<Splitter<BranchTargetList>, Problem> {
    let id = element.attribute("id").map(|id| Arc::from(id.value));
    let continues_parent = element.switch("continueParent", false)?;
    let sequential = element.switch("sequential", false)?;
    let mut targets = Vec::new();
    for child in element.children.iter().filter(|child| !child.is("description")) {
        match child.is("target") {
            true => targets.push(BranchTarget::read(child, loader)?),
            false => return Err(child.problem(format!("{} holds targets, not {}", element.tag(), child.tag()))),
        }
    }
    if targets.is_empty() {
        return Err(element.problem(format!("{} needs a target", element.tag())));
    }
    let properties = BranchProperties::new(id.as_deref(), loader.names());
    let targets = Arc::new(BranchTargetList(targets));
    Ok(Splitter { id, properties, continues_parent, sequential, comes_back: true, targets })
}

/// The splitter of a sequence that runs beside the flow, which goes on and does not wait for it.
pub(crate) fn splitter_beside(
    target: BranchTarget,
    sequential: bool,
    loader: &mut Loader,
) -> Splitter<BranchTargetList> {
    let properties = BranchProperties::new(None, loader.names());
    let targets = Arc::new(BranchTargetList(vec![target]));
    Splitter { id: None, properties, continues_parent: true, sequential, comes_back: false, targets }
}

enum Work {
    Inline(Box<Sequence>),
    Named(SequenceId),
    Endpoint(EndpointRef),
    Nothing,
}

impl BranchTarget {
    /// Reads a `target`: of a sequence inside, one that is named, an endpoint inside and one that is named the first
    /// counts, as in Synapse.
    fn read(element: &Element, loader: &mut Loader) -> Result<BranchTarget, Problem> {
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
            (None, None, Some(endpoint)) => Work::Endpoint(endpoints::endpoint_reference(endpoint, loader)?),
            (None, None, None) => match element.attribute("endpoint") {
                Some(key) => Work::Endpoint(EndpointRef::Named(loader.endpoint_id(key)?)),
                None => {
                    loader.warning(element.problem("<target> has neither a sequence nor an endpoint: it does nothing"));
                    Work::Nothing
                }
            },
        };
        Ok(BranchTarget { to, action, work })
    }

    /// The target that a sequence inside of another element is.
    pub(crate) fn of_sequence(element: &Element, loader: &mut Loader) -> BranchTarget {
        BranchTarget::running(loader.sequence("sequence", element))
    }

    /// The target that runs a sequence.
    pub(crate) fn running(sequence: Sequence) -> BranchTarget {
        BranchTarget { to: None, action: None, work: Work::Inline(Box::new(sequence)) }
    }

    /// What `clone` and `iterate` do with such targets.
    pub(crate) fn effect(targets: &[BranchTarget], reads: Reads) -> Effect<'_> {
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

    /// Runs it for the copy of the flow that has that number, to the end of its sequence; `need` is then fulfilled of the message.
    ///
    /// Errors: the target's; the bus's, where it sends, or goes on in branches.
    pub(crate) async fn run_to_end(
        &self,
        number: usize,
        need: &Need,
        exchange: Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<(Box<Exchange>, Flow)> {
        if context.watch.recorder().is_none() {
            return self.run_alone(need, exchange, context).await;
        }
        // Several run in turns, and each is recorded by itself.
        let watch = context.watch.branch(BranchStart { number: Some(number), is_detached: false });
        let own = RequestContext { watch: &watch, ..*context };
        let outcome = Box::pin(self.run_alone(need, exchange, &own)).await;
        context.watch.join(&watch);
        if let Some(recorder) = watch.recorder() {
            recorder.flow_ends(outcome.as_ref().map(|_| None).map_err(|fault| &**fault));
        }
        outcome
    }

    async fn run_alone(
        &self,
        need: &Need,
        exchange: Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<(Box<Exchange>, Flow)> {
        let mut exchange = Box::new(exchange);
        let flow = self.run(BranchResponse::default(), &mut exchange, context).await?;
        if flow == Flow::Split || exchange.decision.is_some() {
            return Err(Fault::bus("What is waited for here can call, but neither send nor go on in branches"));
        }
        if flow == Flow::Next {
            need.fulfil(&mut exchange, context).await?;
        }
        Ok((exchange, flow))
    }

    /// Runs it for a message; what it sends is decided then, and carried out by whoever carries on.
    pub(crate) async fn run(
        &self,
        response: BranchResponse,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Flow> {
        for (slot, text) in [(slot::TO, &self.to), (slot::ACTION, &self.action)] {
            if let Some(text) = text {
                exchange.properties.put(Scope::Addressing, slot, Some(Value::Text(Arc::clone(text))));
            }
        }
        match &self.work {
            Work::Inline(sequence) => sequence::run(Some(sequence), exchange, context).await,
            Work::Named(id) => {
                let sequence = context.definitions.sequence(*id).ok_or_else(Fault::missing)?;
                sequence::run(Some(sequence), exchange, context).await
            }
            Work::Endpoint(endpoint) => endpoints::send_branch(endpoint, response, exchange, context).await,
            Work::Nothing => Ok(Flow::Drop),
        }
    }
}
