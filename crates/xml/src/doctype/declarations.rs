//! What a document type declares, while it is read and afterwards.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// The declarations of a document type that are needed when its entities are expanded: for IDs, unparsed entities,
/// white space and base URIs.
#[derive(Debug, Default)]
pub struct Declarations {
    /// Attributes of type ID, by the names of elements as they are written.
    ids: HashMap<String, Vec<String>>,
    /// Attributes of type IDREF and IDREFS.
    references: HashMap<String, Vec<String>>,
    unparsed: BTreeMap<String, UnparsedEntity>,
    /// Elements that have elements only, no text.
    element_content: HashSet<String>,
    /// Stretches of the text that come from external entities, and their URIs; those around others come first.
    bases: Vec<(Range<usize>, String)>,
}

/// An entity that is no XML, such as a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnparsedEntity {
    /// Its public identifier.
    pub public: Option<String>,
    /// Its system identifier, as it is written.
    pub system: String,
    /// The URI that the system identifier is relative to.
    pub base: String,
    /// The notation it is in.
    pub notation: String,
}

impl Declarations {
    /// Whether an attribute is an ID; both names are as they are written, with their prefixes.
    pub fn is_id(&self, element: &str, attribute: &str) -> bool {
        self.ids.get(element).is_some_and(|names| names.iter().any(|name| name == attribute))
    }

    /// Whether an attribute refers to IDs.
    pub fn is_reference(&self, element: &str, attribute: &str) -> bool {
        self.references.get(element).is_some_and(|names| names.iter().any(|name| name == attribute))
    }

    /// Whether any attribute is an ID.
    pub fn has_ids(&self) -> bool {
        !self.ids.is_empty()
    }

    /// Whether any attribute refers to IDs.
    pub fn has_references(&self) -> bool {
        !self.references.is_empty()
    }

    /// Whether an element has elements only: white space in it says nothing.
    pub fn has_element_content(&self, element: &str) -> bool {
        self.element_content.contains(element)
    }

    /// The unparsed entity of that name.
    pub fn unparsed(&self, name: &str) -> Option<&UnparsedEntity> {
        self.unparsed.get(name)
    }

    /// The URI of the external entity that a byte of the text stands in.
    pub fn base(&self, offset: usize) -> Option<&str> {
        let inner = self.bases.iter().filter(|(range, _)| range.contains(&offset)).min_by_key(|(range, _)| range.len());
        inner.map(|(_, uri)| uri.as_str())
    }
}

/// An entity as it is declared.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    /// Its replacement text.
    Internal(Rc<str>),
    /// Where it is.
    External { public: Option<String>, system: String, base: Rc<str> },
    /// What is no XML.
    Unparsed(UnparsedEntity),
}

/// An attribute as it is declared.
#[derive(Clone, Debug)]
pub(super) struct AttributeDeclaration {
    pub(super) name: String,
    pub(super) kind: AttributeKind,
    /// The value where the element has none, as it is written.
    pub(super) default: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttributeKind {
    Text,
    Id,
    References,
    /// Any other type whose values are tokens.
    Tokens,
}

/// All that a document type declares.
#[derive(Debug, Default)]
pub(super) struct Dtd {
    pub(super) entities: HashMap<String, Entity>,
    pub(super) attributes: HashMap<String, Vec<AttributeDeclaration>>,
    pub(super) element_content: HashSet<String>,
    /// Why the file that the document type names was left out; `None`: there is none, or it was read.
    pub(super) unread: Option<String>,
    /// Whether anything outside of the document was read or left out.
    pub(super) has_externals: bool,
}

impl Dtd {
    /// Whether any attribute has a default value, or a type whose values are normalised.
    pub(super) fn changes_attributes(&self) -> bool {
        let changes = |it: &AttributeDeclaration| it.default.is_some() || it.kind != AttributeKind::Text;
        self.attributes.values().flatten().any(changes)
    }

    pub(super) fn into_declarations(self, bases: Vec<(Range<usize>, String)>) -> Declarations {
        let mut declarations = Declarations { element_content: self.element_content, bases, ..Declarations::default() };
        for (element, attributes) in self.attributes {
            for attribute in attributes {
                let table = match attribute.kind {
                    AttributeKind::Id => &mut declarations.ids,
                    AttributeKind::References => &mut declarations.references,
                    AttributeKind::Text | AttributeKind::Tokens => continue,
                };
                table.entry(element.clone()).or_default().push(attribute.name);
            }
        }
        for (name, entity) in self.entities {
            if let Entity::Unparsed(unparsed) = entity {
                declarations.unparsed.insert(name, unparsed);
            }
        }
        declarations
    }
}
