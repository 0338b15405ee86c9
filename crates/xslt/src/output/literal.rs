//! Starts of literal elements, as far as they can be made ready when a stylesheet is compiled.

use std::collections::HashSet;
use std::sync::Arc;

use super::html::Traits;
use crate::name::QualifiedName;

/// Prefix and namespace; the empty prefix is the default namespace, an empty namespace says that there is none.
pub(crate) type Binding = (String, String);

/// Namespaces that have to be in scope on an element, each prefix once.
///
/// What one [`NamespaceSets`] gave is shared where it is the same, so that it is told apart by its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamespaceSet {
    bindings: Arc<[Binding]>,
}

impl NamespaceSet {
    pub(crate) fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// A number that only sets which hold the same have in common, as long as they live.
    #[inline]
    pub(super) fn key(&self) -> usize {
        self.bindings.as_ptr().addr()
    }
}

/// The sets of one stylesheet.
#[derive(Debug, Default)]
pub(crate) struct NamespaceSets {
    known: HashSet<Arc<[Binding]>>,
}

impl NamespaceSets {
    /// The set of these bindings; `xml` is in scope anyway.
    fn share(&mut self, mut bindings: Vec<Binding>) -> NamespaceSet {
        bindings.retain(|(prefix, _)| prefix != "xml");
        let bindings = match self.known.get(bindings.as_slice()) {
            Some(known) => Arc::clone(known),
            None => {
                let bindings: Arc<[Binding]> = bindings.into();
                self.known.insert(Arc::clone(&bindings));
                bindings
            }
        };
        NamespaceSet { bindings }
    }
}

/// The start of an element whose name is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LiteralStart {
    name: QualifiedName,
    namespaces: NamespaceSet,
    /// The tags.
    pub(super) open: Box<str>,
    pub(super) close: Box<str>,
    /// What HTML knows of the element.
    pub(super) traits: Traits,
}

impl LiteralStart {
    /// Makes ready what can be; `bindings` must be in scope on the element beside that of its own prefix, which wins.
    pub(crate) fn new(name: QualifiedName, bindings: &[Binding], sets: &mut NamespaceSets) -> LiteralStart {
        let others = bindings.iter().filter(|(prefix, _)| *prefix != name.prefix).cloned();
        let own = (name.prefix.clone(), name.namespace.clone());
        let namespaces = sets.share(std::iter::once(own).chain(others).collect());
        let written = match name.prefix.as_str() {
            "" => name.local.clone(),
            prefix => format!("{prefix}:{}", name.local),
        };
        LiteralStart {
            traits: Traits::of(&name.local),
            open: format!("<{written}>").into(),
            close: format!("</{written}>").into(),
            namespaces,
            name,
        }
    }

    /// The start tag without declarations and attributes.
    #[inline]
    pub(crate) fn open(&self) -> &str {
        &self.open
    }

    /// The end tag.
    #[inline]
    pub(crate) fn close(&self) -> &str {
        &self.close
    }

    pub(crate) fn name(&self) -> &QualifiedName {
        &self.name
    }

    pub(crate) fn namespaces(&self) -> &NamespaceSet {
        &self.namespaces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_that_hold_the_same_are_one() {
        let mut sets = NamespaceSets::default();
        let name = |local: &str| QualifiedName {
            prefix: "p".to_owned(),
            local: local.to_owned(),
            namespace: "urn:p".to_owned(),
        };
        let others = [("q".to_owned(), "urn:q".to_owned()), ("p".to_owned(), "urn:other".to_owned())];
        let [a, b] = ["a", "b"].map(|local| LiteralStart::new(name(local), &others, &mut sets));
        let c = LiteralStart::new(name("c"), &[], &mut sets);
        assert_eq!((a.open.as_ref(), a.namespaces().key()), ("<p:a>", b.namespaces().key()));
        assert_ne!(a.namespaces().key(), c.namespaces().key());
        let expected = [("p", "urn:p"), ("q", "urn:q")].map(|(prefix, uri)| (prefix.to_owned(), uri.to_owned()));
        assert_eq!(a.namespaces().bindings(), expected);
    }
}
