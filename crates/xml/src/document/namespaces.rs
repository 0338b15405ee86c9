//! Which prefixes mean what at an element.

use super::{Document, Kind, NodeId};
use crate::{Atom, XML_NAMESPACE};

impl Document {
    /// The namespace declarations written on the element, in their order.
    ///
    /// Shape: prefix and namespace; the empty prefix is the default namespace, an empty namespace ends its scope.
    pub fn declarations(&self, element: NodeId) -> impl Iterator<Item = (&str, &str)> {
        self.declared(element).map(|(prefix, namespace)| (self.names.text(prefix), self.names.text(namespace)))
    }

    /// As [`declarations`](Document::declarations), as numbers of [`names`](Document::names).
    pub fn declared(&self, element: NodeId) -> impl Iterator<Item = (Atom, Atom)> {
        self.declaration_nodes(element).map(|node| self.at(node).binding())
    }

    /// All that prefixes mean at the element, `xml` included: its namespace nodes, sorted by prefix.
    ///
    /// A default namespace that is ended does not show. Of a tree that programs changed, what is declared in it: a
    /// prefix that writing will have to declare does not show.
    /// Source: XPath 1.0 §5.4.
    pub fn namespaces_in_scope(&self, element: NodeId) -> Vec<(&str, &str)> {
        let mut scope: Vec<(&str, &str)> = vec![("xml", XML_NAMESPACE)];
        scope.extend(self.bindings(element).map(|(prefix, uri)| (self.names.text(prefix), self.names.text(uri))));
        // Stable, so that of each prefix the innermost declaration comes first.
        scope.sort_by_key(|&(prefix, _)| prefix);
        scope.dedup_by_key(|&mut (prefix, _)| prefix);
        scope.retain(|&(_, namespace)| !namespace.is_empty());
        scope
    }

    /// What `prefix` means at the element; the empty one is the default namespace. `None` where it means nothing.
    pub fn lookup_namespace(&self, element: NodeId, prefix: &str) -> Option<&str> {
        if prefix == "xml" {
            return Some(XML_NAMESPACE);
        }
        self.binding(element, prefix).map(|(_, namespace)| namespace)
    }

    /// The declaration at the element or around it that says what `prefix` means; of `xml` there is none.
    ///
    /// Shape: prefix and namespace.
    pub fn binding(&self, element: NodeId, prefix: &str) -> Option<(&str, &str)> {
        let prefix = self.names.find_atom(prefix)?;
        let (_, namespace) = self.bindings(element).find(|&(declared, _)| declared == prefix)?;
        Some((self.names.text(prefix), self.names.text(namespace))).filter(|(_, namespace)| !namespace.is_empty())
    }

    /// Whether more than so many declarations stand at the element and around it, those included that others hide.
    pub fn declares_more_than(&self, element: NodeId, count: usize) -> bool {
        self.bindings(element).nth(count).is_some()
    }

    /// All declarations at the element and around it, the innermost first.
    fn bindings(&self, element: NodeId) -> impl Iterator<Item = (Atom, Atom)> {
        let around = std::iter::successors(Some(element), |&element| self.parent(element));
        around.flat_map(|element| self.declared(element)).chain(self.inherited.iter().copied())
    }

    /// The declarations of an element; none of other nodes.
    pub(super) fn declaration_nodes(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        let first = if self.kind(node) == Kind::Element { self.first_in_chain(node) } else { None };
        std::iter::successors(first, |&node| NodeId::from_link(self.at(node).next))
            .take_while(|&node| self.at(node).is_declaration())
    }
}
