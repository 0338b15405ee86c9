//! The namespace axis: which declarations a canonical element shows.

use std::borrow::Cow;

use super::canonical::{Canonical, Method};
use super::selection::{NodeRef, Selection};
use crate::document::{Bindings, Fixups, Prefix};
use crate::{Atom, Document, Kind, NodeId};

/// What prefixes mean at the place of the walk, and what the canonical form has said of them.
///
/// A prefix is its atom's index; those made up for writing come behind all atoms. An element costs what it declares
/// and uses, not what is in scope, save for sets of nodes with the inclusive methods.
pub(super) struct Namespaces<'a> {
    document: &'a Document,
    fixups: &'a Fixups,
    atoms: usize,
    bindings: Bindings<Binding>,
    /// What `scope` and `shown` were before open elements changed them.
    scope_undo: Vec<(usize, Atom)>,
    shown_undo: Vec<(usize, Atom)>,
    inclusive_prefixes: Vec<usize>,
    /// Prefixes to be judged at an element: kept for its memory.
    candidates: Vec<usize>,
    /// What the element shows.
    pub(super) shows: Vec<(usize, Atom)>,
    /// A relative namespace that was to be shown.
    pub(super) relative: Option<Atom>,
}

#[derive(Clone, Copy, Debug)]
struct Binding {
    /// The namespace in scope; the empty one for none.
    scope: Atom,
    /// The namespace node in the set at the nearest element in the output that shows or uses the prefix.
    shown: Atom,
}

impl Default for Binding {
    fn default() -> Binding {
        Binding { scope: Atom::EMPTY, shown: Atom::EMPTY }
    }
}

/// Lengths of what has to be undone when an element ends.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    scope: usize,
    shown: usize,
}

impl<'a> Namespaces<'a> {
    pub(super) fn new(document: &'a Document, fixups: &'a Fixups, how: &Canonical) -> Namespaces<'a> {
        let (atoms, _) = document.names().size();
        let known = how.inclusive_prefixes.iter().filter_map(|prefix| document.names().find_atom(prefix));
        let mut inclusive_prefixes: Vec<usize> = known.map(Atom::index).collect();
        inclusive_prefixes.sort_unstable();
        inclusive_prefixes.dedup();
        Namespaces {
            document,
            fixups,
            atoms,
            bindings: Bindings::default(),
            scope_undo: Vec::new(),
            shown_undo: Vec::new(),
            inclusive_prefixes,
            candidates: Vec::new(),
            shows: Vec::new(),
            relative: None,
        }
    }

    /// Brings into scope what the elements around `top` declare.
    pub(super) fn surround(&mut self, top: NodeId) {
        let above = std::iter::successors(self.document.parent(top), |&node| self.document.parent(node));
        let above: Vec<NodeId> = above.filter(|&node| self.document.kind(node) == Kind::Element).collect();
        for &element in above.iter().rev() {
            self.declare(element);
        }
    }

    /// Goes into an element and finds what it shows; `included` is whether it is in the set itself.
    ///
    /// `apex` is whether nothing above it is in the output.
    pub(super) fn enter(
        &mut self,
        element: NodeId,
        (included, apex): (bool, bool),
        selection: &Selection<'_>,
        method: Method,
    ) -> Mark {
        let mark = Mark { scope: self.scope_undo.len(), shown: self.shown_undo.len() };
        self.declare(element);
        self.shows.clear();
        self.candidates.clear();
        match (method, selection) {
            (Method::Exclusive, _) => {
                self.candidates.extend_from_slice(&self.inclusive_prefixes);
                if included {
                    self.use_prefixes(element, selection);
                }
            }
            // All else in scope is as it was at the parent, which is in the output.
            (_, Selection::Subtree { .. }) if !apex => {
                self.candidates.extend(self.scope_undo[mark.scope..].iter().map(|&(prefix, _)| prefix));
            }
            _ => {
                self.candidates.extend(self.bindings.iter().map(|(prefix, _)| prefix));
            }
        }
        for at in 0..self.candidates.len() {
            self.judge(element, self.candidates[at], included, selection);
        }
        if self.shows.len() > 1 {
            let mut shows = std::mem::take(&mut self.shows);
            shows.sort_by(|one, other| self.text(one.0).cmp(&self.text(other.0)));
            shows.dedup();
            self.shows = shows;
        }
        mark
    }

    /// Leaves the element that `mark` was given for.
    pub(super) fn leave(&mut self, mark: Mark) {
        while self.scope_undo.len() > mark.scope {
            if let Some((prefix, before)) = self.scope_undo.pop() {
                self.bindings.get_mut(prefix).scope = before;
            }
        }
        while self.shown_undo.len() > mark.shown {
            if let Some((prefix, before)) = self.shown_undo.pop() {
                self.bindings.get_mut(prefix).shown = before;
            }
        }
    }

    /// Whether an element that declares nothing and has this prefix shows nothing: the output around it has said what
    /// the prefix means here.
    ///
    /// Shape: the element around it is in the output, so that of all else the same is known.
    pub(super) fn is_shown(&self, prefix: Atom) -> bool {
        let Binding { scope, shown } = self.bindings.get(prefix.index());
        scope == shown || prefix == Atom::XML
    }

    /// The text of a prefix.
    pub(super) fn text(&self, prefix: usize) -> Cow<'a, str> {
        let prefix = match prefix.checked_sub(self.atoms) {
            Some(number) => Prefix::Made(number),
            None => Prefix::Known(Atom::from_index(prefix as u32)),
        };
        self.document.prefix_text(prefix)
    }

    fn index(&self, prefix: Prefix) -> usize {
        match prefix {
            Prefix::Known(atom) => atom.index(),
            Prefix::Made(number) => self.atoms + number,
        }
    }

    fn declare(&mut self, element: NodeId) {
        for (prefix, namespace) in self.document.declared(element) {
            if prefix != Atom::EMPTY || !self.fixups.drops_default(element) {
                self.bind(prefix.index(), namespace);
            }
        }
        for &(prefix, namespace) in self.fixups.added(element) {
            self.bind(self.index(prefix), namespace);
        }
    }

    fn bind(&mut self, prefix: usize, namespace: Atom) {
        let binding = self.bindings.get_mut(prefix);
        self.scope_undo.push((prefix, std::mem::replace(&mut binding.scope, namespace)));
    }

    /// Adds the prefixes that the element and its attributes in the set use.
    fn use_prefixes(&mut self, element: NodeId, selection: &Selection<'_>) {
        self.candidates.push(self.prefix_of(element));
        for attribute in self.document.attributes(element) {
            let prefix = self.prefix_of(attribute);
            if prefix != Atom::EMPTY.index() && selection.holds(attribute) {
                self.candidates.push(prefix);
            }
        }
    }

    fn prefix_of(&self, node: NodeId) -> usize {
        match (self.fixups.renamed(node), self.document.name(node)) {
            (Some(prefix), _) => self.index(prefix),
            (None, Some(name)) => self.document.names().atoms(name).0.index(),
            (None, None) => Atom::EMPTY.index(),
        }
    }

    /// Shows a prefix unless the output around the element has said the same of it.
    fn judge(&mut self, element: NodeId, prefix: usize, included: bool, selection: &Selection<'_>) {
        if prefix == Atom::XML.index() {
            return;
        }
        let Binding { scope: mut namespace, shown } = self.bindings.get(prefix);
        if let Selection::Nodes(include) = selection
            && namespace != Atom::EMPTY
            && !include(NodeRef::Namespace { element, prefix: &self.text(prefix) })
        {
            namespace = Atom::EMPTY;
        }
        if namespace == shown {
            return;
        }
        // That a default namespace ends has to be said; other prefixes cannot end. Elements that are not in the
        // output do not end anything.
        if namespace != Atom::EMPTY || (prefix == Atom::EMPTY.index() && included) {
            self.shows.push((prefix, namespace));
            if namespace != Atom::EMPTY && !has_scheme(self.document.names().text(namespace)) {
                self.relative = Some(namespace);
            }
        }
        if included {
            self.bindings.get_mut(prefix).shown = namespace;
            self.shown_undo.push((prefix, shown));
        }
    }
}

/// Whether a reference is absolute.
///
/// Source: RFC 3986 §3.1.
fn has_scheme(reference: &str) -> bool {
    reference.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    })
}
