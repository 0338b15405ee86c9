//! XML 1.0 (fifth edition) with Namespaces in XML 1.0 (third edition), for messages from strangers.
//!
//! [`Parser`] takes the bytes of a document in any pieces and gives [`Event`]s that borrow from them.
//! [`Names`] holds the names it met, each as a small number.
//! [`Document`] is a whole document as a tree, which programs may change; [`write()`] makes bytes of it again.
//! [`TreeBuilder`] makes a tree from front to back, and [`TreeRecorder`] that of XML which a program writes.
//! [`Options`] bound everything that can grow; each bound has an [`Error`] of its own.
//! Nothing here knows of HTTP, of Synapse or of waiting. The parser expands no entity and fetches nothing; [`doctype`]
//! does so for documents of people who ask for it.

pub mod c14n;
mod characters;
pub mod doctype;
mod document;
pub mod encoding;
mod error;
mod event;
mod handler;
mod names;
mod options;
mod parser;
#[cfg(test)]
mod processor_time;
mod sink;
mod value;
mod writer;

pub use characters::is_ncname;
pub use document::{Arena, Descendants, Document, Kind, NodeId, Refusal, Siblings, TreeBuilder, TreeRecorder, View};
pub use error::{Error, ErrorKind, Limit};
pub use event::{
    Attribute, Attributes, Comment, Doctype, End, Event, Instruction, NamespaceDeclaration, NamespaceDeclarations,
    Start, Step, Text, XmlDeclaration,
};
pub use handler::{Handler, Reached};
pub use names::{Atom, ExpandedId, Name, NameId, Names, NamesId, XML_NAMESPACE, XMLNS_NAMESPACE};
pub use options::{DeclaredEncoding, DoctypePolicy, Options};
pub use parser::Parser;
pub use writer::{
    DeclarationPolicy, Replacements, WriteOptions, escape_attribute, escape_text, write, write_replacing,
};
