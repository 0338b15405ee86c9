//! Making nodes, and what of them XML 1.0 cannot say.

use std::fmt;

use super::node::{Flags, Node};
use super::{Document, Kind, NodeId};
use crate::characters::{is_allowed, name_error};
use crate::{XML_NAMESPACE, XMLNS_NAMESPACE};

/// Why a change was refused: the program's error, or that of whoever chose the name or value.
///
/// What is accepted can be written: nothing gets into a tree that XML 1.0 cannot say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Not a name, or not one without a colon.
    Name(String),
    /// A character that XML 1.0 does not allow, by its number.
    Character(u32),
    /// A comment with `--` in it or `-` at its end.
    Comment,
    /// An instruction with the target `xml`, or with `?>` in it or white space in front.
    Instruction,
    /// A binding of prefix and namespace that Namespaces in XML 1.0 forbids.
    Namespace,
    /// A node where its kind cannot be, below itself, or next to one that has no parent.
    Place,
    /// The document has as many nodes or values as it can number.
    Full,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Name(name) => write!(f, "{name:?} is not a name without a colon"),
            Refusal::Character(number) => write!(f, "character U+{number:04X} is not allowed in XML 1.0"),
            Refusal::Comment => f.write_str("a comment cannot hold -- or end in -"),
            Refusal::Instruction => {
                f.write_str("an instruction cannot have the target xml, nor data with ?> in it or white space in front")
            }
            Refusal::Namespace => f.write_str("this prefix cannot be bound to this namespace"),
            Refusal::Place => f.write_str("this node cannot be put there"),
            Refusal::Full => f.write_str("the document has more nodes or values than it can number"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Nodes belong to nothing until they are put somewhere.
impl Document {
    /// Makes an element; `prefix` and `namespace` are empty for none.
    ///
    /// The prefix is a wish: writing declares it where it is not in scope, and takes another where it means another
    /// namespace on the same element.
    pub fn create_element(&mut self, prefix: &str, local: &str, namespace: &str) -> Result<NodeId, Refusal> {
        let name = self.checked_name(prefix, local, namespace)?;
        self.push(Node { name, ..Node::blank(Kind::Element, Flags::default()) })
    }

    /// Makes a text.
    pub fn create_text(&mut self, text: &str) -> Result<NodeId, Refusal> {
        self.create_valued(Kind::Text, 0, text)
    }

    /// Makes a comment.
    pub fn create_comment(&mut self, text: &str) -> Result<NodeId, Refusal> {
        self.create_valued(Kind::Comment, 0, text)
    }

    /// Makes a processing instruction.
    pub fn create_instruction(&mut self, target: &str, data: &str) -> Result<NodeId, Refusal> {
        let name = self.checked_target(target)?;
        self.create_valued(Kind::Instruction, name, data)
    }

    pub(super) fn create_valued(&mut self, kind: Kind, name: u32, value: &str) -> Result<NodeId, Refusal> {
        let (first, last) = self.make_value(kind, value)?;
        self.push(Node { name, first, last, ..Node::blank(kind, Flags::VERBATIM.with(Flags::MADE)) })
    }

    /// Puts a node at the end of the array.
    pub(super) fn push(&mut self, node: Node) -> Result<NodeId, Refusal> {
        let link = u32::try_from(self.nodes.len()).ok().and_then(NodeId::from_link).ok_or(Refusal::Full)?;
        self.order.take();
        self.nodes.push(node);
        Ok(link)
    }

    /// Keeps `value` as one that a node of that kind can have.
    pub(super) fn make_value(&mut self, kind: Kind, value: &str) -> Result<(u32, u32), Refusal> {
        check_characters(value)?;
        match kind {
            Kind::Comment if value.contains("--") || value.ends_with('-') => return Err(Refusal::Comment),
            Kind::Instruction if value.contains("?>") || value.starts_with([' ', '\t', '\n', '\r']) => {
                return Err(Refusal::Instruction);
            }
            // Neither has a way to write a carriage return that is read as one again.
            Kind::Comment | Kind::Instruction if value.contains('\r') => return Err(Refusal::Character(13)),
            _ => {}
        }
        let first = self.made.len() as u32;
        let last = u32::try_from(self.made.len() + value.len()).map_err(|_| Refusal::Full)?;
        self.made.push_str(value);
        Ok((first, last))
    }

    pub(super) fn checked_name(&mut self, prefix: &str, local: &str, namespace: &str) -> Result<u32, Refusal> {
        check_part(local)?;
        if !prefix.is_empty() {
            check_part(prefix)?;
        }
        let fits = match prefix {
            "" => namespace != XML_NAMESPACE && namespace != XMLNS_NAMESPACE,
            _ => is_bindable(prefix, namespace),
        };
        if !fits {
            return Err(Refusal::Namespace);
        }
        check_characters(namespace)?;
        Ok(self.names.intern(prefix, local, namespace).index() as u32)
    }

    pub(super) fn checked_target(&mut self, target: &str) -> Result<u32, Refusal> {
        check_part(target)?;
        if target.eq_ignore_ascii_case("xml") {
            return Err(Refusal::Instruction);
        }
        Ok(self.names.intern("", target, "").index() as u32)
    }
}

pub(super) fn check_part(name: &str) -> Result<(), Refusal> {
    if name_error(name).is_some() || name.contains(':') { Err(Refusal::Name(name.to_owned())) } else { Ok(()) }
}

pub(super) fn check_characters(text: &str) -> Result<(), Refusal> {
    // All below the first that is not allowed above ASCII, U+FFFE; a loop over bytes that ends nowhere early is fast.
    let plain = |&byte: &u8| (b' '..0xEF).contains(&byte) || matches!(byte, b'\t' | b'\n' | b'\r');
    if text.as_bytes().iter().fold(true, |all, byte| all & plain(byte)) {
        return Ok(());
    }
    match text.chars().find(|&c| !is_allowed(c)) {
        Some(character) => Err(Refusal::Character(u32::from(character))),
        None => Ok(()),
    }
}

/// Whether a prefix may be bound to a namespace.
///
/// Source: Namespaces in XML 1.0 §3 and §5.
pub(super) fn is_bindable(prefix: &str, namespace: &str) -> bool {
    match prefix {
        "xml" => namespace == XML_NAMESPACE,
        "xmlns" => false,
        "" => namespace != XML_NAMESPACE && namespace != XMLNS_NAMESPACE,
        _ => !namespace.is_empty() && namespace != XML_NAMESPACE && namespace != XMLNS_NAMESPACE,
    }
}
