//! A flow that goes on in branches: from one message to many, one after the other as there is room for them.

use std::rc::Rc;
use std::sync::Arc;

use super::Stage;
use super::family::{Family, Kin};
use super::slots::Slots;
use super::target::Target;
use crate::answer;
use crate::engine;
use crate::exchange::{Exchange, Scene};
use crate::fault::{Fault, Outcome};
use crate::mediator::Flow;
use crate::property::{Names, Scope, Slot, Value};
use crate::sequence::{Rest, SequenceId};

/// Branches within branches deeper than this are a loop.
const GENERATIONS: usize = 8;

/// What a mediator says of the branches that its flow goes on in.
pub(crate) struct Split {
    pub(crate) branches: Branches,
    /// Whether each of them begins when the one before it has ended, and not at once.
    pub(crate) sequential: bool,
    /// What each of them does: the target with its number, or the last one.
    pub(crate) targets: Arc<[Target]>,
    /// The flow that goes on besides as if nothing had been.
    pub(crate) parent: Option<Box<Exchange>>,
    /// Whether a branch that has called a backend goes on behind the mediator.
    pub(crate) comes_back: bool,
    /// What is left of the sequences around the mediator, from the inside out.
    pub(crate) behind: Vec<Rest>,
}

impl Split {
    /// What the branches send has its responses run through that sequence.
    pub(crate) fn receive(&mut self, sequence: Option<SequenceId>) {
        // Nobody else knows the targets of a list of recipients.
        Arc::get_mut(&mut self.targets).into_iter().flatten().for_each(|target| target.receive = sequence);
    }
}

/// Makes the messages of branches.
pub(crate) struct Branches {
    family: Rc<Family>,
    marks: Marks,
    /// What the properties say of all of them: the identifier of the message that they were made of.
    correlation: Arc<str>,
    make: Box<dyn FnMut(usize) -> Outcome<(Exchange, usize)>>,
}

/// The properties by which configurations tell branches apart; compare Synapse's `EIPConstants`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    /// `messageSequence`: which of how many, as `0/3`.
    sequence: Slot,
    /// `aggregateCorelation`: the identifier of the message that they were made of.
    correlation: Slot,
}

impl Marks {
    /// Those of a mediator with that `id`.
    pub(crate) fn new(id: Option<&str>, names: &mut Names) -> Marks {
        let mut slot = |name: &str| match id {
            Some(id) => names.slot(&format!("{name}.{id}")),
            None => names.slot(name),
        };
        Marks { sequence: slot("messageSequence"), correlation: slot("aggregateCorelation") }
    }
}

impl Branches {
    /// Branches of a message; `make` gives the message with a number, and about how many bytes its copy takes.
    ///
    /// Errors: the bus's, where branches are nested too deep.
    pub(crate) fn of(
        exchange: &Exchange,
        scene: &Scene<'_>,
        (id, marks): (Option<&Arc<str>>, Marks),
        count: usize,
        make: impl FnMut(usize) -> Outcome<(Exchange, usize)> + 'static,
    ) -> Outcome<Branches> {
        if exchange.kin.len() >= GENERATIONS {
            let message = format!("Branches nest deeper than {GENERATIONS}: one splits itself without end");
            return Err(Fault::bus(message));
        }
        let correlation = exchange.message_id(scene).into();
        Ok(Branches { family: Family::new(id.cloned(), count), marks, correlation, make: Box::new(make) })
    }

    /// Makes the message of one branch; about how many bytes it takes.
    fn make(&mut self, kin: Kin) -> Outcome<(Exchange, usize)> {
        let (mut exchange, bytes) = (self.make)(kin.number)?;
        let sequence = format!("{}/{}", kin.number, self.family.total());
        let text = |text: &str| Some(Value::Text(text.into()));
        exchange.properties.put(Scope::Default, self.marks.sequence, text(&sequence));
        exchange.properties.put(Scope::Default, self.marks.correlation, text(&self.correlation));
        exchange.kin.push(kin);
        Ok((exchange, bytes))
    }
}

/// Begins the branches in which a flow goes on, and says how the flow itself does.
pub(crate) async fn carry_on(exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
    let Some(mut split) = exchange.split.take() else { return Ok(Flow::Drop) };
    let parent = split.parent.take();
    let stage = scene.stage();
    let behind: Rc<[Rest]> = std::mem::take(&mut split.behind).into();
    let mut families: Vec<_> = exchange.kin.iter().map(|kin| Rc::clone(&kin.family)).collect();
    families.push(Rc::clone(&split.branches.family));
    let left = if split.comes_back { Rc::clone(&behind) } else { Rc::default() };
    stage.spawn(families, Box::pin(begin_all(Rc::clone(stage), split, left)));
    match parent {
        Some(parent) => {
            *exchange = *parent;
            Rest::run(&behind, exchange, scene).await
        }
        None => Ok(Flow::Drop),
    }
}

/// Begins branches as there is room for them.
async fn begin_all(stage: Rc<Stage>, split: Box<Split>, behind: Rc<[Rest]>) {
    let Split { mut branches, sequential, targets, .. } = *split;
    let alone = sequential.then(|| Slots::new(1, usize::MAX));
    let mut unborn = branches.family.unborn();
    while let Some(kin) = unborn.next() {
        let number = kin.number;
        let one_by_one = match &alone {
            Some(alone) => Some(alone.take(0).await),
            None => None,
        };
        let (mut exchange, bytes) = match branches.make(kin).and_then(|made| stage.count_copy(made)) {
            Ok(made) => made,
            Err(fault) => {
                engine::log(&fault, &stage.scene().arrival);
                branches.family.fail(&fault);
                return stage.fail(fault);
            }
        };
        exchange.room = (Some(stage.room(bytes).await), one_by_one);
        let families = exchange.kin.iter().map(|kin| Rc::clone(&kin.family)).collect();
        let life = live(Rc::clone(&stage), exchange, Arc::clone(&targets), number, Rc::clone(&behind));
        stage.spawn(families, Box::pin(life));
    }
}

/// One branch from its beginning to its end, which may be the client's answer.
async fn live(stage: Rc<Stage>, mut exchange: Exchange, targets: Arc<[Target]>, number: usize, behind: Rc<[Rest]>) {
    let scene = stage.scene();
    let Some(target) = targets.get(number).or(targets.last()) else { return };
    let outcome = match run(target, &behind, &mut exchange, &scene).await {
        Err(fault) => Box::pin(engine::recover(&mut exchange, &scene, fault)).await.map(Some),
        outcome => outcome,
    };
    match outcome {
        Ok(Some(_)) if exchange.accepted => stage.answer(answer::accepted()),
        Ok(Some(answer)) => stage.answer(answer),
        Ok(None) => {}
        Err(fault) => {
            exchange.kin.iter().for_each(|kin| kin.family.fail(&fault));
            stage.fail(fault);
        }
    }
}

/// Runs a branch's target, and what is behind the mediator that made the branch.
///
/// As in Micro Integrator a branch comes back to what is behind only where its target has called a backend.
async fn run(
    target: &Target,
    behind: &[Rest],
    exchange: &mut Exchange,
    scene: &Scene<'_>,
) -> Outcome<Option<myelin_message::Message>> {
    let mut flow = target.run(exchange, scene).await?;
    if flow == Flow::Next && exchange.called && exchange.decision.is_none() {
        flow = Rest::run(behind, exchange, scene).await?;
    } else if let Some(split) = exchange.split.as_mut().filter(|_| flow == Flow::Split) {
        split.behind.extend_from_slice(behind);
    }
    // What the target sent knows the handlers around it; neither they nor a template stand around what comes back.
    exchange.handlers.clear();
    exchange.functions.clear();
    engine::carry_on(exchange, scene, flow, false).await
}
