//! Which prefixes mean what where a result is being put together, and what an element has to declare.
//!
//! Elements of one kind come again and again in the same surroundings, so what they have to declare there, mostly
//! nothing, is remembered: each state of all prefixes has a number.
//!
//! Source: namespace fixup, XSLT 2.0 §5.7.3.

mod memory;

use myelin_xml::{Atom, Document, NameId, Names, NodeId, XML_NAMESPACE, XMLNS_NAMESPACE};

use super::error::OutputError;
use super::literal::NamespaceSet;
use memory::{Key, Memory};

/// How many of the innermost bindings are looked at for a prefix of some namespace.
const LOOKED_AT: usize = 64;

/// How many names of elements of documents get a number.
const NUMBERED: usize = 4_096;

/// What all prefixes mean.
pub(super) struct Scopes<'o> {
    tables: Tables,
    /// The number of the present state.
    state: u32,
    states: u32,
    /// Counts the elements, so that bindings can say by which they are needed.
    element: u32,
    unpinned: Unpinned<'o>,
    /// The set that was found to be in scope last, and the state it was in.
    last_set: (usize, u32),
    next_made: u32,
}

/// What grows: kept from one result to the next.
#[derive(Default)]
pub(super) struct Tables {
    /// By the atom of the prefix.
    bindings: Vec<Binding>,
    /// Prefixes and what they meant before, innermost last.
    undo: Vec<(Atom, Atom)>,
    memory: Memory,
    /// Prefix and namespace of elements of documents, by the number of the name.
    numbered: Vec<(Atom, Atom)>,
    /// By the atom of a namespace the prefix that was made up for it.
    made: Vec<Atom>,
}

/// A place to go back to when an element ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    undo: u32,
    state: u32,
}

/// A prefix, and the namespace that the element has to declare for it, if it has to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) prefix: Atom,
    pub(super) namespace: Atom,
    pub(super) declare: bool,
}

/// The name of an element of a document, as the result has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Copied {
    /// The same for the same; they are given from 0 on without gaps, until there are too many.
    pub(super) number: Option<u32>,
    pub(super) chosen: Chosen,
}

#[derive(Clone, Copy, Debug)]
struct Binding {
    /// Empty: nothing.
    namespace: Atom,
    /// The last element that needs it to mean this.
    pinned: u32,
}

/// What the element needs without its bindings saying so yet: mostly nobody asks.
#[derive(Clone, Copy)]
enum Unpinned<'o> {
    Nothing,
    Set(&'o NamespaceSet),
    Source(&'o Document, NodeId),
}

impl Tables {
    /// Whether it has room for more than so many names.
    pub(super) fn is_larger(&self, names: usize) -> bool {
        let lengths = [self.bindings.capacity(), self.undo.capacity(), self.numbered.capacity(), self.made.capacity()];
        lengths.into_iter().any(|length| length > names)
    }
}

impl<'o> Scopes<'o> {
    /// Nothing has a meaning but `xml`; in memory that was used before.
    pub(super) fn new(mut tables: Tables) -> Scopes<'o> {
        tables.bindings.clear();
        tables.undo.clear();
        tables.memory.clear();
        tables.numbered.clear();
        tables.made.clear();
        Scopes { tables, state: 0, states: 0, element: 0, unpinned: Unpinned::Nothing, last_set: (0, 0), next_made: 0 }
    }

    /// Keeps the memory.
    pub(super) fn into_tables(self) -> Tables {
        self.tables
    }

    /// Gives prefixes the meaning that they have around the result.
    pub(super) fn surround(&mut self, names: &mut Names, bindings: &[(&str, &str)]) {
        for (prefix, namespace) in bindings {
            if *prefix != "xml" {
                let (prefix, namespace) = (names.atom(prefix), names.atom(namespace));
                self.bind(prefix, namespace);
            }
        }
    }

    /// Counts the elements that were begun.
    #[inline]
    pub(super) fn elements(&self) -> u32 {
        self.element
    }

    /// How many changes of meaning there were around here: a place for [`hide`](Scopes::hide) to go back to.
    pub(super) fn changes(&self) -> usize {
        self.tables.undo.len()
    }

    /// Lets prefixes mean on the element that was entered what they meant after so many changes; those for which that is
    /// something else.
    pub(super) fn hide(&mut self, changes: usize) -> Vec<(Atom, Atom)> {
        let mut meant: Vec<(Atom, Atom)> = self.tables.undo.get(changes..).unwrap_or_default().to_vec();
        // Stable, so that of each prefix the oldest comes first.
        meant.sort_by_key(|(prefix, _)| prefix.index());
        meant.dedup_by_key(|(prefix, _)| *prefix);
        meant.retain(|&(prefix, namespace)| !self.means(prefix, namespace));
        for &(prefix, namespace) in &meant {
            self.bind(prefix, namespace);
            // No name needs it.
            self.tables.bindings[prefix.index()].pinned = 0;
        }
        meant
    }

    /// Whether a prefix means a namespace.
    pub(super) fn means(&self, prefix: Atom, namespace: Atom) -> bool {
        self.binding(prefix).namespace == namespace
    }

    /// Begins an element.
    #[inline]
    pub(super) fn enter(&mut self) -> Mark {
        self.element += 1;
        self.unpinned = Unpinned::Nothing;
        Mark { undo: self.tables.undo.len() as u32, state: self.state }
    }

    /// Ends an element.
    #[inline]
    pub(super) fn leave(&mut self, mark: Mark) {
        self.state = mark.state;
        while self.tables.undo.len() > mark.undo as usize {
            if let Some((prefix, namespace)) = self.tables.undo.pop() {
                self.tables.bindings[prefix.index()].namespace = namespace;
            }
        }
    }

    /// Whether a set is known to be in scope, as that of the element before.
    #[inline]
    pub(super) fn holds(&self, set: &NamespaceSet) -> bool {
        self.last_set == (set.key(), self.state)
    }

    /// Brings a set into scope on the element that was entered; what it has to declare for that.
    #[inline]
    pub(super) fn literal(&mut self, names: &mut Names, set: &'o NamespaceSet) -> &[(Atom, Atom)] {
        self.unpinned = Unpinned::Set(set);
        if self.holds(set) { &[] } else { self.other_literal(names, set) }
    }

    fn other_literal(&mut self, names: &mut Names, set: &NamespaceSet) -> &[(Atom, Atom)] {
        let key = Key::set(set.key());
        let effect = self.tables.memory.recall(self.state, key).unwrap_or_else(|| {
            let needed = set.bindings().iter().map(|(prefix, namespace)| (names.atom(prefix), names.atom(namespace)));
            let missing = needed.filter(|&(prefix, namespace)| self.binding(prefix).namespace != namespace).collect();
            let effect = self.effect(missing);
            self.tables.memory.remember(self.state, key, effect);
            effect
        });
        if effect == 0 {
            self.last_set = (set.key(), self.state);
            return &[];
        }
        self.apply(effect)
    }

    /// Brings what is in scope at an element of a document into scope on the element that was entered and has its
    /// name, as far as that allows; what it has to declare for that.
    pub(super) fn source(&mut self, names: &mut Names, document: &'o Document, element: NodeId) -> &[(Atom, Atom)] {
        let key = Key::source(document, self.tables.memory.nearest(document, element));
        self.unpinned = Unpinned::Source(document, element);
        if let Some(effect) = self.tables.memory.recall(self.state, key) {
            return self.apply(effect);
        }
        let mut missing = Vec::new();
        let mut taken = false;
        for (prefix, namespace) in
            document.namespaces_in_scope(element).into_iter().filter(|&(prefix, _)| prefix != "xml")
        {
            let (prefix, namespace) = (names.atom(prefix), names.atom(namespace));
            let binding = self.binding(prefix);
            if binding.namespace != namespace {
                if binding.pinned == self.element {
                    taken = true;
                } else {
                    missing.push((prefix, namespace));
                }
            }
        }
        // Only a tree that a program changed has names that its own declarations do not fit; what holds for one element
        // of it does not for the next.
        let effect = self.effect(missing);
        if !taken {
            self.tables.memory.remember(self.state, key, effect);
        }
        self.apply(effect)
    }

    /// The prefix for an element with a name of a document.
    #[inline]
    pub(super) fn copied(&mut self, names: &mut Names, document: &Document, name: NameId) -> Copied {
        let key = Key::name(document, name);
        if let Some(number) = self.tables.memory.recall(self.state, key) {
            let (prefix, namespace) = self.tables.numbered[number as usize];
            self.pin(prefix, namespace);
            return Copied { number: Some(number), chosen: Chosen { prefix, namespace, declare: false } };
        }
        let name = document.names().get(name);
        let chosen = self.element(names, name.prefix, name.namespace);
        let number = (self.tables.numbered.len() < NUMBERED).then_some(self.tables.numbered.len() as u32);
        if let Some(number) = number {
            self.tables.numbered.push((chosen.prefix, chosen.namespace));
            self.tables.memory.remember(self.state, key, number);
        }
        Copied { number, chosen }
    }

    /// The prefix for an element; the wish is fulfilled where that is possible.
    pub(super) fn element(&mut self, names: &mut Names, prefix: &str, namespace: &str) -> Chosen {
        match (prefix, namespace) {
            (_, XML_NAMESPACE) => Scopes::xml(names),
            (_, "") => self.choose(Atom::EMPTY, Atom::EMPTY),
            ("xml" | "xmlns", _) => self.other_prefix(names, namespace),
            _ => {
                let (prefix, namespace) = (names.atom(prefix), names.atom(namespace));
                self.choose(prefix, namespace)
            }
        }
    }

    /// The prefix for an attribute of the element that was entered; it is empty only for no namespace.
    pub(super) fn attribute(&mut self, names: &mut Names, prefix: &str, namespace: &str) -> Chosen {
        match (prefix, namespace) {
            (_, XML_NAMESPACE) => Scopes::xml(names),
            (_, "") => Chosen { prefix: Atom::EMPTY, namespace: Atom::EMPTY, declare: false },
            ("" | "xml" | "xmlns", _) => self.other_prefix(names, namespace),
            _ => {
                self.pin_all(names);
                let (prefix, bound) = (names.atom(prefix), names.atom(namespace));
                let binding = self.binding(prefix);
                if binding.namespace == bound || binding.pinned != self.element {
                    return self.choose(prefix, bound);
                }
                self.other_prefix(names, namespace)
            }
        }
    }

    /// Gives the element that was entered a namespace node; whether it has to be declared.
    ///
    /// Errors: the prefix is needed for another namespace.
    pub(super) fn require(&mut self, names: &mut Names, prefix: &str, namespace: &str) -> Result<Chosen, OutputError> {
        if prefix == "xml" && namespace == XML_NAMESPACE {
            return Ok(Scopes::xml(names));
        }
        let reserved = [XML_NAMESPACE, XMLNS_NAMESPACE].contains(&namespace) || ["xml", "xmlns"].contains(&prefix);
        if reserved || (namespace.is_empty() && !prefix.is_empty()) {
            return Err(OutputError::PrefixTaken);
        }
        self.pin_all(names);
        let (prefix, namespace) = (names.atom(prefix), names.atom(namespace));
        let binding = self.binding(prefix);
        if binding.pinned == self.element && binding.namespace != namespace {
            let default = prefix == Atom::EMPTY && binding.namespace == Atom::EMPTY;
            return Err(if default { OutputError::DefaultTaken } else { OutputError::PrefixTaken });
        }
        Ok(self.choose(prefix, namespace))
    }

    /// Whether there is a default namespace.
    pub(super) fn has_default(&self) -> bool {
        self.binding(Atom::EMPTY).namespace != Atom::EMPTY
    }

    fn xml(names: &mut Names) -> Chosen {
        Chosen { prefix: names.atom("xml"), namespace: names.atom(XML_NAMESPACE), declare: false }
    }

    /// Lets a prefix mean a namespace on the element that was entered.
    fn choose(&mut self, prefix: Atom, namespace: Atom) -> Chosen {
        let declare = self.binding(prefix).namespace != namespace;
        if declare {
            self.bind(prefix, namespace);
        }
        self.pin(prefix, namespace);
        Chosen { prefix, namespace, declare }
    }

    /// A prefix for a namespace whose name brings none that can be used: one in scope, or one made up.
    fn other_prefix(&mut self, names: &mut Names, namespace: &str) -> Chosen {
        self.pin_all(names);
        let namespace = names.atom(namespace);
        if let Some(&made) = self.tables.made.get(namespace.index()).filter(|&&made| made != Atom::EMPTY) {
            let binding = self.binding(made);
            if binding.namespace == namespace || binding.pinned != self.element {
                return self.choose(made, namespace);
            }
        }
        let innermost = self.tables.undo.iter().rev().map(|&(prefix, _)| prefix).take(LOOKED_AT);
        let mut usable = innermost.filter(|&prefix| prefix != Atom::EMPTY);
        if let Some(prefix) = usable.find(|&prefix| self.binding(prefix).namespace == namespace) {
            return self.choose(prefix, namespace);
        }
        loop {
            let prefix = names.atom(&format!("ns{}", self.next_made));
            self.next_made += 1;
            let binding = self.binding(prefix);
            if binding.namespace == Atom::EMPTY && binding.pinned != self.element {
                let place = namespace.index();
                if self.tables.made.len() <= place {
                    self.tables.made.resize(place + 1, Atom::EMPTY);
                }
                self.tables.made[place] = prefix;
                return self.choose(prefix, namespace);
            }
        }
    }

    /// Lets the bindings say what the element needs.
    fn pin_all(&mut self, names: &mut Names) {
        match std::mem::replace(&mut self.unpinned, Unpinned::Nothing) {
            Unpinned::Nothing => {}
            Unpinned::Set(set) => {
                for (prefix, namespace) in set.bindings() {
                    let (prefix, namespace) = (names.atom(prefix), names.atom(namespace));
                    self.pin(prefix, namespace);
                }
            }
            Unpinned::Source(document, element) => {
                for (prefix, namespace) in document.namespaces_in_scope(element) {
                    let (prefix, namespace) = (names.atom(prefix), names.atom(namespace));
                    if self.binding(prefix).namespace == namespace {
                        self.pin(prefix, namespace);
                    }
                }
            }
        }
    }

    #[inline]
    fn binding(&self, prefix: Atom) -> Binding {
        self.tables.bindings.get(prefix.index()).copied().unwrap_or(Binding { namespace: Atom::EMPTY, pinned: 0 })
    }

    /// Says that the element needs the prefix to mean this.
    #[inline]
    fn pin(&mut self, prefix: Atom, namespace: Atom) {
        let place = prefix.index();
        if self.tables.bindings.len() <= place {
            self.tables.bindings.resize(place + 1, Binding { namespace: Atom::EMPTY, pinned: 0 });
        }
        self.tables.bindings[place] = Binding { namespace, pinned: self.element };
    }

    /// Lets a prefix mean something else until the element ends; that is a new state.
    fn bind(&mut self, prefix: Atom, namespace: Atom) {
        self.tables.undo.push((prefix, self.binding(prefix).namespace));
        self.pin(prefix, namespace);
        self.states += 1;
        self.state = self.states;
    }

    /// The number of a list of declarations; 0 for none.
    fn effect(&mut self, declared: Vec<(Atom, Atom)>) -> u32 {
        if declared.is_empty() {
            return 0;
        }
        self.states += 1;
        self.tables.memory.add_effect(declared, self.states)
    }

    /// Declares what is in a list.
    fn apply(&mut self, effect: u32) -> &[(Atom, Atom)] {
        if effect == 0 {
            return &[];
        }
        for place in 0..self.tables.memory.declared(effect).len() {
            let (prefix, namespace) = self.tables.memory.declared(effect)[place];
            self.bind(prefix, namespace);
        }
        self.state = self.tables.memory.state_behind(effect);
        self.tables.memory.declared(effect)
    }
}
