//! Nodes that fit a step by kind and name: their positions and predicates, and what follows from them.

use myelin_xml::{Name, Start};

use super::super::plan::{Check, Gate, Masks, Position};
use super::collect::Found;
use super::state::{Accumulator, Frame, GateState, Progressing, Run, Scene, Scope, bits};
use super::truth::Truth;

/// An element as it starts.
pub(super) enum Tag<'a> {
    Read(&'a Start<'a>),
    /// It is of an element that the host made up.
    Made(Name<'a>),
}

impl<'a> Tag<'a> {
    pub(super) fn name(&self) -> Name<'a> {
        match self {
            Tag::Read(start) => start.names().get(start.name),
            Tag::Made(name) => *name,
        }
    }
}

impl Run {
    /// Does for an element that has just opened what takes more than its name.
    #[inline(never)]
    pub(super) fn opened(&mut self, scene: Scene<'_>, tag: &Tag<'_>) {
        let words = scene.plan.masks.len();
        let (parent, own) = ((self.depth - 1) * words, self.depth * words);
        let is_root = self.depth == self.entered + 1;
        // Mostly paths end here, and nothing else is to be done for them.
        if let [masks] = scene.plan.masks.as_slice()
            && !is_root
            && self.candidates[0] & !masks.ends == 0
            && self.frames[own].expects & masks.attribute == 0
        {
            let before = self.hopes(masks, parent, 0);
            for bit in bits(self.candidates[0]) {
                self.found(scene, scene.plan.steps[0][bit].collector, Found::Element(tag));
            }
            let after = self.hopes(masks, parent, 0);
            self.frames[own].above = after;
            return self.look_for_the_end(scene, before & !after);
        }
        let mut lost = 0;
        for (word, masks) in scene.plan.masks.iter().enumerate() {
            let candidates = self.candidates[word];
            if candidates == 0 && !is_root {
                continue;
            }
            let before = self.hopes(masks, parent + word, word);
            for bit in bits(candidates) {
                let step = &scene.plan.steps[word][bit];
                if !step.checks.is_empty() && !self.passes(scene, word, bit, self.depth - 1, Some(tag)) {
                    continue;
                }
                let inner = masks.inner & 1 << bit;
                self.frames[own + word].expects |= inner << 1;
                if inner == 0 {
                    self.found(scene, step.collector, Found::Element(tag));
                }
            }
            // A document has one root element, and so has what the host puts around it.
            if is_root {
                let others = if self.entered == 0 { masks.comment | masks.instruction } else { 0 };
                self.frames[parent + word].expects &= others;
            }
            let after = self.hopes(masks, parent + word, word);
            self.frames[own + word].above = after;
            lost |= before & !after;
        }
        for (word, masks) in scene.plan.masks.iter().enumerate() {
            let steps = self.frames[own + word].expects & masks.attribute;
            if steps != 0 {
                self.attributes(scene, tag, word, steps);
            }
        }
        self.look_for_the_end(scene, lost);
    }

    /// Takes a text node, comment or instruction.
    #[inline(never)]
    pub(super) fn leaf(&mut self, scene: Scene<'_>, kind: impl Fn(&Masks) -> u64, found: &Found<'_>) {
        let words = scene.plan.masks.len();
        let mut lost = 0;
        for (word, masks) in scene.plan.masks.iter().enumerate() {
            let parent = self.depth * words + word;
            let before = self.hopes(masks, parent, word);
            for bit in bits(self.alive(self.frames[parent], word) & kind(masks)) {
                let ends = masks.inner & 1 << bit == 0;
                if self.passes(scene, word, bit, self.depth, None) && ends {
                    self.found(scene, scene.plan.steps[word][bit].collector, *found);
                }
            }
            lost |= before & !self.hopes(masks, parent, word);
        }
        self.look_for_the_end(scene, lost);
    }

    /// The steps that a child can still take.
    pub(super) fn alive(&self, frame: Frame, word: usize) -> u64 {
        frame.expects & !(frame.spent | self.retired[word])
    }

    /// The steps of one word that nodes still to come may take, within the element of this frame or behind it.
    #[inline]
    pub(super) fn hopes(&self, masks: &Masks, frame: usize, word: usize) -> u64 {
        let frame = self.frames[frame];
        (frame.above | frame.hopes(masks)) & !self.retired[word]
    }

    /// Looks among an element's attributes for steps of one word.
    fn attributes(&mut self, scene: Scene<'_>, tag: &Tag<'_>, word: usize, steps: u64) {
        let Tag::Read(start) = tag else { return };
        if steps & !self.retired[word] == 0 {
            return;
        }
        for attribute in start.attributes() {
            let accepted = self.class(scene.plan, start.names(), attribute.name) + word;
            for bit in bits(steps & self.classes[accepted] & !self.retired[word]) {
                if self.passes(scene, word, bit, self.depth, None) {
                    let found = Found::Attribute(&attribute, start.names());
                    self.found(scene, scene.plan.steps[word][bit].collector, found);
                }
            }
        }
    }

    /// Whether a node satisfies a step's predicates, or waits for one of them; `parent`: the depth of its parent.
    fn passes(&mut self, scene: Scene<'_>, word: usize, bit: usize, parent: usize, tag: Option<&Tag<'_>>) -> bool {
        scene.plan.steps[word][bit].checks.iter().all(|check| match (check, tag) {
            (Check::Position(position), _) => self.is_at(scene, *position, word, bit, parent),
            (Check::Gate(gate), Some(tag)) => self.enters(scene, *gate, tag),
            (Check::Gate(_), None) => false,
        })
    }

    /// Counts a node and says whether its position is one that is wanted.
    fn is_at(&mut self, scene: Scene<'_>, position: Position, word: usize, bit: usize, parent: usize) -> bool {
        if position.last > 1 {
            let counted = if position.whole {
                &mut self.totals[position.counter]
            } else {
                &mut self.counters[parent * scene.plan.counters + position.counter]
            };
            *counted += 1;
            if *counted < position.last {
                return position.before;
            }
        }
        // No later node is at a position that is wanted.
        if position.whole {
            self.retired[word] |= 1 << bit;
        } else {
            self.frames[parent * scene.plan.masks.len() + word].spent |= 1 << bit;
        }
        true
    }

    /// Asks a condition of an element as it starts: whether it holds, or waits for what is within.
    fn enters(&mut self, scene: Scene<'_>, index: usize, tag: &Tag<'_>) -> bool {
        let gate = &scene.plan.gates[index];
        if self.gates[index].spread {
            self.give_up(scene.plan, gate.query);
            return false;
        }
        self.forget_found(scene, gate);
        let captures = self.captures.len();
        for &collector in &gate.on_self {
            self.found(scene, collector, Found::Element(tag));
        }
        for &(word, steps) in &gate.attributes {
            self.attributes(scene, tag, word, steps);
        }
        let truth = self.truth(scene, &gate.condition, !gate.waits);
        if truth != Truth::Open {
            // What was to be read of the element itself is not needed any more.
            self.captures.truncate(captures);
        }
        match truth {
            Truth::True if gate.waits => {
                self.gates[index].open += 1;
                self.watch(Scope { gate: index, depth: self.depth, waits: false });
                true
            }
            Truth::True => true,
            Truth::False => false,
            Truth::Open if gate.waits && self.gates[index].open == 0 => {
                self.gates[index] = GateState { open: 1, spread: true, pending: true, failed: false };
                self.watch(Scope { gate: index, depth: self.depth, waits: true });
                let own = self.depth * scene.plan.masks.len();
                for &(word, steps) in &gate.below {
                    self.frames[own + word].expects |= steps;
                }
                true
            }
            Truth::Open | Truth::NeedsTree => {
                self.give_up(scene.plan, gate.query);
                false
            }
        }
    }

    /// Forgets what the condition's collectors found in another element.
    fn forget_found(&mut self, scene: Scene<'_>, gate: &Gate) {
        for &index in &gate.collectors {
            let collector = &scene.plan.collectors[index];
            let levels = collector.gates.len() + 1;
            self.accumulators[collector.accumulators..][..levels].iter_mut().for_each(Accumulator::clear);
            self.collecting[index] = Progressing::default();
        }
    }

    fn watch(&mut self, scope: Scope) {
        self.scopes.push(scope);
        self.watched = self.depth;
    }
}
