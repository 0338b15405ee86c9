//! The ids of a document: each leads to one element, or the document is refused.
//!
//! An id is an attribute `wsu:Id` of any element, `Id` of an element of XML Signature or XML Encryption, and
//! `AssertionID` or `ID` of a SAML assertion. No document type is read, so that nothing else is an id: attributes
//! that are named alike in a message's own elements may say what they like.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use myelin_xml::{Document, NodeId};

use crate::error::{Refusal, Rule};
use crate::limits::Limits;
use crate::vocabulary::{DS, DSIG11, SAML_11, SAML_20, WSU, XENC, XENC11};

/// The elements of one document by their ids.
#[derive(Clone, Debug, Default)]
pub struct Ids {
    elements: HashMap<Box<str>, NodeId>,
}

impl Ids {
    /// Finds all ids of a document.
    ///
    /// Errors: `DuplicateId`, `Malformed` for an empty one, `Limit`; the sender's.
    /// Source: WS-Security 1.1 §4.2, §4.3.
    pub fn of(document: &Document, limits: &Limits) -> Result<Ids, Refusal> {
        let names = document.names();
        let general = names.find(WSU, "Id");
        let by_element = ["Id", "ID", "AssertionID"].map(|local| names.find("", local));
        let known = |element: NodeId, attribute: NodeId| {
            let name = document.expanded(attribute);
            if name == general {
                return true;
            }
            // Hardly an attribute comes as far as this, so that the element's name may be compared as text.
            let Some(local) = by_element.iter().position(|known| name == *known) else { return false };
            let element = document.qname(element);
            match (local, element.namespace) {
                (0, DS | DSIG11 | XENC | XENC11) => true,
                (1, SAML_20) | (2, SAML_11) => element.local == "Assertion",
                _ => false,
            }
        };
        Ids::chosen(document, limits, &known)
    }

    /// Finds all ids of a document of which a program knows what its ids are: it is asked with element and attribute.
    ///
    /// Errors: as for [`Ids::of`].
    pub fn chosen(
        document: &Document,
        limits: &Limits,
        is_id: &dyn Fn(NodeId, NodeId) -> bool,
    ) -> Result<Ids, Refusal> {
        let mut elements = HashMap::new();
        for (element, attribute) in document.all_attributes() {
            if !is_id(element, attribute) {
                continue;
            }
            let id = document.value(attribute);
            if id.is_empty() || id.len() > limits.short_text {
                return Err(Refusal::new(Rule::Malformed, format!("an id of {} bytes", id.len())));
            }
            if elements.len() >= limits.ids {
                return Err(Refusal::new(Rule::Limit, format!("more than {} ids", limits.ids)));
            }
            match elements.entry(Box::from(id)) {
                Entry::Vacant(entry) => entry.insert(element),
                Entry::Occupied(entry) => {
                    return Err(Refusal::new(Rule::DuplicateId, format!("{:?} stands twice", entry.key())));
                }
            };
        }
        Ok(Ids { elements })
    }

    /// The element with that id.
    pub fn find(&self, id: &str) -> Option<NodeId> {
        self.elements.get(id).copied()
    }

    /// The element with that id, which has to be there.
    ///
    /// Errors: `UnresolvedReference`; the sender's.
    pub fn require(&self, id: &str) -> Result<NodeId, Refusal> {
        self.find(id).ok_or_else(|| Refusal::new(Rule::UnresolvedReference, format!("nothing has the id {id:?}")))
    }

    /// Whether an id is taken.
    pub fn contains(&self, id: &str) -> bool {
        self.elements.contains_key(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use myelin_xml::Options;

    fn ids(text: &str) -> Result<Ids, Rule> {
        let text = text.replace("DS", DS).replace("WSU", WSU).replace("SAML", SAML_20);
        let document = Document::parse(text.into_bytes(), &Options::default()).expect("it is well-formed");
        Ids::of(&document, &Limits { ids: 3, ..Limits::default() }).map_err(|refusal| refusal.rule)
    }

    #[test]
    fn ids_are_found_where_they_are_ids() {
        let ids = ids("<e xmlns:u='WSU' u:Id='a' Id='n' ID='n'><Signature xmlns='DS' Id='b'/><Assertion xmlns='SAML' ID='c'/></e>")
            .expect("each stands once");
        assert!(ids.contains("a") && ids.contains("b") && ids.contains("c") && !ids.contains("n"));
        assert_eq!(ids.require("n").expect_err("it is none").rule, Rule::UnresolvedReference);
    }

    #[test]
    fn the_same_id_twice_is_refused_whatever_attributes_say_it() {
        for text in [
            "<e xmlns:u='WSU'><a u:Id='a'/><b u:Id='a'/></e>",
            "<e xmlns:u='WSU' xmlns:v='WSU'><a u:Id='a'/><b v:Id='&#97;'/></e>",
            "<e xmlns:u='WSU' u:Id='a'><Signature xmlns='DS' Id='a'/></e>",
            "<e xmlns:u='WSU'><Signature xmlns='DS' Id='a' u:Id='a'/></e>",
        ] {
            assert_eq!(ids(text).err(), Some(Rule::DuplicateId), "{text}");
        }
    }

    #[test]
    fn empty_and_too_many_ids_are_refused() {
        assert_eq!(ids("<e xmlns:u='WSU' u:Id=''/>").err(), Some(Rule::Malformed));
        let many = "<a u:Id='0'/><a u:Id='1'/><a u:Id='2'/><a u:Id='3'/>";
        assert_eq!(ids(&format!("<e xmlns:u='WSU'>{many}</e>")).err(), Some(Rule::Limit));
    }
}
