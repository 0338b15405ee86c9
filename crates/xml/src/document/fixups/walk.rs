//! The walk over what was changed that finds what has to be written beside it.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Fixups, Prefix};
use crate::Atom;
use crate::document::node::{Flags, Node};
use crate::document::{Bindings, Document, Kind, NodeId};

impl Document {
    /// What the document asks for as a whole.
    pub(crate) fn fixups(&self) -> &Fixups {
        self.fixups
            .get_or_init(|| if self.is_as_read() { Fixups::default() } else { Pass::run(self, NodeId::DOCUMENT) })
    }

    /// What a subtree asks for that is to stand alone.
    pub(crate) fn fixups_alone(&self, top: NodeId) -> Fixups {
        let at_home = self.is_as_read() && self.parent(top) == Some(NodeId::DOCUMENT);
        if at_home { Fixups::default() } else { Pass::run(self, top) }
    }

    /// The text of a prefix.
    pub(crate) fn prefix_text(&self, prefix: Prefix) -> Cow<'_, str> {
        match prefix {
            Prefix::Known(atom) => Cow::Borrowed(self.names.text(atom)),
            Prefix::Made(number) => Cow::Owned(format!("ns{number}")),
        }
    }
}

/// The walk: what prefixes mean where it stands, and what it has found.
struct Pass<'a> {
    document: &'a Document,
    found: Fixups,
    /// By the atom of a prefix.
    bindings: Bindings<Binding>,
    /// What prefixes were bound to before, to be restored when an element ends.
    undo: Vec<(Atom, Atom)>,
    /// The prefix that was made up or found for a namespace the last time.
    chosen: HashMap<Atom, Prefix>,
    /// Where made prefixes are declared: by number, how many open elements do.
    made: HashMap<usize, usize>,
    next_made: usize,
    open: Vec<Open>,
}

#[derive(Clone, Copy, Debug)]
struct Binding {
    /// What the prefix is bound to; the empty one for nothing.
    namespace: Atom,
    /// The last element on which the prefix was declared or relied upon.
    taken: u32,
}

impl Default for Binding {
    fn default() -> Binding {
        Binding { namespace: Atom::EMPTY, taken: 0 }
    }
}

/// An element that the walk is inside of.
struct Open {
    element: NodeId,
    /// Length of `undo` before the element.
    undo: usize,
    /// Whether prefixes mean below the element what they meant there in the source.
    original: bool,
}

impl<'a> Pass<'a> {
    fn run(document: &'a Document, top: NodeId) -> Fixups {
        let mut bindings = Bindings::<Binding>::default();
        bindings.get_mut(Atom::XML.index()).namespace = Atom::XML_NAMESPACE;
        let mut pass = Pass {
            document,
            found: Fixups::default(),
            bindings,
            undo: Vec::new(),
            chosen: HashMap::new(),
            made: HashMap::new(),
            next_made: 0,
            open: Vec::new(),
        };
        let mut next = Some(top);
        while let Some(node) = next {
            let inside = document.kind(node) == Kind::Document || pass.enter(node, top);
            next = if inside { document.first_child(node) } else { None };
            next = next.or_else(|| document.following(node, top));
            pass.leave(next.and_then(|next| document.parent(next)));
        }
        pass.found
    }

    /// Looks at a node; whether there is something to look at below it.
    fn enter(&mut self, id: NodeId, top: NodeId) -> bool {
        let node = self.document.at(id);
        if node.kind != Kind::Element {
            return false;
        }
        let around = match self.open.last() {
            Some(open) => open.original,
            None => top == NodeId::DOCUMENT,
        };
        let in_place = around && !node.flags.any(Flags::MOVED);
        if node.is_as_read() {
            if !in_place {
                self.subtree(id);
            }
            return false;
        }
        let undo = self.undo.len();
        let consistent = self.element(id);
        let kept = node.flags.any(Flags::SOURCE) && !node.flags.any(Flags::REDECLARED);
        self.open.push(Open { element: id, undo, original: in_place && kept && consistent });
        true
    }

    /// Closes elements up to the one that is the parent of what comes next.
    fn leave(&mut self, parent: Option<NodeId>) {
        while let Some(open) = self.open.pop_if(|open| Some(open.element) != parent) {
            self.unbind(open.undo);
            for &(prefix, _) in self.found.added(open.element) {
                if let Prefix::Made(number) = prefix {
                    *self.made.entry(number).or_default() -= 1;
                }
            }
        }
    }

    /// Judges an element that is not as it was read; whether its own declarations are enough.
    fn element(&mut self, id: NodeId) -> bool {
        let document = self.document;
        let mut consistent = true;
        let (prefix, _, namespace) = document.names.atoms(document.at(id).name());
        for (declared, bound) in document.declared(id) {
            // There is no prefix to take for a name without a namespace, so the name wins.
            if declared == Atom::EMPTY && bound != Atom::EMPTY && namespace == Atom::EMPTY {
                self.found.dropped.insert(id);
                consistent = false;
                continue;
            }
            self.bind(declared, bound);
            self.bindings.get_mut(declared.index()).taken = id.link();
        }
        consistent &= self.name(id, id, (prefix, namespace));
        for attribute in document.attributes(id) {
            let (prefix, _, namespace) = document.names.atoms(document.at(attribute).name());
            if namespace != Atom::EMPTY {
                consistent &= self.name(id, attribute, (prefix, namespace));
            }
        }
        consistent
    }

    /// Sees to it that the name of an element or of one of its attributes has its namespace; whether all prefixes go on
    /// meaning below what they meant.
    fn name(&mut self, element: NodeId, node: NodeId, (prefix, namespace): (Atom, Atom)) -> bool {
        let binding = self.bindings.get_mut(prefix.index());
        if node == element || prefix != Atom::EMPTY {
            let before = std::mem::replace(&mut binding.taken, element.link());
            if binding.namespace == namespace {
                return true;
            }
            // Nothing below can have meant what the prefix was bound to around the element.
            let unbound = prefix != Atom::EMPTY && binding.namespace == Atom::EMPTY;
            let meant_nothing = unbound && self.document.inherited.is_empty();
            if before != element.link() {
                self.bind(prefix, namespace);
                self.found.added.entry(element).or_default().push((Prefix::Known(prefix), namespace));
                return meant_nothing;
            }
        }
        let prefix = self.choose(element, namespace);
        self.found.renamed.insert(node, prefix);
        false
    }

    /// A prefix for a namespace whose name brings none that can be used: one in scope, or one made up.
    fn choose(&mut self, element: NodeId, namespace: Atom) -> Prefix {
        let known = self.chosen.get(&namespace).copied().or_else(|| {
            let mut bound = self.bindings.iter().filter(|(_, binding)| binding.namespace == namespace);
            bound
                .find(|&(prefix, _)| prefix != Atom::EMPTY.index())
                .map(|(prefix, _)| Prefix::Known(Atom::from_index(prefix as u32)))
        });
        match known {
            Some(Prefix::Known(prefix)) if self.bindings.get(prefix.index()).namespace == namespace => {
                self.bindings.get_mut(prefix.index()).taken = element.link();
                self.chosen.insert(namespace, Prefix::Known(prefix));
                return Prefix::Known(prefix);
            }
            Some(Prefix::Made(number)) => {
                if self.made.get(&number).is_none_or(|&count| count == 0) {
                    self.add_made(element, number, namespace);
                }
                return Prefix::Made(number);
            }
            _ => {}
        }
        while self.document.names.find_atom(&format!("ns{}", self.next_made)).is_some() {
            self.next_made += 1;
        }
        let number = self.next_made;
        self.next_made += 1;
        self.chosen.insert(namespace, Prefix::Made(number));
        self.add_made(element, number, namespace);
        Prefix::Made(number)
    }

    fn add_made(&mut self, element: NodeId, number: usize, namespace: Atom) {
        *self.made.entry(number).or_default() += 1;
        self.found.added.entry(element).or_default().push((Prefix::Made(number), namespace));
    }

    /// Finds what a subtree as it was read uses from outside itself and does not find here.
    ///
    /// The entries of such a subtree stand behind each other, in document order; so this is one run over them.
    fn subtree(&mut self, top: NodeId) {
        let document = self.document;
        let before = self.undo.len();
        let mut outer = Vec::new();
        let mut scopes: Vec<(u32, usize)> = Vec::new();
        let entries = &document.nodes[top.index()..document.end_of_subtree(top)];
        for (at, node) in entries.iter().enumerate() {
            if node.kind == Kind::Element {
                while let Some((_, undo)) = scopes.pop_if(|(end, _)| *end <= node.start) {
                    self.unbind(undo);
                }
                if entries.get(at + 1).is_some_and(Node::is_declaration) {
                    scopes.push((node.end, self.undo.len()));
                    for declaration in entries[at + 1..].iter().take_while(|node| node.is_declaration()) {
                        let (prefix, namespace) = declaration.binding();
                        self.bind(prefix, namespace);
                    }
                }
            } else if node.kind != Kind::Attribute || node.is_declaration() {
                continue;
            }
            let (prefix, _, namespace) = document.names.atoms(node.name());
            let default = node.kind == Kind::Attribute && prefix == Atom::EMPTY;
            if !default && self.bindings.get(prefix.index()).namespace != namespace {
                // Not bound within the subtree, so no scope of it that ends will undo this.
                let binding = self.bindings.get_mut(prefix.index());
                outer.push((prefix, std::mem::replace(&mut binding.namespace, namespace)));
                self.found.added.entry(top).or_default().push((Prefix::Known(prefix), namespace));
            }
        }
        self.unbind(before);
        for (prefix, before) in outer.into_iter().rev() {
            self.bindings.get_mut(prefix.index()).namespace = before;
        }
    }

    #[inline]
    fn bind(&mut self, prefix: Atom, namespace: Atom) {
        let binding = self.bindings.get_mut(prefix.index());
        self.undo.push((prefix, std::mem::replace(&mut binding.namespace, namespace)));
    }

    #[inline]
    fn unbind(&mut self, length: usize) {
        while self.undo.len() > length {
            if let Some((prefix, before)) = self.undo.pop() {
                self.bindings.get_mut(prefix.index()).namespace = before;
            }
        }
    }
}
