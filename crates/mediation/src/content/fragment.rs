//! Pieces of XML apart from any message: what properties hold, and what stands in the configuration.

use std::collections::HashSet;
use std::sync::Arc;

use myelin_xml::{DeclaredEncoding, Document, Kind, NodeId, Options, Refusal};

use crate::fault::{Fault, Outcome};

/// What a document takes in memory, however little is in it, about.
const DOCUMENT_BYTES: usize = 3 << 10;

/// What the pieces that an expression leads to may take together.
const LIMIT_BYTES: usize = 128 << 20;

/// A piece of XML apart from any message.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub(crate) document: Arc<Document>,
    /// Its root element.
    pub(crate) node: NodeId,
}

impl Fragment {
    /// XML from text, if it is any.
    pub(crate) fn parse(text: &str) -> Option<Fragment> {
        let options = Options { declared_encoding: DeclaredEncoding::Any, ..Options::default() };
        let document = Document::parse(text.trim().into(), &options).ok()?;
        Some(Fragment { node: document.root_element()?, document: Arc::new(document) })
    }

    /// A copy of an element; nothing that happens to the original later shows in it.
    ///
    /// Of the namespaces that are declared further up it declares those that its names use, or that its values may:
    /// nobody can tell a qualified name in a value from other text with a colon.
    pub(crate) fn copy(document: &Document, element: NodeId) -> Fragment {
        let mut copy = Document::new();
        // A copy has no more nodes than the original had numbers for, and what was read can be written.
        let node = graft(&mut copy, None, document, element).expect("what another document holds can be copied");
        let used = prefixes(document, element);
        for (prefix, namespace) in document.namespaces_in_scope(element) {
            if used.contains(prefix) && prefix != "xml" {
                copy.declare(node, prefix, namespace).expect("what is declared can be declared");
            }
        }
        let top = copy.document_node();
        copy.append(top, node).expect("an element can be the root of an empty document");
        Fragment { document: Arc::new(copy), node }
    }

    /// Several of them.
    ///
    /// Errors: those of the pieces, and the bus's, where they take more than 128 MiB: each takes much more than it shows.
    pub(crate) fn all(fragments: impl Iterator<Item = Outcome<Fragment>>) -> Outcome<Vec<Fragment>> {
        let mut room = LIMIT_BYTES;
        let within = |fragment: Outcome<Fragment>| {
            let fragment = fragment?;
            room = room.checked_sub(fragment.held_bytes()).ok_or_else(|| {
                let detail = format!("more than {LIMIT_BYTES} bytes in memory");
                Fault::bus("The elements that an expression leads to are too much together").with_detail(detail)
            })?;
            Ok(fragment)
        };
        fragments.map(within).collect()
    }

    /// How much memory it takes, about.
    pub(crate) fn held_bytes(&self) -> usize {
        DOCUMENT_BYTES + self.document.size_bytes()
    }

    /// A copy in another document, for a place below `parent`: what is declared there is not declared again.
    pub(crate) fn graft(&self, document: &mut Document, parent: Option<NodeId>) -> Result<NodeId, Refusal> {
        graft(document, parent, &self.document, self.node)
    }
}

impl PartialEq for Fragment {
    fn eq(&self, other: &Fragment) -> bool {
        Arc::ptr_eq(&self.document, &other.document) && self.node == other.node
    }
}

/// The prefixes of names below an element, and what may be prefixes in values.
fn prefixes(document: &Document, top: NodeId) -> HashSet<String> {
    let mut used = HashSet::new();
    let mut note = |prefix: &str| {
        if !used.contains(prefix) {
            used.insert(prefix.to_owned());
        }
    };
    for node in std::iter::once(top).chain(document.descendants(top)) {
        match document.kind(node) {
            Kind::Element => note(document.qname(node).prefix),
            Kind::Text => document.value(node).trim_start().split_once(':').into_iter().for_each(|(it, _)| note(it)),
            _ => {}
        }
        for attribute in document.attributes(node) {
            note(document.qname(attribute).prefix);
            document.value(attribute).trim_start().split_once(':').into_iter().for_each(|(it, _)| note(it));
        }
    }
    used
}

fn graft(document: &mut Document, parent: Option<NodeId>, other: &Document, top: NodeId) -> Result<NodeId, Refusal> {
    let first = element(document, parent, other, top)?;
    let mut open = vec![(top, first)];
    for node in other.descendants(top) {
        let copy = match other.kind(node) {
            Kind::Element => element(document, None, other, node)?,
            Kind::Text => document.create_text(&other.value(node))?,
            Kind::Comment => document.create_comment(&other.value(node))?,
            Kind::Instruction => document.create_instruction(other.qname(node).local, &other.value(node))?,
            Kind::Document | Kind::Attribute => continue,
        };
        while open.pop_if(|(original, _)| Some(*original) != other.parent(node)).is_some() {}
        let (_, above) = open.last().copied().ok_or(Refusal::Place)?;
        document.append(above, copy)?;
        if other.kind(node) == Kind::Element {
            open.push((node, copy));
        }
    }
    Ok(first)
}

/// A copy of an element with its attributes, and with its declarations save those that hold in `parent` already.
fn element(
    document: &mut Document,
    parent: Option<NodeId>,
    other: &Document,
    original: NodeId,
) -> Result<NodeId, Refusal> {
    let name = other.qname(original);
    let copy = document.create_element(name.prefix, name.local, name.namespace)?;
    for (prefix, namespace) in other.declarations(original) {
        let known = parent.map(|parent| document.lookup_namespace(parent, prefix).unwrap_or_default());
        if known != Some(namespace) {
            document.declare(copy, prefix, namespace)?;
        }
    }
    for attribute in other.attributes(original) {
        let name = other.qname(attribute);
        document.set_attribute(copy, name.prefix, name.local, name.namespace, &other.value(attribute))?;
    }
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::text_of;

    fn first_child(text: &str) -> Fragment {
        let outer = Fragment::parse(text).unwrap();
        let inner = outer.document.first_child(outer.node).unwrap();
        Fragment::copy(&outer.document, inner)
    }

    #[test]
    fn a_copy_declares_what_its_names_use_and_its_values_may() {
        let check = |text: &str, expected: &str| {
            let copy = first_child(text);
            assert_eq!(text_of(&copy.document, copy.node), expected);
        };
        check("<a xmlns:p='urn:p' xmlns:q='urn:q'><p:b/></a>", "<p:b xmlns:p=\"urn:p\"/>");
        check(
            "<a xmlns:t='urn:t' xmlns:x='urn:x' xmlns:y='urn:y'><b x:type='t:c'>y:d<!--z--></b></a>",
            "<b xmlns:t=\"urn:t\" xmlns:x=\"urn:x\" xmlns:y=\"urn:y\" x:type=\"t:c\">y:d<!--z--></b>",
        );
        check("<a xmlns='urn:a'><b><c xmlns=''/></b></a>", "<b xmlns=\"urn:a\"><c xmlns=\"\"/></b>");
    }

    #[test]
    fn a_graft_does_not_declare_again_what_holds_at_its_place() {
        let check = |place: &str, new: &str, expected: &str| {
            let Fragment { document, node } = Fragment::parse(place).unwrap();
            let mut document = Arc::unwrap_or_clone(document);
            let new = Fragment::parse(new).unwrap().graft(&mut document, Some(node)).unwrap();
            document.append(node, new).unwrap();
            assert_eq!(text_of(&document, node), expected);
        };
        check("<p:a xmlns:p='urn:p'></p:a>", "<p:b xmlns:p='urn:p'/>", "<p:a xmlns:p='urn:p'><p:b/></p:a>");
        check("<a></a>", "<b xmlns=''><?t d?><c/>x</b>", "<a><b><?t d?><c/>x</b></a>");
        check(
            "<p:a xmlns:p='urn:p'></p:a>",
            "<p:b xmlns:p='urn:q' p:x='&lt;'/>",
            "<p:a xmlns:p='urn:p'><p:b xmlns:p=\"urn:q\" p:x=\"&lt;\"/></p:a>",
        );
    }
}
