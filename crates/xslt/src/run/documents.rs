//! Documents that a stylesheet asks for, each read once; and white space that it does not want to see.

use std::cell::RefCell;
use std::collections::HashMap;

use myelin_xml::{Document, NameId, NodeId, View};

use crate::program::{Program, StripRule, StripTest};

/// Documents by the URI under which the resolver found them.
pub(super) struct Documents<'a> {
    pub(super) known: RefCell<Vec<(String, &'a Document)>>,
    /// What was asked for, and where it was found.
    pub(super) asked: RefCell<HashMap<(String, String), &'a Document>>,
}

impl<'a> Documents<'a> {
    /// `source` is the document that is transformed, where its URI is known.
    pub(super) fn new(source: Option<(String, &'a Document)>) -> Documents<'a> {
        Documents { known: RefCell::new(source.into_iter().collect()), asked: RefCell::default() }
    }

    /// The URI of a document that was loaded.
    pub(super) fn uri(&self, document: &Document) -> Option<String> {
        let known = self.known.borrow();
        known.iter().find(|(_, known)| std::ptr::eq(*known, document)).map(|(uri, _)| uri.clone())
    }
}

/// Hides the white space that the program strips.
pub(super) fn strip(program: &Program, document: &mut Document, view: &mut View) {
    // Elements of one name have one answer.
    let mut known: Vec<Option<bool>> = Vec::new();
    document.hide_space(view, |document, element| {
        let Some(name) = document.name(element) else { return false };
        let index = NameId::index(name);
        if known.len() <= index {
            known.resize(index + 1, None);
        }
        *known[index].get_or_insert_with(|| strips(&program.strip, document, element))
    });
}

/// Whether white space alone is stripped from an element: the rule with the highest precedence, then the most exact,
/// then the last decides (XSLT 1.0 §3.4).
fn strips(rules: &[StripRule], document: &Document, element: NodeId) -> bool {
    let name = document.qname(element);
    let matching = rules.iter().filter(|rule| match &rule.test {
        StripTest::Any => true,
        StripTest::Local(local) => name.local == local,
        StripTest::Namespace(namespace) => name.namespace == namespace,
        StripTest::Name(wanted) => wanted.namespace == name.namespace && wanted.local == name.local,
    });
    let exactness = |test: &StripTest| match test {
        StripTest::Any => 0,
        StripTest::Local(_) | StripTest::Namespace(_) => 1,
        StripTest::Name(_) => 2,
    };
    matching.max_by_key(|rule| (rule.precedence, exactness(&rule.test))).is_some_and(|rule| rule.strip)
}
