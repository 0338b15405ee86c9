//! What several expressions are compiled to: paths as bits of words, and what is done with the nodes they lead to.
//!
//! Each step of a path is one bit. A path lies in one word, its first step at the lowest of its bits, so that "a node
//! took this step" becomes "its children are looked at for the next one" by one shift.

use std::sync::atomic::{AtomicU64, Ordering};

use myelin_xml::Name;

use super::names::NameFilter;
use crate::ast::{Comparison, Expr};

/// One of the expressions of a [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueryId(pub(super) u32);

/// Expressions compiled together, to be answered in one pass; it never changes.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub(super) id: PlanId,
    /// One for each word: the steps that the document's children can take.
    pub(super) start: Vec<u64>,
    /// One for each word.
    pub(super) masks: Vec<Masks>,
    /// By word and bit; the bits that no path has are empty steps.
    pub(super) steps: Vec<Vec<Step>>,
    pub(super) tests: Vec<Test>,
    pub(super) collectors: Vec<Collector>,
    pub(super) gates: Vec<Gate>,
    pub(super) queries: Vec<Query>,
    /// Operands that only the host knows.
    pub(super) constants: Vec<Expr>,
    /// Whether there are steps that take text nodes.
    pub(super) takes_text: bool,
    /// How many positions are counted for the children of each open element.
    pub(super) counters: usize,
    /// How many positions are counted over the whole document.
    pub(super) totals: usize,
    /// How many accumulators all collectors have together.
    pub(super) accumulators: usize,
}

/// Tells a plan from all others of the process, so that what a pass has learnt for it can serve the next one.
///
/// The default is that of a plan without expressions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PlanId(u64);

impl PlanId {
    /// One that no other plan has.
    pub(super) fn next() -> PlanId {
        static LAST: AtomicU64 = AtomicU64::new(0);
        // Nothing else has to be seen in the order of these numbers.
        PlanId(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// What is known of the 64 steps of one word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Masks {
    pub(super) used: u64,
    /// Steps that take elements; a node test can take several kinds.
    pub(super) element: u64,
    pub(super) attribute: u64,
    pub(super) text: u64,
    pub(super) comment: u64,
    pub(super) instruction: u64,
    /// Steps that are looked for at any depth below, not among the children only.
    pub(super) carry: u64,
    /// Steps that a node still to come can take: all but those of an element's own attributes.
    pub(super) lasting: u64,
    /// Steps behind which the path goes on.
    pub(super) inner: u64,
    /// The first steps of paths that begin anew at any depth, and all steps of these paths: as long as the first ones are
    /// looked for, none of the others is lost.
    pub(super) renewing: u64,
    pub(super) renewed: u64,
    /// Steps that end a path and have no predicates.
    pub(super) ends: u64,
    /// Steps of which more is to be known than that the name fits: they end the path or have predicates.
    pub(super) slow: u64,
}

/// One step of a path.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    pub(super) collector: usize,
    pub(super) checks: Vec<Check>,
}

/// What a node must satisfy beside its name, in the order written.
#[derive(Clone, Debug)]
pub(super) enum Check {
    Position(Position),
    Gate(usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// The last position that is taken.
    pub(super) last: u64,
    /// Whether the ones before it are taken, too.
    pub(super) before: bool,
    pub(super) counter: usize,
    /// Whether it counts over the whole document, as `(//a)[1]` does, or among the children of one parent.
    pub(super) whole: bool,
}

/// A name test, with the steps it is for; equal tests of several paths are one.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) names: NameFilter,
    /// One for each word.
    pub(super) steps: Vec<u64>,
}

/// What a path is for: it ends here.
#[derive(Clone, Debug)]
pub(super) struct Collector {
    pub(super) kind: Kind,
    pub(super) owner: Owner,
    pub(super) query: usize,
    pub(super) word: usize,
    /// The bits of its path; none where the path is `.`.
    pub(super) mask: u64,
    /// The predicates on the way that may be undecided when a node is found, outermost first.
    pub(super) gates: Vec<usize>,
    /// Its accumulators: what is certain, then for each of its gates what hangs on it.
    pub(super) accumulators: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Whether there is a node.
    Exists,
    /// How many nodes there are.
    Count,
    /// Whether the value of one of them compares true.
    Compare(Comparison, Operand),
    /// The first one's string value, or a part of its name.
    First(Part),
    /// The texts of all, as Synapse joins them.
    Texts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Value,
    /// The name as it is written.
    Name,
    LocalName,
    Namespace,
}

/// What nodes are compared with: the same for a whole pass.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Text(String),
    Number(f64),
    Boolean(bool),
    /// Known to the host: a place in [`Plan::constants`].
    Host(usize),
}

/// Whose condition or value a collector is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Query(usize),
    Gate(usize),
}

/// A predicate that is a condition.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    pub(super) condition: Condition,
    pub(super) collectors: Vec<usize>,
    /// Collectors whose path is `.`.
    pub(super) on_self: Vec<usize>,
    /// By word: the first steps of its paths that are attributes of the node itself.
    pub(super) attributes: Vec<(usize, u64)>,
    /// By word: the first steps of its other paths.
    pub(super) below: Vec<(usize, u64)>,
    pub(super) query: usize,
    /// The collector whose path it stands in.
    pub(super) collector: usize,
    /// Whether it can be undecided when an element has started: then the collector has it among its gates.
    pub(super) waits: bool,
    /// Which of these it is, counted from 1.
    pub(super) level: usize,
}

/// A condition over collectors that can be true or false before all of them are complete.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    Known(bool),
    Exists(usize),
    Compare(usize),
    Count(usize, Comparison, f64),
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    If(Box<[Condition; 3]>),
    /// True or false by its value.
    Term(Term),
}

/// An expression whose paths are replaced by variables; has a value when all its collectors are complete.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) expr: Expr,
    pub(super) collectors: Vec<usize>,
}

/// The variable that stands for a collector in a [`Term`] is its number above this.
pub(super) const COLLECTOR_SLOTS: u32 = 0x8000_0000;

#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) body: Body,
    pub(super) wanted: Wanted,
    /// By word: the steps of its paths.
    pub(super) steps: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Condition(Condition),
    Number(Term),
    Text(Term),
    Texts(usize),
}

impl Body {
    /// Whether there may be an answer before any node is found.
    pub(super) fn may_be_known_at_once(&self) -> bool {
        match self {
            Body::Condition(condition) => condition.may_be_known_at_once(),
            Body::Number(term) | Body::Text(term) => term.collectors.is_empty(),
            Body::Texts(_) => false,
        }
    }
}

impl Condition {
    fn may_be_known_at_once(&self) -> bool {
        match self {
            Condition::Exists(_) | Condition::Compare(_) => false,
            Condition::Not(condition) => condition.may_be_known_at_once(),
            Condition::And(several) | Condition::Or(several) => several.iter().any(Condition::may_be_known_at_once),
            // That there are so many or more may be certain of none.
            Condition::Count(..) | Condition::Known(_) | Condition::If(_) | Condition::Term(_) => true,
        }
    }
}

/// What is wanted of an expression: it decides how much must be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// True or false (XPath 1.0 §4.3).
    Boolean,
    /// The text that Synapse makes of it: a string, number or boolean as XPath writes it; of nodes, all texts joined in
    /// document order, an element giving the texts directly in it.
    ///
    /// Source: compare Synapse `SynapseXPath.stringValueOf`.
    Text,
    /// The string value of the first node (XPath 1.0 §4.2).
    String,
    /// The number (XPath 1.0 §4.4).
    Number,
}

impl Plan {
    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.queries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty()
    }

    /// For each word the steps that a name can take.
    pub(super) fn accept<'a>(&'a self, name: Name<'a>) -> impl Iterator<Item = u64> + 'a {
        // Which tests accept is asked once for each word, of which there is nearly always one.
        (0..self.masks.len()).map(move |word| {
            let fits = self.tests.iter().filter(|test| test.steps[word] != 0 && test.names.accepts(name));
            fits.fold(0, |steps, test| steps | test.steps[word])
        })
    }
}
