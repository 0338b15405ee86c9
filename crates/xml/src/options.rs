//! What a parser accepts, and how much of it.

/// Bounds and choices of a parser; the default is safe for messages from strangers.
///
/// Each bound has a [`Limit`](crate::Limit) that says it was passed.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many elements may be open at once.
    pub depth: usize,
    /// Attributes of one element, without namespace declarations.
    pub attributes: usize,
    /// Namespace declarations of one element.
    pub declarations: usize,
    /// Namespace declarations of all elements that are open at once: what a prefix means is looked for among them.
    pub open_declarations: usize,
    /// Bytes of one name with its prefix, of one namespace, and of the names of entities and encodings.
    pub name_bytes: usize,
    /// Different names in one document, and different prefixes, local names and namespaces.
    pub names: usize,
    /// Bytes of all different names, prefixes and namespaces of one document together.
    pub names_bytes: usize,
    /// Bytes of one piece of markup, or of one text between two of them: what must be in memory at once.
    pub token_bytes: usize,
    /// Bytes of the whole document, in UTF-8.
    pub total_bytes: usize,
    /// Nodes of a tree, attributes and namespace declarations included: each takes 40 bytes.
    pub nodes: usize,
    /// What happens at a document type declaration.
    pub doctype: DoctypePolicy,
    /// How an encoding named in the XML declaration is judged.
    pub declared_encoding: DeclaredEncoding,
    /// Whether names have prefixes (Namespaces in XML 1.0); without, a colon is a character like others.
    pub namespaces: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            depth: 1_000,
            attributes: 256,
            declarations: 64,
            open_declarations: 1_024,
            name_bytes: 8 << 10,
            names: 100_000,
            names_bytes: 8 << 20,
            token_bytes: 16 << 20,
            total_bytes: usize::MAX,
            nodes: 4_000_000,
            doctype: DoctypePolicy::Refuse,
            declared_encoding: DeclaredEncoding::Utf8,
            namespaces: true,
        }
    }
}

/// What happens at a document type declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoctypePolicy {
    /// An error: SOAP forbids it.
    Refuse,
    /// It becomes one event; nothing in it is applied, expanded or fetched.
    Skip,
}

/// How an encoding named in the XML declaration is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredEncoding {
    /// It must be one that the bytes given to the parser agree with: UTF-8 or US-ASCII.
    Utf8,
    /// It must be UTF-16: the bytes were decoded from it.
    Utf16,
    /// Any: something stronger than the declaration, or the declaration itself, chose how to decode.
    Any,
}
