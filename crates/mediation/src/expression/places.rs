//! Places in a message that expressions name: `$env`, `$header`, `$body`, `get-property('FAULT')`.

use std::sync::LazyLock;

use myelin_xml::{Kind, NodeId};
use myelin_xpath::{Argument, Declared, Environment, Expression};

use crate::content::Tree;

/// A place in the envelope. Each has the same slot in every expression, so that expressions can share a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The SOAP envelope.
    Envelope,
    /// Its header.
    Header,
    /// Its body.
    Body,
    /// The SOAP fault in the body, if there is one.
    Fault,
}

impl Place {
    /// The places in the order of their slots, and how a path leads to them from the document.
    pub(super) const ALL: [(Place, &'static str); 4] = [
        (Place::Envelope, "/*"),
        (Place::Header, "/*/*[local-name() = 'Header'][1]"),
        (Place::Body, "/*/*[local-name() = 'Body'][1]"),
        (Place::Fault, "/*/*[local-name() = 'Body'][1]/*[local-name() = 'Fault'][1]"),
    ];

    /// The slot that stands for it in expressions.
    pub(super) fn slot(self) -> u32 {
        self as u32
    }

    /// The place with that slot.
    pub(super) fn of_slot(slot: u32) -> Option<Place> {
        Place::ALL.get(slot as usize).map(|(place, _)| *place)
    }

    /// The node there.
    pub(crate) fn find(self, tree: &Tree) -> Option<NodeId> {
        let envelope = tree.envelope();
        match self {
            Place::Envelope => Some(envelope.element),
            Place::Header => envelope.header,
            Place::Body => envelope.body,
            Place::Fault => {
                let document = tree.document();
                let mut elements =
                    document.children(envelope.body?).filter(|&node| document.kind(node) == Kind::Element);
                elements.find(|&node| document.qname(node).local == "Fault")
            }
        }
    }
}

/// The path that the variable with that slot stands for, where it is a place.
pub(crate) fn anchor(slot: u32) -> Option<&'static Expression> {
    static PATHS: LazyLock<Vec<Expression>> = LazyLock::new(|| {
        let compile = |(_, path): &(Place, &str)| {
            Expression::compile(path, &mut NoNames).expect("the paths of this file are sound")
        };
        Place::ALL.iter().map(compile).collect()
    });
    PATHS.get(slot as usize)
}

/// For expressions that name nothing.
struct NoNames;

impl Environment for NoNames {
    fn namespace(&self, _: &str) -> Option<String> {
        None
    }

    fn variable(&mut self, _: Option<&str>, _: &str) -> Result<u32, String> {
        Err("there are no variables here".to_owned())
    }

    fn function(&mut self, _: &str, _: Option<&str>, _: &[Argument<'_>]) -> Result<Option<Declared>, String> {
        Ok(None)
    }
}
