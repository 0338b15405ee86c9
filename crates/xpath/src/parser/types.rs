//! Types behind `instance of`, `treat as`, `cast as` and `castable as`.

use super::{Parser, refuse};
use crate::environment::Environment;
use crate::error::SyntaxError;
use crate::lexer::Kind;
use crate::node_test::Axis;
use crate::types::{AtomicType, ItemType, Occurrence, SequenceType, Signature};

use super::calls::SCHEMA;

impl SequenceType {
    /// Reads a type as `as="…"` has it: `xs:string?`, `element(order)*`.
    ///
    /// Errors: what is wrong and at which byte of `text`: the author's.
    /// Source: XPath 3.1 §2.5.4.
    pub fn parse(text: &str, environment: &mut dyn Environment) -> Result<SequenceType, SyntaxError> {
        let mut parser = Parser::new(text, environment)?;
        let parsed = parser.sequence_type()?;
        match parser.peek() {
            Kind::End => Ok(parsed),
            _ => Err(parser.error("the type ends before this")),
        }
    }
}

impl Parser<'_, '_> {
    pub(super) fn sequence_type(&mut self) -> Result<SequenceType, SyntaxError> {
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
            (Kind::Name(None, name @ ("map" | "array" | "function")), Kind::Symbol("(")) => {
                let name = *name;
                self.at += 2;
                Some(self.nested(|parser| parser.function_test(name))?)
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

    /// `map(…)`, `array(…)` and `function(…)`; the `(` has been read.
    fn function_test(&mut self, name: &str) -> Result<ItemType, SyntaxError> {
        if self.take("*") {
            self.expect(")")?;
            return Ok(match name {
                "map" => ItemType::Map(None),
                "array" => ItemType::Array(None),
                _ => ItemType::Function(None),
            });
        }
        if name == "map" {
            let key = self.atomic_type()?;
            self.expect(",")?;
            let value = self.sequence_type()?;
            self.expect(")")?;
            return Ok(ItemType::Map(Some(Box::new((key, value)))));
        }
        let mut parameters = Vec::new();
        if !self.take(")") {
            loop {
                parameters.push(self.sequence_type()?);
                if !self.take(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        if name == "function" {
            self.expect_word("as")?;
            let result = self.sequence_type()?;
            return Ok(ItemType::Function(Some(Box::new(Signature { parameters, result }))));
        }
        match (parameters.pop(), parameters.is_empty()) {
            (Some(members), true) => Ok(ItemType::Array(Some(Box::new(members)))),
            _ => Err(self.error("array() takes one type")),
        }
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
