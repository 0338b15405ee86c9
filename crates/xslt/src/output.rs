//! Where the result of a transformation goes: into bytes, a temporary tree or a text.
//!
//! Instructions tell an [`Output`] what they make, in document order, as events; it sees to namespaces, to the places
//! of attributes and to limits.

mod bytes;
mod copy;
mod error;
mod escape;
mod html;
mod literal;
pub(crate) mod parameters;
mod properties;
mod scope;
mod seen;
mod spare;
mod text;
mod tree;
pub(crate) mod values;

use std::borrow::Cow;

use myelin_xml::{Document, Name};

use bytes::Bytes;
pub(crate) use bytes::Finished;
pub(crate) use error::OutputError;
pub(crate) use escape::{escape_xml, push_plain};
pub(crate) use literal::{LiteralStart, NamespaceSets};
pub use properties::{Charset, Method, Normalization, OutputProperties, Standalone};
use text::Text;
use tree::Tree;

/// What instructions write to.
///
/// An error leaves out what it is about, so that who wants to can go on behind it.
pub(crate) struct Output<'o> {
    target: Target<'o>,
    /// Whether what came last was a value that is no node.
    atomic: bool,
}

enum Target<'o> {
    Bytes(Box<Bytes<'o>>),
    Tree(Box<Tree<'o>>),
    Text(Text<'o>),
    /// What becomes a tree when something comes that is not text.
    Fragment(Text<'o>),
}

/// What [`Output::fragment`] has become.
pub(crate) enum Fragment {
    /// All there is in it is this text.
    Text(String),
    Tree(Box<Document>),
}

/// The kinds of results.
impl<'o> Output<'o> {
    /// A result that is appended to `out`.
    ///
    /// Shape: `around` is what prefixes mean where the result becomes part of a document, which has the empty one for
    /// a default namespace; it is then written in UTF-8, without declaration and document type.
    pub(crate) fn bytes(
        properties: &'o OutputProperties,
        around: Option<&[(&str, &str)]>,
        limit_bytes: usize,
        out: &'o mut Vec<u8>,
    ) -> Output<'o> {
        Output::to(Target::Bytes(Box::new(Bytes::new(properties, around, limit_bytes, out))))
    }

    /// A temporary tree, which takes so much memory at most.
    pub(crate) fn tree(limit_bytes: usize) -> Output<'o> {
        Output::to(Target::Tree(Box::new(Tree::new(limit_bytes))))
    }

    /// A temporary tree that stays a text as long as it holds nothing else.
    pub(crate) fn fragment(limit_bytes: usize) -> Output<'o> {
        Output::to(Target::Fragment(Text::new("", limit_bytes)))
    }

    /// A text: that of all items that come, with `between` between two of them; texts in a row are one item.
    pub(crate) fn text_only(between: &'o str, limit_bytes: usize) -> Output<'o> {
        Output::to(Target::Text(Text::new(between, limit_bytes)))
    }

    /// Ends what [`bytes`](Output::bytes) began.
    pub(crate) fn finish(self) -> Result<Finished, OutputError> {
        match self.target {
            Target::Bytes(bytes) => bytes.finish(),
            _ => Ok(Finished::default()),
        }
    }

    /// Ends what [`tree`](Output::tree) began, or [`fragment`](Output::fragment); of others an empty tree.
    pub(crate) fn finish_tree(mut self) -> Result<Document, OutputError> {
        self.grow()?;
        match self.target {
            Target::Tree(tree) => tree.finish(),
            _ => Ok(Document::new()),
        }
    }

    /// Ends what [`fragment`](Output::fragment) began, or [`tree`](Output::tree); of others an empty text.
    pub(crate) fn finish_fragment(self) -> Result<Fragment, OutputError> {
        match self.target {
            Target::Fragment(text) => Ok(Fragment::Text(text.finish())),
            Target::Tree(tree) => tree.finish().map(|document| Fragment::Tree(Box::new(document))),
            _ => Ok(Fragment::Text(String::new())),
        }
    }

    /// Ends what [`text_only`](Output::text_only) began; of others an empty text.
    pub(crate) fn finish_text(self) -> String {
        match self.target {
            Target::Text(text) => text.finish(),
            _ => String::new(),
        }
    }

    /// Whether it is a text alone.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.target, Target::Text(_))
    }

    /// Whether it is a result in which no element is open.
    pub(crate) fn is_at_top(&self) -> bool {
        matches!(&self.target, Target::Bytes(bytes) if bytes.is_at_top())
    }

    /// Whether nothing came that leaves anything in the result.
    pub(crate) fn is_untouched(&self) -> bool {
        match &self.target {
            Target::Bytes(bytes) => bytes.is_untouched(),
            _ => false,
        }
    }

    fn to(target: Target<'o>) -> Output<'o> {
        Output { target, atomic: false }
    }

    /// Becomes a tree, where something comes that is not text.
    #[inline]
    fn grow(&mut self) -> Result<(), OutputError> {
        if let Target::Fragment(text) = &mut self.target {
            let mut tree = Tree::new(text.limit_bytes());
            let text = std::mem::replace(text, Text::new("", 0)).finish();
            let put = tree.text(&text);
            self.target = Target::Tree(Box::new(tree));
            put?;
        }
        Ok(())
    }
}

/// Events, in document order.
impl<'o> Output<'o> {
    /// Starts an element whose name is known from the stylesheet.
    #[inline]
    pub(crate) fn start_literal(&mut self, literal: &'o LiteralStart) -> Result<(), OutputError> {
        self.grow()?;
        self.atomic = false;
        match &mut self.target {
            Target::Bytes(bytes) => bytes.start_literal(literal),
            Target::Tree(tree) => tree.start_literal(literal),
            Target::Text(text) | Target::Fragment(text) => text.start(),
        }
    }

    /// Adds an element whose name is known from the stylesheet and that holds nothing but a text.
    #[inline]
    pub(crate) fn literal_text(&mut self, literal: &'o LiteralStart, text: &str) -> Result<(), OutputError> {
        if let Target::Bytes(bytes) = &mut self.target
            && bytes.literal_text(literal, text)?
        {
            self.atomic = false;
            return Ok(());
        }
        self.start_literal(literal)?;
        self.text(text)?;
        self.end_element()
    }

    /// Lets the children of the element that was just opened have none of its namespaces, in a tree that is kept: what
    /// is written as XML 1.0 cannot say so.
    pub(crate) fn keep_namespaces(&mut self) {
        if let Target::Tree(tree) = &mut self.target {
            tree.keep_namespaces(0);
        }
    }

    /// Starts an element. The prefix is a wish.
    pub(crate) fn start_element(&mut self, name: Name<'_>) -> Result<(), OutputError> {
        self.grow()?;
        self.atomic = false;
        match &mut self.target {
            Target::Bytes(bytes) => bytes.start(name),
            Target::Tree(tree) => tree.start(name),
            Target::Text(text) | Target::Fragment(text) => text.start(),
        }
    }

    /// Ends the innermost element.
    #[inline]
    pub(crate) fn end_element(&mut self) -> Result<(), OutputError> {
        self.atomic = false;
        match &mut self.target {
            Target::Bytes(bytes) => {
                bytes.end_element();
                Ok(())
            }
            Target::Tree(tree) => tree.end_element(),
            Target::Text(text) | Target::Fragment(text) => {
                text.end_element();
                Ok(())
            }
        }
    }

    /// Gives the innermost element a namespace node.
    ///
    /// Errors: `AttributeLate` behind its first child, `AttributeOnDocument` outside of elements; `PrefixTaken` or
    /// `DefaultTaken` where the prefix is needed for another namespace.
    pub(crate) fn namespace(&mut self, prefix: &str, namespace: &str) -> Result<(), OutputError> {
        self.atomic = false;
        match &mut self.target {
            Target::Bytes(bytes) => bytes.namespace(prefix, namespace),
            Target::Tree(tree) => tree.namespace(prefix, namespace),
            Target::Text(text) => text.node(namespace),
            Target::Fragment(_) => Err(OutputError::AttributeOnDocument),
        }
    }

    /// Gives the innermost element an attribute, in place of the one of that name. The prefix is a wish.
    ///
    /// Errors: `AttributeLate` behind its first child, `AttributeOnDocument` outside of elements.
    #[inline]
    pub(crate) fn attribute(&mut self, name: Name<'_>, value: &str) -> Result<(), OutputError> {
        self.atomic = false;
        match &mut self.target {
            Target::Bytes(bytes) => bytes.attribute(name, value),
            Target::Tree(tree) => tree.attribute(name, value),
            Target::Text(text) => text.node(value),
            Target::Fragment(_) => Err(OutputError::AttributeOnDocument),
        }
    }

    /// Adds text.
    #[inline]
    pub(crate) fn text(&mut self, text: &str) -> Result<(), OutputError> {
        self.atomic = false;
        match &mut self.target {
            Target::Bytes(bytes) => bytes.text(text),
            Target::Tree(tree) => tree.text(text),
            Target::Text(target) | Target::Fragment(target) => target.text(text),
        }
    }

    /// Adds text that is written without escaping; only bytes can keep that in mind.
    pub(crate) fn raw_text(&mut self, text: &str) -> Result<(), OutputError> {
        match &mut self.target {
            Target::Bytes(bytes) => {
                self.atomic = false;
                bytes.raw_text(text)
            }
            Target::Tree(_) | Target::Text(_) | Target::Fragment(_) => self.text(text),
        }
    }

    /// Adds a value that is no node: a space stands between two of them.
    ///
    /// Source: XSLT 2.0 §5.7.1; for texts §5.7.2.
    pub(crate) fn atomic(&mut self, value: &str) -> Result<(), OutputError> {
        if let Target::Text(text) = &mut self.target {
            return text.atomic(value);
        }
        if self.atomic {
            self.text(" ")?;
        }
        self.text(value)?;
        self.atomic = true;
        Ok(())
    }

    /// Adds a comment; a space is put where it would end too early.
    ///
    /// Source: XSLT 1.0 §7.4.
    pub(crate) fn comment(&mut self, text: &str) -> Result<(), OutputError> {
        self.grow()?;
        self.atomic = false;
        let apart = text.contains("--") || text.ends_with('-');
        let text = if apart { space_hyphens(text) } else { Cow::Borrowed(text) };
        match &mut self.target {
            Target::Bytes(bytes) => bytes.comment(&text),
            Target::Tree(tree) => tree.comment(&lines(&text)),
            Target::Text(target) | Target::Fragment(target) => target.node(&text),
        }
    }

    /// Adds a processing instruction; white space in front of its data is dropped, and a space is put where it would
    /// end too early.
    ///
    /// Source: XSLT 1.0 §7.3, XSLT 2.0 §11.6.
    pub(crate) fn instruction(&mut self, target: &str, data: &str) -> Result<(), OutputError> {
        self.grow()?;
        self.atomic = false;
        if target.eq_ignore_ascii_case("xml") {
            return Err(OutputError::InstructionName);
        }
        let data = data.trim_start_matches([' ', '\t', '\n', '\r']);
        let data = if data.contains("?>") { Cow::Owned(data.replace("?>", "? >")) } else { Cow::Borrowed(data) };
        match &mut self.target {
            Target::Bytes(bytes) => bytes.instruction(target, &data),
            Target::Tree(tree) => tree.instruction(target, &lines(&data)),
            Target::Text(text) | Target::Fragment(text) => text.node(&data),
        }
    }

    /// Comes upon what leaves nothing but keeps the values around it apart: a document node, whose content stands for
    /// it, or a text of no length.
    pub(crate) fn separate(&mut self) {
        self.atomic = false;
    }
}

/// Line ends as they are read: no others can be written in comments and instructions so that they come back.
fn lines(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}

/// The text of a comment with a space behind each hyphen that another hyphen or the end follows.
fn space_hyphens(text: &str) -> Cow<'static, str> {
    let mut apart = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if character == '-' && apart.ends_with('-') {
            apart.push(' ');
        }
        apart.push(character);
    }
    if apart.ends_with('-') {
        apart.push(' ');
    }
    apart.into()
}

#[cfg(test)]
mod tests;
