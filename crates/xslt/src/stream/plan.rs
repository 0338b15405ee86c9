//! What a stylesheet does with the events of a parser, where one pass over them is enough.

use crate::name::ExpandedName;
use crate::output::LiteralStart;

/// A stylesheet that can run on events.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The names that steps ask for, sorted, each with its number.
    pub(super) names: Box<[(ExpandedName, u32)]>,
    pub(super) modes: Box<[Mode]>,
    pub(super) bodies: Vec<Body>,
    /// Literal elements and what they have in common; steps refer to them.
    pub(super) literals: Vec<LiteralStart>,
    /// What is done with the document node.
    pub(super) document: BodyId,
}

/// An index in [`Plan::bodies`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BodyId(pub(super) u32);

/// What templates of one mode do with each kind of node.
#[derive(Debug)]
pub(super) struct Mode {
    /// For elements by the number of their name.
    pub(super) named: Box<[BodyId]>,
    /// For all other elements.
    pub(super) element: BodyId,
    pub(super) text: Leaf,
    pub(super) comment: Leaf,
    pub(super) instruction: Leaf,
}

/// What is done with a node that has nothing below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaf {
    Drop,
    Copy,
}

/// What is done with an element, from its start to its end.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) steps: Box<[Step]>,
    /// The first step that takes children; the number of steps where none does.
    pub(super) first: u32,
    /// The step at which the element itself is copied.
    pub(super) copies_self: Option<u32>,
}

#[derive(Debug)]
pub(super) enum Step {
    /// Text, escaped.
    Text(Box<str>),
    /// The start of a literal element, by its index in [`Plan::literals`].
    Start(u32),
    /// The end of a literal element.
    End(u32),
    /// The start of an element like the one that is worked on.
    StartCopy,
    EndCopy,
    /// An attribute of the element just started: ` name="`, then these parts.
    Attribute(Box<str>, Box<[Part]>),
    /// All attributes of the element that is worked on.
    Attributes,
    /// The value of an attribute of the element that is worked on, as text; by the number of its name.
    AttributeText(u32),
    /// What is taken of the nodes below.
    Consume(Takes, Action),
}

/// A part of an attribute's value.
#[derive(Debug)]
pub(super) enum Part {
    /// Escaped.
    Text(Box<str>),
    /// The value of an attribute of the element that is worked on, by the number of its name.
    Attribute(u32),
}

/// Which children a step takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// `node()`
    Nodes,
    /// `*`
    Elements,
    /// Elements by the number of their name.
    Named(u32),
    /// `text()`
    Text,
}

/// What is done with what is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Templates of a mode are applied.
    Apply(u32),
    /// `xsl:for-each`
    Body(BodyId),
    /// The text of the first node alone.
    FirstText,
    /// All text at any depth.
    AllText,
    /// A deep copy.
    Copy,
    /// Nothing: at the end the element that is worked on is copied whole.
    CopySelf,
}

impl Takes {
    /// Whether some node is taken by both.
    pub(super) fn overlaps(self, other: Takes) -> bool {
        use Takes::{Elements, Named, Nodes, Text};
        match (self, other) {
            (Nodes, _) | (_, Nodes) | (Elements, Elements) | (Text, Text) => true,
            (Elements, Named(_)) | (Named(_), Elements) => true,
            (Named(one), Named(other)) => one == other,
            (Text, Elements | Named(_)) | (Elements | Named(_), Text) => false,
        }
    }

    /// Whether an element is taken; `name` is the number of its name, if some step asks for that.
    #[inline]
    pub(super) fn element(self, name: Option<u32>) -> bool {
        match self {
            Takes::Nodes | Takes::Elements => true,
            Takes::Named(wanted) => name == Some(wanted),
            Takes::Text => false,
        }
    }
}

impl Plan {
    /// The number of a name, if some step asks for it.
    pub(super) fn name(&self, namespace: &str, local: &str) -> Option<u32> {
        let key =
            |(name, _): &(ExpandedName, u32)| (name.local.as_str(), name.namespace.as_str()).cmp(&(local, namespace));
        self.names.binary_search_by(key).ok().map(|index| self.names[index].1)
    }
}
