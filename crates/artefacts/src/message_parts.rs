//! The parts of a message: one for each element, or each JSON value, that an expression finds.

mod collection;
mod json;
mod xml;

pub(crate) use collection::{BodyCollection, replace_element, unsuitable_json};
pub(crate) use json::{items, not_an_array};

use myelin_message::Body;

use myelin_expression::Expression;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};

/// What was found, and what it was found in; each part is made when it is asked for.
pub(crate) enum MessageParts {
    Xml(Box<xml::Parts>),
    Json(json::Parts),
}

/// What becomes of the rest of the message.
pub(crate) enum Remainder {
    /// A part is what was found alone, for SOAP in an envelope with the same header.
    Dropped,
    /// It stays around each part, which goes where this leads, or into the envelope itself.
    Kept(Option<Expression>),
}

impl MessageParts {
    /// Finds the parts of a message that is built.
    ///
    /// Errors: the bus's, where the expressions do not fit the message.
    pub(crate) fn find(
        expression: &Expression,
        rest: &Remainder,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<MessageParts> {
        let expression = expression.resolved(exchange);
        let (keeps_rest, attach_path) = match rest {
            Remainder::Dropped => (false, None),
            Remainder::Kept(path) => (true, path.as_ref().map(|path| path.resolved(exchange))),
        };
        if let Some(path) = expression.json() {
            let attach_path = attach_path.map(|path| path.json().ok_or_else(mixed_languages)).transpose()?;
            let Some(json) = exchange.json()? else { return Ok(MessageParts::Json(json::Parts::default())) };
            return json::Parts::find(json.value(), path, attach_path.map(|path| &**path), &context.json_rules())
                .map(MessageParts::Json);
        }
        let xpath = expression.xpath().ok_or_else(mixed_languages)?;
        let elements = xpath.nodes(exchange, context)?;
        let mut parts = xml::Parts::of(exchange.tree()?, elements, keeps_rest)?;
        if keeps_rest {
            let rest = exchange.branch_with(Body::Built(Box::new(parts.rest())));
            let place = match attach_path {
                Some(path) => path.xpath().ok_or_else(mixed_languages)?.nodes(&rest, context)?.first().copied(),
                None => Some(rest.tree()?.envelope().element),
            };
            parts.attach_to(place, rest.tree()?)?;
        }
        Ok(MessageParts::Xml(Box::new(parts)))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        match self {
            MessageParts::Xml(parts) => parts.count(),
            MessageParts::Json(parts) => parts.count(),
        }
    }

    /// Makes copies of an exchange with one part each; how many bytes each takes, about.
    pub(crate) fn into_copies_of(
        self,
        exchange: &Exchange,
    ) -> impl FnMut(usize) -> Outcome<(Exchange, usize)> + 'static {
        let original = exchange.branch_with(Body::Empty);
        move |number| {
            let (body, bytes) = self.part(number)?;
            Ok((original.branch_with(body), bytes))
        }
    }

    /// The body of the message that the part with this number becomes, and about how many bytes it takes.
    fn part(&self, number: usize) -> Outcome<(Body, usize)> {
        Ok(match self {
            MessageParts::Xml(parts) => {
                let tree = parts.part(number)?;
                let size = tree.document().size_bytes();
                (Body::Built(Box::new(tree)), size)
            }
            MessageParts::Json(parts) => {
                let text = parts.part(number)?;
                let size = text.len();
                (Body::Bytes(text), size)
            }
        })
    }
}

pub(crate) fn mixed_languages() -> Box<Fault> {
    Fault::bus("The parts of a message are named by XPath alone, or by json-eval alone")
}
