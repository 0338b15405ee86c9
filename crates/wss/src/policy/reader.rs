//! What reading a policy's assertions shares: names, places, and what is found wrong.

use std::borrow::Cow;

use myelin_xml::{Document, Kind, Name, NodeId};

use super::names::{SP_11, SP_12, SP_13, is_policy, is_security, problem};
use super::normal::Assertion;
use crate::Problem;

/// More problems than these are not told.
const PROBLEMS_MAX: usize = 50;

/// What is said of elements; their places are counted only in the end, each from the document's beginning.
#[derive(Default)]
pub(super) struct Notes(Vec<(NodeId, String)>);

/// Reads assertions, and collects what is wrong with them.
pub(super) struct Reader<'d> {
    /// The policy's document.
    pub(super) document: &'d Document,
    /// What makes the whole policy unusable.
    pub(super) errors: Notes,
    /// What cannot be honoured, so that the alternative in which it stands is left out.
    pub(super) unsupported: Notes,
    /// What has no effect.
    pub(super) warnings: Notes,
}

impl<'d> Reader<'d> {
    /// A reader that has found nothing wrong so far.
    pub(super) fn new(document: &'d Document) -> Reader<'d> {
        Reader { document, errors: Notes::default(), unsupported: Notes::default(), warnings: Notes::default() }
    }

    /// Notes what is wrong in any case.
    pub(super) fn wrong(&mut self, node: NodeId, message: impl Into<String>) {
        self.errors.add(node, message.into());
    }

    /// Notes what cannot be honoured; another alternative of the policy may do without.
    pub(super) fn unsupported(&mut self, node: NodeId, message: impl Into<String>) {
        self.unsupported.add(node, message.into());
    }

    /// Notes what has no effect.
    pub(super) fn warn(&mut self, node: NodeId, message: impl Into<String>) {
        self.warnings.add(node, message.into());
    }

    /// The name of an element.
    pub(super) fn name(&self, node: NodeId) -> Name<'d> {
        self.document.qname(node)
    }

    /// The local name of an assertion of WS-SecurityPolicy; empty for one of another namespace.
    pub(super) fn security(&self, assertion: &Assertion) -> &'d str {
        let name = self.name(assertion.node);
        if is_security(name.namespace) { name.local } else { "" }
    }

    /// An attribute, without a namespace or in one of WS-SecurityPolicy's: real files have both.
    pub(super) fn attribute(&self, node: NodeId, local: &str) -> Option<Cow<'d, str>> {
        ["", SP_11, SP_12, SP_13].iter().find_map(|namespace| self.document.attribute(node, namespace, local))
    }

    /// The elements in an element.
    pub(super) fn elements(&self, node: NodeId) -> impl Iterator<Item = NodeId> + use<'d> {
        let document = self.document;
        document.children(node).filter(move |&child| document.kind(child) == Kind::Element)
    }

    /// What stands in an assertion beside its nested policy.
    pub(super) fn parameters(&self, assertion: &Assertion) -> impl Iterator<Item = NodeId> + use<'d> {
        let document = self.document;
        self.elements(assertion.node).filter(move |&child| !is_policy(document, child, "Policy"))
    }

    /// The text of an element, without space around it.
    pub(super) fn text(&self, node: NodeId) -> String {
        self.document.string_value(node).trim().to_owned()
    }

    /// An assertion that says all by its name; anything in it would ask for more than we know of.
    pub(super) fn flag(&mut self, assertion: &Assertion) {
        self.without_parameters(assertion);
        self.without_nested(assertion);
    }

    /// Refuses what a nested policy of an assertion says that has none.
    pub(super) fn without_nested(&mut self, assertion: &Assertion) {
        for inner in &assertion.nested {
            self.unknown(inner);
        }
    }

    /// Refuses what stands in an assertion beside its nested policy.
    pub(super) fn without_parameters(&mut self, assertion: &Assertion) {
        let parameters: Vec<NodeId> = self.parameters(assertion).collect();
        for parameter in parameters {
            let (inner, outer) = (self.name(parameter).local, self.name(assertion.node).local);
            self.unsupported(parameter, format!("{inner} in {outer} is not supported"));
        }
    }

    /// An assertion that is not known where it stands: wrong, unless the author says that it may be ignored.
    pub(super) fn unknown(&mut self, assertion: &Assertion) {
        let name = self.name(assertion.node);
        let mut attributes = self.document.attributes(assertion.node);
        let ignorable = attributes.find(|&attribute| is_policy(self.document, attribute, "Ignorable"));
        let ignorable =
            ignorable.is_some_and(|attribute| matches!(self.document.value(attribute).trim(), "true" | "1"));
        let message = format!("the assertion {{{}}}{} is not known here", name.namespace, name.local);
        if ignorable {
            self.warn(assertion.node, message + ", and is ignored as it says");
        } else {
            self.wrong(assertion.node, message);
        }
    }
}

impl Notes {
    /// Keeps what is said, once: an assertion stands in many alternatives.
    pub(super) fn add(&mut self, node: NodeId, message: String) {
        let is_known = |(known, said): &(NodeId, String)| *known == node && *said == message;
        if self.0.len() < PROBLEMS_MAX && !self.0.iter().any(is_known) {
            self.0.push((node, message));
        }
    }

    /// Takes over what others say.
    pub(super) fn append(&mut self, others: Notes) {
        others.0.into_iter().for_each(|(node, message)| self.add(node, message));
    }

    /// Whether nothing was said.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was said, with its places.
    pub(super) fn located(self, document: &Document) -> Vec<Problem> {
        self.0.into_iter().map(|(node, message)| problem(document, node, message)).collect()
    }
}
