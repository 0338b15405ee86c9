//! What was found out about namespaces and mostly holds for the next element too.

use myelin_xml::{Atom, Document, NameId, NodeId};

/// How many answers are remembered, and how many elements.
const REMEMBERED: usize = 64;

/// How many lists of declarations are remembered.
const EFFECTS: usize = 1_024;

/// Answers in a table where each has one place, so that the next one for that place drives it out.
#[derive(Default)]
pub(super) struct Memory<'o> {
    answers: Vec<Answer>,
    effects: Vec<Effect>,
    nearest: Vec<Option<Nearest<'o>>>,
}

/// What needs namespaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum What {
    #[default]
    Nothing,
    /// A set, by its key.
    Set(usize),
    /// What is in scope in a document, by its address, at an element that declares something; `None`: around them all.
    Source(usize, Option<NodeId>),
    /// The name of an element of a document, by its address.
    Name(usize, NameId),
}

/// What is to be done for something in a state.
#[derive(Clone, Copy)]
struct Answer {
    state: u32,
    what: What,
    /// The number of a list of declarations.
    effect: u32,
    /// The prefix that a name gets.
    prefix: Atom,
}

struct Effect {
    declared: Vec<(Atom, Atom)>,
    /// The state behind them.
    state: u32,
}

/// The nearest element from some element upwards that declares namespaces.
#[derive(Clone, Copy)]
struct Nearest<'o> {
    document: &'o Document,
    element: NodeId,
    found: Option<NodeId>,
}

impl What {
    #[inline]
    pub(super) fn source(document: &Document, declares: Option<NodeId>) -> What {
        What::Source(std::ptr::from_ref(document).addr(), declares)
    }

    #[inline]
    pub(super) fn name(document: &Document, name: NameId) -> What {
        What::Name(std::ptr::from_ref(document).addr(), name)
    }

    #[inline]
    fn place(self, state: u32) -> usize {
        let own = match self {
            What::Nothing => 0,
            What::Set(key) => key >> 4,
            What::Source(_, element) => element.map_or(0, NodeId::index) + 1,
            What::Name(_, name) => name.index() + REMEMBERED / 2,
        };
        own.wrapping_add(state as usize * 11) % REMEMBERED
    }
}

impl<'o> Memory<'o> {
    /// The number of the list of declarations that is needed; 0: nothing is.
    #[inline]
    pub(super) fn effect(&self, state: u32, what: What) -> Option<u32> {
        self.answer(state, what).map(|answer| answer.effect)
    }

    /// The prefix that a name gets.
    #[inline]
    pub(super) fn prefix(&self, state: u32, what: What) -> Option<Atom> {
        self.answer(state, what).map(|answer| answer.prefix)
    }

    pub(super) fn remember(&mut self, state: u32, what: What, effect: u32) {
        self.put(Answer { state, what, effect, prefix: Atom::EMPTY });
    }

    pub(super) fn remember_prefix(&mut self, state: u32, what: What, prefix: Atom) {
        self.put(Answer { state, what, effect: 0, prefix });
    }

    /// Keeps a list of declarations and the state behind them, and gives it a number.
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
    pub(super) fn nearest(&mut self, document: &'o Document, element: NodeId) -> Option<NodeId> {
        let mut next = Some(element);
        let mut found = None;
        while let Some(node) = next {
            if document.declared(node).next().is_some() {
                found = Some(node);
                break;
            }
            let known = self.nearest.get(node.index() % REMEMBERED).copied().flatten();
            if let Some(known) = known.filter(|known| known.element == node && std::ptr::eq(known.document, document)) {
                found = known.found;
                break;
            }
            next = document.parent(node);
        }
        if self.nearest.is_empty() {
            self.nearest.resize(REMEMBERED, None);
        }
        self.nearest[element.index() % REMEMBERED] = Some(Nearest { document, element, found });
        found
    }

    #[inline]
    fn answer(&self, state: u32, what: What) -> Option<Answer> {
        let answer = *self.answers.get(what.place(state))?;
        (answer.state == state && answer.what == what).then_some(answer)
    }

    fn put(&mut self, answer: Answer) {
        if self.answers.is_empty() {
            let nothing = Answer { state: 0, what: What::Nothing, effect: 0, prefix: Atom::EMPTY };
            self.answers.resize(REMEMBERED, nothing);
        }
        let place = answer.what.place(answer.state);
        self.answers[place] = answer;
    }
}
