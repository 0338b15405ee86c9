//! Where the element stands that a stylesheet starts from.

use myelin_xml::{Document, Kind, NodeId};

use myelin_content::Fragment;
use myelin_content::Tree;
use myelin_expression::Expression;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

/// An element to transform.
pub(super) enum Place {
    /// In the message; or its document node.
    Message(NodeId),
    /// In XML that a property holds, by the address of its document.
    Property(*const Document, NodeId),
    /// The root of XML that an expression gave as text.
    Text(Fragment),
}

impl Place {
    /// Finds the element; `None` as the source is the first in the body.
    ///
    /// Errors: the bus's, where there is none.
    pub(super) fn find(
        source: Option<&Expression>,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Place> {
        let Some(source) = source else {
            let tree = exchange.tree()?;
            return tree.envelope().payload(tree.document()).map(Place::Message).ok_or_else(nothing);
        };
        let Some((document, node)) = source.first_node(exchange, context)? else {
            let text = source.text(exchange, context)?.unwrap_or_default();
            return Fragment::parse(&text).map(Place::Text).ok_or_else(nothing);
        };
        let own = exchange.tree().ok().map(Tree::document);
        match own.filter(|own| std::ptr::eq(*own, document)) {
            Some(own) if own.kind(node) == Kind::Element => Ok(Place::Message(node)),
            Some(_) => Err(nothing()),
            None => Ok(Place::Property(document, node)),
        }
    }
}

/// What a source that finds no element gives.
pub(in crate::mediators) fn nothing() -> Box<Fault> {
    Fault::bus("There is no element to be transformed")
}
