//! When nothing more can be found, and the answers that follow from what is known.

use super::super::plan::{Body, Owner, Plan, Wanted};
use super::state::{Accumulator, Run, Scene, Settled};
use super::truth::Truth;

impl Run {
    /// Reads what is the same for the whole pass, and answers what hangs on nothing else.
    pub(super) fn begin(&mut self, scene: Scene<'_>) {
        self.read_constants(scene);
        for (index, query) in scene.plan.queries.iter().enumerate() {
            if query.body.may_be_known_at_once() {
                self.ask(scene, Owner::Query(index));
            }
        }
    }

    /// Takes it that the document has ended.
    pub(super) fn complete(&mut self, scene: Scene<'_>) {
        for (index, collector) in scene.plan.collectors.iter().enumerate() {
            self.collecting[index].complete = matches!(collector.owner, Owner::Query(_));
        }
        for query in 0..scene.plan.queries.len() {
            self.ask(scene, Owner::Query(query));
            // Every collector is complete, so this is for nothing; but no answer at all would be worse than the tree.
            self.give_up(scene.plan, query);
        }
    }

    /// Looks whether collectors whose steps were lost have become complete.
    #[inline]
    pub(super) fn look_for_the_end(&mut self, scene: Scene<'_>, lost: u64) {
        if lost == 0 {
            return;
        }
        for (index, collector) in scene.plan.collectors.iter().enumerate() {
            if collector.mask & lost != 0 {
                self.look_whether_complete(scene, index);
            }
        }
    }

    /// Notes when nothing more can be found for a collector: none of its steps is looked for any more.
    pub(super) fn look_whether_complete(&mut self, scene: Scene<'_>, index: usize) {
        let collecting = self.collecting[index];
        if collecting.complete || collecting.captures > 0 {
            return;
        }
        let collector = &scene.plan.collectors[index];
        let waits = collector.gates.iter().any(|&gate| self.gates[gate].pending);
        if waits || !matches!(collector.owner, Owner::Query(_)) {
            return;
        }
        let frame = self.depth * scene.plan.masks.len() + collector.word;
        let hopes = self.hopes(&scene.plan.masks[collector.word], frame, collector.word);
        if hopes & collector.mask == 0 {
            self.collecting[index].complete = true;
            self.ask(scene, collector.owner);
        }
    }

    /// Looks whether a query or a predicate can be decided now.
    pub(super) fn ask(&mut self, scene: Scene<'_>, owner: Owner) {
        match owner {
            Owner::Query(query) if matches!(self.answers[query], Settled::Open) => self.answer_now(scene, query),
            Owner::Gate(gate) if self.gates[gate].pending => self.decide(scene, gate, false),
            _ => {}
        }
    }

    /// Decides a predicate that an element waits for; `ended`: whether that element has ended.
    pub(super) fn decide(&mut self, scene: Scene<'_>, index: usize, ended: bool) {
        let gate = &scene.plan.gates[index];
        match self.truth(scene, &gate.condition, ended) {
            Truth::True => self.gates[index].pending = false,
            Truth::False => {
                let state = &mut self.gates[index];
                (state.pending, state.failed) = (false, true);
            }
            Truth::Open if !ended => return,
            Truth::Open | Truth::NeedsTree => return self.give_up(scene.plan, gate.query),
        }
        let collector = &scene.plan.collectors[gate.collector];
        let levels = &mut self.accumulators[collector.accumulators..][..=collector.gates.len()];
        let outside = &collector.gates[..gate.level - 1];
        if self.gates[index].failed || outside.iter().any(|&gate| self.gates[gate].failed) {
            // What waits for conditions further in waits for this one, too.
            levels[gate.level..].iter_mut().for_each(Accumulator::clear);
            self.drop_captures(|collector| collector == gate.collector);
            self.collecting[gate.collector].captures = 0;
        } else {
            let level = outside.iter().rposition(|&gate| self.gates[gate].pending).map_or(0, |place| place + 1);
            let (certain, waiting) = levels.split_at_mut(gate.level);
            certain[level].absorb(&mut waiting[0]);
            self.changed(scene, gate.collector, level);
        }
    }

    /// Answers a query if that can be done.
    fn answer_now(&mut self, scene: Scene<'_>, index: usize) {
        let query = &scene.plan.queries[index];
        let answer = match &query.body {
            Body::Condition(condition) => match self.truth(scene, condition, false) {
                Truth::True => self.answer_boolean(index, query.wanted, true),
                Truth::False => self.answer_boolean(index, query.wanted, false),
                Truth::Open => return,
                Truth::NeedsTree => Settled::NeedsTree,
            },
            Body::Texts(collector) if self.collecting[*collector].complete => {
                // A copy, so that both texts keep their memory for the next message.
                self.texts[index].clear();
                let found = &self.accumulators[scene.plan.collectors[*collector].accumulators];
                self.texts[index].push_str(&found.text);
                Settled::Text
            }
            Body::Number(term) if self.is_known(scene, term, false) => {
                self.number(scene, term).map_or(Settled::NeedsTree, Settled::Number)
            }
            Body::Text(term) if self.is_known(scene, term, false) => {
                let mut text = std::mem::take(&mut self.texts[index]);
                text.clear();
                let answer = if self.write_text(scene, term, &mut text) { Settled::Text } else { Settled::NeedsTree };
                self.texts[index] = text;
                answer
            }
            Body::Texts(_) | Body::Number(_) | Body::Text(_) => return,
        };
        self.settle(scene.plan, index, answer);
    }

    fn answer_boolean(&mut self, index: usize, wanted: Wanted, answer: bool) -> Settled {
        match wanted {
            Wanted::Boolean => Settled::Boolean(answer),
            Wanted::Number => Settled::Number(f64::from(u8::from(answer))),
            Wanted::Text | Wanted::String => {
                self.texts[index].clear();
                self.texts[index].push_str(if answer { "true" } else { "false" });
                Settled::Text
            }
        }
    }

    /// Leaves a query to the tree, if it has no answer yet.
    pub(super) fn give_up(&mut self, plan: &Plan, query: usize) {
        if matches!(self.answers[query], Settled::Open) {
            self.settle(plan, query, Settled::NeedsTree);
        }
    }

    /// Gives the answer, and looks for nothing more on its behalf.
    fn settle(&mut self, plan: &Plan, query: usize, answer: Settled) {
        self.answers[query] = answer;
        for (retired, steps) in self.retired.iter_mut().zip(&plan.queries[query].steps) {
            *retired |= steps;
        }
        for (gate, state) in plan.gates.iter().zip(&mut self.gates) {
            if gate.query == query {
                state.pending = false;
            }
        }
        self.drop_captures(|collector| plan.collectors[collector].query == query);
    }

    fn drop_captures(&mut self, dropped: impl Fn(usize) -> bool) {
        if self.captures.is_empty() && self.directs.is_empty() {
            return;
        }
        self.captures.retain(|capture| !dropped(capture.collector));
        self.directs.retain(|direct| !dropped(direct.collector));
        if self.captures.is_empty() {
            self.text.clear();
        }
    }
}
