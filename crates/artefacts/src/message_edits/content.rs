//! What is put into a message, and what becomes of what was there.

use myelin_xml::NodeId;

use myelin_content::Fragment;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::Outcome;

/// What becomes of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditAction {
    /// The content takes its place.
    Replace,
    /// The content goes behind what is inside it.
    Child,
    /// The content goes behind it.
    Sibling,
    /// It is taken out.
    Remove,
}

/// What is put there.
#[derive(Debug)]
pub(crate) enum Content {
    /// Elements of the message's own tree.
    Own(Vec<NodeId>),
    Elements(Vec<Fragment>),
    /// Text, or JSON.
    Text(String),
}

impl Content {
    /// The elements as pieces of their own; none of a text.
    pub(crate) fn fragments(self, exchange: &Exchange) -> Outcome<Vec<Fragment>> {
        match self {
            Content::Own(nodes) => {
                let tree = exchange.tree()?;
                let fragment = |node| tree.fragment(node).map_err(|error| exchange.unreadable(error));
                Fragment::all(nodes.into_iter().map(fragment))
            }
            Content::Elements(fragments) => Ok(fragments),
            Content::Text(_) => Ok(Vec::new()),
        }
    }
}
