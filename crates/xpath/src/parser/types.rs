//! Types behind `instance of`, `treat as`, `cast as` and `castable as`.

use super::{Parser, VALUES, refuse};
use crate::ast::Axis;
use crate::error::SyntaxError;
use crate::lexer::Kind;
use crate::types::{AtomicType, ItemType, Occurrence, SequenceType};

use super::calls::SCHEMA;

impl Parser<'_, '_> {
    pub(super) fn sequence_type(&mut self) -> Result<SequenceType, SyntaxError> {
        let offset = self.offset();
        let item = match (self.peek(), self.ahead(1)) {
            (Kind::Symbol("("), _) => {
                self.next();
                let inside = self.nested(Self::sequence_type)?;
                self.expect(")")?;
                inside.item
            }
            (Kind::Name(None, "empty-sequence"), Kind::Symbol("(")) => {
                self.at += 2;
                self.expect(")")?;
                return Ok(SequenceType { item: None, occurrence: Occurrence::One });
            }
            (Kind::Name(None, "item"), Kind::Symbol("(")) => {
                self.at += 2;
                self.expect(")")?;
                Some(ItemType::Any)
            }
            (Kind::Name(None, "map" | "array" | "function"), Kind::Symbol("(")) => {
                return Err(refuse(offset, VALUES));
            }
            (_, Kind::Symbol("(")) => Some(ItemType::Node(self.node_test(Axis::Child)?)),
            _ => Some(ItemType::Atomic(self.atomic_type()?)),
        };
        let occurrence = match *self.peek() {
            Kind::Symbol("?") => Occurrence::Optional,
            Kind::Symbol("*") => Occurrence::Any,
            Kind::Symbol("+") => Occurrence::Some,
            _ => return Ok(SequenceType { item, occurrence: Occurrence::One }),
        };
        self.next();
        Ok(SequenceType { item, occurrence })
    }

    /// A type to cast to, and whether an empty sequence will do.
    pub(super) fn single_type(&mut self) -> Result<(AtomicType, bool), SyntaxError> {
        let offset = self.offset();
        let atomic = self.atomic_type()?;
        if matches!(atomic, AtomicType::AnyAtomic | AtomicType::Notation) {
            let message = format!("nothing can be cast to {atomic}");
            return Err(SyntaxError { offset, message, code: "XPST0080" });
        }
        Ok((atomic, self.take("?")))
    }

    fn atomic_type(&mut self) -> Result<AtomicType, SyntaxError> {
        let offset = self.offset();
        let (namespace, local) = match self.next() {
            Kind::Name(None, local) => (self.environment.default_namespace().unwrap_or_default(), local),
            Kind::Name(Some(prefix), local) => (self.prefix(prefix, offset)?, local),
            Kind::Braced(uri, local) => (uri.to_owned(), local),
            _ => return Err(refuse(offset, "a type such as `xs:integer` is missing here")),
        };
        let found = if namespace == SCHEMA { AtomicType::find(local) } else { None };
        found.ok_or_else(|| SyntaxError { offset, message: format!("{local:?} is no known type"), code: "XPST0051" })
    }
}
