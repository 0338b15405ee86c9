//! Fragments of XML: elements with a document of their own, as properties and the configuration hold them.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use memchr::memmem;
use myelin_xml::{Atom, DeclaredEncoding, Document, Kind, NodeId, Options, Refusal};

use crate::memory;
use crate::text::{append_text, text_of};

/// What a document takes in memory, however little is in it, about.
const DOCUMENT_BYTES: usize = 3 << 10;

/// What the pieces that an expression leads to may take together.
pub(super) const LIMIT_BYTES: usize = 128 << 20;

/// So many prefixes are looked for in an element one by one; where there are more, what it uses is looked for in them.
const FEW: usize = 16;

/// An element with a document of its own.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// The document that holds it, which nobody changes as long as others have it.
    pub document: Arc<Document>,
    /// Its root element.
    pub node: NodeId,
}

impl Fragment {
    /// Reads XML; `None` where the text is not well-formed.
    pub fn parse(text: &str) -> Option<Fragment> {
        let options = Options { declared_encoding: DeclaredEncoding::Any, ..Options::default() };
        let document = Document::parse(text.trim().into(), &options).ok()?;
        Some(Fragment { node: document.root_element()?, document: Arc::new(document) })
    }

    /// Copies an element. The copy declares the namespaces that [`graft`] declares.
    pub fn copy(document: &Document, element: NodeId) -> Fragment {
        let mut copy = Document::in_arena(memory::take(0));
        // A copy has no more nodes than the original had numbers for, and what was read can be written.
        let node = graft(document, element, &mut copy, None).expect("what another document holds can be copied");
        let top = copy.document_node();
        copy.append(top, node).expect("an element can be the root of an empty document");
        Fragment { document: Arc::new(copy), node }
    }

    /// Collects fragments.
    ///
    /// Errors: those of the fragments; [`Oversized`], the configuration's, where they take more than 128 MiB of memory.
    pub fn all<E: From<Oversized>>(fragments: impl Iterator<Item = Result<Fragment, E>>) -> Result<Vec<Fragment>, E> {
        let mut room = LIMIT_BYTES;
        let within = |fragment: Result<Fragment, E>| {
            let fragment = fragment?;
            room = room.checked_sub(fragment.memory_bytes()).ok_or(Oversized)?;
            Ok(fragment)
        };
        fragments.map(within).collect()
    }

    /// The text that Synapse stores and prints for it, as [`append_text`] gives it.
    pub fn text(&self) -> String {
        let mut text = String::new();
        append_text(&self.document, self.node, &mut text);
        text
    }

    /// About how many bytes of memory it takes.
    pub fn memory_bytes(&self) -> usize {
        DOCUMENT_BYTES + self.document.size_bytes()
    }

    /// Its document, copied if others have it as well.
    pub fn into_document(mut self) -> Document {
        match Arc::get_mut(&mut self.document) {
            Some(document) => std::mem::take(document),
            None => Document::clone(&self.document),
        }
    }

    /// Copies it into another document, as [`graft`].
    ///
    /// Errors: as [`graft`].
    pub fn graft(&self, document: &mut Document, parent: Option<NodeId>) -> Result<NodeId, Refusal> {
        graft(&self.document, self.node, document, parent)
    }
}

/// Copies an element into another document, to be put below `parent`.
///
/// Of the namespaces that are declared above it, the copy declares those that its names use or that its values may use:
/// nobody can tell a qualified name in a value from other text with a colon. It does not declare again what holds at
/// `parent`.
///
/// Errors: the document's, where it is full.
pub fn graft(from: &Document, element: NodeId, to: &mut Document, parent: Option<NodeId>) -> Result<NodeId, Refusal> {
    let mut declared: Vec<(&str, &str)> = from.declarations(element).collect();
    declared.extend(inherited(from, element));
    if let Some(parent) = parent {
        declared.retain(|&(prefix, namespace)| to.lookup_namespace(parent, prefix).unwrap_or_default() != namespace);
    }
    to.import_declaring(from, element, &declared)
}

/// The text of an element apart from its document, with the namespaces that [`graft`] declares.
pub(crate) fn text_apart(document: &Document, element: NodeId) -> String {
    match document.as_read(element) {
        Some(text) if inherited(document, element).is_empty() => text.to_owned(),
        _ => {
            let copy = Fragment::copy(document, element);
            text_of(&copy.document, copy.node)
        }
    }
}

impl Drop for Fragment {
    fn drop(&mut self) {
        if let Some(document) = Arc::get_mut(&mut self.document) {
            memory::keep(std::mem::take(document));
        }
    }
}

impl PartialEq for Fragment {
    fn eq(&self, other: &Fragment) -> bool {
        Arc::ptr_eq(&self.document, &other.document) && self.node == other.node
    }
}

/// Why elements are refused: together they take more than 128 MiB of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oversized;

impl fmt::Display for Oversized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {LIMIT_BYTES} bytes in memory")
    }
}

/// The namespaces declared further up whose prefixes an element and names below it have, or values may.
fn inherited(document: &Document, top: NodeId) -> Vec<(&str, &str)> {
    let own: HashSet<&str> = document.declarations(top).map(|(prefix, _)| prefix).collect();
    let is_inherited = |prefix: &str| prefix != "xml" && !own.contains(prefix);
    // A small element asks for the few that it uses, however many there are: a sender may declare a thousand around
    // each of a hundred thousand elements.
    if document.parent(top).is_some_and(|around| document.declares_more_than(around, FEW)) {
        // What is no name of the document is bound to nothing, and need not be remembered.
        let mut used: HashMap<Atom, Option<(&str, &str)>> = HashMap::new();
        for_each_prefix(document, top, |prefix| {
            if let Some(name) = document.names().find_atom(prefix) {
                used.entry(name).or_insert_with(|| document.binding(top, prefix));
            }
        });
        let mut declared: Vec<_> = used.into_values().flatten().filter(|(prefix, _)| is_inherited(prefix)).collect();
        declared.sort_unstable();
        return declared;
    }
    let mut declared = document.namespaces_in_scope(top);
    declared.retain(|(prefix, _)| is_inherited(prefix));
    // A text without references says what it says: a prefix that is nowhere in it is not used.
    if let Some(text) = document.as_read(top).filter(|text| !text.contains('&')) {
        let is_in = |prefix: &str| memmem::find(text.as_bytes(), format!("{prefix}:").as_bytes()).is_some();
        declared.retain(|(prefix, _)| prefix.is_empty() || is_in(prefix));
    }
    if declared.is_empty() {
        return declared;
    }
    // Mostly one or two are left, which a search in order finds faster than a hash.
    let mut used = vec![false; declared.len()];
    for_each_prefix(document, top, |prefix| {
        if let Ok(place) = declared.binary_search_by_key(&prefix, |&(known, _)| known) {
            used[place] = true;
        }
    });
    let mut used = used.into_iter();
    declared.retain(|_| used.next() == Some(true));
    declared
}

/// Shows `note` the prefix of every name at an element and below it, and what may be one at the beginning of a value.
fn for_each_prefix(document: &Document, top: NodeId, mut note: impl FnMut(&str)) {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_declares_what_its_names_use_and_its_values_may() {
        let check = |text: &str, expected: &str| {
            let Fragment { document, node } = &Fragment::parse(text).unwrap();
            let inner = document.first_child(*node).unwrap();
            let copy = Fragment::copy(document, inner);
            assert_eq!(text_of(&copy.document, copy.node), expected);
            assert_eq!(text_apart(document, inner), expected);
        };
        check("<a xmlns:p='urn:p'><b c = '&lt;'>p</b></a>", "<b c = '&lt;'>p</b>");
        check("<a xmlns:p='urn:p' xmlns:q='urn:q'><p:b/></a>", "<p:b xmlns:p=\"urn:p\"/>");
        check(
            "<a xmlns:t='urn:t' xmlns:x='urn:x' xmlns:y='urn:y'><b x:type='t:c'>y:d<!--z--></b></a>",
            "<b xmlns:t=\"urn:t\" xmlns:x=\"urn:x\" xmlns:y=\"urn:y\" x:type='t:c'>y:d<!--z--></b>",
        );
        check("<a xmlns='urn:a'><b><c xmlns=''/></b></a>", "<b xmlns=\"urn:a\"><c xmlns=''/></b>");
        let many: String = (0..2 * FEW).map(|number| format!(" xmlns:p{number}='urn:{number}'")).collect();
        check(
            &format!("<a{many}><b><p7:c/>p31:d</b></a>"),
            "<b xmlns:p31=\"urn:31\" xmlns:p7=\"urn:7\"><p7:c/>p31:d</b>",
        );
    }

    #[test]
    fn small_elements_below_a_thousand_declarations_are_copied_soon() {
        let level = |level: usize| {
            let declared: String = (0..60).map(|number| format!(" xmlns:p{level}-{number}='urn:{number}'")).collect();
            format!("<a{declared}>")
        };
        let (open, close): (String, _) = ((0..17).map(level).collect(), "</a>".repeat(17));
        let text = format!("{open}{}{close}", "<p3-7:b/>".repeat(20_000));
        let Fragment { document, node } = &Fragment::parse(&text).unwrap();
        let start = std::time::Instant::now();
        let small = document.descendants(*node).filter(|&node| document.qname(node).local == "b");
        let declared = small.map(|node| inherited(document, node)).collect::<Vec<_>>();
        assert_eq!((declared.len(), &*declared[0]), (20_000, &[("p3-7", "urn:7")][..]));
        // Gathering and sorting all declarations for each would take a minute without optimisation.
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }

    #[test]
    fn a_graft_does_not_declare_again_what_holds_at_its_place() {
        let check = |place: &str, new: &str, expected: &str| {
            let place = Fragment::parse(place).unwrap();
            let (node, mut document) = (place.node, place.into_document());
            let new = Fragment::parse(new).unwrap().graft(&mut document, Some(node)).unwrap();
            document.append(node, new).unwrap();
            assert_eq!(text_of(&document, node), expected);
        };
        check("<p:a xmlns:p='urn:p'></p:a>", "<p:b xmlns:p='urn:p'/>", "<p:a xmlns:p='urn:p'><p:b/></p:a>");
        check("<a></a>", "<b xmlns=''><?t d?><c/>x</b>", "<a><b><?t d?><c/>x</b></a>");
        check(
            "<p:a xmlns:p='urn:p'></p:a>",
            "<p:b xmlns:p='urn:q' p:x='&lt;'/>",
            "<p:a xmlns:p='urn:p'><p:b xmlns:p='urn:q' p:x='&lt;'/></p:a>",
        );
    }
}
