//! The parts of a message: one for each element, or each JSON value, that an expression finds.

mod json;
mod xml;

pub(super) use self::json::{items, no_array};

use myelin_message::Body;

use crate::exchange::{Exchange, Scene};
use crate::expression::Expression;
use crate::fault::{Fault, Outcome};

/// What was found, and what it was found in; each part is made when it is asked for.
pub(super) enum Parts {
    Xml(Box<xml::Parts>),
    Json(json::Parts),
}

/// What becomes of the rest of the message.
pub(super) enum Rest {
    /// A part is what was found alone, for SOAP in an envelope with the same header.
    Left,
    /// It stays around each part, which goes where this leads, or into the envelope itself.
    Kept(Option<Expression>),
}

impl Parts {
    /// Finds the parts of a message that is built.
    ///
    /// Errors: the bus's, where the expressions do not fit the message.
    pub(super) fn find(expression: &Expression, rest: &Rest, exchange: &Exchange, scene: &Scene<'_>) -> Outcome<Parts> {
        let expression = expression.meant(exchange);
        let (keeps_rest, attach_path) = match rest {
            Rest::Left => (false, None),
            Rest::Kept(path) => (true, path.as_ref().map(|path| path.meant(exchange))),
        };
        if let Some(path) = expression.json() {
            let attach_path = attach_path.map(|path| path.json().ok_or_else(mixed)).transpose()?;
            let Some(json) = exchange.json()? else { return Ok(Parts::Json(json::Parts::default())) };
            return json::Parts::find(json.value(), path, attach_path.map(|path| &**path), &scene.json_rules())
                .map(Parts::Json);
        }
        let xpath = expression.xpath().ok_or_else(mixed)?;
        let elements = xpath.nodes(exchange, scene)?;
        let mut parts = xml::Parts::of(exchange.tree()?, elements, keeps_rest)?;
        if keeps_rest {
            let rest = exchange.branch_with(Body::Built(Box::new(parts.rest())));
            let place = match attach_path {
                Some(path) => path.xpath().ok_or_else(mixed)?.nodes(&rest, scene)?.first().copied(),
                None => Some(rest.tree()?.envelope().element),
            };
            parts.attach_to(place, rest.tree()?)?;
        }
        Ok(Parts::Xml(Box::new(parts)))
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Parts::Xml(parts) => parts.count(),
            Parts::Json(parts) => parts.count(),
        }
    }

    /// Makes copies of an exchange with one part each; how many bytes each takes, about.
    pub(super) fn into_copies_of(
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
            Parts::Xml(parts) => {
                let tree = parts.part(number)?;
                let size = tree.document().size_bytes();
                (Body::Built(Box::new(tree)), size)
            }
            Parts::Json(parts) => {
                let text = parts.part(number)?;
                let size = text.len();
                (Body::Bytes(text), size)
            }
        })
    }
}

pub(super) fn mixed() -> Box<Fault> {
    Fault::bus("The parts of a message are named by XPath alone, or by json-eval alone")
}
