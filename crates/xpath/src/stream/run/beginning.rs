//! Documents that begin alike: a pass over the next one starts where they may differ.

use super::super::plan::{Plan, PlanId};
use super::state::{Accumulator, AnyHost, Capture, Direct, Frame, GateState, Progressing, Run, Scene, Scope, Settled};

/// How a pass stands behind the beginning of a document that has answered nothing: see [`Run::beginning`].
#[derive(Clone, Debug)]
pub struct Beginning {
    plan: PlanId,
    depth: usize,
    entered: usize,
    watched: usize,
    frames: Vec<Frame>,
    counters: Vec<u64>,
    totals: Vec<u64>,
    retired: Vec<u64>,
    collecting: Vec<Progressing>,
    gates: Vec<GateState>,
    scopes: Vec<Scope>,
    captures: Vec<Capture>,
    directs: Vec<Direct>,
}

impl Run {
    /// How the pass stands, for documents that begin as this one does up to here; none where it has an answer or keeps
    /// anything of what it has read.
    pub fn beginning(&self, plan: &Plan) -> Option<Beginning> {
        let has_answers = !self.answers.iter().all(|answer| matches!(answer, Settled::Open));
        let has_read = self.in_node
            || self.valued_bytes > 0
            || !self.text.is_empty()
            || self.accumulators.iter().any(|found| *found != Accumulator::default());
        (!has_answers && !has_read).then(|| Beginning {
            plan: plan.id,
            depth: self.depth,
            entered: self.entered,
            watched: self.watched,
            frames: self.frames.clone(),
            counters: self.counters.clone(),
            totals: self.totals.clone(),
            retired: self.retired.clone(),
            collecting: self.collecting.clone(),
            gates: self.gates.clone(),
            scopes: self.scopes.clone(),
            captures: self.captures.clone(),
            directs: self.directs.clone(),
        })
    }

    /// Begins with a new document behind its beginning, in place of [`start`](Run::start).
    ///
    /// Shape: `plan` is the one that the beginning was noted for, of expressions to which the host says the same each
    /// time: what it said at the beginning counts on.
    pub fn start_behind(&mut self, plan: &Plan, host: &AnyHost<'_>, beginning: &Beginning) {
        debug_assert_eq!(beginning.plan, plan.id, "a beginning is of one plan");
        self.reset(plan);
        self.read_constants(Scene { plan, host });
        (self.depth, self.entered, self.watched) = (beginning.depth, beginning.entered, beginning.watched);
        copy(&beginning.frames, &mut self.frames);
        copy(&beginning.counters, &mut self.counters);
        copy(&beginning.totals, &mut self.totals);
        copy(&beginning.retired, &mut self.retired);
        copy(&beginning.collecting, &mut self.collecting);
        copy(&beginning.gates, &mut self.gates);
        copy(&beginning.scopes, &mut self.scopes);
        copy(&beginning.captures, &mut self.captures);
        copy(&beginning.directs, &mut self.directs);
    }
}

/// Most of these lists are empty, which costs nothing.
#[inline]
fn copy<T: Copy>(from: &[T], to: &mut Vec<T>) {
    to.clear();
    if !from.is_empty() {
        to.extend_from_slice(from);
    }
}
