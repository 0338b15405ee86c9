//! What was found out about namespaces and mostly holds for the next element too.

use myelin_xml::{Atom, Document, NameId, NodeId};

/// How many answers are remembered at first, and once two of them were for one place.
const FEW: usize = 16;
const MANY: usize = 64;

/// How many lists of declarations are remembered.
const EFFECTS: usize = 1_024;

/// How many elements are remembered by the declarations that hold for them.
const ELEMENTS: usize = 32;

/// Answers in a table where each has one place, so that the next one for that place drives it out.
#[derive(Default)]
pub(super) struct Memory {
    answers: Vec<Answer>,
    effects: Vec<Effect>,
    last: Option<Nearest>,
    nearest: Vec<Option<Nearest>>,
}

/// What is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    /// Of a set or of a document.
    address: usize,
    /// Which part of the document.
    part: u64,
}

/// What is known of something in a state.
#[derive(Clone, Copy, Default)]
struct Answer {
    key: Key,
    state: u32,
    number: u32,
}

struct Effect {
    declared: Vec<(Atom, Atom)>,
    /// The state behind them.
    state: u32,
}

/// The nearest element from some element upwards that declares namespaces.
#[derive(Clone, Copy)]
struct Nearest {
    /// The address of the document.
    document: usize,
    element: NodeId,
    parent: Option<NodeId>,
    found: Option<NodeId>,
}

impl Key {
    /// A set, by its own key.
    #[inline]
    pub(super) fn set(address: usize) -> Key {
        Key { address, part: 0 }
    }

    /// What is in scope at an element that declares something; `None`: around all of those.
    #[inline]
    pub(super) fn source(document: &Document, declares: Option<NodeId>) -> Key {
        let part = declares.map_or(0, |element| element.index() as u64) << 1;
        Key { address: address(document), part }
    }

    /// The name of an element.
    #[inline]
    pub(super) fn name(document: &Document, name: NameId) -> Key {
        Key { address: address(document), part: (name.index() as u64) << 1 | 1 }
    }

    #[inline]
    fn place(self, state: u32) -> usize {
        (self.address >> 4) ^ self.part as usize ^ (state as usize).wrapping_mul(11)
    }
}

impl Memory {
    /// Forgets all, as other documents may come to stand at the same addresses.
    pub(super) fn clear(&mut self) {
        self.answers.fill(Answer::default());
        self.effects.clear();
        self.last = None;
        self.nearest.clear();
    }

    /// What was remembered.
    #[inline]
    pub(super) fn recall(&self, state: u32, key: Key) -> Option<u32> {
        let place = key.place(state) & self.answers.len().wrapping_sub(1);
        let answer = self.answers.get(place)?;
        (answer.key == key && answer.state == state).then_some(answer.number)
    }

    pub(super) fn remember(&mut self, state: u32, key: Key, number: u32) {
        if self.answers.is_empty() {
            self.answers.resize(FEW, Answer::default());
        }
        let mut place = key.place(state) & (self.answers.len() - 1);
        if self.answers.len() == FEW && self.answers[place].key != Key::default() {
            self.answers.clear();
            self.answers.resize(MANY, Answer::default());
            place = key.place(state) & (MANY - 1);
        }
        self.answers[place] = Answer { key, state, number };
    }

    /// Keeps a list of declarations and the state behind them, and gives it a number from 1 on.
    pub(super) fn add_effect(&mut self, declared: Vec<(Atom, Atom)>, state: u32) -> u32 {
        if self.effects.len() == EFFECTS {
            self.effects.clear();
            self.answers.clear();
        }
        self.effects.push(Effect { declared, state });
        self.effects.len() as u32
    }

    pub(super) fn declared(&self, effect: u32) -> &[(Atom, Atom)] {
        &self.effects[effect as usize - 1].declared
    }

    pub(super) fn state_behind(&self, effect: u32) -> u32 {
        self.effects[effect as usize - 1].state
    }

    /// The nearest element from this one upwards that declares namespaces.
    #[inline]
    pub(super) fn nearest(&mut self, document: &Document, element: NodeId) -> Option<NodeId> {
        let parent = document.parent(element);
        if document.declared(element).next().is_some() {
            self.last = Some(Nearest { document: address(document), element, parent, found: Some(element) });
            return Some(element);
        }
        // Mostly it is the sibling or the child of the one before, without declarations of its own.
        let found = match self.last {
            Some(last) if last.document == address(document) && parent == Some(last.element) => last.found,
            Some(last)
                if last.document == address(document) && parent == last.parent && last.found != Some(last.element) =>
            {
                return last.found;
            }
            _ => self.climb(document, parent),
        };
        self.last = Some(Nearest { document: address(document), element, parent, found });
        found
    }

    /// As [`nearest`](Memory::nearest), past elements met lately.
    fn climb(&mut self, document: &Document, from: Option<NodeId>) -> Option<NodeId> {
        let mut next = from;
        let mut found = None;
        while let Some(element) = next {
            if document.declared(element).next().is_some() {
                found = Some(element);
                break;
            }
            let known = self.nearest.get(element.index() % ELEMENTS).copied().flatten();
            if let Some(known) = known.filter(|known| known.element == element && known.document == address(document)) {
                found = known.found;
                break;
            }
            next = document.parent(element);
        }
        if let Some(element) = from {
            if self.nearest.is_empty() {
                self.nearest.resize(ELEMENTS, None);
            }
            self.nearest[element.index() % ELEMENTS] =
                Some(Nearest { document: address(document), element, parent: None, found });
        }
        found
    }
}

#[inline]
fn address(document: &Document) -> usize {
    std::ptr::from_ref(document).addr()
}
