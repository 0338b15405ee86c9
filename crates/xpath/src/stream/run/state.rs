//! What a pass remembers beside the steps: what was found so far, what is still open, and the answers.

use myelin_xml::NamesId;

use super::super::plan::{Masks, Plan, PlanId};
use crate::Host;

/// One pass over one document; kept for the next, it keeps memory of the usual size.
///
/// Shape: [`start`](Run::start), then either [`drive`](Run::drive) or [`event`](Run::event) for each event and
/// [`finish`](Run::finish); all with the same plan. An answer once given is final.
#[derive(Debug, Default)]
pub struct Run {
    /// How many elements are open.
    pub(super) depth: usize,
    /// How many of these the host made up.
    pub(super) entered: usize,
    /// How much text of elements was looked at.
    pub(super) valued_bytes: usize,
    /// For each open element, the document before them, one for each word.
    pub(super) frames: Vec<Frame>,
    /// The positions counted among the children of each open element.
    pub(super) counters: Vec<u64>,
    pub(super) totals: Vec<u64>,
    /// For each name, one for each word: the steps it can take, and [`KNOWN`]; 0 where the name was not met.
    pub(super) classes: Vec<u64>,
    /// The plan and the names that the classes are for.
    pub(super) learnt_for: Option<(PlanId, NamesId)>,
    /// The steps that fit the element which has just opened, but have more to them; one for each word.
    pub(super) candidates: Vec<u64>,
    /// Steps nobody needs any more, one for each word.
    pub(super) retired: Vec<u64>,
    pub(super) accumulators: Vec<Accumulator>,
    pub(super) collecting: Vec<Progressing>,
    pub(super) gates: Vec<GateState>,
    /// The elements with predicates that wait for what they hold, outermost first.
    pub(super) scopes: Vec<Scope>,
    /// The elements whose text is wanted, outermost first.
    pub(super) captures: Vec<Capture>,
    pub(super) directs: Vec<Direct>,
    /// At least the depth of the innermost scope or capture: elements deeper than this end without further ado.
    pub(super) watched: usize,
    /// The text of all open captures of string values, in UTF-8.
    pub(super) text: Vec<u8>,
    /// The text node at which the pass is, which may come in several events.
    pub(super) node: String,
    pub(super) in_node: bool,
    pub(super) constants: Vec<Constant>,
    pub(super) answers: Vec<Settled>,
    pub(super) texts: Vec<String>,
}

/// What is looked for below one open element, of one word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    /// The steps its children may take; with those that are looked for at any depth.
    pub(super) expects: u64,
    /// Those of them that no further child will take: their positions have passed.
    pub(super) spent: u64,
    /// The steps that nodes behind the element may still take, below an element around it.
    pub(super) above: u64,
}

impl Frame {
    /// The steps that nodes still to come within the element may take; what its children cannot take any more, may
    /// theirs.
    #[inline]
    pub(super) fn hopes(self, masks: &Masks) -> u64 {
        self.expects & (!self.spent | masks.carry) & masks.lasting
    }
}

/// A host that can be asked for as long or as short as it takes.
pub type AnyHost<'s> = dyn for<'h> Host<'h> + 's;

/// What a pass goes by.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) plan: &'a Plan,
    pub(super) host: &'a AnyHost<'a>,
}

/// What a collector has found, as far as it is certain, or as far as one of its predicates turns out true.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Accumulator {
    pub(super) count: u64,
    /// Whether a comparison was true.
    pub(super) hit: bool,
    /// Whether the first node was found; its value may still be incomplete.
    pub(super) claimed: bool,
    pub(super) ready: bool,
    pub(super) text: String,
}

impl Accumulator {
    pub(super) fn clear(&mut self) {
        (self.count, self.hit, self.claimed, self.ready) = (0, false, false, false);
        empty(&mut self.text);
    }

    /// Adds what was found later under a condition that turned out true, and leaves nothing there.
    pub(super) fn absorb(&mut self, other: &mut Accumulator) {
        self.count += other.count;
        self.hit |= other.hit;
        self.claimed |= other.claimed;
        self.ready |= other.ready;
        self.text.push_str(&other.text);
        other.clear();
    }
}

/// How far a collector is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progressing {
    /// How many of its nodes are open, their values incomplete.
    pub(super) captures: u32,
    /// Whether nothing more can come.
    pub(super) complete: bool,
}

/// How far a predicate is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GateState {
    /// How many elements are open that it was true for, or that wait for it.
    pub(super) open: u32,
    /// Whether one of these had to wait: what it looks for below is under way until it closes.
    pub(super) spread: bool,
    /// Whether that one still waits.
    pub(super) pending: bool,
    /// Whether it was false for that one: what is found below does not count.
    pub(super) failed: bool,
}

/// An open element that satisfied a predicate, or waits for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    pub(super) gate: usize,
    pub(super) depth: usize,
    pub(super) waits: bool,
}

/// An open element whose string value is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capture {
    pub(super) collector: usize,
    pub(super) depth: usize,
    /// Where in the kept text it begins.
    pub(super) start: usize,
}

/// An open element of which only the texts directly in it are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direct {
    pub(super) collector: usize,
    pub(super) depth: usize,
    /// Whether these were white space so far.
    pub(super) blank: bool,
}

/// A value of the host's, read when the pass starts.
#[derive(Debug, Default)]
pub(super) struct Constant {
    pub(super) value: Scalar,
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Scalar {
    /// Nodes, or an error.
    #[default]
    Unusable,
    Boolean(bool),
    Number(f64),
    /// It stands beside.
    Text,
}

/// The answer to a query.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Settled {
    #[default]
    Open,
    Boolean(bool),
    Number(f64),
    /// It stands in [`Run::texts`].
    Text,
    NeedsTree,
}

impl Run {
    /// Forgets the document before; keeps memory of the usual size.
    pub(super) fn reset(&mut self, plan: &Plan) {
        self.depth = 0;
        self.entered = 0;
        self.valued_bytes = 0;
        self.frames.clear();
        self.frames.extend(plan.start.iter().map(|&expects| Frame { expects, spent: 0, above: 0 }));
        refill(&mut self.counters, plan.counters, 0);
        refill(&mut self.totals, plan.totals, 0);
        if self.classes.len() > KEPT_CLASSES || self.learnt_for.is_some_and(|(known, _)| known != plan.id) {
            self.forget_classes();
        }
        refill(&mut self.candidates, plan.masks.len(), 0);
        refill(&mut self.retired, plan.masks.len(), 0);
        // Texts keep their memory, so their owners are emptied one by one.
        self.accumulators.iter_mut().for_each(Accumulator::clear);
        at_least(&mut self.accumulators, plan.accumulators);
        refill(&mut self.collecting, plan.collectors.len(), Progressing::default());
        refill(&mut self.gates, plan.gates.len(), GateState::default());
        self.scopes.clear();
        self.captures.clear();
        self.directs.clear();
        self.watched = 0;
        self.text.clear();
        self.text.shrink_to(KEPT_BYTES);
        empty(&mut self.node);
        self.in_node = false;
        at_least(&mut self.constants, plan.constants.len());
        refill(&mut self.answers, plan.queries.len(), Settled::Open);
        self.texts.iter_mut().for_each(empty);
        at_least(&mut self.texts, plan.queries.len());
    }
}

impl Run {
    /// Forgets which steps names can take.
    pub(super) fn forget_classes(&mut self) {
        self.classes.clear();
        self.classes.shrink_to(KEPT_CLASSES);
        self.learnt_for = None;
    }
}

/// How much memory of each text is kept for the next document, and for how many names their steps.
const KEPT_BYTES: usize = 64 * 1024;
const KEPT_CLASSES: usize = 4 * 1024;

fn empty(text: &mut String) {
    text.clear();
    text.shrink_to(KEPT_BYTES);
}

fn refill<T: Clone>(list: &mut Vec<T>, length: usize, value: T) {
    if list.len() == length {
        list.fill(value);
    } else {
        list.clear();
        list.resize(length, value);
    }
}

fn at_least<T: Default>(list: &mut Vec<T>, length: usize) {
    if list.len() < length {
        list.resize_with(length, T::default);
    }
}

/// The numbers of the bits that are set, from the lowest.
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (bit < 64).then_some(bit)
    })
}
