//! A flow that goes on in branches: from one message to many, one after the other as there is room for them.

use std::rc::Rc;
use std::sync::Arc;

use myelin_message::Message;

use super::Stage;
use super::family::{Family, Kin};
use super::slots::Slots;
use super::target::Target;
use crate::answer;
use crate::config::{Element, Loader, Problem};
use crate::engine;
use crate::exchange::{Exchange, Scene};
use crate::fault::{Fault, Outcome};
use crate::mediator::Flow;
use crate::property::{Names, Scope, Slot, Value};
use crate::sequence::{Rest, SequenceId};

/// Branches within branches deeper than this are a loop.
const GENERATIONS: usize = 8;

/// A message that is split, gathered, and split again more often than this is in a loop.
const SPLITS: usize = 100;

/// What `clone` and `iterate` say alike of the branches that a flow goes on in.
pub(crate) struct Splitter {
    id: Option<Arc<str>>,
    marks: Marks,
    /// Whether the flow itself goes on, too.
    continues_parent: bool,
    /// Whether each branch begins when the one before it has ended, and not at once.
    sequential: bool,
    /// Whether a branch that has called a backend goes on behind the mediator.
    comes_back: bool,
    /// What each branch does: the target with its number, or the last one.
    targets: Arc<[Target]>,
}

/// What a mediator leaves in its exchange for who begins the branches.
pub(crate) struct Split {
    branches: Branches,
    sequential: bool,
    comes_back: bool,
    targets: Arc<[Target]>,
    /// The flow that goes on besides as if nothing had been.
    parent: Option<Box<Exchange>>,
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

/// How a flow goes on that called an endpoint: with the response, or, for a list of recipients, in branches that go on
/// with theirs.
pub(crate) fn called(exchange: &mut Exchange) -> Flow {
    let Some(split) = &mut exchange.split else { return Flow::Next };
    split.comes_back = true;
    Arc::get_mut(&mut split.targets).into_iter().flatten().for_each(|target| target.calls = true);
    Flow::Split
}

/// Makes the messages of branches.
struct Branches {
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

impl Splitter {
    /// Reads the attributes and targets of `clone` or `iterate`.
    pub(crate) fn read(element: &Element, loader: &mut Loader) -> Result<Splitter, Problem> {
        let id = element.attribute("id").map(|id| Arc::from(id.value));
        let continues_parent = element.switch("continueParent", false)?;
        let sequential = element.switch("sequential", false)?;
        let mut targets = Vec::new();
        for child in element.children.iter().filter(|child| !child.is("description")) {
            match child.is("target") {
                true => targets.push(Target::read(child, loader)?),
                false => return Err(child.problem(format!("{} holds targets, not {}", element.tag(), child.tag()))),
            }
        }
        if targets.is_empty() {
            return Err(element.problem(format!("{} needs a target", element.tag())));
        }
        let marks = Marks::new(id.as_deref(), loader.names());
        Ok(Splitter { id, marks, continues_parent, sequential, comes_back: true, targets: targets.into() })
    }

    /// That of a sequence that nobody waits for, while the flow goes on.
    pub(crate) fn beside(target: Target, sequential: bool, loader: &mut Loader) -> Splitter {
        let marks = Marks::new(None, loader.names());
        let targets = Arc::new([target]);
        Splitter { id: None, marks, continues_parent: true, sequential, comes_back: false, targets }
    }

    /// That of branches which go their way by themselves, one for each target.
    pub(crate) fn to(targets: Vec<Target>, marks: Marks) -> Splitter {
        let targets = targets.into();
        Splitter { id: None, marks, continues_parent: false, sequential: false, comes_back: false, targets }
    }

    /// What the branches do.
    pub(crate) fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Lets a flow go on in copies of its message, which was read, one for each target.
    ///
    /// Errors: as [`Splitter::split`].
    pub(crate) fn split_copies(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Flow> {
        let mut original = exchange.branch()?;
        original.message.body.share();
        let make = move |_| {
            let copy = original.branch()?;
            let bytes = copy.message.body.length().unwrap_or_default();
            Ok((copy, bytes as usize))
        };
        self.split(exchange, scene, self.targets.len(), make)
    }

    /// Lets a flow go on in so many branches; `make` gives the message with a number, and about how many bytes its copy
    /// takes, when the branch begins.
    ///
    /// Errors: the bus's, where branches turn in a circle, or a message that was sent is to go on.
    pub(crate) fn split(
        &self,
        exchange: &mut Exchange,
        scene: &Scene<'_>,
        count: usize,
        make: impl FnMut(usize) -> Outcome<(Exchange, usize)> + 'static,
    ) -> Outcome<Flow> {
        if exchange.kin.iter().filter(|kin| kin.is_coming()).count() >= GENERATIONS {
            let message = format!("Branches nest deeper than {GENERATIONS}: one splits itself without end");
            return Err(Fault::bus(message));
        }
        if exchange.kin.len() >= SPLITS {
            return Err(Fault::bus(format!("A message is split more than {SPLITS} times, one time after the other")));
        }
        let parent = if self.continues_parent { Some(Box::new(exchange.branch()?)) } else { None };
        let branches = Branches {
            family: Family::new(self.id.clone(), count),
            marks: self.marks,
            correlation: exchange.message_id(scene).into(),
            make: Box::new(make),
        };
        let Splitter { sequential, comes_back, ref targets, .. } = *self;
        let targets = Arc::clone(targets);
        exchange.split =
            Some(Box::new(Split { branches, sequential, comes_back, targets, parent, behind: Vec::new() }));
        Ok(Flow::Split)
    }
}

impl Branches {
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

/// Begins the branches in which a flow goes on; the flow itself ends here.
///
/// `implicit` says whether what the flow besides does not send goes to the service's own endpoint.
pub(crate) fn carry_on(exchange: &mut Exchange, scene: &Scene<'_>, implicit: bool) {
    let Some(mut split) = exchange.split.take() else { return };
    let parent = split.parent.take();
    let stage = scene.stage();
    let behind: Rc<[Rest]> = std::mem::take(&mut split.behind).into();
    let around: Vec<_> = exchange.kin.iter().map(|kin| Rc::clone(&kin.family)).collect();
    let mut families = around.clone();
    families.push(Rc::clone(&split.branches.family));
    let left = if split.comes_back { Rc::clone(&behind) } else { Rc::default() };
    stage.spawn(families, Box::pin(begin_all(Rc::clone(stage), split, left)));
    if let Some(parent) = parent {
        stage.spawn(around, Box::pin(go_on(Rc::clone(stage), parent, behind, implicit)));
    }
}

/// The flow that goes on besides as if nothing had been: a branch like the others for the client, who waits for none
/// of them once one has answered.
async fn go_on(stage: Rc<Stage>, mut exchange: Box<Exchange>, behind: Rc<[Rest]>, implicit: bool) {
    let scene = stage.scene();
    let outcome = Rest::run(&behind, &mut exchange, &scene).await;
    let outcome = match engine::settled(outcome, &exchange, &scene) {
        Ok(flow) => engine::carry_on(&mut exchange, &scene, flow, implicit).await,
        Err(fault) => Err(fault),
    };
    end(&stage, &mut exchange, outcome).await;
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
    let outcome = run(target, &behind, &mut exchange, &scene).await;
    end(&stage, &mut exchange, outcome).await;
}

/// A branch has come to its end, which may be the client's answer; a fault is for its handlers first.
async fn end(stage: &Rc<Stage>, exchange: &mut Exchange, outcome: Outcome<Option<Message>>) {
    let outcome = match outcome {
        Err(fault) => Box::pin(engine::recover(exchange, &stage.scene(), fault)).await.map(Some),
        outcome => outcome,
    };
    if let Err(fault) = &outcome {
        exchange.kin.iter().for_each(|kin| kin.family.fail(fault));
    }
    match outcome {
        Ok(None) => {}
        _ if exchange.accepted => stage.answer(answer::accepted()),
        Ok(Some(answer)) => stage.answer(answer),
        Err(fault) => stage.fail(fault),
    }
}

/// Runs a branch's target, and what is behind the mediator that made the branch.
///
/// As in Micro Integrator a branch comes back to what is behind only where its target has called a backend.
async fn run(target: &Target, behind: &[Rest], exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<Option<Message>> {
    let mut flow = target.run(exchange, scene).await?;
    if flow == Flow::Next && exchange.called && exchange.decision.is_none() {
        let outcome = Rest::run(behind, exchange, scene).await;
        flow = engine::settled(outcome, exchange, scene)?;
    } else if let Some(split) = exchange.split.as_mut().filter(|_| flow == Flow::Split) {
        split.behind.extend_from_slice(behind);
    }
    // What the target sent knows the handlers around it; neither they nor a template stand around what comes back.
    exchange.handlers.clear();
    exchange.functions.clear();
    engine::carry_on(exchange, scene, flow, false).await
}
