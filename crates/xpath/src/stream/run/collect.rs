//! What becomes of the nodes that paths lead to, and the text that is kept for them.

use std::borrow::Cow;

use myelin_xml::{Attribute, Comment, Instruction, Name, Names, Text};

use super::super::LIMIT_BYTES;
use super::super::plan::{Kind, Owner, Part};
use super::candidate::Tag;
use super::state::{Capture, Direct, Run, Scene, bits};

/// How many elements whose text one collector wants may stand within each other: their text is looked at as often.
const LIMIT_NESTED: u32 = 64;
/// How much text of elements is looked at in one pass: those within each other share it, and each looks at it anew.
const LIMIT_VALUED_BYTES: usize = 64 << 20;

/// The text of a value, of which each piece came from the parser as UTF-8.
pub(super) fn str_of(value: &[u8]) -> &str {
    str::from_utf8(value).expect("what the parser gives is UTF-8, and so are pieces of it in a row")
}

/// A node at the end of a path.
#[derive(Clone, Copy)]
pub(super) enum Found<'a> {
    /// Its value comes later.
    Element(&'a Tag<'a>),
    Attribute(&'a Attribute<'a>, &'a Names),
    Text(&'a str),
    Comment(&'a Comment<'a>),
    Instruction(&'a Instruction<'a>),
}

impl Found<'_> {
    fn value(&self) -> Cow<'_, str> {
        match self {
            Found::Element(_) => Cow::Borrowed(""),
            Found::Attribute(attribute, _) => attribute.value(),
            Found::Text(text) => Cow::Borrowed(text),
            Found::Comment(comment) => comment.value(),
            Found::Instruction(instruction) => instruction.value(),
        }
    }

    /// Its name; of an instruction the target, and empty where a node has none.
    fn name(&self) -> Name<'_> {
        let unprefixed = |local| Name { prefix: "", local, namespace: "" };
        match self {
            Found::Element(tag) => tag.name(),
            Found::Attribute(attribute, names) => names.get(attribute.name),
            Found::Instruction(instruction) => unprefixed(instruction.target),
            Found::Text(_) | Found::Comment(_) => unprefixed(""),
        }
    }
}

impl Run {
    /// Takes a node that a path leads to.
    pub(super) fn found(&mut self, scene: Scene<'_>, index: usize, found: Found<'_>) {
        let collector = &scene.plan.collectors[index];
        let Some(level) = self.level(scene, index) else { return };
        let by_count = match &collector.kind {
            Kind::Exists | Kind::Count => true,
            Kind::Compare(_, operand) => self.as_boolean(operand).is_some(),
            Kind::First(_) | Kind::Texts => false,
        };
        let accumulators = &mut self.accumulators[collector.accumulators..];
        match &collector.kind {
            _ if by_count => {
                accumulators[level].count += 1;
                self.changed(scene, index, level);
            }
            Kind::First(_) if accumulators[..=level].iter().any(|accumulator| accumulator.claimed) => {}
            Kind::First(part) => {
                let accumulator = &mut accumulators[level];
                accumulator.claimed = true;
                match part {
                    Part::Value => return self.evaluate(scene, index, level, found),
                    Part::LocalName => accumulator.text.push_str(found.name().local),
                    Part::Namespace => accumulator.text.push_str(found.name().namespace),
                    Part::Name => match found.name() {
                        Name { prefix: "", local, .. } => accumulator.text.push_str(local),
                        Name { prefix, local, .. } => accumulator.text.extend([prefix, ":", local]),
                    },
                }
                accumulator.ready = true;
                self.changed(scene, index, level);
            }
            Kind::Exists | Kind::Count | Kind::Compare(..) => self.evaluate(scene, index, level, found),
            Kind::Texts => match found {
                Found::Comment(_) | Found::Instruction(_) => {}
                // The texts of nodes within each other do not come one after the other.
                _ if self.collecting[index].captures > 0 => self.give_up(scene.plan, collector.query),
                Found::Element(_) => {
                    self.collecting[index].captures += 1;
                    self.directs.push(Direct { collector: index, depth: self.depth, blank: true });
                    self.watched = self.depth;
                }
                Found::Attribute(..) | Found::Text(_) => self.value(scene, index, level, found.value().as_bytes()),
            },
        }
    }

    /// Takes the value of a node now, or that of an element when it has ended.
    fn evaluate(&mut self, scene: Scene<'_>, index: usize, level: usize, found: Found<'_>) {
        if let Found::Element(_) = found {
            if self.collecting[index].captures == LIMIT_NESTED {
                return self.give_up(scene.plan, scene.plan.collectors[index].query);
            }
            self.collecting[index].captures += 1;
            self.captures.push(Capture { collector: index, depth: self.depth, start: self.text.len() });
            self.watched = self.depth;
            return;
        }
        self.value(scene, index, level, found.value().as_bytes());
    }

    /// Takes the value of a node, as bytes of UTF-8.
    fn value(&mut self, scene: Scene<'_>, index: usize, level: usize, value: &[u8]) {
        let collector = &scene.plan.collectors[index];
        let place = collector.accumulators + level;
        match &collector.kind {
            Kind::Compare(comparison, operand) => match self.compares(*comparison, value, operand) {
                Some(true) => self.accumulators[place].hit = true,
                Some(false) => return,
                None => return self.give_up(scene.plan, collector.query),
            },
            Kind::First(_) => {
                self.accumulators[place].text.push_str(str_of(value));
                self.accumulators[place].ready = true;
            }
            Kind::Texts => self.keep(scene, index, place, str_of(value)),
            Kind::Exists | Kind::Count => {}
        }
        self.changed(scene, index, level);
    }

    /// Adds to the texts of a collector, as far as there is room.
    fn keep(&mut self, scene: Scene<'_>, index: usize, place: usize, text: &str) {
        let kept = &mut self.accumulators[place].text;
        if kept.len() + text.len() > LIMIT_BYTES {
            self.give_up(scene.plan, scene.plan.collectors[index].query);
        } else {
            kept.push_str(text);
        }
    }

    /// Looks what follows from a node that was taken.
    pub(super) fn changed(&mut self, scene: Scene<'_>, index: usize, level: usize) {
        let collector = &scene.plan.collectors[index];
        // One node was enough, if it is certain and nobody begins anew with the next element.
        let enough = level == 0 && matches!(collector.owner, Owner::Query(_)) && {
            let found = &self.accumulators[collector.accumulators];
            match collector.kind {
                Kind::Count | Kind::Texts => false,
                Kind::Exists => found.count > 0,
                Kind::Compare(..) => found.hit,
                Kind::First(_) => found.claimed,
            }
        };
        if enough {
            self.retired[collector.word] |= collector.mask;
        }
        self.ask(scene, collector.owner);
    }

    /// Where a collector's nodes go: what is certain is at 0; `None` where a predicate on the way was false.
    pub(super) fn level(&self, scene: Scene<'_>, index: usize) -> Option<usize> {
        let mut level = 0;
        for (place, &gate) in scene.plan.collectors[index].gates.iter().enumerate() {
            if self.gates[gate].failed {
                return None;
            }
            if self.gates[gate].pending {
                level = place + 1;
            }
        }
        Some(level)
    }

    /// Keeps text that open elements want.
    pub(super) fn capture(&mut self, scene: Scene<'_>, text: &Text<'_>) {
        if !self.directs.is_empty() {
            self.keep_direct(scene, &text.value());
        }
        if self.captures.is_empty() {
            return;
        }
        let value = text.value_bytes();
        if self.text.len() + value.len() > LIMIT_BYTES {
            while let Some(capture) = self.captures.last() {
                self.give_up(scene.plan, scene.plan.collectors[capture.collector].query);
            }
        } else {
            self.text.extend_from_slice(&value);
        }
    }

    /// Keeps text for the open elements that it stands directly in.
    fn keep_direct(&mut self, scene: Scene<'_>, value: &str) {
        for place in (0..self.directs.len()).rev() {
            let Some(&Direct { collector, depth, blank }) = self.directs.get(place) else { continue };
            if depth < self.depth {
                break;
            }
            self.directs[place].blank = blank && value.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
            if let Some(level) = self.level(scene, collector) {
                self.keep(scene, collector, scene.plan.collectors[collector].accumulators + level, value);
            }
        }
    }

    /// Keeps a part of a text node that steps look for.
    pub(super) fn keep_node(&mut self, scene: Scene<'_>, text: &Text<'_>) {
        let value = text.value();
        if self.node.len() + value.len() > LIMIT_BYTES {
            let words = scene.plan.masks.len();
            for (word, masks) in scene.plan.masks.iter().enumerate() {
                let looking = self.alive(self.frames[self.depth * words + word], word) & masks.text;
                for bit in bits(looking) {
                    self.give_up(scene.plan, scene.plan.collectors[scene.plan.steps[word][bit].collector].query);
                }
            }
        } else if !value.is_empty() {
            self.node.push_str(&value);
            self.in_node = true;
        }
    }

    /// Takes the text node that has just ended.
    #[inline(never)]
    pub(super) fn end_node(&mut self, scene: Scene<'_>) {
        self.in_node = false;
        let mut node = std::mem::take(&mut self.node);
        self.leaf(scene, |masks| masks.text, &Found::Text(&node));
        node.clear();
        self.node = node;
    }

    /// Takes the end of an element at which values or conditions are complete.
    #[inline(never)]
    pub(super) fn close(&mut self, scene: Scene<'_>) {
        let ended = self.depth + 1;
        while let Some(&capture) = self.captures.last()
            && capture.depth >= ended
        {
            self.captures.pop();
            self.captured(scene, capture);
        }
        while let Some(&direct) = self.directs.last()
            && direct.depth >= ended
        {
            self.directs.pop();
            self.collecting[direct.collector].captures -= 1;
            // Synapse serialises an element without text of its own.
            if direct.blank && self.level(scene, direct.collector).is_some() {
                self.give_up(scene.plan, scene.plan.collectors[direct.collector].query);
            }
            self.look_whether_complete(scene, direct.collector);
        }
        while let Some(&scope) = self.scopes.last()
            && scope.depth >= ended
        {
            self.scopes.pop();
            if self.gates[scope.gate].pending {
                self.decide(scene, scope.gate, true);
            }
            let gate = &mut self.gates[scope.gate];
            gate.open -= 1;
            if scope.waits {
                (gate.spread, gate.failed) = (false, false);
            }
            self.look_whether_complete(scene, scene.plan.gates[scope.gate].collector);
        }
        let captures = self.captures.last().map_or(0, |capture| capture.depth);
        let directs = self.directs.last().map_or(0, |direct| direct.depth);
        let scopes = self.scopes.last().map_or(0, |scope| scope.depth);
        self.watched = captures.max(directs).max(scopes);
    }

    fn captured(&mut self, scene: Scene<'_>, capture: Capture) {
        let index = capture.collector;
        self.collecting[index].captures -= 1;
        if let Some(level) = self.level(scene, index) {
            let text = std::mem::take(&mut self.text);
            let value = &text[capture.start..];
            self.valued_bytes += value.len();
            if self.valued_bytes > LIMIT_VALUED_BYTES {
                self.give_up(scene.plan, scene.plan.collectors[index].query);
            } else {
                self.value(scene, index, level, value);
            }
            self.text = text;
        }
        if self.captures.is_empty() {
            self.text.clear();
        }
        self.look_whether_complete(scene, index);
    }
}
