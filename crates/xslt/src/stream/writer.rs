//! Writes the result of a pass: XML in UTF-8 and nothing else.
//!
//! What has to be declared on an element depends on what prefixes mean around it. Each such state has a number, and what
//! an element changes in it is found once and then known, over all messages.

use std::collections::HashMap;
use std::ops::Range;

use myelin_xml::{Atom, Name, Names};

use crate::output::{LiteralStart, escape_xml, push_plain};

/// A pass could not be finished; the tree has to do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GaveUp;

/// More states than this are forgotten before the next message.
const STATES: usize = 1_024;

/// What prefixes can mean, and what changes it; kept from one message to the next.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    names: Names,
    /// What each state binds: prefix and namespace, sorted by prefix; an empty namespace is not listed.
    states: Vec<Vec<(Atom, Atom)>>,
    numbers: HashMap<Vec<(Atom, Atom)>, u32>,
    /// What declarations make of a state, by the atoms of the source.
    declared: Vec<((u32, Atom, Atom), u32)>,
    effects: Vec<Effect>,
    /// For each literal the state it was last written in, and its effect there.
    literals: Vec<(u32, u32)>,
    /// The effects of literals in states, the last of each aside.
    known: HashMap<(u32, u32), u32>,
    /// The last state here and of the source in which a copied element declared nothing, and that effect.
    copied: (u32, u32, u32),
    /// The effects of copies in pairs of such states, by the prefix of the element's own name.
    copies: HashMap<(u32, u32, Atom), u32>,
}

/// What an element changes.
#[derive(Debug)]
struct Effect {
    /// The declarations as they are written.
    declared: Box<str>,
    /// The state inside.
    state: u32,
}

/// How many declarations in the source are known; few, as they are looked through.
const DECLARED: usize = 32;

/// Marks that nothing is known.
const UNKNOWN: u32 = u32::MAX;

impl Scopes {
    /// Makes ready for a message.
    pub(super) fn begin(&mut self, literals: usize) {
        if self.states.len().max(self.effects.len()) > STATES || self.states.is_empty() {
            *self = Scopes { copied: (UNKNOWN, UNKNOWN, 0), ..Scopes::default() };
            self.state(Vec::new());
        }
        if self.literals.len() != literals {
            self.literals = vec![(UNKNOWN, 0); literals];
        }
    }

    /// The state with these bindings.
    fn state(&mut self, bindings: Vec<(Atom, Atom)>) -> u32 {
        if let Some(known) = self.numbers.get(&bindings) {
            return *known;
        }
        let number = self.states.len() as u32;
        self.states.push(bindings.clone());
        self.numbers.insert(bindings, number);
        number
    }

    /// Forgets what atoms of the source mean, which are others from now on.
    pub(super) fn other_source(&mut self) {
        self.declared.clear();
    }

    /// The state that a declaration in the source makes of another.
    #[inline]
    pub(super) fn declared(&mut self, state: u32, names: &Names, prefix: Atom, namespace: Atom) -> u32 {
        let key = (state, prefix, namespace);
        match self.declared.iter().find(|(known, _)| *known == key) {
            Some((_, inside)) => *inside,
            None => self.first_declared(key, names),
        }
    }

    #[cold]
    fn first_declared(&mut self, key: (u32, Atom, Atom), names: &Names) -> u32 {
        let (state, prefix, namespace) = key;
        let mut bindings = self.states[state as usize].clone();
        bind(&mut bindings, self.names.atom(names.text(prefix)), self.names.atom(names.text(namespace)));
        let inside = self.state(bindings);
        if self.declared.len() == DECLARED {
            self.declared.clear();
        }
        self.declared.push((key, inside));
        inside
    }

    fn binding(&self, state: u32, prefix: Atom) -> Option<Atom> {
        self.states[state as usize].iter().find(|(known, _)| *known == prefix).map(|(_, namespace)| *namespace)
    }

    /// The effect of bringing bindings into scope.
    fn effect(&mut self, state: u32, needed: &[(Atom, Atom)]) -> u32 {
        let mut declared = String::new();
        let mut bindings = self.states[state as usize].clone();
        for &(prefix, namespace) in needed {
            if self.binding(state, prefix).unwrap_or(Atom::EMPTY) == namespace {
                continue;
            }
            bind(&mut bindings, prefix, namespace);
            declared.push_str(" xmlns");
            if prefix != Atom::EMPTY {
                declared.push(':');
                declared.push_str(self.names.text(prefix));
            }
            declared.push_str("=\"");
            let mut value = Vec::new();
            // Both the source and the stylesheet were read: there is nothing in them that XML does not have.
            let _ = escape_xml(self.names.text(namespace), true, &mut value);
            declared.push_str(&String::from_utf8_lossy(&value));
            declared.push('"');
        }
        let state = self.state(bindings);
        self.effects.push(Effect { declared: declared.into(), state });
        self.effects.len() as u32 - 1
    }

    #[inline]
    fn literal(&mut self, state: u32, index: u32, literal: &LiteralStart) -> u32 {
        match self.literals[index as usize] {
            (known, effect) if known == state => effect,
            _ => self.first_literal(state, index, literal),
        }
    }

    #[cold]
    fn first_literal(&mut self, state: u32, index: u32, literal: &LiteralStart) -> u32 {
        if let Some(effect) = self.known.get(&(state, index)) {
            self.literals[index as usize] = (state, *effect);
            return *effect;
        }
        let bindings = literal.namespaces().bindings();
        let needed: Vec<_> =
            bindings.iter().map(|(prefix, uri)| (self.names.atom(prefix), self.names.atom(uri))).collect();
        let effect = self.effect(state, &needed);
        self.known.insert((state, index), effect);
        self.literals[index as usize] = (state, effect);
        effect
    }

    #[inline]
    fn copy(&mut self, state: u32, source: u32, prefix: &str) -> Option<u32> {
        match self.copied {
            (here, there, effect) if (here, there) == (state, source) => Some(effect),
            _ => self.first_copy(state, source, prefix),
        }
    }

    /// What a state binds, by prefix: in the order in which the tree has it.
    fn sorted(&self, state: u32) -> Vec<(Atom, Atom)> {
        let mut bindings = self.states[state as usize].clone();
        bindings.sort_by(|(one, _), (other, _)| self.names.text(*one).cmp(self.names.text(*other)));
        bindings
    }

    /// `None`: a default namespace here is none there, which each element below would have to end for itself.
    #[cold]
    fn first_copy(&mut self, state: u32, source: u32, prefix: &str) -> Option<u32> {
        let own = self.names.atom(prefix);
        if let Some(effect) = self.copies.get(&(state, source, own)) {
            return Some(self.note_copy(state, source, *effect));
        }
        // In the order in which the tree has them: what the name needs comes first.
        let mut needed = self.sorted(source);
        needed.sort_by_key(|(prefix, _)| *prefix != own);
        let ends = self.binding(state, Atom::EMPTY).is_some() && self.binding(source, Atom::EMPTY).is_none();
        if ends {
            return None;
        }
        let effect = self.effect(state, &needed);
        self.copies.insert((state, source, own), effect);
        Some(self.note_copy(state, source, effect))
    }

    /// Notes what a copy changes, if that is nothing and so does not depend on its name.
    fn note_copy(&mut self, state: u32, source: u32, effect: u32) -> u32 {
        if self.effects[effect as usize].declared.is_empty() {
            self.copied = (state, source, effect);
        }
        effect
    }
}

fn bind(bindings: &mut Vec<(Atom, Atom)>, prefix: Atom, namespace: Atom) {
    let at = bindings.binary_search_by_key(&prefix, |(known, _)| *known);
    match (at, namespace == Atom::EMPTY) {
        (Ok(at), true) => drop(bindings.remove(at)),
        (Ok(at), false) => bindings[at].1 = namespace,
        (Err(_), true) => {}
        (Err(at), false) => bindings.insert(at, (prefix, namespace)),
    }
}

/// The result as far as it has come.
pub(super) struct Writer<'w> {
    pub(super) out: &'w mut Vec<u8>,
    scopes: &'w mut Scopes,
    /// Where the start tag ends that was written last: an element that ends there is empty.
    tag_end: usize,
    /// What prefixes mean inside the innermost element.
    state: u32,
    /// What they meant around each open element, and where the name of a copied one stands.
    open: &'w mut Vec<Open>,
    /// Where the first element that no other is around begins and ends.
    root: Option<Range<usize>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    around: u32,
    name: u32,
    length: u32,
}

impl<'w> Writer<'w> {
    pub(super) fn new(
        out: &'w mut Vec<u8>,
        scopes: &'w mut Scopes,
        open: &'w mut Vec<Open>,
        declaration: Option<&str>,
    ) -> Writer<'w> {
        open.clear();
        out.extend_from_slice(declaration.unwrap_or_default().as_bytes());
        Writer { out, scopes, tag_end: 0, state: 0, open, root: None }
    }

    /// Says what prefixes mean around the result.
    pub(super) fn set_state(&mut self, state: u32) {
        self.state = state;
    }

    /// Whether prefixes mean here what they mean in a state of the source.
    pub(super) fn is_in(&self, state: u32) -> bool {
        self.state == state
    }

    /// Where the first element stands that no other is around.
    pub(super) fn root(&self) -> Option<Range<usize>> {
        self.root.clone()
    }

    /// Notes where the first element begins.
    #[inline]
    fn open(&mut self) {
        if self.open.is_empty() && self.root.is_none() {
            self.root = Some(self.out.len()..0);
        }
    }

    /// Notes where the first element ends.
    #[inline]
    fn closed(&mut self) {
        if self.open.is_empty()
            && let Some(root) = &mut self.root
            && root.end == 0
        {
            root.end = self.out.len();
        }
    }

    pub(super) fn scopes(&mut self) -> &mut Scopes {
        self.scopes
    }

    #[inline]
    pub(super) fn start(&mut self, index: u32, literal: &LiteralStart) {
        self.open();
        self.out.extend_from_slice(literal.open().as_bytes());
        self.open.push(Open { around: self.state, name: 0, length: 0 });
        let effect = self.scopes.literal(self.state, index, literal);
        self.take_effect(effect);
    }

    /// Brings what has to be declared into the start tag that was just written.
    #[inline]
    fn take_effect(&mut self, effect: u32) {
        let effect = &self.scopes.effects[effect as usize];
        if !effect.declared.is_empty() {
            self.out.pop();
            self.out.extend_from_slice(effect.declared.as_bytes());
            self.out.push(b'>');
        }
        self.state = effect.state;
        self.tag_end = self.out.len();
    }

    /// Ends a literal element.
    #[inline]
    pub(super) fn end(&mut self, literal: &LiteralStart) {
        if let Some(open) = self.open.pop() {
            self.state = open.around;
        }
        if !self.end_empty() {
            self.out.extend_from_slice(literal.close().as_bytes());
        }
        self.closed();
    }

    /// Ends an element whose start tag was written last; whether it was.
    #[inline]
    fn end_empty(&mut self) -> bool {
        let empty = self.out.len() == self.tag_end;
        if empty {
            self.out.pop();
            self.out.extend_from_slice(b"/>");
        }
        empty
    }

    /// Starts an element like one of the source, where prefixes mean what the state `source` says; whether that can be
    /// done.
    #[inline]
    pub(super) fn start_copy(&mut self, name: Name<'_>, source: u32) -> bool {
        let Some(effect) = self.scopes.copy(self.state, source, name.prefix) else { return false };
        self.open();
        self.out.push(b'<');
        let start = self.out.len();
        self.name(name);
        self.open.push(Open { around: self.state, name: start as u32, length: (self.out.len() - start) as u32 });
        self.out.push(b'>');
        self.take_effect(effect);
        true
    }

    #[inline]
    pub(super) fn end_copy(&mut self) {
        let Some(Open { around, name, length }) = self.open.pop() else { return };
        self.state = around;
        if !self.end_empty() {
            self.out.extend_from_slice(b"</");
            self.out.extend_from_within(name as usize..(name + length) as usize);
            self.out.push(b'>');
        }
        self.closed();
    }

    /// Copies an element of the source as it stands there, and declares what is in scope around it there and not here.
    ///
    /// Shape: `element` is all of it, `name_length` the bytes of its name, `own` the prefixes it declares itself.
    pub(super) fn copy_as_read(
        &mut self,
        element: &[u8],
        name_length: usize,
        own: &[String],
        source: u32,
    ) -> Result<(), GaveUp> {
        let effect = self.scopes.copy(self.state, source, "").ok_or(GaveUp)?;
        self.open();
        let (start, rest) = element.split_at_checked(1 + name_length).ok_or(GaveUp)?;
        self.out.extend_from_slice(start);
        if own.is_empty() {
            self.out.extend_from_slice(self.scopes.effects[effect as usize].declared.as_bytes());
        } else {
            let mut needed = self.scopes.sorted(source);
            needed.retain(|(prefix, _)| own.iter().all(|own| own != self.scopes.names.text(*prefix)));
            let effect = self.scopes.effect(self.state, &needed);
            self.out.extend_from_slice(self.scopes.effects[effect as usize].declared.as_bytes());
        }
        self.out.extend_from_slice(rest);
        self.closed();
        Ok(())
    }

    /// Whether a default namespace is in scope here that is none in a state of the source.
    pub(super) fn has_other_default(&self, source: u32) -> bool {
        self.scopes.binding(self.state, Atom::EMPTY).is_some() && self.scopes.binding(source, Atom::EMPTY).is_none()
    }

    /// An attribute with a name as it stands in the source.
    pub(super) fn attribute(&mut self, name: Name<'_>, value: &str) -> Result<(), GaveUp> {
        self.begin_attribute(" ");
        self.name(name);
        self.out.extend_from_slice(b"=\"");
        self.attribute_value(value)?;
        self.end_attribute();
        Ok(())
    }

    /// Goes back into the start tag that was written last, for an attribute that begins with `begin`.
    pub(super) fn begin_attribute(&mut self, begin: &str) {
        self.out.pop();
        self.out.extend_from_slice(begin.as_bytes());
    }

    /// Ends an attribute and the start tag again.
    pub(super) fn end_attribute(&mut self) {
        self.out.extend_from_slice(b"\">");
        self.tag_end = self.out.len();
    }

    /// A name as it stands in the source.
    #[inline]
    fn name(&mut self, name: Name<'_>) {
        if !name.prefix.is_empty() {
            self.out.extend_from_slice(name.prefix.as_bytes());
            self.out.push(b':');
        }
        self.out.extend_from_slice(name.local.as_bytes());
    }

    /// A part of a start tag as it is.
    pub(super) fn verbatim(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn attribute_value(&mut self, value: &str) -> Result<(), GaveUp> {
        escape_xml(value, true, self.out).map_err(|_| GaveUp)
    }

    /// Text that is escaped already.
    #[inline]
    pub(super) fn escaped(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) -> Result<(), GaveUp> {
        escape_xml(text, false, self.out).map_err(|_| GaveUp)
    }

    /// Text that has no character to be escaped; false: it has, and nothing was written.
    #[inline]
    pub(super) fn plain_text(&mut self, text: &[u8]) -> bool {
        push_plain(text, self.out)
    }

    pub(super) fn comment(&mut self, text: &str) {
        self.verbatim("<!--");
        self.verbatim(text);
        self.verbatim("-->");
    }

    pub(super) fn instruction(&mut self, target: &str, data: &str) {
        self.verbatim("<?");
        self.verbatim(target);
        if !data.is_empty() {
            self.verbatim(" ");
            self.verbatim(data);
        }
        self.verbatim("?>");
    }

    /// Whether no element of the result is open.
    pub(super) fn is_at_top(&self) -> bool {
        self.open.is_empty()
    }
}
