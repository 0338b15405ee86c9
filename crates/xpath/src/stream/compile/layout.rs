//! From the steps of a path to bits of a word, with what hangs on them.

use super::super::plan::{Check, Collector, Condition, Gate, Kind, Masks, Operand, Owner, Part, Position, Step, Test};
use super::path::{Draft, DraftCheck};
use super::{Compiler, NotStreamable, refuse};
use crate::ast::Expr;

/// How many steps fit a word: its last bit is for no step.
const STEPS: usize = 63;
/// How many words a plan can have; each costs time at each tag.
const WORDS: usize = 32;

impl<'e> Compiler<'e, '_> {
    /// Lays out a path and gives the collector at its end.
    pub(super) fn add(&mut self, steps: &[Draft<'e>], kind: Kind, owner: Owner) -> Result<usize, NotStreamable> {
        if steps.is_empty() && matches!(owner, Owner::Query(_)) {
            return refuse("the text of the whole document");
        }
        if matches!(owner, Owner::Gate(_)) && steps.first().is_some_and(|first| first.descends && first.kinds.attribute)
        {
            return refuse("a predicate on attributes at any depth");
        }
        let (word, first) = self.place(steps.len())?;
        let query = match owner {
            Owner::Query(query) => query,
            Owner::Gate(gate) => self.plan.gates[gate].query,
        };
        let index = self.plan.collectors.len();
        let mask = ((1_u64 << steps.len()) - 1) << first;
        let gates = Vec::new();
        self.plan.collectors.push(Collector { kind, owner, query, word, mask, gates, accumulators: 0 });
        for (place, step) in steps.iter().enumerate() {
            self.lay(step, index, first + place, place + 1 == steps.len())?;
        }
        self.plan.collectors[index].accumulators = self.plan.accumulators;
        self.plan.accumulators += self.plan.collectors[index].gates.len() + 1;
        self.begin(steps.first(), index, 1 << first);
        Ok(index)
    }

    /// Finds bits for a path: a word, and the lowest of its bits that are free.
    fn place(&mut self, steps: usize) -> Result<(usize, usize), NotStreamable> {
        if steps > STEPS {
            return refuse("a path with too many steps");
        }
        let free = |masks: &Masks| masks.used.trailing_ones() as usize;
        let word = match self.plan.masks.iter().position(|masks| free(masks) + steps <= STEPS) {
            Some(word) => word,
            None if self.plan.masks.len() == WORDS => return refuse("too many paths for one pass"),
            None => {
                self.plan.masks.push(Masks::default());
                self.plan.steps.push(vec![Step::default(); STEPS]);
                self.plan.start.push(0);
                self.plan.masks.len() - 1
            }
        };
        let first = free(&self.plan.masks[word]);
        self.plan.masks[word].used |= ((1 << steps) - 1) << first;
        Ok((word, first))
    }

    /// Lays out one step.
    fn lay(&mut self, draft: &Draft<'e>, collector: usize, bit: usize, last: bool) -> Result<(), NotStreamable> {
        let word = self.plan.collectors[collector].word;
        let step = 1_u64 << bit;
        let masks = &mut self.plan.masks[word];
        let mut set = |mask: fn(&mut Masks) -> &mut u64, wanted: bool| *mask(masks) |= if wanted { step } else { 0 };
        set(|masks| &mut masks.element, draft.kinds.element);
        set(|masks| &mut masks.attribute, draft.kinds.attribute);
        set(|masks| &mut masks.text, draft.kinds.text);
        set(|masks| &mut masks.comment, draft.kinds.comment);
        set(|masks| &mut masks.instruction, draft.kinds.instruction);
        set(|masks| &mut masks.carry, draft.descends);
        set(|masks| &mut masks.lasting, draft.descends || !draft.kinds.attribute);
        set(|masks| &mut masks.inner, !last);
        set(|masks| &mut masks.slow, last || !draft.checks.is_empty());
        set(|masks| &mut masks.ends, last && draft.checks.is_empty());
        let tests = &mut self.plan.tests;
        let test = tests.iter().position(|test| test.names == draft.names).unwrap_or_else(|| {
            tests.push(Test { names: draft.names.clone(), steps: Vec::new() });
            tests.len() - 1
        });
        let tested = &mut tests[test].steps;
        tested.resize(tested.len().max(word + 1), 0);
        tested[word] |= step;

        let mut checks = Vec::with_capacity(draft.checks.len());
        let mut waits = false;
        for check in &draft.checks {
            checks.push(match check {
                DraftCheck::Position { whole, .. } if waits || *whole && self.is_waiting(collector) => {
                    return refuse("a position among elements with a condition on what they hold");
                }
                DraftCheck::Position { last, before, whole } => Check::Position(self.position(*last, *before, *whole)),
                DraftCheck::Condition(condition) => {
                    let gate = self.gate(condition, collector)?;
                    waits |= self.plan.gates[gate].waits;
                    Check::Gate(gate)
                }
            });
        }
        self.plan.steps[word][bit] = Step { collector, checks };
        Ok(())
    }

    /// Whether nodes of a collector can depend on something undecided.
    fn is_waiting(&self, collector: usize) -> bool {
        !self.plan.collectors[collector].gates.is_empty()
    }

    fn position(&mut self, last: u64, before: bool, whole: bool) -> Position {
        let counters = if whole { &mut self.plan.totals } else { &mut self.plan.counters };
        let counter = *counters;
        // The first position needs no counting: what has come once is over.
        *counters += usize::from(last > 1);
        Position { last, before, counter, whole }
    }

    /// Compiles a predicate that is a condition.
    fn gate(&mut self, condition: &'e Expr, collector: usize) -> Result<usize, NotStreamable> {
        let index = self.plan.gates.len();
        self.plan.gates.push(Gate {
            condition: Condition::Known(false),
            query: self.plan.collectors[collector].query,
            collector,
            collectors: Vec::new(),
            on_self: Vec::new(),
            attributes: Vec::new(),
            below: Vec::new(),
            waits: false,
            level: 0,
        });
        let condition = self.condition(condition, Owner::Gate(index))?;
        let gates = &mut self.plan.collectors[collector].gates;
        let gate = &mut self.plan.gates[index];
        gate.condition = condition;
        if gate.waits {
            gates.push(index);
            gate.level = gates.len();
        }
        Ok(index)
    }

    /// Notes where a path begins to be followed.
    fn begin(&mut self, first: Option<&Draft<'_>>, index: usize, step: u64) {
        let Collector { word, owner, .. } = self.plan.collectors[index];
        let Owner::Gate(gate) = owner else {
            self.plan.start[word] |= step;
            let masks = &mut self.plan.masks[word];
            if first.is_some_and(|first| first.descends && !first.kinds.attribute) {
                masks.renewing |= step;
                masks.renewed |= self.plan.collectors[index].mask;
            }
            return;
        };
        let takes_value = match &self.plan.collectors[index].kind {
            Kind::First(part) => *part == Part::Value,
            Kind::Compare(_, operand) => !matches!(operand, Operand::Boolean(_)),
            Kind::Exists | Kind::Count | Kind::Texts => false,
        };
        let gate = &mut self.plan.gates[gate];
        gate.collectors.push(index);
        match first {
            None => {
                gate.on_self.push(index);
                gate.waits |= takes_value;
            }
            Some(first) if first.kinds.attribute => {
                gate.attributes.push((word, step));
            }
            Some(_) => {
                gate.below.push((word, step));
                gate.waits = true;
            }
        }
    }
}
